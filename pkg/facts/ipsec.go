package facts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// ipsecConn is one connection of ipsec.conf, or one child of swanctl.conf, as
// far as it decides routes (FG E3.1-E3.3).
type ipsecConn struct {
	// local and remote are traffic selectors as written; unset: the host itself.
	local, remote grammar.Word
	// pool is what clients get their addresses from; virtual: this side asks for
	// an address.
	pool    grammar.Word
	virtual grammar.Word
	// updown is the script that is run when the connection comes up.
	name   string
	updown grammar.Word
	// anyone: the remote side may call from anywhere.
	anyone bool
	// pass: a policy that keeps its selectors out of every tunnel.
	pass bool
	// unread: it inherits from more sections than are looked at, or its reader
	// stops at the text at broken.
	unread bool
	broken grammar.Word
	why    reason // of the broken text: " is never closed"
}

// ipsec reads strongSwan's (and Libreswan's) configuration files.
func (r *tunnelReader) ipsec() {
	t := r.t
	t.Kind = "ipsec"
	if t.Side == "unknown" && r.family.Role == "server" {
		t.Side = "server"
	}
	var conns []ipsecConn
	var froms []mountedFile
	read := func(parse func(string) []ipsecConn, globs ...string) {
		for _, f := range r.c.files(globs...) {
			if f.State == Unknown {
				r.missed(f.Why, f.Ref, aspectRoutes, aspectMasquerade)
				continue
			}
			for _, conn := range parse(f.Text) {
				conns = append(conns, conn)
				froms = append(froms, f)
			}
		}
	}
	read(parseIPsecConf, "/etc/ipsec.conf", "/etc/ipsec.d/*.conf")
	read(parseSwanctl, "/etc/swanctl/swanctl.conf", "/etc/swanctl/conf.d/*.conf")
	if len(conns) == 0 {
		return
	}
	t.Config = froms[0].Ref
	complete := len(r.lost) == 0
	defer func() { r.plainIPsec(complete) }()
	for i, conn := range conns {
		at, why := r.ipsecConn(conn, froms[i].Ref)
		if why.holds() && complete {
			r.missed(why, at, aspectRoutes)
		}
		complete = complete && !why.holds()
	}
	r.ipsecBypassPlugin()
	if !complete {
		t.Routes.State = Unknown
		return
	}
	t.Routes.State = Absent
	if len(t.Routes.Prefixes) > 0 {
		t.Routes.State = Present
		t.Routes.Default = hasDefault(t.Routes.Prefixes)
	}
}

// plainIPsec: the daemon itself translates nothing, and where a plain system runs it
// the scripts in the manifest are all that could. One that it runs for a connection
// may.
func (r *tunnelReader) plainIPsec(complete bool) {
	t := r.t
	if !complete || len(t.updown) > 0 || t.Masquerade.State != Unknown {
		return
	}
	for _, daemon := range []string{"ipsec", "charon", "charon-systemd"} {
		if r.c.runsPlainly(daemon) {
			t.Masquerade = Switch{State: Absent, Ref: t.ContainerRef, Why: "the IPsec daemon itself does not masquerade"}
		}
	}
}

