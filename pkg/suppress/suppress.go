// Package suppress decides which findings somebody has silenced, by a comment,
// an annotation or the configuration, and which of those words silence nothing
// (VPN001). It is pure: texts, objects and findings in, values out.
package suppress

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/pkg/suggest"
)

// Rule is the rule about suppressions themselves. Nothing suppresses it.
const Rule = "VPN001"

// annotation is the annotation of an object, or of its pod template, that
// suppresses findings about the object, and about what it installs if it is a
// GitOps object: "VPN301: reason; VPN304: reason".
const annotation = annotationDomain + "ignore"

// annotationDomain starts the keys of all annotations that vpnlint reads.
const annotationDomain = "vpnlint.dev/"

// How a finding can be suppressed.
const (
	byComment    = "comment"
	byAnnotation = "annotation"
	byConfig     = "config"
)

// Entry suppresses one rule in all files that a glob matches, in which ** stands
// for any number of directories. At is where the entry is written.
type Entry struct {
	Rule, Path, Reason string
	At                 source.Location
	// Covers reports whether the glob matches a file, given relative to the working
	// directory; nil: Path is relative to that, too.
	Covers func(file string) bool
	// Within reports whether all that the glob can match lies in a path, or is it,
	// given relative to the working directory or absolute; nil: as for Covers.
	Within func(path string) bool
}

// directive is one suppression as somebody wrote it.
type directive struct {
	by     string
	rules  []string
	reason string
	// instead is what stands where the word that suppresses should, "" where it does.
	instead string
	at      source.Location
	object  finding.ObjectName // of an annotation
	glob    string             // of an entry
	covers  func(file string) bool
	within  func(path string) bool
}

// valid reports whether d says enough to suppress anything.
func (d *directive) valid() bool { return d.reason != "" && len(d.rules) > 0 && d.instead == "" }

// maxReason bounds what is kept of a reason, in runes: every suppressed finding
// repeats it.
const maxReason = 1000

// Set holds all suppressions of a run. It is immutable.
type Set struct {
	directives []directive
	comments   map[line][]int
	annotated  map[source.ObjectID][]int
	makers     map[source.ObjectID]source.ObjectID // of what GitOps objects install
	entries    []int
}

type line struct {
	file   string
	number int
}

// Use is one rule of one suppression, as Set.Of returns it.
type Use struct {
	directive int
	rule      string
}

// New reads the suppressions of texts (by path), of objects and of the
// configuration. Objects may hold copies of one object.
func New(files map[string]*source.File, objects []*source.Object, entries []Entry) *Set {
	s := &Set{comments: map[line][]int{}, annotated: map[source.ObjectID][]int{}, makers: map[source.ObjectID]source.ObjectID{}}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, c := range comments(files[name]) {
			i := s.add(directive{
				by: byComment, rules: c.rules, reason: c.reason, instead: c.instead,
				at: source.Location{File: name, Span: c.span, Precision: source.Exact},
			})
			for _, n := range c.governs {
				if n > 0 {
					at := line{name, n}
					s.comments[at] = append(s.comments[at], i)
				}
			}
		}
	}
	for _, o := range objects {
		s.annotations(o)
		if o.MadeBy != nil {
			s.makers[o.ID] = o.MadeBy.ID
		}
	}
	for _, e := range entries {
		covers := e.Covers
		if covers == nil {
			covers = func(file string) bool { return source.MatchGlob(e.Path, file) }
		}
		within := e.Within
		if within == nil {
			within = func(path string) bool {
				return source.MatchGlob(strings.TrimSuffix(path, "/")+"/**", source.GlobRoot(e.Path))
			}
		}
		s.entries = append(s.entries, s.add(directive{
			by: byConfig, rules: []string{e.Rule}, reason: e.Reason, at: e.At, glob: e.Path, covers: covers, within: within,
		}))
	}
	return s
}

func (s *Set) add(d directive) int {
	d.reason = clip(d.reason, maxReason)
	for i, id := range d.rules {
		d.rules[i] = clip(id, maxID)
	}
	s.directives = append(s.directives, d)
	return len(s.directives) - 1
}

// maxID bounds what messages repeat of the id of a rule, in runes.
const maxID = 60

func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// Empty reports whether nobody suppresses anything, so that there is nothing to apply
// and nothing unused.
func (s *Set) Empty() bool { return len(s.directives) == 0 }

