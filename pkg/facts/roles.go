package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/images"
)

// hints are what the container itself says beside its image.
func (c *containerView) hints() images.Hints {
	h := images.Hints{ContainerName: c.c.Name}
	list := c.spec.get("command")
	if len(list.items()) == 0 {
		list = c.spec.get("args")
	}
	for _, item := range list.texts() {
		h.Command = append(h.Command, item.text())
	}
	for _, entry := range c.spec.get("env").items() {
		if name := entry.get("name").text(); name != "" {
			h.EnvKeys = append(h.EnvKeys, name)
		}
	}
	return h
}

// classify says what a container is, from its image, its stage and its
// command. It needs the other containers' images, so it runs after all are
// matched.
func (c *containerView) classify() {
	if f := c.image.Family; f != nil {
		c.c.Family, c.c.FamilyTitle = f.ID, f.Title
		if c.image.Version.Known {
			c.c.Version = c.image.Version.Text
		}
		c.c.DataPlane = c.carriesPackets(f)
		escalation := c.spec.get("securityContext", "allowPrivilegeEscalation")
		refused := escalation.exists() && escalation.boolean() == Absent
		if f.Needs.FileCapabilities && c.c.NonRoot.State == Present && !refused {
			// What a process of another user may do is then not the manifest's to say.
			c.c.NonRoot.State = Unknown
		}
	}
	c.c.Combined = combinedImage(c.c.Family)
	if app, runs := c.application(); runs {
		c.c.Combined, c.app = true, app
	}
	c.c.OwnCommand = c.image.Family != nil && c.replacesEntrypoint()
	c.c.Application = c.c.Stage != Init && c.image.Family == nil && c.image.LookAlike == nil && !c.isHelper()
}

// carriesPackets reports whether a container of a VPN family is a data plane.
func (c *containerView) carriesPackets(f *images.Family) bool {
	switch f.Role {
	case images.Operator, images.NodeMasquerade:
		return false
	case images.Mesh:
		// Kilo's binary is its admission webhook, too.
		if args := c.spec.get("args").items(); f.ID == "kilo" && len(args) > 0 && args[0].text() == "webhook" {
			return false
		}
	case images.UI:
		// wireguard-ui only writes a configuration, unless it is told to bring
		// the interface up itself.
		return f.ID == "wireguard-ui" && isTrue(c.env("WGUI_MANAGE_START"))
	}
	if c.c.Stage != Init {
		return !c.onlyPrepares() && !c.onlyAsks()
	}
	// An init container ends, and a daemon with it; routes, rules and kernel
	// interfaces stay (FG D5.5).
	for _, cmd := range c.commands() {
		switch cmd.name() {
		case "wg-quick", "awg-quick", "client_init.sh", "gateway_init.sh":
			return true
		case "wg", "ip":
			if containsWord(cmd.args(), "wireguard") || containsWord(cmd.args(), "setconf") {
				return true
			}
		}
	}
	return false
}

// onlyPrepares: the command makes keys or a configuration and runs no daemon.
func (c *containerView) onlyPrepares() bool {
	prepares := false
	for _, cmd := range c.commands() {
		if cmd.script.Kind != scriptCommand && cmd.script.Kind != scriptFile {
			continue
		}
		switch cmd.name() {
		case "ovpn_genconfig", "ovpn_initpki", "ovpn_getclient", "easyrsa":
			prepares = true
		case "wg":
			switch args := cmd.args(); {
			case len(args) > 0 && (args[0] == "genkey" || args[0] == "genpsk" || args[0] == "pubkey"):
				prepares = true
			case len(args) > 0 && args[0] != "show" && args[0] != "showconf":
				return false // it writes to an interface
			}
		case "ip":
			if containsWord(cmd.args(), "wireguard") {
				return false
			}
		default:
			if isDaemon(cmd.name()) {
				return false
			}
		}
	}
	return prepares
}

// onlyAsks: a hook or test of a chart, which must end, takes a VPN's image for
// its tools, by a command of its own that starts no tunnel.
func (c *containerView) onlyAsks() bool {
	if c.pod.object.Helm == "" || !c.pod.pod.RunsToCompletion || !c.replacesEntrypoint() {
		return false
	}
	for _, cmd := range c.commands() {
		if isDaemon(cmd.name()) {
			return false
		}
	}
	return true
}

