package facts

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corehelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// defaultPool is the node pool that GKE makes with a cluster.
const defaultPool = "default-pool"

// nodePool is a declared pool of nodes, as far as scheduling goes.
type nodePool struct {
	name    string
	object  *source.Object
	ref     source.Ref
	cluster *founded
	labels  map[string]string
	taints  []taintAt
}

type taintAt struct {
	corev1.Taint
	ref source.Ref
}

// poolKind is where a kind of node pool keeps its labels and taints.
type poolKind struct {
	labels, taints []string
	// name is the label that the platform gives every node of the pool.
	name string
}

func poolKindOf(o *source.Object) (poolKind, bool) {
	switch groupOf(o) + " " + o.Kind {
	case "container.cnrm.cloud.google.com ContainerNodePool":
		return poolKind{[]string{"nodeConfig", "labels"}, []string{"nodeConfig", "taint"}, "cloud.google.com/gke-nodepool"}, true
	case "infrastructure.cluster.x-k8s.io AzureManagedMachinePool":
		return poolKind{[]string{"nodeLabels"}, []string{"taints"}, "agentpool"}, true
	case "infrastructure.cluster.x-k8s.io AWSManagedMachinePool":
		return poolKind{[]string{"labels"}, []string{"taints"}, "eks.amazonaws.com/nodegroup"}, true
	case "infrastructure.cluster.x-k8s.io GCPManagedMachinePool":
		return poolKind{[]string{"kubernetesLabels"}, []string{"kubernetesTaints"}, "cloud.google.com/gke-nodepool"}, true
	case "container.gcp.upbound.io NodePool", "container.gcp.m.upbound.io NodePool":
		return poolKind{[]string{"nodeConfig", "labels"}, []string{"nodeConfig", "taint"}, "cloud.google.com/gke-nodepool"}, true
	case "eks.aws.upbound.io NodeGroup", "eks.aws.m.upbound.io NodeGroup":
		return poolKind{[]string{"labels"}, []string{"taint"}, "eks.amazonaws.com/nodegroup"}, true
	case "containerservice.azure.upbound.io KubernetesClusterNodePool", "containerservice.azure.m.upbound.io KubernetesClusterNodePool":
		return poolKind{[]string{"nodeLabels"}, []string{"nodeTaints"}, "agentpool"}, true
	case "karpenter.sh NodePool":
		return poolKind{[]string{"template", "metadata", "labels"}, []string{"template", "spec", "taints"}, "karpenter.sh/nodepool"}, true
	}
	return poolKind{}, false
}

// readNodePools returns the pools of Linux nodes whose cluster is known.
// Windows nodes run no masquerade agent at all (FG A2.9).
func readNodePools(ix *index, cs *clusterSet) []nodePool {
	var out []nodePool
	add := func(o *source.Object, name string, at, labels, taints node) {
		p := nodePool{name: name, object: o, ref: at.ref(), labels: labels.stringMap()}
		if p.cluster = cs.clusterOfPool(o); p.cluster == nil && cs.tied(o) {
			return
		}
		for _, t := range taints.items() {
			p.taints = append(p.taints, taintOf(t))
		}
		out = append(out, p)
	}
	for _, o := range ix.objects {
		spec := root(o).get("spec")
		if isCrossplane(o) {
			spec = spec.get("forProvider")
		}
		if registration, is := machineRegistration(ix, o); is {
			add(o, o.Name, spec, node{}, registration.get("taints"))
			out = kubeletLabels(out, o, registration)
			continue
		}
		if kind, is := poolKindOf(o); is && !strings.Contains(strings.ToLower(spec.get("nodeConfig", "imageType").text()+spec.get("osType").text()), "windows") {
			add(o, o.Name, spec, inBlocks(spec, kind.labels), inBlocks(spec, kind.taints))
			out = platformLabel(out, o, kind)
		}
		if groupOf(o) == "eksctl.io" && o.Kind == "ClusterConfig" {
			for _, field := range []string{"nodeGroups", "managedNodeGroups"} {
				for _, group := range root(o).get(field).items() {
					if !strings.HasPrefix(group.get("amiFamily").text(), "Windows") {
						add(o, group.get("name").text(), group, group.get("labels"), group.get("taints"))
					}
				}
			}
		}
	}
	return out
}

