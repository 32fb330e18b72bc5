package report

import "github.com/vpnlint/vpnlint/pkg/finding"

// painter adds ANSI colours, or nothing when it is off. It uses the sixteen
// colours of the terminal's own palette, so that light and dark themes work.
type painter struct{ on bool }

func (p painter) with(code, s string) string {
	if !p.on || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p painter) bold(s string) string    { return p.with("1", s) }
func (p painter) dim(s string) string     { return p.with("2", s) }
func (p painter) place(s string) string   { return p.with("2", s) }
func (p painter) label(s string) string   { return p.with("36", s) }
func (p painter) command(s string) string { return p.with("32", s) }
func (p painter) good(s string) string    { return p.with("32", s) }
func (p painter) removed(s string) string { return p.with("31", s) }
func (p painter) added(s string) string   { return p.with("32", s) }

func (p painter) severity(sev finding.Severity, s string) string {
	switch sev {
	case finding.Error:
		return p.with("1;31", s)
	case finding.Warning:
		return p.with("1;33", s)
	default:
		return p.with("1;34", s)
	}
}

func (p painter) gap(kind finding.GapKind, s string) string {
	if kind == finding.Unreadable {
		return p.with("1;31", s)
	}
	return p.with("1;35", s)
}