// isDaemon reports whether a program brings a tunnel up.
func isDaemon(name string) bool {
	switch name {
	case "ovpn_run", "openvpn", "wg-quick", "awg-quick", "wireguard-go":
		return true
	}
	return false
}

func containsWord(words []string, want string) bool {
	for _, w := range words {
		if w == want {
			return true
		}
	}
	return false
}

// isTrue reads a switch as most images do.
func isTrue(v value) bool {
	switch strings.ToLower(strings.TrimSpace(v.Text)) {
	case "true", "1", "yes", "on":
		return v.State == Present
	default:
		return false
	}
}

// helperImages are repositories (their last component) of containers that serve
// the pod itself: they have no traffic of their own that a tunnel was set up
// for.
func helperImage(repository string) bool {
	name := path.Base(repository)
	switch name {
	case "pause", "proxyv2", "linkerd-proxy", "proxy-init", "kube-rbac-proxy", "fluent-bit", "fluentd", "promtail", "vector",
		"configmap-reload", "prometheus-config-reloader", "k8s-sidecar", "git-sync", "logrotate", "node-driver-registrar",
		"coredns", "unbound", "dnsmasq", "socat", "netshoot":
		return true
	}
	return strings.HasPrefix(name, "dnsdist") || strings.HasSuffix(name, "-exporter") || strings.HasSuffix(name, "_exporter")
}

// isHelper reports whether a container only serves its neighbours: a known
// helper, or a bare shell image whose script talks to nobody but them.
func (c *containerView) isHelper() bool {
	if helperImage(c.image.Repository) {
		return true
	}
	if !bareImage(c.image.Repository) {
		return false
	}
	seen := false
	for _, cmd := range c.commands() {
		if cmd.script.Kind != scriptCommand && cmd.script.Kind != scriptFile {
			continue
		}
		if cmd.script.State == Unknown {
			return false
		}
		seen = true
		switch cmd.talks() {
		case talksLocal, talksNothing:
		default:
			return false
		}
	}
	return seen
}

// bareImage: an operating system without an application.
func bareImage(repository string) bool {
	switch path.Base(repository) {
	case "busybox", "alpine", "debian", "ubuntu", "bash", "curl", "bitnami-shell", "os-shell", "iptables", "toybox":
		return true
	default:
		return false
	}
}

// isCombined: one container is VPN client and application, by its image or by a
// script that starts both.
func isCombined(c *containerView) bool { return c.c.Combined }

// combinedImage: one image is VPN client and application (FG C0, "client+app").
func combinedImage(family string) bool {
	switch family {
	case "haugene-transmission-openvpn", "binhex-vpn", "dyonr-qbittorrentvpn", "hotio":
		return true
	default:
		return false
	}
}

// nodeMesh are the components that run on the host network by design.
func nodeMesh(c *containerView) (string, bool) {
	if c.c.Family == "kilo" {
		return "Kilo", true
	}
	for tail, title := range map[string]string{
		"cilium/cilium": "Cilium", "calico/node": "Calico", "tigera/calico-node": "Calico",
		"submariner-gateway": "Submariner", "submariner-route-agent": "Submariner", "submariner-globalnet": "Submariner",
	} {
		if r := c.image.Repository; r == tail || strings.HasSuffix(r, "/"+tail) {
			return title, true
		}
	}
	return "", false
}

// part is what one data plane container does for its pod.
type part string

const (
	partServer  part = "server"
	partClient  part = "client"
	partProxy   part = "proxy"
	partUnknown part = "unknown"
)

