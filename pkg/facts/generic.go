package facts

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// read fills the tunnel: what the image does by default, what its variables
// change about that, what is peculiar to the technology, and last what scripts
// of the pod add.
func (r *tunnelReader) read() {
	r.defaults()
	r.decideSide()
	r.settings()
	if made, iface, is := r.c.handMade(); is && byHandIn(r.family) {
		r.byHand(made, iface)
	} else {
		r.technology()
	}
	r.podScripts()
	r.lasts()
}

// defaults takes over what the catalogue says of the image with nothing set.
// Conditional defaults stay unknown until something decides them.
func (r *tunnelReader) defaults() {
	t, d := r.t, r.family.Defaults
	at := t.ContainerRef
	if len(r.family.Kinds) > 0 {
		t.Kind = r.family.Kinds[0]
	}
	switch r.family.Role {
	case images.Server, images.Gateway:
		t.Side = "server"
	case images.Client, images.Proxy:
		t.Side = "client"
	case images.Mesh:
		t.Side = "mesh"
	}
	says := r.family.Title + "'s default"
	t.KillSwitch = Switch{State: Known(d.HasKillSwitch.Known()), Ref: at, Why: says}
	t.Masquerade = Switch{State: Known(d.Masquerades.Known()), Ref: at, Why: r.family.Title + " masquerades by itself"}
	if t.Masquerade.State == Absent {
		t.Masquerade.Why = r.family.Title + " does not masquerade by itself"
	}
	t.Resolver.Rewrites, t.Resolver.Why = Known(d.RewritesDNS.Known()), says
	t.RepliesKept = Known(d.KeepsReplies.Known())
	switch d.CapturesDefaultRoute.Known() {
	case images.Yes:
		r.takesDefault(at, says, "0.0.0.0/0")
		t.Routes.MoreSpecificWin = true
	case images.No:
		r.takesNothing(says)
	}
	for _, p := range d.DefaultClientPool {
		if at, valid := prefixAt(grammar.ParsePrefix(p, 0), at); valid {
			t.Pool = append(t.Pool, at)
		}
	}
}

// settings reads the variables that the catalogue knows.
func (r *tunnelReader) settings() {
	keys := r.family.Env
	r.podRoutes(keys.PodRoutes)
	r.exemptions(keys.LocalExempt)
	r.pools(keys.ClientPool)
	r.killSwitches(keys.KillSwitch)
	r.clientRoutes(keys.ClientRoutes)
	r.advertised(keys.Advertised)
}

// lookup returns the value of a key that is no series, under the name by which
// it is set.
func (r *tunnelReader) lookup(k images.Key) (value, string) {
	for _, name := range append([]string{k.Key}, k.Aliases...) {
		if name != "" && r.namesEnv(name) {
			return r.c.env(name), name
		}
	}
	return r.c.env(k.Key), k.Key
}

// applies: the key counts for the side of this container.
func (r *tunnelReader) applies(k images.Key) bool {
	return k.OnlyWhen == "" || k.OnlyWhen == r.t.Side
}

// reads reports whether the image's version reads the key.
func (r *tunnelReader) reads(k images.Key) Known { return Known(k.Read(r.c.image.Version)) }

// versionFrom reports whether the image has at least a version.
func (r *tunnelReader) versionFrom(text string) Known {
	v := images.ParseVersion(text)
	return Known(r.c.image.Version.AtLeast(v.Major, v.Minor))
}

// versionUpTo reports whether the image has at most a version.
func (r *tunnelReader) versionUpTo(text string) Known {
	v := images.ParseVersion(text)
	return Known(r.c.image.Version.AtLeast(v.Major, v.Minor+1)).not()
}

// podRoutes reads what the pod sends into the tunnel.
func (r *tunnelReader) podRoutes(keys []images.Key) {
	for _, k := range keys {
		if k.Parse != "" || k.KeyPrefix != "" || !r.applies(k) {
			continue
		}
		if v, name := r.lookup(k); v.State != Absent {
			r.routesFrom(name, v, k.Sep)
		}
	}
}

