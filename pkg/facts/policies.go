package facts

import (
	"cmp"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// readPolicyBlocks collects the address ranges that policies and cloud firewalls
// name as sources or destinations.
func readPolicyBlocks(ix *index, cs *clusterSet) []PolicyBlock {
	r := &policyReader{ix: ix, cs: cs}
	for _, o := range ix.ofKind("networking.k8s.io", "NetworkPolicy") {
		r.native(o)
	}
	for _, kind := range []string{"CiliumNetworkPolicy", "CiliumClusterwideNetworkPolicy"} {
		for _, o := range ix.ofKind("cilium.io", kind) {
			specs := append([]node{root(o).get("spec")}, root(o).get("specs").items()...)
			for _, spec := range specs {
				r.cilium(o, spec)
			}
		}
	}
	for _, group := range []string{"projectcalico.org", "crd.projectcalico.org"} {
		for _, kind := range []string{"NetworkPolicy", "GlobalNetworkPolicy"} {
			for _, o := range ix.ofKind(group, kind) {
				r.calico(o)
			}
		}
	}
	for _, o := range ix.cloud("Firewall") {
		if cloudSpec(o).get("disabled").boolean() == Present {
			continue
		}
		r.add(o, cloudSpec(o).get("sourceRanges"), true, false)
		r.add(o, cloudSpec(o).get("destinationRanges"), false, false)
	}
	slices.SortStableFunc(r.out, func(a, b PolicyBlock) int { return compareRefs(a.Ref, b.Ref) })
	return orEmpty(r.out)
}

// native reads Kubernetes' own NetworkPolicy.
func (r *policyReader) native(o *source.Object) {
	spec := root(o).get("spec")
	for _, side := range []struct {
		rules, peers string
		source       bool
	}{{"ingress", "from", true}, {"egress", "to", false}} {
		if !inForce(spec.get("policyTypes"), side.rules) {
			continue
		}
		for _, rule := range spec.get(side.rules).items() {
			for _, peer := range rule.get(side.peers).items() {
				block := peer.get("ipBlock")
				r.add(o, block.get("cidr"), side.source, false)
				r.add(o, block.get("except"), side.source, true)
				r.exceptsOutside(block)
			}
		}
	}
}

// calico reads a policy of Calico, of one namespace or of all.
func (r *policyReader) calico(o *source.Object) {
	for _, direction := range []string{"ingress", "egress"} {
		if !inForce(root(o).get("spec", "types"), direction) {
			continue
		}
		for _, rule := range root(o).get("spec", direction).items() {
			r.add(o, rule.get("source", "nets"), true, false)
			r.add(o, rule.get("source", "notNets"), true, true)
			r.add(o, rule.get("destination", "nets"), false, false)
			r.add(o, rule.get("destination", "notNets"), false, true)
		}
	}
}

// inForce: rules of a direction that a policy does not list count for nothing.
func inForce(types node, direction string) bool {
	return !types.exists() || slices.ContainsFunc(types.texts(), func(n node) bool { return strings.EqualFold(n.text(), direction) })
}

type policyReader struct {
	ix  *index
	cs  *clusterSet
	out []PolicyBlock
}

// exceptsOutside notes what an ipBlock of Kubernetes excepts without holding it:
// the API server asks for a part of the block that is smaller than the block.
func (r *policyReader) exceptsOutside(block node) {
	whole := grammar.ParsePrefix(strings.TrimSpace(block.get("cidr").text()), 0)
	if !whole.Valid || whole.Bare {
		return
	}
	for _, item := range block.get("except").texts() {
		e := grammar.ParsePrefix(strings.TrimSpace(item.text()), 0)
		if !e.Valid || e.Bare || whole.Prefix.Bits() < e.Prefix.Bits() && whole.Prefix.Contains(e.Prefix.Addr()) {
			continue
		}
		r.ix.invalidRange(InvalidRange{
			Ref: item.ref(), Text: item.text(), Says: "ipBlock.except", Why: "it is no part of " + whole.Prefix.String(),
			Fate: "the API server refuses the policy",
		})
	}
}

func (r *policyReader) cilium(o *source.Object, spec node) {
	for _, side := range []struct {
		rules, direction string
		source           bool
	}{{"ingress", "from", true}, {"egress", "to", false}} {
		for _, rule := range spec.get(side.rules).items() {
			r.add(o, rule.get(side.direction+"CIDR"), side.source, false)
			for _, set := range rule.get(side.direction + "CIDRSet").items() {
				r.add(o, set.get("cidr"), side.source, false)
				r.add(o, set.get("except"), side.source, true)
			}
		}
	}
}

// add takes a prefix or a list of them. What the API server would refuse is
// noted as such.
func (r *policyReader) add(o *source.Object, n node, source, except bool) {
	for _, item := range append(n.texts(), n) {
		text, is := item.str()
		if !is {
			continue
		}
		e := grammar.ParsePrefix(strings.TrimSpace(text), 0)
		if ofKubernetes := o.Kind == "NetworkPolicy" && groupOf(o) == "networking.k8s.io"; ofKubernetes && (!e.Valid || e.Bare) && !e.Unknown && meantAsRange(text) {
			why := "it is no prefix"
			if e.Bare {
				why = "it is an address without a mask"
			}
			r.ix.invalidRange(InvalidRange{
				Ref: item.ref(), Text: text, Says: cmp.Or(map[bool]string{true: "ipBlock.except"}[except], "ipBlock.cidr"), Why: why,
				Fate: "the API server refuses the policy",
			})
		}
		if !e.Valid {
			continue
		}
		name, known := r.cs.name(o)
		r.out = append(r.out, PolicyBlock{
			Object: nameOf(o), Cluster: name, Known: known, Prefix: e.Prefix.String(), Ref: item.ref(), Except: except, Source: source,
		})
	}
}