// annotations reads the annotations of an object and of its pod template.
func (s *Set) annotations(o *source.Object) {
	for _, keys := range [][]string{
		{"metadata"},
		{"spec", "template", "metadata"},
		{"spec", "jobTemplate", "metadata"},
		{"spec", "jobTemplate", "spec", "template", "metadata"},
	} {
		notes := annotationsAt(o.Tree, keys)
		for _, key := range slices.Sorted(maps.Keys(notes)) {
			text, ok := notes[key].(string)
			if !ok { // the API server refuses it
				continue
			}
			instead := ""
			if key != annotation {
				word, ours := strings.CutPrefix(key, annotationDomain)
				if !ours || suggest.Nearest(word, meantWords) == "" {
					continue
				}
				instead = key
			}
			ref := o.Ref(append(slices.Clip(keys), "annotations", key)...)
			for _, item := range parseAnnotation(text) {
				d := directive{
					by: byAnnotation, rules: item.rules, reason: item.reason, instead: instead,
					at:     o.Origin.Locate(ref.Within(item.start, item.end)).Primary,
					object: finding.ObjectName{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name},
				}
				// Several value sets show one object: its annotation is one.
				same := func(i int) bool { return s.directives[i].at == d.at && slices.Equal(s.directives[i].rules, d.rules) }
				if !slices.ContainsFunc(s.annotated[o.ID], same) {
					s.annotated[o.ID] = append(s.annotated[o.ID], s.add(d))
				}
			}
		}
	}
}

// annotationsAt returns the annotations of the metadata that the keys lead to.
func annotationsAt(tree map[string]any, keys []string) map[string]any {
	for _, key := range append(slices.Clip(keys), "annotations") {
		tree, _ = tree[key].(map[string]any)
	}
	return tree
}

// item is one part of an annotation; start and end are its bytes.
type item struct {
	rules      []string
	reason     string
	start, end int
}

// headPattern is the start of an item. What does not look like it is the rest of
// a reason that has a semicolon. An id of vpnlint's that is misspelt still starts
// one: as the rest of a reason nobody would hear of it.
var headPattern = regexp.MustCompile(`^\s*(` + idPattern + `(?:\s*,\s*` + idPattern + `)*)\s*(?::|$)`)

const idPattern = `(?:[A-Za-z]+[0-9]+|(?i:vpn)[-_]?[0-9][0-9A-Za-z]*)`

func parseAnnotation(text string) []item {
	var items []item
	start := 0
	for part := range strings.SplitSeq(text, ";") {
		end := start + len(part)
		if head := headPattern.FindStringSubmatch(part); head != nil {
			blanks := len(part) - len(strings.TrimLeft(part, " \t\n"))
			items = append(items, item{
				rules: ids(head[1]), reason: strings.TrimSpace(part[len(head[0]):]),
				start: start + blanks, end: end,
			})
		} else if n := len(items); n > 0 && strings.TrimSpace(part) != "" {
			items[n-1].end = end
			items[n-1].reason = strings.TrimSpace(items[n-1].reason + ";" + part)
		} else if n == 0 {
			items = append(items, item{reason: strings.TrimSpace(part), start: start, end: end})
		}
		start = end + 1
	}
	return items
}

// maxMakers bounds how many GitOps objects may stand one over the other.
const maxMakers = 16

// Of returns what suppresses a finding, nil for nothing, and every suppression
// that would.
func (s *Set) Of(f finding.Finding) (*finding.Suppression, []Use) {
	if s.Empty() || f.Rule == Rule {
		return nil, nil
	}
	var matching []int
	places := []source.Location{f.Primary}
	for _, n := range f.Related {
		places = append(places, n.At)
	}
	for _, p := range places {
		if p.Span.Start.Line > 0 && p.Precision != source.WholeFile {
			matching = append(matching, s.comments[line{p.File, p.Span.Start.Line}]...)
		}
	}
	// What a release or an Application installs is covered by its annotation.
	for id, steps := f.ObjectID, 0; id != "" && steps < maxMakers; id, steps = s.makers[id], steps+1 {
		matching = append(matching, s.annotated[id]...)
	}
	for _, i := range s.entries {
		if s.directives[i].covers(f.Primary.File) {
			matching = append(matching, i)
		}
	}
	var by *finding.Suppression
	var uses []Use
	for _, i := range matching {
		d := &s.directives[i]
		if !d.valid() || !slices.Contains(d.rules, f.Rule) {
			continue
		}
		uses = append(uses, Use{i, f.Rule})
		if by == nil {
			by = &finding.Suppression{By: d.by, Reason: d.reason, File: d.at.File, Line: d.at.Span.Start.Line}
		}
	}
	return by, uses
}

// Run is what a run says about itself, to judge which suppressions it needed.
type Run struct {
	// Rules are all that exist.
	Rules []finding.RuleMeta
	// Off are the rules that did not run.
	Off map[string]bool
	// Unseen reports whether the rule could not judge all of the file, so that
	// its silence there means nothing.
	Unseen func(file, rule string) bool
	// Paths are what the run was asked to look at, Files what it read. A run over
	// a part of the tree says nothing of an entry about more than that part.
	Paths, Files []string
}

// silent reports whether the silence of a rule where d speaks means something:
// that the run looked at all of it, and the rule could judge it.
func (d *directive) silent(rule string, run Run) bool {
	if run.Unseen(d.at.File, rule) {
		return false
	}
	if d.by != byConfig {
		return true
	}
	for _, file := range run.Files {
		if d.covers(file) && run.Unseen(file, rule) {
			return false
		}
	}
	return slices.ContainsFunc(run.Paths, d.within)
}

