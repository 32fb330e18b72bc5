package facts

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// calicoPool is an address pool of Calico's.
type calicoPool struct {
	ref      source.Ref // of natOutgoing, else where the pool is written
	at       source.Ref // of the range
	text     string
	says     string
	cidr     netip.Prefix
	nat      Known
	disabled bool
}

// calicoPools reads the pools of a cluster: IPPool objects, the Installation's, and
// without any of them what calico-node makes at its first start (FG A6.3-A6.5).
// known is false when the range of one cannot be read: it may hold anything.
func calicoPools(ix *index, here hereFunc) (pools []calicoPool, known bool) {
	known = true
	add := func(p calicoPool, cidr node) {
		e := grammar.ParsePrefix(cidr.text(), 0)
		if !e.Valid {
			known = false
			return
		}
		p.at, p.text, p.cidr = cidr.ref(), cidr.text(), e.Prefix.Masked()
		if p.ref.IsZero() {
			p.ref = p.at
		}
		pools = append(pools, p)
	}
	for _, group := range []string{"projectcalico.org", "crd.projectcalico.org"} {
		for _, o := range ix.ofKind(group, "IPPool") {
			spec := root(o).get("spec")
			if !here(o) {
				continue
			}
			nat := spec.get("natOutgoing")
			p := calicoPool{says: "natOutgoing of IPPool " + o.Name, nat: nat.boolean(), disabled: spec.get("disabled").boolean() != Absent}
			if nat.exists() {
				p.ref = nat.ref()
			}
			uses := spec.get("allowedUses").texts()
			if p.disabled || len(uses) > 0 && !slices.ContainsFunc(uses, func(n node) bool { return n.text() == "Workload" }) {
				p.disabled = true
			}
			add(p, spec.get("cidr"))
		}
	}
	for _, o := range ix.ofKind("operator.tigera.io", "Installation") {
		for _, n := range root(o).get("spec", "calicoNetwork", "ipPools").items() {
			if !here(o) {
				continue
			}
			nat := n.get("natOutgoing")
			p := calicoPool{says: "natOutgoing of the Installation's pool", nat: Unknown}
			switch {
			case !nat.exists(), nat.text() == "Enabled":
				p.nat = Present
			case nat.text() == "Disabled":
				p.nat = Absent
			}
			if nat.exists() {
				p.ref = nat.ref()
			}
			add(p, n.get("cidr"))
		}
	}
	return pools, known
}

// calicoFirstPool is the pool that calico-node makes at its first start when there
// is none: it masquerades unless CALICO_IPV4POOL_NAT_OUTGOING is false (FG A6.4).
func calicoFirstPool(c *containerView) (calicoPool, bool) {
	cidr, nat, none := c.env("CALICO_IPV4POOL_CIDR"), c.env("CALICO_IPV4POOL_NAT_OUTGOING"), c.env("NO_DEFAULT_POOLS")
	e := grammar.ParsePrefix(cidr.Text, 0)
	if cidr.State != Present || !e.Valid || none.State != Absent && (none.State == Unknown || isTrue(none)) {
		return calicoPool{}, false
	}
	p := calicoPool{ref: cidr.Ref, at: cidr.Ref, text: cidr.Text, cidr: e.Prefix.Masked(), says: "natOutgoing of calico-node's first pool (CALICO_IPV4POOL_CIDR)", nat: Present}
	switch {
	case nat.State == Unknown:
		p.nat = Unknown
	case nat.State == Present:
		p.ref, p.says = nat.Ref, "CALICO_IPV4POOL_NAT_OUTGOING"
		if !isTrue(nat) {
			p.nat = Absent
		}
	}
	return p, true
}

func isCalicoNode(c *containerView) bool {
	return c.c.Stage == Main && strings.HasSuffix(imageRepository(c.c.Image), "calico/node")
}

// felix is what a FelixConfiguration, or calico-node's environment, changes of
// natOutgoing (FG A6.6).
type felix struct {
	// unsure: an interface filter, or something that cannot be read.
	unsure bool
	// hosts: nodes are exempt (natOutgoingExclusions: IPPoolsAndHostIPs).
	hosts bool
	to    netip.Prefix // natOutgoingAddress
}

func readFelix(ix *index, here hereFunc, pods []*podView) felix {
	var out felix
	set := func(address, exclusions, filter value) {
		for _, v := range []value{address, exclusions, filter} {
			out.unsure = out.unsure || v.State == Unknown || placeholder(v.Text) != ""
		}
		out.unsure = out.unsure || filter.Text != ""
		out.hosts = out.hosts || exclusions.Text == "IPPoolsAndHostIPs"
		if address.Text == "" {
			return
		}
		p, err := netip.ParsePrefix(address.Text + "/32")
		if err != nil || out.to.IsValid() && out.to != p {
			out.unsure = true // of nodes that differ, or nothing that can be read
			return
		}
		out.to = p
	}
	for _, group := range []string{"projectcalico.org", "crd.projectcalico.org"} {
		for _, o := range ix.ofKind(group, "FelixConfiguration") {
			if !here(o) {
				continue
			}
			spec := root(o).get("spec")
			field := func(name string) value {
				n := spec.get(name)
				text, isText := n.str()
				if n.exists() && !isText {
					return value{State: Unknown}
				}
				return value{State: Present, Text: text}
			}
			set(field("natOutgoingAddress"), field("natOutgoingExclusions"), field("iptablesNATOutgoingInterfaceFilter"))
		}
	}
	for _, p := range pods {
		for _, c := range p.containers {
			if isCalicoNode(c) && here(p.object) {
				set(c.env("FELIX_NATOUTGOINGADDRESS"), c.env("FELIX_NATOUTGOINGEXCLUSIONS"), c.env("FELIX_IPTABLESNATOUTGOINGINTERFACEFILTER"))
			}
		}
	}
	return out
}

// calicoRules: Calico masquerades what leaves a natOutgoing pool, unless it goes to
// any pool at all, disabled ones included (FG A6.1-A6.2).
func calicoRules(ix *index, here hereFunc, f *founded, pods []*podView) []nodeMasquerade {
	pools, known := calicoPools(ix, here)
	if len(pools) == 0 {
		for _, p := range pods {
			for _, c := range p.containers {
				if first, is := calicoFirstPool(c); is && isCalicoNode(c) && here(p.object) {
					pools = append(pools, first)
				}
			}
		}
	}
	conf := readFelix(ix, here, pods)
	if !known || conf.unsure {
		return nil
	}
	var exempt []netip.Prefix
	for _, p := range pools {
		exempt = append(exempt, p.cidr)
	}
	if conf.hosts && f != nil {
		exempt = append(exempt, f.prefixes(cidrplan.Node)...)
	}
	var out []nodeMasquerade
	for _, p := range pools {
		if p.nat == Present && !p.disabled {
			out = append(out, nodeMasquerade{ref: p.ref, says: p.says, sources: []netip.Prefix{p.cidr}, exempt: exempt, to: conf.to})
		}
	}
	return out
}
