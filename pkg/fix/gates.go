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
func (c *Context) gateOf() (*facts.Pod, *facts.Tunnel, *facts.Container) {
	pod := c.Pod()
	if pod == nil || len(pod.Gates) != 1 {
		return nil, nil, nil // of several tunnels, which one is not guessed
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
func startupProbe(c *Context) []Candidate {
	_, t, k := c.gateOf()
	if t == nil || k.Stage != facts.NativeSidecar {
		return nil
	}
	at, ok := c.containerAt(k)
	if !ok || at.parent(1) == nil || at.parent(1).Kind != yaml.SequenceNode {
		return nil
	}
	if key, _ := field(at.node, "startupProbe"); key != nil {
		return nil
	}
	step, _ := at.step()
	lines := probeOf(t, step)
	if lines == nil {
		return nil
	}
	return []Candidate{{
		Title: "give " + k.Name + " a startup probe that waits for the tunnel",
		Edits: []finding.Edit{at.addField(lines, start()...)},
	}}
}

// nativeSidecar moves a VPN that is an ordinary container into the list of init
// containers, with restartPolicy Always and a startup probe: it then starts
// first, and ends with the pod (FG D5.1, D5.2).
func nativeSidecar(c *Context) []Candidate {
	pod, t, k := c.gateOf()
	if t == nil || k.Stage != facts.Main || !c.knowsSidecars() {
		return nil
	}
	at, ok := c.containerAt(k)
	if !ok {
		return nil
	}
	list, owner := at.parent(1), at.parent(2)
	if list == nil || owner == nil || list.Kind != yaml.SequenceNode || !isBlock(list) || !isBlock(owner) || len(list.Content) < 2 {
		return nil
	}
	containers, spec := at.at(list), at.at(owner)
	key, value := field(owner, "containers")
	if value != list || at.node.Content[0].Value == "" {
		return nil
	}
	step, _ := at.step()
	added := []string{"restartPolicy: Always"}
	if probe, _ := field(at.node, "startupProbe"); probe == nil {
		lines := probeOf(t, step)
		if lines == nil {
			return nil
		}
		added = append(added, lines...)
	}
	item, cut, ok := containers.lift(slices.Index(list.Content, at.node), at.addField(added, start()...))
	if !ok {
		return nil
	}
	title := fmt.Sprintf("run %s as a native sidecar with a startup probe", k.Name)
	var out []Candidate
	offer := func(offset, column int, lines []string) {
		out = append(out, Candidate{Title: title, Edits: []finding.Edit{cut, spec.insert(offset, column, lines)}})
	}
	initKey, inits := field(owner, "initContainers")
	dash := containers.column() - spec.column()
	switch {
	case initKey == nil:
		if offset, ok := spec.at(key).before(); ok {
			offer(offset, spec.column(), append([]string{"initContainers:"}, indented(dash, item)...))
		}
	case isBlock(inits) && inits.Kind == yaml.SequenceNode:
		if len(pod.Gates[0].FakeGates) == 0 && len(pod.Gates[0].EarlyInits) == 0 {
			offer(spec.at(inits).last(), spec.at(inits).column(), item)
		} else if onlyGates(pod) {
			offer(spec.at(initKey).lineEnd(), spec.at(inits).column(), item)
		}
	}
	return out
}

// knowsSidecars: the Kubernetes that is linted for restarts init containers, as
// 1.29 does by default.
func (c *Context) knowsSidecars() bool {
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

// lift takes item i out of a list: its lines without indentation, with an addition
// of its own, and the edit that removes them. Comments right above it go along.
func (p place) lift(i int, addition finding.Edit) (lines []string, cut finding.Edit, ok bool) {
	if i < 0 || addition.At.Span.Start != addition.At.Span.End {
		return nil, finding.Edit{}, false
	}
	f := p.text.File
	text := f.Text()
	item := p.at(p.node.Content[i])
	first := p.text.Start(p.node.Content[i])
	indent := pad(p.column())
	begin := lineStart(text, first)
	if !strings.HasPrefix(text[begin:], indent+"- ") {
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
	end, at := item.last(), f.Offset(addition.At.Span.Start)
	if at < begin || at > end {
		return nil, finding.Edit{}, false
	}
	whole := text[begin:at] + addition.Text + text[at:end]
	for line := range strings.SplitSeq(whole, "\n") {
		line = strings.TrimSuffix(line, "\r")
		bare, inside := strings.CutPrefix(line, indent)
		if !inside && strings.TrimSpace(line) != "" {
			return nil, finding.Edit{}, false
		}
		lines = append(lines, bare)
	}
	return lines, replace(f, lineEnd(text, lineStart(text, begin-1)), end, ""), true
}
