package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Format is the name of an output format, as --output takes it.
type Format string

// The formats. FormatText is for people, FormatTable for an overview, the
// others for programs.
const (
	FormatText   Format = "text"
	FormatTable  Format = "table"
	FormatJSON   Format = "json"
	FormatSARIF  Format = "sarif"
	FormatGitHub Format = "github"
)

// Formats returns every format in the order in which help texts name them.
func Formats() []Format {
	return []Format{FormatText, FormatTable, FormatJSON, FormatSARIF, FormatGitHub}
}

// ParseFormat reads a format as users write it. The error names those that
// exist.
func ParseFormat(s string) (Format, error) {
	if f := Format(s); slices.Contains(Formats(), f) {
		return f, nil
	}
	return "", fmt.Errorf("unknown output format %q: want %s", s, formatNames())
}

func formatNames() string {
	names := make([]string, 0, len(Formats()))
	for _, f := range Formats() {
		names = append(names, string(f))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Write writes the report in the format. The error is the writer's, or says
// that the format does not exist.
func Write(w io.Writer, f Format, r Report, o Options) error {
	switch f {
	case FormatText:
		return Text(w, r, o)
	case FormatTable:
		return Table(w, r, o)
	case FormatJSON:
		return JSON(w, r, o)
	case FormatSARIF:
		return SARIF(w, r, o)
	case FormatGitHub:
		return GitHub(w, r, o)
	default:
		return fmt.Errorf("unknown output format %q: want %s", f, formatNames())
	}
}
