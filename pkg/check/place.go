package check

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// placer turns statements into findings with places.
type placer struct {
	objects map[source.ObjectID]*source.Object
	order   map[source.ObjectID]int // in which they were loaded
	pods    map[string]placedPod
}

// placedPod is what findings take from a pod.
type placedPod struct {
	workload, namespace string
	// maker is what makes the pod, ref the object that asks for it and title its
	// name; "" and zero for a pod of the tree.
	maker, title string
	ref          source.Ref
	clusters     []string
	// ends are the init containers that end, runs one that does not: the VPN's
	// where there is one.
	ends map[string]bool
	runs string
}

func newPlacer(in Input) *placer {
	p := &placer{
		objects: make(map[source.ObjectID]*source.Object, len(in.Objects)),
		order:   make(map[source.ObjectID]int, len(in.Objects)),
		pods:    map[string]placedPod{},
	}
	for i, o := range in.Objects {
		p.objects[o.ID], p.order[o.ID] = o, i
	}
	if in.Facts != nil {
		for i := range in.Facts.Pods {
			pod := &in.Facts.Pods[i]
			p.pods[pod.ID] = placePod(pod)
		}
	}
	return p
}

func placePod(pod *facts.Pod) placedPod {
	p := placedPod{workload: pod.Workload, namespace: pod.Namespace, clusters: pod.Clusters}
	if pod.Maker != "" {
		p.maker, p.title, p.ref = pod.Maker, pod.Object.String(), pod.Ref
	}
	vpn := false
	for i := range pod.Containers {
		c := &pod.Containers[i]
		switch {
		case c.Stage == facts.Init:
			if p.ends == nil {
				p.ends = map[string]bool{}
			}
			p.ends[c.Name] = true
		case p.runs == "", c.DataPlane && !vpn:
			p.runs, vpn = c.Name, c.DataPlane
		}
	}
	return p
}

// place locates all statements. Statements of one rule about one place that say
// the same become one finding, with the clusters of all.
func (p *placer) place(said []statement) ([]finding.Finding, error) {
	slices.SortStableFunc(said, compareStatements)
	said = p.onlyFirst(said)
	type same struct {
		rule, message string
		severity      finding.Severity
		ref           source.Ref
	}
	var order []same
	merged := map[same]finding.Finding{}
	found := make([]finding.Finding, len(said))
	failed := make([]error, len(said))
	each(len(said), func(i int) { found[i], failed[i] = p.finding(said[i]) })
	for i, s := range said {
		if failed[i] != nil {
			return nil, fmt.Errorf("%s: %w", s.rule.meta.ID, failed[i])
		}
		f := found[i]
		key := same{f.Rule, f.Message, f.Severity, *s.Ref}
		if earlier, ok := merged[key]; ok {
			merged[key] = merge(earlier, f)
			continue
		}
		merged[key] = f
		order = append(order, key)
	}
	out := make([]finding.Finding, 0, len(order))
	seen := map[string]int{}
	for _, key := range order {
		f := merged[key]
		// Two different remarks on one place must not pass for one finding.
		seen[f.Fingerprint]++
		if n := seen[f.Fingerprint]; n > 1 {
			f.Fingerprint = finding.Digest(f.Fingerprint, strconv.Itoa(n))
		}
		out = append(out, f)
	}
	return out, nil
}

// compareStatements orders by rule, then place: whatever was evaluated first.
func compareStatements(a, b statement) int {
	return cmp.Or(
		strings.Compare(a.rule.meta.ID, b.rule.meta.ID),
		strings.Compare(string(a.Ref.Object), string(b.Ref.Object)),
		strings.Compare(a.Ref.Pointer, b.Ref.Pointer),
		cmp.Compare(a.Ref.Start, b.Ref.Start),
		strings.Compare(a.Message, b.Message),
		strings.Compare(a.Pod, b.Pod),
	)
}

// onlyFirst leaves one statement of each rule that speaks once a run: about the
// object that was loaded first.
func (p *placer) onlyFirst(said []statement) []statement {
	first, pods := map[string]int{}, map[string][]string{} // by rule
	for i, s := range said {
		if id := s.rule.meta.ID; s.rule.meta.Once {
			pods[id] = append(pods[id], s.Pod)
			if at, ok := first[id]; !ok || p.order[s.Ref.Object] < p.order[said[at].Ref.Object] {
				first[id] = i
			}
		}
	}
	out := said[:0]
	for i, s := range said {
		id := s.rule.meta.ID
		if at, once := first[id]; !once || at == i {
			s.alike = pods[id]
			out = append(out, s)
		}
	}
	return out
}

