package facts

import (
	"net/netip"
	"sort"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// maxConfigBytes bounds how much of a mounted file is searched for names.
const maxConfigBytes = 256 << 10

// readNeeds finds the reasons why the containers beside the tunnel need the
// cluster, and the addresses that any container names. Only whole hosts count:
// of a URL, of host:port, of a name below .svc, or a literal address.
func readNeeds(p *podView) {
	r := &needReader{p: p, services: p.ix.servicesNear(p.object), aliases: hostAliases(p), seen: map[string]bool{}}
	own := tunnelContainers(p)
	for _, c := range p.containers {
		if own[c.c.Name] && c.app.cmd == nil {
			continue // a tunnel's own configuration is no need
		}
		r.c, r.affected = c, len(own) > 0 && r.runsBesideTunnel(c, own)
		if own[c.c.Name] {
			r.application()
			continue
		}
		r.proxied = c.proxied()
		r.texts()
	}
	if len(own) > 0 {
		r.replies(own)
	}
	sort.SliceStable(p.pod.Needs, func(i, j int) bool {
		a, b := p.pod.Needs[i], p.pod.Needs[j]
		return p.orderOf(a.Container) < p.orderOf(b.Container)
	})
}

// tunnelContainers are the containers that carry a tunnel.
func tunnelContainers(p *podView) map[string]bool {
	out := map[string]bool{}
	for _, t := range p.pod.Tunnels {
		out[t.Container] = true
	}
	for _, c := range p.containers {
		if c.c.DataPlane {
			out[c.c.Name] = true
		}
	}
	return out
}

func (p *podView) orderOf(container string) int {
	if c := p.container(container); c != nil {
		return c.c.Order
	}
	return len(p.containers)
}

// proxied: a variable such as HTTPS_PROXY leads requests elsewhere.
func (c *containerView) proxied() bool {
	for _, v := range c.envWithPrefix("") {
		name := strings.ToUpper(v.Name)
		if strings.HasSuffix(name, "_PROXY") && name != "NO_PROXY" && v.Text != "" {
			return true
		}
	}
	return false
}

type needReader struct {
	p        *podView
	services *serviceIndex
	c        *containerView
	// affected: the container runs while the tunnel does.
	affected bool
	proxied  bool // the container is told to use a proxy
	// aliases are the names that the pod's /etc/hosts holds, which is asked before
	// any resolver, with their addresses.
	aliases map[string]netip.Addr
	seen    map[string]bool
}

// hostAliases reads the names that the manifest writes into /etc/hosts. An
// address that is not known is the zero one.
func hostAliases(p *podView) map[string]netip.Addr {
	out := map[string]netip.Addr{}
	for _, alias := range p.spec.get("hostAliases").items() {
		addr, err := netip.ParseAddr(alias.get("ip").text())
		if err != nil {
			addr = netip.Addr{}
		}
		for _, name := range alias.get("hostnames").texts() {
			key := strings.TrimSuffix(strings.ToLower(name.text()), ".")
			if _, first := out[key]; !first {
				out[key] = addr
			}
		}
	}
	return out
}

// runsBesideTunnel: an init container that ends before the first tunnel starts
// still uses the pod's plain network.
func (r *needReader) runsBesideTunnel(c *containerView, own map[string]bool) bool {
	if c.c.Stage != Init {
		return true
	}
	for _, other := range r.p.containers {
		if own[other.c.Name] && other.c.Order < c.c.Order {
			return true
		}
	}
	return false
}

// texts looks at everything that configures a container.
func (r *needReader) texts() {
	for _, v := range r.c.envWithPrefix("") {
		if v.State == Present {
			r.text(v.Text, v.value, v.Name)
		}
	}
	argv, _ := r.c.argv()
	for i, w := range argv {
		key := ""
		if i > 0 && strings.HasPrefix(argv[i-1].Text, "-") {
			key = argv[i-1].Text
		}
		r.text(w.Text, w.value, key)
	}
	for _, probe := range []string{"startupProbe", "readinessProbe", "livenessProbe"} {
		for _, item := range r.c.words(r.c.spec.get(probe, "exec", "command")) {
			r.text(item.Text, item.value, "")
		}
	}
	for _, f := range r.c.files("/**") {
		if f.State == Present && len(f.Text) <= maxConfigBytes {
			r.text(f.Text, value{State: Present, Text: f.Text, Ref: f.Ref}, "")
		}
	}
	r.kubectl()
}

// application looks at what an application is told that a script starts in the
// tunnel's own container: its command, and the variables that do not sound like
// the tunnel's.
func (r *needReader) application() {
	r.proxied = r.c.proxied()
	for i, w := range r.c.app.args() {
		key := ""
		if i > 0 && strings.HasPrefix(r.c.app.args()[i-1], "-") {
			key = r.c.app.args()[i-1]
		}
		r.text(w, value{State: Present, Text: w, Ref: r.c.app.ref(), Moved: true}, key)
	}
	for _, v := range r.c.envWithPrefix("") {
		if v.State == Present && !ofTunnel(v.Name) {
			r.text(v.Text, v.value, v.Name)
		}
	}
}

// ofTunnel reports whether a variable sounds like one of a tunnel.
func ofTunnel(key string) bool {
	key = strings.ToUpper(key)
	for _, part := range []string{"VPN", "WG", "WIREGUARD", "TUN", "ENDPOINT", "REMOTE", "PEER", "DNS", "GATEWAY", "IPSEC"} {
		if strings.Contains(key, part) {
			return true
		}
	}
	return false
}

// text reads the hosts of one text. key is the name of the variable or flag
// whose value it is.
func (r *needReader) text(text string, v value, key string) {
	for _, h := range hosts(text) {
		at := v.within(h.start, h.end)
		if v.Moved || h.end-h.start == len(text) {
			at = v.Ref
		}
		if addr, err := netip.ParseAddr(h.name); err == nil {
			r.address(addr, h, at)
			continue
		}
		if addr, aliased := r.aliases[strings.TrimSuffix(strings.ToLower(h.name), ".")]; aliased {
			if addr.IsValid() {
				r.address(addr, h, at)
			}
			continue
		}
		if r.affected && r.clusterName(h, key) {
			r.need("name", at, h.says)
		}
	}
}

func (r *needReader) need(kind string, at source.Ref, says string) {
	key := r.c.c.Name + "\x00" + kind + "\x00" + says
	if r.seen[key] {
		return
	}
	r.seen[key] = true
	r.p.pod.Needs = append(r.p.pod.Needs, Need{Container: r.c.c.Name, Ref: at, Kind: kind, Says: clip(says)})
}

func (r *needReader) address(addr netip.Addr, h host, at source.Ref) {
	if h.prefix {
		return // a range is a setting of the application, not a destination
	}
	addr = addr.Unmap().WithZone("")
	if !addr.IsLoopback() && !addr.IsUnspecified() && !addr.IsMulticast() {
		key := "address\x00" + r.c.c.Name + "\x00" + addr.String()
		if !r.seen[key] {
			r.seen[key] = true
			r.p.pod.Mentions = append(r.p.pod.Mentions, Mention{
				Container: r.c.c.Name, Address: addr.String(), Ref: at, Says: clip(h.says), Proxied: r.proxied,
			})
		}
	}
	if !r.affected {
		return
	}
	if r.services.addresses[addr] {
		r.need("service", at, h.says)
		return
	}
	kind := ""
	for _, cluster := range r.p.clusters {
		for _, rng := range cluster.Ranges {
			prefix, err := netip.ParsePrefix(rng.Prefix)
			if err != nil || !prefix.Contains(addr) {
				continue
			}
			switch rng.Role {
			case cidrplan.API:
				kind = "api"
			case cidrplan.Service, cidrplan.DNS:
				if kind != "api" {
					kind = "service"
				}
			case cidrplan.Pod:
				if kind == "" {
					kind = "pod"
				}
			}
		}
	}
	if kind != "" {
		r.need(kind, at, h.says)
	}
}

// clusterName reports whether only the cluster's resolver knows a name.
func (r *needReader) clusterName(h host, key string) bool {
	name := strings.TrimSuffix(strings.ToLower(h.name), ".")
	labels := strings.Split(name, ".")
	for i, l := range labels {
		if l == "svc" && i >= 2 && (i == len(labels)-1 || strings.HasSuffix(name, ".cluster.local")) {
			return true
		}
	}
	switch {
	case name == "kubernetes.default":
		return true
	case len(labels) == 2:
		return r.services.names[normalNamespace(labels[1])+"/"+labels[0]] && (h.url || h.port || namesHost(key))
	case len(labels) == 1:
		ns := normalNamespace(r.p.object.Namespace)
		return r.services.names[ns+"/"+name] && !r.services.selecting(r.p, name) && (h.url || h.port || namesHost(key))
	default:
		return false
	}
}

// namesHost reports whether a variable or flag is meant to hold a host.
func namesHost(key string) bool {
	key = strings.ToLower(strings.TrimLeft(key, "-"))
	parts := strings.FieldsFunc(key, func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	for _, part := range parts {
		switch part {
		case "host", "hostname", "hosts", "server", "servers", "addr", "address", "url", "uri", "endpoint", "endpoints", "broker", "brokers", "dsn":
			return true
		}
	}
	return false
}

// kubectl needs the API server unless it is told another one.
func (r *needReader) kubectl() {
	if !r.affected {
		return
	}
	for _, cmd := range r.c.commands() {
		if cmd.name() != "kubectl" {
			continue
		}
		elsewhere := false
		for _, w := range cmd.args() {
			for _, flag := range []string{"--server", "-s", "--kubeconfig", "--context"} {
				elsewhere = elsewhere || w == flag || strings.HasPrefix(w, flag+"=")
			}
		}
		if !elsewhere {
			// In a pod it asks the Service kubernetes, and the API server's own address
			// only where it is told to.
			says := "the API server (" + cmd.says() + ")"
			r.need("service", cmd.ref(), says)
			r.need("api", cmd.ref(), says)
		}
	}
}

// replies finds what reaches the pod: Services that select it and probes. The
// answers leave by whatever route the tunnel has set.
func (r *needReader) replies(own map[string]bool) {
	listeners := r.p.containers
	for _, s := range r.services.of(r.p) {
		for i, port := range s.ports {
			c := r.listener(port.target, own)
			if c == nil {
				continue
			}
			r.c = c
			r.need("replies", s.object.Ref("spec", "ports", itoa(i)), "Service "+qualified(s.object.Namespace, s.object.Name)+" port "+port.says)
		}
	}
	for _, c := range listeners {
		if own[c.c.Name] && !isCombined(c) || c.c.Stage == Init {
			continue
		}
		for _, name := range []string{"startupProbe", "readinessProbe", "livenessProbe"} {
			for _, how := range []string{"httpGet", "tcpSocket", "grpc"} {
				probe := c.spec.get(name, how)
				if !probe.exists() {
					continue
				}
				port, _ := probe.get("port").scalar()
				r.c = c
				r.need("replies", probe.ref(), strings.TrimSpace(name+" "+how+" "+port))
			}
		}
	}
}

// listener returns the container that answers on a Service's target port, nil
// when that is a tunnel's own listener.
func (r *needReader) listener(target string, own map[string]bool) *containerView {
	var first *containerView
	for _, c := range r.p.containers {
		if c.c.Stage == Init {
			continue
		}
		eligible := !own[c.c.Name] || isCombined(c)
		for _, port := range c.spec.get("ports").items() {
			number, _ := port.get("containerPort").scalar()
			if port.get("name").text() != target && number != target {
				continue
			}
			if eligible {
				return c
			}
			return nil
		}
		if eligible && first == nil && (c.c.Application || isCombined(c)) {
			first = c
		}
	}
	return first
}
