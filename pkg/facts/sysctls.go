package facts

import (
	"cmp"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// safeSysctls are those that every kubelet takes without being told to, in some
// version at least (FG D2). The list only grows, and the version of a cluster is
// rarely in view: a sysctl that is safe in any version is never reported.
func safeSysctls() []string {
	return []string{
		"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_local_reserved_ports",
		"net.ipv4.ip_unprivileged_port_start", "net.ipv4.ping_group_range", "net.ipv4.tcp_fin_timeout",
		"net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_keepalive_time",
		"net.ipv4.tcp_notsent_lowat", "net.ipv4.tcp_rmem", "net.ipv4.tcp_slow_start_after_idle",
		"net.ipv4.tcp_syncookies", "net.ipv4.tcp_wmem",
	}
}

// kubeletList is what one kubelet configuration allows beyond the safe sysctls.
type kubeletList struct {
	ref      source.Ref
	patterns []string
	// unclear: some of it is filled in later.
	unclear bool
}

// allows matches as the kubelet does: a name, or the beginning of one before a
// * (FG D2.2).
func (l kubeletList) allows(name string) bool {
	return slices.ContainsFunc(l.patterns, func(pattern string) bool {
		pattern = normalSysctl(pattern)
		if stem, wild := strings.CutSuffix(pattern, "*"); wild {
			return strings.HasPrefix(name, stem)
		}
		return pattern == name
	})
}

// listOf reads a list of patterns that a kubelet configuration holds.
func listOf(n node, at source.Ref) kubeletList {
	l := kubeletList{ref: at}
	if n.exists() {
		l.ref = n.ref()
	}
	if n.exists() && n.items() == nil {
		l.unclear = true
	}
	for _, item := range n.items() {
		text, is := item.str()
		l.unclear = l.unclear || !is || placeholder(text) != ""
		l.patterns = append(l.patterns, text)
	}
	return l
}

const kubeletFlag = "allowed-unsafe-sysctls"

// flagList reads the flag's value, a comma list.
func flagList(text string, at source.Ref) kubeletList {
	l := kubeletList{ref: at, unclear: placeholder(text) != ""}
	for _, p := range strings.Split(text, ",") {
		if p = strings.TrimSpace(p); p != "" {
			l.patterns = append(l.patterns, p)
		}
	}
	return l
}

// extraArgs reads the kubelet's arguments out of a map, or out of kubeadm's
// newer list of names and values. No such argument is a kubelet configuration
// that allows nothing more.
func extraArgs(args node) []kubeletList {
	if !args.exists() {
		return nil
	}
	l := kubeletList{ref: args.ref()}
	if n := args.get(kubeletFlag); n.exists() {
		text, _ := n.scalar()
		l = flagList(text, n.ref())
	}
	for _, item := range args.items() {
		if item.get("name").text() == kubeletFlag {
			l = flagList(item.get("value").text(), item.get("value").ref())
		}
	}
	return []kubeletList{l}
}

// argList reads k3s' kubelet arguments: "name=value" in a string, a comma list
// or a list of strings.
func argList(n node) []kubeletList {
	if !n.exists() {
		return nil
	}
	texts := n.texts()
	if _, is := n.str(); is {
		texts = []node{n}
	}
	l := kubeletList{ref: n.ref()}
	for _, item := range texts {
		if value, is := strings.CutPrefix(strings.TrimLeft(item.text(), "-"), kubeletFlag+"="); is {
			l = flagList(value, item.ref())
		}
	}
	return []kubeletList{l}
}

// kubeletLists returns the kubelet configurations that an object holds. Where a
// kind of object has a place for one but none is written, it says nothing.
func kubeletLists(o *source.Object) []kubeletList {
	top := root(o)
	spec := top.get("spec")
	config := func(n node) []kubeletList {
		if !n.exists() {
			return nil
		}
		return []kubeletList{listOf(n.get("allowedUnsafeSysctls"), n.ref())}
	}
	var out []kubeletList
	switch groupOf(o) + " " + o.Kind {
	case "kubelet.config.k8s.io KubeletConfiguration":
		out = config(top)
	case "machineconfiguration.openshift.io KubeletConfig":
		out = config(spec.get("kubeletConfig"))
	case " ConfigMap": // what kubeadm keeps of the kubelets' configuration
		if text := top.get("data", "kubelet"); o.Name == "kubelet-config" && text.exists() {
			out = patchLists(text)
		}
	case "kubeadm.k8s.io InitConfiguration", "kubeadm.k8s.io JoinConfiguration":
		out = extraArgs(top.get("nodeRegistration", "kubeletExtraArgs"))
	case "controlplane.cluster.x-k8s.io KubeadmControlPlane":
		out = kubeadmSpec(spec.get("kubeadmConfigSpec"))
	case "bootstrap.cluster.x-k8s.io KubeadmConfig":
		out = kubeadmSpec(spec)
	case "bootstrap.cluster.x-k8s.io KubeadmConfigTemplate":
		out = kubeadmSpec(spec.get("template", "spec"))
	case "talos.dev MachineConfig":
		kubelet := top.get("machine", "kubelet")
		out = append(config(kubelet.get("extraConfig")), extraArgs(kubelet.get("extraArgs"))...)
	case "k3s.io Config":
		// A key with a plus adds to what other files of the node say.
		out = append(argList(top.get("kubelet-arg")), argList(top.get("kubelet-arg+"))...)
	case "kops.k8s.io Cluster", "kops.k8s.io InstanceGroup":
		out = config(spec.get("kubelet"))
	case "eksctl.io ClusterConfig":
		for _, pools := range []string{"nodeGroups", "managedNodeGroups"} {
			for _, pool := range top.get(pools).items() {
				out = append(out, config(pool.get("kubeletExtraConfig"))...)
			}
		}
	case "container.cnrm.cloud.google.com ContainerNodePool", "container.cnrm.cloud.google.com ContainerCluster":
		out = config(spec.get("nodeConfig", "kubeletConfig"))
	case "k3d.io Simple":
		out = k3dArgs(top.get("options", "k3s", "extraArgs"))
	case "kind.x-k8s.io Cluster":
		patches := top.get("kubeadmConfigPatches").texts()
		for _, n := range top.get("nodes").items() {
			patches = append(patches, n.get("kubeadmConfigPatches").texts()...)
		}
		for _, patch := range patches {
			out = append(out, patchLists(patch)...)
		}
	}
	return out
}

func kubeadmSpec(spec node) []kubeletList {
	var out []kubeletList
	for _, key := range []string{"initConfiguration", "joinConfiguration"} {
		out = append(out, extraArgs(spec.get(key, "nodeRegistration", "kubeletExtraArgs"))...)
	}
	return out
}

func k3dArgs(options node) []kubeletList {
	var out []kubeletList
	for _, entry := range options.items() {
		arg := entry.get("arg")
		if value, is := strings.CutPrefix(arg.text(), "--kubelet-arg="); is {
			l := kubeletList{ref: arg.ref()}
			if list, is := strings.CutPrefix(strings.TrimLeft(value, "-"), kubeletFlag+"="); is {
				l = flagList(list, arg.ref())
			}
			out = append(out, l)
		}
	}
	return out
}

// patchLists reads the kubeadm documents that kind carries in a string.
func patchLists(patch node) []kubeletList {
	var out []kubeletList
	docs, _ := patch.documents()
	for _, doc := range docs {
		switch doc.get("kind").text() {
		case "KubeletConfiguration":
			out = append(out, listOf(doc.get("allowedUnsafeSysctls"), doc.ref()))
		case "InitConfiguration", "JoinConfiguration":
			out = append(out, extraArgs(doc.get("nodeRegistration", "kubeletExtraArgs"))...)
		}
	}
	return out
}

// readKubelets gives the clusters the lists of their kubelets.
func readKubelets(cs *clusterSet, o *source.Object) {
	lists := kubeletLists(o)
	if len(lists) == 0 {
		return
	}
	f := cs.one(o)
	if o.Kind == "ContainerNodePool" {
		f = cs.clusterOfPool(o)
	}
	switch {
	case f != nil:
		f.kubeletLists = append(f.kubeletLists, lists...)
	case !cs.tied(o):
		cs.ix.kubeletLists = append(cs.ix.kubeletLists, lists...)
	}
}

// readSysctls reads the pod's own sysctls and holds them against the kubelets
// of its clusters. Which of several kubelet configurations the pod's node uses
// is not known: one that allows the sysctl is enough.
func readSysctls(p *podView) {
	for _, s := range p.spec.get("securityContext", "sysctls").items() {
		text, is := s.get("name").str()
		if !is || placeholder(text) != "" {
			continue
		}
		value, _ := s.get("value").scalar()
		name := normalSysctl(text)
		out := PodSysctl{Name: name, Value: value, Ref: s.ref(), Safe: slices.Contains(safeSysctls(), name)}
		out.Allowed, out.KubeletRef = p.kubeletsAllow(name)
		p.pod.Sysctls = append(p.pod.Sysctls, out)
	}
}

func (p *podView) kubeletsAllow(name string) (answer string, at source.Ref) {
	if len(p.clusters) == 0 && p.tied {
		return "unknown", source.Ref{}
	}
	var lists []kubeletList
	if len(p.clusters) == 0 {
		lists = slices.Clone(p.ix.kubeletLists)
	}
	for _, c := range p.clusters {
		lists = append(append(lists, c.kubeletLists...), c.Plan.plannedKubelet()...)
	}
	if len(lists) == 0 {
		return "unseen", source.Ref{}
	}
	// The longest list comes first: it is the one to extend.
	slices.SortStableFunc(lists, func(a, b kubeletList) int {
		return cmp.Or(cmp.Compare(len(b.patterns), len(a.patterns)), compareRefs(a.ref, b.ref))
	})
	for _, l := range lists {
		if l.allows(name) {
			return "allowed", l.ref
		}
	}
	for _, l := range lists {
		if l.unclear {
			return "unknown", l.ref
		}
	}
	return "refused", lists[0].ref
}
