package facts

import (
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// This file reads k3s and RKE2: their configuration file, k3d's clusters and
// Rancher's. All have one set of options, with 10.42.0.0/16 for pods and
// 10.43.0.0/16 for services where nothing is written (FG B).

func k3sFlags() []struct {
	flag     componentFlag
	fallback string
} {
	return []struct {
		flag     componentFlag
		fallback string
	}{
		{componentFlag{"cluster-cidr", cidrplan.Pod}, "10.42.0.0/16"},
		{componentFlag{"service-cidr", cidrplan.Service}, "10.43.0.0/16"},
	}
}

// readK3s reads /etc/rancher/k3s/config.yaml or RKE2's. An agent, and a server
// that joins others, takes what those have.
func readK3s(f *founded, o *source.Object) {
	top := root(o)
	f.k3sOptions(top, !top.get("server").exists())
	// Only k3s brings flannel and this option; RKE2 has a list of CNIs.
	switch backend := top.get("flannel-backend"); {
	case backend.exists() && backend.text() != "none" && placeholder(backend.text()) == "":
		f.cni("flannel", backend.ref())
		f.k3s = append(f.k3s, k3sFlannel{at: backend, ipv6: top.get("flannel-ipv6-masq").boolean()})
	case top.get("cni").exists():
		f.rke2CNI(top.get("cni"))
	}
}

// k3sOptions reads the options that k3s and RKE2 share; defaults tells whether
// those apply where nothing is written.
func (f *founded) k3sOptions(options node, defaults bool) {
	for _, want := range k3sFlags() {
		n := options.get(want.flag.name)
		if !f.rangeOf(want.flag.role, n, want.flag.name) && defaults {
			f.constant(want.flag.role, n, "the default "+want.flag.name+" of k3s and RKE2", want.fallback)
		}
	}
	f.rangeOf(cidrplan.DNS, options.get("cluster-dns"), "cluster-dns")
	for _, component := range []string{"kube-apiserver-arg", "kube-controller-manager-arg", "kube-proxy-arg"} {
		f.componentFlags(options.get(component))
	}
}

// rke2CNI: the first of the list that is no Multus.
func (f *founded) rke2CNI(n node) {
	for _, item := range argumentsOf(n) {
		switch name := item.text(); name {
		case "calico", "cilium", "flannel":
			f.cni(name, item.ref())
		case "canal": // Calico's plugin in flannel's network
			f.cni("calico", item.ref())
		}
	}
}

// readRancher reads a cluster that Rancher provisions with k3s or RKE2.
func readRancher(f *founded, o *source.Object) {
	config := root(o).get("spec", "rkeConfig")
	if !config.exists() { // an imported cluster
		return
	}
	global := config.get("machineGlobalConfig")
	f.k3sOptions(global, true)
	f.rke2CNI(global.get("cni"))
}

// readK3d: k3d hands arguments to k3s. Its docker network holds the nodes.
func readK3d(f *founded, o *source.Object) {
	top := root(o)
	options := top.get("options", "k3s")
	args := options.get("extraServerArgs").texts() // k3d.io/v1alpha2
	for _, entry := range options.get("extraArgs").items() {
		args = append(args, entry.get("arg"))
	}
	for _, want := range k3sFlags() {
		if !f.flagRanges(want.flag, args) {
			f.constant(want.flag.role, options, "k3s' default --"+want.flag.name, want.fallback)
		}
	}
	f.flagRanges(componentFlag{"cluster-dns", cidrplan.DNS}, args)
	if subnet := top.get("subnet"); subnet.text() != "auto" {
		f.rangeOf(cidrplan.Node, subnet, "subnet")
	}
	for _, arg := range args {
		if backend, is := strings.CutPrefix(arg.text(), "--flannel-backend="); is && (backend == "none" || placeholder(backend) != "") {
			return
		}
	}
	f.cni("flannel", top.ref())
	f.k3s = append(f.k3s, k3sFlannel{at: options, ipv6: k3dMasqueradesIPv6(args)})
}
