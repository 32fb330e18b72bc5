package facts

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// readRejections holds a pod with a VPN in it against the Pod Security level
// that its namespace enforces, as the admission plugin would (FG D4).
// Kubernetes' own library decides; only what the tunnel needs is asked at the
// restricted level, which few pods meet without being written for it.
func readRejections(p *podView) {
	asAdmitted, added := admitted(p)
	if len(added) == 0 && !slices.ContainsFunc(p.containers, func(c *containerView) bool { return c.c.DataPlane }) {
		return
	}
	if p.made != nil && !p.made.namespaceKnown {
		return
	}
	namespace, state := p.ix.find("Namespace", "", normalNamespace(p.object.Namespace), p.object)
	if state != Present {
		return
	}
	labels := root(namespace).get("metadata", "labels")
	enforce := labels.get(api.EnforceLevelLabel)
	level, err := api.ParseLevel(enforce.text())
	if err != nil || level == api.LevelPrivileged {
		return
	}
	version := api.LatestVersion()
	if pinned := labels.get(api.EnforceVersionLabel); pinned.exists() {
		if version, err = api.ParseVersion(pinned.text()); err != nil {
			return
		}
	}
	meta := &metav1.ObjectMeta{Annotations: p.pod.Annotations}
	spec := typedSpec(asAdmitted)
	for _, in := range added {
		p.pod.Injected = append(p.pod.Injected, Injected{Name: in.name, Carries: in.carries, Ref: in.asks.ref(), By: in.by})
	}
	for _, c := range checksAt(level, version) {
		result := c.run(meta, spec)
		if result.Allowed {
			continue
		}
		says := result.ForbiddenReason
		if result.ForbiddenDetail != "" {
			says += " (" + clip(result.ForbiddenDetail) + ")"
		}
		p.pod.Rejections = append(p.pod.Rejections, Rejection{
			Level: string(level), Version: version.String(), Says: says, Ref: blame(asAdmitted, c.id), LabelRef: enforce.ref(),
		})
	}
}

// securityCheck is a check in the form that it has at one version.
type securityCheck struct {
	id  policy.CheckID
	run policy.CheckPodFn
}

// checksAt returns the checks of a level at a version. The library has a
// registry that does the same but does not tell which check failed.
func checksAt(level api.Level, version api.Version) []securityCheck {
	var out []securityCheck
	overridden := map[policy.CheckID]bool{}
	for _, c := range policy.DefaultChecks() {
		if level == api.LevelBaseline && c.Level != api.LevelBaseline || level == api.LevelRestricted && !tunnelNeeds(c.ID) {
			continue
		}
		at := -1
		for i, v := range c.Versions {
			if !version.Older(v.MinimumVersion) {
				at = i
			}
		}
		if at < 0 {
			continue
		}
		for _, id := range c.Versions[at].OverrideCheckIDs {
			overridden[id] = true
		}
		out = append(out, securityCheck{c.ID, c.Versions[at].CheckPod})
	}
	return slices.DeleteFunc(out, func(c securityCheck) bool { return overridden[c.id] })
}

// tunnelNeeds: the checks that a kernel data plane runs into. Whether a pod
// also sets a seccomp profile is another matter than its VPN.
func tunnelNeeds(id policy.CheckID) bool {
	switch id {
	case "capabilities_baseline", "capabilities_restricted", "privileged", "hostNamespaces", "sysctls",
		"procMount", "procMount_restricted", "hostPathVolumes", "runAsNonRoot", "runAsUser":
		return true
	default:
		return false
	}
}

// typedSpec decodes what the checks look at, field by field: a field of a wrong
// type is left out, and so never rejected here.
func typedSpec(spec node) *corev1.PodSpec {
	out := &corev1.PodSpec{
		HostNetwork: spec.get("hostNetwork").boolean() == Present,
		HostPID:     spec.get("hostPID").boolean() == Present,
		HostIPC:     spec.get("hostIPC").boolean() == Present,
	}
	typed(spec.get("securityContext"), &out.SecurityContext)
	typed(spec.get("os"), &out.OS)
	if users := spec.get("hostUsers"); users.exists() {
		typed(users, &out.HostUsers)
	}
	for _, v := range spec.get("volumes").items() {
		var volume corev1.Volume
		if typed(v, &volume) {
			out.Volumes = append(out.Volumes, volume)
		}
	}
	containers := func(key string) []corev1.Container {
		var list []corev1.Container
		for _, c := range spec.get(key).items() {
			container := corev1.Container{Name: c.get("name").text()}
			typed(c.get("securityContext"), &container.SecurityContext)
			typed(c.get("ports"), &container.Ports)
			typed(c.get("lifecycle"), &container.Lifecycle)
			typed(c.get("livenessProbe"), &container.LivenessProbe)
			typed(c.get("readinessProbe"), &container.ReadinessProbe)
			typed(c.get("startupProbe"), &container.StartupProbe)
			list = append(list, container)
		}
		return list
	}
	out.InitContainers, out.Containers = containers("initContainers"), containers("containers")
	return out
}

// typed decodes a field, and leaves out as it is when that fails.
func typed[T any](n node, out *T) bool {
	if !n.exists() {
		return false
	}
	text, err := json.Marshal(n.val)
	if err != nil {
		return false
	}
	var decoded T
	if json.Unmarshal(text, &decoded) != nil {
		return false
	}
	*out = decoded
	return true
}

// blame finds the field that a check objects to, the most telling one first.
func blame(spec node, id policy.CheckID) source.Ref {
	containers := append(spec.get("initContainers").items(), spec.get("containers").items()...)
	each := func(pick func(c node) node) source.Ref {
		for _, c := range containers {
			if n := pick(c); n.exists() {
				return n.ref()
			}
		}
		return source.Ref{}
	}
	security := func(keys ...string) func(node) node {
		return func(c node) node { return c.get("securityContext").get(keys...) }
	}
	at := source.Ref{}
	switch id {
	case "capabilities_baseline", "capabilities_restricted":
		at = each(func(c node) node {
			add := c.get("securityContext", "capabilities", "add")
			if len(capabilities(add)) == 0 { // admission does not look at what is dropped again
				return node{}
			}
			return add
		})
	case "privileged":
		at = each(func(c node) node {
			privileged := c.get("securityContext", "privileged")
			if privileged.boolean() != Present {
				return node{}
			}
			return privileged
		})
	case "procMount", "procMount_restricted":
		at = each(security("procMount"))
	case "runAsUser", "runAsNonRoot":
		at = each(security(string(id)))
	case "hostNamespaces":
		for _, key := range []string{"hostNetwork", "hostPID", "hostIPC"} {
			if n := spec.get(key); at.IsZero() && n.boolean() == Present {
				at = n.ref()
			}
		}
	case "sysctls":
		at = spec.get("securityContext", "sysctls").ref()
	case "hostPathVolumes":
		for _, v := range spec.get("volumes").items() {
			if at.IsZero() && v.get("hostPath").exists() {
				at = v.ref()
			}
		}
	case "hostPorts":
		for _, c := range containers {
			for _, port := range c.get("ports").items() {
				if at.IsZero() && port.get("hostPort").exists() {
					at = port.get("hostPort").ref()
				}
			}
		}
	}
	if at.IsZero() {
		return spec.ref()
	}
	return at
}
