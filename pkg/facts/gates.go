package facts

import (
	"net/netip"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/shell"
)

// readGates tells for each client tunnel beside an application how the
// application is kept waiting (FG D5). UsesNetwork of init containers is filled
// here too.
func readGates(p *podView) {
	for _, c := range p.containers {
		if c.c.Stage == Init && !c.c.DataPlane {
			c.c.UsesNetwork = c.usesNetwork()
		}
	}
	if p.pod.Role != Sidecar {
		return
	}
	seen := map[string]bool{}
	for i := range p.pod.Tunnels {
		t := &p.pod.Tunnels[i]
		c := p.container(t.Container)
		if c == nil || seen[t.Container] || t.Side == "server" || t.UserSpace == Present || !c.c.DataPlane {
			continue
		}
		seen[t.Container] = true
		g := p.gateOf(c)
		if cmd, plain := p.probesPlainNetwork(c); plain && t.KillSwitch.State == Absent && g.StartupProbe.State == Present {
			// Nothing keeps the probe from getting out before there is a tunnel.
			g.StartupProbe = Switch{State: Absent, Ref: cmd.ref(), Why: `its startupProbe "` + cmd.says() + `" tests the plain network, which answers without the tunnel`}
		}
		p.pod.Gates = append(p.pod.Gates, g)
	}
}

func (p *podView) gateOf(c *containerView) Gate {
	g := Gate{
		Tunnel: c.c.Name, Ref: c.c.Ref, Stage: c.c.Stage,
		StartupProbe:    c.startupProbe(),
		PostStartBlocks: p.postStartBlocks(c),
		Before:          []string{}, After: []string{}, Waits: []string{},
		FakeGates: []NamedRef{}, EarlyInits: []NamedRef{},
	}
	for _, other := range p.containers {
		switch {
		case other.c.Application:
			if other.c.Order < c.c.Order {
				g.Before = append(g.Before, other.c.Name)
			} else {
				g.After = append(g.After, other.c.Name)
			}
			if other.waitsForTunnel() {
				g.Waits = append(g.Waits, other.c.Name)
			}
		case other.c.Stage == Init && !other.c.DataPlane && other.c.Order < c.c.Order:
			if loop, is := other.fakeGate(); is {
				g.FakeGates = append(g.FakeGates, NamedRef{Name: other.c.Name, Ref: loop.ref(), Says: loop.says()})
			} else if c.c.Stage == NativeSidecar {
				if talker, is := other.talksOutside(); is {
					g.EarlyInits = append(g.EarlyInits, NamedRef{Name: other.c.Name, Ref: other.c.Ref, Says: talker.says()})
				}
			}
		}
	}
	return g
}

// startupProbe tells whether the kubelet waits for the container with a probe
// that tests something.
func (c *containerView) startupProbe() Switch {
	probe := c.spec.get("startupProbe")
	if !probe.exists() {
		return Switch{State: Absent, Ref: c.c.Ref, Why: "no startupProbe"}
	}
	for _, how := range []string{"httpGet", "tcpSocket", "grpc"} {
		if probe.get(how).isMap() {
			return Switch{State: Present, Ref: probe.ref(), Why: "startupProbe " + how}
		}
	}
	exec := probe.get("exec", "command")
	if len(exec.items()) == 0 {
		return Switch{State: Absent, Ref: probe.ref(), Why: "the startupProbe tests nothing"}
	}
	commands := 0
	for _, s := range c.scriptsOf(scriptProbe, c.words(exec), exec.ref()) {
		list := c.commandsOf(s)
		if alwaysSucceeds(list) {
			break
		}
		for _, cmd := range list {
			switch cmd.name() {
			case "true", ":", "exit", "sleep", "echo", "":
				if cmd.opaque {
					commands++
				}
			case "sh", "bash", "ash":
				if len(cmd.words) == 1 {
					continue
				}
				// sh -c was followed; a script of the image tests what it tests.
				if !strings.HasPrefix(cmd.words[1].Text, "-") {
					commands++
				}
			default:
				commands++
			}
		}
	}
	if commands == 0 {
		return Switch{State: Absent, Ref: exec.ref(), Why: "the startupProbe always succeeds"}
	}
	return Switch{State: Present, Ref: probe.ref(), Why: "startupProbe exec"}
}

