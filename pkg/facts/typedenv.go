package facts

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/images"
	spelling "github.com/vpnlint/vpnlint/pkg/suggest"
)

// typedVariable is a variable of an image that reads it as a value of a type, and
// stops where it is none.
type typedVariable struct {
	key string
	// wrong says why the image does not take a text, "" where it does.
	wrong func(text string) string
	// since and until are the first and the last version that read it, "" for all.
	since, until string
	// ignored: the image goes on with its default instead.
	ignored bool
}

// typedVariables are those that facts are read from, by family. Images whose start
// script compares texts take any.
var typedVariables = map[string][]typedVariable{
	// gosettings, from 3.36 on: before that other values were switches too.
	"gluetun": {
		{key: "VPN_TYPE", wrong: oneOf("openvpn", "wireguard", "amneziawg"), since: "3.36"},
		{key: "VPN_INTERFACE", wrong: wrongInterface, since: "3.36"},
		{key: "DNS_KEEP_NAMESERVER", wrong: gluetunSwitch, since: "3.36", until: "3.41"},
		{key: "DOT", wrong: gluetunSwitch, since: "3.36"},
		{key: "DNS_SERVER", wrong: gluetunSwitch, since: "3.41"},
		{key: "DNS_ADDRESS", wrong: wrongAddress, since: "3.36"},
		{key: "FIREWALL", wrong: gluetunSwitch, since: "3.36", until: "3.38"},
		{key: "FIREWALL_ENABLED_DISABLING_IT_SHOOTS_YOU_IN_YOUR_FOOT", wrong: gluetunSwitch, since: "3.39"},
		{key: "FIREWALL_INPUT_PORTS", wrong: eachOf(wrongPort), since: "3.36"},
		{key: "FIREWALL_VPN_INPUT_PORTS", wrong: eachOf(wrongPort), since: "3.36"},
		{key: "WIREGUARD_ALLOWED_IPS", wrong: eachOf(wrongPrefix), since: "3.36"},
		{key: "WIREGUARD_ADDRESSES", wrong: eachOf(wrongHost), since: "3.36"},
		{key: "WIREGUARD_ADDRESS", wrong: eachOf(wrongHost), since: "3.40"}, // older names, of the same
		{key: "VPN_ENDPOINT_IP", wrong: wrongAddress, since: "3.40"},
		{key: "DNS_PLAINTEXT_ADDRESS", wrong: wrongAddress, since: "3.40"},
		{key: "DNS_UPSTREAM_PLAIN_ADDRESSES", wrong: eachOf(wrongResolver), since: "3.41"},
		{key: "WIREGUARD_ENDPOINT_IP", wrong: wrongAddress, since: "3.36"},
		{key: "WIREGUARD_MTU", wrong: wrongNumber, since: "3.36"},
		{key: "HTTPPROXY", wrong: gluetunSwitch, since: "3.36"},
		{key: "SHADOWSOCKS", wrong: gluetunSwitch, since: "3.36"},
		{key: "HTTPPROXY_LISTENING_ADDRESS", wrong: wrongListener, since: "3.36"},
		{key: "SHADOWSOCKS_LISTENING_ADDRESS", wrong: wrongListener, since: "3.36"},
		{key: "HTTP_CONTROL_SERVER_ADDRESS", wrong: wrongListener, since: "3.36"},
		{key: "HEALTH_SERVER_ADDRESS", wrong: wrongListener, since: "3.36"},
	},
	"tailscale": {
		{key: "TS_USERSPACE", wrong: goSwitch, ignored: true},
		{key: "TS_ACCEPT_DNS", wrong: goSwitch, ignored: true},
		{key: "TS_ENABLE_HEALTH_CHECK", wrong: goSwitch, ignored: true},
		{key: "TS_DEST_IP", wrong: wrongAddress},
		{key: "TS_TAILNET_TARGET_IP", wrong: wrongAddress},
		{key: "TS_EXTRA_ARGS", wrong: wrongTailscaleFlag},
	},
	"wg-access-server": {
		{key: "WG_IPV4_NAT_ENABLED", wrong: goSwitch},
		{key: "WG_IPV6_NAT_ENABLED", wrong: goSwitch},
		{key: "WG_VPN_DISABLE_IPTABLES", wrong: goSwitch},
		{key: "WG_DNS_ENABLED", wrong: goSwitch},
		{key: "WG_WIREGUARD_ENABLED", wrong: goSwitch},
		{key: "WG_WIREGUARD_PORT", wrong: wrongNumber},
		{key: "WG_PORT", wrong: wrongNumber},
	},
}

