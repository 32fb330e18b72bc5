package shell

import (
	"slices"
	"strings"
)

// chainsOf are the chains that packets come to by themselves, by table.
var chainsOf = map[string][]string{
	"filter":   {"INPUT", "FORWARD", "OUTPUT"},
	"nat":      {"PREROUTING", "INPUT", "OUTPUT", "POSTROUTING"},
	"mangle":   {"PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"},
	"raw":      {"PREROUTING", "OUTPUT"},
	"security": {"INPUT", "FORWARD", "OUTPUT"},
}

// ipTargets are what -j takes besides chains.
var ipTargets = []string{
	"ACCEPT", "DROP", "QUEUE", "RETURN", "CONTINUE", "AUDIT", "CHECKSUM", "CLASSIFY", "CLUSTERIP", "CONNMARK", "CONNSECMARK", "CT", "DNAT", "DNPT", "DSCP", "ECN",
	"HL", "HMARK", "IDLETIMER", "LED", "LOG", "MARK", "MASQUERADE", "MIRROR", "NETMAP", "NFLOG", "NFQUEUE", "NOTRACK", "RATEEST", "REDIRECT", "REJECT", "SAME",
	"SECMARK", "SET", "SNAT", "SNPT", "SYNPROXY", "TCPMSS", "TCPOPTSTRIP", "TEE", "TOS", "TPROXY", "TRACE", "TTL", "ULOG",
}

// natTargets are the chains of nat in which a target works.
var natTargets = map[string][]string{
	"MASQUERADE": {"POSTROUTING"},
	"SNAT":       {"POSTROUTING", "INPUT"},
	"DNAT":       {"PREROUTING", "OUTPUT"},
	"REDIRECT":   {"PREROUTING", "OUTPUT"},
}

// ipMatches are what -m takes.
var ipMatches = words(`addrtype ah bpf cgroup cluster comment connbytes connlabel connlimit connmark conntrack cpu dccp devgroup dscp
	dst ecn esp eui64 frag hashlimit hbh helper hl icmp icmp6 icmpv6 ipcomp iprange ipv6header ipvs length limit mac mark mh multiport
	nfacct osf owner physdev pkttype policy quota rateest realm recent rpfilter rt sctp set socket srh standard state statistic string
	tcp tcpmss time tos ttl u32 udp udplite unclean`)

// protocols are the names that -p knows without anything else, and those that
// systems have for the rest.
var protocols = words(`all ip icmp igmp ggp ipencap ipip st tcp egp igp pup udp hmp xns-idp rdp iso-tp4 dccp xtp ddp idpr-cmtp ipv6
	ipv6-route ipv6-frag idrp rsvp gre esp ah skip ipv6-icmp icmpv6 ipv6-nonxt ipv6-opts rspf vmtp eigrp ospf ax.25 etherip encap pim
	ipcomp vrrp l2tp isis sctp fc mobility-header ipv6-mh mh udplite mpls-in-ip manet hip shim6 wesp rohc`)

