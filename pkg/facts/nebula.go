package facts

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// nebula reads the configuration of a Nebula node: the networks that it sends into the
// overlay besides the overlay's own, which stands in its certificate (FG C7).
func (r *tunnelReader) nebula() {
	t := r.t
	t.Interface = ""
	f := r.nebulaFile()
	switch f.State {
	case Absent:
		r.unknownRoutes(notInTree("its configuration", lintWithVPNConfig), anchorOf(f.Ref, t.ContainerRef))
		return
	case Unknown:
		r.unknownRoutes(f.Why, anchorOf(f.Ref, t.ContainerRef))
		return
	}
	t.Config = f.Ref
	docs, broken := grammar.ParseDocuments(f.Text)
	switch {
	case len(broken) > 0:
		r.unknownRoutes(because("its reader refuses "+f.Path+", which is not YAML from here on", correctLine), f.Ref.Within(broken[0].Start, broken[0].End))
		return
	case len(docs) != 1:
		r.unknownRoutes(because(f.Path+" is not one YAML document", correctIt), f.Ref)
		return
	}
	r.nebulaTun(docs[0], f)
}

// nebulaFile is the configuration: the one that the command line names, else the
// image's. Of a directory nebula takes all files together.
func (r *tunnelReader) nebulaFile() mountedFile {
	globs := r.globs("nebula", "/config/config.yml")
	for _, c := range r.c.commands() {
		args := append([]string{c.words0()}, c.args()...) // without a command of one's own the first is a flag
		for i, arg := range args {
			name, value, has := strings.Cut(strings.TrimLeft(arg, "-"), "=")
			switch {
			case name != "config" || !strings.HasPrefix(arg, "-"):
			case has:
				globs = []string{value}
			case i+1 < len(args):
				globs = []string{args[i+1]}
			}
		}
	}
	for _, name := range globs {
		if !strings.HasPrefix(name, "/") {
			continue
		}
		dir := strings.TrimSuffix(name, "/")
		files := r.c.files(name, dir+"/*.yml", dir+"/*.yaml")
		switch {
		case len(files) == 1:
			return files[0]
		case len(files) > 1:
			return mountedFile{State: Unknown, Ref: files[0].Ref, Why: because("several files make its configuration together, which are not merged here", noAdvice)}
		}
	}
	return mountedFile{State: Absent}
}

