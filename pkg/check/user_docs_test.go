package check

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestUserRulesNameEveryKey: the page about rules of one's own lists the keys that
// METADATA may have, and no other.
func TestUserRulesNameEveryKey(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "user-rules.md"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for i := range reflect.TypeFor[customMeta]().NumField() {
		key := reflect.TypeFor[customMeta]().Field(i).Tag.Get("json")
		known[key] = true
		if !strings.Contains(string(page), "`custom."+key+"`") {
			t.Errorf("docs/user-rules.md does not name custom.%s", key)
		}
	}
	for _, piece := range strings.Split(string(page), "`custom.")[1:] {
		if key, _, _ := strings.Cut(piece, "`"); !known[key] {
			t.Errorf("docs/user-rules.md names custom.%s, which is refused", key)
		}
	}
}
