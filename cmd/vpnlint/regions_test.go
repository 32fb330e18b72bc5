package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf16"

	"golang.org/x/tools/txtar"
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
	dir := t.TempDir()
	for _, f := range archive.Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if !strings.HasPrefix(name, dir+string(filepath.Separator)) || f.Name == "want" {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, complaints bytes.Buffer
	// The plan file of one scenario may be meant to be refused.
	cmd := exec.CommandContext(ctx, "vpnlint", "lint", ".", "-o", "sarif", "--no-config", "--allow-gaps", "--limit-render-seconds", "3", "--limit-rules-seconds", "5")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &complaints
	if err := cmd.Run(); out.Len() == 0 {
		t.Fatalf("no report: %v\n%s", err, complaints.String())
	}
	var log any
	if err := json.Unmarshal(out.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	n := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			at, _ := v["artifactLocation"].(map[string]any)
			uri, _ := at["uri"].(string)
			if region, ok := v["region"].(map[string]any); ok && uri != "" {
				n++
				regionIn(t, dir, uri, region)
			}
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(log)
	return n
}

func regionIn(t *testing.T, dir, uri string, region map[string]any) {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Errorf("%q: %v", uri, err)
		return
	}
	name := u.Path
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, filepath.FromSlash(name))
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return // a directory, or what cannot be read
	}
	number := func(key string, otherwise int) int {
		if n, ok := region[key].(float64); ok {
			return int(n)
		}
		return otherwise
	}
	lines := strings.Split(string(text), "\n")
	start := number("startLine", 0)
	end := number("endLine", start)
	if start < 1 || end < start || end > len(lines) {
		t.Errorf("%s: lines %d to %d of %d", uri, start, end, len(lines))
		return
	}
	units := func(line int) int { return 1 + len(utf16.Encode([]rune(lines[line-1]))) }
	column, endColumn := number("startColumn", 1), number("endColumn", units(end))
	switch {
	case column < 1 || column > units(start) || endColumn < 1 || endColumn > units(end) || end == start && endColumn < column:
		t.Errorf("%s: columns %d to %d of line %d, which has %d", uri, column, endColumn, start, units(start))
	case start == end && column == endColumn && strings.TrimSpace(lines[start-1]) != "":
		t.Errorf("%s:%d:%d: an empty region", uri, start, column)
	}
}
