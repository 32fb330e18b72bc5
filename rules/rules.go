// Package rules holds vpnlint's rules: one Rego file and one test file a rule,
// the helpers they share, the schema of their input and their generated pages.
// Rules are discovered, never registered: to add one, write
//
//	vpnNNN_some_name.rego       package vpnlint.rules.vpnNNN, METADATA, findings
//	vpnNNN_some_name_test.rego  what fires it, what does not, what is unknown
//	../examples/VPNNNN/{bad,good}
//
// and run go test ./rules -update, which writes the page and the index.
package rules

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

//go:embed *.rego lib/*.rego schema/input.json index.json docs/*.md
var files embed.FS

// FS returns the rules with their tests, schema and pages. It is read-only.
func FS() fs.FS { return files }

// IDs returns the ids of the built-in rules, sorted, without compiling them.
func IDs() []string {
	names, err := fs.Glob(files, "vpn*_*.rego")
	if err != nil { // the pattern is the only thing that can be wrong
		return nil
	}
	var ids []string
	for _, name := range names {
		if id, _, _ := strings.Cut(name, "_"); !strings.HasSuffix(name, "_test.rego") {
			ids = append(ids, strings.ToUpper(id))
		}
	}
	slices.Sort(ids)
	return ids
}
