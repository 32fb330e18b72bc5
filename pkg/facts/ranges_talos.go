package facts

import (
	"net/url"
	"slices"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// This file reads Talos: machine configurations, patches of them, and the file
// from which talhelper makes both.

// readTalos: a worker's configuration need not repeat the control plane's
// ranges, so that only a control plane's has defaults.
func readTalos(f *founded, o *source.Object) {
	top := root(o)
	f.talosManifests(o)
	pods, services := f.talosMachine(fieldsOf(top))
	if top.get("machine", "type").text() != "controlplane" {
		return
	}
	network := top.get("cluster", "network")
	if !pods {
		f.constant(cidrplan.Pod, network, "Talos' default podSubnets", "10.244.0.0/16")
	}
	if !services {
		f.constant(cidrplan.Service, network, "Talos' default serviceSubnets", "10.96.0.0/12")
	}
	if !network.get("cni").exists() {
		f.cniRanked("flannel", network.ref(), 2)
	}
}

// talosManifests: a CNI is installed by manifests that stand in the configuration.
func (f *founded) talosManifests(o *source.Object) {
	for _, doc := range f.ix.inlined()[o.ID] {
		switch doc.get("kind").text() {
		case "ConfigMap":
			if doc.get("metadata", "name").text() == "cilium-config" {
				f.ciliumConfig(doc, doc.get("data"))
			}
		case "Installation":
			f.calicoInstallation(doc.get("spec"))
		}
	}
}

// talosMachine reads a machine configuration or a patch of one, and reports
// which ranges it states.
func (f *founded) talosMachine(conf fields) (pods, services bool) {
	for _, n := range conf("cluster", "network", "podSubnets") {
		pods = f.rangeOf(cidrplan.Pod, n, "podSubnets") || pods
	}
	for _, n := range conf("cluster", "network", "serviceSubnets") {
		services = f.rangeOf(cidrplan.Service, n, "serviceSubnets") || services
	}
	for _, n := range conf("cluster", "network", "cni", "name") {
		if n.text() == "flannel" {
			f.cni("flannel", n.ref())
		}
	}
	for _, component := range []string{"apiServer", "controllerManager", "proxy"} {
		for _, n := range conf("cluster", component, "extraArgs") {
			services = f.componentFlags(n) || services
		}
	}
	for _, n := range conf("machine", "kubelet", "clusterDNS") {
		f.rangeOf(cidrplan.DNS, n, "clusterDNS")
	}
	for _, n := range conf("machine", "kubelet", "nodeIP", "validSubnets") {
		f.talosNodes(n)
	}
	for _, n := range conf("cluster", "controlPlane", "endpoint") {
		if u, err := url.Parse(n.text()); err == nil {
			f.apiAddress(u.Host, n, "controlPlane.endpoint")
		}
	}
	return pods, services
}

// nodeFilter is the field from which Talos' nodes choose their address.
const nodeFilter = "nodeIP.validSubnets"

// dropWideFilters: where the networks to choose from hold the cluster's own pods or
// services, they are a filter, and the nodes' range lies somewhere in them. Talos
// leaves addresses of pods and services out of its choice.
func (f *founded) dropWideFilters() {
	holdsOwn := func(wide cidrplan.Claim) bool {
		return slices.ContainsFunc(f.claims, func(c cidrplan.Claim) bool {
			return (c.Role == cidrplan.Pod || c.Role == cidrplan.Service) && c.Strength != cidrplan.Evidence &&
				wide.Prefix.Bits() < c.Prefix.Bits() && wide.Prefix.Contains(c.Prefix.Addr())
		})
	}
	f.claims = slices.DeleteFunc(f.claims, func(c cidrplan.Claim) bool {
		return c.Role == cidrplan.Node && c.Says == nodeFilter && holdsOwn(c)
	})
}

// talosNodes: the networks from which nodes choose their address; a leading ! takes one out.
func (f *founded) talosNodes(n node) {
	for _, item := range n.texts() {
		if text := item.text(); text != "" && text[0] != '!' {
			f.rangeOf(cidrplan.Node, item, nodeFilter)
		}
	}
}

// talosPatch reads a patch, of either kind, in a string.
func (f *founded) talosPatch(n node, says string) {
	for _, doc := range f.documentsIn(n, says) {
		if operations := doc.items(); operations != nil {
			f.talosMachine(patched(operations))
			continue
		}
		f.talosMachine(fieldsOf(doc))
	}
}

// readTalhelper reads talconfig.yaml: ranges, and patches in strings; one that
// begins with @ names a file, which is an input of its own.
func readTalhelper(f *founded, o *source.Object) {
	top := root(o)
	f.rangeOf(cidrplan.Pod, top.get("clusterPodNets"), "clusterPodNets")
	f.rangeOf(cidrplan.Service, top.get("clusterSvcNets"), "clusterSvcNets")
	if u, err := url.Parse(top.get("endpoint").text()); err == nil {
		f.apiAddress(u.Host, top.get("endpoint"), "endpoint")
	}
	holders := append([]node{top, top.get("controlPlane"), top.get("worker")}, top.get("nodes").items()...)
	for _, holder := range holders {
		for _, patch := range holder.get("patches").texts() {
			if text := patch.text(); text != "" && text[0] != '@' {
				f.talosPatch(patch, "patches")
			}
		}
	}
	if cni := top.get("cniConfig", "name"); cni.text() == "flannel" {
		f.cni("flannel", cni.ref())
	}
}

// talosControlPlane reads the provider of Cluster API: patches as operations, or
// as documents in strings.
func readTalosControlPlane(f *founded, o *source.Object) {
	config := root(o).get("spec", "controlPlaneConfig")
	for _, kind := range []string{"controlplane", "init"} {
		f.talosMachine(patched(config.get(kind, "configPatches").items()))
		for _, patch := range config.get(kind, "strategicPatches").texts() {
			f.talosPatch(patch, "strategicPatches")
		}
	}
}
