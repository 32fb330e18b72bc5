package fix

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// forwardingWords are the spellings of the setting (FG D1).
var forwardingWords = []string{"ip_forward", "conf.all.forwarding", "conf/all/forwarding"}

// chartForwarding has a chart turn forwarding on before its VPN starts: by a
// switch of its own, else by an init container or a pod sysctl that its values
// can carry. Kubelets refuse the sysctl unless they are told to take it; where
// none in view does, VPN104 comes of it and the proof fails.
func chartForwarding(c *sight) []candidate {
	v, pod := c.chartView(), c.Pod()
	if v == nil || pod == nil {
		return nil
	}
	spec := pod.Ref.Pointer
	out := v.bySwitch(spec, forwardingWords, func(before, after leafSet) bool {
		return after.gains(before, func(_, text string) bool { return containsOf(text, forwardingWords) })
	})
	command := []any{"sysctl", "-w"}
	lacking := c.lacking(pod)
	if len(lacking) == 0 {
		return out
	}
	for _, setting := range lacking {
		command = append(command, setting)
	}
	if name, value, _ := strings.Cut(strings.Join(lacking, " "), "="); len(lacking) == 1 {
		out = append(out, v.ways(spec, want{
			what: "set the pod sysctl " + name, pointer: pod.Ref.Child("securityContext", "sysctls").Pointer,
			value: map[string]any{"name": name, "value": value}, item: true,
		})...)
	}
	security := map[string]any{"privileged": true}
	if c.asRoot(pod) {
		security["runAsUser"], security["runAsNonRoot"] = 0, false
	}
	return append(out, v.ways(spec, want{
		what: "add an init container that turns forwarding on", pointer: pod.Ref.Child("initContainers").Pointer, item: true,
		value: map[string]any{"name": c.unusedName(pod), "image": forwardingImage, "command": command, "securityContext": security},
	})...)
}

// chartWriter lets an init container write what it is there for.
func chartWriter(c *sight) []candidate {
	v, pod := c.chartView(), c.Pod()
	if v == nil || pod == nil {
		return nil
	}
	writer := v.refusedInit(pod)
	if writer == nil {
		return nil
	}
	return v.ways(pod.Ref.Pointer, want{
		what:    "let init container " + writer.Name + " write /proc/sys",
		pointer: writer.Ref.Child("securityContext", "privileged").Pointer, value: true,
	})
}

// refusedInit is the init container whose write VPN102 is about: to write is all
// that it is there for.
func (v *chartView) refusedInit(pod *facts.Pod) *facts.Container {
	for _, family := range []*facts.FamilyForwarding{&pod.Forwarding.IPv4, &pod.Forwarding.IPv6} {
		for _, e := range family.Evidence {
			k := container(pod, e.Container)
			if e.Effective == facts.Absent && e.Ref.Pointer == v.Finding.Pointer && k != nil && k.Stage == facts.Init && !k.DataPlane {
				return k
			}
		}
	}
	return nil
}

// chartBypass writes the bypass list that was computed for the pod's cluster.
func chartBypass(c *sight) []candidate {
	v, pod := c.chartView(), c.Pod()
	if v == nil || pod == nil {
		return nil
	}
	var out []candidate
	for i := range pod.Tunnels {
		t := &pod.Tunnels[i]
		k := container(pod, t.Container)
		lines, prefixes := suggested(t)
		if k == nil || len(lines) == 0 {
			continue
		}
		out = append(out, v.bySwitch(pod.Ref.Pointer, []string{t.Bypass.Key}, func(before, after leafSet) bool {
			return after.gains(before, func(_, text string) bool { return containsOf(text, prefixes) })
		})...)
		var wants []want
		for _, line := range lines {
			name, value, _ := strings.Cut(line, "=")
			wants = append(wants, v.variable(k, name, value))
		}
		out = append(out, v.ways(pod.Ref.Pointer, wants...)...)
	}
	return out
}

var variableLine = regexp.MustCompile(`^[A-Z][A-Z0-9_]*=[^ ]+$`)

// suggested are the variables to set, of a tunnel of one cluster: each cluster
// would have other ones.
func suggested(t *facts.Tunnel) (lines, prefixes []string) {
	if len(t.Captures) != 1 || t.Captures[0].Suggestion == "" {
		return nil, nil
	}
	for line := range strings.SplitSeq(t.Captures[0].Suggestion, "\n") {
		if !variableLine.MatchString(line) {
			return nil, nil
		}
		lines = append(lines, line)
	}
	return lines, t.Captures[0].Missing
}

