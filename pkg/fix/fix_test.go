package fix_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/fix"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/pkg/testtree"
	"github.com/vpnlint/vpnlint/rules"
)

func newLinter(t *testing.T) *lint.Linter {
	t.Helper()
	linter, err := lint.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return linter
}

func options(t *testing.T, dir string) fix.Options {
	t.Helper()
	opts := lint.Options{Load: loader.Options{Dir: dir}}
	if plan := filepath.Join(dir, config.FileName); exists(plan) {
		var err error
		if opts.Plan, err = config.Load(config.Options{Dir: dir, File: plan, Rules: rules.IDs()}); err != nil {
			t.Fatal(err)
		}
	}
	return fix.Options{Lint: opts}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// applyTo writes the edits of one fix to a copy of a tree.
func applyTo(t *testing.T, dir string, r *report.Report, f finding.Fix) {
	t.Helper()
	one := *r
	one.Findings = []finding.Finding{{Rule: "X", Fixes: []finding.Fix{f}}}
	changes, err := fix.Changes(&one)
	if err != nil {
		t.Fatal(err)
	}
	if err := fix.Write(dir, changes); err != nil {
		t.Fatal(err)
	}
}

// TestEachFix: each fix of each example, and of the texts in testdata, written to
// files and linted by a run of its own, mends its finding and raises nothing,
// however it was proved.
func TestEachFix(t *testing.T) {
	linter := newLinter(t)
	dirs, err := filepath.Glob(filepath.Join("..", "..", "examples", "VPN*", "bad"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	archives, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "want/") })
		dirs = append(dirs, testtree.Parse(t, string(txtar.Format(archive))))
	}
	offered := map[string]int{}
	for _, dir := range dirs {
		eachFix(t, linter, dir, offered)
	}
	for _, rule := range []string{"VPN101", "VPN102", "VPN107", "VPN201", "VPN203", "VPN302", "VPN303", "VPN304", "VPN305", "VPN312", "VPN408"} {
		if offered[rule] == 0 {
			t.Errorf("no fix is offered for %s", rule)
		}
	}
}

// eachFix tries the fixes of a directory one by one, each in a copy of it, and
// counts them by rule.
func eachFix(t *testing.T, linter *lint.Linter, dir string, offered map[string]int) {
	t.Helper()
	scratch := t.TempDir()
	if err := os.CopyFS(scratch, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	proved, err := fix.Prove(t.Context(), linter, []string{"."}, options(t, scratch))
	if err != nil {
		t.Fatal(err)
	}
	before := said(&proved.Report)
	for _, f := range proved.Report.Findings {
		for _, x := range f.Fixes {
			if len(x.Edits) == 0 {
				continue
			}
			offered[f.Rule]++
			work := t.TempDir()
			if err := os.CopyFS(work, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			applyTo(t, work, &proved.Report, x)
			r, err := linter.Run(t.Context(), []string{"."}, options(t, work).Lint)
			if err != nil {
				t.Fatal(err)
			}
			after := said(&r)
			if slices.Contains(after, f.Rule+" "+f.Fingerprint) {
				t.Errorf("%s: %s: %q leaves the finding", dir, f.Rule, x.Title)
			}
			var moved []string // rules, each once for a finding that is elsewhere now
			for _, s := range before {
				rule, fingerprint, _ := strings.Cut(s, " ")
				if slices.Contains(x.Moves, fingerprint) && !slices.Contains(after, s) {
					moved = append(moved, rule)
				}
			}
			for _, s := range after {
				rule, _, _ := strings.Cut(s, " ")
				if slices.Contains(before, s) {
					continue
				}
				if i := slices.Index(moved, rule); i >= 0 {
					moved = slices.Delete(moved, i, i+1)
					continue
				}
				t.Errorf("%s: %s: %q raises %s", dir, f.Rule, x.Title, s)
			}
			if len(moved) > 0 {
				t.Errorf("%s: %s: %q does not move but mend findings of %v", dir, f.Rule, x.Title, moved)
			}
		}
	}
}

func said(r *report.Report) []string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, f.Rule+" "+f.Fingerprint)
	}
	for _, g := range r.Gaps {
		out = append(out, strings.Join([]string{"gap", g.File, g.What, g.Why}, " "))
	}
	return out
}

const gateway = `-- gw.yaml --
apiVersion: v1
kind: Pod
metadata:
  name: gw
spec:
  containers:
    - name: openvpn
      image: kylemanna/openvpn:2.4
      securityContext:
        capabilities:
          add: [NET_ADMIN]
`