// Complaints says which suppressions give no reason or suppressed nothing: the
// findings of VPN001. used are all that Of returned. A rule that did not run on
// a file is not said to have found nothing there, nor one of whose files the run
// read a part.
func (s *Set) Complaints(used map[Use]bool, run Run) []finding.Finding {
	var out []finding.Finding
	at := slices.IndexFunc(run.Rules, func(m finding.RuleMeta) bool { return m.ID == Rule })
	if at < 0 {
		return nil
	}
	meta := run.Rules[at]
	seen := map[string]int{}
	for i := range s.directives {
		d := &s.directives[i]
		for _, message := range s.complaints(i, used, run) {
			f := finding.Finding{
				Rule: meta.ID, Name: meta.Name, Severity: meta.Severity(), Message: message,
				Object: d.object, Primary: d.at,
			}
			f.Fingerprint = finding.Digest(f.Rule, d.at.File, d.by, d.object.String(), strings.Join(d.rules, ","), d.glob)
			if seen[f.Fingerprint]++; seen[f.Fingerprint] > 1 {
				f.Fingerprint = finding.Digest(f.Fingerprint, strings.Repeat("+", seen[f.Fingerprint]-1))
			}
			out = append(out, f)
		}
	}
	return out
}

func (s *Set) complaints(i int, used map[Use]bool, run Run) []string {
	d := &s.directives[i]
	noun := d.by
	if d.by == byConfig {
		noun = "entry"
	}
	if at := headStart.FindString(d.reason); len(d.rules) == 0 && d.by == byAnnotation && at != "" {
		return []string{"the annotation suppresses nothing of " + at + ": write \"" + at + ": reason\""}
	}
	if d.instead != "" {
		right := marker + " " + strings.ToUpper(d.rules[0])
		if d.by == byAnnotation {
			right = annotation
		}
		return []string{"the " + noun + " suppresses nothing: write \"" + right + "\" for \"" + d.instead + "\""}
	}
	if len(d.rules) == 0 {
		return []string{"the " + noun + " names no rule, so it suppresses nothing"}
	}
	var out, unused []string
	for _, id := range d.rules {
		known := slices.ContainsFunc(run.Rules, func(m finding.RuleMeta) bool { return m.ID == id })
		near := ""
		if !known {
			near = nearest(id, run.Rules)
		}
		if bare, colon := strings.CutSuffix(id, ":"); colon && d.by == byComment {
			return []string{"the comment suppresses nothing of " + bare + ": write \"" + bare + " -- reason\""}
		}
		switch {
		case id == Rule:
			out = append(out, Rule+" is about suppressions and cannot be suppressed")
		case !known && near != "":
			out = append(out, "there is no rule "+id+" (the nearest is "+near+"), so the "+noun+" suppresses nothing of it")
		case !known && (ownID.MatchString(id) || !usersID.MatchString(id)):
			out = append(out, "there is no rule "+id+", so the "+noun+" suppresses nothing of it")
		case !known: // of a user's rules that are not part of this run
		case d.valid() && !used[Use{i, id}] && !run.Off[id] && d.silent(id, run):
			unused = append(unused, id)
		}
	}
	if d.reason == "" {
		out = append(out, "the "+noun+" gives no reason, so it does not suppress "+strings.Join(d.rules, ", "))
	}
	if len(unused) > 0 {
		out = append(out, strings.Join(unused, ", ")+" "+nothing(d, len(unused)))
	}
	return out
}

func nothing(d *directive, n int) string {
	verb := "finds"
	if n > 1 {
		verb = "find"
	}
	switch d.by {
	case byAnnotation:
		return verb + " nothing about " + d.object.String() + ": the annotation suppresses nothing now, and would hide what comes"
	case byConfig:
		return verb + " nothing in " + d.glob + ": the entry suppresses nothing now, and would hide what comes"
	default:
		return verb + " nothing on this line or the one below: the comment suppresses nothing now, and would hide what comes"
	}
}

// headStart is the id at the start of an annotation that is none.
var headStart = regexp.MustCompile(`^[A-Z]+[0-9]+\b`)

var (
	ownID = regexp.MustCompile(`(?i)^VPN`)
	// usersID is what rules of users are called, which need not be part of a run.
	usersID = regexp.MustCompile(`^[A-Z]+[0-9]+$`)
)

// nearest returns the rule that a misspelt id, or a rule's name, most likely
// means; "" for none.
func nearest(id string, rules []finding.RuleMeta) string {
	ids := make([]string, len(rules))
	for i := range rules {
		if rules[i].Name == id {
			return rules[i].ID
		}
		ids[i] = rules[i].ID
	}
	return suggest.Nearest(id, ids)
}
