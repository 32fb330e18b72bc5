package lint_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// TestDraftsAreValid: what is drafted for any example can be read, and the plan
// that it makes has the ranges that the tree states.
func TestDraftsAreValid(t *testing.T) {
	t.Parallel()
	root := repoRoot(t)
	for _, dir := range examples(t) {
		text := drafted(t, root, dir)
		plan, err := config.Parse(source.NewFile(config.FileName, text), config.Options{Dir: root})
		if err != nil {
			t.Errorf("%s: %v\n%s", dir, err, text)
			continue
		}
		opts := lint.Options{Load: loader.Options{Dir: root}}
		without, err := lint.ReadPlan(t.Context(), []string{dir}, opts)
		if err != nil {
			t.Fatal(err)
		}
		opts.Plan = plan
		with, err := lint.ReadPlan(t.Context(), []string{dir}, opts)
		if err != nil {
			t.Fatal(err)
		}
		if len(with.Ranges) < len(without.Ranges) {
			t.Errorf("%s: %d ranges with the plan, %d without\n%s", dir, len(with.Ranges), len(without.Ranges), text)
		}
	}
}

func drafted(t *testing.T, root, dir string) string {
	t.Helper()
	text, gaps, err := lint.DraftPlan(t.Context(), []string{dir}, lint.Options{Load: loader.Options{Dir: root}})
	if err != nil {
		t.Fatal(err)
	}
	if len(gaps) > 0 && strings.Contains(dir, "good") {
		t.Errorf("%s: %v", dir, gaps)
	}
	return text
}

// TestDraftOfAwkwardNames: whatever a cluster is called, the draft is one
// document with that name in it.
func TestDraftOfAwkwardNames(t *testing.T) {
	for _, name := range []string{"on", "a: b", "x # y", "'", `"`, "- a", "*", "[", "{a}", "null", "1", "~", "a\nb", "\u202e", "é漢", "!x", "&x", "%", "@", "a, b", strings.Repeat("n", 300)} {
		dir := t.TempDir()
		quoted, err := quote(name)
		if err != nil {
			t.Fatal(err)
		}
		manifest := "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nclusterName: " + quoted + "\nnetworking: {podSubnet: 10.244.0.0/16}\n"
		if err := os.WriteFile(filepath.Join(dir, "cluster.yaml"), []byte(manifest), 0o644); err != nil {
			t.Fatal(err)
		}
		text := drafted(t, dir, ".")
		plan, err := config.Parse(source.NewFile(config.FileName, text), config.Options{Dir: dir})
		if err != nil {
			t.Errorf("%q: %v\n%s", name, err, text)
			continue
		}
		if len(plan.Clusters) != 1 || plan.Clusters[0].Name != name {
			t.Errorf("%q became %+v\n%s", name, plan.Clusters, text)
		}
	}
}

// quote writes a string in YAML's double quotes, which are JSON's.
func quote(s string) (string, error) {
	out, err := json.Marshal(s)
	return string(out), err
}