// ownOptions are the long options of iptables itself, with a value or without.
var (
	ownValues = words(`append delete insert replace new-chain rename-chain policy check source destination src dst protocol proto
		in-interface out-interface jump goto table match modprobe set-counters wait-interval`)
	ownFlags = words(`list list-rules flush zero delete-chain numeric verbose exact fragments version help line-numbers ipv4 ipv6 wait
		random random-fully persistent`)
	// What extensions add, with a value or without.
	extensionValues = words(`add-set ahlen ahspi algo and-mark and-tos bytecode bytes-eq bytes-gt bytes-lt cgroup chunk-types
		cluster-hash-seed cluster-local-node cluster-local-nodemask cluster-total-nodes clustermac cmd-owner comment connbytes
		connbytes-dir connbytes-mode connlimit-above connlimit-mask connlimit-upto cpu ctdir ctevents ctexpire ctmask ctorigdst
		ctorigdstport ctorigsrc ctorigsrcport ctproto ctrepldst ctrepldstport ctreplsrc ctreplsrcport ctstate ctstatus datestart
		datestop dccp-option dccp-types del-set destination-port destination-ports dir dport dports dscp dscp-class dst-group dst-len
		dst-opts dst-pfx dst-range dst-type espspi every expevents fragid fraglen from gateway genre
		gid-owner hash-init hashlimit hashlimit-above hashlimit-burst hashlimit-dstmask hashlimit-htable-expire
		hashlimit-htable-gcinterval hashlimit-htable-max hashlimit-htable-size hashlimit-mode hashlimit-name hashlimit-rate-interval
		hashlimit-srcmask hashlimit-upto hashmode hbh-len hbh-opts header helper hex-string hitcount hl hl-dec hl-eq hl-gt hl-inc hl-lt
		hl-set icmp-type icmpv6-type ipcompspi label led-delay led-trigger-id left-shift-mark length limit limit-burst local-node log
		log-level log-prefix mac-source map-set mark mask match-set mh-type mode monthdays mss name nfacct-name nflog-group
		nflog-prefix nflog-range nflog-size nflog-threshold nfmask object-pinned oif on-ip on-port or-mark or-tos packet packets-eq
		packets-gt packets-lt path physdev-in physdev-out pid-owner pkt-type pol ports probability queue-balance queue-num quota
		rateest rateest-ewmalog rateest-interval rateest-name rateest1 rateest2 realm reject-with reqid right-shift-mark rt-len
		rt-segsleft rt-type seconds selctx set-class set-dscp set-dscp-class set-mark set-mss set-tos set-xmark sid-owner source-port
		source-ports spi sport sports src-group src-pfx src-range src-type state string strip-options tcp-flags tcp-option timeout
		timestart timestop to to-destination to-ports to-source tos total-nodes tproxy-mark ttl ttl-dec ttl-eq ttl-gt ttl-inc ttl-lt
		ttl-set tunnel-dst tunnel-src type u32 uid-owner ulog-cprange ulog-nlgroup ulog-prefix ulog-qthreshold vaddr vdir vmethod vport
		vportctl vproto weekdays wscale xor-mark xor-tos zone zone-orig zone-reply`)
	extensionFlags = words(`accept-local ahres alarm checksum-fill clamp-mss-to-pmtu compres connlimit-daddr connlimit-saddr contiguous
		ecn-tcp-cwr ecn-tcp-ece ecn-tcp-remove exist fragfirst fraglast fragmore fragres hashlimit-rate-match icase invert ipvs kerneltz
		led-always-blink limit-iface-in limit-iface-out localtz log-ip-options log-macdecode log-tcp-options log-tcp-sequence log-uid
		loose map-mark map-prio map-queue new next notrack nowildcard physdev-is-bridged physdev-is-in physdev-is-out queue-bypass
		queue-cpu-fanout rateest-bps rateest-bps1 rateest-bps2 rateest-delta rateest-eq rateest-gt rateest-lt rateest-pps rateest-pps1
		rateest-pps2 rcheck rdest reap remove restore restore-mark restore-skmark return-nomatch rsource rt-0-not-strict rt-0-res rttl
		sack-perm save save-mark set socket-exists soft strict suppl-groups syn timestamp transparent update update-counters
		update-subcounters utc validmark ecn`)
	extensionOptions = slices.Concat(ownValues, ownFlags, extensionValues, extensionFlags, []string{"ecn-ip-ect"}) //nolint:misspell // it is the option's name
)

// loadedBy are options that are there only behind what loads them.
var loadedBy = map[string][]string{
	"dport": portModules, "sport": portModules, "destination-port": portModules, "source-port": portModules,
	"dports": {"multiport"}, "sports": {"multiport"},
	"ctstate": {"conntrack"}, "state": {"state", "conntrack"}, "comment": {"comment"},
	"to-source": {"SNAT", "SAME"}, "to-destination": {"DNAT"},
}

var portModules = []string{"tcp", "udp", "udplite", "sctp", "dccp", "multiport", "6", "17", "33", "132", "136"}

func words(list string) []string { return strings.Fields(list) }

// ipTablesCheck reads a command line of iptables as iptables does.
type ipTablesCheck struct {
	p      *ipArgs
	ipv6   bool
	table  Word
	op     byte
	chain  Word
	target Word
	in     Word
	out    Word
	// loaded are the extensions so far; strange: one of them is not known here.
	loaded  []string
	strange bool
	// unsure: a word that may be any option, or none, was met.
	unsure bool
}

