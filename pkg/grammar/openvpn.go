package grammar

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
)

// OpenVPN is an OpenVPN configuration file (FG E2).
type OpenVPN struct {
	Directives []Directive
	Problems   []Problem
	// Unknown: the text is encrypted or one placeholder; nothing was read.
	Unknown bool
}

// Directive is one line, or one inline block.
type Directive struct {
	// Range runs from the name to the end of the last argument (of the closing
	// tag for a block).
	Range
	// Name without the optional leading "--".
	Name Word
	Args []Word
	// Inline is the content of a <ca>...</ca> block. It is opaque here.
	Inline Word
	// Pushed is the directive inside push "...": it takes effect on clients.
	Pushed *Directive
	// Connection is the number of the <connection> block around it, from 1; 0
	// outside of any.
	Connection int
}

// Arg returns argument i, the zero Word if there is none.
func (d Directive) Arg(i int) Word {
	if i < len(d.Args) {
		return d.Args[i]
	}
	return Word{}
}

// ParseOpenVPN reads an OpenVPN configuration. Unknown directives that look like no
// other are kept without a problem: patched builds have options of their own.
func ParseOpenVPN(text string) *OpenVPN {
	r := &ovpnReader{text: text, conf: &OpenVPN{}}
	if encrypted(text) {
		r.conf.Unknown = true
		r.problem(Range{0, len(text)}, Placeholder, false, "the whole configuration is filled in later")
		return r.conf
	}
	lines := splitLines(text)
	if len(lines) > 0 && strings.HasPrefix(text, bom) {
		lines[0].start += len(bom) // which OpenVPN passes over
	}
	for i := 0; i < len(lines); i++ {
		i = r.line(lines, i)
	}
	r.misspelt()
	r.device()
	sortProblems(r.conf.Problems)
	return r.conf
}

const bom = "\ufeff"

// optionName is how all names of options are written. A word in capitals may be one
// that a script replaces.
var (
	optionName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)
	replaced   = regexp.MustCompile(`^[@%_]*[A-Z][A-Z0-9_]*[@%_]*$`)
)

// leastArgs are how many arguments options have at least, of those that say what
// becomes of packets: OpenVPN refuses a line with fewer.
var leastArgs = map[string]int{
	"route": 1, "route-ipv6": 1, "iroute": 1, "iroute-ipv6": 1, "server": 2, "server-ipv6": 1, "ifconfig": 2, "ifconfig-ipv6": 2,
	"ifconfig-push": 1, "push": 1, "remote": 1, "dev": 1, "proto": 1, "port": 1, "lport": 1, "topology": 1, "dhcp-option": 1,
	"client-config-dir": 1, "pull-filter": 2, "cd": 1, "config": 1, "keepalive": 2, "mode": 1, "dev-type": 1,
}

// mostArgs are how many they have at most, in all versions.
var mostArgs = map[string]int{
	"client": 0, "tls-client": 0, "tls-server": 0, "pull": 0, "route-nopull": 0, "route-noexec": 0,
	"proto": 1, "dev": 1, "dev-type": 1, "mode": 1, "port": 1, "lport": 1, "rport": 1, "topology": 1, "client-config-dir": 1,
	"pull-filter": 2, "keepalive": 2, "ifconfig": 2, "remote": 3, "server": 3, "route-ipv6": 3, "route": 4,
}

// refused reports a line that no version of OpenVPN takes: it ends with "Unrecognized
// option or missing or extra parameter(s)".
func (r *ovpnReader) refused(d Directive, body string) {
	if d.Name.Unknown || placeholder(body) != "" || replaced.MatchString(d.Name.Text) {
		return // something else may write an option here
	}
	if !optionName.MatchString(d.Name.Text) {
		r.problem(d.Range, Syntax, true, "line %q is no option", shorten(body))
		return
	}
	if least := leastArgs[d.Name.Text]; len(d.Args) < least {
		r.problem(d.Range, Syntax, true, "%q has fewer arguments than the option %s needs", shorten(body), d.Name.Text)
		return
	}
	if most, has := mostArgs[d.Name.Text]; has && len(d.Args) > most {
		r.problem(d.Range, Syntax, true, "%q has more arguments than the option %s takes", shorten(body), d.Name.Text)
		return
	}
	r.values(d)
}