// routesFrom makes the tunnel's routes from a list in a variable.
func (r *tunnelReader) routesFrom(name string, v value, separators string) {
	rt := &r.t.Routes
	if v.State == Unknown {
		if !r.namesEnv(name) {
			return // some unseen bundle may set it; the default is what is in view
		}
		rt.State, rt.Default, rt.Prefixes, rt.Ref, rt.Why = Unknown, false, nil, v.Ref, name
		r.missed(v.Why.of(name+": "), v.Ref, aspectRoutes)
		return
	}
	list := prefixList(v, separators)
	if r.listRefused(name, v, separators, "its reader refuses the list, and the tunnel does not come up") {
		rt.State, rt.Default, rt.Prefixes, rt.Ref, rt.Why = Unknown, false, nil, v.Ref, name
		return
	}
	if len(list) == 0 {
		return
	}
	rt.State, rt.Prefixes, rt.Default = Present, list, hasDefault(list)
	main := mainRoute(list)
	rt.Ref, rt.Why = main.Ref, name+"="+main.Text
}

// exemptions reads the bypass list. The first key is the one to write a
// missing list under.
func (r *tunnelReader) exemptions(keys []images.Key) {
	b := &r.t.Bypass
	for _, k := range keys {
		if k.KeyPrefix != "" {
			r.exemptionSeries(k)
			continue
		}
		separated := r.separate(&k)
		if b.Key == "" {
			b.Key, b.Separator, b.Ref = k.Key, k.Sep, r.t.ContainerRef
		}
		v, name := r.lookup(k)
		if v.State == Absent {
			continue
		}
		if !separated {
			v = value{State: Unknown, Ref: v.Ref, Why: because("its separator, "+k.SepFrom+", is not known", noAdvice)}
		}
		read := r.reads(k)
		if v.State == Unknown {
			b.State = Unknown
			if r.namesEnv(name) {
				b.Key, b.Separator, b.Ref = name, k.Sep, v.Ref
			}
			r.missed(v.Why.of(name+": "), v.Ref, aspectBypass)
			continue
		}
		if b.State == Absent {
			b.Key, b.Separator, b.Ref = name, k.Sep, v.Ref
		}
		switch read {
		case Absent:
			r.malformed(Malformed{Text: name, Ref: v.Ref, Effect: "ignored", Why: name + " is not read by this version"})
			continue
		case Unknown:
			b.State = Unknown
			r.missed(readByVersion(name), v.Ref, aspectBypass)
			continue
		}
		if name != k.Key {
			r.malformed(Malformed{Text: name, Ref: v.Ref, Effect: "renamed", Why: name + " is an old name of " + k.Key})
		}
		r.exemptionList(k, name, v)
	}
}

// separate puts the separator of a list right; false when it is not known.
func (r *tunnelReader) separate(k *images.Key) bool {
	if k.SepFrom == "" {
		return true
	}
	switch v := r.c.env(k.SepFrom); {
	case v.State == Unknown && r.namesEnv(k.SepFrom):
		return false
	case v.State == Present && v.Text != "":
		k.Sep = v.Text
	}
	return true
}

// exemptionSeries reads one network a variable: KEY, KEY_2, KEY_3.
func (r *tunnelReader) exemptionSeries(k images.Key) {
	b := &r.t.Bypass
	if b.Key == "" {
		b.Key, b.Separator, b.Ref = k.KeyPrefix, k.Sep, r.t.ContainerRef
	}
	for _, v := range r.c.envWithPrefix(k.KeyPrefix) {
		if !k.Is(v.Name) {
			continue
		}
		if v.State == Unknown {
			b.State = Unknown
			r.missed(v.Why.of(v.Name+": "), v.Ref, aspectBypass)
			continue
		}
		if b.State == Absent {
			b.Ref = v.Ref
		}
		r.exemptionList(k, v.Name, v.value)
	}
	if opaque := r.c.env(k.KeyPrefix); opaque.State == Unknown && !r.namesEnv(k.KeyPrefix) {
		b.State = Unknown
		r.missed(opaque.Why, opaque.Ref, aspectBypass)
	}
}

