package fix

import (
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
			sketch := podSketch{role: pod.Role, tunnels: len(pod.Tunnels)}
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

// lacks reports whether the finding is gone, under every value set.
func (p *picture) lacks(f *finding.Finding) bool {
	return !slices.ContainsFunc(p.findings, func(g finding.Finding) bool { return g.Fingerprint == f.Fingerprint })
}

// onlyOld reports whether nothing is found here that was not found before.
func (p *picture) onlyOld(before *picture) bool {
	for i := range p.findings {
		if !before.has(&p.findings[i], p.count(&p.findings[i])) {
			return false
		}
	}
	return true
}

// noWorse reports whether nothing is here that was not there before, and nothing
// was lost.
func (p *picture) noWorse(before *picture) bool {
	if !p.onlyOld(before) {
		return false
	}
	for gap, n := range p.gaps {
		if n > before.gaps[gap] {
			return false
		}
	}
	for name, n := range before.objects {
		if p.objects[name] < n {
			return false
		}
	}
	for key, was := range before.pods {
		if is, ok := p.pods[key]; !ok || !was.survivesIn(is) {
			return false
		}
	}
	return true
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
	return now.role == s.role && now.tunnels >= s.tunnels &&
		!slices.ContainsFunc(s.containers, func(name string) bool { return !slices.Contains(now.containers, name) })
}
