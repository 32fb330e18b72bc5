package facts

import (
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
)

// recordGap: whether the pod forwards hangs on something that cannot be seen.
func (r *forwardingReader) recordGap() {
	unseen := r.open(forward4)
	if r.p.pod.Forwarding.IPv4.State != Unknown || len(unseen) == 0 {
		return
	}
	const silent = "VPN101 and VPN108 stay silent about this pod"
	switch u := unseen[0]; {
	case u.network:
		r.p.ix.gapAt(finding.Unresolved, r.p.object, u.ref, "whether the pod's networks turn IP forwarding on", u.why,
			"its tuning plugin might set net.ipv4.ip_forward: "+silent, "VPN101", "VPN108")
	case u.container == "":
		r.p.ix.gapAt(finding.Unresolved, r.p.object, u.ref, "whether the pod turns IP forwarding on", u.why,
			"net.ipv4.ip_forward may be on in its network namespace: "+silent, "VPN101", "VPN108")
	default:
		r.p.ix.gapAt(finding.Unresolved, r.p.object, u.ref, "whether the pod turns IP forwarding on", u.why,
			"a privileged container might write net.ipv4.ip_forward there: "+silent, "VPN101", "VPN108")
	}
}

// open is what a knob hangs on: scripts that cannot be seen, writes that a script
// may not come to, and such of which it is not known what they do.
func (r *forwardingReader) open(k knob) []unseenScript {
	unseen := slices.Clip(r.unseen)
	for _, t := range r.writes[k] {
		if t.Effective == Absent || t.Value != "1" || t.When == "after" || t.Effective == Present && !t.maybe {
			continue
		}
		if why := r.reasonOf(t); why.holds() {
			unseen = append(unseen, unseenScript{container: t.Container, ref: t.Ref, why: why})
		}
	}
	return unseen
}

// reasonOf says why it is not known what a write does.
func (r *forwardingReader) reasonOf(t timed) reason {
	switch {
	case t.open && placeholder(t.Says) != "":
		return filledIn(t.Says)
	case t.open && t.How == "pod-sysctl":
		return because(strings.TrimSuffix(t.Says, "=")+" has no value that can be read", correctIt)
	case t.open:
		return because("what "+t.Says+" writes is known at run time only", writeSetting)
	case t.partly:
		return because(t.Says+" counts for some of the pod's interfaces only", noAdvice)
	case t.forked && t.behindRefused:
		return because("whether its script comes to "+t.Says+" hangs on an earlier command that is refused", "correct that command")
	case t.forked:
		return because("whether its script comes to "+t.Says+" is known at run time only", writeOpenly)
	}
	switch t.How {
	case "image":
		return because("it hangs on the image: "+t.Says, noAdvice)
	case "node", "cni":
		return because("it hangs on the pod's nodes: "+t.Says, noAdvice)
	case "script", "hook", "config-hook":
		return r.privilegeReason(t.Container)
	default:
		return reason{}
	}
}

// privilegeReason says why it is not known whether a container may write.
func (r *forwardingReader) privilegeReason(container string) reason {
	c := r.p.container(container)
	switch {
	case c == nil:
		return reason{}
	case c.c.Privileged == Unknown:
		return filledInLater("whether container " + container + " is privileged")
	case c.c.Privileged == Present:
		return because("container "+container+" is privileged and runs as another user than root", noAdvice)
	default:
		return because("container "+container+" has a /proc that it may write to, or remounts it", noAdvice)
	}
}

// recordMarkGap: whether the mark is set hangs on a script that cannot be seen.
func (r *forwardingReader) recordMarkGap() {
	unseen := r.open(validMark)
	if r.p.pod.SrcValidMark.State != Unknown || len(unseen) == 0 {
		return
	}
	for _, t := range r.p.pod.Tunnels {
		if t.MarkWrite == "" {
			continue
		}
		u := unseen[0]
		r.p.ix.gapAt(finding.Unresolved, r.p.object, u.ref, "whether the pod sets net.ipv4.conf.all.src_valid_mark", u.why,
			"a privileged container might write it there: VPN309 stays silent about this pod", "VPN309")
		return
	}
}
