package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/shell"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// scriptBypass is the bypass "key" of a tunnel whose routes a script makes: more
// specific routes of the same script.
const scriptBypass = "ip route"

// handMade returns the command by which a script of the container makes a
// WireGuard interface itself, with ip and wg, and the interface's name, "" where
// it is known at run time only. Where wg-quick has a part in it, nothing is made
// by hand: only wg-quick turns AllowedIPs into routes (FG E1.6).
func (c *containerView) handMade() (made command, iface string, ok bool) {
	for _, cmd := range c.commands() {
		if cmd.opaque || cmd.cmd == nil || cmd.cmd.OtherNetNS || cmd.script.Kind != scriptCommand && cmd.script.Kind != scriptFile {
			continue
		}
		if is := tunnelProgram(cmd.name(), cmd.args()); is == "wireguard-generic" || is == "amneziawg" {
			dev, byHand := makesInterface(cmd.name(), cmd.args())
			switch {
			case !byHand:
				return command{}, "", false
			case !ok:
				made, iface, ok = cmd, dev, true
			}
		}
		if dev, moves := shell.LinkNetNS(cmd.cmd); moves && ok && (dev.Text == iface || !dev.Known) {
			return command{}, "", false // another network namespace has it then
		}
	}
	if strings.ContainsAny(iface, "$`") {
		iface = ""
	}
	return made, iface, ok
}

// makesInterface reads the commands that make a WireGuard interface and nothing
// else: ip link add wg0 type wireguard, or a daemon in user space.
func makesInterface(program string, args []string) (iface string, ok bool) {
	switch program {
	case "ip":
		return addsWireGuard(args)
	case "wireguard-go", "amneziawg-go", "boringtun", "boringtun-cli":
		for _, arg := range args {
			if !strings.HasPrefix(arg, "-") {
				return arg, true
			}
		}
	}
	return "", false
}

func addsWireGuard(args []string) (iface string, ok bool) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		args = args[1:]
	}
	if len(args) < 4 || !slices.Contains([]string{"link", "lin", "li", "l"}, args[0]) || args[1] != "add" && args[1] != "a" {
		return "", false
	}
	args = args[2:]
	at := slices.Index(args, "type")
	if at < 1 || at+1 >= len(args) || args[at+1] != "wireguard" && args[at+1] != "amneziawg" {
		return "", false
	}
	for i := 0; i < at; i++ {
		switch args[i] {
		case "dev", "name":
		case "mtu", "txqueuelen", "address", "index", "numtxqueues", "numrxqueues", "gso_max_size", "alias", "group":
			i++
		default:
			return args[i], true
		}
	}
	return "", false
}

// byHand reads a tunnel whose interface a script makes: its peers out of what wg
// is told, and no route but those of scripts (podScripts).
func (r *tunnelReader) byHand(made command, iface string) {
	t := r.t
	t.Kind, t.Interface, t.Config, t.Pool = "wireguard", iface, made.ref(), nil
	t.Routes = Routes{State: Absent, Ref: made.ref(), Why: "no route of a script leads into it", MoreSpecificWin: true}
	t.Bypass.Key = scriptBypass
	t.RepliesKept = Absent
	t.Resolver.Rewrites, t.Resolver.Why = Absent, "no wg-quick in it"
	t.KillSwitch = Switch{State: Absent, Ref: made.ref(), Why: "no script stops traffic outside the tunnel"}
	t.Masquerade = Switch{State: Absent, Ref: made.ref(), Why: "no script masquerades"}
	if iface == "" {
		r.inwardUnknown = true
	}
	h := handReader{tunnelReader: r}
	for _, cmd := range r.c.commands() {
		if cmd.opaque {
			r.inwardUnknown = true
			continue
		}
		if state, _ := cmd.reached(); cmd.cmd != nil && !cmd.cmd.OtherNetNS && state != Absent {
			h.command(cmd)
		}
	}
	t.Side = h.side()
	if t.Side == "server" {
		if t.Pool = append(t.Pool, h.networks...); len(h.networks) == 0 {
			t.Pool = append(t.Pool, singleHosts(t.Peers)...)
		}
	}
}

// handReader joins what single commands tell a WireGuard interface.
type handReader struct {
	*tunnelReader
	conf     grammar.WireGuard // as far as it decides the side
	networks []PrefixAt        // of the interface's addresses
	unseen   *lost             // a configuration that is not in view
	outward  bool              // a default route leads into the tunnel
	refused  bool              // wg refuses a configuration
}

func (h *handReader) command(c command) {
	args := c.args()
	switch name := c.name(); {
	case (name == "wg" || name == "awg") && len(args) > 1 && (args[1] == h.t.Interface || h.t.Interface == ""):
		switch args[0] {
		case "set":
			h.set(c)
		case "setconf", "addconf", "syncconf":
			h.file(c)
		}
	case name == "ip":
		if dev, address, is := shell.AddressAdd(c.cmd); is && dev.Text == h.t.Interface {
			h.address(c, address)
		}
		if route, is := shell.IPRoute(c.cmd); is && !route.Delete && route.Dev.Text == h.t.Interface {
			to := route.Destination.Text
			h.outward = h.outward || to == "default" || strings.HasSuffix(to, "/0") || strings.HasSuffix(to, "/1")
		}
	}
}

func (h *handReader) address(c command, word shell.Word) {
	p := grammar.ParsePrefix(word.Text, 0)
	at, valid := prefixAt(p, c.wordRef(word))
	if !valid || !word.Known {
		return
	}
	h.t.Addresses = append(h.t.Addresses, hostAt(p, at.Ref))
	if !p.Prefix.IsSingleIP() {
		h.networks = append(h.networks, at)
	}
}

