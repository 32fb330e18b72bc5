package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// This file reads kubeadm's documents wherever they stand: in files, in the
// strings of kind's configuration, in the control plane of Cluster API, and in
// the ConfigMaps in which kubeadm keeps them; and the flags of the components
// that are started from them.

// A field of a configuration that may be written more than once: several JSON
// patches, a list of flags. Later ones win, but all are places that claim it.
type fields func(keys ...string) []node

// fieldsOf reads the fields of a document.
func fieldsOf(n node) fields {
	return func(keys ...string) []node { return []node{n.get(keys...)} }
}

// patched reads the fields that a list of JSON patch operations (RFC 6902)
// writes.
func patched(operations []node) fields {
	return func(keys ...string) []node {
		var out []node
		for _, op := range operations {
			switch op.get("op").text() {
			case "add", "replace":
			default:
				continue
			}
			if n := patchedField(op, keys); n.exists() {
				out = append(out, n)
			}
		}
		return out
	}
}

// patchedField finds the field in what one operation writes: the field itself,
// something above it, or an item of the list that it is.
func patchedField(op node, keys []string) node {
	path := source.PointerTokens(op.get("path").text())
	value := op.get("value")
	switch {
	case len(path) <= len(keys) && slices.Equal(path, keys[:len(path)]):
		return value.get(keys[len(path):]...)
	case len(path) == len(keys)+1 && slices.Equal(path[:len(keys)], keys):
		return value
	default:
		return node{}
	}
}

func readKubeadm(f *founded, o *source.Object) {
	top := root(o)
	f.kubeadmSubnets(fieldsOf(top))
	if !f.kubeadm(fieldsOf(top)) {
		f.constant(cidrplan.Service, top.get("networking"), "kubeadm's default serviceSubnet", "10.96.0.0/12")
	}
}

// kubeadm reads a ClusterConfiguration and reports whether it says the service
// range.
func (f *founded) kubeadm(conf fields) (services bool) {
	for _, n := range conf("networking", "podSubnet") {
		f.rangeOf(cidrplan.Pod, n, "podSubnet")
	}
	for _, n := range conf("networking", "serviceSubnet") {
		services = f.rangeOf(cidrplan.Service, n, "serviceSubnet") || services
	}
	for _, component := range []string{"apiServer", "controllerManager"} {
		for _, n := range conf(component, "extraArgs") {
			services = f.componentFlags(n) || services
		}
	}
	for _, n := range conf("controlPlaneEndpoint") {
		f.endpoint(n)
	}
	return services
}

// kubeadmDocument reads one of the documents that kubeadm takes, by its kind.
func (f *founded) kubeadmDocument(n node) {
	switch n.get("kind").text() {
	case "ClusterConfiguration":
		f.kubeadm(fieldsOf(n))
	case "KubeletConfiguration":
		f.kubeletConfiguration(n)
	case "KubeProxyConfiguration":
		f.rangeOf(cidrplan.Pod, n.get("clusterCIDR"), "clusterCIDR")
	}
}

// documentsIn reads the documents in a string; what does not parse is a gap.
func (f *founded) documentsIn(n node, says string) []node {
	docs, broken := n.documents()
	for _, at := range broken {
		f.ix.gapAt(finding.Unresolved, n.obj, at, "the ranges in "+says, because("it is not YAML as it stands here", "correct it, or lint what is made of it"),
			"ranges that it may declare are unknown: overlaps with them and captures of them are not reported", "VPN302", "VPN401")
	}
	return docs
}

func readKubeadmControlPlane(f *founded, o *source.Object) {
	spec := root(o).get("spec")
	if o.Kind == "KubeadmControlPlaneTemplate" {
		spec = spec.get("template", "spec")
	}
	conf := fieldsOf(spec.get("kubeadmConfigSpec", "clusterConfiguration"))
	f.kubeadmSubnets(conf)
	f.kubeadm(conf)
}

// kubeletConfiguration: podCIDR is one node's, for kubelets without an API
// server; defaultPodSysctls reach every pod (FG D1.6).
func (f *founded) kubeletConfiguration(n node) {
	f.rangeAs(cidrplan.Claim{Role: cidrplan.DNS, Says: "clusterDNS", Strength: cidrplan.Declared}, n.get("clusterDNS"))
	f.rangeAs(cidrplan.Claim{Role: cidrplan.Pod, Says: "podCIDR of a kubelet", Strength: cidrplan.Evidence}, n.get("podCIDR"))
	f.kubelet(n)
}

func readKind(f *founded, o *source.Object) {
	top := root(o)
	networking := top.get("networking")
	f.kindSubnets(networking)
	family := networking.get("ipFamily").text()
	pods, services := []string{}, []string{}
	if family != "ipv6" {
		pods, services = append(pods, "10.244.0.0/16"), append(services, "10.96.0.0/16")
	}
	if family == "ipv6" || family == "dual" {
		pods, services = append(pods, "fd00:10:244::/56"), append(services, "fd00:10:96::/112")
	}
	if !f.rangeOf(cidrplan.Pod, networking.get("podSubnet"), "podSubnet") {
		f.constant(cidrplan.Pod, networking, "kind's default podSubnet", pods...)
	}
	if !f.rangeOf(cidrplan.Service, networking.get("serviceSubnet"), "serviceSubnet") {
		f.constant(cidrplan.Service, networking, "kind's default serviceSubnet", services...)
	}
	if networking.get("disableDefaultCNI").boolean() == Absent {
		f.cni("kindnet", networking.ref())
	}
	for _, holder := range append(top.get("nodes").items(), top) {
		for _, patch := range holder.get("kubeadmConfigPatches").texts() {
			for _, doc := range f.documentsIn(patch, "kubeadmConfigPatches") {
				f.kubeadmDocument(doc)
			}
		}
		for _, patch := range holder.get("kubeadmConfigPatchesJSON6902").items() {
			f.kindJSONPatch(patch)
		}
	}
}

