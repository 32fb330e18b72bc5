package loader

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// oracle decodes a document as Kubernetes does: YAML to JSON by
// sigs.k8s.io/yaml, integers kept.
func oracle(text string) (any, error) {
	data, err := sigsyaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return plainNumbers(v), nil
}

// decodeOne reads the single document of text.
func decodeOne(text string) (any, bool) {
	f := source.NewFile("t.yaml", text)
	limits := DefaultLimits()
	d := decoder{file: f, m: identity{f}, limits: limits, aliasBudget: limits.AliasNodes}
	chunks := splitDocuments(text)
	if len(chunks) != 1 {
		return nil, false
	}
	v, _, _, ok := d.parse(chunks[0])
	return v, ok
}

func TestScalarsAreReadAsKubernetesReadsThem(t *testing.T) {
	for _, s := range []string{
		"on", "off", "yes", "No", "y", "n", "Y", "true", "TRUE", "tRue", "~", "null", "Null", `""`, "", "nullx", "NaN",
		"0", "1", "-1", "+1", "0755", "0o17", "0x1F", "0b101", "-0b11", "0b", "1_000", "1__0", "_1", "08", "09.5", "1e3", "1E+3", "1.5e-3", "1.", ".5", "-.5", "+.5", ".", "..", "1.0", "-0.0", "1e400", "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "-9223372036854775809", "1e18", "1e19", "1e21",
		".inf", "-.inf", "+.INF", ".nan",
		"2020-01-02", "2020-1-2", "2020-01-02T03:04:05Z", "2020-01-02 03:04:05", "12:30:45", "190:20:30",
		"10.0.0.0/8", "10.0.0.1", "fd00::/8", "51820/udp", "1.2.3", "v1.2", "0.0.0.0/0", "-", "- ", "--", "+", "=", "<<", "!!str 12", "!!int \"12\"", "!!float 1", "!!binary aGVsbG8=", "&a 12", "! 12", "!local x",
		"'on'", `"on"`, `"\x41\u00e9\U0001F600\n"`, "'it''s'",
	} {
		text := "key: " + s + "\n"
		want, wantErr := oracle(text)
		got, ok := decodeOne(text)
		if wantErr != nil {
			if ok {
				t.Errorf("%s: read as %#v, Kubernetes refuses it: %v", s, got, wantErr)
			}
			continue
		}
		if !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: read as %#v, Kubernetes reads %#v", s, got, want)
		}
	}
}

func TestMappingsAreReadAsKubernetesReadsThem(t *testing.T) {
	for name, text := range map[string]string{
		"keys of other types":           "1: a\ntrue: b\n1.5: c\non: d\n0x10: e\n2020-01-01: f\n",
		"duplicate key":                 "a: 1\nb: 2\na: 3\n",
		"null key":                      "~: a\n",
		"mapping as key":                "{a: b}: c\n",
		"alias":                         "a: &x {b: [1, 2]}\nc: *x\n",
		"alias as key":                  "a: &x k\n*x : v\n",
		"merge":                         "base: &b {x: 1, y: 2}\nd:\n  <<: *b\n  y: 3\n",
		"merge after the key":           "base: &b {x: 1, y: 2}\nd:\n  y: 3\n  <<: *b\n",
		"merge of a list":               "a: &a {x: 1}\nb: &b {x: 2, y: 2}\nd:\n  <<: [*a, *b]\n",
		"merge of a scalar":             "a: {<<: 1}\n",
		"quoted merge key":              "a: {\"<<\": {b: 1}}\n",
		"nested merges":                 "a: &a {x: 1}\nb: &b {<<: *a, y: 1}\nc: {<<: *b, z: 1}\n",
		"folded":                        "a: >\n  b\n  c\n\n  d\n   e\n  f\n",
		"literal with indentation":      "a: |2\n    b\n  c\n",
		"null in lists":                 "a: [~, , b]\n",
		"list under the key":            "a:\n- 1\n- 2\n",
		"json":                          `{"a":[1,2.5,"x",null,true],"b":{"c":"\/"}}`,
		"json with tabs":                "{\n\t\"a\": 1,\n\t\"b\": [\n\t\t2\n\t]\n}",
		"anchor on nothing":             "a: &x\nb: *x\n",
		"redefined anchor":              "a: &x 1\nb: *x\nc: &x 2\nd: *x\n",
		"not a number":                  "a: .nan\n",
		"tagged mapping":                "a: !!map {b: 1}\nc: !!set {d, e}\n",
		"windows line ends":             "a: 1\r\nb: |\r\n  x\r\n  y\r\n",
		"comment after a value":         "a: b # c\nd: 'e' # f\n",
		"string with template in it":    "a: \"{{ .Values.x }}\"\n",
		"json with surrogates as value": `{"a":"\ud83d\ude00"}`,
	} {
		want, wantErr := oracle(text)
		if json.Valid([]byte(text)) {
			// Kubernetes reads JSON as JSON.
			wantErr = nil
			dec := json.NewDecoder(strings.NewReader(text))
			dec.UseNumber()
			if err := dec.Decode(&want); err != nil {
				t.Fatal(err)
			}
			want = plainNumbers(want)
		}
		got, ok := decodeOne(text)
		switch {
		case wantErr != nil && ok:
			t.Errorf("%s: read as %#v, Kubernetes refuses it: %v", name, got, wantErr)
		case wantErr == nil && (!ok || !reflect.DeepEqual(got, want)):
			t.Errorf("%s: read as %#v (%v), Kubernetes reads %#v", name, got, ok, want)
		}
	}
}

