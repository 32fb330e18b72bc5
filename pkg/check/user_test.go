package check

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

const userMeta = `# METADATA
# title: t
# description: d
# custom:
#   id: ACME001
#   name: n
#   severities: [warning, note]
#   family: custom
#   claims: []
#   fires: f
#   silent: s
#   remedy: r
#   verify: []
#   since: "1"
`

func userRules(t *testing.T, files map[string]string) (*UserRules, error) {
	t.Helper()
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return NewUserRules(t.Context(), tree, "own")
}

func rule1(body string) map[string]string {
	return map[string]string{"a.rego": userMeta + "package vpnlint.user.acme001\n\n" + body}
}

func TestUserRule(t *testing.T) {
	u, err := userRules(t, map[string]string{
		"a.rego": userMeta + `package vpnlint.user.acme001

import data.vpnlint.user.lib.words

findings contains {"ref": pod.ref, "pod": pod.id, "message": words.hello} if some pod in input.facts.pods
`,
		"lib/words.rego": "package vpnlint.user.lib.words\n\nhello := \"hello\"\n",
		// Tests are for opa test, which knows data that vpnlint does not.
		"a_test.rego":         "package vpnlint.user.acme001_test\n\ntest_x if data.fixtures.x\n",
		"fixtures/input.json": "{",
	})
	if err != nil {
		t.Fatal(err)
	}
	known, objects := gatewayPod()
	found, err := u.Run(t.Context(), Input{Facts: known, Objects: objects})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].Rule != "ACME001" || found[0].Severity != "warning" || found[0].Message != "hello" || found[0].Primary.Span.Start.Line != 18 {
		t.Errorf("got %v", found)
	}
	if metas := u.Rules(); len(metas) != 1 || !metas[0].User {
		t.Errorf("rules %v", metas)
	}
	if page, ok := u.Page("acme001"); !ok || !strings.HasPrefix(page, "# ACME001 n\n\nT.\n") {
		t.Errorf("page %q", page)
	}
	if _, ok := u.Page("VPN101"); ok {
		t.Error("a page of a built-in rule")
	}
}