// readRole decides the role of a pod from its containers and their tunnels.
func readRole(p *podView) (Role, string) {
	if p.made != nil {
		return p.made.role, p.made.why
	}
	var lead *containerView
	role, why := None, "no VPN in it"
	apps := p.applications()
	for _, c := range p.containers {
		if title, is := nodeMesh(c); is && p.pod.HostNetwork.Value == "true" {
			return Mesh, title + " carries traffic between nodes, on the host network by design"
		}
		if c.c.DataPlane {
			lead = c
		} else if role == None && (c.image.LookAlike != nil || c.image.Family != nil && c.image.Family.Role != images.NodeMasquerade) {
			role, why = Control, "container "+c.c.Name+" ("+c.describe()+") carries no packets"
			if c.c.Stage == Init {
				why = "container " + c.c.Name + " (" + c.describe() + ") ends before the pod runs"
			}
		}
	}
	if lead == nil {
		if len(p.pod.Tunnels) > 0 {
			t := p.pod.Tunnels[0]
			return Sidecar, "an admission webhook adds container " + t.Container + " (" + t.FamilyTitle + ")"
		}
		return role, why
	}
	role, why = None, ""
	for _, c := range p.containers {
		if !c.c.DataPlane {
			continue
		}
		does, because := p.partOf(c)
		because = "container " + c.c.Name + " (" + c.describe() + ") " + because
		switch {
		case does == partServer && p.object.Helm != "" && p.pod.RunsToCompletion:
			// Helm waits for its end: it makes keys or asks questions.
			return Control, because + ", but as a Helm " + string(p.object.Helm) + " it ends"
		case does == partServer:
			return Gateway, because
		case does == partUnknown && role != RoleUnknown:
			role, why = RoleUnknown, because
		case does == partClient && role != RoleUnknown && role != Sidecar:
			role, why = Client, because+", alone in the pod"
			if isCombined(c) {
				why = because + ", client and application in one container"
			}
			if len(apps) > 0 {
				role, why = Sidecar, because+", beside "+strings.Join(apps, ", ")
			}
		case does == partProxy && role == None:
			role, why = Client, because
		}
	}
	return role, why
}

// describe names a container's kind for people.
func (c *containerView) describe() string {
	switch {
	case c.image.LookAlike != nil:
		return c.image.LookAlike.Why
	case c.c.FamilyTitle != "":
		return c.c.FamilyTitle
	default:
		return c.c.Image
	}
}

// applications are the names of the pod's application containers.
func (p *podView) applications() []string {
	var out []string
	for _, c := range p.containers {
		if c.c.Application {
			out = append(out, c.c.Name)
		}
	}
	return out
}

// partOf decides what one data plane container does. A client alone in its pod
// whose scripts translate what enters the tunnel is the way out of other pods: its
// own packets have the tunnel's address already.
func (p *podView) partOf(c *containerView) (part, string) {
	if p.made != nil {
		return p.made.side, p.made.why
	}
	does, why := p.partByItself(c)
	if does == partClient && !c.c.Combined && len(p.applications()) == 0 && !p.servesProxy() {
		if says := c.sendsOthers(); says != "" {
			return partServer, "sends the packets of others into its tunnel: " + says
		}
	}
	return does, why
}

// servesProxy: a proxy in the pod takes the traffic of others, whose packets then
// begin in the pod itself: whoever copied a rule that translates them forwards
// nothing.
func (p *podView) servesProxy() bool {
	for _, c := range p.containers {
		if c.c.Stage == Init {
			continue
		}
		if isProxy(path.Base(c.image.Repository)) {
			return true
		}
		for _, cmd := range c.commands() {
			if isProxy(cmd.name()) {
				return true
			}
		}
	}
	return false
}

// sendsOthers is the command by which the container's tunnel takes the packets of
// other hosts, "" for none.
func (c *containerView) sendsOthers() string {
	for _, t := range c.pod.pod.Tunnels {
		if t.Container == c.c.Name && t.forOthers != "" {
			return t.forOthers
		}
	}
	return ""
}

// partByItself is what the container's image, variables and configuration make of
// it.
func (p *podView) partByItself(c *containerView) (part, string) {
	if does, why := c.partOfFamily(); does != "" {
		return does, why
	}
	switch c.side() {
	case "server":
		return partServer, "is a server by its configuration"
	case "client":
		return partClient, "is a client by its configuration"
	}
	switch f := c.image.Family; f.Role {
	case images.Server, images.Gateway:
		if c.clientRefused() {
			return partUnknown, "is client or server by a configuration that its reader refuses"
		}
		return partServer, "is a VPN server"
	case images.Client:
		return partClient, "is a VPN client"
	case images.Proxy:
		return partProxy, "is an application proxy"
	case images.UI:
		return partServer, "brings the server's interface up"
	case images.Mesh:
		if len(p.applications()) > 0 {
			return partClient, "joins the pod to a mesh"
		}
		return partUnknown, "routes what its control plane says, which is not in the tree"
	default:
		return partUnknown, "is client or server by a configuration that cannot be seen"
	}
}

