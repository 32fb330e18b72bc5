package facts

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/images"
)

// linuxserver: a server iff PEERS is set; its ALLOWEDIPS go into the clients'
// files (FG C2).
func (r *tunnelReader) linuxserver() {
	t := r.t
	t.Interface = "wg0"
	switch t.Side {
	case "unknown":
		peers := r.c.env("PEERS")
		r.t.Pool = nil
		r.missed(peers.Why.of("it is a server if PEERS is set, and "), peers.Ref, aspectRoutes, aspectMasquerade, aspectResolver)
		return
	case "client":
		t.Pool, t.Masquerade = nil, Switch{State: Unknown, Ref: t.ContainerRef}
		r.wireGuard("/config/wg_confs/*.conf", "/config/wg0.conf")
		return
	}
	t.Masquerade = Switch{State: Present, Ref: t.ContainerRef, Why: "the server template masquerades what leaves eth+"}
	t.Resolver.Rewrites, t.Resolver.Why = Absent, "a server"
	t.Bypass.State = Absent
	if f := r.c.file("/config/templates/server.conf"); f.Text != "" {
		t.Config = f.Ref
		t.Masquerade = Switch{State: Absent, Ref: f.Ref, Why: "the mounted server template does not masquerade"}
		conf := grammar.ParseWireGuard(f.Text)
		for _, hook := range append(append([]grammar.Word{}, conf.Interface.PreUp...), conf.Interface.PostUp...) {
			r.firewallOf(script{Kind: scriptFile, Text: hook.Text, State: Present, Ref: f.Ref.Within(hook.Start, hook.End), Env: r.c.knownEnv()}, t.Interface)
		}
	}
	r.takesNothing("a server")
	r.linuxserverPeers()
	t.Routes.Default = hasDefault(t.Routes.Prefixes)
	dns := r.c.env("PEERDNS")
	switch {
	case dns.State == Present && !strings.EqualFold(strings.TrimSpace(dns.Text), "auto"):
		r.resolversFor(images.Key{Key: "PEERDNS"})
	case dns.State != Unknown && len(t.Pool) > 0:
		if pool, err := netip.ParsePrefix(t.Pool[0].Prefix); err == nil {
			first := pool.Addr().Next()
			t.Clients.Resolvers = append(t.Clients.Resolvers, PrefixAt{
				Prefix: netip.PrefixFrom(first, first.BitLen()).String(), Text: first.String(), Ref: t.ContainerRef,
			})
		}
	}
}

// serverAllowed begins the variables that add to the AllowedIPs of one peer.
const serverAllowed = "SERVER_ALLOWEDIPS_PEER_"

// linuxserverPeers reads the networks behind the peers, in the order in which the
// server's file has them: that of PEERS. A variable for a peer that PEERS does not
// name is not read.
func (r *tunnelReader) linuxserverPeers() {
	t, peers := r.t, linuxserverNames(r.c.env("PEERS"))
	vars := r.c.envWithPrefix(serverAllowed)
	slices.SortStableFunc(vars, func(a, b namedValue) int {
		return cmp.Compare(slices.Index(peers, a.Name[len(serverAllowed):]), slices.Index(peers, b.Name[len(serverAllowed):]))
	})
	for _, v := range vars {
		if v.State != Present || len(peers) > 0 && !slices.Contains(peers, v.Name[len(serverAllowed):]) {
			continue
		}
		if r.listRefused(v.Name, v.value, ",", "wg-quick stops there and the interface does not come up") {
			continue
		}
		if list := prefixList(v.value, ","); len(list) > 0 {
			t.Peers = append(t.Peers, Peer{
				Ref: v.Ref, Interface: t.Interface, PublicKey: v.Name, Table: "auto", AllowedIPs: list,
			})
			t.Routes.State, t.Routes.Ref, t.Routes.Why = Present, list[0].Ref, v.Name+"="+list[0].Text
			t.Routes.Prefixes = append(t.Routes.Prefixes, list...)
			t.Routes.MoreSpecificWin = true
		}
	}
}

// linuxserverNames are the peers' names: a list of them, or their number.
func linuxserverNames(v value) []string {
	text := strings.TrimSpace(v.Text)
	if v.State != Present || placeholder(text) != "" {
		return nil
	}
	const most = 1 << 10 // nobody names more by hand
	var out []string
	if n, err := strconv.Atoi(text); err == nil {
		for i := range min(n, most) {
			out = append(out, strconv.Itoa(i+1))
		}
		return out
	}
	for _, name := range strings.Split(text, ",") {
		out = append(out, strings.TrimSpace(name))
	}
	return out
}
