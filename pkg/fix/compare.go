package fix

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/report"
)

// picture is what of a run a fix may not make worse.
type picture struct {
	findings []sketch
	// by are the findings by their fingerprint.
	by      map[string][]int
	gaps    map[string]int
	objects map[finding.ObjectName]int
	pods    map[podKey]podSketch
	// once are the rules that say one thing of the whole run.
	once map[string]bool
	// drawn are the findings about objects whose names are drawn anew at each
	// render: they are known by their place.
	drawn map[sketchPlace]bool
}

// sketchPlace is what a finding is about whose object has another name each time.
type sketchPlace struct {
	rule, file string
	line       int
}

func (f *sketch) place() sketchPlace { return sketchPlace{f.rule, f.file, f.line} }

// sketch is what of a finding is compared: many runs are remembered.
type sketch struct {
	fingerprint    string
	severity       finding.Severity
	silenced       bool
	sets, clusters []string
	rule, file     string
	line           int
	subject        subject
}

// subject is what a finding says of whom, wherever that stands in the file.
type subject struct {
	object     finding.ObjectName
	containers string
	field      string // below the container that the finding points into, "" for none
	message    string
}

func sketchOf(f *finding.Finding) sketch {
	return sketch{
		fingerprint: f.Fingerprint, severity: f.Severity, silenced: f.Suppressed != nil,
		sets: f.ValueSets, clusters: f.Clusters,
		rule: f.Rule, file: f.Primary.File, line: f.Primary.Span.Start.Line,
		subject: subject{withoutHash(f.Object), strings.Join(f.Containers, "\x00"), belowContainer(f.Pointer), f.Message},
	}
}

// belowContainer is the part of a JSON pointer below the pod's container, which
// stays what it is when the container moves to the other list; "" for a pointer
// that leads into no container.
func belowContainer(pointer string) string {
	for _, list := range []string{"/containers/", "/initContainers/"} {
		if _, in, ok := strings.Cut(pointer, list); ok {
			_, field, _ := strings.Cut(in, "/")
			return "/" + field
		}
	}
	return ""
}

// contentHash is what kustomize appends to the names of the ConfigMaps and Secrets
// that it generates. It changes with what is in them.
var contentHash = regexp.MustCompile(`-[2456789bcdfghkmt]{10}$`)

// withoutHash is the name that an object keeps when its content changes.
func withoutHash(name finding.ObjectName) finding.ObjectName {
	if name.APIVersion == "v1" && (name.Kind == "ConfigMap" || name.Kind == "Secret") {
		name.Name = contentHash.ReplaceAllLiteralString(name.Name, "")
	}
	return name
}

// sketches are the findings of a report alone.
func sketches(r *report.Report) *picture {
	p := &picture{findings: make([]sketch, len(r.Findings)), by: map[string][]int{}, once: onceRules(r)}
	for i := range r.Findings {
		f := &r.Findings[i]
		p.findings[i] = sketchOf(f)
		p.by[f.Fingerprint] = append(p.by[f.Fingerprint], i)
	}
	return p
}

type podKey struct{ set, id string }

// podSketch is what a pod must still be when a fix has been applied: a fix that
// takes the VPN away removes every finding about it.
type podSketch struct {
	role       facts.Role
	containers []string
	tunnels    int
	rejections int // by Pod Security; one finding names them all
}

func look(r *report.Report, readings []lint.Reading) *picture {
	p := sketches(r)
	p.gaps, p.objects, p.pods = map[string]int{}, map[finding.ObjectName]int{}, map[podKey]podSketch{}
	for _, g := range r.Gaps {
		p.gaps[strings.Join([]string{string(g.Kind), g.File, g.What, g.Why}, "\x00")]++
	}
	for i := range readings {
		count := map[finding.ObjectName]int{}
		for _, o := range readings[i].Objects {
			name := withoutHash(finding.NameOf(o))
			count[name]++
			p.objects[name] = max(p.objects[name], count[name])
		}
		for j := range readings[i].Facts.Pods {
			pod := &readings[i].Facts.Pods[j]
			sketch := podSketch{role: pod.Role, tunnels: len(pod.Tunnels), rejections: len(pod.Rejections)}
			for k := range pod.Containers {
				sketch.containers = append(sketch.containers, pod.Containers[k].Name)
			}
			for _, set := range readings[i].Groups {
				p.pods[podKey{set, pod.ID}] = sketch
			}
		}
	}
	return p
}

// knows reports whether there is a finding with the fingerprint.
func (p *picture) knows(fingerprint string) bool { return len(p.by[fingerprint]) > 0 }

// raises names a finding that was not there before, "" for none. One that only
// moved with what a fix moves was there: it does not have to be mended first.
func (p *picture) raises(before *picture) string {
	moved := p.moved(before)
	for i := range p.findings {
		f := &p.findings[i]
		if p.once[f.rule] && before.says(f) {
			continue // whichever object it names as the first
		}
		if _, was := moved[i]; !was && !before.has(f, len(p.by[f.fingerprint])) && !before.drawn[f.place()] {
			return fmt.Sprintf("%s comes at %s:%d", f.rule, f.file, f.line)
		}
	}
	return ""
}

// says reports whether there is a finding of the same rule, as severe.
func (p *picture) says(f *sketch) bool {
	return slices.ContainsFunc(p.findings, func(g sketch) bool {
		return g.rule == f.rule && g.severity.AtLeast(f.severity) && (f.silenced || !g.silenced)
	})
}