// variable is the wish that a container has a variable.
func (v *chartView) variable(k *facts.Container, name, value string) want {
	env := k.Ref.Child("env")
	list, _ := descend(v.object, env.Pointer).([]any)
	w := want{what: "set " + name + " to " + value, pointer: env.Pointer, value: map[string]any{"name": name, "value": value}, item: true}
	for i, item := range list {
		if member(item, "name") == name {
			w.pointer, w.value, w.item = env.Child(fmt.Sprint(i), "value").Pointer, value, false
		}
	}
	return w
}

// chartGate has a tunnel that runs as a native sidecar tested before the
// application starts, or throws the chart's switch that makes it one.
func chartGate(c *sight) []candidate {
	v, pod := c.chartView(), c.Pod()
	if v == nil || pod == nil {
		return nil
	}
	out := v.bySwitch(pod.Ref.Pointer, []string{"startupProbe", "postStart", "restartPolicy: Always"}, func(before, after leafSet) bool {
		return after.gains(before, func(pointer, text string) bool {
			return strings.Contains(pointer, "/startupProbe/") || strings.Contains(pointer, "/postStart/") ||
				strings.Contains(pointer, "/initContainers/") && strings.HasSuffix(pointer, "/restartPolicy") && text == "Always"
		})
	})
	for i := range pod.Gates {
		g := &pod.Gates[i]
		k := container(pod, g.Tunnel)
		if k == nil || g.Stage != facts.NativeSidecar || g.StartupProbe.State != facts.Absent {
			continue
		}
		test := probeValue(pod, k)
		if test == nil {
			continue
		}
		out = append(out, v.ways(pod.Ref.Pointer, want{
			what: "test the tunnel of " + k.Name + " before the application starts", pointer: k.Ref.Child("startupProbe").Pointer,
			value: test,
		})...)
	}
	return out
}

// probeValue is the startup probe that manifests get, as a value.
func probeValue(pod *facts.Pod, k *facts.Container) map[string]any {
	for i := range pod.Tunnels {
		if t := &pod.Tunnels[i]; t.Container == k.Name {
			var field map[string]map[string]any
			if err := yaml.Unmarshal([]byte(strings.Join(probeOf(t, 2), "\n")), &field); err == nil {
				return field["startupProbe"]
			}
		}
	}
	return nil
}

// chartKillSwitch turns the image's own kill switch on, or throws the chart's
// switch for a policy.
func chartKillSwitch(c *sight) []candidate {
	v, pod := c.chartView(), c.Pod()
	if v == nil || pod == nil {
		return nil
	}
	out := v.bySwitch(pod.Ref.Pointer, []string{"NetworkPolicy", "kill", "KILL", "FIREWALL"}, func(before, after leafSet) bool {
		return after.gains(before, func(pointer, text string) bool {
			return strings.HasSuffix(pointer, "/kind") && strings.HasSuffix(text, "NetworkPolicy") || strings.Contains(pointer, "/env/")
		})
	})
	for i := range out {
		out[i].Review = "what is left of the pod's egress outside the tunnel is dropped: see that the application needs none of it"
	}
	for i := range pod.Tunnels {
		t := &pod.Tunnels[i]
		k, family := container(pod, t.Container), c.catalog.Family(t.Family)
		if k == nil || family == nil || t.KillSwitch.State != facts.Absent {
			continue
		}
		for _, key := range family.Env.KillSwitch {
			value := key.Default
			if len(key.OnValues) > 0 {
				value = key.OnValues[0]
			}
			if key.Key == "" || key.Deprecated || value == "" || key.Read(images.ParseVersion(t.Version)) == images.No {
				continue
			}
			for _, one := range v.ways(pod.Ref.Pointer, v.variable(k, key.Key, value)) {
				one.Review = "the image's firewall then drops whatever leaves outside the tunnel and is on no bypass list"
				out = append(out, one)
			}
		}
	}
	return out
}