// ipsecConn adds one connection to the tunnel. It says what of it cannot be read,
// and where that is; "" for nothing.
func (r *tunnelReader) ipsecConn(conn ipsecConn, at source.Ref) (where source.Ref, why reason) {
	switch {
	case conn.broken.Set():
		return at.Within(conn.broken.Start, conn.broken.End), conn.why.of(strconv.Quote(clip(conn.broken.Text)))
	case conn.unread:
		return at, because("a connection inherits from more sections than are looked at", noAdvice)
	}
	t := r.t
	local, badLocal := selectors(conn.local, at)
	remote, badRemote := selectors(conn.remote, at)
	bad := cmp.Or(badRemote, badLocal)
	where, why = bad.where, bad.why
	switch {
	case conn.pass:
		t.Bypass.State = Present
		t.Bypass.Ref = at.Within(conn.remote.Start, max(conn.remote.End, conn.remote.Start+1))
		t.Bypass.Entries = append(t.Bypass.Entries, remote...)
		if badRemote.where.IsZero() {
			return where, reason{}
		}
		return where, why
	case conn.pool.Set() || conn.anyone && !conn.remote.Set():
		// Clients call from anywhere: the selectors are what they route.
		t.Side = "server"
		pool, badPool := selectors(conn.pool, at)
		if !badPool.where.IsZero() && meantAsRange(conn.pool.Text) { // a name is a pool of its own
			r.missed(badPool.why, badPool.where, aspectPool)
		}
		t.Pool = append(t.Pool, pool...)
		t.Clients.Routes = append(t.Clients.Routes, local...)
		t.Clients.Default = t.Clients.Default || hasDefault(local)
		t.Clients.State = Present
		if !badLocal.where.IsZero() {
			t.Clients.State = Unknown
		}
		return where, reason{}
	}
	if len(local) == 0 { // then it is the address that this side asks for
		local, _ = selectors(conn.virtual, at)
	}
	t.Local = append(t.Local, local...)
	if conn.updown.Set() {
		t.updown = append(t.updown, hookScript{name: conn.name, text: conn.updown.Text})
	}
	if conn.virtual.Set() || len(local) == 0 {
		if t.Side != "server" {
			t.Side = "client"
		}
	} else {
		t.Side = "server" // it carries other hosts' packets to the far site
	}
	t.Routes.Prefixes = append(t.Routes.Prefixes, remote...)
	if len(remote) > 0 && t.Routes.Why == "" {
		t.Routes.Ref = at.Within(conn.remote.Start, conn.remote.End)
		t.Routes.Why = "traffic selector " + clip(conn.remote.Text)
	}
	return where, why
}

// ipsecClients reads what images whose start script writes the configuration tell
// their clients: the resolvers of their variables, and vimagick's leftsubnet,
// which is everything (FG C3). What hwdsl2's clients route is stated for IKEv2
// with VPN_SPLIT_IKEV2 only, which the catalogue reads. A configuration that is
// mounted in its place decides by itself.
func (r *tunnelReader) ipsecClients() {
	t := r.t
	if r.family.ID == "strongswan-generic" || len(r.c.files("/etc/ipsec.conf", "/etc/swanctl/swanctl.conf")) > 0 {
		return
	}
	for _, k := range r.family.Env.DNS {
		r.resolversFor(k)
	}
	if r.family.ID == "strongswan-vimagick" && t.Clients.State == Absent {
		everything, _ := prefixAt(grammar.ParsePrefix("0.0.0.0/0", 0), t.ContainerRef)
		t.Clients.State, t.Clients.Default = Present, true
		t.Clients.Routes = append(t.Clients.Routes, everything)
	}
}

// ipsecBypassPlugin: charon's bypass-lan keeps attached subnets out of the
// tunnel; which those are is known at run time only (FG E3.3).
func (r *tunnelReader) ipsecBypassPlugin() {
	for _, f := range r.c.files("/etc/strongswan.conf", "/etc/strongswan.d/**") {
		if strings.Contains(f.Text, "bypass-lan") {
			r.t.Bypass.State = Unknown
			r.missed(because("charon's bypass-lan plugin decides at run time", noAdvice), f.Ref, aspectBypass)
			return
		}
	}
}

// selectors reads a list of traffic selectors, each with an optional
// [protocol/port]. Names for the host itself add nothing; bad is the first entry
// that cannot be read, the zero value for none.
func selectors(w grammar.Word, at source.Ref) (out []PrefixAt, bad badSelector) {
	if !w.Set() {
		return nil, badSelector{}
	}
	list := w.Text
	if strings.HasPrefix(list, "{") && strings.HasSuffix(list, "}") { // Libreswan's leftsubnets={a b}
		list = strings.Map(func(ch rune) rune {
			if strings.ContainsRune("{} \t", ch) {
				return ','
			}
			return ch
		}, list)
	}
	for _, p := range grammar.ParsePrefixes(list, w.Start, ",") {
		text, _, _ := strings.Cut(p.Text, "[")
		text = strings.TrimSpace(text)
		where := at.Within(p.Start, p.Start+max(len(text), 1))
		entry := grammar.ParsePrefix(text, p.Start)
		if found, valid := prefixAt(entry, where); valid {
			out = append(out, found)
			continue
		}
		if span, isRange := grammar.ParseAddressRange(text); isRange {
			for _, prefix := range span.Prefixes() {
				out = append(out, PrefixAt{Prefix: prefix.String(), Text: text, Ref: where})
			}
			continue
		}
		switch text {
		case "", "dynamic", "%dynamic", "%config", "%config4", "%config6", "%dhcp", "%any":
		default:
			why := filledInLater("the traffic selector " + clip(text))
			if !entry.Unknown {
				why = because(strconv.Quote(clip(text))+" is no traffic selector", correctIt)
			}
			bad = cmp.Or(bad, badSelector{where, why})
		}
	}
	return out, bad
}