// refusedVariable is a variable with a value that its image does not take.
type refusedVariable struct {
	namedValue
	ignored bool
}

// refuseEnv looks at the typed variables. One that stops the image decides nothing
// any more.
func (c *containerView) refuseEnv() {
	if c.image.Family == nil {
		return
	}
	for _, t := range typedVariables[c.image.Family.ID] {
		i := len(c.envList) - 1
		for i >= 0 && c.envList[i].Name != t.key {
			i--
		}
		if i < 0 || c.envList[i].State != Present || !c.versioned(t.since, t.until) {
			continue
		}
		v := &c.envList[i]
		text := strings.TrimSpace(v.Text)
		if text == "" || placeholder(text) != "" || strings.ContainsAny(text, "$<>{}") {
			continue
		}
		why := t.wrong(text)
		if why == "" {
			continue
		}
		fate := "the image stops there"
		if t.ignored {
			fate = "the image takes its default instead"
		}
		begin := strings.Index(v.Text, text)
		v.Ref = v.within(begin, begin+len(text)) // below the key, where the text stands there
		bad := *v
		bad.Why = because(why+", and "+fate, correctIt)
		if !t.ignored {
			v.State, v.Why = Unknown, bad.Why
		}
		c.refusedEnv = append(c.refusedEnv, refusedVariable{bad, t.ignored})
	}
}

// versioned: the image's version may be one of those.
func (c *containerView) versioned(since, until string) bool {
	if since != "" {
		v := images.ParseVersion(since)
		if c.image.Version.AtLeast(v.Major, v.Minor) == images.No {
			return false
		}
	}
	if until == "" {
		return true
	}
	// A tag that tells no version is that of a recent one.
	v := images.ParseVersion(until)
	return c.image.Version.AtLeast(v.Major, v.Minor+1) == images.No
}

// refuses reports whether the image stops at the value of a variable.
func (c *containerView) refuses(key string) bool {
	c.readEnv()
	return slices.ContainsFunc(c.refusedEnv, func(v refusedVariable) bool { return v.Name == key && !v.ignored })
}

// refusedGaps notes the variables that the image does not take, wherever nothing else
// speaks of them.
func (r *tunnelReader) refusedGaps() {
	if r.c == nil {
		return // the tunnel is another pod's
	}
	r.c.readEnv()
	for _, v := range r.c.refusedEnv {
		consequence := "the container stops there: no rule counts what it was to set"
		if v.ignored {
			consequence = "what was meant is not known, and what the rules count is the image's default"
		}
		r.pod.ix.gapAt(finding.Unresolved, r.pod.object, v.Ref, "what "+v.Name+" sets in container "+r.c.c.Name, v.Why.of(v.Name+": "), consequence)
	}
}

// eachOf checks the entries of a list with commas.
func eachOf(wrong func(string) string) func(string) string {
	return func(text string) string {
		for _, entry := range strings.Split(text, ",") {
			if entry = strings.TrimSpace(entry); entry != "" && wrong(entry) != "" {
				return wrong(entry)
			}
		}
		return ""
	}
}

func oneOf(names ...string) func(string) string {
	return func(text string) string {
		if contains(names, text) {
			return ""
		}
		return strconv.Quote(clip(text)) + " is none of " + strings.Join(names, ", ")
	}
}

// gluetunSwitch is what gluetun takes for on and off.
func gluetunSwitch(text string) string {
	if contains([]string{"enabled", "yes", "on", "true", "disabled", "no", "off", "false"}, strings.Trim(text, "\"'`")) {
		return ""
	}
	return strconv.Quote(clip(text)) + " is neither on nor off"
}

// goSwitch is what programs in Go take for true and false, as they usually read it.
func goSwitch(text string) string {
	if _, err := strconv.ParseBool(text); err == nil {
		return ""
	}
	return strconv.Quote(clip(text)) + " is neither true nor false"
}

// goTrue reads such a switch.
func goTrue(v value, otherwise bool) bool {
	on, err := strconv.ParseBool(strings.TrimSpace(v.Text))
	if v.State != Present || err != nil {
		return otherwise
	}
	return on
}