// exemptionList takes over the entries of one list, and what is wrong with it.
func (r *tunnelReader) exemptionList(k images.Key, name string, v value) {
	b := &r.t.Bypass
	list := grammar.ParsePrefixes(v.Text, 0, k.Sep)
	refused := false
	for _, p := range list {
		at := v.within(p.Start, p.End)
		entry, valid := prefixAt(p, at)
		switch {
		case p.Unknown:
			b.State = Unknown
			r.missed(because(name+" holds "+clip(p.Text)+", which is filled in later", lintApplied), at, aspectBypass)
		case !valid:
			refused = true
			r.malformed(Malformed{Text: p.Text, Ref: at, Effect: "refused", Why: name + " " + wants(k.Sep) + ", and " + clip(p.Text) + " is no prefix"})
		case p.Bare && k.LengthRequired:
			refused = true
			r.malformed(Malformed{Text: p.Text, Ref: at, Effect: "refused", Why: name + " takes prefixes only, and " + p.Text + " has no length; write " + entry.Prefix})
		case k.InMain == images.MainRoute && strings.HasSuffix(entry.Prefix, "/0"):
			r.malformed(Malformed{
				Text: p.Text, Ref: at, Effect: "ignored",
				Why: name + " holds " + p.Text + ", which the image makes a default route, and every route of the tunnel comes before that",
			})
		case rejected(k.Rejects, entry):
			refused = true
			r.malformed(Malformed{Text: p.Text, Ref: at, Effect: "refused", Why: name + " does not take " + entry.Prefix})
		case p.HostBits:
			effect, why := "unclear", name+" holds "+p.Text+"; the network is "+entry.Prefix
			switch {
			case k.CanonicalRequired:
				refused, effect = true, "refused"
			case k.InMain == images.MainRoute:
				effect, why = "noroute", name+" holds "+p.Text+", which the image hands to ip route, and the kernel takes no route with bits set right of the mask; the network is "+entry.Prefix
			}
			r.malformed(Malformed{Text: p.Text, Ref: at, Effect: effect, Why: why})
			r.exempt(k, entry)
		default:
			r.exempt(k, entry)
		}
	}
	switch {
	case refused:
		// The image stops or drops the list; what it then takes is not the
		// question any more.
		b.State = Unknown
	case b.State == Absent && len(list) > 0:
		b.State = Present
	}
}

// exempt takes over an entry of a list, with what may win over it.
func (r *tunnelReader) exempt(k images.Key, entry PrefixAt) {
	b := &r.t.Bypass
	b.Entries = append(b.Entries, entry)
	if k.InMain != images.OwnTable {
		b.Contended = append(b.Contended, ContendedEntry{Entry: entry, Rule: k.InMain == images.MainRule})
	}
}

func rejected(list []string, entry PrefixAt) bool {
	for _, text := range list {
		if p, err := netip.ParsePrefix(text); err == nil && p.String() == entry.Prefix {
			return true
		}
	}
	return false
}

// wants says how a list is separated.
func wants(separators string) string {
	if separators == "" {
		return "takes one network"
	}
	var names []string
	for _, s := range []struct{ char, name string }{{",", "commas"}, {";", "semicolons"}, {" ", "blanks"}} {
		if strings.Contains(separators, s.char) {
			names = append(names, s.name)
		}
	}
	if len(names) == 0 {
		names = append(names, clip(separators))
	}
	return "is separated by " + strings.Join(names, " or ")
}

func (r *tunnelReader) malformed(m Malformed) {
	r.t.Bypass.Malformed = append(r.t.Bypass.Malformed, m)
}

// pools replaces the default client pool by the one that variables name.
func (r *tunnelReader) pools(keys []images.Key) {
	t := r.t
	var found []PrefixAt
	set := false
	for i, k := range keys {
		if k.Form == images.Netmask || !r.applies(k) {
			continue
		}
		v, _ := r.lookup(k)
		if v.State != Absent && r.namesEnv(k.Key) {
			set = true
		} else if k.Default != "" {
			v = value{State: Present, Text: k.Default, Ref: t.ContainerRef, Moved: true}
		}
		if v.State != Present || contains(k.OffValues, v.Text) {
			continue
		}
		mask := value{}
		if i+1 < len(keys) && keys[i+1].Form == images.Netmask {
			if mask, _ = r.lookup(keys[i+1]); mask.State == Absent {
				mask = value{State: Present, Text: keys[i+1].Default}
			}
		}
		pool := poolOf(k.Form, v, mask, k.Sep)
		if len(pool) == 0 || k.Form == images.Plain {
			r.poolRefused(k, v, mask)
		}
		found = append(found, pool...)
	}
	if set {
		t.Pool = found
	}
}

// poolRefused notes a pool that its reader refuses.
func (r *tunnelReader) poolRefused(k images.Key, v, mask value) {
	const fate = "its reader refuses it, and the server does not come up"
	switch {
	case v.Ref == r.t.ContainerRef || !strings.ContainsAny(v.Text, "0123456789") || placeholder(v.Text) != "" || strings.Contains(v.Text, "$"):
	case k.Form == images.Plain && (mask.State != Present || strings.Contains(v.Text, "/")):
		r.listRefused(k.Key, v, k.Sep, fate)
	default:
		r.pod.ix.gapAt(finding.Unresolved, r.pod.object, v.Ref, "the client pool of container "+r.c.c.Name,
			because(k.Key+": "+strconv.Quote(clip(v.Text))+" is no network that it takes", correctIt), fate, aspectPool.rules()...)
	}
}