// clientRefused: the tunnel's configuration reads like a client's, and its reader
// refuses it.
func (c *containerView) clientRefused() bool {
	return slices.ContainsFunc(c.pod.pod.Tunnels, func(t Tunnel) bool { return t.Container == c.c.Name && t.clientRefused })
}

// side is what the container's tunnel is by its configuration, "" for none.
func (c *containerView) side() string {
	for _, t := range c.pod.pod.Tunnels {
		if t.Container == c.c.Name {
			return t.Side
		}
	}
	return ""
}

// partOfFamily knows the families whose environment decides; "" for others.
func (c *containerView) partOfFamily() (part, string) {
	switch c.c.Family {
	case "linuxserver-wireguard":
		switch peers := c.env("PEERS"); {
		case peers.State == Unknown:
			return partUnknown, "is a server if PEERS is set, which cannot be seen"
		case strings.TrimSpace(peers.Text) != "":
			return partServer, "is a server because PEERS is set"
		case c.side() == "server":
			// Without PEERS it brings up whatever configuration is mounted.
			return partServer, "is a server by the configuration that is mounted"
		default:
			return partClient, "is a client because PEERS is not set"
		}
	case "tailscale", "tailscale-other":
		return c.partOfTailscale()
	case "pod-gateway":
		return c.partOfPodGateway()
	case "cloudflare-warp":
		return c.partForOthers("WARP_ENABLE_NAT")
	case "wireguard-pia":
		return c.partForOthers("FWD_IFACE")
	default:
		return "", ""
	}
}

// partForOthers: a client that translates what others send through it when a
// variable is set, whatever its value is (FG C0 16, C4).
func (c *containerView) partForOthers(key string) (part, string) {
	switch nat := c.env(key); {
	case nat.State == Unknown && c.setsKey(key):
		return partUnknown, "routes for others if " + key + " is set, which cannot be seen"
	case nat.State == Present && nat.Text != "" && len(c.pod.applications()) == 0:
		return partServer, "routes for others because " + key + " is set"
	default:
		return "", ""
	}
}

// partOfTailscale: a subnet router, exit node or proxy for the cluster routes
// for others; anything else is a member of the tailnet (FG C6).
func (c *containerView) partOfTailscale() (part, string) {
	hidden := ""
	for _, key := range tailscaleRoutes() {
		v := c.env(key)
		switch {
		case strings.TrimSpace(v.Text) != "":
			return partServer, "routes for others because " + key + " is set"
		case v.State == Unknown:
			hidden = key
		}
	}
	flags := strings.Fields(c.env("TS_EXTRA_ARGS").Text)
	for _, cmd := range c.commands() {
		flags = append(flags, cmd.args()...)
	}
	for i, flag := range flags {
		name, text, given := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		switch name {
		case "advertise-routes":
			if given && text == "" || !given && i+1 == len(flags) {
				continue
			}
			return partServer, "routes for others because of --advertise-routes"
		case "advertise-exit-node":
			if text == "false" {
				continue
			}
			return partServer, "is an exit node"
		}
	}
	if v := c.env("TS_EXTRA_ARGS"); v.State == Unknown {
		hidden = "TS_EXTRA_ARGS"
	}
	if c.env("TS_EXPERIMENTAL_VERSIONED_CONFIG_DIR").State != Absent {
		hidden = "TS_EXPERIMENTAL_VERSIONED_CONFIG_DIR"
	}
	if hidden != "" && c.setsKey(hidden) {
		return partUnknown, "routes for others depending on " + hidden + ", which cannot be seen"
	}
	return partClient, "is a member of the tailnet that advertises no routes"
}

// setsKey reports whether the container's own env names a variable.
func (c *containerView) setsKey(key string) bool {
	for _, entry := range c.spec.get("env").items() {
		if entry.get("name").text() == key {
			return true
		}
	}
	return false
}

func (c *containerView) partOfPodGateway() (part, string) {
	for _, cmd := range c.commands() {
		switch cmd.name() {
		case "client_init.sh", "client_sidecar.sh":
			return partClient, "sends the pod's traffic to a gateway pod"
		case "gateway_init.sh", "gateway_sidecar.sh":
			return partServer, "is the gateway of other pods"
		}
	}
	switch c.c.Name {
	case "gateway-init", "gateway-sidecar": // what the admission webhook injects
		return partClient, "sends the pod's traffic to a gateway pod"
	}
	return partServer, "is the gateway of other pods"
}
