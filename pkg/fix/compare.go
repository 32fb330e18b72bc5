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
	findings []finding.Finding
	gaps     map[string]int
	objects  map[finding.ObjectName]int
	pods     map[podKey]podSketch
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
	p := &picture{findings: r.Findings, gaps: map[string]int{}, objects: map[finding.ObjectName]int{}, pods: map[podKey]podSketch{}}
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
func (p *picture) knows(fingerprint string) bool {
	return slices.ContainsFunc(p.findings, func(f finding.Finding) bool { return f.Fingerprint == fingerprint })
}

// lacks reports whether the finding is gone, under every value set.
func (p *picture) lacks(f *finding.Finding) bool { return !p.knows(f.Fingerprint) }

// raises names a finding that was not there before, "" for none. One that moves
// with what a fix moves counts: whoever keeps a list of known findings would meet
// it as a new one. It has to be mended first.
func (p *picture) raises(before *picture) string {
	for i := range p.findings {
		if f := &p.findings[i]; !before.has(f, p.count(f)) {
			return fmt.Sprintf("%s comes at %s:%d", f.Rule, f.Primary.File, f.Primary.Span.Start.Line)
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
			return "it cannot be seen whether: " + strings.ReplaceAll(gap, "\x00", ": ")
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

func (p *picture) count(f *finding.Finding) int {
	n := 0
	for i := range p.findings {
		if p.findings[i].Fingerprint == f.Fingerprint {
			n++
		}
	}
	return n
}

// has reports whether the same was found here before: as severely, and wherever
// it holds now.
func (p *picture) has(f *finding.Finding, count int) bool {
	if count > p.count(f) {
		return false
	}
	var sets, clusters []string
	everySet, everyCluster, severe := false, false, false
	for i := range p.findings {
		g := &p.findings[i]
		if g.Fingerprint != f.Fingerprint {
			continue
		}
		sets, everySet = append(sets, g.ValueSets...), everySet || len(g.ValueSets) == 0
		clusters, everyCluster = append(clusters, g.Clusters...), everyCluster || len(g.Clusters) == 0
		severe = severe || g.Severity.AtLeast(f.Severity)
	}
	return severe && (everySet || subset(f.ValueSets, sets)) && (everyCluster || subset(f.Clusters, clusters))
}

// subset: nothing stands for everything, which only everything holds.
func subset(some, all []string) bool {
	return len(some) > 0 && !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

func (s podSketch) survivesIn(now podSketch) bool {
	return now.role == s.role && now.tunnels >= s.tunnels && now.rejections <= s.rejections &&
		!slices.ContainsFunc(s.containers, func(name string) bool { return !slices.Contains(now.containers, name) })
}
