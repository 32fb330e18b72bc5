package fix

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// forwardingImage has a sysctl and next to nothing else. What the tree has of it,
// from a registry or at a digest of its own, is taken first.
const forwardingImage = "busybox:1.37"

// busybox is the image to take: the pod's own, else the first of the tree's.
func (c *sight) busybox(pod *facts.Pod) string {
	var others []string
	for i := range c.Reading.Facts.Pods {
		other := &c.Reading.Facts.Pods[i]
		for j := range other.Containers {
			image := other.Containers[j].Image
			name, _, _ := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], "@")
			repository, tag, tagged := strings.Cut(name, ":")
			if repository != "busybox" || !tagged || tag == "latest" || strings.ContainsAny(image, "${} \t\n") {
				continue
			}
			if other.ID == pod.ID {
				return image
			}
			others = append(others, image)
		}
	}
	if len(others) == 0 {
		return forwardingImage
	}
	return slices.Min(others)
}

// forwardingName is the container's name, unless it is taken.
const forwardingName = "ip-forward"

// initContainer puts a privileged init container in front of all others that
// turns IPv4 forwarding on (FG D3.1): it works with every kubelet, and is gone
// before the VPN starts.
func initContainer(c *sight) []candidate {
	pod := c.Pod()
	if pod == nil {
		return c.none(whyNoPod)
	}
	edit, ok := c.initEdit(pod)
	if !ok {
		return c.notEdited("the pod's containers or init containers are")
	}
	one := candidate{
		Title: "add an init container that turns forwarding on",
		Edits: []finding.Edit{edit},
	}
	if slices.ContainsFunc(c.lacking(pod), func(s string) bool { return strings.HasPrefix(s, "net.ipv6.") }) {
		one.Review = "on a node whose kernel has no IPv6 the init container fails, and the pod does not start"
	}
	return []candidate{one}
}

// initEdit is the edit that adds the init container. It writes what the pod lacks:
// findings of one pod have one fix.
func (c *sight) initEdit(pod *facts.Pod) (finding.Edit, bool) {
	spec, ok := c.podSpec(pod)
	if !ok {
		return finding.Edit{}, false
	}
	return spec.addInit(initItem{name: c.unusedName(pod), image: c.busybox(pod), asRoot: c.asRoot(pod), writes: c.lacking(pod)})
}

// lacking are the settings that the report says the pod does not make.
func (c *sight) lacking(pod *facts.Pod) []string {
	var out []string
	if pod.Forwarding.IPv4.State != facts.Present {
		out = append(out, "net.ipv4.ip_forward=1")
	}
	for i := range c.Report.Findings {
		f := &c.Report.Findings[i]
		if f.Rule == "VPN108" && f.Suppressed == nil && f.ObjectID == pod.Ref.Object && within(f.Pointer, pod.Ref.Pointer) {
			out = append(out, "net.ipv6.conf.all.forwarding=1")
		}
	}
	return slices.Compact(out)
}

// initItem is the init container to be.
type initItem struct {
	name   string
	image  string
	writes []string
	asRoot bool
}

func (c *sight) unusedName(pod *facts.Pod) string {
	name := forwardingName
	for n := 2; slices.ContainsFunc(pod.Containers, func(k facts.Container) bool { return k.Name == name }); n++ {
		name = fmt.Sprintf("%s-%d", forwardingName, n)
	}
	return name
}

// asRoot: the pod's own settings give its containers another user than root, who
// may not write /proc/sys.
func (c *sight) asRoot(pod *facts.Pod) bool {
	o := c.object(pod.Ref.Object)
	security := descend(o, pod.Ref.Child("securityContext").Pointer)
	m, _ := security.(map[string]any)
	user, hasUser := m["runAsUser"]
	return m["runAsNonRoot"] == true || hasUser && fmt.Sprint(user) != "0"
}

