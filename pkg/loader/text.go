package loader

import (
	"path"

	"go.yaml.in/yaml/v3"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// Text is one YAML document of a file, for those who change it: its nodes and
// where they stand.
type Text struct {
	File *source.File
	Root *yaml.Node
	doc  *document
}

// Texts reads the documents of a file. Those that do not parse, or whose places
// cannot be told, are left out.
func Texts(f *source.File, limits Limits) []Text {
	d := decoder{file: f, m: identity{f}, unit: unit{kind: source.Manifest, dir: path.Dir(f.Path())}, limits: limits.withDefaults()}
	d.aliasBudget = d.limits.AliasNodes
	var out []Text
	for _, c := range d.splitJSON(splitDocuments(f.Text())) {
		if blankDocument(f.Text()[c.start:c.end]) {
			continue
		}
		if _, root, doc, ok := d.parse(c); ok && root != nil {
			out = append(out, Text{File: f, Root: root, doc: doc})
		}
	}
	return out
}

// Start returns the byte offset in the file of a node's first byte.
func (t Text) Start(n *yaml.Node) int { return t.doc.start(n) }

// End returns the byte offset just after a node's last byte.
func (t Text) End(n *yaml.Node) int { return t.doc.end(n) }

// Begin returns the byte offset in the file at which the document begins.
func (t Text) Begin() int { return t.doc.chunk.start }