// taintOf reads a taint: an object, or Azure's key=value:effect.
func taintOf(n node) taintAt {
	if text, is := n.str(); is {
		pair, name, _ := strings.Cut(text, ":")
		key, value, _ := strings.Cut(pair, "=")
		return taintAt{corev1.Taint{Key: key, Value: value, Effect: effect(name)}, n.ref()}
	}
	return taintAt{corev1.Taint{
		Key: n.get("key").text(), Value: n.get("value").text(), Effect: effect(n.get("effect").text()),
	}, n.ref()}
}

// inBlocks walks down by keys, through blocks that stand in lists of one.
func inBlocks(n node, keys []string) node {
	for i, key := range keys {
		if n = n.get(key); i < len(keys)-1 {
			n = block(n)
		}
	}
	return n
}

// isCrossplane: its resources hold what others have in spec under forProvider.
func isCrossplane(o *source.Object) bool { return strings.HasSuffix(groupOf(o), ".upbound.io") }

// machineRegistration is what the machines of a MachinePool or MachineDeployment of
// Cluster API register as, in the configuration that they boot with.
func machineRegistration(ix *index, o *source.Object) (node, bool) {
	if groupOf(o) != "cluster.x-k8s.io" || o.Kind != "MachinePool" && o.Kind != "MachineDeployment" {
		return node{}, false
	}
	ref := root(o).get("spec", "template", "spec", "bootstrap", "configRef")
	kind := ref.get("kind").text()
	conf, state := ix.find(kind, o.Namespace, ref.get("name").text(), o)
	if state != Present || kind != "KubeadmConfig" && kind != "KubeadmConfigTemplate" {
		return node{}, false
	}
	spec := root(conf).get("spec")
	if kind == "KubeadmConfigTemplate" {
		spec = spec.get("template", "spec")
	}
	return spec.get("joinConfiguration", "nodeRegistration"), true
}

