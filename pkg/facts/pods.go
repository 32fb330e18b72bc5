package facts

import (
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// template is a pod, or the pod template of a workload.
type template struct {
	object *source.Object
	// pod holds metadata and spec.
	pod node
}

// findTemplates returns the pods that an object describes.
func findTemplates(o *source.Object) []template {
	top := root(o)
	one := func(keys ...string) []template {
		if pod := top.get(keys...); pod.get("spec").isMap() {
			return []template{{o, pod}}
		}
		return nil
	}
	switch o.Kind {
	case "Pod":
		if groupOf(o) == "" {
			return one()
		}
	case "CronJob":
		if groupOf(o) == "batch" {
			return one("spec", "jobTemplate", "spec", "template")
		}
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job":
		return one("spec", "template")
	case "PodTemplate":
		return one("template")
	case "HelmRelease", "Application", source.ChartEntryKind:
		if isLoose(o) {
			return one("spec", "template")
		}
		return nil
	case "CustomResourceDefinition", "ConfigMap", "Secret", "Kustomization", "ApplicationSet":
		return nil
	}
	var out []template
	searchTemplates(top, 0, &out)
	return out
}

// isLoose reports whether an object stands for a container in the values of a
// release whose chart is not available.
func isLoose(o *source.Object) bool {
	return len(o.Unseen) > 0 && (o.Kind == "HelmRelease" || o.Kind == "Application" || o.Kind == source.ChartEntryKind)
}

// hasVPN reports whether any of the pod's images is a VPN's.
func (p *podView) hasVPN() bool {
	for _, c := range p.containers {
		if c.image.Family != nil {
			return true
		}
	}
	return false
}

// searchTemplates finds pod templates in objects of unknown kinds: a field
// called template (podTemplate, ...) whose spec lists named containers with
// images. Depth and number are bounded because the tree is anybody's.
func searchTemplates(n node, depth int, out *[]template) {
	const maxDepth, maxTemplates = 12, 64
	if depth > maxDepth || len(*out) >= maxTemplates {
		return
	}
	for _, key := range n.keys() {
		child := n.get(key)
		if strings.HasSuffix(strings.ToLower(key), "template") && isPodTemplate(child) {
			*out = append(*out, template{n.obj, child})
			continue
		}
		searchTemplates(child, depth+1, out)
	}
	for _, item := range n.items() {
		searchTemplates(item, depth+1, out)
	}
}

func isPodTemplate(n node) bool {
	containers := n.get("spec", "containers").items()
	for _, c := range containers {
		if c.get("name").text() == "" || c.get("image").text() == "" {
			return false
		}
	}
	return len(containers) > 0
}

// newPodView reads what needs no knowledge of VPNs.
func newPodView(ix *index, t template, clusters []*Cluster, catalog *images.Catalog) *podView {
	o := t.object
	top := root(o)
	p := &podView{
		pod: &Pod{}, object: o, spec: t.pod.get("spec"), ix: ix, clusters: clusters, claims: map[string]bool{},
	}
	for _, claim := range top.get("spec", "volumeClaimTemplates").items() {
		p.claims[claim.get("metadata", "name").text()] = true
	}
	pod := p.pod
	pod.ID = string(o.ID)
	pod.Object = nameOf(o)
	pod.Namespace = o.Namespace
	pod.Workload = workloadName(o)
	pod.Ref = p.spec.ref()
	pod.Metadata = t.pod.get("metadata").ref()
	pod.NameRef = top.get("metadata", "name").ref()
	if pod.NameRef.IsZero() {
		pod.NameRef = top.get("kind").ref()
	}
	pod.Labels = t.pod.get("metadata", "labels").stringMap()
	pod.Annotations = top.get("metadata", "annotations").stringMap()
	for k, v := range t.pod.get("metadata", "annotations").stringMap() {
		pod.Annotations[k] = v
	}
	pod.Replicas, pod.ReplicasRef = replicasOf(top), top.get("spec", "replicas").ref()
	pod.Surge = surgeOf(o)
	pod.Scaled = Setting{State: Absent}
	pod.RunsToCompletion = runsToCompletion(o)
	pod.PerNode = o.Kind == "DaemonSet"
	pod.Unit = path.Clean(o.Unit)
	pod.Clusters = clusterNames(clusters)
	pod.HostNetwork = boolSetting(p.spec.get("hostNetwork"))
	pod.Attached = attached(t.pod.get("metadata", "annotations", networksAnnotation))
	pod.HostPID = boolSetting(p.spec.get("hostPID"))
	pod.HostIPC = boolSetting(p.spec.get("hostIPC"))
	pod.SharedProcesses = boolSetting(p.spec.get("shareProcessNamespace"))
	pod.DNSPolicy = textSetting(p.spec.get("dnsPolicy"), "ClusterFirst")

	p.addContainers(catalog)
	return p
}

// runsToCompletion: Helm waits for the Jobs and Pods among a chart's hooks and
// tests until they have succeeded, and for nothing else.
func runsToCompletion(o *source.Object) bool {
	switch o.Kind {
	case "Job", "CronJob":
		return true
	case "Pod":
		return o.Helm == source.HelmHook || o.Helm == source.HelmTest
	}
	return false
}

// surgeOf reads how many pods a rolling update adds before it takes old ones
// away. A Deployment without a word about it adds a quarter, rounded up.
func surgeOf(o *source.Object) Setting {
	strategy := root(o).get("spec", "strategy")
	surge := strategy.get("rollingUpdate", "maxSurge")
	none := Setting{State: Absent, Ref: strategy.ref()}
	kind, isText := strategy.get("type").str()
	if o.Kind != "Deployment" || isText && kind != "RollingUpdate" {
		return none
	}
	if n, is := root(o).get("spec", "replicas").integer(); is && n == 0 {
		return none // there is nothing to roll out
	}
	text, has := surge.scalar()
	switch {
	case !surge.exists():
		none.Value = "25%"
		return none
	case !has || placeholder(text) != "" || strings.Trim(text, "0%") == "":
		return none
	default:
		return Setting{State: Present, Value: text, Ref: surge.ref()}
	}
}

// scaled reads how many replicas an autoscaler may give a workload. KEDA takes 100
// where nothing is said.
func (ix *index) scaled(o *source.Object) Setting {
	for _, kind := range []struct{ group, kind, most, otherwise string }{
		{"autoscaling", "HorizontalPodAutoscaler", "maxReplicas", ""},
		{"keda.sh", "ScaledObject", "maxReplicaCount", "100"},
	} {
		for _, by := range ix.ofKind(kind.group, kind.kind) {
			spec := root(by).get("spec")
			of, name := spec.get("scaleTargetRef", "kind").text(), spec.get("scaleTargetRef", "name").text()
			if of == "" {
				of = "Deployment"
			}
			if of != o.Kind || name != o.Name || by.Namespace != o.Namespace || ix.apart != nil && ix.apart(o, by) {
				continue
			}
			most := spec.get(kind.most)
			switch n, is := most.integer(); {
			case is && n > 1:
				return Setting{State: Present, Value: strconv.FormatInt(n, 10), Ref: most.ref()}
			case !most.exists() && kind.otherwise != "":
				return Setting{State: Present, Value: kind.otherwise, Ref: spec.ref()}
			}
		}
	}
	return Setting{State: Absent}
}

func replicasOf(top node) int {
	n, ok := top.get("spec", "replicas").integer()
	if !ok || n < 0 || n > 1<<20 {
		return 1
	}
	return int(n)
}

// boolSetting reads a switch that is off when absent.
func boolSetting(n node) Setting {
	switch n.boolean() {
	case Present:
		return Setting{State: Present, Value: "true", Ref: n.ref()}
	case Unknown:
		return Setting{State: Unknown, Ref: n.ref()}
	default:
		if n.exists() {
			return Setting{State: Present, Value: "false", Ref: n.ref()}
		}
		return Setting{State: Absent, Value: "false", Ref: n.ref()}
	}
}

func textSetting(n node, fallback string) Setting {
	if !n.exists() {
		return Setting{State: Absent, Value: fallback, Ref: n.ref()}
	}
	text, is := n.str()
	if !is || placeholder(text) != "" {
		return Setting{State: Unknown, Value: text, Ref: n.ref()}
	}
	return Setting{State: Present, Value: text, Ref: n.ref()}
}

// workloadName is how kubectl exec names the object.
func workloadName(o *source.Object) string {
	short := map[string]string{
		"Deployment": "deploy", "StatefulSet": "sts", "DaemonSet": "ds", "Pod": "pod", "Job": "job",
		"ReplicaSet": "rs", "ReplicationController": "rc", "CronJob": "cronjob",
	}
	if isLoose(o) {
		return "" // what runs it is not known
	}
	if s, known := short[o.Kind]; known {
		return s + "/" + o.Name
	}
	return strings.ToLower(o.Kind) + "/" + o.Name
}

func clusterNames(clusters []*Cluster) []string {
	out := []string{}
	for _, c := range clusters {
		if c.Name != "" {
			out = append(out, c.Name)
		}
	}
	sort.Strings(out)
	return out
}

// addContainers reads the containers in start order: init containers one after
// the other, native sidecars among them, then the containers.
func (p *podView) addContainers(catalog *images.Catalog) {
	for _, c := range p.spec.get("initContainers").items() {
		stage := Init
		if c.get("restartPolicy").text() == "Always" {
			stage = NativeSidecar
		}
		p.addContainer(c, stage, catalog)
	}
	for _, c := range p.spec.get("containers").items() {
		p.addContainer(c, Main, catalog)
	}
	p.pod.Containers = make([]Container, len(p.containers))
	for i, c := range p.containers {
		p.pod.Containers[i] = *c.c
		c.c = &p.pod.Containers[i]
		c.withoutVPN()
		c.byProgram(catalog)
	}
	p.byConfig(catalog)
	for _, c := range p.containers {
		c.classify()
		c.imageUnseen()
	}
}

// imageUnseen: a container that may change the network of its pod, as few do that
// carry no VPN, runs an image that is named when the tree is applied.
func (c *containerView) imageUnseen() {
	if c.image.Family != nil || c.image.LookAlike != nil || !nameUnseen(c.c.Image) || !containsWord(c.c.Capabilities, "NET_ADMIN") && !c.c.TunDevice {
		return
	}
	c.pod.ix.gapAt(finding.Unresolved, c.pod.object, c.c.ImageRef, "what container "+c.c.Name+" runs", filledIn(clip(c.c.Image)),
		"whether the pod carries a VPN is not judged: VPN101, VPN109, VPN112, VPN302, VPN304 and VPN501 stay silent about it",
		"VPN101", "VPN109", "VPN112", "VPN302", "VPN304", "VPN501")
}

// nameUnseen: a placeholder stands for the name of an image, and not only for its
// registry or tag.
func nameUnseen(image string) bool {
	for rest := image; ; {
		p := placeholder(rest)
		if p == "" {
			return false
		}
		before, after, _ := strings.Cut(rest, p)
		tagged := strings.Contains(before[strings.LastIndexByte(before, '/')+1:], ":")
		if !tagged && !strings.Contains(after, "/") {
			return true
		}
		rest = after
	}
}

func (p *podView) addContainer(spec node, stage Stage, catalog *images.Catalog) {
	if !spec.isMap() {
		return
	}
	image := spec.get("image")
	security := spec.get("securityContext")
	c := &Container{
		Name: spec.get("name").text(), Ref: spec.ref(), Stage: stage, Order: len(p.containers),
		Image: image.text(), ImageRef: image.ref(),
		Privileged:   security.get("privileged").boolean(),
		Capabilities: capabilities(security.get("capabilities", "add")),
		Dropped:      capabilities(security.get("capabilities", "drop")),
		SecurityRef:  security.ref(),
		NonRoot:      nonRoot(security, p.spec.get("securityContext")),
		Unmasked:     security.get("procMount").text() == "Unmasked",
		TunDevice:    p.hasTunDevice(spec),
		UsesNetwork:  Absent,
	}
	// Runtimes take away what is dropped after they have added, one by one; ALL
	// they drop first, so that what is added outlives it.
	c.Capabilities = slices.DeleteFunc(c.Capabilities, func(name string) bool {
		return name != "ALL" && slices.Contains(c.Dropped, name)
	})
	view := &containerView{c: c, spec: spec, pod: p}
	view.image = catalog.Match(c.Image, view.hints())
	p.containers = append(p.containers, view)
}

// capabilities returns added capabilities as rules compare them.
func capabilities(add node) []string {
	out := []string{}
	seen := map[string]bool{}
	for _, item := range add.texts() {
		name := capability(item)
		if name != "" && !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out
}

// capability is the name of one capability, upper case, without CAP_.
func capability(item node) string {
	return strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(item.text())), "CAP_")
}