func (p *placer) finding(s statement) (finding.Finding, error) {
	object, ok := p.objects[s.Ref.Object]
	if !ok {
		return finding.Finding{}, fmt.Errorf("finding about object %q, which is not in the input", s.Ref.Object)
	}
	if _, ok := p.pods[s.Pod]; s.Pod != "" && !ok {
		return finding.Finding{}, fmt.Errorf("finding about pod %q, which is not in the input", s.Pod)
	}
	where := object.Origin.Locate(*s.Ref)
	f := finding.Finding{
		Rule:       s.rule.meta.ID,
		Name:       s.rule.meta.Name,
		Severity:   s.Severity,
		Message:    s.Message,
		ObjectID:   object.ID,
		Pointer:    s.Ref.Pointer,
		Object:     finding.NameOf(object),
		Containers: sortedSet(s.Containers),
		Clusters:   sortedSet(s.Clusters),
		ValueSets:  object.ValueSets, // those it could hold under; pkg/lint knows under which it does
		Primary:    where.Primary,
		Pod:        s.Pod,
		Alike:      s.alike,
	}
	args := s.Verify
	if pod, ok := p.pods[s.Pod]; ok {
		if s.Clusters == nil {
			f.Clusters = sortedSet(pod.clusters)
		}
		args = args.forPod(pod)
	}
	f.Verify = verifyCommands(s.rule.meta.Verify, args)
	f.Related = p.related(s, where)
	f.Fingerprint = fingerprint(f, object, *s.Ref)
	if err := f.Validate(); err != nil {
		return finding.Finding{}, err
	}
	return f, nil
}

// related gathers the other places: first those that the rule names, then what
// decided the text at the place itself (values, conditions, includes).
func (p *placer) related(s statement, where source.Provenance) []source.Note {
	notes := noteSet{primary: where.Primary}
	if inner := where.Primary.Inner; inner != "" {
		notes.list = append(notes.list, source.Note{At: where.Primary, Says: "it is " + inner + " in the archive"})
	}
	for _, r := range s.Related {
		object, ok := p.objects[r.Ref.Object]
		if !ok {
			continue // a default that nobody wrote has no place
		}
		notes.add(object.Origin.Locate(r.Ref).Primary, r.Says)
	}
	if pod := p.pods[s.Pod]; pod.maker != "" && pod.ref.Object != s.Ref.Object {
		if object, ok := p.objects[pod.ref.Object]; ok {
			notes.add(object.Origin.Locate(pod.ref).Primary, pod.maker+" makes the pod because of "+pod.title)
		}
	}
	for _, n := range decidedBy(s.Missing, where) {
		notes.add(n.At, n.Says)
	}
	for _, via := range where.Via {
		notes.add(via.At, via.Says)
	}
	return notes.list
}

// decidedBy says which values and conditions made the text at a place. When
// text is missing, only the conditions that kept that very text out matter, and
// the values that the text would be one of.
func decidedBy(missing []string, where source.Provenance) []source.Note {
	var notes []source.Note
	if len(missing) > 0 {
		for _, v := range where.Values {
			if v.Member {
				notes = append(notes, source.Note{At: v.At, Says: "set by " + v.Path + bySource(v)})
			}
		}
		if v := where.Item; v != nil && len(notes) == 0 {
			notes = append(notes, source.Note{At: v.At, Says: "made of " + v.Path + bySource(*v)})
		}
		for _, g := range where.Absent {
			if !containsAny(g.Keeps, missing) {
				continue
			}
			said := false
			for _, read := range g.Reads {
				if read.At.File == "" {
					continue
				}
				said = true
				notes = append(notes, source.Note{At: read.At, Says: shown(read) + " here keeps " + keptText(g.Keeps, missing) + " out"})
			}
			if !said {
				notes = append(notes, source.Note{At: g.At, Says: "this condition keeps " + keptText(g.Keeps, missing) + " out"})
			}
		}
		return notes
	}
	for _, v := range where.Values {
		notes = append(notes, source.Note{At: v.At, Says: "set by " + v.Path + bySource(v)})
	}
	// Only the innermost condition is about this text; those around it decide
	// over the whole object.
	for _, g := range slices.Backward(where.Guards) {
		if !g.Taken {
			continue
		}
		for _, read := range g.Reads {
			notes = append(notes, source.Note{At: read.At, Says: shown(read) + " here lets it in"})
		}
		break
	}
	return notes
}

