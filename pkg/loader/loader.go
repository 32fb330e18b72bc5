package loader

import (
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// rendered is what one input came to.
type rendered struct {
	objects []*source.Object
	files   []*source.File // every text that the objects' locations point into
	gaps    []finding.Gap
	used    []string // tree paths that it consumed
}