// mayUse: it has a capability, or all of which this one is not taken away.
func (c *containerView) mayUse(capability string) bool {
	return containsWord(c.c.Capabilities, capability) ||
		containsWord(c.c.Capabilities, "ALL") && !containsWord(c.c.Dropped, capability)
}

// nonRoot tells whether a container certainly runs as another user than 0; its
// own fields win over the pod's.
func nonRoot(container, pod node) Setting {
	for _, context := range []node{container, pod} {
		user := context.get("runAsUser")
		if id, is := user.integer(); is {
			return Setting{State: answer(id != 0), Value: itoa(int(id)), Ref: user.ref()}
		}
	}
	for _, context := range []node{container, pod} {
		if flag := context.get("runAsNonRoot"); flag.exists() {
			if flag.boolean() == Present {
				return Setting{State: Present, Value: "runAsNonRoot", Ref: flag.ref()}
			}
			break
		}
	}
	return Setting{State: Unknown, Ref: container.ref()}
}

// hasTunDevice reports whether the tun device reaches a container other than by
// making it there.
func (p *podView) hasTunDevice(container node) bool {
	for _, list := range []string{"limits", "requests"} {
		for _, name := range container.get("resources", list).keys() {
			if strings.Contains(name, "/") && strings.Contains(strings.ToLower(name[strings.LastIndexByte(name, '/'):]), "tun") {
				return true
			}
		}
	}
	mounted := map[string]bool{}
	for _, m := range container.get("volumeMounts").items() {
		mounted[m.get("name").text()] = true
	}
	for _, v := range p.spec.get("volumes").items() {
		host := strings.TrimSuffix(v.get("hostPath", "path").text(), "/")
		if mounted[v.get("name").text()] && (host == "/dev/net/tun" || host == "/dev/net" || host == "/dev") {
			return true
		}
	}
	return false
}
