package facts

import (
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/images"
)

// wgEasy: up to version 14 variables decide; from 15 a database, which INIT_*
// seed when INIT_ENABLED says so. Of an unknown version only what both agree on
// is said.
func (r *tunnelReader) wgEasy() {
	t := r.t
	t.Interface = "wg0"
	old := r.versionUpTo("14.99")
	if r.family.ID == "wg-easy-v14" {
		old = Present
	}
	if old != Present {
		init := r.c.env("INIT_ENABLED")
		if !isTrue(init) {
			// What is in the database cannot be seen; the defaults stand for it.
			t.Clients = Clients{State: Unknown}
			t.Pool = nil
			for _, p := range r.family.Defaults.DefaultClientPool {
				if at, valid := prefixAt(grammar.ParsePrefix(p, 0), t.ContainerRef); valid {
					t.Pool = append(t.Pool, at)
				}
			}
		} else {
			r.resolversFor(images.Key{Key: "INIT_DNS"})
		}
	}
	if six := r.c.env("DISABLE_IPV6"); old != Present && (six.State == Unknown || six.Text == "true") {
		t.Pool = slices.DeleteFunc(t.Pool, func(p PrefixAt) bool { return strings.Contains(p.Prefix, ":") })
	}
	postUp := r.c.env("WG_POST_UP")
	if old == Absent {
		return
	}
	if old == Unknown {
		// Version 14 has no IPv6 pool.
		t.Pool = slices.DeleteFunc(t.Pool, func(p PrefixAt) bool { return strings.Contains(p.Prefix, ":") })
		if v := r.c.env("WG_DEFAULT_ADDRESS"); v.State == Present {
			if pool := poolOf(images.X24, v, value{}, ""); len(pool) > 0 {
				t.Pool = pool
			}
		}
	} else {
		if dns := r.c.env("WG_DEFAULT_DNS"); dns.State == Absent {
			t.Clients.Resolvers = append(t.Clients.Resolvers, PrefixAt{Prefix: "1.1.1.1/32", Text: "1.1.1.1", Ref: t.ContainerRef})
		} else {
			r.resolversFor(images.Key{Key: "WG_DEFAULT_DNS"})
		}
	}
	// An empty WG_POST_UP counts as none; any other replaces the default NAT.
	if strings.TrimSpace(postUp.Text) == "" {
		return
	}
	before := t.Masquerade
	t.Masquerade = Switch{State: Absent, Ref: postUp.Ref, Why: "WG_POST_UP replaces the image's own rules and does not masquerade"}
	if postUp.State == Unknown {
		t.Masquerade.State = Unknown
		r.missed(postUp.Why.of("WG_POST_UP: "), postUp.Ref, aspectMasquerade)
	}
	// What stands in the database of an installation may be another pool than the
	// variables': only hooks that translate nothing at all prove it of any.
	for _, hook := range []string{"WG_PRE_UP", "WG_POST_UP"} {
		if v := r.c.env(hook); hook == "WG_PRE_UP" && v.State == Unknown && t.Masquerade.State == Absent {
			t.Masquerade.State = Unknown
			r.missed(v.Why.of(hook+": "), v.Ref, aspectMasquerade)
		}
		r.hookVariable(hook)
	}
	if old == Present && t.Masquerade.State == Absent && r.missing == nil {
		t.Config = postUp.Ref
	}
	if old == Unknown && t.Masquerade.State != before.State {
		t.Masquerade.State = Unknown
		r.missed(readByVersion("WG_POST_UP"), postUp.Ref, aspectMasquerade)
	}
}
