package loader

import "github.com/vpnlint/vpnlint/pkg/source"

// textMap says where the bytes of a decoded text were written. For a plain
// manifest it is the identity; for a chart it maps rendered text to template
// text.
type textMap interface {
	// Map returns the provenance of the bytes [start, end) of the decoded text.
	Map(start, end int) source.Provenance
	// Absent returns the conditions inside [start, end) that kept text out.
	Absent(start, end int) []source.Guard
}

// unit is what the objects of one render have in common.
type unit struct {
	kind      source.InputKind
	dir       string // source.Object.Unit
	namespace string // for objects that name none; "" for manifests
}
