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

// bypassList adds the cluster's ranges that a tunnel captures to its bypass list,
// in the syntax of its image (FG C1, C4, E1.9, E2.9).
func bypassList(c *sight) []candidate {
	pod, tunnel := c.tunnelOf()
	if tunnel == nil {
		return c.none("it points at no tunnel's bypass list")
	}
	var missing []string
	for _, capture := range tunnel.Captures {
		for _, m := range capture.Missing {
			if !slices.Contains(missing, m) {
				missing = append(missing, m)
			}
		}
	}
	if len(missing) == 0 || tunnel.Bypass.Key == "" {
		return c.none(tunnel.FamilyTitle + " has no bypass list that is known to keep these ranges out of the tunnel")
	}
	if tunnel.Bypass.Key == scriptKey {
		return c.none("the routes are those of a script: put the suggested ones in front of them")
	}
	edits, ok := c.bypassEdits(pod, tunnel, missing)
	if !ok {
		return c.notEdited(tunnel.Bypass.Key + " has no place for them, or is")
	}
	return []candidate{{Title: fmt.Sprintf("keep %s out of the tunnel (%s)", sentence(missing), tunnel.Bypass.Key), Edits: edits}}
}

// tunnelOf is the tunnel whose bypass the finding is about: the finding points at
// the list, at an entry, or at the container that has none.
func (c *sight) tunnelOf() (*facts.Pod, *facts.Tunnel) {
	for i := range c.Reading.Facts.Pods {
		pod := &c.Reading.Facts.Pods[i]
		for j := range pod.Tunnels {
			t := &pod.Tunnels[j]
			refs := []source.Ref{t.Bypass.Ref, t.ContainerRef}
			for _, e := range t.Bypass.Entries {
				refs = append(refs, e.Ref)
			}
			if slices.ContainsFunc(refs, func(r source.Ref) bool {
				return r.Object == c.Finding.ObjectID && !r.IsZero() && c.Locate(r).Primary == c.Finding.Primary
			}) {
				return pod, t
			}
		}
	}
	return nil, nil
}

// The keys of bypasses that are lines of a configuration, as pkg/facts names
// them.
const (
	hookKey   = "PostUp"
	routeKey  = "route"
	scriptKey = "ip route"
)

func (c *sight) bypassEdits(pod *facts.Pod, t *facts.Tunnel, missing []string) ([]finding.Edit, bool) {
	b := &t.Bypass
	switch {
	case b.Key == hookKey:
		return c.hookLines(t)
	case b.Key == routeKey:
		return c.lineAfter(t.Routes.Ref, suggestions(t))
	case b.Separator == "":
		return c.addVariables(pod, t, c.numbered(pod, t, missing))
	case strings.HasSuffix(b.Key, "_IPV4") && slices.ContainsFunc(missing, func(m string) bool { return strings.Contains(m, ":") }):
		return nil, false // the variable has no place for it
	case len(b.Entries) > 0:
		return c.lengthen(b, missing)
	case b.State == facts.Absent:
		return c.addVariables(pod, t, []variable{{b.Key, strings.Join(missing, b.Separator[:1])}})
	}
	return nil, false
}

// suggestions are the lines that the facts suggest for all clusters, each once.
func suggestions(t *facts.Tunnel) []string {
	var out []string
	for _, capture := range t.Captures {
		for line := range strings.SplitSeq(capture.Suggestion, "\n") {
			if line != "" && !slices.Contains(out, line) {
				out = append(out, line)
			}
		}
	}
	return out
}

// lengthen writes the prefixes behind the last entry of the list.
func (c *sight) lengthen(b *facts.Bypass, missing []string) ([]finding.Edit, bool) {
	last := len(b.Entries) - 1
	f, s, ok := c.exact(b.Entries[last].Ref, b.Entries[last].Text)
	if !ok {
		return nil, false
	}
	between := b.Separator[:1]
	if last > 0 {
		before, at, ok := c.exact(b.Entries[last-1].Ref, b.Entries[last-1].Text)
		if !ok || before != f || at.end > s.start {
			return nil, false
		}
		between = f.Text()[at.end:s.start]
	}
	if between != strings.Trim(between, "\r\n") || strings.Trim(between, b.Separator+" ") != "" {
		return nil, false
	}
	added := between + strings.Join(missing, between)
	if text, ok := c.plainInBrackets(f, s.end); ok && strings.Contains(added, ",") {
		// A comma would end it: it takes the quotes that its neighbours need not have.
		return []finding.Edit{replace(f, text.start, text.end, strconv.Quote(f.Text()[text.start:text.end]+added))}, true
	}
	return []finding.Edit{replace(f, s.end, s.end, added)}, true
}

// plainInBrackets is the scalar without quotes in a {mapping} or [list] that ends
// at an offset of a file.
func (c *sight) plainInBrackets(f *source.File, end int) (span, bool) {
	for _, text := range c.textsOf(f.Path()) {
		var found *yaml.Node
		var search func(n *yaml.Node, bracketed bool)
		search = func(n *yaml.Node, bracketed bool) {
			if bracketed && n.Kind == yaml.ScalarNode && n.Style == 0 && text.End(n) == end {
				found = n
			}
			for _, inner := range n.Content {
				search(inner, bracketed || n.Style&yaml.FlowStyle != 0)
			}
		}
		search(text.Root, false)
		if found != nil {
			return span{text.Start(found), end}, true
		}
	}
	return span{}, false
}

