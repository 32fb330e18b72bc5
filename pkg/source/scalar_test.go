package source_test

import (
	"testing"

	"github.com/vpnlint/vpnlint/pkg/source"
)

func TestScalarText(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]any{"on": "on", "true": true, "-7": int64(-7), "100000000000000000000": 1e20, "0.5": 0.5} {
		if got, ok := source.ScalarText(v); !ok || got != want {
			t.Errorf("%v: %q, %v; want %q", v, got, ok, want)
		}
	}
	for _, v := range []any{nil, []any{"a"}, map[string]any{"a": "b"}, 7} {
		if got, ok := source.ScalarText(v); ok || got != "" {
			t.Errorf("%v passes for a scalar of a tree: %q", v, got)
		}
	}
}