// badSelector is the first traffic selector of a list that cannot be read.
type badSelector struct {
	where source.Ref
	why   reason
}

// ipsecSection is a section of ipsec.conf with its keys.
type ipsecSection struct {
	name string
	keys map[string]grammar.Word
	also []string
	// broken is the first line that is no setting.
	broken grammar.Word
}

// parseIPsecConf reads the connections of an ipsec.conf: sections start in the
// first column, their keys are indented; also= and %default are inherited.
func parseIPsecConf(text string) []ipsecConn {
	sections := map[string]*ipsecSection{}
	var order []string
	var current *ipsecSection
	var broken grammar.Word // what is no section: the reader stops there
	for start := 0; start < len(text); {
		end := start + len(text[start:])
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i
		}
		line := text[start:end]
		if i := strings.IndexByte(line, '#'); i >= 0 {
			line = line[:i]
		}
		switch {
		case strings.TrimSpace(line) == "":
		case line[0] != ' ' && line[0] != '\t':
			current = nil
			kind, name, found := strings.Cut(strings.Join(strings.Fields(line), " "), " ")
			if !startsSection(kind) && !broken.Set() {
				broken = wordOf(line, start)
			}
			if found && kind == "conn" {
				if sections[name] == nil {
					sections[name] = &ipsecSection{name: name, keys: map[string]grammar.Word{}}
					order = append(order, name)
				}
				current = sections[name]
			}
		case current != nil:
			if key, v, found := keyValue(line, start); found {
				if key == "also" {
					current.also = append(current.also, v.Text)
				} else {
					current.keys[key] = v
				}
			} else if !current.broken.Set() {
				current.broken = wordOf(line, start)
			}
		}
		start = end + 1
	}
	var out []ipsecConn
	for _, name := range order {
		if name != "%default" {
			out = append(out, ipsecConnOf(sections, sections[name]))
		}
	}
	if broken.Set() {
		// The reader takes nothing of the file, its other connections included.
		return []ipsecConn{{broken: broken, why: because(" is no section, and no setting without a blank before it", correctLine)}}
	}
	return out
}

// startsSection: what may stand in the first column of an ipsec.conf.
func startsSection(word string) bool {
	switch word {
	case "config", "conn", "ca", "include", "version":
		return true
	}
	return false
}

// wordOf is what stands on a line that starts at a byte offset.
func wordOf(line string, base int) grammar.Word {
	w := grammar.Word{Text: strings.TrimSpace(line)}
	w.Start = base + strings.Index(line, w.Text)
	w.End = w.Start + len(w.Text)
	return w
}

// keyValue reads "key = value" of a line that starts at a byte offset.
func keyValue(line string, base int) (string, grammar.Word, bool) {
	i := strings.IndexByte(line, '=')
	if i < 0 {
		return "", grammar.Word{}, false
	}
	key := strings.ToLower(strings.TrimSpace(line[:i]))
	from, to := i+1, len(line)
	for from < to && strings.ContainsRune(" \t\r\"", rune(line[from])) {
		from++
	}
	for to > from && strings.ContainsRune(" \t\r\"", rune(line[to-1])) {
		to--
	}
	w := grammar.Word{Text: line[from:to]}
	w.Start, w.End = base+from, base+to
	return key, w, key != ""
}

