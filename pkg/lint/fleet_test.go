package lint_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/report"
)

// copyFleet copies the example repository, so that a test may change it.
func copyFleet(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(repoRoot(t), "examples", "fleet"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func lintFleet(t *testing.T, dir string, paths ...string) report.Report {
	t.Helper()
	plan, err := config.Load(config.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if plan == nil {
		t.Fatal("the fleet has no plan file")
	}
	r, err := lint.Run(t.Context(), paths, lint.Options{Load: loader.Options{Dir: dir}, Plan: plan})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range r.Gaps {
		t.Errorf("gap: %s: %s: %s", g.File, g.What, g.Why)
	}
	return r
}

// rulesOf returns the rules that report something of a cluster, sorted.
func rulesOf(r report.Report, cluster string) []string {
	var out []string
	for _, f := range r.Findings {
		if slices.Contains(f.Clusters, cluster) {
			out = append(out, f.Rule)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestFleet lints the example repository for each of its clusters: what is
// wrong in one is not wrong in the other.
func TestFleet(t *testing.T) {
	r := lintFleet(t, copyFleet(t), ".")
	if got, want := rulesOf(r, "north"), []string{"VPN101", "VPN201"}; !slices.Equal(got, want) {
		t.Errorf("north: %v, want %v", got, want)
	}
	if got, want := rulesOf(r, "south"), []string{"VPN401"}; !slices.Equal(got, want) {
		t.Errorf("south: %v, want %v", got, want)
	}
}

// TestMovingAWorkloadIsAPlanCheck is claim C13: a tunnel whose bypass list fits
// one cluster is reported as soon as it is moved to another.
func TestMovingAWorkloadIsAPlanCheck(t *testing.T) {
	dir := copyFleet(t)
	const name = "scraper.yaml"
	before := lintFleet(t, dir, "clusters")
	if rules := rulesOf(before, "south"); slices.Contains(rules, "VPN408") || slices.Contains(rulesOf(before, "north"), "VPN408") {
		t.Fatalf("the workload does not fit where it is: %v", rules)
	}
	from, to := filepath.Join(dir, "clusters", "north", name), filepath.Join(dir, "clusters", "south", name)
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
	after := lintFleet(t, dir, "clusters")
	if got, want := rulesOf(after, "south"), []string{"VPN401", "VPN408"}; !slices.Equal(got, want) {
		t.Errorf("south: %v, want %v", got, want)
	}
	for _, f := range after.Findings {
		if f.Rule != "VPN408" {
			continue
		}
		if f.Primary.File != "clusters/south/"+name || !slices.Equal(f.Clusters, []string{"south"}) {
			t.Errorf("%s at %+v for %v", f.Rule, f.Primary, f.Clusters)
		}
	}
	if err := os.Rename(to, from); err != nil {
		t.Fatal(err)
	}
	if got := rulesOf(lintFleet(t, dir, "clusters"), "south"); !slices.Equal(got, []string{"VPN401"}) {
		t.Errorf("south, when it is moved back: %v", got)
	}
}