// poolOf reads a pool in the form that its variable has.
func poolOf(form images.Form, v, mask value, separators string) []PrefixAt {
	text := strings.TrimSpace(v.Text)
	one := func(prefix netip.Prefix, ok bool) []PrefixAt {
		if !ok {
			return nil
		}
		return []PrefixAt{{Prefix: prefix.Masked().String(), Text: text, Ref: v.Ref}}
	}
	switch form {
	case images.Network24: // the last number is cut off, with what stands behind it
		text, _, _ := strings.Cut(text, "/")
		a, err := netip.ParseAddr(text)
		return one(netip.PrefixFrom(a, 24), err == nil && a.Is4())
	case images.X24:
		a, err := netip.ParseAddr(strings.Replace(text, "x", "0", 1))
		return one(netip.PrefixFrom(a, 24), err == nil && a.Is4())
	case images.Octets24:
		a, err := netip.ParseAddr(text + ".0")
		return one(netip.PrefixFrom(a, 24), err == nil && a.Is4())
	}
	if mask.State == Present && mask.Text != "" && !strings.Contains(text, "/") {
		return one(grammar.ParseNetmask(text, mask.Text))
	}
	return prefixList(value{State: v.State, Text: v.Text, Ref: v.Ref, Moved: v.Moved}, separators)
}

// boundByImage notes the interface that the image's own rule is bound to, by a
// variable or by default, where no hook or script has taken that rule's place. An
// image of which no interface is known finds the uplink by itself, or binds none.
func (r *tunnelReader) boundByImage() {
	if m := r.t.Masquerade; m.State != Present || m.Ref != r.t.ContainerRef || r.c.replacesEntrypoint() {
		return
	}
	for _, k := range r.family.Env.NAT {
		if k.Form != images.Interface {
			continue
		}
		v, name := r.lookup(k)
		text := strings.TrimSpace(v.Text)
		switch read := r.reads(k); {
		case v.State == Unknown || read == Unknown:
		case read == Absent:
		case text != "":
			r.t.MasqueradeOut = append(r.t.MasqueradeOut, OutInterface{Name: text, Ref: v.Ref, Says: name + "=" + clip(text)})
		case k.Default != "":
			r.t.MasqueradeOut = append(r.t.MasqueradeOut, OutInterface{Name: k.Default, Ref: r.t.ContainerRef, Says: name + "=" + k.Default + " by default"})
		}
	}
	if out := r.family.Defaults.MasqueradesOut; out != "" {
		r.t.MasqueradeOut = append(r.t.MasqueradeOut, OutInterface{Name: out, Ref: r.t.ContainerRef, Says: "the image's own -o " + out})
	}
}

// onOrOff says what a switch is.
func onOrOff(state Known) string {
	switch state {
	case Present:
		return "on"
	case Absent:
		return "off"
	default:
		return "as it is"
	}
}

// killSwitches lets variables turn the image's own kill switch on or off.
func (r *tunnelReader) killSwitches(keys []images.Key) {
	ks := &r.t.KillSwitch
	for _, k := range keys {
		v, name := r.lookup(k)
		if v.State == Absent {
			continue
		}
		if v.State == Unknown {
			if r.namesEnv(name) {
				ks.State, ks.Ref, ks.Why = Unknown, v.Ref, name+" is not known"
				r.missed(v.Why.of(name+": "), v.Ref, aspectKillSwitch)
			}
			continue
		}
		on := Known(k.On(v.Text, true))
		switch read := r.reads(k); {
		case read == Absent && on == ks.State.not():
			r.malformed(Malformed{
				Text: name, Ref: v.Ref, Effect: "unread", Why: name + "=" + clip(v.Text) + " is not read by this version, which leaves the kill switch " + onOrOff(ks.State),
			})
		case read == Absent && !isOn(v.Text) && !isOff(v.Text) && strings.TrimSpace(v.Text) != "":
			r.malformed(Malformed{
				Text: name, Ref: v.Ref, Effect: "unread",
				Why: name + "=" + clip(v.Text) + " is neither on nor off, and is not read by this version, which leaves the kill switch " + onOrOff(ks.State),
			})
		case read == Absent:
			continue
		case read == Unknown && on != ks.State:
			ks.State, ks.Ref, ks.Why = Unknown, v.Ref, name
			r.missed(readByVersion(name), v.Ref, aspectKillSwitch)
		case read == Present && on == Present && ks.State == Absent, read == Present && on == Absent, on == Unknown:
			ks.State, ks.Ref, ks.Why = on, v.Ref, name+"="+clip(v.Text)
		}
	}
}