// descend is the value at a JSON pointer of an object's tree, nil for none.
func descend(o *source.Object, pointer string) any {
	if o == nil {
		return nil
	}
	var v any = o.Tree
	for _, token := range source.PointerTokens(pointer) {
		switch at := v.(type) {
		case map[string]any:
			v = at[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(at) {
				return nil
			}
			v = at[i]
		default:
			return nil
		}
	}
	return v
}

// podSpec finds where a pod's containers are written: a pod spec with lists of
// containers, or a controller of app-template's values, where they have keys.
func (c *sight) podSpec(pod *facts.Pod) (podPlace, bool) {
	for _, k := range pod.Containers {
		if k.Stage != facts.Main {
			continue
		}
		container, ok := c.containerAt(&k)
		if !ok {
			continue
		}
		list, owner := container.parent(1), container.parent(2)
		if list == nil || owner == nil || !isBlock(list) || !isBlock(owner) {
			continue
		}
		key, containers := field(owner, "containers")
		if containers != list {
			continue
		}
		return podPlace{place: container.at(owner), key: container.at(key), containers: container.at(list)}, true
	}
	return podPlace{}, false
}

// podPlace is the mapping that holds a pod's containers.
type podPlace struct {
	place
	key        place // "containers"
	containers place
}

// addInit is the edit that puts an init container before all others.
func (p podPlace) addInit(init initItem) (finding.Edit, bool) {
	step, _ := p.step()
	if len(init.writes) == 0 {
		return finding.Edit{}, false
	}
	dash := p.containers.column() - p.column()
	keyed := p.containers.node.Kind == yaml.MappingNode
	item := init.lines(step, keyed, p.containers.bullet())
	key, list := field(p.node, "initContainers")
	switch {
	case key == nil:
		at, ok := p.key.before()
		if !ok {
			return finding.Edit{}, false
		}
		return p.insert(at, p.column(), append([]string{"initContainers:"}, indented(dash, item)...)), true
	case isBlock(list) && list.Kind == p.containers.node.Kind:
		return p.insert(p.at(key).lineEnd(), p.at(list).column(), item), true
	}
	return finding.Edit{}, false
}

// lineEnd is the end of the line in which a key stands.
func (p place) lineEnd() int { return lineEnd(p.text.File.Text(), p.text.Start(p.node)) }

// lines are those of the init container: of a list, whose items begin with a
// bullet, or under a key of its own as app-template has it.
func (init initItem) lines(step int, keyed bool, bullet string) []string {
	security := []string{"securityContext:", pad(step) + "privileged: true"}
	if init.asRoot {
		security = append(security, pad(step)+"runAsUser: 0", pad(step)+"runAsNonRoot: false")
	}
	command := `command: ["sysctl", "-w", "` + strings.Join(init.writes, `", "`) + `"]`
	if keyed {
		at := strings.IndexByte(init.image[strings.LastIndexByte(init.image, '/')+1:], ':') + strings.LastIndexByte(init.image, '/') + 1
		repository, tag := init.image[:at], init.image[at+1:]
		lines := append([]string{"image:", pad(step) + "repository: " + repository, pad(step) + `tag: "` + tag + `"`, command}, security...)
		return append([]string{init.name + ":"}, indented(step, lines)...)
	}
	return listed(bullet, append([]string{"name: " + init.name, "image: " + init.image, command}, security...)...)
}

// indented moves lines to the right, or to the left.
func indented(by int, lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		switch {
		case by < 0:
			out[i] = strings.TrimPrefix(line, pad(-by))
		case line != "":
			out[i] = pad(by) + line
		}
	}
	return out
}

func pad(n int) string { return strings.Repeat(" ", max(0, n)) }

// podSysctl sets forwarding in the pod's securityContext. Where no kubelet in
// view allows it, it raises VPN104 and falls with it.
func podSysctl(c *sight) []candidate {
	pod := c.Pod()
	if pod == nil {
		return c.none(whyNoPod)
	}
	spec, ok := c.podSpec(pod)
	if !ok || spec.containers.node.Kind != yaml.SequenceNode {
		return c.notEdited("the pod's containers or init containers are")
	}
	step, dash := spec.step()
	sysctl := func(list place) []string { return listed(list.bullet(), "name: net.ipv4.ip_forward", `value: "1"`) }
	title := "set net.ipv4.ip_forward as a sysctl of the pod"
	key, security := field(spec.node, "securityContext")
	if key == nil {
		at, ok := spec.key.before()
		if !ok {
			return nil
		}
		lines := append([]string{"securityContext:", pad(step) + "sysctls:"}, indented(step+dash, sysctl(spec.containers))...)
		return []candidate{{Title: title, Edits: []finding.Edit{spec.insert(at, spec.column(), lines)}}}
	}
	if !isBlock(security) || security.Kind != yaml.MappingNode {
		return c.notEdited("the pod's securityContext is")
	}
	block := spec.at(security)
	list, values := field(security, "sysctls")
	switch {
	case list == nil:
		return []candidate{{Title: title, Edits: []finding.Edit{block.addField(append([]string{"sysctls:"}, indented(dash, sysctl(spec.containers))...))}}}
	case isBlock(values) && values.Kind == yaml.SequenceNode:
		at := spec.at(values)
		return []candidate{{Title: title, Edits: []finding.Edit{spec.insert(at.last(), at.column(), sysctl(at))}}}
	}
	return nil
}
