package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/images"
)

// byProgram recognises a container of an image that says nothing by the program
// that its command runs: people install openvpn or wireguard-tools into a plain
// system, or copy them into an image of their own. What such an image does by
// itself is not known, its configuration decides.
func (c *containerView) byProgram(catalog *images.Catalog) {
	if c.image.Family != nil || c.image.LookAlike != nil || !c.mentionsTunnel() {
		return
	}
	for _, cmd := range c.commands() {
		if cmd.script.Kind != scriptCommand && cmd.script.Kind != scriptFile {
			continue
		}
		if id := tunnelProgram(cmd.name(), cmd.args()); id != "" {
			if _, makes := makesInterface(cmd.name(), cmd.args()); makes {
				if _, _, is := c.handMade(); !is {
					continue // another network namespace has it, or wg-quick is to come
				}
			}
			// The tag is the system's.
			c.image.Family, c.image.By, c.image.Confidence, c.image.Version = catalog.Family(id), images.ByCommand, images.Low, images.Version{Text: c.image.Tag}
			return
		}
	}
}

// tunnelProgram is the family that a program makes of its container, "" where it
// only makes keys, asks, or stops something.
func tunnelProgram(name string, args []string) string {
	if _, makes := makesInterface(name, args); makes {
		if name == "amneziawg-go" || slices.Contains(args, "amneziawg") {
			return "amneziawg"
		}
		return "wireguard-generic"
	}
	switch {
	case name == "openvpn" && len(args) > 0 && startsOpenVPN(args):
		return "openvpn-generic"
	case name == "wg-quick" && len(args) > 1 && args[0] == "up":
		return "wireguard-generic"
	case name == "awg-quick" && len(args) > 1 && args[0] == "up":
		return "amneziawg"
	case name == "openfortivpn" && !slices.Contains(args, "--help") && !slices.Contains(args, "-h") && !slices.Contains(args, "--version"):
		return "openfortivpn"
	case name == "ipsec" && len(args) > 0 && args[0] == "start", name == "charon", name == "charon-systemd":
		return "strongswan-generic"
	case name == "tailscaled" && !slices.Contains(args, "--cleanup"):
		return "tailscale-other"
	case name == "ocserv" && !slices.Contains(args, "--version") && !slices.Contains(args, "-v") && !slices.Contains(args, "--help") &&
		!slices.Contains(args, "--test-config") && !slices.Contains(args, "-t"):
		return "ocserv-generic"
	case name == "openconnect" && len(args) > 0 && !slices.Contains(args, "--authenticate") && !slices.Contains(args, "--version"):
		return "openconnect-client"
	}
	return ""
}

// mentionsTunnel is cheap: most containers of a tree run something else.
func (c *containerView) mentionsTunnel() bool {
	argv, _ := c.argv()
	for _, w := range argv {
		if mentionsProgram(w.Text) {
			return true
		}
		for _, field := range strings.Fields(w.Text) {
			if strings.HasPrefix(field, "/") {
				if f := c.file(strings.TrimRight(field, ";")); f.State == Present && mentionsProgram(f.Text) {
					return true
				}
			}
		}
	}
	return false
}

// byConfig recognises the one container of a pod that may change the network and
// finds a tunnel's configuration where its program looks for it, whatever its
// image is called. Where a tunnel is known already, another container that mounts
// its configuration watches it.
func (p *podView) byConfig(catalog *images.Catalog) {
	var found *containerView
	id := ""
	for _, c := range p.containers {
		if c.image.Family != nil {
			return
		}
		if c.c.Stage == Init || c.image.LookAlike != nil || helperImage(c.image.Repository) || !c.mayUse("NET_ADMIN") && c.c.Privileged != Present {
			continue
		}
		if !c.runsImage() {
			continue // what it runs is in view, and is no tunnel
		}
		if is := c.tunnelConfig(); is != "" {
			if found != nil {
				return
			}
			found, id = c, is
		}
	}
	if found != nil {
		found.image.Family, found.image.By, found.image.Confidence = catalog.Family(id), images.ByConfig, images.Low
		found.image.Version = images.Version{Text: found.image.Tag}
	}
}

// runsImage: the image decides what runs, by its entrypoint or by a script of its
// own that the command names.
func (c *containerView) runsImage() bool {
	if bareImage(c.image.Repository) {
		return false
	}
	words, entrypoint := c.argv()
	if entrypoint {
		return true
	}
	return path.IsAbs(words[0].Text) && c.file(words[0].Text).State == Absent && (len(words) == 1 || strings.HasSuffix(words[0].Text, ".sh"))
}

func (c *containerView) tunnelConfig() string {
	if len(c.spec.get("volumeMounts").items()) == 0 {
		return ""
	}
	for _, f := range c.files("/etc/wireguard/*.conf", "/etc/openvpn/*.conf", "/etc/openvpn/*.ovpn", "/etc/openvpn/client/*.conf", "/etc/swanctl/**", "/etc/ipsec.conf") {
		if f.State != Present || len(f.Text) > maxConfigBytes {
			continue
		}
		switch text := strings.ToLower(f.Text); {
		case strings.HasPrefix(f.Path, "/etc/wireguard/") && strings.Contains(text, "[interface]") && strings.Contains(text, "[peer]"):
			return "wireguard-generic"
		case strings.HasPrefix(f.Path, "/etc/openvpn/") && isOpenVPNConf(grammar.ParseOpenVPN(f.Text)):
			return "openvpn-generic"
		case strings.HasPrefix(f.Path, "/etc/swanctl/") && strings.Contains(text, "connections") && strings.Contains(text, "children"),
			f.Path == "/etc/ipsec.conf" && strings.Contains(text, "conn "):
			return "strongswan-generic"
		}
	}
	return ""
}

