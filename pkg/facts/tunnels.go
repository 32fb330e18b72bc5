package facts

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
	"sort"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// readTunnels returns the pod's tunnels in the order of its containers, without
// their captures.
func readTunnels(p *podView) []Tunnel {
	var out []Tunnel
	for _, c := range p.containers {
		family := c.image.Family
		if family == nil || !c.c.DataPlane || outlived(p, c) {
			continue
		}
		r := newTunnelReader(p, c, family)
		r.read()
		out = append(out, r.finish())
	}
	if t, routed := routedThroughGateway(p); routed {
		out = append(out, t)
	}
	return out
}

// outlived: an init container that ends, next to a lasting container of the
// same family, only prepares what the other one runs.
func outlived(p *podView, c *containerView) bool {
	if c.c.Stage != Init {
		return false
	}
	for _, other := range p.containers {
		if other.c.Stage != Init && other.c.Family == c.c.Family && other.c.DataPlane {
			return true
		}
	}
	return false
}

// tunnelReader gathers what the settings of one container say about its
// tunnel. Every reader method fills the tunnel; what it could not see it notes
// with missed, and finish turns that into one gap.
type tunnelReader struct {
	pod    *podView
	c      *containerView
	family *images.Family
	t      *Tunnel
	lost   []lost
	// stopped are destinations that hooks reject outside the tunnel.
	stopped []netip.Prefix
	// bypassed and inward are routes that hooks and scripts add, around the
	// tunnel and into it; inwardUnknown: some of the latter cannot be read.
	bypassed      []hookRoute
	inward        []PrefixAt
	inwardUnknown bool
	// stops6: a hook drops what leaves by IPv6; filterUnknown: hooks filter in a
	// way that is not read in full.
	stops6, filterUnknown bool
	// hookOpaque: a hook runs something that cannot be seen.
	hookOpaque bool
	// consequences are what commands bring about on some ways through their scripts, in
	// the order of pending.
	consequences map[string]*consequence
	pending      []string
	// jumped are the chains that OUTPUT leads to, chained rules of such that stop
	// packets.
	jumped  []string
	chained []chained
	// defaultGone are commands that take the pod's default route away, defaultBack:
	// one gives it another beside the tunnel's.
	defaultGone []command
	defaultBack bool
	// nftHooks are where packets come to the chains of nft that scripts declare.
	nftHooks map[string]string
	// hookSwitch: the kill switch is that of a hook or script.
	hookSwitch bool
	// refused: a rule that translates is not there, because its program refuses it.
	refused bool
	// missing is a rule that translates, and not the clients' pool.
	missing *Switch
	// resolverScripted: a hook or script writes the pod's resolver.
	resolverScripted bool
}

// lost is something that could not be seen.
type lost struct {
	what aspect
	why  reason
	ref  source.Ref
}

// aspect is a part of a tunnel that a gap speaks of.
type aspect string

const (
	aspectRoutes     aspect = "routes"
	aspectBypass     aspect = "bypass list"
	aspectResolver   aspect = "resolver"
	aspectKillSwitch aspect = "kill switch"
	aspectMasquerade aspect = "masquerade"
	aspectUserSpace  aspect = "user-space mode"
	aspectAnnounced  aspect = "announced routes"
	aspectPool       aspect = "client pool"
	aspectPushed     aspect = "routes and resolvers that clients get"
)

// newTunnelReader starts with what is true of any tunnel of which nothing was
// read yet.
func newTunnelReader(p *podView, c *containerView, family *images.Family) *tunnelReader {
	at := c.c.Ref
	return &tunnelReader{pod: p, c: c, family: family, t: &Tunnel{
		Container: c.c.Name, ContainerRef: at, Family: c.c.Family, FamilyTitle: c.c.FamilyTitle, Version: c.c.Version,
		Kind: "other", Side: "unknown", UserSpace: Absent,
		Routes:      Routes{State: Unknown, Ref: at},
		Bypass:      Bypass{State: Absent, Ref: at},
		Resolver:    Resolver{Rewrites: Unknown, Ref: at, Split: Absent},
		KillSwitch:  Switch{State: Unknown, Ref: at},
		Masquerade:  Switch{State: Unknown, Ref: at},
		Clients:     Clients{State: Absent},
		PoolRouted:  Switch{State: Absent, Ref: at},
		ImageKnown:  family.Confidence != images.Low,
		RepliesKept: Unknown,
	}}
}

