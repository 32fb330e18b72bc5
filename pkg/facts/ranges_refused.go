package facts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// This file knows what installers and the API server refuse of ranges that are
// well-formed each for itself: too many of them, or of a size that does not do.

// The bounds of kubeadm (cmd/kubeadm/app/constants): the bits of addresses that a
// service range may have, the fewest addresses of either range, and how many times
// the nodes' ranges are to fit into the pods'.
const (
	kubeadmServiceBits     = 20
	kubeadmLeastServices   = 10
	kubeadmLeastPods       = 14
	kubeadmNodeMask        = 24
	kubeadmNodeMask6       = 64
	kubeadmNodeMaskMaxDiff = 16
)

// rangeEntry is a range of a list and its place.
type rangeEntry struct {
	grammar.Prefix
	n  node
	at source.Ref
}

// entriesOf are the ranges at n: a list, or a text with commas. One that is filled
// in later, or is none, is said by who reads them one by one: the list as a whole
// is then not judged.
func entriesOf(n node) (out []rangeEntry, all bool) {
	items := n.items()
	if items == nil {
		items = []node{n}
	}
	for _, item := range items {
		text, is := item.str()
		if !is {
			return nil, false
		}
		entries := grammar.ParsePrefixes(text, 0, ",")
		for _, e := range entries {
			if e.Unknown || !e.Valid || e.Bare {
				return nil, false
			}
			at := item.ref()
			if len(entries) > 1 || e.Text != text {
				at = item.part(e.Start, e.End)
			}
			out = append(out, rangeEntry{e, item, at})
		}
	}
	return out, true
}

// refuse notes an entry of a list that its reader refuses, with what it does then.
func (f *founded) refuse(e rangeEntry, says, why, fate string) {
	f.ix.invalidRange(InvalidRange{Ref: e.at, Text: e.Text, Says: says, Why: why, Fate: fate})
}

// oneOfEachFamily refuses what is more than one IPv4 and one IPv6 range.
func (f *founded) oneOfEachFamily(entries []rangeEntry, says, fate string) {
	for i, e := range entries {
		is4 := e.Prefix.Prefix.Addr().Is4()
		at := slices.IndexFunc(entries[:i], func(other rangeEntry) bool { return other.Prefix.Prefix.Addr().Is4() == is4 })
		if at < 0 {
			continue
		}
		family := "IPv6"
		if is4 {
			family = "IPv4"
		}
		f.refuse(e, says, fmt.Sprintf("it is the second %s range after %s, and no more than one of each family is taken", family, entries[at].Text), fate)
		return // the list is refused, once
	}
}

// blankBeside refuses an entry with a blank beside it: kubeadm, kind and kube-proxy
// cut the list at its commas, and no address begins or ends with a blank.
func (f *founded) blankBeside(n node, says, fate string) bool {
	text, is := n.str()
	if !is {
		return false
	}
	start := 0
	for _, piece := range strings.Split(text, ",") {
		e := grammar.ParsePrefix(strings.TrimSpace(piece), 0)
		if e.Valid && !e.Bare && e.Text != piece {
			f.refuse(rangeEntry{e, n, n.part(start, start+len(piece))}, says, "a blank stands beside it, and the list is cut at its commas alone", fate)
			return true // the list is refused, once
		}
		start += len(piece) + 1
	}
	return false
}

// kubeadmSubnets refuses what kubeadm does of a ClusterConfiguration's ranges. The
// size of the pod range is held against the nodes' only where no flag of the
// controller manager has a say in that.
func (f *founded) kubeadmSubnets(conf fields) {
	flags := slices.ContainsFunc(conf("controllerManager", "extraArgs"), node.exists)
	for _, n := range conf("networking", "podSubnet") {
		entries, all := entriesOf(n)
		if f.blankBeside(n, "podSubnet", fateOfCluster(n.obj)) || !all {
			continue
		}
		f.oneOfEachFamily(entries, "podSubnet", fateOfCluster(n.obj))
		for _, e := range entries {
			if why := kubeadmRefusesPods(e.Prefix, flags); why != "" {
				f.refuse(e, "podSubnet", why, fateOfCluster(n.obj))
			}
		}
	}
	for _, n := range conf("networking", "serviceSubnet") {
		entries, all := entriesOf(n)
		if f.blankBeside(n, "serviceSubnet", fateOfCluster(n.obj)) || !all {
			continue
		}
		f.oneOfEachFamily(entries, "serviceSubnet", fateOfCluster(n.obj))
		for _, e := range entries {
			if why := kubeadmRefusesServices(e.Prefix); why != "" {
				f.refuse(e, "serviceSubnet", why, fateOfCluster(n.obj))
			}
		}
	}
}

