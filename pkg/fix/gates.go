package fix

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/loader"
)

// probeOf are the lines of a startup probe that asks the tunnel, nil where none is
// known to work in the image: gluetun's own health check (FG C1), else the
// interface, which wg-quick and OpenVPN make when the tunnel is set up, with the
// same ip command.
func probeOf(t *facts.Tunnel, step int) []string {
	var command string
	switch {
	case t.Family == "gluetun":
		command = "[/gluetun-entrypoint, healthcheck]"
	case t.ImageKnown && t.Interface != "" && (t.Kind == "wireguard" || t.Kind == "openvpn"):
		command = fmt.Sprintf("[ip, link, show, dev, %s]", t.Interface)
	default:
		return nil
	}
	return []string{
		"startupProbe:",
		pad(step) + "exec:",
		pad(2*step) + "command: " + command,
		pad(step) + "periodSeconds: 5",
		pad(step) + "failureThreshold: 30",
	}
}

// gateOf is the gate that a finding is about, with its tunnel and container.
func (c *sight) gateOf() (*facts.Pod, *facts.Tunnel, *facts.Container) {
	pod := c.Pod()
	if pod == nil || len(pod.Gates) != 1 {
		c.none("which of the pod's tunnels to wait for is not guessed")
		return nil, nil, nil
	}
	t := slices.IndexFunc(pod.Tunnels, func(t facts.Tunnel) bool { return t.Container == pod.Gates[0].Tunnel })
	k := slices.IndexFunc(pod.Containers, func(k facts.Container) bool { return k.Name == pod.Gates[0].Tunnel })
	if t < 0 || k < 0 {
		return nil, nil, nil
	}
	return pod, &pod.Tunnels[t], &pod.Containers[k]
}

// startupProbe gives a native sidecar a probe that holds the next container back
// until the tunnel is up (FG D5.2).
func startupProbe(c *sight) []candidate {
	_, t, k := c.gateOf()
	if t == nil || k.Stage != facts.NativeSidecar {
		return nil
	}
	at, ok := c.containerAt(k)
	if !ok {
		return c.notEdited("container " + k.Name + " is")
	}
	edits, ok := at.addProbe(t)
	if !ok || len(edits) == 0 {
		return c.noProbe(t)
	}
	return []candidate{{Title: "give " + k.Name + " a startup probe that waits for the tunnel", Edits: edits}}
}

// addProbe are the edits that give a container its startup probe, none where it has
// one: as Kubernetes has it, or as app-template's values have it.
func (p place) addProbe(t *facts.Tunnel) ([]finding.Edit, bool) {
	step, _ := p.step()
	probe := probeOf(t, step)
	list := p.parent(1)
	if list == nil || probe == nil {
		return nil, false
	}
	if list.Kind == yaml.SequenceNode {
		if key, _ := field(p.node, "startupProbe"); key != nil {
			return nil, true
		}
		return []finding.Edit{p.addField(probe, start()...)}, true
	}
	startup := append([]string{"startup:", pad(step) + "enabled: true", pad(step) + "custom: true", pad(step) + "spec:"}, indented(2*step, indented(-step, probe[1:]))...)
	key, probes := field(p.node, "probes")
	switch {
	case key == nil:
		return []finding.Edit{p.addField(append([]string{"probes:"}, indented(step, startup)...), start()...)}, true
	case isBlock(probes) && probes.Kind == yaml.MappingNode:
		if has, _ := field(probes, "startup"); has != nil {
			return nil, false // on or off, somebody has decided
		}
		return []finding.Edit{p.at(probes).addField(startup)}, true
	}
	return nil, false
}