// kindJSONPatch reads a list of JSON patch operations in a string, and the
// document that it is for beside it.
func (f *founded) kindJSONPatch(patch node) {
	for _, doc := range f.documentsIn(patch.get("patch"), "kubeadmConfigPatchesJSON6902") {
		conf := patched(doc.items())
		switch patch.get("kind").text() {
		case "ClusterConfiguration":
			f.kubeadm(conf)
		case "KubeProxyConfiguration":
			for _, n := range conf("clusterCIDR") {
				f.rangeOf(cidrplan.Pod, n, "clusterCIDR")
			}
		}
	}
}

// componentFlag is a flag of a Kubernetes component that states a range.
type componentFlag struct {
	name string
	role cidrplan.Role
}

func componentFlagList() []componentFlag {
	return []componentFlag{
		{"cluster-cidr", cidrplan.Pod},
		{"service-cluster-ip-range", cidrplan.Service},
		{"service-cidr", cidrplan.Service}, // Kilo's, k3s'
	}
}

// componentFlags reads flags in any of the forms in which they are written: a
// map, a list of names and values, a list of "name=value". It reports whether
// one states the service range.
func (f *founded) componentFlags(n node) (services bool) {
	for _, flag := range componentFlagList() {
		says := "--" + flag.name
		said := false
		if n.isMap() {
			said = f.rangeOf(flag.role, n.get(flag.name), says)
		}
		for _, item := range n.items() {
			if item.isMap() && item.get("name").text() == flag.name {
				said = f.rangeOf(flag.role, item.get("value"), says) || said
			}
		}
		said = f.flagRanges(flag, argumentsOf(n)) || said
		services = services || said && flag.role == cidrplan.Service
	}
	return services
}

// argumentsOf returns the strings of a list, or one string.
func argumentsOf(n node) []node {
	if _, is := n.str(); is {
		return []node{n}
	}
	return n.texts()
}

// flagRanges reads a flag out of a command line: "--name=value" in one argument,
// "--name" and the value in the next, or both inside the text of a script.
func (f *founded) flagRanges(flag componentFlag, args []node) (said bool) {
	like := cidrplan.Claim{Role: flag.role, Says: "--" + flag.name, Strength: cidrplan.Declared}
	for i, arg := range args {
		text := arg.text()
		if bare := strings.TrimLeft(text, "-"); bare == flag.name && bare != text && i+1 < len(args) {
			said = f.rangeAs(like, args[i+1]) || said
			continue
		}
		if value, is := strings.CutPrefix(text, flag.name+"="); is { // k3s' and Talos' form
			said = f.rangesIn(like, arg, len(text)-len(value), value, ",") || said
			continue
		}
		if start, value, is := flagValue(text, flag.name); is {
			said = f.rangesIn(like, arg, start, value, ",") || said
		}
	}
	return said
}

// isKubeComponent recognises the pods that run a cluster's own control plane or
// proxy. They stand in kube-system: elsewhere they are the control plane of
// another cluster, which this one hosts.
func isKubeComponent(o *source.Object) bool {
	switch groupOf(o) + " " + o.Kind {
	case " Pod", "apps DaemonSet":
	default:
		return false
	}
	return o.Namespace == "kube-system" && len(kubeComponents(o)) > 0
}

// kubeComponents returns the containers that run a component.
func kubeComponents(o *source.Object) []node {
	spec := root(o).get("spec")
	if o.Kind == "DaemonSet" {
		spec = spec.get("template", "spec")
	}
	var out []node
	for _, c := range spec.get("containers").items() {
		switch path.Base(imageRepository(c.get("image").text())) {
		case "kube-apiserver", "kube-controller-manager", "kube-proxy", "hyperkube", "kube-router":
			out = append(out, c)
		}
	}
	return out
}

func (f *founded) kubeComponent(o *source.Object) {
	for _, c := range kubeComponents(o) {
		f.componentFlags(c.get("command"))
		f.componentFlags(c.get("args"))
	}
}

// kubeConfigMap returns the key under which kubeadm keeps a document in a
// ConfigMap of kube-system, "" for any other ConfigMap.
func kubeConfigMap(o *source.Object) string {
	switch {
	case o.Namespace != "kube-system":
		return ""
	case o.Name == "kubeadm-config":
		return "ClusterConfiguration"
	case o.Name == "kube-proxy":
		return "config.conf"
	case o.Name == "kubelet-config", strings.HasPrefix(o.Name, "kubelet-config-1."):
		return "kubelet"
	default:
		return ""
	}
}
