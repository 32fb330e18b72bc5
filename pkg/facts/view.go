package facts

import (
	"sort"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// podView is a pod while it is being read: the result, the object it comes
// from, and what is needed to look further.
type podView struct {
	pod        *Pod
	object     *source.Object
	spec       node
	containers []*containerView
	ix         *index
	clusters   []*Cluster
	// tied: several clusters are equally near, so that the pod's is not known.
	tied bool
	// claims are the volume claim templates of a StatefulSet, by name.
	claims map[string]bool
	// made says what makes the pod, nil for one that stands in the tree.
	made *maker
}

// container returns the container with a name, nil for none.
func (p *podView) container(name string) *containerView {
	for _, c := range p.containers {
		if c.c.Name == name {
			return c
		}
	}
	return nil
}

// containerView is a container while it is being read.
type containerView struct {
	c    *Container
	spec node
	// image is what is known of the image; Family and LookAlike may be nil.
	image images.Match
	pod   *podView

	envRead bool
	envList []namedValue // in order, expanded; later entries win
	// envOpaque says why further variables may exist, if they can.
	envOpaque reason
	envOpens  source.Ref
	// refusedEnv are the variables with a value that the image does not take.
	refusedEnv []refusedVariable

	commandsRead bool
	commandList  []command
	// app is the application that a script starts in the tunnel's own container.
	app command
	// loadedBytes counts the bytes of rules that its scripts load.
	loadedBytes int

	mountsRead bool
	mountList  []mount
}

// value is a text of the manifests, such as an environment variable.
type value struct {
	// State: Unknown when it lives where it cannot be seen; Text then is what
	// is written, if anything.
	State Known
	Text  string
	// Ref is the text that a reviewer would change; for an absent value the
	// container.
	Ref source.Ref
	// Moved: Text is not the very string at Ref (a reference was expanded), so
	// that offsets in Text mean nothing there.
	Moved bool
	// Why it is unknown.
	Why reason
}

// within returns the place of the bytes [start, end) of Text.
func (v value) within(start, end int) source.Ref {
	if v.Moved {
		return v.Ref
	}
	return v.Ref.Within(start, end)
}

// or returns Text, or fallback when the value is absent.
func (v value) or(fallback string) string {
	if v.State == Absent {
		return fallback
	}
	return v.Text
}

type namedValue struct {
	Name string
	value
}

// env returns an environment variable of the container.
func (c *containerView) env(key string) value {
	c.readEnv()
	for i := len(c.envList) - 1; i >= 0; i-- {
		if c.envList[i].Name == key {
			return c.envList[i].value
		}
	}
	if c.envOpaque.holds() {
		return value{State: Unknown, Ref: c.envOpens, Why: c.envOpaque}
	}
	return value{State: Absent, Ref: c.spec.ref()}
}

// envWithPrefix returns the variables whose name starts with a prefix, by name.
func (c *containerView) envWithPrefix(prefix string) []namedValue {
	c.readEnv()
	last := map[string]namedValue{}
	for _, v := range c.envList {
		if strings.HasPrefix(v.Name, prefix) {
			last[v.Name] = v
		}
	}
	out := make([]namedValue, 0, len(last))
	for _, v := range last {
		out = append(out, v)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// knownEnv returns the variables whose text is known, for shell expansion.
func (c *containerView) knownEnv() map[string]string {
	out := map[string]string{}
	for _, v := range c.envWithPrefix("") {
		if v.State == Present {
			out[v.Name] = v.Text
		}
	}
	return out
}

// readEnv reads envFrom, then env, whose entries win.
func (c *containerView) readEnv() {
	if c.envRead {
		return
	}
	c.envRead = true
	if c.spec.unseen() {
		c.envOpaque, c.envOpens = unseen(), c.spec.ref()
	}
	for _, from := range c.spec.get("envFrom").items() {
		c.readEnvFrom(from)
	}
	for _, entry := range c.spec.get("env").items() {
		name := entry.get("name").text()
		if name == "" {
			continue
		}
		c.envList = append(c.envList, namedValue{name, c.envEntry(entry)})
	}
	c.refuseEnv()
}

func (c *containerView) readEnvFrom(from node) {
	prefix := from.get("prefix").text()
	for _, origin := range []struct{ field, kind string }{{"configMapRef", "ConfigMap"}, {"secretRef", "Secret"}} {
		ref := from.get(origin.field)
		if !ref.exists() {
			continue
		}
		data, why := c.pod.bundle(origin.kind, ref.get("name").text())
		if data == nil {
			c.envOpaque, c.envOpens = why, ref.ref()
			continue
		}
		for _, key := range data.keys {
			if origin.kind == "ConfigMap" && data.coded[key] {
				continue // binaryData makes no variables
			}
			c.envList = append(c.envList, namedValue{prefix + key, data.value(key)})
		}
	}
}

func (c *containerView) envEntry(entry node) value {
	if from := entry.get("valueFrom"); from.exists() {
		return c.envFromRef(entry, from)
	}
	field := entry.get("value")
	if !field.exists() {
		return value{State: Present, Ref: entry.ref(), Moved: true}
	}
	text, is := field.str()
	if !is {
		return value{State: Unknown, Ref: field.ref(), Why: because("its value is no string", quoteIt)}
	}
	v := literal(text, field.ref())
	v.Moved = field.moved()
	return c.expand(v)
}

// expand replaces $(NAME) by the variables read so far, as the kubelet does:
// unknown names stay as they are, $$ is an escaped dollar.
func (c *containerView) expand(v value) value {
	if !strings.Contains(v.Text, "$") {
		return v
	}
	var b strings.Builder
	text := v.Text
	for i := 0; i < len(text); i++ {
		if text[i] != '$' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		switch text[i+1] {
		case '$':
			b.WriteByte('$')
			i++
			v.Moved = true
		case '(':
			end := strings.IndexByte(text[i:], ')')
			if end < 0 {
				b.WriteByte(text[i])
				continue
			}
			name := text[i+2 : i+end]
			known := c.lookup(name)
			switch known.State {
			case Present:
				b.WriteString(known.Text)
				v.Moved = true
				i += end
			case Unknown:
				b.WriteString(text[i : i+end+1])
				v.State, v.Why = Unknown, known.Why.of("$("+name+"): ")
				i += end
			default:
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(text[i])
		}
	}
	v.Text = b.String()
	return v
}

// lookup finds a variable among those read so far.
func (c *containerView) lookup(name string) value {
	for i := len(c.envList) - 1; i >= 0; i-- {
		if c.envList[i].Name == name {
			return c.envList[i].value
		}
	}
	if c.envOpaque.holds() && isVariableName(name) {
		return value{State: Unknown, Why: c.envOpaque}
	}
	return value{State: Absent}
}

func isVariableName(s string) bool {
	for i := 0; i < len(s); i++ {
		ch := s[i]
		letter := ch == '_' || ch >= 'a' && ch <= 'z' || ch >= 'A' && ch <= 'Z'
		if !letter && (i == 0 || ch < '0' || ch > '9') {
			return false
		}
	}
	return s != ""
}

func (c *containerView) envFromRef(entry, from node) value {
	for _, origin := range []struct{ field, kind string }{{"configMapKeyRef", "ConfigMap"}, {"secretKeyRef", "Secret"}} {
		ref := from.get(origin.field)
		if !ref.exists() {
			continue
		}
		name, key := ref.get("name").text(), ref.get("key").text()
		data, why := c.pod.bundle(origin.kind, name)
		if data == nil {
			return value{State: Unknown, Ref: ref.ref(), Why: why}
		}
		if !data.has(key) {
			return value{State: Unknown, Ref: ref.ref(), Why: because(data.title()+" has no key "+key, noAdvice)}
		}
		return data.value(key)
	}
	if field := from.get("fieldRef", "fieldPath"); field.exists() {
		if text, known := c.pod.downward(field.text()); known {
			return value{State: Present, Text: text, Ref: field.ref(), Moved: true}
		}
		return value{State: Unknown, Ref: field.ref(), Why: because(field.text()+" is known only at run time", noAdvice)}
	}
	return value{State: Unknown, Ref: entry.ref(), Why: because("its source is known only at run time", noAdvice)}
}

// downward resolves the pod fields that the manifest itself tells.
func (p *podView) downward(path string) (string, bool) {
	switch {
	case path == "metadata.namespace" && p.object.Namespace != "":
		return p.object.Namespace, true
	case strings.HasPrefix(path, "metadata.labels['") && strings.HasSuffix(path, "']"):
		text, has := p.pod.Labels[strings.TrimSuffix(strings.TrimPrefix(path, "metadata.labels['"), "']")]
		return text, has
	default:
		return "", false
	}
}

// literal is a text as it is written. A ${NAME} is filled in by what applies
// the tree (Flux, envsubst), so that the text is unknown.
func literal(text string, ref source.Ref) value {
	v := value{State: Present, Text: text, Ref: ref}
	if name := placeholder(text); name != "" {
		v.State, v.Why = Unknown, filledIn(name)
	}
	return v
}

// placeholder returns the first ${NAME} of a text, "" for none.
func placeholder(text string) string {
	for from := 0; ; {
		start := strings.Index(text[from:], "${")
		if start < 0 {
			return ""
		}
		start += from
		end := strings.IndexByte(text[start:], '}')
		if end < 0 {
			return ""
		}
		inner := text[start+2 : start+end]
		name := inner
		if i := strings.IndexAny(inner, ":=-"); i >= 0 {
			name = inner[:i]
		}
		if isVariableName(name) {
			return text[start : start+end+1]
		}
		from = start + end
	}
}
