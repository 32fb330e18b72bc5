package facts

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/finding"
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
	disabled Known
	// others: it is not for pods, but for load balancers or tunnels.
	others bool
}

// calicoPools reads the pools of a cluster: IPPool objects, the Installation's, and
// without any of them what calico-node makes at its first start (FG A6.3-A6.5).
// known is false when the range of one cannot be read, or when it may be another
// cluster's: it may hold anything.
func (s *masqScope) calicoPools() (pools []calicoPool, known bool) {
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
		for _, o := range s.ix.ofKind(group, "IPPool") {
			spec := root(o).get("spec")
			if !s.here(o) {
				known = known && !s.maybe(o)
				continue
			}
			nat := spec.get("natOutgoing")
			p := calicoPool{says: "natOutgoing of IPPool " + o.Name, nat: nat.boolean(), disabled: spec.get("disabled").boolean()}
			if nat.exists() {
				p.ref = nat.ref()
			}
			uses := spec.get("allowedUses").texts()
			if _, meant := misspeltField(spec, []string{"natOutgoing", "disabled"}); meant == "natOutgoing" {
				p.nat = Unknown
			} else if meant == "disabled" {
				p.disabled = Unknown
			}
			p.others = len(uses) > 0 && !slices.ContainsFunc(uses, func(n node) bool { return n.text() == "Workload" })
			add(p, spec.get("cidr"))
		}
	}
	installed := false
	for _, o := range s.ix.ofKind("operator.tigera.io", "Installation") {
		if !s.here(o) {
			known = known && (len(root(o).get("spec", "calicoNetwork", "ipPools").items()) == 0 || !s.maybe(o))
			continue
		}
		installed = true
		installationPools(root(o).get("spec", "calicoNetwork", "ipPools"), add)
	}
	for _, doc := range s.inline("Installation") {
		installed = true
		installationPools(doc.get("spec", "calicoNetwork", "ipPools"), add)
	}
	if !installed && s.f != nil {
		known = s.calicoCharts(add) && known
	}
	if len(pools) == 0 {
		for _, c := range s.containers(isCalicoNode) {
			if first, is := calicoFirstPool(c); is {
				pools = append(pools, first)
			}
		}
	}
	return pools, known
}