// device: what dev names starts with its type, or dev-type says it.
func (r *ovpnReader) device() {
	dev := r.conf.Dev()
	if !dev.Set() || dev.Unknown || replaced.MatchString(dev.Text) || r.conf.has("dev-type") {
		return
	}
	for _, kind := range []string{"tun", "tap", "null", "dco", "ovpn", "utun"} {
		if strings.HasPrefix(dev.Text, kind) {
			return
		}
	}
	r.problem(dev.Range, BadValue, true, "dev %q is no tun and no tap, and there is no dev-type", shorten(dev.Text))
}

type ovpnReader struct {
	text       string
	conf       *OpenVPN
	connection int  // blocks seen so far
	inside     bool // a <connection> block is open
}

func (r *ovpnReader) problem(at Range, kind ProblemKind, fatal bool, format string, args ...any) {
	r.conf.Problems = append(r.conf.Problems, Problem{Range: at, Kind: kind, Fatal: fatal, Says: fmt.Sprintf(format, args...)})
}

// line reads line i and returns the index of the last line it used.
func (r *ovpnReader) line(lines []line, i int) int {
	start, end := trimRange(r.text, lines[i].start, lines[i].end)
	body := r.text[start:end]
	if body == "" || body[0] == '#' || body[0] == ';' {
		return i
	}
	if tag, ok := blockTag(body); ok {
		return r.block(lines, i, tag)
	}
	if strings.HasPrefix(body, "{{") {
		r.problem(Range{start, end}, Placeholder, false, "template text %q is filled in later", shorten(body))
		return i
	}
	words, closed := ovpnWords(body, start)
	if !closed {
		// OpenVPN's own message is "Unbalanced quotes"; it exits.
		r.problem(Range{start, end}, Syntax, true, "a quotation mark is not closed in %q", shorten(body))
	}
	if len(words) == 0 {
		return i
	}
	d := directive(words)
	r.refused(d, body)
	if r.inside {
		d.Connection = r.connection
	}
	if d.Name.Text == "push" && len(d.Args) > 0 {
		d.Pushed = pushed(r.text, d.Args[0])
		if len(d.Args) > 1 {
			// Ignored before OpenVPN 2.4, refused since.
			r.problem(d.Range, BadValue, true, "the argument of push is not in quotation marks")
			joined := directive(d.Args)
			d.Pushed = &joined
		}
	}
	r.conf.Directives = append(r.conf.Directives, d)
	return i
}

// directive makes the words of one line into a directive. words is not empty.
func directive(words []Word) Directive {
	name := words[0]
	if t, ok := strings.CutPrefix(name.Text, "--"); ok && t != "" {
		name.Text = t
	}
	return Directive{
		Range: Range{words[0].Start, words[len(words)-1].End},
		Name:  name,
		Args:  words[1:],
	}
}

// blockTag recognises "<ca>", alone on its line.
func blockTag(body string) (string, bool) {
	if len(body) < 3 || body[0] != '<' || body[len(body)-1] != '>' || body[1] == '/' {
		return "", false
	}
	tag := body[1 : len(body)-1]
	if strings.ContainsAny(tag, " \t<>/") {
		return "", false
	}
	return tag, true
}

