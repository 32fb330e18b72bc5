package report_test

import (
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/report"
)

// Pages of a user's rules are rendered, too: what they hold is shown and does
// nothing.
func TestPage(t *testing.T) {
	const markdown = "# ACME001 *name*\n\nA **bold** word, `code`, and [a link](https://example.com/a/very/long/address/that/is/not/cut/anywhere).\n" +
		"And \x1b[31mred\x1b[0m.\n\n| A | Bc |\n|---|---|\n| long cell | x |\n\n1. one item that is longer than a line\n2. two\n   - nested\n\n" +
		"> quoted\n\n<b>raw</b> html <https://example.com>\n\n```sh\nkubectl  get pods\n::error::x\n```\n"
	const want = `ACME001 name

A bold word, ` + "`code`" + `, and a link
<https://example.com/a/very/long/address/that/is/not/cut/anywhere>.
And \x1b[31mred\x1b[0m.

A          Bc
long cell  x

1. one item that is longer than a line
2. two
   - nested

quoted

raw html https://example.com

    kubectl  get pods
    \x3a:error::x
`
	var b strings.Builder
	if err := report.Page(&b, markdown, report.Options{Width: 42}); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
