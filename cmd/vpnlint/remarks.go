package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/report"
)

// hear lets libraries be heard that main has silenced. It is called before any
// of them runs.
func hear(std streams) {
	log.SetOutput(remarks{std.err})
	if file, ok := std.err.(*os.File); ok {
		os.Stderr = file
	}
}

// remarks passes on what libraries say: they quote the user's values as they
// are, control characters and all.
type remarks struct{ to io.Writer }

// Write takes whole messages, as package log writes them.
func (r remarks) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		if _, err := fmt.Fprintln(r.to, report.Plain(strings.TrimSuffix(line, "\n"))); err != nil {
			return 0, fmt.Errorf("passing on a remark: %w", err)
		}
	}
	return len(p), nil
}