// What is wrong with a rule is an error before anything runs, and says where.
func TestUserRulesThatAreRefused(t *testing.T) {
	const none = "findings contains 1 if false\n"
	for name, tc := range map[string]struct {
		files map[string]string
		says  string
	}{
		"a built-in rule's package":     {map[string]string{"a.rego": strings.ReplaceAll(userMeta, "ACME001", "VPN101") + "package vpnlint.rules.vpn101\n\n" + none}, "own/a.rego: package vpnlint.rules.vpn101: a user's rules live in packages vpnlint.user.NAME"},
		"a package of another tool":     {map[string]string{"a.rego": "package main\n\ndeny := true\n"}, "package main:"},
		"the root of all users' rules":  {map[string]string{"a.rego": "package vpnlint.user\n\nx := 1\n"}, "package vpnlint.user:"},
		"a package too deep":            {map[string]string{"a.rego": userMeta + "package vpnlint.user.a.acme001\n\n" + none}, "want vpnlint.user.NAME for a rule"},
		"findings of a helper":          {map[string]string{"a.rego": "package vpnlint.user.lib.x\n\n" + none}, "findings of a helper are never asked for"},
		"a rule without findings":       {rule1("x := 1\n"), "has no findings"},
		"no rule at all":                {map[string]string{"lib/a.rego": "package vpnlint.user.lib.x\n\nx := 1\n"}, "own: no rule in it"},
		"nothing":                       {nil, "own: no rule in it"},
		"no Rego":                       {rule1("findings contains {"), "own/a.rego:17"},
		"two files of a rule":           {map[string]string{"a.rego": rule1(none)["a.rego"], "b.rego": rule1(none)["a.rego"]}, "already another file's"},
		"no METADATA":                   {map[string]string{"a.rego": "package vpnlint.user.acme001\n\n" + none}, "no METADATA"},
		"an id of vpnlint":              {map[string]string{"a.rego": strings.ReplaceAll(userMeta, "ACME001", "VPN901") + "package vpnlint.user.vpn901\n\n" + none}, "vpnlint's own"},
		"an id that is none":            {map[string]string{"a.rego": strings.ReplaceAll(userMeta, "ACME001", "acme-1") + "package vpnlint.user.acme\n\n" + none}, "such as ACME001"},
		"an id that is not the package": {map[string]string{"a.rego": userMeta + "package vpnlint.user.other\n\n" + none}, "ACME001 in package other"},
		"an unknown key":                {map[string]string{"a.rego": userMeta + "#   severety: note\npackage vpnlint.user.acme001\n\n" + none}, "METADATA custom: there is no key \"severety\""},
		"a value of another type":       {map[string]string{"a.rego": strings.ReplaceAll(userMeta, "[warning, note]", "note") + "package vpnlint.user.acme001\n\n" + none}, "METADATA custom: severities is a string, want a list"},
		"an unknown severity":           {map[string]string{"a.rego": strings.ReplaceAll(userMeta, "note]", "fatal]") + "package vpnlint.user.acme001\n\n" + none}, "fatal"},
		"no remedy":                     {map[string]string{"a.rego": strings.ReplaceAll(userMeta, "remedy: r", "remedy: \"\"") + "package vpnlint.user.acme001\n\n" + none}, "custom.remedy is empty"},
		"an unknown family":             {map[string]string{"a.rego": strings.ReplaceAll(userMeta, "family: custom", "family: tool") + "package vpnlint.user.acme001\n\n" + none}, "custom.family"},
		"to replace a built-in rule":    {map[string]string{"a.rego": userMeta + "#   replaces: [VPN101]\npackage vpnlint.user.acme001\n\n" + none}, "only rules of your own"},
		"a schema of its own":           {map[string]string{"a.rego": strings.ReplaceAll(userMeta, "# custom:", "# schemas:\n#   - input: {type: object}\n# custom:") + "package vpnlint.user.acme001\n\n" + none}, "the schema of the input is vpnlint's own"},
		"a misspelt field":              {rule1("findings contains p.rolle if some p in input.facts.pods\n"), "own/a.rego:17"},
		"an unused variable":            {rule1("findings contains 1 if { x := 2 }\n"), "own/a.rego:17"},
		"the built-in rules":            {rule1("findings contains 1 if data.vpnlint.rules.vpn101.findings\n"), "nothing else"},
		"the library of vpnlint":        {rule1("import data.vpnlint.lib.text\n\nfindings contains 1 if text.x\n"), "nothing else"},
		"all data":                      {rule1("findings contains x if some x in data\n"), "recursive"},
		"data by a variable":            {rule1("findings contains x if { some k; x := data.other[k] }\n"), "nothing else"},
		"data of nobody":                {rule1("findings contains 1 if data.allowed\n"), "nothing else"},
		"a library that is missing":     {rule1("import data.vpnlint.user.lib.teams\n\nfindings contains 1 if teams.egress\n"), "own/a.rego:19: nothing in own defines data.vpnlint.user.lib.teams.egress"},
		"a misspelt helper":             {map[string]string{"a.rego": rule1("import data.vpnlint.user.lib.x\n\nfindings contains 1 if x.yy\n")["a.rego"], "x.rego": "package vpnlint.user.lib.x\n\ny := 1\n"}, "nothing in own defines data.vpnlint.user.lib.x.yy"},
		"the network":                   {rule1("findings contains http.send({\"url\": \"http://example.com\", \"method\": \"get\"})\n"), "http.send"},
		"a name's address":              {rule1("findings contains net.lookup_ip_addr(\"example.com\")\n"), "net.lookup_ip_addr"},
		"a clock":                       {rule1("findings contains time.now_ns()\n"), "time.now_ns"},
		"a random number":               {rule1("findings contains rand.intn(\"x\", 5)\n"), "rand.intn"},
		"a random name":                 {rule1("findings contains uuid.rfc4122(\"x\")\n"), "uuid.rfc4122"},
		"the environment":               {rule1("findings contains opa.runtime()\n"), "opa.runtime"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := userRules(t, tc.files)
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want %q", err, tc.says)
			}
		})
	}
}

