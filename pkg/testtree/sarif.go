package testtree

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

// Regions holds every region of a SARIF log against its file, of results, related
// places, silenced findings, fixes and notifications, and returns how many there
// are. URIs are relative to dir. What stands for a directory as a whole, or for
// standard input, has no lines.
func Regions(tb testing.TB, dir string, log []byte) int {
	tb.Helper()
	var tree any
	if err := json.Unmarshal(log, &tree); err != nil {
		tb.Fatal(err)
	}
	n := 0
	hold := func(uri string, v any, mayBeEmpty bool) {
		if region, ok := v.(map[string]any); ok && uri != "" && uri != "stdin" {
			n++
			inFile(tb, dir, uri, region, mayBeEmpty)
		}
	}
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
			hold(uri, v["region"], false)
			replacements, _ := v["replacements"].([]any)
			for _, x := range replacements {
				if one, ok := x.(map[string]any); ok {
					hold(uri, one["deletedRegion"], true) // it inserts
				}
			}
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(tree)
	return n
}

// inFile: lines and columns, in UTF-16 units, lie in the file, and show something
// of a line that is not blank.
func inFile(tb testing.TB, dir, uri string, region map[string]any, mayBeEmpty bool) {
	tb.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		tb.Errorf("%q: %v", uri, err)
		return
	}
	name := u.Path
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, filepath.FromSlash(name))
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return
	}
	text, err := os.ReadFile(name)
	if err != nil {
		tb.Errorf("%s: %v", uri, err)
		return
	}
	lines := strings.Split(string(text), "\n")
	number := func(key string, otherwise int) int {
		if n, ok := region[key].(float64); ok {
			return int(n)
		}
		return otherwise
	}
	start := number("startLine", 0)
	end := number("endLine", start)
	if start < 1 || end < start || end > len(lines) {
		tb.Errorf("%s: lines %d to %d of %d", uri, start, end, len(lines))
		return
	}
	units := func(line int) int { return 1 + len(utf16.Encode([]rune(lines[line-1]))) }
	column, endColumn := number("startColumn", 1), number("endColumn", units(end))
	switch {
	case column < 1 || column > units(start) || endColumn < 1 || endColumn > units(end) || end == start && endColumn < column:
		tb.Errorf("%s: columns %d to %d of line %d, which has %d", uri, column, endColumn, start, units(start))
	case !mayBeEmpty && start == end && column == endColumn && strings.TrimSpace(lines[start-1]) != "":
		tb.Errorf("%s:%d:%d: an empty region", uri, start, column)
	}
}
