package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
	runScripts(t, "script")
}

// TestHostile runs the scenarios with input that means harm: each compares the
// whole report, and none may run the git that stands on PATH. It is not
// parallel: its endless loops would take the time that other scenarios measure.
func TestHostile(t *testing.T) {
	if testing.Short() && raceDetector {
		t.Skip("the scenarios are about limits, and slow under the race detector")
	}
	runScripts(t, "hostile")
}

func runScripts(t *testing.T, dir string) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in %s: %v", dir, err)
	}
	if testing.Short() && raceDetector {
		// Each is a program of its own, eight times slower under the detector; what
		// runs at the same time in it is the same in all.
		every := files
		files = nil
		for i := 0; i < len(every); i += 3 {
			files = append(files, every[i])
		}
	}
	testscript.Run(t, testscript.Params{
		Files:         files,
		UpdateScripts: *update,
		// A scenario must not depend on the machine: testscript clears the
		// environment, this drops what it would still take from it.
		Setup: func(env *testscript.Env) error {
			env.Setenv("COLUMNS", "100")
			env.Setenv("NO_COLOR", "")
			env.Setenv("TERM", "dumb")
			env.Setenv("CI", "")
			bin := filepath.Join(env.WorkDir, ".bin")
			env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
			return errors.Join(
				os.MkdirAll(filepath.Join(env.WorkDir, ".tmp"), 0o755),
				os.MkdirAll(bin, 0o755),
				os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\n: >\""+filepath.Join(env.WorkDir, "git-was-run")+"\"\nexit 1\n"), 0o755),
			)
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "race":
				return raceDetector, nil
			case "root":
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"unescape": unescape,
			"fill":     fill,
			"tgz":      tgz,
		},
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
	})
}

// unescape FILE... replaces Go's escapes (\x00, \u202e) in files: a scenario is
// text, what it needs may not be.
func unescape(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		text := ts.ReadFile(name)
		text = strings.NewReplacer("\"", "\\\"", "\n", "\\n").Replace(text)
		plain, err := strconv.Unquote("\"" + text + "\"")
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(plain), 0o644))
	}
}

// fill FILE PLACE N TEXT... replaces PLACE in a file by N times each TEXT.
func fill(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	var b strings.Builder
	for _, text := range args[3:] {
		b.WriteString(strings.Repeat(text, n))
	}
	text := strings.ReplaceAll(ts.ReadFile(args[0]), args[1], b.String())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// tgz ARCHIVE NAME=FILE... packs files under the very names given, ".." and
// all; NAME=@LINK packs a symbolic link.
func tgz(ts *testscript.TestScript, _ bool, args []string) {
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	tw := tar.NewWriter(zipped)
	for _, arg := range args[1:] {
		name, file, _ := strings.Cut(arg, "=")
		if link, ok := strings.CutPrefix(file, "@"); ok {
			ts.Check(tw.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: link, Mode: 0o644}))
			continue
		}
		text := ts.ReadFile(file)
		ts.Check(tw.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o644}))
		_, err := io.WriteString(tw, text)
		ts.Check(err)
	}
	ts.Check(errors.Join(tw.Close(), zipped.Close()))
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[0])), 0o755))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o644))
}
