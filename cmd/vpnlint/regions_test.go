package main

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/vpnlint/vpnlint/pkg/testtree"
)

// TestRegionsOfHostileInput: whatever stands in the files, every region of the SARIF
// report on them lies inside its file and is not empty where the file is not.
func TestRegionsOfHostileInput(t *testing.T) {
	if testing.Short() && raceDetector {
		t.Skip("the inputs are about limits, and slow under the race detector")
	}
	archives, err := filepath.Glob(filepath.Join("..", "..", "testdata", "hostile", "*.txtar"))
	if err != nil || len(archives) < 100 {
		t.Fatalf("%d archives: %v", len(archives), err)
	}
	archives = append(archives, filepath.Join("..", "..", "testdata", "script", "limits.txtar"), filepath.Join("..", "..", "testdata", "script", "isolate.txtar"))
	var seen atomic.Int64
	t.Run("archives", func(t *testing.T) {
		for _, name := range archives {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(filepath.Base(name), func(t *testing.T) {
				t.Parallel()
				seen.Add(int64(hostileRegions(t, archive)))
			})
		}
	})
	t.Logf("%d regions lie in their files", seen.Load())
	if seen.Load() < 100 {
		t.Error("that is too few to prove anything")
	}
}

func hostileRegions(t *testing.T, archive *txtar.Archive) int {
	t.Helper()
	dir := testtree.Unpack(t, slices.DeleteFunc(slices.Clone(archive.Files), func(f txtar.File) bool {
		return f.Name == "want" || !filepath.IsLocal(filepath.FromSlash(f.Name))
	}))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, complaints bytes.Buffer
	// The plan file of one scenario may be meant to be refused.
	cmd := exec.CommandContext(ctx, "vpnlint", "lint", ".", "-o", "sarif", "--no-config", "--allow-gaps", "--limit-render-seconds", "3", "--limit-rules-seconds", "5")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &complaints
	if err := cmd.Run(); out.Len() == 0 {
		t.Fatalf("no report: %v\n%s", err, complaints.String())
	}
	return testtree.Regions(t, dir, out.Bytes())
}