// block reads an inline block. Its content is opaque, but <connection> holds
// directives.
func (r *ovpnReader) block(lines []line, i int, tag string) int {
	start, headEnd := trimRange(r.text, lines[i].start, lines[i].end)
	if tag == "connection" && !r.inside {
		r.connection++
		r.inside = true
		i++
		for ; i < len(lines); i++ {
			s, e := trimRange(r.text, lines[i].start, lines[i].end)
			if r.text[s:e] == "</connection>" {
				r.inside = false
				return i
			}
			i = r.line(lines, i)
		}
		r.inside = false
		r.problem(Range{start, headEnd}, Syntax, true, "<connection> is not closed")
		return i
	}
	closing := "</" + tag + ">"
	for j := i + 1; j < len(lines); j++ {
		s, e := trimRange(r.text, lines[j].start, lines[j].end)
		if r.text[s:e] != closing {
			continue
		}
		d := Directive{
			Range:  Range{start, e},
			Name:   Word{Range: Range{start + 1, headEnd - 1}, Text: tag},
			Inline: Word{Range: Range{lines[i+1].start, lines[j].start}, Text: r.text[lines[i+1].start:lines[j].start]},
		}
		if r.inside {
			d.Connection = r.connection
		}
		r.conf.Directives = append(r.conf.Directives, d)
		return j
	}
	if placeholder(r.text[start:headEnd]) != "" && tag != strings.ToLower(tag) {
		r.problem(Range{start, headEnd}, Placeholder, false, "%q is filled in later", shorten(r.text[start:headEnd]))
		return i
	}
	r.problem(Range{start, headEnd}, Syntax, true, "<%s> is not closed", shorten(tag))
	return len(lines)
}

// pushed reads the directive inside push's argument. When the argument holds no
// escapes its words have exact places; else they have the argument's.
func pushed(text string, arg Word) *Directive {
	inner, base := arg.Text, arg.Start
	raw := text[arg.Start:arg.End]
	if len(raw) == len(inner)+2 && raw[1:len(raw)-1] == inner {
		base++
	} else if raw != inner {
		base = -1
	}
	words, _ := ovpnWords(inner, max(base, 0))
	if len(words) == 0 {
		return nil
	}
	if base < 0 {
		for i := range words {
			words[i].Range = arg.Range
		}
	}
	d := directive(words)
	return &d
}

// ovpnWords splits a line as OpenVPN does: '"' and "'" quote, a backslash
// escapes outside and inside of double quotes, '#' and ';' start a comment where
// a word could start. A word's range includes its quotes; closed is false when a
// quote is left open.
func ovpnWords(s string, base int) (words []Word, closed bool) {
	const (
		between = iota
		bare
		double
		single
	)
	state, escaped := between, false
	start := 0
	var b strings.Builder
	finish := func(end int) {
		w := Word{Range: Range{base + start, base + end}, Text: b.String()}
		w.Unknown = placeholder(w.Text) != "" || ovpnPlaceholder[w.Text]
		words = append(words, w)
		b.Reset()
		state = between
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if state == between {
			if isSpace(c) {
				continue
			}
			if !escaped && (c == '#' || c == ';') {
				return words, true
			}
			start = i
			state = bare
			switch c {
			case '"':
				state = double
				continue
			case '\'':
				state = single
				continue
			}
		}
		if escaped {
			b.WriteByte(c)
			escaped = false
			continue
		}
		switch {
		case c == '\\' && state != single:
			escaped = true
		case state == bare && isSpace(c):
			finish(i)
		case state == double && c == '"', state == single && c == '\'':
			finish(i + 1)
		default:
			b.WriteByte(c)
		}
	}
	switch state {
	case bare:
		finish(len(s))
	case double, single:
		finish(len(s))
		return words, false
	}
	return words, true
}

// ovpnPlaceholder are the words that the configure script of the stable/openvpn
// chart and its copies replace with sed (FG C3, E2.10).
var ovpnPlaceholder = map[string]bool{
	"NETWORK": true, "NETMASK": true, "OVPN_K8S_SEARCH": true, "OVPN_K8S_DNS": true,
	"OVPN_NETWORK": true, "OVPN_SUBNET": true, "OVPN_K8S_POD_NETWORK": true, "OVPN_K8S_POD_SUBNET": true,
	"OVPN_K8S_SVC_NETWORK": true, "OVPN_K8S_SVC_SUBNET": true,
}

// All returns the directives of a name in the order of the text, pushed ones
// not included.
func (c *OpenVPN) All(name string) []Directive {
	var out []Directive
	for _, d := range c.Directives {
		if d.Name.Text == name {
			out = append(out, d)
		}
	}
	return out
}