// maxInherited bounds the sections that one connection inherits from: a chain of
// also= through a whole file would be walked from each of its sections.
const maxInherited = 16

// lineage returns a section, then what it names with also=, then %default, in the
// order in which their keys count; complete is false where there are more.
func lineage(sections map[string]*ipsecSection, s *ipsecSection) (out []*ipsecSection, complete bool) {
	complete = true
	var add func(s *ipsecSection)
	add = func(s *ipsecSection) {
		switch {
		case s == nil || slices.Contains(out, s):
		case len(out) > maxInherited:
			complete = false
		default:
			out = append(out, s)
			for _, name := range s.also {
				add(sections[name])
			}
		}
	}
	add(s)
	add(sections["%default"])
	return out, complete
}

func ipsecConnOf(sections map[string]*ipsecSection, s *ipsecSection) ipsecConn {
	from, complete := lineage(sections, s)
	get := func(keys ...string) grammar.Word {
		for _, key := range keys {
			for _, s := range from {
				if w, has := s.keys[key]; has {
					if w.Set() {
						return w
					}
					break // empty, which is an answer
				}
			}
		}
		return grammar.Word{}
	}
	var broken grammar.Word
	for _, s := range from {
		if !broken.Set() {
			broken = s.broken
		}
	}
	right := get("right").Text
	kind := get("type").Text
	return ipsecConn{
		local: get("leftsubnet", "leftsubnets"), remote: get("rightsubnet", "rightsubnets"),
		pool: get("rightsourceip", "rightaddresspool"), virtual: get("leftsourceip"), name: s.name, updown: get("leftupdown"),
		anyone: right == "%any" || right == "%any4" || right == "%any6",
		pass:   kind == "passthrough" || kind == "pass",
		unread: !complete, broken: broken, why: because(" is no setting", correctLine),
	}
}

// parseSwanctl reads the children of a swanctl.conf's connections, and the
// pools that they name.
func parseSwanctl(text string) []ipsecConn {
	r := swanctlReader{
		children: map[[2]string]map[string]grammar.Word{}, connections: map[string]map[string]grammar.Word{},
		pools: map[string]grammar.Word{},
	}
	if !r.read(text) {
		return nil
	}
	var out []ipsecConn
	if r.broken.Set() {
		// The reader takes nothing of the file.
		return []ipsecConn{{broken: r.broken, why: r.why}}
	}
	for _, id := range r.order {
		out = append(out, r.conn(id))
	}
	return out
}

// swanctlReader walks the sections of a swanctl.conf.
type swanctlReader struct {
	order       [][2]string // connection, child
	children    map[[2]string]map[string]grammar.Word
	connections map[string]map[string]grammar.Word
	pools       map[string]grammar.Word
	path        []string
	opened      []grammar.Word // where the sections of path begin
	broken      grammar.Word
	why         reason // of the broken text
}

// read reads all settings; false for sections that are nested too deeply.
func (r *swanctlReader) read(text string) bool {
	const maxDepth = 16
	name := "" // of a section whose brace stands on a line below
	for start := 0; start < len(text); {
		piece, stop, end := swanctlPiece(text, start)
		word := wordOf(piece, start)
		key, v, found := keyValue(piece, start)
		switch {
		case found:
			r.set(key, v)
			r.quotes(text, word)
		case stop == '{' || word.Text == "":
		case opensBelow(text[end:]):
			name = word.Text
		case word.Text != "include" && !strings.HasPrefix(word.Text, "include ") && !strings.HasPrefix(word.Text, "include\t"):
			r.breaks(word, because(" is no setting and no section", correctLine))
		}
		switch stop {
		case '{':
			if len(r.path) >= maxDepth {
				return false
			}
			if word.Text != "" {
				name = word.Text
			}
			opened := wordOf(text[start:end+1], start)
			name, _, _ = strings.Cut(name, ":") // it may take over other sections
			name = strings.TrimSpace(name)
			if len(r.path) == 2 && r.path[0] == "connections" && !sectionOfConnection(name) {
				r.breaks(opened, because(" is no section of a connection", correctLine))
			}
			r.path, r.opened = append(r.path, name), append(r.opened, opened)
			name = ""
		case '}':
			switch {
			case len(r.path) > 0:
				r.path, r.opened = r.path[:len(r.path)-1], r.opened[:len(r.opened)-1]
			default:
				r.breaks(grammar.Word{Text: "}", Range: grammar.Range{Start: end, End: end + 1}}, because(" closes nothing", noAdvice))
			}
		}
		start = end + 1
	}
	if len(r.opened) > 0 {
		r.breaks(r.opened[0], because(" is never closed", "close it"))
	}
	return true
}

