package facts

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
)

// tailscale reads the official container image (FG C6).
func (r *tunnelReader) tailscale() {
	t := r.t
	t.Kind, t.Side, t.Interface = "mesh", "mesh", "tailscale0"
	if r.pod.made != nil {
		r.tailscaleProxy(r.pod.made)
		return
	}
	if dir := r.c.env("TS_EXPERIMENTAL_VERSIONED_CONFIG_DIR"); dir.State == Present {
		t.UserSpace, t.Routes.State, t.Resolver.Rewrites, t.Masquerade.State = Unknown, Unknown, Unknown, Unknown
		r.missed(because("TS_EXPERIMENTAL_VERSIONED_CONFIG_DIR holds the settings", noAdvice), dir.Ref, aspectRoutes, aspectResolver, aspectMasquerade)
		t.KillSwitch = Switch{State: Absent, Ref: t.ContainerRef, Why: "the image has none"}
		return
	}
	r.tailscaleServes()
	userspace := r.c.env("TS_USERSPACE")
	switch {
	case userspace.State == Absent, userspace.State == Present && goTrue(userspace, true):
		t.UserSpace = Present
	case userspace.State == Unknown:
		t.UserSpace = Unknown
		r.missed(r.whyEnv("TS_USERSPACE", userspace), userspace.Ref, aspectUserSpace)
	}
	if part, _ := r.c.partOfTailscale(); part != partServer && t.UserSpace != Present {
		for _, key := range append(tailscaleRoutes(), "TS_EXTRA_ARGS") {
			if v := r.c.env(key); v.State == Unknown {
				r.missed(r.whyEnv(key, v), v.Ref, aspectAnnounced)
				break
			}
		}
	}
	extra := r.c.env("TS_EXTRA_ARGS")
	if !r.namesEnv("TS_EXTRA_ARGS") && extra.State == Unknown {
		extra.Text = ""
	}
	r.tailscaleFlags(dashFlags(extra.Text), extra)
}

// tailscaleServes looks at the file of what the container serves. The image reads it
// as JSON, and stops at anything else.
func (r *tunnelReader) tailscaleServes() {
	v := r.c.env("TS_SERVE_CONFIG")
	if v.State != Present || !strings.HasPrefix(v.Text, "/") {
		return
	}
	f := r.c.file(v.Text)
	if f.State != Present || strings.TrimSpace(f.Text) == "" {
		return
	}
	at, why := brokenJSON(f.Text)
	if why == "" {
		return
	}
	r.pod.ix.gapAt(finding.Unreadable, r.pod.object, lineOf(f.Ref, f.Text, at), "what container "+r.c.c.Name+" serves",
		because("it is not JSON: "+why, correctLine), "the container stops there")
}

// brokenJSON is where a text stops to be JSON, and why; of a bracket that is never
// closed the place is its own.
func brokenJSON(text string) (at int, why string) {
	var content json.RawMessage
	err := json.Unmarshal([]byte(text), &content)
	if err == nil {
		return 0, ""
	}
	var said *json.SyntaxError
	if !errors.As(err, &said) || int(said.Offset) < len(strings.TrimRight(text, " \t\r\n")) {
		if said != nil {
			at = max(int(said.Offset)-1, 0)
		}
		return min(at, len(text)), err.Error()
	}
	var open []int
	quoted := false
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case quoted && ch == '\\':
			i++
		case ch == '"':
			quoted = !quoted
		case quoted:
		case ch == '{' || ch == '[':
			open = append(open, i)
		case (ch == '}' || ch == ']') && len(open) > 0:
			// Where lines are indented, the bracket that this one was not meant for.
			last := open[len(open)-1]
			if own, first := indentOf(text, i); first {
				if of, _ := indentOf(text, last); own < of {
					return last, "a bracket is never closed"
				}
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return max(int(said.Offset)-1, 0), err.Error()
	}
	return open[len(open)-1], "a bracket is never closed"
}

// indentOf is how far the line of an offset is indented, and whether nothing else
// stands before the offset.
func indentOf(text string, at int) (indent int, first bool) {
	before := text[strings.LastIndexByte(text[:at], '\n')+1 : at]
	indent = len(before) - len(strings.TrimLeft(before, " \t"))
	return indent, indent == len(before)
}

// tailscaleRoutes are the variables with which the image routes for others (FG C6).
func tailscaleRoutes() []string {
	return []string{"TS_ROUTES", "TS_DEST_IP", "TS_EXPERIMENTAL_DEST_DNS_NAME", "TS_TAILNET_TARGET_IP", "TS_TAILNET_TARGET_FQDN"}
}

// whyEnv is why a variable is not known: with its name where that is written, and
// without where it may come with all the others of a Secret.
func (r *tunnelReader) whyEnv(key string, v value) reason {
	if r.namesEnv(key) {
		return v.Why.of(key + ": ")
	}
	return v.Why
}

