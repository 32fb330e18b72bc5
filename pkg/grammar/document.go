package grammar

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// Document is one YAML or JSON document of a text that stands in a field of
// something else: a kubeadm patch in kind's configuration, a CNI's
// configuration in a ConfigMap.
type Document struct {
	// Value is what Kubernetes' own reader makes of it: map[string]any, []any,
	// string, bool, float64.
	Value any

	text string
	base int // offset of the document in the text
	root *yaml.Node
	at   *nodeOffsets
}

// ParseDocuments reads the documents of a text. One that does not parse, as
// template text does not, costs itself only and is left out; so are empty ones.
// broken are the lines that break those that do not parse.
func ParseDocuments(text string) (docs []*Document, broken []Range) {
	for start := 0; start <= len(text); {
		end, next := len(text), len(text)+1
		if i := strings.Index(text[start:], "\n---"); i >= 0 {
			end, next = start+i+1, start+i+1
			if i = strings.IndexByte(text[next:], '\n'); i >= 0 && strings.TrimSpace(text[next+len("---"):next+i]) == "" {
				next += i + 1
			} else {
				next += len("---")
			}
		}
		d, err := parseDocument(text, start, end)
		if err != nil {
			at := brokenLine(text[start:end])
			broken = append(broken, Range{start + at.Start, start + at.End})
		}
		if d != nil {
			docs = append(docs, d)
		}
		start = next
	}
	return docs, broken
}

func parseDocument(text string, start, end int) (d *Document, err error) {
	// The parser is not ours, and what it reads is anybody's.
	defer func() {
		if r := recover(); r != nil {
			d, err = nil, fmt.Errorf("the YAML parser gave up: %v", r)
		}
	}()
	part := text[start:end]
	var value any
	if err := sigsyaml.Unmarshal([]byte(part), &value); err != nil || value == nil {
		return nil, err
	}
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(part), &n); err != nil || len(n.Content) == 0 {
		return nil, err
	}
	return &Document{Value: value, text: part, base: start, root: n.Content[0], at: newNodeOffsets(part)}, nil
}

// Place returns where the value at the keys (of lists: numbers) stands in the
// text; of a quoted string what stands between the quotes. What is not there is
// at its nearest existing ancestor. verbatim: the value is a string, and is
// written there letter by letter, so that its parts have places too.
func (d *Document) Place(keys ...string) (at Range, verbatim bool) {
	n := resolve(d.root)
	for _, key := range keys {
		next := childNode(n, key)
		if next == nil {
			return d.rangeOf(n), false
		}
		n = resolve(next)
	}
	at = d.rangeOf(n)
	if n.Kind != yaml.ScalarNode || n.Value == "" {
		return at, false
	}
	written := d.text[at.Start-d.base : at.End-d.base]
	if i := strings.Index(written, n.Value); i >= 0 {
		return Range{at.Start + i, at.Start + i + len(n.Value)}, true
	}
	return at, false
}

// rangeOf returns a node's place, at least one character long where there is one.
func (d *Document) rangeOf(n *yaml.Node) Range {
	r := d.at.rangeOf(n)
	return Range{d.base + r.Start, d.base + max(r.End, min(r.Start+1, len(d.text)))}
}

// childNode returns the value of a key: of two with one name the last, which is
// what readers take, and before those of a merge key.
func childNode(n *yaml.Node, key string) *yaml.Node {
	switch n.Kind {
	case yaml.SequenceNode:
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= len(n.Content) {
			return nil
		}
		return n.Content[i]
	case yaml.MappingNode:
		for i := len(n.Content) - 2; i >= 0; i -= 2 {
			if n.Content[i].Value == key && n.Content[i].Tag != "!!merge" {
				return n.Content[i+1]
			}
		}
	}
	return nil
}