// clientRoutes reads what a server's clients are told to route.
func (r *tunnelReader) clientRoutes(keys []images.Key) {
	t := r.t
	if t.Side != "server" {
		return
	}
	for i, k := range keys {
		if k.Form == images.Netmask || !r.applies(k) {
			continue
		}
		v, _ := r.lookup(k)
		if v.State == Absent && k.Default != "" {
			v = value{State: Present, Text: k.Default, Ref: t.ContainerRef, Moved: true}
		}
		if v.State == Unknown {
			t.Clients.State = Unknown
			continue
		}
		mask := value{}
		if i+1 < len(keys) && keys[i+1].Form == images.Netmask {
			if mask, _ = r.lookup(keys[i+1]); mask.State == Absent {
				mask = value{State: Present, Text: keys[i+1].Default}
			}
		}
		if mask.Text == "" && v.Ref != t.ContainerRef && r.listRefused(k.Key, v, k.Sep, "clients refuse the configuration that holds it") {
			t.Clients.State = Unknown
			continue
		}
		routes := poolOf(images.Plain, v, mask, k.Sep)
		if len(routes) == 0 {
			continue
		}
		t.Clients.Routes = append(t.Clients.Routes, routes...)
		t.Clients.Default = t.Clients.Default || hasDefault(routes)
		if t.Clients.State == Absent {
			t.Clients.State = Present
		}
	}
}

// resolversFor reads a variable that names the clients' resolvers.
func (r *tunnelReader) resolversFor(k images.Key) {
	v, _ := r.lookup(k)
	if v.State != Present {
		return
	}
	for _, p := range grammar.ParsePrefixes(v.Text, 0, ", ") {
		if at, valid := prefixAt(p, v.within(p.Start, p.End)); valid && p.Bare {
			r.t.Clients.Resolvers = append(r.t.Clients.Resolvers, at)
		}
	}
}

// resolverServers makes the tunnel rewrite the resolver with the addresses of a
// variable, or with the image's own when it is not set.
func (r *tunnelReader) resolverServers(key string, fallback ...string) {
	res := &r.t.Resolver
	v := r.c.env(key)
	switch {
	case v.State == Unknown && r.namesEnv(key):
		res.Servers, res.Ref, res.Why = nil, v.Ref, key+" is not known"
	case v.State == Present && strings.TrimSpace(v.Text) != "":
		res.Ref, res.Why = v.Ref, key+"="+clip(v.Text)
		res.Servers = addressList(value{State: Present, Text: strings.NewReplacer(" ", ",", ";", ",").Replace(v.Text)})
	default:
		res.Servers = fallback
	}
}

// resolverByScript: an image whose start script leaves the resolver to the
// OpenVPN configuration.
func (r *tunnelReader) resolverByScript() bool {
	return r.family.Defaults.RewritesDNS == images.DefaultConditional && r.family.ID != "wfg-openvpn-client"
}

// resolverByConf, switchByConf and masqueradeByConf: the configuration file
// alone decides, so that a visible one settles the question.
func (r *tunnelReader) resolverByConf() bool {
	return r.family.Defaults.RewritesDNS == images.DefaultConditional
}

func (r *tunnelReader) switchByConf() bool {
	return r.family.Role == images.Client || r.family.Role == images.Either
}

func (r *tunnelReader) masqueradeByConf() bool {
	return r.family.Defaults.Masquerades == images.DefaultConditional
}

func contains(list []string, s string) bool {
	for _, have := range list {
		if strings.EqualFold(have, s) {
			return true
		}
	}
	return false
}

// files of the catalogue for one grammar.
func (r *tunnelReader) globs(language string, fallback ...string) []string {
	if g := r.family.ConfigFiles[language]; len(g) > 0 {
		return g
	}
	return fallback
}

// readByVersion is the reason of a variable that some versions of the image read.
func readByVersion(name string) reason {
	return because("whether "+name+" is read depends on the image's version, which its tag does not tell", writeTag)
}

// unknownRoutes says why the routes cannot be known.
func (r *tunnelReader) unknownRoutes(why reason, ref source.Ref) {
	r.t.Routes = Routes{State: Unknown, Ref: ref, Why: why.text}
	r.missed(why, ref, aspectRoutes)
}
