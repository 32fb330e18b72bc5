package facts

// Silent reports whether the facts hold nothing that any rule looks at: no VPN,
// no masquerade agent, no range, no workload that names an address, nothing
// that could not be seen.
func (f *Facts) Silent() bool {
	for i := range f.Pods {
		p := &f.Pods[i]
		if p.Role != None || len(p.Tunnels) > 0 || len(p.Mentions) > 0 || len(p.Egress.Policies) > 0 {
			return false
		}
	}
	return len(f.Invalid)+len(f.UnreadLists)+len(f.PeerGroups)+len(f.Agents)+len(f.Sites)+len(f.Clusters)+len(f.Claims)+len(f.Gaps) == 0
}

// Plain reports whether the built-in rules pass the pod by: it carries no VPN,
// names no address, and sets or fails nothing that they ask for.
func (p *Pod) Plain() bool {
	if p.Role != None || len(p.Tunnels)+len(p.Needs)+len(p.Mentions)+len(p.Inbound)+len(p.Gates) > 0 ||
		len(p.Sysctls)+len(p.Rejections)+len(p.Forwarding.IPv4.Evidence)+len(p.Forwarding.IPv6.Evidence) > 0 {
		return false
	}
	for i := range p.Containers {
		if p.Containers[i].DataPlane {
			return false
		}
	}
	return true
}