// shown names the value that a condition reads. A mapping or a list decides by
// having anything in it: there its name says more than its text.
func shown(v source.ValueRef) string {
	switch {
	case v.Text == "":
		return "the value"
	case len(v.Text) > len("{}") && (v.Text[0] == '{' || v.Text[0] == '[') && v.Path != "":
		return v.Path
	default:
		return v.Text
	}
}

func bySource(v source.ValueRef) string {
	if v.By == "" {
		return ""
	}
	return " (" + v.By + ")"
}

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return w != "" && strings.Contains(text, w) })
}

// keptText names what a condition governs.
func keptText(text string, missing []string) string {
	switch {
	case strings.Contains(text, "initContainers:"):
		return "the init container"
	case strings.Contains(text, "sysctls:"):
		return "the pod's sysctls"
	case strings.Contains(text, "startupProbe:"):
		return "the startup probe"
	case strings.Contains(text, "postStart:"):
		return "the postStart hook"
	}
	for _, w := range missing {
		if strings.Contains(text, w) {
			return w
		}
	}
	return "it"
}

// noteSet drops notes without a file and those that repeat a place.
type noteSet struct {
	primary source.Location
	list    []source.Note
}

func (n *noteSet) add(at source.Location, says string) {
	same := func(b source.Location) bool {
		return at.File == b.File && at.Span == b.Span && at.Inner == b.Inner
	}
	if at.File == "" || same(n.primary) {
		return
	}
	for _, have := range n.list {
		if same(have.At) {
			return
		}
	}
	if at.Inner != "" {
		says += " (" + at.Inner + " in the archive)"
	}
	n.list = append(n.list, source.Note{At: at, Says: says})
}

func merge(a, b finding.Finding) finding.Finding {
	a.Containers = sortedSet(append(slices.Clone(a.Containers), b.Containers...))
	a.Clusters = sortedSet(append(slices.Clone(a.Clusters), b.Clusters...))
	notes := noteSet{primary: a.Primary, list: slices.Clone(a.Related)}
	for _, n := range b.Related {
		if n.At.Inner == "" || !slices.Contains(notes.list, n) {
			notes.add(n.At, n.Says)
		}
	}
	a.Related = notes.list
	for _, v := range b.Verify {
		if !slices.Contains(a.Verify, v) {
			a.Verify = append(slices.Clip(a.Verify), v)
		}
	}
	return a
}

// sortedSet drops empty strings: a cluster without a name is no cluster known.
func sortedSet(in []string) []string {
	out := slices.DeleteFunc(slices.Clone(in), func(s string) bool { return s == "" })
	slices.Sort(out)
	return slices.Compact(out)
}

// fingerprint identifies a finding across edits elsewhere: rule, file, object
// and field, list items by name, and for a part of a text the part itself
// instead of its offsets; a field in a text is known by its key, as one of the
// object is, whatever its value. Never message or line.
func fingerprint(f finding.Finding, object *source.Object, ref source.Ref) string {
	field, value := namedPointer(object.Tree, ref.Pointer)
	part := ""
	if text, ok := value.(string); ok && ref.End > ref.Start && ref.Start >= 0 && ref.End <= len(text) {
		part = keyOrText(text[ref.Start:ref.End])
	}
	return finding.Digest(f.Rule, f.Primary.File, f.Object.APIVersion, f.Object.Kind, f.Object.Namespace, f.Object.Name, field, part)
}

// keyOrText returns the key of what is a field of YAML or JSON with its value, and
// anything else as it is.
func keyOrText(part string) string {
	key, value, is := strings.Cut(part, ":")
	name := strings.Trim(key, `"'`)
	odd := strings.IndexFunc(name, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	if !is || name == "" || odd >= 0 || value != "" && !strings.ContainsAny(value[:1], " \t\r\n[{\"") {
		return part
	}
	return name
}

// namedPointer rewrites a pointer so that list items that have a name are found
// by it, and returns the value there.
func namedPointer(tree any, pointer string) (string, any) {
	var b strings.Builder
	value := tree
	for _, token := range source.PointerTokens(pointer) {
		switch v := value.(type) {
		case map[string]any:
			value = v[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				value = nil
				break
			}
			value = v[i]
			if item, ok := value.(map[string]any); ok {
				if name, ok := item["name"].(string); ok {
					token = "[" + name + "]"
				}
			}
		default:
			value = nil
		}
		b.WriteString("/" + strconv.Quote(token))
	}
	return b.String(), value
}