// kubeletLabels gives the pool that was added last the labels that its kubelets are
// told to set.
func kubeletLabels(pools []nodePool, o *source.Object, registration node) []nodePool {
	n := len(pools)
	if n == 0 || pools[n-1].object != o {
		return pools
	}
	args := registration.get("kubeletExtraArgs")
	text := args.get("node-labels").text()
	for _, a := range args.items() { // v1beta2
		if a.get("name").text() == "node-labels" {
			text = a.get("value").text()
		}
	}
	for _, pair := range strings.Split(text, ",") {
		if key, value, has := strings.Cut(pair, "="); has {
			pools[n-1].labels[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return pools
}

// platformLabel gives the pool that was added last the label that its platform does.
func platformLabel(pools []nodePool, o *source.Object, kind poolKind) []nodePool {
	if n := len(pools); n > 0 && pools[n-1].object == o {
		if _, has := pools[n-1].labels[kind.name]; !has {
			pools[n-1].labels[kind.name] = o.Name
		}
	}
	return pools
}

// effect reads the spellings of Google (NO_SCHEDULE), AWS (no-schedule) and
// Kubernetes alike.
func effect(text string) corev1.TaintEffect {
	switch strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(text)) {
	case "noschedule":
		return corev1.TaintEffectNoSchedule
	case "noexecute":
		return corev1.TaintEffectNoExecute
	case "prefernoschedule":
		return corev1.TaintEffectPreferNoSchedule
	}
	return ""
}

// missedPools notes, for each agent that runs as a DaemonSet, the node pools of
// its cluster on which neither it nor another agent of the cluster runs (M7).
func (r *agentReader) missedPools() {
	pools := append(readNodePools(r.ix, r.cs), plannedPools(r.cs)...)
	for _, pool := range pools {
		var missed []int
		var found []MissedPool
		served := r.unplaced
		for i, run := range r.running {
			if run.cluster != pool.cluster {
				continue
			}
			m, misses := run.missesPool(pool)
			if !misses {
				served = true
				break
			}
			missed, found = append(missed, i), append(found, m)
		}
		if served {
			continue
		}
		for k, i := range missed {
			if a := r.agentOf(r.running[i]); a != nil {
				a.MissedPools = append(a.MissedPools, found[k])
			}
		}
	}
}

func (r *agentReader) agentOf(run runningAgent) *Agent {
	for i := range r.agents {
		if r.agents[i].Ref == run.container.c.Ref {
			return &r.agents[i]
		}
	}
	return nil
}

// missesPool reports that a DaemonSet certainly runs on no node of a pool; false
// also when that cannot be told.
func (a runningAgent) missesPool(pool nodePool) (MissedPool, bool) {
	if !a.pod.pod.PerNode {
		return MissedPool{}, false
	}
	return missesPool(a.pod.spec, &pool)
}

// missesPool reports that a pod is certainly scheduled to no node of a pool.
func missesPool(pod node, pool *nodePool) (MissedPool, bool) {
	out := MissedPool{Name: pool.name, Object: nameOf(pool.object), Pool: pool.ref}
	raw, err := json.Marshal(map[string]any{
		"nodeSelector": pod.get("nodeSelector").val, "affinity": pod.get("affinity").val, "tolerations": pod.get("tolerations").val,
	})
	var spec corev1.PodSpec
	if err != nil || json.Unmarshal(raw, &spec) != nil || placeholder(string(raw)) != "" {
		return out, false
	}
	// The controller adds tolerations for conditions of the node, which no pool
	// declares as taints.
	for _, taint := range pool.taints {
		if taint.Key == "" || taint.Effect == "" || placeholder(taint.Key+taint.Value) != "" {
			continue
		}
		_, untolerated := corehelpers.FindMatchingUntoleratedTaint(klog.Background(), []corev1.Taint{taint.Taint}, spec.Tolerations,
			func(t *corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule }, false)
		if untolerated {
			out.Ref, out.Pool = pod.get("tolerations").ref(), taint.ref
			out.Why = "does not tolerate its taint " + taint.ToString()
			return out, true
		}
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: pool.name, Labels: pool.labels}}
	selects := func(spec corev1.PodSpec) bool {
		match, err := nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: spec}).Match(node)
		return err != nil || match
	}
	settleable(&spec, pool.labels)
	switch {
	case !selects(corev1.PodSpec{NodeSelector: spec.NodeSelector}):
		out.Ref, out.Why = pod.get("nodeSelector").ref(), "selects other nodes by nodeSelector"
	case !selects(corev1.PodSpec{Affinity: spec.Affinity}):
		out.Ref, out.Why = pod.get("affinity", "nodeAffinity").ref(), "selects other nodes by node affinity"
	default:
		return out, false
	}
	return out, true
}

// settleable leaves of what selects nodes that which the declared labels decide.
// Labels that the platform gives a node are not declared, so that a selector for one
// of them may hold, and so may one by a node's name.
func settleable(spec *corev1.PodSpec, labels map[string]string) {
	open := func(key string) bool {
		_, declared := labels[key]
		return !declared && ofPlatform(key)
	}
	maps.DeleteFunc(spec.NodeSelector, func(key, _ string) bool { return open(key) })
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return
	}
	required := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	for i := range required.NodeSelectorTerms {
		term := &required.NodeSelectorTerms[i]
		had := len(term.MatchFields) + len(term.MatchExpressions)
		term.MatchFields = nil
		term.MatchExpressions = slices.DeleteFunc(term.MatchExpressions, func(e corev1.NodeSelectorRequirement) bool { return open(e.Key) })
		if had > 0 && len(term.MatchExpressions) == 0 {
			spec.Affinity = nil // one of the terms may hold, and one is enough
			return
		}
	}
}

func ofPlatform(key string) bool {
	domain := path.Dir(key)
	for _, owner := range []string{
		"kubernetes.io", "k8s.io", "cloud.google.com", "amazonaws.com", "azure.com", "karpenter.sh", "k8s.aws", "eksctl.io", "openshift.io",
	} {
		if domain == owner || strings.HasSuffix(domain, "."+owner) {
			return true
		}
	}
	return key == "agentpool" || key == "kubernetes.azure.com/agentpool"
}
