package docs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/report"
)

// TestMap compares docs/plan.svg with the address map of examples/fleet.
func TestMap(t *testing.T) {
	dir, err := filepath.Abs(filepath.Join("..", "examples", "fleet"))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := config.Load(config.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	addresses, err := lint.ReadPlan(t.Context(), []string{"."}, lint.Options{Load: loader.Options{Dir: dir}, Plan: plan})
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := report.WritePlan(&got, report.PlanSVG, addresses, report.Options{Links: "../examples/fleet"}); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("plan.svg", got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile("plan.svg")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Error("the map has changed since docs/plan.svg was drawn: look at it and run `go test ./docs -update`")
	}
}
