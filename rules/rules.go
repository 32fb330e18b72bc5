// Package rules holds vpnlint's rules: one Rego file and one test file a rule,
// the helpers they share, the schema of their input and their generated pages.
// Rules are discovered, never registered.
package rules