// finish fills empty lists, for the rules see [] and never null, and records
// what could not be seen.
func (r *tunnelReader) finish() Tunnel {
	t := r.t
	t.Routes.Prefixes = orEmpty(t.Routes.Prefixes)
	t.Bypass.Entries = orEmpty(t.Bypass.Entries)
	t.Bypass.Malformed = orEmpty(t.Bypass.Malformed)
	t.Captures = orEmpty(t.Captures)
	t.Pool = orEmpty(t.Pool)
	t.Addresses = orEmpty(t.Addresses)
	t.Advertised = orEmpty(t.Advertised)
	t.MasqueradeOut = orEmpty(t.MasqueradeOut)
	t.Local = orEmpty(t.Local)
	t.Rewrites = []Rewrite{}
	t.Peers = orEmpty(t.Peers)
	t.Resolver.Servers = orEmpty(t.Resolver.Servers)
	t.Clients.Routes = orEmpty(t.Clients.Routes)
	t.Clients.Resolvers = orEmpty(t.Clients.Resolvers)
	t.Clients.Unreached = []UnreachedResolver{}
	t.Routes.Named, t.Routes.Internet = named(t), takesInternet(t.Routes)
	if t.Bypass.Ref.IsZero() {
		t.Bypass.Ref = t.Routes.Ref
	}
	if t.Routes.FwMark && t.Routes.State == Present && r.family != nil {
		t.MarkWrite = r.markWrite()
	}
	if m := &t.Masquerade; r.missing != nil && m.State == Absent && m.Ref == t.ContainerRef {
		*m = *r.missing
	}
	if t.Side == "server" && t.UserSpace == Absent && t.Masquerade.State == Unknown && len(t.Pool) > 0 && !r.refused &&
		r.family.Defaults.Masquerades == images.DefaultUnknown && !slices.ContainsFunc(r.lost, func(l lost) bool { return l.what == aspectMasquerade }) {
		// The pool needs a way back, and only the image can say whether it has one.
		r.missed(runsUnseen(clip(r.c.c.Image)), r.c.c.ImageRef, aspectMasquerade)
	}
	r.boundByImage()
	r.input()
	t.IPv6 = r.carriesIPv6()
	if t.Side == "server" && t.Clients.State == Absent {
		t.Clients.State = Unknown
	}
	r.recordGaps()
	r.refusedGaps()
	return *t
}

// missed notes that an aspect could not be seen.
func (r *tunnelReader) missed(why reason, ref source.Ref, what ...aspect) {
	for _, w := range what {
		r.lost = append(r.lost, lost{w, why, ref})
	}
}

// recordGaps makes a gap of each place where something was missed that is still
// unknown.
func (r *tunnelReader) recordGaps() {
	var places []source.Ref
	for i, l := range r.lost {
		r.lost[i].ref = cmp.Or(l.ref, r.t.ContainerRef)
		if at := r.lost[i].ref; r.stateOf(l.what) == Unknown && !slices.Contains(places, at) {
			places = append(places, at)
		}
	}
	for _, at := range places {
		r.recordGap(at)
	}
}

func (r *tunnelReader) recordGap(at source.Ref) {
	var what, why, rules []string
	outside := false
	for _, l := range r.lost {
		if l.ref != at || r.stateOf(l.what) != Unknown {
			continue
		}
		what = appendNew(what, string(l.what))
		if !slices.ContainsFunc(why, func(said string) bool { return strings.Contains(said, l.why.text) }) {
			why = append(why, l.why.said())
		}
		outside = outside || l.why.outside
		for _, rule := range l.what.rules() {
			rules = appendNew(rules, rule)
		}
	}
	sort.Strings(rules)
	stay := " stay"
	if len(rules) == 1 {
		stay = " stays"
	}
	r.pod.ix.gapAt(finding.Unresolved, r.pod.object, at,
		"the "+join(what)+" of the "+r.t.FamilyTitle+" tunnel in container "+r.t.Container, reason{text: strings.Join(why, "; "), outside: outside},
		"what this tunnel does to the pod's traffic is not judged: "+join(rules)+stay+" silent about it", rules...)
}

// carriesIPv6 tells whether the tunnel takes all of IPv6 or stops it. What an
// OpenVPN server pushes, and what a kill switch of an image does about IPv6, is
// not known; gluetun drops both families (FG C1).
func (r *tunnelReader) carriesIPv6() Switch {
	t := r.t
	var six []PrefixAt
	for _, p := range t.Routes.Prefixes {
		if strings.Contains(p.Prefix, ":") {
			six = append(six, p)
		}
	}
	out := Switch{State: Unknown, Ref: t.Routes.Ref}
	switch {
	case t.Routes.State != Present || r.family == nil:
	case hasDefault(six):
		out.State, out.Why = Present, "it takes "+six[0].Text
	case r.stops6, r.family.ID == "gluetun" && t.KillSwitch.State == Present:
		out.State, out.Why = Present, "its firewall drops IPv6"
	case len(six) > 0 && !t.Routes.Default: // parts of IPv6, as many as they may be
	case t.Kind != "wireguard" || t.Config.IsZero() || r.filterUnknown || r.ownFirewall():
	default:
		out.State, out.Why = Absent, t.Routes.Why
	}
	return out
}