// yamlText draws documents that mean something, in all styles.
func yamlText(t *rapid.T) string {
	var b strings.Builder
	n := rapid.IntRange(1, 4).Draw(t, "keys")
	for i := range n {
		fmt.Fprintf(&b, "k%d: ", i)
		value(t, &b, 2, 0)
	}
	return b.String()
}

func value(t *rapid.T, b *strings.Builder, indent, depth int) {
	pad := strings.Repeat(" ", indent)
	kind := rapid.IntRange(0, 7).Draw(t, "kind")
	if depth > 3 && kind > 5 {
		kind = 0
	}
	switch kind {
	case 0:
		b.WriteString(rapid.SampledFrom([]string{"x", "on", "0755", "1.5", "10.0.0.0/8", "~", "a b  c", "é x", "1e3", "a#b", "a:b", "http://x.y:80/z"}).Draw(t, "plain") + "\n")
	case 1:
		b.WriteString("first\n" + pad + "second\n\n" + pad + " third # no\n")
	case 2:
		b.WriteString("'it''s " + rapid.SampledFrom([]string{"é", "a\n" + pad + "b", "x  \n\n" + pad + " y"}).Draw(t, "single") + "'\n")
	case 3:
		b.WriteString(`"` + strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", " ", `\t`, `\n`, `\"`, `\\`, `\u00e9`, `\U0001F600`, "é", "\n" + pad, "\\\n" + pad, "  \n\n" + pad, `\x41`, "b"}), 1, 8).Draw(t, "double"), "") + `"` + "\n")
	case 4, 5:
		style := rapid.SampledFrom([]string{"|", ">"}).Draw(t, "style")
		chomp := rapid.SampledFrom([]string{"", "-", "+"}).Draw(t, "chomp")
		explicit := rapid.Bool().Draw(t, "explicit")
		b.WriteString(style)
		if explicit {
			b.WriteString("2")
		}
		b.WriteString(chomp + rapid.SampledFrom([]string{"", " # c"}).Draw(t, "comment") + "\n")
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a b", "é", "", "  deeper", "\ttab", "x: y", "   ", "# no comment", "last"}), 1, 6).Draw(t, "lines")
		for i, l := range lines {
			if i == 0 && !explicit {
				l = "start"
			}
			if l == "" {
				b.WriteString("\n")
			} else {
				b.WriteString(pad + l + "\n")
			}
		}
	case 6:
		b.WriteString("\n")
		for i := range rapid.IntRange(1, 3).Draw(t, "n") {
			fmt.Fprintf(b, "%sm%d: ", pad, i)
			value(t, b, indent+2, depth+1)
		}
	case 7:
		b.WriteString("\n")
		for range rapid.IntRange(1, 3).Draw(t, "n") {
			b.WriteString(pad + "- ")
			value(t, b, indent+2, depth+1)
		}
	}
}

func TestRandomDocumentsAreReadAsKubernetesReadsThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := yamlText(t)
		want, err := oracle(text)
		if err != nil {
			t.Skip("no YAML")
		}
		if got, ok := decodeOne(text); !ok || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q\nread as %#v\nwant    %#v", text, got, want)
		}
	})
}