// refusedIPTables says what iptables refuses of a command, and notes the chain that
// it makes.
func refusedIPTables(c *Command, made map[string]bool) *Refusal {
	k := &ipTablesCheck{p: &ipArgs{args: c.args()}, ipv6: strings.HasPrefix(c.Name(), "ip6")}
	for k.p.more() && !k.unsure {
		if bad := k.option(made); bad != nil {
			return bad
		}
	}
	if k.unsure {
		return nil
	}
	if k.op == 0 && len(c.args()) > 0 {
		return refuse(c.Words[0], "the command line says no operation, such as -A", "")
	}
	return k.whole(made)
}

// option reads an option with its value.
func (k *ipTablesCheck) option(made map[string]bool) *Refusal {
	w := k.p.next()
	if !w.Known {
		k.unsure = true
		return nil
	}
	text := w.Text
	switch {
	case text == "!":
		return nil
	case strings.HasPrefix(text, "--") && len(text) > 2:
		name, value, has := strings.Cut(text[2:], "=")
		if has {
			at := w
			at.Text = value
			k.p.at--
			k.p.args = slices.Clone(k.p.args)
			k.p.args[k.p.at] = at
		}
		return k.long(w, name, has, made)
	case strings.HasPrefix(text, "-") && len(text) > 1:
		return k.short(w, made)
	}
	return refuse(w, "no option takes it", "")
}

// letters are the short options with a value, and those without.
const (
	letterValues = "tAIDRCPNEsdiopjgmMcW"
	letterFlags  = "FLSXZvnxfVh046w"
)

func (k *ipTablesCheck) short(w Word, made map[string]bool) *Refusal {
	letter := w.Text[1]
	switch {
	case strings.IndexByte(letterFlags, letter) >= 0:
		if len(w.Text) > 2 {
			k.unsure = strings.Trim(w.Text[1:], letterFlags) != "" // -nvLFORWARD
		}
		if i := strings.LastIndexAny(w.Text, "FLSXZ"); i > 0 {
			k.does(w.Text[i])
		}
		if strings.ContainsAny(w.Text, "hV") {
			k.unsure = true
		}
		k.chainAndNumbers()
		return nil
	case strings.IndexByte(letterValues, letter) < 0:
		return refuse(w, "iptables has no option -"+string(letter), "")
	}
	if len(w.Text) > 2 {
		at := w
		at.Text = w.Text[2:]
		if w.End-w.Start == len(w.Text) {
			at.Start += 2
		}
		k.p.at--
		k.p.args = slices.Clone(k.p.args)
		k.p.args[k.p.at] = at
	}
	return k.value(w, letter, made)
}

// does notes the operation.
func (k *ipTablesCheck) does(letter byte) {
	if k.op == 0 || k.op == 'Z' || k.op == 'L' {
		k.op = letter
	}
}

// chainAndNumbers passes over what may stand behind an option without being one: a
// chain, and the number of a rule or of seconds.
func (k *ipTablesCheck) chainAndNumbers() {
	for k.p.more() {
		w := k.p.peek()
		if !w.Known || strings.HasPrefix(w.Text, "-") || w.Text == "!" {
			return
		}
		k.p.next()
	}
}

// shortOf is the letter of a long option of iptables itself.
var shortOf = map[string]byte{
	"append": 'A', "delete": 'D', "insert": 'I', "replace": 'R', "new-chain": 'N', "new": 'N', "rename-chain": 'E', "policy": 'P', "check": 'C',
	"source": 's', "src": 's', "destination": 'd', "dst": 'd', "protocol": 'p', "proto": 'p', "in-interface": 'i', "out-interface": 'o',
	"jump": 'j', "goto": 'g', "table": 't', "match": 'm', "modprobe": 'M', "set-counters": 'c', "wait-interval": 'W',
	"list": 'L', "list-rules": 'S', "flush": 'F', "zero": 'Z', "delete-chain": 'X', "help": 'h', "version": 'V', "wait": 'w',
}