func mentionsProgram(text string) bool {
	for _, name := range []string{"openvpn", "wg-quick", "awg-quick", "wireguard", "amneziawg", "boringtun", "ipsec", "charon", "tailscaled", "openconnect", "openfortivpn", "ocserv"} {
		if strings.Contains(text, name) {
			return true
		}
	}
	return false
}

// startsOpenVPN tells a tunnel from a key that is made or a version that is asked
// for.
func startsOpenVPN(args []string) bool {
	if first := args[0]; len(args) == 1 && !strings.HasPrefix(first, "-") {
		return true // a lone argument is the configuration
	}
	for _, arg := range args {
		switch arg {
		case "--config", "--client", "--remote", "--server", "--dev":
			return true
		}
	}
	return false
}

// namedOpenVPNConfigs are the configuration files that the command line names.
// A relative one lies below --cd or the working directory.
func (r *tunnelReader) namedOpenVPNConfigs() []string {
	var out []string
	for _, cmd := range r.c.commands() {
		kind := cmd.script.Kind
		if cmd.opaque || kind != scriptCommand && kind != scriptFile {
			continue
		}
		words := cmd.args()
		if cmd.name() != "openvpn" {
			if words = append([]string{firstText(cmd.words)}, words...); !strings.HasPrefix(words[0], "--") {
				continue
			}
		}
		dir := r.c.spec.get("workingDir").text()
		var named []string
		if len(words) == 1 && !strings.HasPrefix(words[0], "-") {
			named = words
		}
		for i := 0; i+1 < len(words); i++ {
			switch words[i] {
			case "--config":
				named = append(named, words[i+1])
			case "--cd":
				dir = words[i+1]
			}
		}
		for _, name := range named {
			if !path.IsAbs(name) {
				if dir == "" {
					continue // the image's own directory
				}
				name = path.Join(dir, name)
			}
			out = append(out, path.Clean(name))
		}
	}
	return out
}

// application is the command by which a script of the manifest runs an
// application once it has started a tunnel, in one container: wg-quick up wg0 &&
// exec app. It is the last one that the script waits for, and not one of a
// system or of the tunnel: a container that then sleeps, or runs a proxy for
// others, is a tunnel alone.
func (c *containerView) application() (command, bool) {
	if c.image.Family == nil || c.image.By != images.ByCommand && !c.replacesEntrypoint() || c.c.Stage == Init {
		return command{}, false
	}
	started := false
	var last command
	for _, cmd := range c.commands() {
		if cmd.script.Kind != scriptCommand && cmd.script.Kind != scriptFile {
			continue
		}
		if cmd.opaque {
			return command{}, false
		}
		started = started || tunnelProgram(cmd.name(), cmd.args()) != ""
		if cmd.name() == "wg-quick" && len(cmd.args()) > 0 && cmd.args()[0] == "down" {
			continue // the end of the work, not the work
		}
		if started && !cmd.cmd.Background && !cmd.cmd.Substituted && !cmd.cmd.OtherNetNS {
			last = cmd
		}
	}
	if last.cmd == nil || last.conditional || last.loop || ofSystem(last.name()) || strings.HasSuffix(c.image.Repository, "proxy") {
		return command{}, false
	}
	return last, true
}

// ofSystem reports whether a program is no application: a shell and what scripts
// are made of, what a tunnel is set up and watched with, and servers that hand
// the traffic of others on.
func ofSystem(name string) bool {
	switch name {
	case "", ":", "true", "false", "exit", "return", "wait", "trap", "set", "cd", "export", "unset", "read", "eval", "source", ".", "[", "test",
		"sh", "ash", "bash", "dash", "zsh", "sleep", "tail", "cat", "echo", "printf", "tee", "watch", "kill", "pkill", "ps", "date", "logger",
		"mkdir", "mkfifo", "mknod", "chmod", "chown", "cp", "mv", "rm", "ln", "touch", "sed", "awk", "grep", "inotifywait",
		"apk", "apt", "apt-get", "yum", "dnf", "pip", "pip3", "envsubst", "sudo", "su",
		"ip", "iptables", "ip6tables", "iptables-restore", "iptables-save", "nft", "sysctl", "route", "ifconfig", "modprobe", "resolvconf",
		"ping", "nslookup", "dig", "curl", "wget", "nc", "ss", "netstat", "tcpdump", "traceroute",
		"wg", "wg-quick", "awg", "awg-quick", "wireguard-go", "amneziawg-go", "openfortivpn", "boringtun", "boringtun-cli", "openvpn", "ipsec", "charon", "charon-systemd", "swanctl", "starter",
		"tailscaled", "tailscale", "containerboot", "openconnect", "ocserv", "ocserv-main",
		"crond", "cron", "syslogd", "rsyslogd", "sshd", "dnsmasq", "coredns", "unbound", "named", "supervisord", "s6-svscan", "runsvdir", "monit":
		return true
	}
	return isProxy(name)
}

// isProxy reports whether a program hands the traffic of others on by connections
// of its own.
func isProxy(name string) bool {
	switch name {
	case "socat", "danted", "sockd", "gost", "squid", "nginx", "envoy", "ss-server", "glider", "sing-box", "xray", "privoxy":
		return true
	}
	return strings.Contains(name, "proxy") || strings.Contains(name, "socks")
}