// ownFirewall: the image brings a kill switch that is on, or may be, and what it
// does about IPv6 is not known. One that a hook installs is read with the hook.
func (r *tunnelReader) ownFirewall() bool {
	switch r.family.Defaults.HasKillSwitch {
	case images.DefaultNo, images.DefaultConditional:
		return r.t.KillSwitch.State != Absent && !r.hookSwitch
	default:
		return true
	}
}

func (r *tunnelReader) stateOf(a aspect) Known {
	switch a {
	case aspectRoutes:
		return r.t.Routes.State
	case aspectBypass:
		return r.t.Bypass.State
	case aspectResolver:
		return r.t.Resolver.Rewrites
	case aspectKillSwitch:
		return r.t.KillSwitch.State
	case aspectUserSpace:
		return r.t.UserSpace
	case aspectAnnounced, aspectPool, aspectPushed:
		return Unknown // noted only where it is
	default:
		return r.t.Masquerade.State
	}
}

// rules are those that stay silent while the aspect is unknown.
func (a aspect) rules() []string {
	switch a {
	case aspectRoutes:
		return []string{"VPN302", "VPN307", "VPN401", "VPN402"}
	case aspectBypass:
		return []string{"VPN302", "VPN310", "VPN311", "VPN408"}
	case aspectResolver:
		return []string{"VPN501"}
	case aspectKillSwitch:
		return []string{"VPN304"}
	case aspectUserSpace:
		return []string{"VPN101", "VPN108", "VPN112"}
	case aspectAnnounced:
		return []string{"VPN101", "VPN108"}
	case aspectPushed:
		return []string{"VPN402", "VPN503"}
	case aspectPool:
		return []string{"VPN111", "VPN401", "VPN406"}
	default:
		return []string{"VPN109", "VPN110", "VPN111"}
	}
}

func appendNew(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}

// join writes "a, b and c".
func join(list []string) string {
	if n := len(list); n > 1 {
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
	return strings.Join(list, "")
}

// takesNothing: the tunnel leaves the pod's own routes alone.
func (r *tunnelReader) takesNothing(why string) {
	r.t.Routes = Routes{State: Absent, Ref: r.t.ContainerRef, Why: why}
}

// takesDefault: everything goes into the tunnel.
func (r *tunnelReader) takesDefault(ref source.Ref, why string, prefixes ...string) {
	rt := &r.t.Routes
	rt.State, rt.Default, rt.Ref, rt.Why, rt.Prefixes = Present, true, ref, why, nil
	for _, p := range mustPrefixes(prefixes...) {
		rt.Prefixes = append(rt.Prefixes, PrefixAt{Prefix: p.String(), Text: p.String(), Ref: ref})
	}
}

// prefixAt turns a parsed entry into a fact; false for what is no prefix.
func prefixAt(p grammar.Prefix, at source.Ref) (PrefixAt, bool) {
	if !p.Valid {
		return PrefixAt{}, false
	}
	return PrefixAt{Prefix: p.Prefix.Masked().String(), Text: p.Text, Ref: at}, true
}

// prefixList reads a list of prefixes out of one value.
func prefixList(v value, separators string) []PrefixAt {
	var out []PrefixAt
	for _, p := range grammar.ParsePrefixes(v.Text, 0, separators) {
		if at, ok := prefixAt(p, v.within(p.Start, p.End)); ok {
			out = append(out, at)
		}
	}
	return out
}

// hasDefault reports whether a list covers all of IPv4 or all of IPv6, in one
// piece or as two halves.
func hasDefault(list []PrefixAt) bool {
	covered := func(halves ...string) bool {
		for _, h := range halves {
			found := false
			for _, p := range list {
				found = found || p.Prefix == h
			}
			if !found {
				return false
			}
		}
		return true
	}
	return covered("0.0.0.0/0") || covered("0.0.0.0/1", "128.0.0.0/1") ||
		covered("::/0") || covered("::/1", "8000::/1") || covered("2000::/3")
}

// takesInternet reports whether the routes are for the internet: a default
// route, or what is left of one when private ranges are cut out of it, a list of
// dozens of prefixes that together are most of IPv4.
func takesInternet(r Routes) bool {
	if r.State != Present {
		return false
	}
	addresses := 0.0
	for _, p := range cidrplan.Union(prefixesAt(r.Prefixes), nil) {
		if p.Addr().Is4() {
			addresses += math.Ldexp(1, 32-p.Bits())
		}
	}
	return r.Default || addresses > math.Ldexp(1, 31)
}
