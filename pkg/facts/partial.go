package facts

import (
	"slices"
	"strings"
)

// What a chart that is not available makes of its values is known in part: a
// container, and nothing of the pod around it. What is missing there may exist
// all the same, so a lack is unknown and never absent.

// unseenWhy says why something may be set where nothing of it is seen.
const unseenWhy = "a chart, values or patches that are not in view may set it"

// unseen reports whether what is missing below the field may exist all the same.
func (n node) unseen() bool {
	if n.obj == nil {
		return false
	}
	return slices.ContainsFunc(n.obj.Unseen, func(ptr string) bool {
		return ptr == "" || n.ptr == ptr || strings.HasPrefix(n.ptr, ptr+"/")
	})
}

// partial reports whether the pod, or a container that carries its VPN, is known
// in part.
func (p *podView) partial() bool {
	return p.spec.unseen() || slices.ContainsFunc(p.containers, func(c *containerView) bool { return c.c.DataPlane && c.spec.unseen() })
}

// blur turns all lacks of a pod that is known in part into unknowns.
func (p *podView) blur() {
	pod := p.pod
	for _, s := range []*Setting{&pod.HostNetwork, &pod.DNSPolicy, &pod.HostPID, &pod.HostIPC, &pod.SharedProcesses, &pod.Surge} {
		if s.State == Absent {
			s.State, s.Value = Unknown, ""
		}
	}
	for _, s := range []*Switch{&pod.Attached, &pod.ClusterResolver, &pod.Egress.Unenforced} {
		if s.State == Absent {
			s.State, s.Why = Unknown, unseenWhy
		}
	}
	if pod.Forwarding.Needed == Present {
		pod.Forwarding.Needed, pod.Forwarding.NeededWhy = Unknown, unseenWhy
	}
	for _, s := range []*Known{
		&pod.Forwarding.IPv6Off, &pod.Forwarding.IPv4.State, &pod.Forwarding.IPv6.State,
		&pod.SrcValidMark.State, &pod.LooseFilter.State, &pod.IPv6Off.State,
		&pod.Egress.DenyByDefault, &pod.Egress.TunnelOnly,
	} {
		if *s == Absent {
			*s = Unknown
		}
	}
	// Who needs the cluster, and who waits for the tunnel, other containers say.
	pod.Needs, pod.Gates, pod.Inbound, pod.Rejections = nil, nil, []Inbound{}, nil
	for i := range pod.Containers {
		c := &pod.Containers[i]
		if c.Privileged == Absent && !p.containers[i].spec.get("securityContext", "privileged").exists() {
			c.Privileged = Unknown
		}
		if c.NeedsAdmin == Present {
			c.NeedsAdmin = Unknown
		}
	}
	for i := range pod.Tunnels {
		blurTunnel(&pod.Tunnels[i])
	}
}

func blurTunnel(t *Tunnel) {
	for _, s := range []*Switch{&t.KillSwitch, &t.Masquerade, &t.PoolRouted, &t.IPv6} {
		if s.State == Absent {
			s.State, s.Why = Unknown, unseenWhy
		}
	}
	for _, s := range []*Known{&t.Bypass.State, &t.Routes.State, &t.Resolver.Rewrites, &t.Resolver.ReachesCluster, &t.RepliesKept, &t.Input.Closed} {
		if *s == Absent {
			*s = Unknown
		}
	}
}
