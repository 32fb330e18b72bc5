package loader

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// place reads one manifest and returns the text at a reference to it.
func place(t *testing.T, text string, r source.Ref) (slice string, at source.Location) {
	t.Helper()
	f := source.NewFile("m.yaml", text)
	objects, gaps := decodeObjects(t.Context(), f, identity{f}, unit{kind: source.Manifest}, DefaultLimits())
	if len(objects) != 1 {
		t.Fatalf("%d objects, gaps %v", len(objects), gaps)
	}
	at = objects[0].Origin.Locate(r).Primary
	return text[f.Offset(at.Span.Start):f.Offset(at.Span.End)], at
}

const head = "apiVersion: v1\nkind: ConfigMap\n"

func TestPartOfAStringPointsIntoTheText(t *testing.T) {
	tests := []struct {
		name, text string
		find       string // the part of the value
		line, col  int
		want       string // "" = find
	}{
		{"literal", "data:\n  k: |\n    one\n    list = 10.0.0.0/8, 10.1.0.0/16\n", "10.1.0.0/16", 6, 24, ""},
		{"literal strip", "data:\n  k: |-\n    one\n    two\n", "two", 6, 5, ""},
		{"literal keep", "data:\n  k: |+\n    one\n\n    two\n\n", "two", 7, 5, ""},
		{"literal with indentation indicator", "data:\n  k: |2\n      deep\n    two\n", "two", 6, 5, ""},
		{"deeper first line of it", "data:\n  k: |2\n      deep\n    two\n", "  deep", 5, 5, ""},
		{"literal with a comment in the header", "data:\n  k: | # the list\n    one\n", "one", 5, 5, ""},
		{"literal, several bytes a character", "data:\n  k: |\n    é ü 10.0.0.0/8\n", "10.0.0.0/8", 5, 9, ""},
		{"literal, windows line ends", "data:\r\n  k: |\r\n    one\r\n    two\r\n", "two", 6, 5, ""},
		{"folded", "data:\n  k: >\n    one\n    two\n\n    three\n", "two", 6, 5, ""},
		{"folded, after a paragraph", "data:\n  k: >-\n    one\n    two\n\n    three\n", "three", 8, 5, ""},
		{"plain", "data:\n  k: a,10.0.0.0/8,b\n", "10.0.0.0/8", 4, 8, ""},
		{"plain over lines", "data:\n  k: one\n    two\n\n    three\n", "three", 7, 5, ""},
		{"single quoted", "data:\n  k: 'it''s 10.0.0.0/8'\n", "10.0.0.0/8", 4, 13, ""},
		{"single quoted over lines", "data:\n  k: 'one\n    two'\n", "two", 5, 5, ""},
		{"double quoted", `data: {k: "a\tb\u00e9 10.0.0.0/8"}` + "\n", "10.0.0.0/8", 3, 23, ""},
		{"an escape itself", `data: {k: "a\u00e9b"}` + "\n", "é", 3, 13, `\u00e9`},
		{"double quoted with line breaks written out", `data: {k: "one\ntwo\nthree"}` + "\n", "two", 3, 17, ""},
		{"double quoted, escaped line break", "data:\n  k: \"one \\\n    two\"\n", "two", 5, 5, ""},
		{"json in single quotes", "data:\n  k: '{\"a\":[\"10.0.0.0/8\"]}'\n", "10.0.0.0/8", 4, 14, ""},
		{"with an anchor and a tag", "data:\n  k: &a !!str \"10.0.0.0/8\"\n", "10.0.0.0/8", 4, 16, ""},
		{"in a list under its key", "data:\n  k: |\n   x\n   y\n  z: w\n", "y", 6, 4, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := head + tt.text
			if strings.Contains(tt.text, "\r\n") {
				text = strings.ReplaceAll(head, "\n", "\r\n") + tt.text
			}
			v, _ := decodeOne(text)
			value := asMap(asMap(v)["data"])["k"].(string)
			i := strings.Index(value, tt.find)
			if i < 0 {
				t.Fatalf("%q is not in %q", tt.find, value)
			}
			got, at := place(t, text, source.Ref{Pointer: "/data/k", Start: i, End: i + len(tt.find)})
			want := tt.want
			if want == "" {
				want = tt.find
			}
			if got != want || at.Span.Start.Line != tt.line || at.Span.Start.Column != tt.col || at.Precision != source.Exact {
				t.Errorf("got %q at %d:%d %s, want %q at %d:%d", got, at.Span.Start.Line, at.Span.Start.Column, at.Precision, want, tt.line, tt.col)
			}
		})
	}
}