func wrongInterface(text string) string {
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == "" {
		return ""
	}
	return strconv.Quote(clip(text)) + " is no name of an interface that it takes"
}

func wrongPort(text string) string {
	if n, err := strconv.ParseUint(text, 10, 16); err == nil && n > 0 {
		return ""
	}
	return strconv.Quote(clip(text)) + " is no port"
}

func wrongNumber(text string) string {
	if _, err := strconv.ParseUint(text, 10, 32); err == nil {
		return ""
	}
	return strconv.Quote(clip(text)) + " is no number"
}

func wrongAddress(text string) string {
	if _, err := netip.ParseAddr(text); err == nil {
		return ""
	}
	return strconv.Quote(clip(text)) + " is no address"
}

func wrongPrefix(text string) string {
	if _, err := netip.ParsePrefix(text); err == nil {
		return ""
	}
	return strconv.Quote(clip(text)) + " is no prefix"
}

func wrongHost(text string) string {
	if !strings.Contains(text, "/") {
		return wrongAddress(text)
	}
	return wrongPrefix(text)
}

// wrongResolver is for an address, with a port or without.
func wrongResolver(text string) string {
	if _, err := netip.ParseAddrPort(text); err == nil {
		return ""
	}
	return wrongAddress(text)
}

func wrongListener(text string) string {
	if _, port, err := net.SplitHostPort(text); err == nil && wrongNumber(port) == "" {
		return ""
	}
	return strconv.Quote(clip(text)) + " is no address with a port"
}

// tailscaleFlags are the flags of tailscale up; those that are on or off are bool.
var (
	tailscaleBools = strings.Fields(`accept-dns accept-routes advertise-connector advertise-exit-node exit-node-allow-lan-access
		force-reauth host-routes json posture-checking qr report-posture reset shields-up snat-subnet-routes ssh stateful-filtering
		unattended update-check auto-update webclient`)
	tailscaleValues = strings.Fields(`accept-risk advertise-routes advertise-tags audience auth-key authkey client-id client-secret
		exit-node hostname id-token login-server netfilter-mode nickname operator qr-format relay-server-port timeout`)
)

// wrongTailscaleFlag says which flag `tailscale up` does not take.
func wrongTailscaleFlag(text string) string {
	for _, field := range strings.Fields(text) {
		field = strings.Trim(field, `"'`)
		name, value, has := strings.Cut(strings.TrimLeft(field, "-"), "=")
		switch {
		case !strings.HasPrefix(field, "-") || name == "":
		case name == "exit-node" && strings.Trim(value, "0123456789.") == "" && strings.Contains(value, ".") && wrongAddress(value) != "":
			return "--exit-node: " + wrongAddress(value)
		case slices.Contains(tailscaleValues, name):
		case slices.Contains(tailscaleBools, name):
			if has && goSwitch(value) != "" {
				return "--" + name + ": " + goSwitch(value)
			}
		default:
			if meant := spelling.Nearest(name, slices.Concat(tailscaleBools, tailscaleValues)); meant != "" && spelling.Distance(meant, name) < 3 {
				return "tailscale up has no flag " + strconv.Quote(clip(field)) + ", --" + meant + " is near"
			}
		}
	}
	return ""
}

// listRefused notes the entries of a list in a variable that its reader refuses, and
// reports whether there are any. A word that nobody would take for a range says
// nothing.
func (r *tunnelReader) listRefused(name string, v value, separators, fate string) (refused bool) {
	if v.State != Present {
		return false
	}
	for _, p := range grammar.ParsePrefixes(v.Text, 0, separators) {
		at := v.within(p.Start, p.End)
		switch {
		case p.Valid || p.Unknown || !strings.ContainsAny(p.Text, "./:") || !strings.ContainsAny(p.Text, "0123456789"):
			continue
		case meantAsRange(p.Text):
			r.pod.ix.invalidRange(InvalidRange{Pod: r.pod.pod.ID, Ref: at, Text: p.Text, Says: name, Why: "it is no prefix", Fate: fate})
		default:
			r.pod.ix.gapAt(finding.Unresolved, r.pod.object, at, "what "+name+" sets in container "+r.c.c.Name,
				because(strconv.Quote(clip(p.Text))+" is no prefix", correctIt), fate)
		}
		refused = true
	}
	return refused
}