// nebulaTun reads the device: whether there is one, and what is sent into it.
func (r *tunnelReader) nebulaTun(doc *grammar.Document, f mountedFile) {
	t := r.t
	at := func(keys ...string) source.Ref {
		place, _ := doc.Place(keys...)
		return f.Ref.Within(place.Start, place.End)
	}
	refused := func(why string, keys ...string) {
		r.unknownRoutes(because(strings.Join(keys, ".")+" "+why+", and nebula stops there", correctIt), at(keys...))
	}
	config, isMap := doc.Value.(map[string]any)
	tun, hasTun := config["tun"].(map[string]any)
	switch {
	case !isMap:
		r.unknownRoutes(because(f.Path+" is no mapping, and nebula stops there", correctIt), f.Ref)
		return
	case !hasTun && config["tun"] != nil:
		r.unknownRoutes(because("tun is no mapping, and nebula takes its defaults instead", correctIt), at("tun"))
		return
	}
	if disabled, is := nebulaSwitch(tun["disabled"]); !is {
		r.unknownRoutes(because("tun.disabled is neither true nor false, and nebula takes its default instead", correctIt), at("tun", "disabled"))
		return
	} else if disabled {
		t.UserSpace = Present
		r.takesNothing("tun.disabled: a lighthouse or relay without a device")
		return
	}
	if dev, is := tun["dev"].(string); is {
		t.Interface = dev
	}
	if mtu, has := tun["mtu"]; has {
		text, _ := source.ScalarText(mtu)
		r.interfaceMTU(text, at("tun", "mtu"), "tun.mtu: "+clip(text))
	}
	if system, is := nebulaSwitch(tun["use_system_route_table"]); !is || system {
		r.unknownRoutes(because("tun.use_system_route_table takes the routes of the system", noAdvice), at("tun", "use_system_route_table"))
		return
	}
	list, isList := tun["unsafe_routes"].([]any)
	if !isList && tun["unsafe_routes"] != nil {
		refused("is no list", "tun", "unsafe_routes")
		return
	}
	var routes []PrefixAt
	for i, entry := range list {
		route, wrong := nebulaRoute(entry)
		keys := []string{"tun", "unsafe_routes", strconv.Itoa(i)}
		if wrong.key != "" {
			keys = append(keys, wrong.key)
		}
		switch {
		case wrong.why == "" && route.Unknown, wrong.why != "" && placeholder(wrong.text) != "":
			r.unknownRoutes(filledIn("an entry of tun.unsafe_routes"), at(keys...))
			return
		case wrong.why != "" && meantAsRange(wrong.text) && wrong.key == "route":
			r.pod.ix.invalidRange(InvalidRange{
				Pod: r.pod.pod.ID, Ref: at(keys...), Text: wrong.text, Says: "tun.unsafe_routes", Why: "it " + wrong.why, Fate: "nebula stops there and the overlay does not come up",
			})
			t.Routes = Routes{State: Unknown, Ref: at(keys...), Why: "tun.unsafe_routes"}
			return
		case wrong.why != "":
			refused(wrong.why, keys...)
			return
		case route.Valid:
			p, _ := prefixAt(route, at("tun", "unsafe_routes", strconv.Itoa(i), "route"))
			routes = append(routes, p)
		}
	}
	overlay := because("it stands in the node's certificate, which is not read", writeRangeInPlan)
	if len(routes) == 0 {
		r.unknownRoutes(because("nebula takes no network besides the overlay's own, which stands in its certificate and is not read", writeRangeInPlan), f.Ref)
		return
	}
	t.Routes = Routes{State: Present, Prefixes: routes, Default: hasDefault(routes), Ref: routes[0].Ref, Why: "tun.unsafe_routes", MoreSpecificWin: true}
	r.pod.ix.gapAt(finding.Unresolved, r.pod.object, f.Ref, "the overlay's own network of the Nebula node in container "+t.Container, overlay,
		"VPN401 does not compare it", "VPN401")
}

// nebulaWrong is a part of a route that nebula refuses.
type nebulaWrong struct{ key, text, why string }

// nebulaRoute reads an entry of unsafe_routes. One that is not installed is no route of
// the system, and neither valid nor wrong.
func nebulaRoute(entry any) (route grammar.Prefix, wrong nebulaWrong) {
	m, is := entry.(map[string]any)
	if !is {
		return route, nebulaWrong{why: "is no route: a mapping with route and via"}
	}
	for _, key := range []string{"route", "via"} {
		if m[key] == nil {
			return route, nebulaWrong{why: "has no " + key}
		}
	}
	text, _ := source.ScalarText(m["route"])
	if _, err := netip.ParsePrefix(text); err != nil && placeholder(text) == "" {
		return route, nebulaWrong{"route", text, "is no prefix"}
	}
	if via, isText := m["via"].(string); isText {
		if _, err := netip.ParseAddr(via); err != nil && placeholder(via) == "" {
			return route, nebulaWrong{"via", via, "is no address"}
		}
	} else if _, isList := m["via"].([]any); !isList {
		return route, nebulaWrong{key: "via", why: "is neither an address nor a list of gateways"}
	}
	installed, isSwitch := nebulaSwitch(m["install"])
	switch {
	case !isSwitch:
		return route, nebulaWrong{key: "install", why: "is neither true nor false"}
	case m["install"] != nil && !installed:
		return route, wrong
	}
	return grammar.ParsePrefix(text, 0), wrong
}

// nebulaSwitch reads a boolean that may stand in quotes; none is false.
func nebulaSwitch(v any) (on, is bool) {
	text, isText := source.ScalarText(v)
	switch {
	case v == nil:
		return false, true
	case !isText:
		return false, false
	}
	text = strings.ToLower(text)
	return slices.Contains([]string{"true", "1", "t", "y", "yes"}, text), slices.Contains([]string{"true", "1", "t", "y", "yes", "false", "0", "f", "n", "no"}, text)
}
