package shell

import (
	"net/netip"
	"net/url"
	"strings"
)

// Sign is what a command looks at when a script waits with it.
type Sign string

// The signs.
const (
	// NoSign: it looks at nothing of the network.
	NoSign Sign = ""
	// TunnelInterface: the tunnel's interface is there (ip link show wg0,
	// /sys/class/net/tun0, wg show).
	TunnelInterface Sign = "tunnel-interface"
	// TunnelHealth: the VPN client's own word (gluetun's health check or control
	// server on the loopback).
	TunnelHealth Sign = "tunnel-health"
	// PublicNet: something outside answers, be it through the tunnel or not.
	PublicNet Sign = "public-net"
)

// WaitsFor returns the sign that a command looks at. Whether it is waited for
// is told by Command.Awaited or by its place.
func WaitsFor(c *Command) Sign {
	public := false
	for i := 0; c != nil && i < maxPipe; i++ {
		if s := tunnelSign(c); s != NoSign {
			return s
		}
		public = public || TalksToNetwork(c)
		c = c.PipedFrom
	}
	if public {
		return PublicNet
	}
	return NoSign
}

func tunnelSign(c *Command) Sign {
	for _, w := range c.Words {
		if strings.HasPrefix(w.Text, "/sys/class/net/") || strings.HasPrefix(w.Text, "/proc/sys/net/ipv4/conf/") {
			rest := strings.TrimPrefix(strings.TrimPrefix(w.Text, "/sys/class/net/"), "/proc/sys/net/ipv4/conf/")
			name, _, _ := strings.Cut(rest, "/")
			if TunnelName(name) {
				return TunnelInterface
			}
		}
		if w.Text == "/tmp/gluetun/ip" || strings.HasPrefix(w.Text, "/tmp/gluetun/") {
			return TunnelHealth
		}
	}
	args := c.args()
	switch c.Name() {
	case "ip", "ifconfig", "ethtool", "iw":
		for _, a := range args {
			if TunnelName(a.Text) {
				return TunnelInterface
			}
		}
	case "wg":
		if len(args) == 0 || args[0].Text == "show" {
			return TunnelInterface
		}
	case "gluetun-entrypoint":
		if len(args) > 0 && args[0].Text == "healthcheck" {
			return TunnelHealth
		}
	case "grep", "egrep", "fgrep":
		// ip a | grep tun0, grep tun0 /proc/net/dev
		source := c.PipedFrom
		listing := source != nil && (source.Name() == "ip" || source.Name() == "ifconfig")
		for _, a := range args {
			listing = listing || a.Text == "/proc/net/dev" || a.Text == "/proc/net/route"
		}
		for _, a := range args {
			if listing && TunnelName(strings.Trim(a.Text, "^:\\b<>")) {
				return TunnelInterface
			}
		}
	case "tailscale":
		if len(args) > 0 && (args[0].Text == "status" || args[0].Text == "wait" || args[0].Text == "ip") {
			return TunnelHealth
		}
	case "ping", "ping6":
		for i, a := range args {
			if a.Text == "-I" && i+1 < len(args) && TunnelName(args[i+1].Text) {
				return TunnelInterface
			}
		}
	case "curl", "wget":
		for i, a := range args {
			if a.Text == "--interface" && i+1 < len(args) && TunnelName(args[i+1].Text) {
				return TunnelInterface
			}
			if u, ok := urlOf(a); ok && isLoopback(u.Hostname()) && tunnelPort(u.Port()) {
				return TunnelHealth
			}
		}
	case "nc", "ncat":
		host, port := "", ""
		for _, a := range args {
			switch {
			case strings.HasPrefix(a.Text, "-"):
			case host == "":
				host = a.Text
			case port == "":
				port = a.Text
			}
		}
		if isLoopback(host) && tunnelPort(port) {
			return TunnelHealth
		}
	}
	return NoSign
}

// tunnelPort: gluetun's health server and control server (FG C1), tailscale's
// health check (FG C6).
func tunnelPort(port string) bool {
	switch port {
	case "9999", "8000", "9002":
		return true
	}
	return false
}

