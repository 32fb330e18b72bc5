package lint

import (
	"fmt"
	"slices"

	"github.com/vpnlint/vpnlint/pkg/finding"
)

// onlyOnce leaves one finding of each rule that speaks once a run: the first in
// the order of the report that nobody suppressed, of whatever cluster and value
// set. Its message counts the other pods of which one of them speaks. Those that
// are suppressed stay, for the formats that show them.
func onlyOnce(said []held, rules []finding.RuleMeta) []held {
	for _, m := range rules {
		if m.Once {
			said = firstOf(said, m.ID)
		}
	}
	return said
}

func firstOf(said []held, rule string) []held {
	speaks := func(f *finding.Finding) bool { return f.Rule == rule && f.Suppressed == nil }
	first := -1
	pods := map[string]bool{}
	for i := range said {
		f := &said[i].finding
		if !speaks(f) {
			continue
		}
		pods[f.Pod] = true
		for _, id := range f.Alike {
			pods[id] = true
		}
		if first < 0 || compareFindings(*f, said[first].finding) < 0 {
			first = i
		}
	}
	if first < 0 {
		return said
	}
	one := said[first].finding
	said = slices.DeleteFunc(slices.Clone(said), func(h held) bool {
		return speaks(&h.finding) && compareFindings(h.finding, one) != 0
	})
	for i := range said {
		if f := &said[i].finding; speaks(f) {
			f.Message += others(len(pods) - 1)
		}
	}
	return said
}

func others(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "; 1 more VPN workload lacks such ranges"
	default:
		return fmt.Sprintf("; %d more VPN workloads lack such ranges", n)
	}
}