// Last returns the last directive of a name: it is the one in force for options
// that hold one value.
func (c *OpenVPN) Last(name string) (Directive, bool) {
	for i := len(c.Directives) - 1; i >= 0; i-- {
		if c.Directives[i].Name.Text == name {
			return c.Directives[i], true
		}
	}
	return Directive{}, false
}

// has reports whether any of the names occurs.
func (c *OpenVPN) has(names ...string) bool {
	for _, n := range names {
		if _, ok := c.Last(n); ok {
			return true
		}
	}
	return false
}

// IsServer tells the side of the tunnel that hands out addresses and forwards
// (FG E2.2). Unknown where neither side's directives are there, as in a
// point-to-point setup, or where template text may still add them.
func (c *OpenVPN) IsServer() Known {
	if c.has("server", "server-bridge", "server-ipv6", "tls-server") {
		return Yes
	}
	if d, ok := c.Last("mode"); ok && d.Arg(0).Text == "server" {
		return Yes
	}
	if c.has("client", "tls-client", "pull") {
		return No
	}
	if len(c.Remotes()) > 0 && !c.has("secret") {
		return No
	}
	return Unknown
}

// Server returns the client pool of "server NETWORK NETMASK". ok tells whether
// the directive is there; the prefix may still be invalid or unknown.
func (c *OpenVPN) Server() (pool Prefix, ok bool) {
	d, ok := c.Last("server")
	if !ok {
		return Prefix{}, false
	}
	return joinNetmask(d.Range, d.Arg(0), d.Arg(1)), true
}

// ServerIPv6 returns the client pool of "server-ipv6 PREFIX".
func (c *OpenVPN) ServerIPv6() (pool Prefix, ok bool) {
	d, ok := c.Last("server-ipv6")
	if !ok {
		return Prefix{}, false
	}
	return ParsePrefix(d.Arg(0).Text, d.Arg(0).Start), true
}

// joinNetmask makes a prefix out of two arguments. Its text is "NETWORK
// NETMASK" and its range covers both, or the directive if they are missing.
func joinNetmask(whole Range, network, mask Word) Prefix {
	p := Prefix{Range: whole, Text: strings.TrimSpace(network.Text + " " + mask.Text)}
	if network.Set() {
		p.Range = network.Range
		if mask.Set() {
			p.End = mask.End
		}
	}
	if network.Unknown || mask.Unknown {
		p.Unknown = true
		return p
	}
	prefix, ok := ParseNetmask(network.Text, mask.Text)
	if !ok {
		return p
	}
	p.Prefix, p.Valid = prefix, true
	p.Addr, _ = netip.ParseAddr(network.Text)
	p.HostBits = p.Addr != prefix.Addr()
	return p
}

// Route is one route or route-ipv6 directive.
type Route struct {
	// Range is that of the directive.
	Range
	// Prefix is where it leads. A host name instead of an address is not Valid.
	Prefix Prefix
	// Gateway is as written: "" (into the tunnel), an address, vpn_gateway,
	// net_gateway or remote_host.
	Gateway Word
	Metric  Word
	IPv6    bool
}

// AroundTunnel reports whether the route leaves by the gateway that was there
// before the tunnel: the usual exemption of cluster ranges (FG E2.9).
func (r Route) AroundTunnel() bool {
	return r.Gateway.Text == "net_gateway" || r.Gateway.Text == "net_gateway_ipv6"
}

// Routes returns the routes of the configuration itself. On a server they lead
// into the tunnel towards networks behind clients.
func (c *OpenVPN) Routes() []Route {
	var out []Route
	for i := range c.Directives {
		if r, ok := route(&c.Directives[i]); ok {
			out = append(out, r)
		}
	}
	return out
}

// PushedRoutes returns the routes that a server gives to its clients.
func (c *OpenVPN) PushedRoutes() []Route {
	var out []Route
	for i := range c.Directives {
		if p := c.Directives[i].Pushed; p != nil {
			if r, ok := route(p); ok {
				out = append(out, r)
			}
		}
	}
	return out
}