// installationPools are those of an Installation, or of the values from which the
// operator's chart makes one.
func installationPools(list node, add func(calicoPool, node)) {
	for _, n := range list.items() {
		nat := n.get("natOutgoing")
		p := calicoPool{says: "natOutgoing of the Installation's pool", nat: Unknown, disabled: Absent}
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

// calicoCharts reads the values of the operator's chart; false where there may be
// pools that cannot be seen.
func (s *masqScope) calicoCharts(add func(calicoPool, node)) (known bool) {
	releases, known := s.releases("tigera-operator", "rke2-calico")
	for _, r := range releases {
		if on, _ := r.values.flag(Present, "installation", "enabled"); on == Absent {
			continue
		}
		list, state := r.values.lookup("installation", "calicoNetwork", "ipPools")
		if r.hidden || state == Unknown {
			known = false
			continue
		}
		installationPools(list, add)
	}
	return known
}

// calicoFirstPool is the pool that calico-node makes at its first start when there
// is none: it masquerades unless CALICO_IPV4POOL_NAT_OUTGOING is false (FG A6.4).
func calicoFirstPool(c *containerView) (calicoPool, bool) {
	cidr, nat, none := c.env("CALICO_IPV4POOL_CIDR"), c.env("CALICO_IPV4POOL_NAT_OUTGOING"), c.env("NO_DEFAULT_POOLS")
	e := grammar.ParsePrefix(cidr.Text, 0)
	if cidr.State != Present || !e.Valid || none.State != Absent && (none.State == Unknown || isTrue(none)) {
		return calicoPool{}, false
	}
	p := calicoPool{ref: cidr.Ref, at: cidr.Ref, text: cidr.Text, cidr: e.Prefix.Masked(), says: "natOutgoing of calico-node's first pool (CALICO_IPV4POOL_CIDR)", nat: Present, disabled: Absent}
	switch {
	case nat.State == Unknown:
		p.nat = Unknown
	case nat.State == Present:
		p.ref, p.says = nat.Ref, "CALICO_IPV4POOL_NAT_OUTGOING"
		if contains([]string{"false", "0", "no", "n", "f"}, nat.Text) {
			p.nat = Absent // calico-node takes anything else for true
		}
	}
	return p, true
}

func isCalicoNode(c *containerView) bool {
	return strings.HasSuffix(imageRepository(c.c.Image), "calico/node")
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

func (s *masqScope) felix() felix {
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
		for _, o := range s.ix.ofKind(group, "FelixConfiguration") {
			if !s.maybe(o) {
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
	for _, c := range s.containers(isCalicoNode) {
		set(c.env("FELIX_NATOUTGOINGADDRESS"), c.env("FELIX_NATOUTGOINGEXCLUSIONS"), c.env("FELIX_IPTABLESNATOUTGOINGINTERFACEFILTER"))
	}
	return out
}

// calicoRules: Calico masquerades what leaves a natOutgoing pool, unless it goes to
// any pool at all, disabled ones included (FG A6.1-A6.2).
func calicoRules(s *masqScope) []nodeMasquerade {
	pools, known := s.calicoPools()
	conf := s.felix()
	if !known || conf.unsure {
		return nil
	}
	var exempt []netip.Prefix
	for _, p := range pools {
		exempt = append(exempt, p.cidr)
	}
	if conf.hosts {
		exempt = append(exempt, s.ranges(cidrplan.Node)...)
	}
	var out []nodeMasquerade
	for _, p := range pools {
		if p.nat == Present && p.disabled == Absent && !p.others {
			out = append(out, nodeMasquerade{ref: p.ref, says: p.says, sources: []netip.Prefix{p.cidr}, exempt: exempt, to: conf.to})
		}
	}
	return out
}

// calicoAgent: pods keep their address everywhere when no pool in view masquerades,
// and else towards what a pool holds from which none get theirs (FG A6.1-A6.3).
func calicoAgent(s *masqScope) *Agent {
	pools, known := s.calicoPools()
	if !known || len(pools) == 0 || s.f.CNI != "calico" {
		return nil
	}
	var keeping, rewriting, held []calicoPool
	for _, p := range pools {
		switch {
		case p.others: // exempt in old versions only (FG A6.2)
		case p.disabled == Present:
			held = append(held, p)
		case p.disabled == Unknown:
			return nil
		case p.nat == Absent:
			keeping = append(keeping, p)
		case p.nat == Present:
			rewriting = append(rewriting, p)
		default:
			return nil
		}
	}
	var cidrs []netip.Prefix
	for _, p := range keeping {
		cidrs = append(cidrs, p.cidr)
	}
	switch {
	case len(rewriting) == 0 && len(keeping) > 0 && cidrplan.Contains(cidrs, s.ranges(cidrplan.Pod)):
		a := keepsAll(agentCalico, keeping[0].says+" is not on", keeping[0].ref)
		a.Object = s.objectOf(a.Ref)
		return a
	case len(rewriting) > 0 && len(held) > 0:
		a := &Agent{Kind: agentCalico, Ref: held[0].at, Object: s.objectOf(held[0].at)}
		a.List = List{Source: "explicit", Ref: held[0].at, Why: "IPPools from which no pod gets an address", Valid: Present}
		for _, p := range held {
			a.List.Entries = append(a.List.Entries, PrefixAt{Prefix: p.cidr.String(), Text: p.text, Ref: p.at})
		}
		return a
	}
	return nil
}

func (s *masqScope) objectOf(ref source.Ref) finding.ObjectName {
	if o := s.ix.byID[ref.Object]; o != nil {
		return nameOf(o)
	}
	return finding.ObjectName{}
}