// TunnelName reports whether a name is one that tunnel interfaces have by
// habit: wg0, tun0, tap0, tailscale0, wt0, utun, nordlynx, ppp0, ipsec0,
// xfrm0, vti0.
func TunnelName(name string) bool {
	name = strings.TrimSuffix(name, ":")
	base := strings.TrimRight(name, "0123456789+*")
	switch base {
	case "wg", "tun", "tap", "tailscale", "wt", "utun", "ppp", "ipsec", "xfrm", "vti", "zt", "nebula", "netmaker":
		return true
	case "nordlynx", "protonwire", "CloudflareWARP", "wgpia":
		return true
	}
	return strings.HasPrefix(name, "wg-") || strings.HasPrefix(name, "tun-") || strings.HasPrefix(name, "zt") && len(name) == 10
}

func urlOf(w Word) (*url.URL, bool) {
	text := w.Text
	if strings.HasPrefix(text, "-") || !w.Known && !strings.Contains(text, "://") {
		return nil, false
	}
	if !strings.Contains(text, "://") {
		if !strings.ContainsAny(text, ".:") {
			return nil, false
		}
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return nil, false
	}
	return u, true
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

// TalksToNetwork reports whether a command needs the network beyond the pod's
// loopback: downloads, package managers, name look-ups, probes.
func TalksToNetwork(c *Command) bool {
	args := c.args()
	sub := ""
	for _, a := range args {
		if !strings.HasPrefix(a.Text, "-") {
			sub = a.Text
			break
		}
	}
	has := func(words ...string) bool {
		for _, w := range words {
			if sub == w {
				return true
			}
		}
		return false
	}
	switch c.Name() {
	case "curl", "wget", "http", "aria2c", "lynx":
		return leavesLoopback(args)
	case "nc", "ncat", "netcat", "telnet", "socat":
		for _, a := range args {
			if a.Text == "-l" || strings.Contains(strings.ToUpper(a.Text), "-LISTEN:") {
				return false
			}
		}
		return len(args) > 0 && leavesLoopback(args)
	case "ping", "ping6", "fping", "traceroute", "tracepath", "mtr", "arping":
		return leavesLoopback(args)
	case "nslookup", "dig", "host", "drill", "kdig":
		return len(args) > 0
	case "getent":
		return has("hosts", "ahosts", "ahostsv4", "ahostsv6")
	case "ssh", "scp", "sftp", "rsync", "ftp", "rclone", "ntpdate", "speedtest", "speedtest-cli", "kubectl", "aws", "gcloud", "az",
		"pg_isready", "psql", "mysql", "redis-cli", "mongo", "mongosh":
		return len(args) > 0 && leavesLoopback(args)
	case "git":
		return has("clone", "fetch", "pull", "push", "ls-remote", "submodule")
	case "apk":
		return has("add", "update", "upgrade")
	case "apt", "apt-get":
		return has("install", "update", "upgrade", "dist-upgrade")
	case "yum", "dnf", "microdnf", "zypper", "opkg":
		return has("install", "update", "upgrade", "makecache", "in")
	case "pacman":
		return strings.HasPrefix(first(args), "-S")
	case "pip", "pip3", "npm", "yarn", "pnpm", "gem", "cargo", "composer":
		return has("install", "add", "ci", "download", "update")
	case "go":
		return has("get", "install")
	case "helm":
		return has("repo", "pull", "install", "upgrade", "dependency")
	}
	return false
}

func first(args []Word) string {
	if len(args) == 0 {
		return ""
	}
	return args[0].Text
}

// leavesLoopback reports whether any destination among the arguments is not the
// pod itself. Without a recognisable destination it is taken to leave.
func leavesLoopback(args []Word) bool {
	local := false
	for _, a := range args {
		if strings.HasPrefix(a.Text, "-") {
			if v, ok := strings.CutPrefix(a.Text, "--host="); ok && isLoopback(v) {
				local = true
			}
			continue
		}
		host := a.Text
		if u, ok := urlOf(a); ok {
			host = u.Hostname()
		}
		if isLoopback(host) {
			local = true
		} else if a.Known && strings.Contains(a.Text, "://") {
			return true
		}
	}
	return !local
}
