package facts

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/shell"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// readForwarding gathers every attempt to set forwarding in the pod's network
// namespace, for any pod: a node-level writer matters to gateways elsewhere.
func readForwarding(p *podView) {
	r := &forwardingReader{p: p, lead: -1, writes: map[knob][]timed{}}
	if c := leadOf(p); c != nil {
		r.lead = c.c.Order
	}
	r.needed()
	r.hostNetwork()
	r.nodes()
	r.attachments()
	r.podSysctls()
	for _, c := range p.containers {
		r.containerSysctls(c)
		r.container(c)
	}
	p.pod.Forwarding.IPv4 = r.family(forward4)
	p.pod.Forwarding.IPv4.Carried = p.carriesIPv4()
	if m := p.made; m != nil && m.forwards != "" {
		// The pod is not in the tree; one field of the object is.
		field := m.asks.get(m.forwards)
		p.pod.Forwarding.IPv4.Field, p.pod.Forwarding.IPv4.FieldRef = m.forwards+": true", m.asks.ref()
		if field.exists() {
			p.pod.Forwarding.IPv4.FieldRef = field.ref()
		}
	}
	p.pod.Forwarding.IPv6 = r.family(forward6)
	p.pod.SrcValidMark = r.evidence(validMark)
	p.pod.LooseFilter = r.evidence(looseFilter)
	p.pod.IPv6Off = r.evidence(withoutIPv6)
	p.pod.Forwarding.IPv6Off = p.pod.IPv6Off.State
	r.judgePrivileges()
	if p.pod.Forwarding.Needed == Present {
		r.recordGap()
	}
	r.recordMarkGap()
}

// leadOf returns the container that carries the VPN: a server before a client,
// one that stays before one that ends; nil for none.
func leadOf(p *podView) *containerView {
	var lead *containerView
	best := 0
	for _, c := range p.containers {
		if !c.c.DataPlane {
			continue
		}
		rank := 1
		if c.c.Stage != Init {
			rank = 2
		}
		if does, _ := p.partOf(c); does == partServer {
			rank += 2
		}
		if rank > best {
			lead, best = c, rank
		}
	}
	return lead
}

type forwardingReader struct {
	p *podView
	// lead is the order of the container that carries the VPN, -1 for none.
	lead   int
	writes map[knob][]timed
	// unseen are scripts that might write it.
	unseen []unseenScript
}

// timed is a piece of evidence with the moment it acts: -1 at sandbox creation,
// then the order of its container.
type timed struct {
	ForwardEvidence
	at int
	// maybe: it may not be reached, or what it writes is not known.
	maybe bool
	// forked: its script may not come to it.
	forked bool
	// partly: it counts for some interfaces only. open: its value is not known.
	partly, open bool
	// behindRefused: what its script comes to it behind may end it.
	behindRefused bool
}

type unseenScript struct {
	container string
	ref       source.Ref
	why       reason
	// network: it is one that the pod is attached to, no script.
	network bool
}

func (r *forwardingReader) add(k knob, t timed) { r.writes[k] = append(r.writes[k], t) }

// needed decides whether the kernel has to forward at all.
func (r *forwardingReader) needed() {
	f := &r.p.pod.Forwarding
	f.Needed, f.NeededWhy = Absent, "the pod is no gateway"
	if r.p.pod.Role == RoleUnknown {
		f.Needed, f.NeededWhy = Unknown, r.p.pod.RoleWhy
		return
	}
	if r.p.pod.Role != Gateway {
		return
	}
	f.Needed, f.NeededWhy = Present, r.p.pod.RoleWhy
	userSpace := Absent
	why := ""
	for _, c := range r.p.containers {
		if !c.c.DataPlane {
			continue
		}
		if does, _ := r.p.partOf(c); does != partServer {
			continue
		}
		state, says := r.userSpace(c)
		if state == Absent {
			return // one kernel data plane is enough
		}
		if userSpace != Unknown {
			userSpace, why = state, says
		}
	}
	switch userSpace {
	case Present:
		f.Needed, f.NeededWhy = Absent, why
	case Unknown:
		f.Needed, f.NeededWhy = Unknown, why
	}
}