func (k *ipTablesCheck) long(w Word, name string, has bool, made map[string]bool) *Refusal {
	if !slices.Contains(extensionOptions, name) {
		var whole []string // getopt takes a beginning that fits one
		for _, o := range extensionOptions {
			if strings.HasPrefix(o, name) {
				whole = append(whole, o)
			}
		}
		switch {
		case len(whole) == 1:
			name = whole[0]
		case len(whole) > 1 || k.strange:
			k.unsure = true
			return nil
		default:
			return refuse(w, "no option of iptables has this name", dashed(near(name, extensionOptions)))
		}
	}
	if by := loadedBy[name]; by != nil && !k.strange && !slices.ContainsFunc(by, func(m string) bool { return slices.Contains(k.loaded, m) }) {
		return refuse(w, "nothing before it loads the extension that has this option ("+loads(by)+")", "")
	}
	if letter, own := shortOf[name]; own {
		if strings.IndexByte(letterFlags, letter) >= 0 {
			k.does(letter)
			k.unsure = letter == 'h' || letter == 'V'
			k.chainAndNumbers()
			return nil
		}
		return k.value(w, letter, made)
	}
	if !has && slices.Contains(extensionFlags, name) || slices.Contains(ownFlags, name) {
		return nil
	}
	if k.p.peek().Text == "!" { // the old way to negate
		k.p.next()
	}
	if !k.p.more() {
		return refuse(w, "it takes a value and has none", "")
	}
	v := k.p.next()
	switch {
	case name == "tcp-flags" || name == "match-set" || name == "add-set" || name == "del-set" || name == "map-set":
		if name != "tcp-flags" && !k.p.more() {
			return refuse(w, "it takes two values", "")
		}
		k.p.next()
	case v.Known && (strings.HasSuffix(name, "port") || strings.HasSuffix(name, "ports")) && slices.Contains(slices.Concat(portOptions, []string{"dports", "sports"}), name):
		from := 0
		for _, p := range strings.Split(v.Text, ",") {
			if why := badPort(p); why != "" {
				return refuse(part(v, p, from), why, "")
			}
			from += len(p) + 1
		}
	case name == "to-source" && v.Known:
		host, _, _ := strings.Cut(v.Text, "-")
		if !k.ipv6 {
			host, _, _ = strings.Cut(host, ":")
		}
		if strings.Contains(host, "/") && numeric(host) {
			return refuse(v, "it is no address", "")
		}
		if why := noNetwork(strings.Trim(host, "[]"), k.ipv6, k.ipv6); why != "" {
			return refuse(v, why, "")
		}
	}
	return nil
}

var portOptions = []string{"dport", "sport", "destination-port", "source-port"}

func dashed(name string) string {
	if name == "" {
		return ""
	}
	return "--" + name
}

// loads says what loads an option.
func loads(by []string) string {
	switch {
	case len(by) > 2:
		return "-p tcp or -p udp"
	case strings.ToUpper(by[0]) == by[0]:
		return "-j " + by[0]
	default:
		return "-m " + by[0]
	}
}

// value reads the value of one of iptables' own options.
func (k *ipTablesCheck) value(option Word, letter byte, made map[string]bool) *Refusal {
	if k.p.peek().Text == "!" { // the old way to negate
		k.p.next()
	}
	if !k.p.more() {
		return refuse(option, "it takes a value and has none", "")
	}
	v := k.p.next()
	if v.several {
		k.unsure = k.unsure || letter == 'c' || letter == 'P' || letter == 'E' || letter == 'I' || letter == 'R' || letter == 'D'
	}
	switch letter {
	case 't':
		k.table = v
	case 'A', 'C', 'N':
		k.op, k.chain = letter, v
	case 'I', 'R', 'D':
		k.op, k.chain = letter, v
		if next := k.p.peek(); !next.Known && k.p.more() || next.Text != "" && !strings.HasPrefix(next.Text, "-") && next.Text != "!" {
			if k.p.next(); next.Known && !isNumber(next.Text) {
				return refuse(next, "it is no number of a rule", "")
			}
		}
	case 'P':
		k.op, k.chain = letter, v
		k.target = k.p.next()
	case 'E', 'c':
		if letter == 'E' {
			k.op = letter
			made[k.p.peek().Text] = true
		}
		if letter == 'E' || !strings.Contains(v.Text, ",") {
			k.p.next()
		}
	case 's', 'd':
		return badNetworks(v, k.ipv6, false)
	case 'p':
		name := strings.ToLower(v.Text)
		k.loaded = append(k.loaded, name)
		if v.Known && !slices.Contains(protocols, name) && near(name, protocols) != "" && !isNumber(name) {
			return refuse(v, "it is no protocol", near(name, protocols))
		}
		if !v.Known {
			k.loaded = append(k.loaded, "tcp") // it may be
		}
	case 'i', 'o':
		if letter == 'i' {
			k.in = option
		} else {
			k.out = option
		}
		const longest = 15
		if v.Known && len(v.Text) > longest && !strings.ContainsAny(v.Text, "{}<>_") {
			return refuse(v, "no interface has a name of more than 15 characters", "")
		}
	case 'j', 'g':
		k.target = v
		k.loaded = append(k.loaded, v.Text)
		k.strange = k.strange || !v.Known || !slices.Contains(ipTargets, v.Text)
	case 'm':
		k.loaded = append(k.loaded, v.Text)
		if v.Known && !slices.Contains(ipMatches, v.Text) {
			if meant := near(v.Text, ipMatches); meant != "" {
				return refuse(v, "iptables has no match of this name", meant)
			}
		}
		k.strange = k.strange || !v.Known || !slices.Contains(ipMatches, v.Text)
	}
	return nil
}

