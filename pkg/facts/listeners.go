package facts

import (
	"net/netip"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// readListeners fills in where the containers listen and what reaches the pod.
func readListeners(p *podView) {
	for _, c := range p.containers {
		c.c.Listeners = c.listeners()
	}
	p.pod.Inbound = inbound(p)
}

// listeners are the ports that are known from the image and those that the
// manifest declares.
func (c *containerView) listeners() []Listener {
	out := []Listener{}
	var own []Listener
	if c.image.Family != nil {
		own = c.imageListeners()
	}
	for i := range own {
		own[i].Used = true
	}
	out = append(out, own...)
	declared := c.spec.get("ports").items()
	var used map[int]bool
	if len(declared) > 0 {
		used = c.usedPorts()
	}
	for _, port := range declared {
		number, is := port.get("containerPort").integer()
		if !is || number < 1 || number > 65535 {
			continue
		}
		l := Listener{
			Port: int(number), Protocol: protocolOf(port), Source: "declared", Ref: port.get("containerPort").ref(),
			Says: "containerPort " + itoa(int(number)), Loopback: Unknown,
		}
		l.Used = used[l.Port]
		if !listed(own, l) && !c.declaresForOthers() {
			out = append(out, l)
		}
	}
	return out
}

// usedPorts are those at which the container's own settings place a listener:
// one of its probes asks there, or a variable or flag that is called after a port
// or an address to listen on has it. A URL with the port is a peer's. They are
// gathered once, for a relay may declare thousands of ports.
func (c *containerView) usedPorts() map[int]bool {
	out := map[int]bool{}
	for _, name := range []string{"startupProbe", "readinessProbe", "livenessProbe"} {
		for _, how := range []string{"httpGet", "tcpSocket", "grpc"} {
			probe := c.spec.get(name, how)
			if port, is := c.portNumber(probe.get("port")); is && !probe.get("host").exists() {
				out[port] = true
			}
		}
	}
	use := func(text string) {
		if port, is := listensOn(text); is {
			out[port] = true
		}
	}
	for _, v := range c.envWithPrefix("") {
		if v.State == Present && namesListener(v.Name) {
			use(v.Text)
		}
	}
	argv, _ := c.argv()
	for i, w := range argv {
		flag, text, joined := strings.Cut(w.Text, "=")
		if !joined {
			if i == 0 {
				continue
			}
			flag, text = argv[i-1].Text, w.Text
		}
		if strings.HasPrefix(flag, "-") && namesListener(flag) {
			use(text)
		}
	}
	return out
}

func namesListener(key string) bool {
	for _, part := range strings.FieldsFunc(strings.ToLower(key), func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
		switch part {
		case "port", "p", "listen", "listening", "bind", "addr", "address":
			return true
		}
	}
	return false
}

// listensOn reads a port, or an address of this host with one.
func listensOn(text string) (int, bool) {
	host, port, found := cutPort(strings.TrimSpace(text))
	if !found {
		host, port = "", host
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || itoa(int(number)) != port {
		return 0, false
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return int(number), host == "" || host == "*" || host == "localhost" || err == nil && (addr.IsUnspecified() || addr.IsLoopback())
}

func protocolOf(port node) string {
	if text := strings.ToUpper(port.get("protocol").text()); text != "" {
		return text
	}
	return "TCP"
}

func listed(list []Listener, l Listener) bool {
	for _, have := range list {
		if have.Port == l.Port && have.Protocol == l.Protocol {
			return true
		}
	}
	return false
}

// declaresForOthers: ports of a tunnel container are commonly those of the
// applications that share its network.
func (c *containerView) declaresForOthers() bool {
	return c.c.DataPlane && !isCombined(c)
}

// imageListeners are what is known of VPN images, with the variables that move
// it. What a variable that cannot be seen decides is left out.
func (c *containerView) imageListeners() []Listener {
	switch c.c.Family {
	case "gluetun":
		return c.gluetunListeners()
	case "masipcat-wireguard-go":
		if on := c.env("ENABLE_HEALTHCHECK"); on.State == Present && on.Text != "" && !isOff(on.Text) {
			return c.portVariable("HEALTHCHECK_PORT", "8080", "TCP", "the health check")
		}
	case "tailscale":
		if on := c.env("TS_ENABLE_HEALTH_CHECK"); goTrue(on, false) {
			return c.address("TS_LOCAL_ADDR_PORT", "[::]:9002", "the health check", "TCP")
		}
	case "haugene-transmission-openvpn":
		return c.portVariable("TRANSMISSION_RPC_PORT", "9091", "TCP", "the web interface")
	case "wg-easy-v14", "wg-easy-v15":
		return append(c.portVariable("PORT", "51821", "TCP", "the web interface"), c.configListeners()...)
	}
	return c.configListeners()
}

// gluetunListeners: the control and the health server are always on, the
// proxies are off by default (FG C1). Variables of older versions that move a
// server make its address unknown.
func (c *containerView) gluetunListeners() []Listener {
	var out []Listener
	if !c.setsAny("HTTP_CONTROL_SERVER_PORT", "CONTROL_SERVER_PORT") {
		out = append(out, c.address("HTTP_CONTROL_SERVER_ADDRESS", ":8000", "the control server", "TCP")...)
	}
	if c.turnedOn("HTTPPROXY") && !c.setsAny("HTTPPROXY_PORT", "PROXY_PORT", "TINYPROXY_PORT") {
		out = append(out, c.switched("HTTPPROXY", c.address("HTTPPROXY_LISTENING_ADDRESS", ":8888", "the HTTP proxy", "TCP"))...)
	}
	if c.turnedOn("SHADOWSOCKS") && !c.setsAny("SHADOWSOCKS_PORT") {
		out = append(out, c.switched("SHADOWSOCKS", c.address("SHADOWSOCKS_LISTENING_ADDRESS", ":8388", "the Shadowsocks server", "TCP", "UDP"))...)
	}
	if !c.setsAny("HEALTH_ADDRESS") {
		out = append(out, c.address("HEALTH_SERVER_ADDRESS", "127.0.0.1:9999", "the health server", "TCP")...)
	}
	return out
}

// switched places listeners that no address places at the switch that turns
// them on.
func (c *containerView) switched(key string, list []Listener) []Listener {
	for i := range list {
		if list[i].Ref == c.c.Ref {
			list[i].Ref = c.env(key).Ref
		}
	}
	return list
}

func (c *containerView) turnedOn(key string) bool {
	v := c.env(key)
	return v.State == Present && isOn(v.Text)
}

// setsAny reports whether the container itself sets one of the variables.
func (c *containerView) setsAny(keys ...string) bool {
	for _, key := range keys {
		if c.setsKey(key) {
			return true
		}
	}
	return false
}

// address reads a variable with an address to listen on, such as ":8000".
func (c *containerView) address(key, fallback, what string, protocols ...string) []Listener {
	v := c.env(key)
	if v.State == Unknown {
		return nil
	}
	ref := v.Ref
	text := strings.TrimSpace(v.Text)
	if v.State == Absent || text == "" {
		text, ref = fallback, c.c.Ref
	}
	i := strings.LastIndexByte(text, ':')
	port, err := strconv.ParseUint(text[i+1:], 10, 16)
	if i < 0 || err != nil || port == 0 {
		return nil
	}
	loopback := Absent
	host := strings.Trim(text[:i], "[]")
	switch addr, err := netip.ParseAddr(host); {
	case host == "localhost" || err == nil && addr.IsLoopback():
		loopback = Present
	case err != nil && host != "" && host != "*":
		loopback = Unknown
	}
	var out []Listener
	for _, protocol := range protocols {
		out = append(out, Listener{
			Port: int(port), Protocol: protocol, Source: "image", Ref: ref, Loopback: loopback,
			Says: what + " of " + c.c.FamilyTitle + " (" + text + ")",
		})
	}
	return out
}

// portVariable reads a variable with a port.
func (c *containerView) portVariable(key, fallback, protocol, what string) []Listener {
	v := c.env(key)
	if v.State == Unknown {
		return nil
	}
	text, ref := strings.TrimSpace(v.Text), v.Ref
	if v.State == Absent || text == "" {
		text, ref = fallback, c.c.Ref
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return nil
	}
	return []Listener{{
		Port: int(port), Protocol: protocol, Source: "image", Ref: ref, Loopback: Absent,
		Says: what + " of " + c.c.FamilyTitle + " (" + text + ")",
	}}
}

// configListeners are the ports of WireGuard configurations that are mounted.
func (c *containerView) configListeners() []Listener {
	var out []Listener
	if !c.c.DataPlane {
		return nil
	}
	for _, f := range c.files("/**/*.conf") {
		if f.State != Present || len(f.Text) > maxConfigBytes || !strings.Contains(strings.ToLower(f.Text), "[interface]") {
			continue
		}
		listen := grammar.ParseWireGuard(f.Text).Interface.ListenPort
		port, err := strconv.ParseUint(listen.Text, 10, 16)
		if err != nil || port == 0 {
			continue
		}
		out = append(out, Listener{
			Port: int(port), Protocol: "UDP", Source: "image", Ref: f.Ref.Within(listen.Start, listen.End), Loopback: Absent,
			Says: "ListenPort of " + path.Base(f.Path),
		})
	}
	return out
}

// inbound lists probes and the Services that select a pod with a tunnel.
func inbound(p *podView) []Inbound {
	out := []Inbound{}
	if len(p.pod.Tunnels) == 0 {
		return out
	}
	own := tunnelContainers(p)
	for _, c := range p.containers {
		if c.c.Stage == Init {
			continue
		}
		for _, name := range []string{"startupProbe", "readinessProbe", "livenessProbe"} {
			for _, how := range []string{"httpGet", "tcpSocket", "grpc"} {
				probe := c.spec.get(name, how)
				if !probe.exists() {
					continue
				}
				if host := probe.get("host"); host.exists() { // it is asked from the node
					p.nodeProbe(c, name+" "+how, host)
					continue
				}
				number, is := c.portNumber(probe.get("port"))
				if !is {
					continue
				}
				out = append(out, Inbound{
					Kind: "probe", Container: c.c.Name, Port: number, Protocol: "TCP", Ref: probe.get("port").ref(),
					Says: name + " " + how + " " + itoa(number), Tunnel: own[c.c.Name] && !isCombined(c),
				})
			}
		}
	}
	return append(out, servedPorts(p, own)...)
}

// nodeProbe notes a probe whose host is a loopback address.
func (p *podView) nodeProbe(c *containerView, says string, host node) {
	name := host.text()
	ports := c.spec.get("ports").items()
	published := slices.ContainsFunc(ports, func(port node) bool { return port.get("hostPort").exists() })
	if !published && p.spec.get("hostNetwork").boolean() == Absent && (name == "localhost" || isLoopback(name)) {
		p.pod.NodeProbes = append(p.pod.NodeProbes, NamedRef{Name: c.c.Name, Ref: host.ref(), Says: says + " with host " + name})
	}
}

// portNumber reads a port that is a number, or the name of one that the
// container declares.
func (c *containerView) portNumber(n node) (int, bool) {
	text, is := n.scalar()
	if !is {
		return 0, false
	}
	if number, err := strconv.ParseUint(text, 10, 16); err == nil {
		return int(number), number > 0
	}
	for _, port := range c.spec.get("ports").items() {
		if number, is := port.get("containerPort").integer(); is && port.get("name").text() == text {
			return int(number), number > 0 && number <= 65535
		}
	}
	return 0, false
}

// servedPorts are the ports to which Services lead.
func servedPorts(p *podView, own map[string]bool) []Inbound {
	var out []Inbound
	for _, s := range p.ix.servicesNear(p.object).of(p) {
		for i, port := range root(s.object).get("spec", "ports").items() {
			if i >= len(s.ports) {
				break
			}
			number, container := p.target(s.ports[i].target, protocolOf(port))
			if number == 0 {
				continue
			}
			in := Inbound{
				Kind: "service", Port: number, Protocol: protocolOf(port), Ref: port.ref(),
				Says: "Service " + qualified(s.object.Namespace, s.object.Name) + " port " + s.ports[i].says,
			}
			if container != nil {
				in.Container, in.Tunnel = container.c.Name, own[container.c.Name] && !isCombined(container)
			}
			out = append(out, in)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Says < out[j].Says })
	return out
}

// target resolves a Service's target port, and the container that listens on it
// as far as that is known.
func (p *podView) target(text, protocol string) (int, *containerView) {
	number := 0
	if n, err := strconv.ParseUint(text, 10, 16); err == nil {
		number = int(n)
	}
	for _, c := range p.containers {
		for _, port := range c.spec.get("ports").items() {
			declared, is := port.get("containerPort").integer()
			if number == 0 && is && port.get("name").text() == text && protocolOf(port) == protocol && declared > 0 && declared <= 65535 {
				number = int(declared)
			}
		}
	}
	for _, c := range p.containers {
		if c.c.Stage != Init && listed(c.c.Listeners, Listener{Port: number, Protocol: protocol}) {
			return number, c
		}
	}
	return number, nil
}

// input reads the firewall of an image for what reaches the pod: gluetun drops
// all but its own subnet's packets while its firewall is on (FG C1), and so do
// DyonR's and binhex' images while their VPN is on, and haugene's with ufw, but
// for the ports of their own application (FG C4).
func (r *tunnelReader) input() {
	in := Input{Closed: Unknown, Ports: []int{}, Ref: r.t.ContainerRef}
	switch {
	case r.t.Family == "gluetun":
		in.Key, in.Closed = "FIREWALL_INPUT_PORTS", r.t.KillSwitch.State
	case r.t.Family == "dyonr-qbittorrentvpn" && r.c.image.Repository == "dyonr/qbittorrentvpn":
		in.Key, in.Closed, in.Ports = "ADDITIONAL_PORTS", and(r.t.KillSwitch.State, r.enabledVPN()), []int{8080}
	case r.t.Family == "binhex-vpn":
		in.Key = "VPN_INPUT_PORTS"
		own, known := r.binhexPorts()
		in.Closed, in.Ports = and(and(r.t.KillSwitch.State, r.enabledVPN()), known), own
	case r.t.Family == "haugene-transmission-openvpn":
		in.Key = "UFW_EXTRA_PORTS"
		own, known := r.haugenePorts()
		in.Closed, in.Ports = and(r.c.switchedOn("ENABLE_UFW"), known), own
	default:
		r.t.Input = in
		return
	}
	r.c.readMounts()
	for _, m := range r.c.mountList {
		if m.path == "/iptables" || strings.HasPrefix(m.path, "/iptables/") {
			in.Closed = and(in.Closed, Unknown) // rules of the user's own
		}
	}
	v := r.c.env(in.Key)
	switch v.State {
	case Unknown:
		in.Closed = and(in.Closed, Unknown)
	case Present:
		in.Ref = v.Ref
		for _, field := range strings.Split(v.Text, ",") {
			if port, err := strconv.ParseUint(strings.TrimSpace(field), 10, 16); err == nil {
				in.Ports = append(in.Ports, int(port))
			}
		}
	}
	r.t.Input = in
}

// binhexPorts are the ports that a binhex image opens by itself, those of its
// application and of its proxies; Absent for an application that is not known
// here. The variable that it read before VPN_INPUT_PORTS counts.
func (r *tunnelReader) binhexPorts() ([]int, Known) {
	out := []int{8118, 9118}
	switch path.Base(r.c.image.Repository) {
	case "arch-qbittorrentvpn":
		return r.c.portsIn(append(out, 8080), "WEBUI_PORT", "ADDITIONAL_PORTS")
	case "arch-delugevpn":
		out = append(out, 8112, 58846)
	case "arch-rtorrentvpn":
		out = append(out, 9080, 9443, 5000)
	case "arch-sabnzbdvpn":
		out = append(out, 8080, 8090)
	case "arch-privoxyvpn":
	default:
		return []int{}, Unknown
	}
	return r.c.portsIn(out, "ADDITIONAL_PORTS")
}

// haugenePorts are the ports that the image opens in ufw by itself: Transmission's
// and its web proxy's.
func (r *tunnelReader) haugenePorts() ([]int, Known) {
	return r.c.portsIn([]int{9091, 51413, 8118, 8888}, "TRANSMISSION_RPC_PORT", "TRANSMISSION_PEER_PORT", "WEBPROXY_PORT")
}

// portsIn adds the ports that variables hold; Unknown where one cannot be seen.
func (c *containerView) portsIn(list []int, keys ...string) ([]int, Known) {
	complete := Present
	for _, key := range keys {
		v := c.env(key)
		if v.State == Unknown && c.setsKey(key) {
			complete = Unknown
		}
		for _, field := range strings.Split(v.Text, ",") {
			if port, err := strconv.ParseUint(strings.TrimSpace(field), 10, 16); err == nil {
				list = append(list, int(port))
			}
		}
	}
	return list, complete
}

// switchedOn reads a switch that is off where it is not set.
func (c *containerView) switchedOn(key string) Known {
	switch v := c.env(key); v.State {
	case Present:
		return known(isOn(v.Text))
	default:
		return v.State
	}
}

// interfaceMTU keeps the size that a configuration or variable sets.
func (r *tunnelReader) interfaceMTU(text string, ref source.Ref, says string) {
	if size, err := strconv.ParseUint(strings.TrimSpace(text), 10, 16); err == nil && size > 0 {
		r.t.MTU.Size, r.t.MTU.Ref, r.t.MTU.Says = int(size), ref, says
	}
}