// nativeSidecar moves a VPN that is an ordinary container among the init
// containers, with restartPolicy Always and a startup probe: it then starts first,
// and ends with the pod (FG D5.1, D5.2).
func nativeSidecar(c *sight) []candidate {
	pod, t, k := c.gateOf()
	if t == nil || k.Stage != facts.Main {
		return nil
	}
	if !c.knowsSidecars() {
		return c.none("the Kubernetes that is linted for has no native sidecars (--kube-version)")
	}
	at, ok := c.containerAt(k)
	if !ok {
		return c.notEdited("container " + k.Name + " is")
	}
	list, owner := at.parent(1), at.parent(2)
	if list == nil || owner == nil || !isBlock(list) || !isBlock(owner) {
		return c.notEdited("the list of containers is")
	}
	containers, spec := at.at(list), at.at(owner)
	key, value := field(owner, "containers")
	if value != list {
		return c.notEdited("the list of containers is")
	}
	inner, ok := at.addProbe(t)
	if !ok {
		return c.noProbe(t)
	}
	always, ok := at.restarts(inner)
	if !ok {
		return c.none("container " + k.Name + " has a restartPolicy of its own")
	}
	if onlyItem(list) {
		return c.none(k.Name + " is the only container that this file lists, and a list must not become empty")
	}
	outer, unwaited, ok := containers.withoutWaits(at, k.Name)
	if !ok {
		return c.notEdited("the order of the containers (dependsOn) is")
	}
	item, cut, ok := containers.lift(at.node, append(always, unwaited...))
	if !ok {
		return c.notEdited("container " + k.Name + " is")
	}
	outer = append(outer, cut)
	title := fmt.Sprintf("run %s as a native sidecar with a startup probe", k.Name)
	var out []candidate
	review := ""
	offer := func(offset, column int, lines []string) {
		out = append(out, candidate{Title: title, Review: review, Edits: append(slices.Clip(outer), spec.insert(offset, column, lines))})
	}
	initKey, inits := field(owner, "initContainers")
	if inits != nil && inits.Kind == yaml.MappingNode {
		// (app-template orders its maps by name, whatever the order in the file)
		if later := firstAfter(inits, k.Name); later != "" {
			review = fmt.Sprintf("the chart starts init containers by name: %s starts before %s, unless a dependsOn says otherwise", k.Name, later)
		}
	}
	dash := containers.column() - spec.column()
	switch {
	case initKey == nil:
		if offset, ok := spec.at(key).before(); ok {
			offer(offset, spec.column(), append([]string{"initContainers:"}, indented(dash, item)...))
		}
	case isBlock(inits) && inits.Kind == list.Kind:
		if len(pod.Gates[0].FakeGates) == 0 && len(pod.Gates[0].EarlyInits) == 0 {
			offer(spec.at(inits).last(), spec.at(inits).column(), item)
		} else if onlyGates(pod) {
			offer(spec.at(initKey).lineEnd(), spec.at(inits).column(), item)
		}
	}
	if len(out) == 0 {
		return c.none("init containers do more than wait for the tunnel, and whether they may start after it is not known")
	}
	return out
}

// noProbe is none for a tunnel that gets no startup probe.
func (c *sight) noProbe(t *facts.Tunnel) []candidate {
	if probeOf(t, 2) == nil {
		return c.none("no startup probe is known to work in the image of " + t.Container)
	}
	return c.none("container " + t.Container + " has a startup probe, or its list of containers is written" + whyLayout)
}

// firstAfter returns the first key of a mapping by name that comes after a name,
// "" for none.
func firstAfter(mapping *yaml.Node, name string) string {
	first := ""
	for i := 0; i < len(mapping.Content); i += 2 {
		if key := mapping.Content[i].Value; key > name && (first == "" || key < first) {
			first = key
		}
	}
	return first
}

// restarts puts restartPolicy Always before the probe that is added, or where it
// would be.
func (p place) restarts(probe []finding.Edit) ([]finding.Edit, bool) {
	if key, _ := field(p.node, "restartPolicy"); key != nil {
		return nil, false // no ordinary container has one
	}
	always := p.addField([]string{"restartPolicy: Always"}, start()...)
	for i := range probe {
		if probe[i].At == always.At {
			probe[i].Text = always.Text + probe[i].Text
			return probe, true
		}
	}
	return append(probe, always), true
}

