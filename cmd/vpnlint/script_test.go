package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected output of the scenarios")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"vpnlint": main})
}

// TestScripts runs the whole-program scenarios. The first line of each says
// what it proves.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("..", "..", "testdata", "script"),
		UpdateScripts: *update,
		// A scenario must not depend on the machine: testscript clears the
		// environment, this drops what it would still take from it.
		Setup: func(env *testscript.Env) error {
			env.Setenv("COLUMNS", "100")
			env.Setenv("NO_COLOR", "")
			env.Setenv("TERM", "dumb")
			return os.MkdirAll(filepath.Join(env.WorkDir, ".tmp"), 0o755)
		},
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
	})
}