// TestTimeIsUp: findings whose turn does not come are counted, and the report is
// what it is without fixes.
func TestTimeIsUp(t *testing.T) {
	dir := testtree.Parse(t, gateway)
	opts := options(t, dir)
	opts.Time = 1
	proved, err := fix.Prove(t.Context(), newLinter(t), []string{"."}, opts)
	if err != nil {
		t.Fatal(err)
	}
	if proved.Late == 0 || len(proved.Report.Findings) == 0 {
		t.Errorf("%d late of %d findings", proved.Late, len(proved.Report.Findings))
	}
	for _, f := range proved.Report.Findings {
		if len(f.Fixes) > 0 {
			t.Errorf("%s has a fix", f.Rule)
		}
	}
}

// TestRefusedIsSaid: why a candidate is not offered.
func TestRefusedIsSaid(t *testing.T) {
	dir := testtree.Parse(t, gateway)
	opts := options(t, dir)
	var said []string
	opts.Refused = func(f *finding.Finding, title, why string) { said = append(said, f.Rule+": "+title+": "+why) }
	if _, err := fix.Prove(t.Context(), newLinter(t), []string{"."}, opts); err != nil {
		t.Fatal(err)
	}
	if want := "VPN101: set net.ipv4.ip_forward as a sysctl of the pod: VPN104 comes at gw.yaml:8"; !slices.Contains(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}

// TestBesideThePaths: a file that was not to be linted may be used by others, which
// somebody has to know.
func TestBesideThePaths(t *testing.T) {
	dir := testtree.Parse(t, strings.Replace(gateway, "gw.yaml", "base/gw.yaml", 1)+"-- base/kustomization.yaml --\nresources: [gw.yaml]\n-- prod/kustomization.yaml --\nresources: [../base]\n")
	for path, wants := range map[string]bool{"prod": true, ".": false} {
		proved, err := fix.Prove(t.Context(), newLinter(t), []string{path}, options(t, dir))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range proved.Report.Findings {
			for _, x := range f.Fixes {
				found = true
				if got := strings.Contains(x.Review, "base/gw.yaml lies outside of the paths"); got != wants {
					t.Errorf("%s: review %q", path, x.Review)
				}
			}
		}
		if !found {
			t.Errorf("%s: no fix", path)
		}
	}
}

// TestSameBytes: what is offered does not depend on the order of paths or on the
// number of workers.
func TestSameBytes(t *testing.T) {
	linter := newLinter(t)
	dirs, err := filepath.Glob(filepath.Join("..", "..", "examples", "VPN30[2-5]", "bad"))
	if err != nil || len(dirs) == 0 {
		t.Fatal(err)
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	var want string
	for workers := range 3 {
		opts := fix.Options{Lint: lint.Options{Load: loader.Options{Dir: root, Workers: 1 + 4*workers}}}
		var paths []string
		for _, d := range dirs {
			abs, err := filepath.Abs(d)
			if err != nil {
				t.Fatal(err)
			}
			paths = append(paths, abs)
		}
		if workers > 0 {
			slices.Reverse(paths)
		}
		proved, err := fix.Prove(t.Context(), linter, paths, opts)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := report.JSON(&out, proved.Report, report.Options{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), `"proof": "rendered"`) {
			t.Fatal("no fix is offered")
		}
		if workers == 0 {
			want = out.String()
		} else if out.String() != want {
			t.Errorf("with %d workers and the paths turned around:\n%s\nwant\n%s", 1+4*workers, out.String(), want)
		}
	}
}

// TestOrderByName: app-template starts init containers by name, wherever they stand
// in the file; who moves one among others is told what comes after it.
func TestOrderByName(t *testing.T) {
	release := `-- one.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: one, namespace: jobs}
spec:
  chart:
    spec:
      chart: app-template
      version: 4.2.0
      sourceRef: {kind: HelmRepository, name: bjw-s}
  values:
    controllers:
      one:
        initContainers:
          OTHER:
            image: {repository: docker.io/library/busybox, tag: "1.37"}
            command: [mkdir, -p, /data]
        containers:
          gluetun:
            image:
              repository: ghcr.io/qdm12/gluetun
              tag: v3.41.1
            env:
              VPN_SERVICE_PROVIDER: mullvad
              VPN_TYPE: wireguard
            securityContext:
              capabilities:
                add: [NET_ADMIN]
          app:
            image: {repository: registry.example.com/demo/collector, tag: "1.4"}
            env:
              FEED: https://feed.example.com
`
	for other, wants := range map[string]bool{"init-dirs": true, "dirs": false} {
		dir := testtree.Parse(t, strings.Replace(release, "OTHER", other, 1))
		proved, err := fix.Prove(t.Context(), newLinter(t), []string{"."}, options(t, dir))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range proved.Report.Findings {
			for _, x := range f.Fixes {
				if f.Rule != "VPN303" {
					continue
				}
				found = true
				if got := strings.Contains(x.Review, "gluetun starts before init-dirs"); got != wants {
					t.Errorf("beside %s: %s: review %q", other, x.Title, x.Review)
				}
			}
		}
		if !found {
			t.Errorf("beside %s: no fix", other)
		}
	}
}