// tailscaleProxy reads a proxy of the operator, which configures it by a file of
// its own: the resolver and routes of others are left alone unless a ProxyClass
// asks for them (FG C6).
func (r *tunnelReader) tailscaleProxy(m *maker) {
	if v := r.c.env("TS_USERSPACE"); v.State == Present && goTrue(v, true) {
		r.t.UserSpace = Present
	} else if v.State == Unknown {
		r.t.UserSpace = Unknown
	}
	flags := map[string]string{}
	at := value{State: Absent, Ref: m.asks.ref()}
	if m.acceptRoutes.exists() {
		flags["accept-routes"], at.Ref = "true", m.acceptRoutes.ref()
	}
	r.tailscaleFlags(flags, at)
	r.t.Advertised = append(r.t.Advertised, m.advertised...)
}

// tailscaleFlags decides by the flags of `tailscale up`. Advertised routes are
// what others send here; they take nothing from the pod.
func (r *tunnelReader) tailscaleFlags(flags map[string]string, at value) {
	t := r.t
	t.KillSwitch = Switch{State: Absent, Ref: t.ContainerRef, Why: "the image has none"}
	t.Masquerade = Switch{State: Present, Ref: t.ContainerRef, Why: "subnet routes are translated by default"}
	if v, has := flags["snat-subnet-routes"]; has && isOff(v) {
		t.Masquerade = Switch{State: Absent, Ref: at.Ref, Why: "--snat-subnet-routes=false"}
	}
	t.RepliesKept = Present // table 52 holds routes of the tailnet only, and its own mark keeps replies
	acceptDNS := r.c.env("TS_ACCEPT_DNS")
	dns, dnsAt := goTrue(acceptDNS, false), acceptDNS.Ref
	if v, has := flags["accept-dns"]; has {
		dns, dnsAt = !isOff(v), at.Ref
	}
	t.Resolver.Rewrites, t.Resolver.Why = Absent, "accept-dns is off by default"
	switch {
	case t.UserSpace == Present:
		t.Resolver.Why = "user space networking leaves the resolver alone"
	case dns:
		t.Resolver.Rewrites, t.Resolver.Ref, t.Resolver.Why = Present, dnsAt, "accept-dns"
		t.Resolver.Servers = []string{"100.100.100.100"}
		// MagicDNS hands other names to what the tailnet's administrator chose.
		t.Resolver.ReachesCluster = Unknown
	case at.State == Unknown && r.namesEnv("TS_EXTRA_ARGS"):
		t.Resolver.Rewrites = Unknown
		r.missed(at.Why, at.Ref, aspectResolver)
	}
	if t.UserSpace == Present {
		r.takesNothing("user space networking")
		return
	}
	exit, hasExit := flags["exit-node"]
	_, accepts := flags["accept-routes"]
	if v := flags["accept-routes"]; isOff(v) {
		accepts = false
	}
	switch {
	case hasExit && exit != "":
		r.takesDefault(at.Ref, "--exit-node="+exit, "0.0.0.0/0", "::/0")
		t.RepliesKept = Absent
	case accepts:
		r.unknownRoutes(because("--accept-routes takes the routes that the tailnet advertises", noAdvice), at.Ref)
		t.RepliesKept = Unknown
	case at.State == Unknown && r.namesEnv("TS_EXTRA_ARGS"):
		r.unknownRoutes(at.Why.of("TS_EXTRA_ARGS: "), at.Ref)
		t.RepliesKept = Unknown
	default:
		// Host routes to the tailnet's machines, in a table of their own.
		r.takesNothing("only machines of the tailnet")
	}
}

// tailscaleOther: in other people's images the command line decides.
func (r *tunnelReader) tailscaleOther() {
	t := r.t
	t.Kind, t.Side, t.Interface = "mesh", "mesh", "tailscale0"
	words, _ := r.c.argv()
	t.UserSpace = Unknown
	var text []string
	for _, w := range words {
		text = append(text, w.Text)
	}
	all := strings.Join(text, " ")
	switch {
	case strings.Contains(all, "userspace-networking"):
		t.UserSpace = Present
	case strings.Contains(all, "tailscaled"):
		t.UserSpace = Absent
	}
	if strings.Contains(all, "tailscale up") || t.UserSpace == Present {
		r.tailscaleFlags(dashFlags(all), value{State: Present, Ref: r.c.c.Ref})
		return
	}
	r.unknownRoutes(because("the image's own start script decides", noAdvice), t.ContainerRef)
	r.missed(because("the image's own start script decides", noAdvice), t.ContainerRef, aspectResolver)
}

// dashFlags reads --name=value, --name value and --name out of a command line.
// Values with blanks do not occur in the flags that matter here.
func dashFlags(text string) map[string]string {
	out := map[string]string{}
	fields := strings.Fields(text)
	for i, f := range fields {
		f = strings.Trim(f, `"'`)
		name, isFlag := strings.CutPrefix(f, "-")
		if !isFlag {
			continue
		}
		name = strings.TrimPrefix(name, "-")
		name, v, has := strings.Cut(name, "=")
		if !has {
			// Boolean flags of tailscale take no separate value.
			if i+1 < len(fields) && !strings.HasPrefix(fields[i+1], "-") {
				v = strings.Trim(fields[i+1], `"'`)
			}
		}
		out[name] = v
	}
	return out
}