type variable struct{ name, value string }

// numbered are the variables of an image that takes one prefix a variable: KEY,
// KEY_2, KEY_3, and another key for IPv6.
func (c *sight) numbered(pod *facts.Pod, t *facts.Tunnel, missing []string) []variable {
	taken := map[string]bool{}
	if env, is := descend(c.object(pod.Ref.Object), t.ContainerRef.Pointer+"/env").([]any); is {
		for _, item := range env {
			if m, is := item.(map[string]any); is {
				taken[fmt.Sprint(m["name"])] = true
			}
		}
	}
	var out []variable
	for _, m := range missing {
		key := t.Bypass.Key
		if strings.Contains(m, ":") {
			key += "6"
		}
		name := key
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s_%d", key, n)
		}
		taken[name] = true
		out = append(out, variable{name, m})
	}
	return out
}

// addVariables gives the tunnel's container variables, in the form that its
// others have.
func (c *sight) addVariables(pod *facts.Pod, t *facts.Tunnel, all []variable) ([]finding.Edit, bool) {
	i := slices.IndexFunc(pod.Containers, func(k facts.Container) bool { return k.Name == t.Container })
	if i < 0 {
		return nil, false
	}
	at, ok := c.containerAt(&pod.Containers[i])
	if !ok {
		return nil, false
	}
	return at.addEnv(all)
}

// start are the fields that stand at the top of a container.
func start() []string {
	return []string{"name", "image", "imagePullPolicy", "restartPolicy", "command", "args"}
}

func (p place) addEnv(all []variable) ([]finding.Edit, bool) {
	_, dash := p.step()
	key, env := field(p.node, "env")
	lines := func(item func(variable) []string) []string {
		var out []string
		for _, v := range all {
			out = append(out, item(v)...)
		}
		return out
	}
	bullet := p.bullet()
	block := func(v variable) []string { return listed(bullet, "name: "+v.name, fmt.Sprintf("value: %q", v.value)) }
	switch {
	case key == nil:
		return []finding.Edit{p.addField(append([]string{"env:"}, indented(dash, lines(block))...), start()...)}, true
	case !isBlock(env):
		return nil, false
	case env.Kind == yaml.MappingNode:
		return []finding.Edit{p.at(env).addField(lines(func(v variable) []string { return []string{fmt.Sprintf("%s: %q", v.name, v.value)} }))}, true
	case env.Kind == yaml.SequenceNode:
		list := p.at(env)
		bullet = list.bullet()
		if last := env.Content[len(env.Content)-1]; last.Style&yaml.FlowStyle != 0 {
			block = func(v variable) []string {
				return []string{bullet + fmt.Sprintf("{name: %s, value: %q}", v.name, v.value)}
			}
		}
		return []finding.Edit{list.insert(list.last(), list.column(), lines(block))}, true
	}
	return nil, false
}

// hookLines adds hooks to the [Interface] section of a wg-quick configuration,
// with those that take them back: a rule that is left behind makes the next start
// of the container fail.
func (c *sight) hookLines(t *facts.Tunnel) ([]finding.Edit, bool) {
	lines := suggestions(t)
	for _, line := range slices.Clone(lines) {
		if undo, ok := strings.CutPrefix(line, "PostUp = "); ok {
			lines = append(lines, "PreDown = "+strings.Replace(undo, " add ", " del ", 1))
		}
	}
	text, _ := descend(c.object(t.Config.Object), t.Config.Pointer).(string)
	start, end, ok := lastLineOf(text, "[Interface]")
	if !ok {
		return nil, false
	}
	return c.lineAfter(source.Ref{Object: t.Config.Object, Pointer: t.Config.Pointer, Start: start, End: end}, lines)
}

// lastLineOf finds the last line of a section that is not blank.
func lastLineOf(text, section string) (start, end int, ok bool) {
	inside := false
	at := 0
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		switch {
		case strings.EqualFold(bare, section):
			inside = true
		case strings.HasPrefix(bare, "["):
			inside = false
		}
		if inside && bare != "" && !strings.HasPrefix(bare, "#") {
			lead := len(line) - len(strings.TrimLeft(line, " \t"))
			start, end, ok = at+lead, at+lead+len(bare), true
		}
		at += len(line)
	}
	return start, end, ok
}

// lineAfter puts lines behind the one that holds a part of a block scalar.
func (c *sight) lineAfter(r source.Ref, lines []string) ([]finding.Edit, bool) {
	value, _ := descend(c.object(r.Object), r.Pointer).(string)
	if r.End <= r.Start || r.End > len(value) || len(lines) == 0 {
		return nil, false
	}
	f, s, ok := c.exact(r, value[r.Start:r.End])
	if !ok {
		return nil, false
	}
	text := f.Text()
	begin := lineStart(text, s.start)
	indent := text[begin : begin+len(text[begin:s.start])-len(strings.TrimLeft(text[begin:s.start], " "))]
	if strings.TrimSpace(text[begin:s.start]) != "" || !strings.Contains(value, "\n") {
		return nil, false
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(lineBreak(text) + indent + line)
	}
	end := lineEnd(text, s.end)
	return []finding.Edit{replace(f, end, end, b.String())}, true
}