// withoutWaits takes out what app-template orders ordinary containers by: an init
// container waits for none of them, and they need not wait for it any more. outer
// are the edits of the others, inner those of the container at.
func (p place) withoutWaits(at place, name string) (outer, inner []finding.Edit, ok bool) {
	if p.node.Kind == yaml.SequenceNode {
		return nil, nil, true
	}
	for i := 1; i < len(p.node.Content); i += 2 {
		one := p.at(p.node.Content[i])
		key, on := field(one.node, "dependsOn")
		switch {
		case key == nil:
		case on.Kind != yaml.ScalarNode:
			return nil, nil, false
		case one.node == at.node || on.Value == name:
			edit, ok := one.dropField("dependsOn")
			if !ok {
				return nil, nil, false
			}
			if one.node == at.node {
				inner = append(inner, edit)
			} else {
				outer = append(outer, edit)
			}
		}
	}
	return outer, inner, true
}

// onlyItem reports whether a list, or a mapping by name, has one item at most.
func onlyItem(list *yaml.Node) bool {
	if list.Kind == yaml.MappingNode {
		return len(list.Content) < 4
	}
	return len(list.Content) < 2
}

// dropField is the edit that removes the lines of a field of a block mapping.
func (p place) dropField(name string) (finding.Edit, bool) {
	key, value := field(p.node, name)
	f := p.text.File
	begin := lineStart(f.Text(), p.text.Start(key))
	if !isBlock(p.node) || begin == 0 || len(p.node.Content) < 4 || strings.TrimSpace(f.Text()[begin:p.text.Start(key)]) != "" {
		return finding.Edit{}, false
	}
	return replace(f, lineEnd(f.Text(), lineStart(f.Text(), begin-1)), p.at(value).last(), ""), true
}

// knowsSidecars: the Kubernetes that is linted for restarts init containers, as
// 1.29 does by default.
func (c *sight) knowsSidecars() bool {
	var major, minor int
	version := strings.TrimPrefix(cmp.Or(c.Options.Load.KubeVersion, loader.DefaultKubeVersion), "v")
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major > 1 || minor >= 29
}

// onlyGates: the init containers do nothing but wait for the VPN or use the
// network, so that they may start after it.
func onlyGates(pod *facts.Pod) bool {
	g := &pod.Gates[0]
	return !slices.ContainsFunc(pod.Containers, func(k facts.Container) bool {
		named := func(n facts.NamedRef) bool { return n.Name == k.Name }
		return k.Stage == facts.Init && !slices.ContainsFunc(g.FakeGates, named) && !slices.ContainsFunc(g.EarlyInits, named)
	})
}

// lift takes an item out of a list, or out of a mapping by its value: its lines
// without indentation, with edits inside of it applied, and the edit that removes
// them. Comments right above it go along.
func (p place) lift(n *yaml.Node, inner []finding.Edit) (lines []string, cut finding.Edit, ok bool) {
	i := slices.Index(p.node.Content, n)
	if i < 0 {
		return nil, finding.Edit{}, false
	}
	f := p.text.File
	text := f.Text()
	indent := pad(p.column())
	first, lead := p.text.Start(n), indent+p.bullet()
	if p.node.Kind == yaml.MappingNode {
		first, lead = p.text.Start(p.node.Content[i-1]), indent
	}
	begin := lineStart(text, first)
	if text[begin:first] != lead {
		return nil, finding.Edit{}, false
	}
	for begin > 0 {
		above := lineStart(text, begin-1)
		if !strings.HasPrefix(text[above:begin], indent+"#") {
			break
		}
		begin = above
	}
	if begin == 0 {
		return nil, finding.Edit{}, false
	}
	begin = lineEnd(text, lineStart(text, begin-1))
	end := p.at(n).last()
	for _, e := range inner {
		if s := spanOf(f, e); s.start < begin || s.end > end {
			return nil, finding.Edit{}, false
		}
	}
	// What stands around the item is as long before as after.
	whole, err := edited(f, inner)
	if err != nil {
		return nil, finding.Edit{}, false
	}
	whole = strings.TrimPrefix(whole[begin:len(whole)-(len(text)-end)], lineBreak(text))
	for line := range strings.SplitSeq(whole, "\n") {
		line = strings.TrimSuffix(line, "\r")
		bare, inside := strings.CutPrefix(line, indent)
		if !inside && strings.TrimSpace(line) != "" {
			return nil, finding.Edit{}, false
		}
		lines = append(lines, bare)
	}
	return lines, replace(f, begin, end, ""), true
}
