package fix

import (
	"fmt"
	"maps"
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
}

// sketch is what of a finding is compared: many runs are remembered.
type sketch struct {
	fingerprint    string
	severity       finding.Severity
	sets, clusters []string
	rule, file     string
	line           int
}

// sketches are the findings of a report alone.
func sketches(all []finding.Finding) *picture {
	p := &picture{findings: make([]sketch, len(all)), by: map[string][]int{}}
	for i := range all {
		f := &all[i]
		p.findings[i] = sketch{f.Fingerprint, f.Severity, f.ValueSets, f.Clusters, f.Rule, f.Primary.File, f.Primary.Span.Start.Line}
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
	p := sketches(r.Findings)
	p.gaps, p.objects, p.pods = map[string]int{}, map[finding.ObjectName]int{}, map[podKey]podSketch{}
	for _, g := range r.Gaps {
		p.gaps[strings.Join([]string{string(g.Kind), g.File, g.What, g.Why}, "\x00")]++
	}
	for i := range readings {
		count := map[finding.ObjectName]int{}
		for _, o := range readings[i].Objects {
			name := finding.NameOf(o)
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

// lacks reports whether the finding is gone, under every value set.
func (p *picture) lacks(f *finding.Finding) bool { return !p.knows(f.Fingerprint) }

// raises names a finding that was not there before, "" for none. One that moves
// with what a fix moves counts: whoever keeps a list of known findings would meet
// it as a new one. It has to be mended first.
func (p *picture) raises(before *picture) string {
	for i := range p.findings {
		if f := &p.findings[i]; !before.has(f, len(p.by[f.fingerprint])) {
			return fmt.Sprintf("%s comes at %s:%d", f.rule, f.file, f.line)
		}
	}
	return ""
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

// has reports whether the same was found here before: as severely, and wherever
// it holds now.
func (p *picture) has(f *sketch, count int) bool {
	if count > len(p.by[f.fingerprint]) {
		return false
	}
	var sets, clusters []string
	everySet, everyCluster, severe := false, false, false
	for _, i := range p.by[f.fingerprint] {
		g := &p.findings[i]
		sets, everySet = append(sets, g.sets...), everySet || len(g.sets) == 0
		clusters, everyCluster = append(clusters, g.clusters...), everyCluster || len(g.clusters) == 0
		severe = severe || g.severity.AtLeast(f.severity)
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
