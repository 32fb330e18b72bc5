package facts

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// checkConns holds what a parser read against the text it read: every word
// stands where its range says, and its selectors can be taken apart.
func checkConns(t *testing.T, text string, conns []ipsecConn) {
	t.Helper()
	for _, c := range conns {
		for _, w := range []grammar.Word{c.local, c.remote, c.pool, c.broken} {
			if w.Start < 0 || w.End > len(text) || w.Start > w.End || text[w.Start:w.End] != w.Text {
				t.Fatalf("%q is not at %d-%d of %q", w.Text, w.Start, w.End, text)
			}
			list, _ := selectors(w, source.Ref{Object: "o"})
			for _, p := range list {
				if p.Prefix == "" || !strings.Contains(p.Prefix, "/") {
					t.Fatalf("selector %+v of %q", p, w.Text)
				}
			}
		}
	}
}

func FuzzIPsecConf(f *testing.F) {
	f.Add("conn %default\n  leftsubnet=10.0.0.0/8\nconn a\n\tright=%any\n\talso=b\nconn b\n rightsubnet = \"10.1.0.0/16,fd00::/8\" # far\n also=a\n type=passthrough\n")
	f.Add("config setup\n charondebug=\nconn a\n leftsubnet=\n rightsourceip=10.9.0.1-10.9.0.9\n=\n also\n")
	f.Add("conn\nconn  \n x=\"\n\r\n y=\r")
	f.Fuzz(func(t *testing.T, text string) { checkConns(t, text, parseIPsecConf(text)) })
}

func FuzzSwanctl(f *testing.F) {
	f.Add("connections { a { pools = p, q\n remote_addrs = %any\n children { c { local_ts = 10.0.0.0/8[tcp/80]\n remote_ts = 10.1.0.0-10.1.0.9, dynamic } } } }\npools { p { addrs = 10.9.0.0/24 } }\n")
	f.Add("connections { # {\n a {\n vips = 0.0.0.0 } } } }\n{{{{{{{{{{{{{{{{{{{{\n=}={#")
	f.Add("connections{a{children{c{mode=pass\nremote_ts=::/0}}}}")
	f.Fuzz(func(t *testing.T, text string) { checkConns(t, text, parseSwanctl(text)) })
}

// TestIPsecChains: a chain of also= through a whole file is not walked from each
// of its sections, and what inherits from more of them than anybody writes is
// unknown.
func TestIPsecChains(t *testing.T) {
	const n = 100_000
	var b strings.Builder
	for i := range n {
		b.WriteString("conn x" + strconv.Itoa(i) + "\n also=x" + strconv.Itoa(i+1) + "\n")
	}
	b.WriteString("conn x" + strconv.Itoa(n) + "\n rightsubnet=10.0.0.0/8\n")
	started := time.Now()
	conns := parseIPsecConf(b.String())
	if took := time.Since(started); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	if len(conns) != n+1 || !conns[0].unread || conns[n-10].unread || conns[n-10].remote.Text != "10.0.0.0/8" {
		t.Errorf("%d connections, the first %+v, one near the end %+v", len(conns), conns[0], conns[n-10])
	}
}