// probesPlainNetwork finds the command of a startup probe that does nothing but ask
// somebody outside, whichever way its packets take.
func (p *podView) probesPlainNetwork(c *containerView) (found command, plain bool) {
	exec := c.spec.get("startupProbe", "exec", "command")
	for _, s := range c.scriptsOf(scriptProbe, c.words(exec), exec.ref()) {
		for _, cmd := range c.commandsOf(s) {
			switch cmd.name() {
			case "sh", "bash", "ash", "exit":
				continue
			}
			if plain || cmd.opaque || cmd.cmd == nil || cmd.cmd.PipedFrom != nil || !p.asksPlainly(cmd) {
				return command{}, false // what else it does may be the test
			}
			found, plain = cmd, true
		}
	}
	return found, plain
}

// asksPlainly: a client that asks a host outside, by no interface or proxy of its
// choice, and by a name only where the pod's resolver is the usual one.
func (p *podView) asksPlainly(cmd command) bool {
	switch cmd.name() {
	case "ping", "curl", "wget", "nc":
	default:
		return false
	}
	if cmd.sign() != shell.PublicNet {
		return false
	}
	address := false
	for _, w := range cmd.words {
		if !w.Known {
			return false
		}
		for _, chosen := range []string{"-I", "--interface", "-x", "--proxy", "--preproxy", "--socks", "-e", "-X", "--dns"} {
			if w.Text == chosen || len(chosen) > 2 && strings.HasPrefix(w.Text, chosen) || chosen == "-I" && strings.HasPrefix(w.Text, chosen) {
				return false
			}
		}
		_, err := netip.ParseAddr(w.Text)
		address = address || err == nil
	}
	policy := p.pod.DNSPolicy
	return address || policy.State != Unknown && policy.Value != "None"
}

// alwaysSucceeds: the last command of a script lets it succeed whatever the
// others say: ...; true, ... || true.
func alwaysSucceeds(list []command) bool {
	if len(list) < 2 {
		return false
	}
	for _, c := range list[:len(list)-1] {
		switch c.name() {
		case "exit", "return", "false", "exec":
			return false
		}
		if c.opaque || !c.tolerated {
			return false
		}
	}
	last := list[len(list)-1]
	if last.cmd == nil || last.conditional && last.cmd.OrElse == nil {
		return false
	}
	switch last.name() {
	case "true", ":", "echo":
		return true
	case "exit":
		return len(last.args()) > 0 && last.args()[0] == "0"
	}
	return false
}

// postStartBlocks: the kubelet starts the next container when the hook has
// returned. For containers that holds only down the list, so the tunnel has to
// be the first (FG D5.4); for native sidecars always (FG D5.2).
func (p *podView) postStartBlocks(c *containerView) Switch {
	hook := c.spec.get("lifecycle", "postStart", "exec", "command")
	if !hook.exists() {
		return Switch{State: Absent, Ref: c.c.Ref, Why: "no postStart hook"}
	}
	if c.c.Stage == Main {
		for _, other := range p.containers {
			if other.c.Stage == Main && other.c.Order < c.c.Order {
				return Switch{State: Absent, Ref: hook.ref(), Why: "container " + other.c.Name + " stands before it in the list"}
			}
		}
	}
	for _, s := range c.scriptsOf(scriptPostStart, c.words(hook), hook.ref()) {
		for _, cmd := range c.commandsOf(s) {
			if cmd.opaque {
				return Switch{State: Unknown, Ref: hook.ref(), Why: cmd.script.Why.text}
			}
			if strings.HasSuffix(cmd.words0(), ".sh") && c.file(cmd.words0()).State == Absent {
				return Switch{State: Unknown, Ref: hook.ref(), Why: cmd.words0() + " lies in the image"}
			}
			if !cmd.awaited || cmd.sign() == shell.NoSign {
				continue
			}
			switch reached, _ := cmd.reached(); reached {
			case Present:
				return Switch{State: Present, Ref: hook.ref(), Why: "the postStart hook waits: " + cmd.says()}
			case Unknown:
				p.mayWait(c, cmd)
				return Switch{State: Unknown, Ref: hook.ref(), Why: cmd.perhaps().text}
			}
		}
	}
	return Switch{State: Absent, Ref: hook.ref(), Why: "the postStart hook does not wait for the tunnel"}
}

// mayWait records that whether something waits for the tunnel is not known.
func (p *podView) mayWait(c *containerView, cmd command) {
	p.ix.gapAt(finding.Unresolved, p.object, cmd.ref(), "whether container "+c.c.Name+" waits for the tunnel", cmd.perhaps(),
		"VPN303 takes it to wait, and stays silent about it", "VPN303")
}