func kubeadmRefusesServices(e grammar.Prefix) string {
	size := e.Prefix.Addr().BitLen()
	switch host := size - e.Prefix.Bits(); {
	case host > kubeadmServiceBits:
		return fmt.Sprintf("it is wider than a /%d, the widest that kubeadm takes for services", size-kubeadmServiceBits)
	case host < 16 && 1<<host < kubeadmLeastServices:
		return fmt.Sprintf("it has %d addresses, and kubeadm wants %d for services", 1<<host, kubeadmLeastServices)
	}
	return ""
}

func kubeadmRefusesPods(e grammar.Prefix, flags bool) string {
	bits, nodes := e.Prefix.Bits(), kubeadmNodeMask
	if !e.Prefix.Addr().Is4() {
		nodes = kubeadmNodeMask6
	}
	switch host := e.Prefix.Addr().BitLen() - bits; {
	case host < 16 && 1<<host < kubeadmLeastPods:
		return fmt.Sprintf("it has %d addresses, and kubeadm wants %d for pods", 1<<host, kubeadmLeastPods)
	case flags:
		return ""
	case bits > nodes:
		return fmt.Sprintf("each node gets a /%d of it unless node-cidr-mask-size says otherwise, which is more than it has", nodes)
	case nodes-bits > kubeadmNodeMaskMaxDiff:
		return fmt.Sprintf("each node gets a /%d of it unless node-cidr-mask-size says otherwise, and kubeadm takes no range that is wider by more than %d bits", nodes, kubeadmNodeMaskMaxDiff)
	}
	return ""
}

// kindSubnets refuses what kind does: two ranges unless both families are asked
// for, and a range of a family that is not.
func (f *founded) kindSubnets(networking node) {
	family := networking.get("ipFamily").text()
	for _, says := range []string{"podSubnet", "serviceSubnet"} {
		n := networking.get(says)
		entries, all := entriesOf(n)
		fate := fateOfCluster(n.obj)
		switch {
		case f.blankBeside(n, says, fate), !all:
		case family == "dual":
			f.oneOfEachFamily(entries, says, fate)
		case family != "" && family != "ipv4" && family != "ipv6":
		case len(entries) > 1:
			f.refuse(entries[1], says, "it is the second range, and kind takes one unless ipFamily is dual", fate)
		case len(entries) == 1 && entries[0].Prefix.Prefix.Addr().Is4() != (family != "ipv6"):
			had := "ipv4"
			if family == "ipv6" {
				had = family
			}
			f.refuse(entries[0], says, "it is of another family than ipFamily, which is "+had, fate)
		}
	}
}

// calicoMasked refuses a pool with host bits: Calico's API takes networks only.
func (f *founded) calicoMasked(n node) {
	if entries, all := entriesOf(n); all && len(entries) == 1 && entries[0].HostBits {
		e := entries[0]
		f.refuse(e, "IPPool cidr", "it has bits set right of its mask; the network is "+e.Prefix.Prefix.Masked().String(), fateOfCluster(n.obj))
	}
}

// serviceCIDR reads an object that adds to the range of services. The API server
// takes one range of each family, in the form in which it would write it itself.
func (f *founded) serviceCIDR(n node) {
	const says, fate = "ServiceCIDR", "the API server refuses the object and no Service gets an address from it"
	entries, all := entriesOf(n)
	if !all {
		return
	}
	f.oneOfEachFamily(entries, says, fate)
	for _, e := range entries {
		if e.HostBits {
			f.refuse(e, says, "it has bits set right of its mask; the network is "+e.Prefix.Prefix.Masked().String(), fate)
		} else if canonical := e.Prefix.Prefix.String(); canonical != strings.TrimSpace(e.Text) {
			f.refuse(e, says, "it is not written the one way that is taken, "+canonical, fate)
		}
	}
}
