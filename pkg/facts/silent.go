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
	return len(f.Agents)+len(f.Sites)+len(f.Clusters)+len(f.Claims)+len(f.Gaps) == 0
}