func TestFieldsPointToTheirText(t *testing.T) {
	const text = `apiVersion: v1
kind: Pod
metadata: {name: vpn, labels: {app: "x"}}
spec:
  hostNetwork: true
  securityContext:
  containers:
    # the tunnel
    - name: openvpn
      image: &img example.com/openvpn:1
      args:
      - --config
      - /etc/x
    - image: *img
      name: two
      env: &env
        - {name: A, value: b}
    - name: three
      env: *env
`
	tests := []struct {
		pointer   string
		want      string
		line, col int
		precision source.Precision
	}{
		{"", "apiVersion: v1", 1, 1, source.Exact},
		{"/kind", "Pod", 2, 7, source.Exact},
		{"/metadata", "{name: vpn, labels: {app: \"x\"}}", 3, 11, source.Exact},
		{"/metadata/labels/app", `"x"`, 3, 37, source.Exact},
		{"/metadata/namespace", "{name: vpn, labels: {app: \"x\"}}", 3, 11, source.Parent},
		{"/spec", "hostNetwork: true", 5, 3, source.Exact},
		{"/spec/hostNetwork", "true", 5, 16, source.Exact},
		{"/spec/securityContext", "securityContext", 6, 3, source.Exact},
		{"/spec/securityContext/sysctls", "securityContext", 6, 3, source.Parent},
		{"/spec/containers", "- name: openvpn", 9, 5, source.Exact},
		{"/spec/containers/0", "name: openvpn", 9, 7, source.Exact},
		{"/spec/containers/0/image", "example.com/openvpn:1", 10, 19, source.Exact},
		{"/spec/containers/0/args", "- --config", 12, 7, source.Exact},
		{"/spec/containers/0/args/1", "/etc/x", 13, 9, source.Exact},
		{"/spec/containers/0/securityContext", "name: openvpn", 9, 7, source.Parent},
		{"/spec/containers/1/image", "*img", 14, 14, source.Exact},
		{"/spec/containers/2/env/0/value", "b", 17, 28, source.Exact},
		{"/spec/containers/2/env", "*env", 19, 12, source.Exact},
		{"/spec/containers/7", "- name: openvpn", 9, 5, source.Parent},
		{"/status/phase", "apiVersion: v1", 1, 1, source.WholeObject},
	}
	for _, tt := range tests {
		got, at := place(t, text, source.Ref{Pointer: tt.pointer})
		if got != tt.want || at.Span.Start.Line != tt.line || at.Span.Start.Column != tt.col || at.Precision != tt.precision {
			t.Errorf("%s: %q at %d:%d (%s), want %q at %d:%d (%s)", tt.pointer, got, at.Span.Start.Line, at.Span.Start.Column, at.Precision, tt.want, tt.line, tt.col, tt.precision)
		}
	}
}

func TestFieldBehindAnAliasSaysWhereItIsUsed(t *testing.T) {
	f := source.NewFile("m.yaml", "apiVersion: v1\nkind: X\nbase: &b {x: 1}\nuse: *b\nmerged:\n  <<: *b\n  y: 2\n")
	objects, _ := decodeObjects(t.Context(), f, identity{f}, unit{}, DefaultLimits())
	for pointer, line := range map[string]int{"/use/x": 4, "/merged/x": 6} {
		p := objects[0].Origin.Locate(source.Ref{Pointer: pointer})
		if p.Primary.Span.Start.Line != 3 || len(p.Via) != 1 || p.Via[0].At.Span.Start.Line != line {
			t.Errorf("%s: at %v via %v, want line 3 via line %d", pointer, p.Primary, p.Via, line)
		}
	}
}