// carriesIPv4 is Absent where everything that the pod's servers hand out, have or
// announce is known and IPv6.
func (p *podView) carriesIPv4() Known {
	seen := false
	for _, t := range p.pod.Tunnels {
		c := p.container(t.Container)
		if c == nil {
			return Present
		}
		if does, _ := p.partOf(c); does != partServer {
			continue
		}
		ranges := slices.Concat(t.Pool, t.Addresses)
		if t.Side == "mesh" { // what it is itself a member of says nothing
			ranges = t.Advertised
			if strings.Contains(c.env("TS_EXTRA_ARGS").Text, "advertise-exit-node") {
				return Present
			}
		}
		for _, peer := range t.Peers {
			ranges = append(ranges, peer.AllowedIPs...)
		}
		for _, at := range ranges {
			if !strings.Contains(at.Prefix, ":") {
				return Present
			}
		}
		if len(ranges) == 0 || t.Side == "unknown" || c.setsKey("TS_DEST_IP") || c.setsKey("TS_TAILNET_TARGET_IP") {
			return Present
		}
		seen = true
	}
	return answer(!seen)
}

// userSpace tells whether a server moves packets without the kernel's routing.
func (r *forwardingReader) userSpace(c *containerView) (Known, string) {
	switch c.c.Family {
	case "softether":
		return Present, "SoftEther's SecureNAT routes in user space"
	case "tailscale", "tailscale-other", "netbird":
		for _, t := range r.p.pod.Tunnels {
			if t.Container == c.c.Name {
				return t.UserSpace, c.c.FamilyTitle + " routes in user space"
			}
		}
	}
	return Absent, ""
}

// write adds evidence whose value is text.
func (r *forwardingReader) write(set sysctl, text string, t timed) {
	text = strings.Trim(strings.TrimSpace(text), `"'`)
	if set.knob == looseFilter {
		switch text {
		case "0": // the interface's own value may still be strict
			text, set.partly = "1", true
		case "1":
			text = "0"
		}
	}
	if set.partly {
		t.partly, t.maybe, t.Effective = true, true, and(t.Effective, Unknown)
	}
	switch text {
	case "1":
		t.Value = "1"
	case "0":
		t.Value = "0"
	default:
		if placeholder(text) == "" && !strings.Contains(text, "$") && text != "" {
			if isNumber(text) {
				t.Value = "1" // any other number forwards as well
				break
			}
			if t.When != "after" && !shell.TakenByKernel(text) {
				why := because(strconv.Quote(clip(text))+" is no number, and the kernel takes nothing else there", correctIt)
				r.unseen = append(r.unseen, unseenScript{container: t.Container, ref: t.Ref, why: why})
			}
			return
		}
		t.Value, t.open, t.maybe = "1", true, true
		t.Effective = and(t.Effective, Unknown)
	}
	r.add(set.knob, t)
}

// evidence sums one knob up.
func (r *forwardingReader) evidence(k knob) SysctlEvidence {
	list := r.writes[k]
	sort.SliceStable(list, func(i, j int) bool {
		if list[i].at != list[j].at {
			return list[i].at < list[j].at
		}
		return whenRank(list[i].When) < whenRank(list[j].When)
	})
	out := SysctlEvidence{State: Absent, Evidence: []ForwardEvidence{}}
	for _, t := range list {
		out.Evidence = append(out.Evidence, t.ForwardEvidence)
		if t.When == "after" || t.Effective == Absent {
			continue
		}
		certain := t.Effective == Present && !t.maybe
		switch {
		case t.Value == "1" && certain:
			out.State = Present
		case t.Value == "1" && out.State != Present:
			out.State = Unknown
		case t.Value == "0" && certain:
			out.State = Absent
		case t.Value == "0" && out.State == Present:
			out.State = Unknown
		}
	}
	if len(r.unseen) > 0 && out.State == Absent {
		out.State = Unknown
	}
	return out
}

// family sums one address family up.
func (r *forwardingReader) family(k knob) FamilyForwarding {
	found := r.evidence(k)
	out := FamilyForwarding{State: found.State, Evidence: found.Evidence, Carried: Present, TurnedOff: Absent}
	if r.p.pod.HostNetwork.Value != "true" {
		for _, c := range r.p.clusters {
			if c.ForwardingOff.State == Present {
				out.TurnedOff, out.TurnedOffBy, out.TurnedOffRef = Present, c.ForwardingOff.Why, c.ForwardingOff.Ref
				break
			}
			if c.ForwardingOff.State == Unknown {
				out.TurnedOff = Unknown
			}
		}
	}
	return out
}

func whenRank(when string) int {
	switch when {
	case "before":
		return 0
	case "start":
		return 1
	default:
		return 2
	}
}