// whole looks at what the options say together.
func (k *ipTablesCheck) whole(made map[string]bool) *Refusal {
	table := k.table.Text
	switch {
	case k.table.Text != "" && !k.table.Known || !k.chain.Known && k.chain.Text != "":
		return nil
	case table == "":
		table = "filter"
	}
	builtin, has := chainsOf[table]
	switch {
	case has:
	case strings.ToLower(table) != table:
		return nil // it stands for one
	default:
		return refuse(k.table, "iptables has no table of this name", near(table, []string{"filter", "nat", "mangle", "raw", "security"}))
	}
	chain := k.chain.Text
	switch k.op {
	case 'N':
		made[chain] = true
		return nil
	case 'A', 'I', 'R', 'P':
	default:
		return nil
	}
	if bad := k.chainOf(table, builtin, made); bad != nil {
		return bad
	}
	switch {
	case k.op == 'P' && k.target.Known && k.target.Text != "ACCEPT" && k.target.Text != "DROP":
		return refuse(k.target, "a policy is ACCEPT or DROP", "")
	case k.op == 'P' || k.target.Text == "" || !k.target.Known:
		return nil
	case !slices.Contains(ipTargets, k.target.Text):
		if meant := near(k.target.Text, ipTargets); meant != "" && !made[k.target.Text] {
			return refuse(k.target, "it is no target of iptables and no chain that is made before", meant)
		}
		return nil
	}
	if in := natTargets[k.target.Text]; in != nil {
		switch {
		case table != "nat":
			return refuse(k.target, "the table "+table+" has no such target, it is one of -t nat", "")
		case slices.Contains(builtin, chain) && !slices.Contains(in, chain):
			return refuse(k.target, "it works in "+strings.Join(in, " and ")+" only", "")
		}
	}
	switch {
	case k.out.Text != "" && (chain == "PREROUTING" || chain == "INPUT"):
		return refuse(k.out, "packets in "+chain+" have no interface that they leave by", "")
	case k.in.Text != "" && (chain == "POSTROUTING" || chain == "OUTPUT"):
		return refuse(k.in, "iptables takes no interface that packets came from in "+chain, "")
	}
	return nil
}

// chainOf looks at the chain of a rule.
func (k *ipTablesCheck) chainOf(table string, builtin []string, made map[string]bool) *Refusal {
	chain := k.chain.Text
	if chain == "" || made[chain] || slices.Contains(builtin, chain) {
		return nil
	}
	for _, other := range chainsOf {
		if !slices.Contains(other, chain) {
			continue
		}
		tables := ""
		for _, name := range []string{"filter", "nat", "mangle"} {
			if slices.Contains(chainsOf[name], chain) {
				tables += " -t " + name
			}
		}
		return refuse(k.chain, "the table "+table+" has no such chain (it is one of"+tables+")", "")
	}
	if meant := near(chain, builtin); meant != "" {
		return refuse(k.chain, "the table "+table+" has no such chain and none is made before", meant)
	}
	return nil
}
