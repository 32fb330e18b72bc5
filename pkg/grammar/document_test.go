package grammar

import (
	"testing"
)

func TestDocumentPlaces(t *testing.T) {
	tests := []struct {
		name, text string
		keys       []string
		want       string // the text at the place
		verbatim   bool
	}{
		{"plain", "a: {b: 10.0.0.0/8}\n", []string{"a", "b"}, "10.0.0.0/8", true},
		{"not the same text in a comment before it", "# 10.0.0.0/8\na: 10.0.0.0/8\n", []string{"a"}, "10.0.0.0/8", true},
		{"quoted", "a: \"10.0.0.0/8,fd00::/8\"\n", []string{"a"}, "10.0.0.0/8,fd00::/8", true},
		{"single quotes", "a: ['10.0.0.0/8']\n", []string{"a", "0"}, "10.0.0.0/8", true},
		{"escaped", `a: "10\x2e0.0.0/8"` + "\n", []string{"a"}, `"10\x2e0.0.0/8"`, false},
		{"JSON", `{"a": {"b": ["x", "10.0.0.0/8"]}}`, []string{"a", "b", "1"}, "10.0.0.0/8", true},
		{"the last of two keys", "a: x\na: 10.0.0.0/8\n", []string{"a"}, "10.0.0.0/8", true},
		{"the nearest that is there", "a: {b: 1}\n", []string{"a", "c", "d"}, "{b: 1}", false},
		{"a list's end", "a: [x]\n", []string{"a", "1"}, "[x]", false},
		{"no number into a list", "a: [x]\n", []string{"a", "b"}, "[x]", false},
		{"behind an alias", "a: &n {b: 10.0.0.0/8}\nc: *n\n", []string{"c", "b"}, "10.0.0.0/8", true},
		{"a second document", "a: 1\n---\na: 10.0.0.0/8\n", []string{"a"}, "10.0.0.0/8", true},
		{"after a line of its own", "---\na: 1\n--- # two\na: 10.0.0.0/8\n", []string{"a"}, "10.0.0.0/8", true},
		{"Unicode before it", "é: 日本\nü: 10.0.0.0/8\n", []string{"ü"}, "10.0.0.0/8", true},
		{"a number", "a: 7\n", []string{"a"}, "7", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			docs, _ := ParseDocuments(tt.text)
			if len(docs) == 0 {
				t.Fatal("no document")
			}
			at, verbatim := docs[len(docs)-1].Place(tt.keys...)
			if got := tt.text[at.Start:at.End]; got != tt.want || verbatim != tt.verbatim {
				t.Errorf("got %q, verbatim %v; want %q, %v", got, verbatim, tt.want, tt.verbatim)
			}
		})
	}
}

func TestDocumentsThatDoNotParseCostThemselves(t *testing.T) {
	const text = "a: 1\n---\n{{ .Values.x }}: [\n---\n\n---\nb: on\n"
	docs, broken := ParseDocuments(text)
	if len(docs) != 2 || len(broken) != 1 || text[broken[0].Start:broken[0].End] != "{{ .Values.x }}: [" {
		t.Fatalf("%d documents, broken %v; want 2, and the line of the template", len(docs), broken)
	}
	if got := docs[1].Value.(map[string]any)["b"]; got != true {
		t.Errorf("b is %v, want what Kubernetes reads: true", got)
	}
	if docs, broken := ParseDocuments("# nothing\n---\n"); len(broken) != 0 || len(docs) != 0 {
		t.Errorf("%d documents, broken %v; want none", len(docs), broken)
	}
}

func FuzzDocuments(f *testing.F) {
	for _, seed := range []string{"a: [1, {b: c}]\n---\n{\"a\": \"b\"}", "a: &x [*x]", "- |\n  x\n---", "? [a]\n: b", "a: !!binary \"\"", "\ufeffa: 1", "a: \"\\u0001", "<<: {a: 1}\n"} {
		f.Add(seed, "a")
	}
	f.Fuzz(func(t *testing.T, text, key string) {
		docs, _ := ParseDocuments(text)
		for _, d := range docs {
			for _, keys := range [][]string{nil, {key}, {"0", key}, {key, "0", key}} {
				at, verbatim := d.Place(keys...)
				if at.Start < 0 || at.End > len(text) || at.Start > at.End {
					t.Fatalf("place %v of a text of %d bytes", at, len(text))
				}
				if verbatim && at.Start == at.End {
					t.Fatalf("nothing is written verbatim at %v", at)
				}
			}
		}
	})
}