// sign is what a command that a script waits for looks at. Asking for a name or
// address of the cluster is none: that waits for the cluster.
func (c command) sign() shell.Sign {
	if c.cmd == nil {
		return shell.NoSign
	}
	sign := shell.WaitsFor(c.cmd)
	if sign == shell.NoSign && looksAtFile(c.cmd) {
		return shell.TunnelHealth
	}
	if sign != shell.PublicNet {
		return sign
	}
	for by := c.cmd; by != nil; by = by.PipedFrom {
		if at := (command{cmd: by, words: by.Words}); at.talks() == talksOutside {
			return shell.PublicNet
		}
	}
	return shell.NoSign
}

// looksAtFile: test -f /shared/ready: containers tell each other by a file on a
// shared volume.
func looksAtFile(cmd *shell.Command) bool {
	switch cmd.Name() {
	case "test", "[", "[[":
	default:
		return false
	}
	file := false
	for _, w := range cmd.Words {
		switch w.Text {
		case "-e", "-f", "-s", "-r", "-S", "-p":
			file = true
		default:
			if file && strings.HasPrefix(w.Text, "/") && !strings.HasPrefix(w.Text, "/dev/") && !strings.HasPrefix(w.Text, "/proc/") {
				return true
			}
		}
	}
	return false
}

// waitsForTunnel: the application's own command loops until the tunnel is up.
// Only signs of the tunnel count; a loop on a database does not.
func (c *containerView) waitsForTunnel() bool {
	for _, cmd := range c.commands() {
		if cmd.opaque || cmd.script.Kind != scriptCommand && cmd.script.Kind != scriptFile {
			continue
		}
		reached, _ := cmd.reached()
		if reached != Absent && cmd.awaited && cmd.sign() != shell.NoSign {
			if reached == Unknown {
				c.pod.mayWait(c, cmd)
			}
			return true
		}
		if cmd.cmd.Exec && reached == Present {
			return false
		}
	}
	return false
}

// fakeGate finds a loop of an init container that waits for the tunnel, or for
// something outside, before any tunnel exists. A loop on something of the
// cluster (a database) waits for just that and is no gate.
func (c *containerView) fakeGate() (command, bool) {
	for _, cmd := range c.commands() {
		if cmd.opaque || !cmd.awaited || !cmd.certain() {
			continue
		}
		if sign := cmd.sign(); sign == shell.TunnelInterface || sign == shell.PublicNet ||
			sign == shell.TunnelHealth && !looksAtFile(cmd.cmd) {
			return cmd, true
		}
		if cmd.talks() == talksUnclear && saysVPN(c.c.Name) {
			return cmd, true
		}
	}
	return command{}, false
}

func saysVPN(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"vpn", "gluetun", "wireguard", "tunnel"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// talksOutside finds a command that uses the network beyond the cluster.
func (c *containerView) talksOutside() (command, bool) {
	for _, cmd := range c.commands() {
		if !cmd.opaque && cmd.talks() == talksOutside && cmd.certain() {
			return cmd, true
		}
	}
	return command{}, false
}

// usesNetwork tells whether an init container talks to anybody beyond its pod.
// What an image does by itself is unknown.
func (c *containerView) usesNetwork() Known {
	result := Absent
	commands := c.commands()
	if argv, _ := c.argv(); len(argv) == 0 && !bareImage(c.image.Repository) {
		return Unknown
	}
	for _, cmd := range commands {
		if cmd.script.Kind != scriptCommand && cmd.script.Kind != scriptFile {
			continue
		}
		reached, _ := cmd.reached()
		if reached == Absent {
			continue
		}
		switch cmd.talks() {
		case talksCluster, talksOutside:
			if reached == Present {
				return Present
			}
			result = Unknown
		case talksUnclear:
			result = Unknown
		}
	}
	if result == Absent && !bareImage(c.image.Repository) && !c.onlyKnownPrograms() {
		return Unknown
	}
	return result
}

// onlyKnownPrograms: all commands are ordinary tools that stay off the network.
func (c *containerView) onlyKnownPrograms() bool {
	for _, cmd := range c.commands() {
		switch cmd.name() {
		case "sh", "bash", "ash", "dash", "sysctl", "chown", "chmod", "cp", "mv", "ln", "rm", "mkdir", "touch", "cat", "echo", "printf",
			"sed", "awk", "grep", "test", "[", "[[", "true", "false", ":", "sleep", "exit", "set", "cd", "ip", "iptables", "ip6tables",
			"modprobe", "mount", "umount", "mknod", "tee", "ls", "find", "install", "envsubst", "export", "wg", "wg-quick", "awg", "awg-quick", "":
		default:
			return false
		}
	}
	return true
}
