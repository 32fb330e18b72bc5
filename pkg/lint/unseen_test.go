package lint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/lint"
)

// unseen are ways in which a configuration is not there to be read: the volume
// that holds it, the source of the environment, or the text in its place.
var unseen = []struct {
	name, volume, source, text string
	// why are words of the gap's reason, do those of its advice.
	why, do string
}{
	{"a Secret", "secret: {secretName: conf}", "{secretRef: {name: conf}}", "", "Secret NAMESPACE/conf is not in the tree", "lint it together with that Secret"},
	{"a ConfigMap", "configMap: {name: gone}", "{configMapRef: {name: gone}}", "", "ConfigMap NAMESPACE/gone is not in the tree", "lint it together with that ConfigMap"},
	{"an image volume", "image: {reference: 'registry.example/conf:1'}", "", "", "the content of volume conf is not in the tree", "lint a ConfigMap with the same file"},
	{"a volume claim", "persistentVolumeClaim: {claimName: state}", "", "", "the content of volume claim state is not in the tree", "lint a ConfigMap with the same file"},
	{"the node", "hostPath: {path: /srv/conf}", "", "", "the node's /srv/conf is not in the tree", "lint a ConfigMap with the same file"},
	{"an empty volume", "emptyDir: {}", "", "", "volume conf starts empty", "lint a ConfigMap with the same file"},
	{"an encrypted text", "configMap: {name: conf}", "{configMapRef: {name: conf}}", "ENC[AES256_GCM,data:x]", "ConfigMap NAMESPACE/conf is encrypted", "lint a decrypted copy"},
	{"a text that is filled in", "configMap: {name: conf}", "{configMapRef: {name: conf}}", "${CONFIGURATION}", "is filled in", "lint what is applied"},
}

// What cannot be seen is said once, with its reason, what follows and what to do,
// where the pod reads it or where the text should stand; and no rule that it
// names says anything.
func TestUnseenIsOneGap(t *testing.T) {
	linter, err := lint.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range languages {
		if l.object != "" && l.name != "ip-masq-agent" || l.name == "OpenVPN" || l.name == "sysctl text" {
			continue // nothing reads the file, or the image knows its routes without it
		}
		for _, u := range unseen {
			if l.env && u.source == "" {
				continue
			}
			t.Run(l.name+"/"+u.name, func(t *testing.T) {
				t.Parallel()
				checkUnseen(t, linter, l, u.volume, u.source, u.text, u.why, u.do)
			})
		}
	}
}

func checkUnseen(t *testing.T, linter *lint.Linter, l language, volume, source, text, why, do string) {
	t.Helper()
	namespace := "net"
	objects := strings.NewReplacer("VOLUME", "{name: conf, "+volume+"}", "SOURCE", source).Replace(l.objects)
	if l.object != "" {
		namespace = l.namespace
		objects = strings.Replace(objects, "{name: config, configMap: {name: ip-masq-agent, items: [{key: config, path: ip-masq-agent}]}}", "{name: config, "+volume+"}", 1)
	}
	why = strings.ReplaceAll(strings.ReplaceAll(why, "NAMESPACE", namespace), "volume conf ", "volume "+map[bool]string{true: "config ", false: "conf "}[l.object != ""])
	files := map[string]string{"pod.yaml": objects}
	if text != "" {
		key := l.key
		switch {
		case l.env:
			key = "FIREWALL_OUTBOUND_SUBNETS"
		case l.object != "":
			key = "ip-masq-agent"
		}
		files["conf.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf, namespace: " + namespace + "}\ndata:\n  " + key + ": \"" + text + "\"\n"
	}
	said := lintTree(t, linter, files)
	if len(said.Gaps) != 1 {
		t.Fatalf("%d gaps: %+v", len(said.Gaps), said.Gaps)
	}
	g := said.Gaps[0]
	if !strings.Contains(g.Why, why) || !strings.Contains(g.Why, "; "+do) || g.Consequence == "" || len(g.Rules) == 0 || g.Line == 0 {
		t.Errorf("gap %+v, want why %q and advice %q", g, why, do)
	}
	line := strings.Split(files[g.File], "\n")[g.Line-1]
	if !strings.Contains(line, "mountPath:") && !strings.Contains(line, "envFrom:") && !strings.Contains(line, text) && !strings.Contains(line, "- name: "+l.object) {
		t.Errorf("the gap stands at %s:%d: %s", g.File, g.Line, line)
	}
	for i := range said.Findings {
		if f := &said.Findings[i]; slices.Contains(g.Rules, f.Rule) {
			t.Errorf("%s is said to be silent and says: %s", f.Rule, f.Message)
		}
	}
}
