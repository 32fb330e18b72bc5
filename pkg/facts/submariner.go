package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// submariner: its ranges are the cluster's own, but for those that the clusters
// of a set see of each other.
func (f *founded) submariner(o *source.Object) {
	spec := root(o).get("spec")
	for _, own := range []struct {
		role cidrplan.Role
		key  string
	}{{cidrplan.Pod, "clusterCIDR"}, {cidrplan.Service, "serviceCIDR"}} {
		n, says := spec.get(own.key), "Submariner "+own.key
		if n.text() != "" && f.ix.strangers(o) {
			f.unreadable(cidrplan.Claim{Role: own.role, Says: says}, n, n.ref(), because(
				"objects of Submariner with other values of clusterID stand in the same directory, and it is not known which cluster is looked at",
				"keep what belongs to a cluster in a directory of its own"))
			continue
		}
		f.rangeOf(own.role, n, says)
	}
	for _, key := range []string{"globalCIDR", "clustersetIPCIDR"} {
		f.clusterSetRange(o, spec.get(key), key)
	}
}

// strangers reports whether another of Submariner's objects in the same directory
// says that its cluster has another name.
func (ix *index) strangers(o *source.Object) bool {
	id := root(o).get("spec", "clusterID").text()
	return slices.ContainsFunc(ix.ofKind("submariner.io", "Submariner"), func(other *source.Object) bool {
		return path.Clean(other.Unit) == path.Clean(o.Unit) && root(other).get("spec", "clusterID").text() != id
	})
}

func (f *founded) submarinerBroker(o *source.Object) {
	spec := root(o).get("spec")
	for _, key := range []string{"globalnetCIDRRange", "clustersetIPCIDRRange"} {
		f.clusterSetRange(o, spec.get(key), key)
	}
}

func (f *founded) clusterSetRange(o *source.Object, n node, key string) {
	f.rangeAs(cidrplan.Claim{
		Role: cidrplan.Pool, Says: "Submariner " + key, Strength: cidrplan.Declared, Owner: nameOf(o).String(),
	}, n)
}

// member is a cluster that Submariner joins to others.
type member struct {
	in *founded
	id string // its clusterID
}

// clusterSets are the pod and service ranges of clusters that lie in those of others
// which Submariner joins to them. Without globalnet it routes these ranges as they
// are: each is a destination behind the VPN of all other members. What says whether
// there is a globalnet must be in view: the object itself, and a Broker that turns it on.
func clusterSets(ix *index, cs *clusterSet) []cidrplan.Claim {
	for _, o := range ix.ofKind("submariner.io", "Broker") {
		if root(o).get("spec", "globalnetEnabled").boolean() != Absent {
			return nil
		}
	}
	sets := map[string][]member{}
	var order []string
	for _, o := range ix.ofKind("submariner.io", "Submariner") {
		spec, f := root(o).get("spec"), cs.one(o)
		if f == nil || f.Elsewhere || spec.get("globalCIDR").exists() && strings.TrimSpace(spec.get("globalCIDR").text()) != "" {
			continue
		}
		broker, id := spec.get("brokerK8sApiServer").text(), spec.get("clusterID").text()
		if broker == "" || id == "" || placeholder(broker+id) != "" {
			continue
		}
		set := broker + " " + spec.get("brokerK8sRemoteNamespace").text()
		if sets[set] == nil {
			order = append(order, set)
		}
		sets[set] = append(sets[set], member{f, id})
	}
	var out []cidrplan.Claim
	for _, set := range order {
		out = append(out, rangesInSet(sets[set])...)
	}
	return out
}

// rangesInSet are the ranges that members of one set share.
func rangesInSet(members []member) []cidrplan.Claim {
	ranged := func(c cidrplan.Claim) bool {
		return c.Prefix.IsValid() && c.Idiom == cidrplan.NoIdiom && c.Strength != cidrplan.Evidence &&
			(c.Role == cidrplan.Pod || c.Role == cidrplan.Service)
	}
	var out []cidrplan.Claim
	for i, a := range members {
		own := prefixSet{}
		for _, c := range a.in.claims {
			if ranged(c) {
				own[c.Prefix] = true
			}
		}
		for j, b := range members {
			if a.in == b.in || a.id == b.id {
				continue
			}
			for _, c := range b.in.claims {
				if !ranged(c) || !own.holds(c.Prefix, i < j) {
					continue
				}
				c.Says = string(c.Role) + " range of cluster " + b.in.Name
				c.Cluster, c.Role, c.Part, c.Owner = a.in.Name, cidrplan.VPN, false, "cluster "+b.in.Name+" behind Submariner without globalnet"
				out = append(out, c)
			}
		}
	}
	return out
}
