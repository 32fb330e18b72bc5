package loader

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// BenchmarkManifests loads 5,000 objects of 1,000 files; compare it with
// BenchmarkBareParsing, which only parses the same files to nodes.
func BenchmarkManifests(b *testing.B) {
	dir := manyManifests(b)
	for b.Loop() {
		r, err := Load(b.Context(), []string{"."}, Options{Dir: dir})
		if err != nil || len(r.Objects) != 5000 || len(r.Gaps) != 0 {
			b.Fatal(len(r.Objects), r.Gaps, err)
		}
	}
}

// BenchmarkBareParsing is the floor for BenchmarkManifests.
func BenchmarkBareParsing(b *testing.B) {
	dir := manyManifests(b)
	for b.Loop() {
		entries, err := os.ReadDir(dir)
		if err != nil {
			b.Fatal(err)
		}
		for _, e := range entries {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				b.Fatal(err)
			}
			dec := yaml.NewDecoder(strings.NewReader(string(data)))
			for {
				var n yaml.Node
				if dec.Decode(&n) != nil {
					break
				}
			}
		}
	}
}

func manyManifests(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	for i := range 1000 {
		var text strings.Builder
		for j := range 5 {
			text.WriteString("---\n" + strings.ReplaceAll(vpnDeployment, "collector", fmt.Sprintf("c-%d-%d", i, j)))
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%04d.yaml", i)), []byte(text.String()), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}
