package facts

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// ciliumReleases reads the agent that a release of Cilium's chart turns on. The
// chart itself mostly lies in a registry; its values say whether there is an agent
// and hold its list, else the agent's ConfigMap lies in the release's namespace
// (FG A5.1). A chart that was rendered speaks for itself. An agent without
// bpf.masquerade needs what lies elsewhere.
func (r *agentReader) ciliumReleases() []UnreadList {
	if r.unplaced {
		return nil
	}
	var unread []UnreadList
	for _, f := range r.cs.founded {
		if m := f.Plan.Masquerade; f.Elsewhere || f.gke != nil || r.hasAgent(f.Name) || m.State != Absent && m.Value != agentCilium {
			continue
		}
		c := (&masqScope{ix: r.ix, cs: r.cs, f: f}).cilium()
		if c == nil || c.values == nil || c.agent != Present || c.bpf != Present {
			continue
		}
		a := ciliumListOf(c)
		if a.List.Source == "default" {
			list, known := r.ciliumListBeside(c, f, a)
			if unread = append(unread, list...); !known {
				continue
			}
		}
		a.Cluster = f.Name
		if a.List.Source == "unknown" && len(a.List.Refused) == 0 {
			r.ix.gapAt(finding.Unresolved, c.object, a.List.Ref, "the exemption list of "+a.Object.String(), a.List.unread,
				"what it masquerades on the way to a VPN is unknown", "VPN201", "VPN202", "VPN203")
		}
		r.add(a, flags{allReserved: Present, ipv6: Present}, f, false)
	}
	return unread
}

// ciliumListBeside looks for the agent's ConfigMap where the chart writes none; false
// where it may be one that cannot be seen.
func (r *agentReader) ciliumListBeside(c *ciliumSettings, f *founded, a *Agent) (unread []UnreadList, known bool) {
	cm, state := r.ix.find("ConfigMap", releaseNamespace(c.object), masqName, c.object)
	if state != Present {
		return nil, state == Absent
	}
	if text := root(cm).get("data", "config"); text.exists() {
		file := mountedFile{Path: masqConfig, Text: text.text(), State: Present, Ref: text.ref()}
		a.List = readList(ciliumDialect(), flags{allReserved: Present, ipv6: Present}, []mountedFile{file}, a.Ref)
		r.readBy[cm.ID] = true
		return nil, true
	}
	if key, listed := masqKey(cm); listed {
		r.readBy[cm.ID] = true
		unread = append(unread, UnreadList{
			Object: nameOf(cm), Ref: key.ref(), Cluster: f.Name, Wrong: "key",
			Why: "Cilium's agent mounts the key config of it, and nothing else",
		})
	}
	return unread, true
}

// ciliumListOf reads ipMasqAgent.config of the chart, which it writes into the
// agent's file as it is; without one it writes none (FG A5.1-A5.3).
func ciliumListOf(c *ciliumSettings) *Agent {
	config, state := c.values.lookup("ipMasqAgent", "config")
	_, at := c.values.flag(Absent, "ipMasqAgent", "enabled")
	a := &Agent{Kind: agentCilium, Ref: at, Object: nameOf(c.object)}
	a.List = List{Source: "explicit", Ref: config.ref(), Why: "nonMasqueradeCIDRs", Valid: Present, Entries: []PrefixAt{}}
	unknown := func(why reason) *Agent {
		where := config.ref()
		if where.IsZero() {
			where = at
		}
		a.List = unreadList(where, why)
		return a
	}
	switch {
	case state == Unknown:
		return unknown(because("ipMasqAgent.config may be set by values that are not in the tree", lintWithValues))
	case len(config.keys()) == 0 && config.exists() && !config.isMap():
		return unknown(because("ipMasqAgent.config cannot be read", noAdvice))
	case len(config.keys()) == 0:
		a.List.Source, a.List.Ref, a.List.Valid, a.List.Why = "default", at, Unknown, "ipMasqAgent is on and nothing in the tree is its list"
		return a
	}
	for _, key := range config.keys() {
		if !strings.EqualFold(key, "nonMasqueradeCIDRs") {
			continue
		}
		list := config.get(key)
		a.List.Ref = list.ref()
		if items := list.items(); list.exists() && items == nil {
			if _, isList := list.val.([]any); !isList {
				return unknown(because("nonMasqueradeCIDRs is no list", noAdvice))
			}
		}
		for _, item := range list.items() {
			e := grammar.ParsePrefix(item.text(), 0)
			switch {
			case e.Unknown || placeholder(item.text()) != "":
				return unknown(filledIn("the list"))
			case !e.Valid || e.Bare:
				says := quoted(item) + " is no prefix"
				if e.Bare {
					says = quoted(item) + " is an address without a mask"
				}
				a.List.Refused = append(a.List.Refused, RefusedConfig{Ref: item.ref(), Says: says, Fate: ciliumDialect().fate})
			default:
				a.List.Entries = append(a.List.Entries, PrefixAt{Prefix: e.Prefix.Masked().String(), Text: item.text(), Ref: item.ref()})
			}
		}
	}
	if len(a.List.Refused) > 0 {
		a.List.Source, a.List.Valid, a.List.Entries = "unknown", Absent, nil
		a.List.Why = "the agent refuses its configuration: " + a.List.Refused[0].Says
	} else if len(a.List.Entries) == 0 {
		a.List.Why = "the list is empty: everything is masqueraded"
	}
	return a
}

func quoted(n node) string {
	text, _ := n.scalar()
	return strconv.Quote(clip(text))
}

// releaseNamespace is where the objects of a release come to lie.
func releaseNamespace(o *source.Object) string {
	spec := root(o).get("spec")
	if o.Kind == "Application" {
		return spec.get("destination", "namespace").text()
	}
	return cmp.Or(spec.get("targetNamespace").text(), o.Namespace)
}