func route(d *Directive) (Route, bool) {
	switch d.Name.Text {
	case "route":
		mask := d.Arg(1)
		// The mask's default is a host route (FG E2.3).
		if !mask.Set() || mask.Text == "default" {
			mask = Word{Range: Range{d.Arg(0).End, d.Arg(0).End}, Text: "255.255.255.255"}
			if d.Arg(1).Set() {
				mask.Range = d.Arg(1).Range
			}
		}
		r := Route{Range: d.Range, Gateway: d.Arg(2), Metric: d.Arg(3)}
		r.Prefix = joinNetmask(d.Range, d.Arg(0), mask)
		if r.Gateway.Text == "default" {
			r.Gateway = Word{}
		}
		return r, true
	case "route-ipv6":
		p := ParsePrefix(d.Arg(0).Text, d.Arg(0).Start)
		p.Valid = p.Valid && p.Prefix.Addr().Is6() // OpenVPN leaves others out
		return Route{Range: d.Range, Prefix: p, Gateway: d.Arg(1), Metric: d.Arg(2), IPv6: true}, true
	}
	return Route{}, false
}

// Redirect is a redirect-gateway directive with its flags (FG E2.5).
type Redirect struct {
	Range
	// Def1: two /1 routes over the old default route, which stays.
	Def1 bool
	// Local: no host route to the server is added.
	Local bool
	// IPv4 and IPv6: which default routes it takes. "!ipv4" clears the first.
	IPv4, IPv6 bool
	// BypassDNS: a host route keeps the resolver outside of the tunnel.
	BypassDNS bool
}

// RedirectGateway returns the configuration's own redirect-gateway.
func (c *OpenVPN) RedirectGateway() (Redirect, bool) {
	return redirect(c.All("redirect-gateway"))
}

// PushedRedirectGateway returns the redirect-gateway that clients are given.
func (c *OpenVPN) PushedRedirectGateway() (Redirect, bool) {
	return redirect(c.pushes("redirect-gateway"))
}

// redirect joins the flags of all directives: OpenVPN collects them.
func redirect(ds []Directive) (Redirect, bool) {
	if len(ds) == 0 {
		return Redirect{}, false
	}
	r := Redirect{Range: ds[len(ds)-1].Range, IPv4: true}
	for _, d := range ds {
		for _, a := range d.Args {
			switch a.Text {
			case "def1":
				r.Def1 = true
			case "local":
				r.Local = true
			case "ipv6":
				r.IPv6 = true
			case "!ipv4":
				r.IPv4 = false
			case "bypass-dns":
				r.BypassDNS = true
			}
		}
	}
	return r, true
}

// Pushed returns the directives inside push "..." in the order of the text.
func (c *OpenVPN) Pushed() []Directive {
	var out []Directive
	for _, d := range c.Directives {
		if d.Pushed != nil {
			out = append(out, *d.Pushed)
		}
	}
	return out
}

func (c *OpenVPN) pushes(name string) []Directive {
	var out []Directive
	for _, d := range c.Pushed() {
		if d.Name.Text == name {
			out = append(out, d)
		}
	}
	return out
}

// RouteNoPull returns the route-nopull directive: routes and DNS options that
// the server pushes are dropped (FG E2.7).
func (c *OpenVPN) RouteNoPull() (Directive, bool) { return c.Last("route-nopull") }

// pullFilter is one pull-filter; the first whose prefix matches decides.
type pullFilter struct {
	Range
	Action string // accept | ignore | reject
	Prefix Word
}

// pullFilters returns the filters in the order in which they are tried.
func (c *OpenVPN) pullFilters() []pullFilter {
	var out []pullFilter
	for _, d := range c.All("pull-filter") {
		out = append(out, pullFilter{Range: d.Range, Action: d.Arg(0).Text, Prefix: d.Arg(1)})
	}
	return out
}