// breaks notes the first text at which the reader stops.
func (r *swanctlReader) breaks(at grammar.Word, why reason) {
	if !r.broken.Set() {
		r.broken, r.why = at, why
	}
}

// quotes looks for a quotation mark that its line does not close: what follows
// belongs to the value. In a comment it means nothing, behind a backslash neither.
func (r *swanctlReader) quotes(text string, at grammar.Word) {
	line, _, _ := strings.Cut(text[at.Start:], "\n")
	open, escaped := false, false
	for _, ch := range line {
		switch {
		case escaped:
			escaped = false
		case ch == '\\':
			escaped = true
		case ch == '"':
			open = !open
		case ch == '#' && !open:
			return
		}
	}
	if open {
		r.breaks(at, because(" does not close its quotation mark", correctLine))
	}
}

// opensBelow reports whether the next text that is no comment opens a section.
func opensBelow(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" {
			return line[0] == '{'
		}
	}
	return false
}

// sectionOfConnection: a connection has children, and rounds of authentication of
// both sides. What is filled in later may be either.
func sectionOfConnection(name string) bool {
	return name == "children" || strings.HasPrefix(name, "local") || strings.HasPrefix(name, "remote") || placeholder(name) != ""
}

// swanctlPiece is the text from start to the next brace or end of a line, without
// its comment, and what stops it, at end. Between quotation marks a brace and a
// hash are text.
func swanctlPiece(text string, start int) (piece string, stop byte, end int) {
	comment, quoted := -1, false
	for end = start; end < len(text) && text[end] != '\n'; end++ {
		switch ch := text[end]; {
		case comment >= 0: // it runs to the end of the line, braces included
		case ch == '\\' && quoted && end+1 < len(text) && text[end+1] != '\n':
			end++
		case ch == '"':
			quoted = !quoted
		case ch == '#' && !quoted:
			comment = end
		case (ch == '{' || ch == '}') && !quoted:
			return text[start:end], ch, end
		}
	}
	if comment >= 0 {
		return text[start:comment], '\n', end
	}
	return text[start:end], '\n', end
}

func (r *swanctlReader) set(key string, v grammar.Word) {
	switch path := r.path; {
	case len(path) == 4 && path[0] == "connections" && path[2] == "children":
		id := [2]string{path[1], path[3]}
		if r.children[id] == nil {
			r.children[id] = map[string]grammar.Word{}
			r.order = append(r.order, id)
		}
		r.children[id][key] = v
	case len(path) == 2 && path[0] == "connections":
		if r.connections[path[1]] == nil {
			r.connections[path[1]] = map[string]grammar.Word{}
		}
		r.connections[path[1]][key] = v
	case len(path) == 2 && path[0] == "pools" && key == "addrs":
		r.pools[path[1]] = v
	}
}

// conn is a child with what its connection says.
func (r *swanctlReader) conn(id [2]string) ipsecConn {
	keys, conn := r.children[id], r.connections[id[0]]
	remote := conn["remote_addrs"].Text
	c := ipsecConn{
		local: keys["local_ts"], remote: keys["remote_ts"], virtual: conn["vips"], name: id[0], updown: keys["updown"],
		anyone: remote == "" || remote == "%any",
		pass:   keys["mode"].Text == "pass",
	}
	if names := conn["pools"]; names.Set() {
		first, _, _ := strings.Cut(names.Text, ",")
		if c.pool = r.pools[strings.TrimSpace(first)]; !c.pool.Set() {
			c.pool = names // a pool that is defined elsewhere
		}
	}
	return c
}
