package facts

import (
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// aksList is the user's ConfigMap of the agent that AKS runs by itself; beside it
// stands one of the same name with reconciled at its end, which AKS writes (FG A3.6).
const (
	aksList    = "azure-ip-masq-agent-config"
	reconciled = "-reconciled"
)

// azureDialect is that of Azure/ip-masq-agent-v2 (FG A3): every file whose name
// begins with ip-masq is read, and the lists are one. As soon as there is a file,
// whatever is in it, the defaults are gone. It knows neither resyncInterval nor
// cidrLimit and reads past them. Mistakes of any kind end it.
func azureDialect() masqDialect {
	return masqDialect{
		kind:         agentAzure,
		files:        []string{masqDir + "/ip-masq*"},
		keepsDefault: func(*grammar.IPMasq) (string, bool) { return "", false },
		tolerates: func(conf *grammar.IPMasq, p grammar.Problem) bool {
			return p.Kind == grammar.TooMany || p.Range == conf.ResyncInterval.Range || p.Range == conf.CIDRLimitRange
		},
		merges:     true,
		needsDir:   true,
		limit:      grammar.DefaultCIDRLimit,
		ipv6ByFlag: true,
		late:       func(name string) bool { return strings.HasSuffix(name, reconciled) },
		fate:       "the agent exits and keeps crashing; the rules of its node stay as they were, and a new node gets none",
	}
}

// aksLists reads the lists of the agent that AKS runs, which no manifest deploys
// (FG A3.6). What AKS itself writes is not in the tree as a rule, so that more is
// exempt than what stands here.
func (r *agentReader) aksLists() {
	if r.unplaced {
		return
	}
	files := map[*founded][]mountedFile{}
	objects := map[*founded]*source.Object{}
	var order []*founded
	for _, o := range r.ix.ofKind("", "ConfigMap") {
		if strings.TrimSuffix(o.Name, reconciled) != aksList || normalNamespace(o.Namespace) != masqNamespace || r.readBy[o.ID] || r.cs.tied(o) {
			continue
		}
		f := r.cs.one(o)
		data := root(o).get("data")
		for _, key := range data.keys() {
			text, is := data.get(key).str()
			if !is || !strings.HasPrefix(key, "ip-masq") {
				continue
			}
			if objects[f] == nil {
				order = append(order, f)
			}
			if objects[f] == nil || o.Name == aksList {
				objects[f] = o
			}
			files[f] = append(files[f], mountedFile{Path: masqDir + "/" + key, Text: text, State: Present, Ref: data.get(key).ref()})
			r.readBy[o.ID] = true
		}
	}
	for _, f := range order {
		a := &Agent{Kind: agentAzure, Object: nameOf(objects[f])}
		if f != nil {
			a.Cluster = f.Name
		}
		if r.hasAgent(a.Cluster) {
			continue
		}
		slices.SortStableFunc(files[f], func(a, b mountedFile) int { return strings.Compare(a.Path, b.Path) })
		fl := flags{allReserved: Unknown, ipv6: Unknown}
		a.List = readList(azureDialect(), fl, files[f], source.Ref{})
		a.List.more = true
		r.openList(a, objects[f], root(objects[f]).ref(), because("AKS writes "+aksList+reconciled+" itself", noAdvice))
		if f != nil {
			plannedElsewise(a, f.Plan.Masquerade)
		}
		r.add(a, fl, f, false)
	}
}
