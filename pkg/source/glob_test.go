package source_test

import (
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/source"
)

func TestMatchGlob(t *testing.T) {
	for _, tc := range []struct {
		glob, name string
		want       bool
	}{
		{"clusters/lab/**", "clusters/lab/a.yaml", true},
		{"clusters/lab/**", "clusters/lab/x/y/a.yaml", true},
		{"clusters/lab/**", "clusters/labs/a.yaml", false},
		{"clusters/lab/**", "clusters/lab", true},
		{"**/vpn.yaml", "vpn.yaml", true},
		{"**/vpn.yaml", "a/b/vpn.yaml", true},
		{"**/vpn.yaml", "a/b/notvpn.yaml", false},
		{"a/**/b/**/c", "a/x/b/y/b/c", true},
		{"a/**/b/*.yaml", "a/b/x/b/c.yaml", true},
		{"a/*/c", "a/b/b/c", false},
		{"/etc/*.conf", "etc/a.conf", true},
		{"./a/../b", "b", true},
		{"[", "[", false},
		{"", "", true},
		{"", "a", false},
	} {
		if got := source.MatchGlob(tc.glob, tc.name); got != tc.want {
			t.Errorf("%q matches %q: %v", tc.glob, tc.name, got)
		}
	}
}

// A glob made to be slow.
func TestMatchGlobEnds(t *testing.T) {
	if source.MatchGlob(strings.Repeat("**/a/", 60)+"b", strings.Repeat("a/", 300)+"c") {
		t.Error("matches")
	}
}

func TestGlobRoot(t *testing.T) {
	for glob, want := range map[string]string{
		"**": "", "*": "", "a/**": "a", "a/b/*.yaml": "a/b", "a/b": "a/b", "/a/b/": "a/b", "a/[b]/c": "a", `a/\*/c`: "a", "a?/b": "", "": "",
	} {
		if got := source.GlobRoot(glob); got != want {
			t.Errorf("GlobRoot(%q) = %q, want %q", glob, got, want)
		}
	}
}