// chartPrivilege gives a tunnel's container the capability that it needs in the
// place of all privileges, and takes what it shares with the node away.
func chartPrivilege(c *sight) []candidate {
	v, pod := c.chartView(), c.Pod()
	if v == nil || pod == nil {
		return nil
	}
	var out []candidate
	spec := pod.Ref.Pointer
	for i := range pod.Containers {
		k := &pod.Containers[i]
		privileged := k.Ref.Child("securityContext", "privileged").Pointer
		wireguard := slices.ContainsFunc(pod.Tunnels, func(t facts.Tunnel) bool { return t.Container == k.Name && t.Kind == "wireguard" })
		if !k.DataPlane || c.Finding.Pointer != privileged || !k.TunDevice && !k.MakesTun && !wireguard {
			continue // the device would be missing
		}
		wants := []want{{what: "run container " + k.Name + " without privileges", pointer: privileged, value: false}}
		if !slices.Contains(k.Capabilities, "NET_ADMIN") {
			wants = append(wants, want{
				what: "give it NET_ADMIN", pointer: k.Ref.Child("securityContext", "capabilities", "add").Pointer, value: "NET_ADMIN", item: true,
			})
		}
		for _, one := range append(v.letOut(privileged), v.ways(spec, wants...)...) {
			if !k.TunDevice {
				one.Review = tunDeviceReview
			}
			out = append(out, one)
		}
	}
	for _, field := range []string{"hostPID", "hostIPC"} {
		if at := pod.Ref.Child(field).Pointer; c.Finding.Pointer == at {
			out = append(out, v.letOut(at)...)
			out = append(out, v.ways(spec, want{what: "keep the node's processes to the node", pointer: at, value: false})...)
		}
	}
	return out
}

// letOut are the switches that let the text at a pointer in, thrown back.
func (v *chartView) letOut(pointer string) []candidate {
	var out []candidate
	guards := v.object.Origin.Locate(source.Ref{Object: v.object.ID, Pointer: pointer}).Guards
	for _, g := range slices.Backward(guards) {
		if !g.Taken {
			continue
		}
		for _, ch := range v.thrownBack(g) {
			out = append(out, v.switched(ch))
		}
	}
	return out
}

// bySwitch are the switches that let in what the finding misses.
func (v *chartView) bySwitch(spec string, words []string, proves func(before, after leafSet) bool) []candidate {
	before := leavesOf(v.ownObjects())
	var out []candidate
	for _, way := range v.switches(spec, words, func(after []*source.Object) bool { return proves(before, leavesOf(after)) }) {
		one := v.switched(way...)
		if more := v.added(way); len(more) > 0 {
			one.Review = "the switch also brings " + sentence(more)
		}
		out = append(out, one)
	}
	return out
}

// added are the objects that come with switches. A kind of which there are no more
// than before has only other names.
func (v *chartView) added(way []change) []string {
	had, kinds := map[string]bool{}, map[string]int{}
	for _, o := range v.ownObjects() {
		had[finding.NameOf(o).String()] = true
		kinds[o.Kind]--
	}
	after := v.chartWith(override(v.values().Tree, way))
	for _, o := range after {
		kinds[o.Kind]++
	}
	var out []string
	for _, o := range after {
		if name := finding.NameOf(o).String(); !had[name] && kinds[o.Kind] > 0 && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// switched is the candidate that throws switches.
func (v *chartView) switched(changes ...change) candidate {
	var what []string
	for _, ch := range changes {
		what = append(what, fmt.Sprintf("%s to %v", v.dotted(ch.path), ch.value))
	}
	return v.candidate("set "+strings.Join(what, " and "), size(rankSwitch, changes), changes...)
}

// ownObjects are the chart's objects as they are.
func (v *chartView) ownObjects() []*source.Object {
	return slices.DeleteFunc(slices.Clone(v.Reading.Objects), func(o *source.Object) bool { return !v.of(o) })
}

// leafSet is what objects say, by kind, name and pointer.
type leafSet map[[2]string]bool

func leavesOf(objects []*source.Object) leafSet {
	out := leafSet{}
	for _, o := range objects {
		name := o.Kind + "/" + o.Namespace + "/" + o.Name
		var visit func(at source.Ref, v any)
		visit = func(at source.Ref, v any) {
			switch v := v.(type) {
			case map[string]any:
				for key, inner := range v {
					visit(at.Child(key), inner)
				}
			case []any:
				for i, inner := range v {
					visit(at.Child(fmt.Sprint(i)), inner)
				}
			default:
				out[[2]string{name + at.Pointer, fmt.Sprint(v)}] = true
			}
		}
		visit(source.Ref{}, o.Tree)
	}
	return out
}

// gains reports whether something is said now that was not before.
func (s leafSet) gains(before leafSet, is func(pointer, text string) bool) bool {
	for leaf := range s {
		if !before[leaf] && is(leaf[0], leaf[1]) {
			return true
		}
	}
	return false
}

func containsOf(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return w != "" && strings.Contains(text, w) })
}