func TestSecretDataPointsToTheLineThatHoldsIt(t *testing.T) {
	// "[Interface]\nAddress = 10.66.0.2/32\nPostUp = true\n", wrapped
	const text = "apiVersion: v1\nkind: Secret\ndata:\n  wg0.conf: |\n    W0ludGVyZmFjZV0KQWRkcmVz\n    cyA9IDEwLjY2LjAuMi8zMgpQ\n    b3N0VXAgPSB0cnVlCg==\n"
	for _, tt := range []struct {
		start, end, line int
	}{{0, 11, 5}, {22, 34, 6}, {37, 44, 7}} {
		_, at := place(t, text, source.Ref{Pointer: "/data/wg0.conf", Start: tt.start, End: tt.end})
		if at.Span.Start.Line != tt.line || at.Precision != source.Parent {
			t.Errorf("[%d,%d): line %d (%s), want %d", tt.start, tt.end, at.Span.Start.Line, at.Precision, tt.line)
		}
	}
}

func TestEveryScalarOfRandomDocumentsMapsOntoItsText(t *testing.T) {
	crlf := rapid.Bool()
	rapid.Check(t, func(t *rapid.T) {
		text := yamlText(t)
		if crlf.Draw(t, "crlf") {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		root, err := parseNode(text)
		if err != nil || root == nil {
			t.Skip("no YAML")
		}
		f := source.NewFile("t.yaml", text)
		doc := &document{file: f, chunk: chunk{0, len(text)}, root: root}
		checkScalars(t, doc, root)
	})
}

func checkScalars(t *rapid.T, doc *document, n *yaml.Node) {
	for _, c := range n.Content {
		checkScalars(t, doc, c)
	}
	if n.Kind != yaml.ScalarNode || n.Value == "" {
		return
	}
	m, ok := doc.scalar(n)
	if !ok {
		t.Fatalf("scalar %q of %q is not mapped", n.Value, doc.file.Text())
	}
	text := doc.file.Text()
	for i, r := range n.Value {
		start, end := m.span(i, i+len(string(r)))
		if start < m.start || end > m.end || end < start {
			t.Fatalf("byte %d of %q maps to [%d,%d) outside of [%d,%d)", i, n.Value, start, end, m.start, m.end)
		}
		if got := text[start:end]; r != ' ' && r != '\n' && got != string(r) && !strings.ContainsAny(got, `\'`) {
			t.Fatalf("byte %d (%q) of %q maps to %q in %q", i, string(r), n.Value, got, text)
		}
	}
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		again, err := parseNode(text[m.start:m.end])
		if err != nil || again == nil || again.Value != n.Value {
			t.Fatalf("%q re-reads as %v, want %q (%v)", text[m.start:m.end], again, n.Value, err)
		}
	}
}

// A list of thousands of entries has a finding for each, and is mapped once.
func TestLongScalarsAreMappedOnce(t *testing.T) {
	t.Parallel()
	for name, entry := range map[string]struct {
		text string
		once bool
	}{
		"long":  {"a: \"" + strings.Repeat("10.0.0.0/8,", longValue) + "\"\n", true},
		"short": {"a: \"10.0.0.0/8\"\n", false},
	} {
		root, err := parseNode(entry.text)
		if err != nil {
			t.Fatal(err)
		}
		doc := &document{file: source.NewFile("t.yaml", entry.text), chunk: chunk{0, len(entry.text)}, root: root}
		n := find(root, []string{"a"}).node
		first, ok := doc.scalar(n)
		second, again := doc.scalar(n)
		if !ok || !again || (&first.runs[0] == &second.runs[0]) != entry.once {
			t.Errorf("%s: read %v and %v, kept %v", name, ok, again, &first.runs[0] == &second.runs[0])
		}
	}
}
