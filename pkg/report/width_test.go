package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/source"
)

func TestSpokenPaths(t *testing.T) {
	for _, tc := range []struct{ file, dir, want string }{
		{"a.yaml", "/work/tree", "a.yaml"},
		{"../other/a.yaml", "/work/tree", "../other/a.yaml"},
		{"../../dev/null", "/work/tree", "/dev/null"},
		{"../../dev/null", "", "../../dev/null"},
		{"..a/b", "/work", "..a/b"},
		{"dev/null", "/", "dev/null"},
	} {
		if got := spoken(tc.file, tc.dir); got != tc.want {
			t.Errorf("%s from %s: %s, want %s", tc.file, tc.dir, got, tc.want)
		}
	}
}

func TestWrappedRanges(t *testing.T) {
	for _, tc := range []struct {
		text string
		want []string
	}{
		{"10.0.0.0/8,172.16.0.0/12,fd00::/64", []string{"10.0.0.0/8,", "172.16.0.0/12,", "fd00::/64"}},
		{"the-long-name-of-a-pool/10.0.0.0/8", []string{"the-long-name-of-a-", "pool/10.0.0.0/8"}},
		{"charts/openvpn-1.2.3/values.yaml", []string{"charts/", "openvpn-1.2.3/", "values.yaml"}},
		{strings.Repeat("1.", 15), []string{"1.1.1.1.1.1.1.1.1.1.", "1.1.1.1.1."}},
	} {
		if got := wrap(tc.text, 20); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.text, got, tc.want)
		}
	}
}

// What is wrapped is the same command: a shell joins the lines again.
func TestWrappedCommands(t *testing.T) {
	for _, tc := range []struct {
		line  string
		width int
		want  []string
	}{
		{"ping -c 3 10.8.0.1", 40, []string{"ping -c 3 10.8.0.1"}},
		{"kubectl exec deploy/vpn -c vpn -- ip route get 10.96.0.1", 40, []string{`kubectl exec deploy/vpn -c vpn -- ip \`, "route get 10.96.0.1"}},
		{"kubectl exec deploy/openvpn -c vpn -- ip -6 route", 38, []string{`kubectl exec deploy/openvpn -c vpn \`, "-- ip -6 route"}},
		{"get pods -o jsonpath='{a} {b}' --all", 20, []string{`get pods \`, `-o jsonpath='{a} {b}' \`, "--all"}},
		{`say "a \" b" c\ d e`, 9, []string{`say \`, `"a \" b" \`, `c\ d e`}},
		{`show 'a\' b`, 9, []string{`show \`, `'a\' b`}},
		{"ping 10.8.0.1 # and wait for the answer of all", 20, []string{`ping 10.8.0.1 \`, "# and wait for the answer of all"}},
		{"    ", 2, []string{"    "}},
		{strings.Repeat("x", 50), 20, []string{strings.Repeat("x", 50)}},
	} {
		got := wrapCommand(tc.line, tc.width)
		if !slices.Equal(got, tc.want) {
			t.Errorf("%q in %d columns: %q, want %q", tc.line, tc.width, got, tc.want)
		}
	}
}

// A message links its related places by their ids; brackets of the user's are none.
func TestLinkedMessages(t *testing.T) {
	related := []source.Note{{Says: "the [pool](9) is here"}, {}, {Says: "set\n here"}}
	for _, tc := range []struct {
		text    string
		related []source.Note
		want    string
	}{
		{"plain [text](1)", nil, "plain [text] (1)"},
		{"of [one](1)", related, `of \[one\] (1). See: [the \[pool\](9) is here](1); [set here](3).`},
	} {
		if got := *linkedMessage(tc.text, tc.related).Text; got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
}