// set reads wg set wg0 listen-port 51820 peer KEY allowed-ips LIST endpoint HOST:PORT.
func (h *handReader) set(c command) {
	words := c.words[min(3, len(c.words)):]
	var peer *Peer
	for i := 0; i+1 < len(words); i++ {
		word, next := words[i], words[i+1]
		switch word.Text {
		case "listen-port":
			h.conf.Interface.ListenPort = grammar.Word{Text: next.Text}
		case "peer":
			h.t.Peers = append(h.t.Peers, Peer{
				Ref: c.wordRef(next), Interface: h.t.Interface, PublicKey: next.Text, Table: "off", AllowedIPs: []PrefixAt{},
			})
			h.conf.Peers = append(h.conf.Peers, grammar.Peer{})
			peer = &h.t.Peers[len(h.t.Peers)-1]
		case "endpoint":
			if peer != nil {
				peer.Endpoint, peer.EndpointAddress = true, endpointAddress(next.Text)
				h.conf.Peers[len(h.conf.Peers)-1].Endpoint = grammar.Word{Text: next.Text}
			}
		case "allowed-ips":
			for _, p := range grammar.ParsePrefixes(next.Text, 0, ",") {
				if at, valid := prefixAt(p, c.wordRef(next)); valid && peer != nil && next.Known {
					peer.AllowedIPs = append(peer.AllowedIPs, at)
				}
			}
		case "private-key", "preshared-key", "persistent-keepalive", "fwmark":
		default: // remove, and what is no key
			continue
		}
		i++
	}
}

// file reads the configuration that wg setconf takes: the keys of wg alone, none
// of wg-quick's.
func (h *handReader) file(c command) {
	args := c.args()
	if len(args) < 3 {
		return
	}
	from, unseen := h.configuration(c, args[2])
	if unseen.holds() {
		h.unseen = &lost{aspectPool, unseen, from.whole}
		return
	}
	conf := grammar.ParseWireGuard(from.text)
	h.invalidWireGuard(conf, from)
	switch {
	case conf.Unknown:
		h.unseen = &lost{aspectPool, filledInLater(path.Base(from.path)), from.whole}
		return
	case h.cut(conf.Problems, from, []aspect{aspectPool}):
		h.refused = true
		return
	}
	w := wgReader{tunnelReader: h.tunnelReader, complete: true}
	for _, p := range conf.Peers {
		h.t.Peers = append(h.t.Peers, w.peer(p, grammar.Word{Text: "off"}, h.t.Interface, from))
	}
	h.conf.Peers = append(h.conf.Peers, conf.Peers...)
	if conf.Interface.ListenPort.Set() {
		h.conf.Interface.ListenPort = conf.Interface.ListenPort
	}
}

// configuration returns the file that a command reads: one that the script has
// written before, whose place is then the command's, or one of a volume.
func (h *handReader) configuration(c command, name string) (conf confText, unseen reason) {
	notInView := because("what "+clip(name)+" tells the interface is not in view", lintWithVPNConfig)
	if text, known, found := c.written(name); found {
		conf = confText{path: name, text: text, whole: c.ref(), at: func(grammar.Range) source.Ref { return c.ref() }}
		if !known {
			return conf, because("what the script writes into "+clip(name)+" is known at run time only", noAdvice)
		}
		return conf, reason{}
	}
	f := h.c.file(name)
	switch {
	case path.IsAbs(name) && f.State == Present:
		return confOf(f), reason{}
	case path.IsAbs(name) && f.Why.holds():
		return confText{whole: f.Ref}, f.Why
	default:
		return confText{whole: c.ref()}, notInView
	}
}

func (h *handReader) side() string {
	if h.outward {
		return "client" // a server takes no default route from its clients
	}
	if h.unseen != nil {
		h.missed(h.unseen.why, h.unseen.ref, h.unseen.what)
	}
	if h.unseen != nil || h.refused {
		return "unknown"
	}
	return wgSide(&h.conf)
}

// lasts: the kernel's interface that an ordinary init container made, or a script
// by hand, stays with its routes as long as the pod, whatever ends or starts
// again in it (FG D5.5): packets for a peer that is gone are lost and do not
// leave another way. A daemon in user space takes its interface along.
func (r *tunnelReader) lasts() {
	t := r.t
	if t.Kind != "wireguard" || t.Routes.State != Present || t.KillSwitch.State == Present {
		return
	}
	made, _, byHand := r.c.handMade()
	if r.c.c.Stage != Init && !byHand || byHand && made.name() != "ip" || r.takesDown() {
		return
	}
	t.KillSwitch = Switch{State: Present, Ref: t.ContainerRef, Why: "the interface and its routes stay as long as the pod"}
}

// takesDown: a script in view takes the tunnel's interface away, or down, or one
// that cannot be seen may.
func (r *tunnelReader) takesDown() bool {
	for _, c := range r.pod.containers {
		if !c.mayFilter() {
			continue
		}
		for _, cmd := range c.commands() {
			if cmd.opaque {
				return true
			}
			args := cmd.args()
			switch cmd.name() {
			case "wg-quick", "awg-quick":
				if slices.Contains(args, "down") {
					return true
				}
			case "ip":
				if slices.Contains(args, "link") && (slices.Contains(args, "del") || slices.Contains(args, "delete") || slices.Contains(args, "down")) {
					return true
				}
			}
		}
	}
	return false
}

// byHandIn reports whether the family is one whose image a script may use for its
// tools alone.
func byHandIn(f *images.Family) bool {
	switch f.ID {
	case "linuxserver-wireguard", "masipcat-wireguard-go", "cmulk-wireguard", "jordanpotter-wireguard", "boringtun",
		"wireguard-generic", "amneziawg", "bryopsida-wireguard", "denefoster-k8s-wireguard":
		return true
	}
	return false
}