// moved finds for the findings that are only here those that were only there
// before and say the same: by index, each once. What a container is called and
// where in it a finding points decides, or else the words: a fix that moves the
// container to the other list changes the pointer, and may change the words.
func (p *picture) moved(before *picture) map[int]int {
	var gone, came []int
	for i := range before.findings {
		if !p.knows(before.findings[i].fingerprint) {
			gone = append(gone, i)
		}
	}
	for i := range p.findings {
		if !before.knows(p.findings[i].fingerprint) {
			came = append(came, i)
		}
	}
	out := map[int]int{}
	for _, same := range []func(a, b *subject) bool{
		func(a, b *subject) bool { return *a == *b },
		func(a, b *subject) bool { return a.message == b.message },
		func(a, b *subject) bool { return a.containers == b.containers && a.field != "" && a.field == b.field },
	} {
		for _, i := range came {
			if _, done := out[i]; done {
				continue
			}
			f := &p.findings[i]
			at := slices.IndexFunc(gone, func(j int) bool {
				g := &before.findings[j]
				return g.rule == f.rule && g.subject.object == f.subject.object && same(&g.subject, &f.subject) && covers([]*sketch{g}, f)
			})
			if at >= 0 {
				out[i] = gone[at]
				gone = slices.Delete(gone, at, at+1)
			}
		}
	}
	return out
}

// moves are the fingerprints of the findings of before that are elsewhere now.
func (p *picture) moves(before *picture) []string {
	var out []string
	for _, j := range p.moved(before) {
		out = append(out, before.findings[j].fingerprint)
	}
	slices.Sort(out)
	return out
}

// worse says what is here that was not there before, or what was lost; "" for
// nothing.
func (p *picture) worse(before *picture) string {
	if raised := p.raises(before); raised != "" {
		return raised
	}
	for _, gap := range slices.Sorted(maps.Keys(p.gaps)) {
		if p.gaps[gap] > before.gaps[gap] {
			return "a gap comes: " + strings.ReplaceAll(gap, "\x00", ": ")
		}
	}
	lost := ""
	for name, n := range before.objects {
		if p.objects[name] < n && (lost == "" || name.String() < lost) {
			lost = name.String()
		}
	}
	if lost != "" {
		return lost + " is lost"
	}
	for key, was := range before.pods {
		if is, ok := p.pods[key]; (!ok || !was.survivesIn(is)) && (lost == "" || key.id < lost) {
			lost = key.id
		}
	}
	if lost != "" {
		return "the VPN of " + lost + " is not what it was, or Pod Security rejects more of it"
	}
	return ""
}

// misses reports whether an object is gone that was there before.
func (p *picture) misses(before *picture) bool {
	for name, n := range before.objects {
		if p.objects[name] < n {
			return true
		}
	}
	return false
}

// steady forgets what another run of the same did not come to: objects with a name
// that is drawn anew each time are not lost when they have another.
func (p *picture) steady(again *picture) {
	for name, n := range p.objects {
		if p.objects[name] = min(n, again.objects[name]); p.objects[name] == 0 {
			delete(p.objects, name)
		}
	}
	for key := range p.pods {
		if _, ok := again.pods[key]; !ok {
			delete(p.pods, key)
		}
	}
	p.drawn = map[sketchPlace]bool{}
	for i := range p.findings {
		if f := &p.findings[i]; !again.knows(f.fingerprint) {
			p.drawn[f.place()] = true
		}
	}
}

// steadyBy is steady by a run of its own.
func (p *picture) steadyBy(ctx context.Context, linter *lint.Linter, paths []string, opts lint.Options) error {
	again, err := relint(ctx, linter, paths, opts)
	if err == nil {
		p.steady(again)
	}
	return err
}

// left are the fingerprints of findings that are still there, those included that
// only moved, or whose object has another name.
func (p *picture) left(before *picture) map[string]bool {
	out := map[string]bool{}
	places := map[sketchPlace]bool{}
	for i := range p.findings {
		out[p.findings[i].fingerprint], places[p.findings[i].place()] = true, true
	}
	for _, fingerprint := range p.moves(before) {
		out[fingerprint] = true
	}
	for i := range before.findings {
		if f := &before.findings[i]; before.drawn[f.place()] && places[f.place()] {
			out[f.fingerprint] = true
		}
	}
	return out
}

// has reports whether the same was found here before: as severely, and wherever
// it holds now.
func (p *picture) has(f *sketch, count int) bool {
	if count > len(p.by[f.fingerprint]) {
		return false
	}
	var earlier []*sketch
	for _, i := range p.by[f.fingerprint] {
		earlier = append(earlier, &p.findings[i])
	}
	return covers(earlier, f)
}

// covers reports whether what was found earlier was as severe as f, nobody
// silenced it unless f is silenced too, and it held wherever f holds.
func covers(earlier []*sketch, f *sketch) bool {
	var sets, clusters []string
	everySet, everyCluster, severe := false, false, false
	for _, g := range earlier {
		sets, everySet = append(sets, g.sets...), everySet || len(g.sets) == 0
		clusters, everyCluster = append(clusters, g.clusters...), everyCluster || len(g.clusters) == 0
		severe = severe || g.severity.AtLeast(f.severity) && (f.silenced || !g.silenced)
	}
	return severe && (everySet || subset(f.sets, sets)) && (everyCluster || subset(f.clusters, clusters))
}

// subset: nothing stands for everything, which only everything holds.
func subset(some, all []string) bool {
	return len(some) > 0 && !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

func (s podSketch) survivesIn(now podSketch) bool {
	return now.role == s.role && now.tunnels >= s.tunnels && now.rejections <= s.rejections &&
		!slices.ContainsFunc(s.containers, func(name string) bool { return !slices.Contains(now.containers, name) })
}