// Pulls reports whether an option that a server pushes would be taken: not by a
// server, not if a pull-filter drops it, and no routes or DNS under
// route-nopull.
func (c *OpenVPN) Pulls(option string) Known {
	if c.IsServer() == Yes {
		return No
	}
	if _, off := c.RouteNoPull(); off {
		name, _, _ := strings.Cut(option, " ")
		switch name {
		case "route", "route-ipv6", "redirect-gateway", "redirect-private", "dhcp-option", "dns", "route-gateway", "route-metric":
			return No
		}
	}
	for _, f := range c.pullFilters() {
		if f.Prefix.Unknown {
			return Unknown
		}
		if strings.HasPrefix(option, f.Prefix.Text) {
			if f.Action == "accept" {
				break
			}
			return No
		}
	}
	if c.has("client", "pull") {
		return Yes
	}
	return Unknown
}

// Remote is a server that the client may connect to.
type Remote struct {
	Range
	Host, Port, Proto Word
}

// Remotes returns the servers, those of <connection> blocks included.
func (c *OpenVPN) Remotes() []Remote {
	var out []Remote
	for _, d := range c.All("remote") {
		out = append(out, Remote{Range: d.Range, Host: d.Arg(0), Port: d.Arg(1), Proto: d.Arg(2)})
	}
	return out
}

// Dev returns the device ("tun", "tun0", "tap"), Proto the transport and Port
// the listening or remote port; the zero Word where nothing says so.
func (c *OpenVPN) Dev() Word { return c.firstArg("dev") }

// Proto returns the transport protocol as written ("udp", "tcp-client").
func (c *OpenVPN) Proto() Word { return c.firstArg("proto") }

// Port returns the port as written; lport, which is the server's own, wins.
func (c *OpenVPN) Port() Word {
	if p := c.firstArg("lport"); p.Set() {
		return p
	}
	return c.firstArg("port")
}

func (c *OpenVPN) firstArg(name string) Word {
	d, _ := c.Last(name)
	return d.Arg(0)
}

// DNSOption is a resolver or search domain, own or pushed.
type DNSOption struct {
	Range
	// Type is DNS, DNS6, DOMAIN, DOMAIN-SEARCH, or address and search-domains
	// for the dns directive of OpenVPN 2.6.
	Type   string
	Value  Word
	Pushed bool
}

// DNS returns dhcp-option and dns directives. On Linux they reach
// /etc/resolv.conf only through a script (FG E2.6).
func (c *OpenVPN) DNS() []DNSOption {
	var out []DNSOption
	for i := range c.Directives {
		d := &c.Directives[i]
		out = append(out, dnsOptions(d, false)...)
		if d.Pushed != nil {
			out = append(out, dnsOptions(d.Pushed, true)...)
		}
	}
	return out
}

func dnsOptions(d *Directive, pushed bool) []DNSOption {
	switch d.Name.Text {
	case "dhcp-option":
		switch t := strings.ToUpper(d.Arg(0).Text); t {
		case "DNS", "DNS6", "DOMAIN", "DOMAIN-SEARCH", "ADAPTER_DOMAIN_SUFFIX":
			return []DNSOption{{Range: d.Range, Type: t, Value: d.Arg(1), Pushed: pushed}}
		}
	case "dns":
		// dns server <n> address <a> [<a>...], dns search-domains <d>...
		var out []DNSOption
		from, kind := 0, ""
		switch {
		case d.Arg(0).Text == "search-domains":
			from, kind = 1, "search-domains"
		case d.Arg(0).Text == "server" && d.Arg(2).Text == "address":
			from, kind = 3, "address"
		}
		if kind == "" {
			return nil
		}
		for _, a := range d.Args[min(from, len(d.Args)):] {
			out = append(out, DNSOption{Range: d.Range, Type: kind, Value: a, Pushed: pushed})
		}
		return out
	}
	return nil
}

// UpScripts returns the scripts that run when the tunnel or its routes are up.
// They change the resolver or the firewall where their file says so.
func (c *OpenVPN) UpScripts() []Directive {
	var out []Directive
	for _, d := range c.Directives {
		switch d.Name.Text {
		case "up", "route-up", "ipchange":
			out = append(out, d)
		}
	}
	return out
}