// A rule that fails is an error of the run, never a silent pass.
func TestUserRulesThatFail(t *testing.T) {
	known, objects := gatewayPod()
	const pod = `some pod in input.facts.pods`
	for name, body := range map[string]string{
		"a built-in that fails":  `findings contains {"ref": pod.ref, "message": "m"} if { ` + pod + `; to_number(pod.id) == 1 }`,
		"two values":             "x := 1 if true\n\nx := 2 if true\n\nfindings contains {\"ref\": pod.ref, \"message\": sprintf(\"%d\", [x])} if { " + pod + " }",
		"no message":             `findings contains {"ref": pod.ref} if { ` + pod + ` }`,
		"a key too many":         `findings contains {"ref": pod.ref, "message": "m", "line": 3} if { ` + pod + ` }`,
		"an object of nowhere":   `findings contains {"ref": {"object": "X/y/z", "pointer": ""}, "message": "m"}`,
		"another severity":       `findings contains {"ref": pod.ref, "message": "m", "severity": "error"} if { ` + pod + ` }`,
		"findings that are none": `findings := "none"`,
	} {
		t.Run(name, func(t *testing.T) {
			u, err := userRules(t, rule1(body+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			if found, err := u.Run(t.Context(), Input{Facts: known, Objects: objects}); err == nil {
				t.Errorf("no error, but %v", found)
			}
		})
	}
}

func TestUserRuleEndsWithItsContext(t *testing.T) {
	u, err := userRules(t, rule1(`findings contains x if {
	some a in numbers.range(1, 100000)
	some b in numbers.range(1, 100000)
	some c in numbers.range(1, 100000)
	a + b + c == 0
	x := a
}
`))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if found, err := u.Run(ctx, Input{}); err == nil {
		t.Errorf("no error, but %v", found)
	}
}

// Links inside the directory are read; those that lead out of it, to
// directories, or to nothing are refused, because rules behind them would be
// missing from the run.
func TestLinksAmongUserRules(t *testing.T) {
	outside := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	const text = userMeta + "package vpnlint.user.acme001\n\nfindings contains 1 if false\n"
	write(filepath.Join(outside, "a.rego"), text)
	for name, tc := range map[string]struct{ link, target, says string }{
		"inside":                 {"b.rego", "src/a.txt", ""},
		"out of it":              {"b.rego", filepath.Join(outside, "a.rego"), "leads nowhere inside"},
		"out of it by its path":  {"b.rego", "../../../../../../../../../../../etc/hostname", "leads nowhere inside"},
		"to nothing":             {"b.rego", "missing.rego", "leads nowhere inside"},
		"to a directory":         {"b", "src", "a link to a directory"},
		"to a directory outside": {"b", outside, "leads nowhere inside"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(filepath.Join(dir, "src", "a.txt"), strings.ReplaceAll(strings.ReplaceAll(text, "ACME001", "ACME002"), "acme001", "acme002"))
			write(filepath.Join(dir, "a.rego"), text)
			if err := os.Symlink(tc.target, filepath.Join(dir, tc.link)); err != nil {
				t.Fatal(err)
			}
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = root.Close() })
			u, err := NewUserRules(t.Context(), root.FS(), "own")
			switch {
			case tc.says == "" && (err != nil || len(u.Rules()) != 2):
				t.Errorf("got %v, %v", u, err)
			case tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)):
				t.Errorf("got %v, want %q", err, tc.says)
			}
		})
	}
}

func TestUserRulesAreFiles(t *testing.T) {
	for name, mode := range map[string]fs.FileMode{"a pipe": fs.ModeNamedPipe, "a device": fs.ModeDevice} {
		tree := fstest.MapFS{"a.rego": {Mode: mode}}
		if _, err := NewUserRules(t.Context(), tree, "own"); err == nil || !strings.Contains(err.Error(), "not a file") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	tree := fstest.MapFS{"a.rego": {Data: make([]byte, maxUserFile+1)}}
	if _, err := NewUserRules(t.Context(), tree, "own"); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("got %v", err)
	}
}
