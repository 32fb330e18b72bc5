package rules_test

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/rules"
)

// Commands to verify are made out for what is really there: an operator pastes
// them. Every rule shows some in its example, unless its METADATA says why none.
func TestVerifyCommandsCanBePasted(t *testing.T) {
	linter, err := lint.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, dir := range exampleTrees(t) {
		opts := exampleOptions(t, dir)
		said, err := linter.Run(t.Context(), []string{dir}, opts)
		if err != nil {
			t.Fatal(err)
		}
		pods := podsIn(t, linter, dir, opts)
		for i := range said.Findings {
			f := &said.Findings[i]
			shown[f.Rule] = shown[f.Rule] || len(f.Verify) > 0
			for _, problem := range pasted(f, pods) {
				t.Errorf("%s: %s: %s", dir, f.Rule, problem)
			}
		}
	}
	for _, m := range linter.Rules() {
		if shown[m.ID] != (m.NoVerify == "") {
			t.Errorf("%s: examples with commands to verify: %v, METADATA on why there are none: %q", m.ID, shown[m.ID], m.NoVerify)
		}
	}
}

// exampleTrees are all examples: pairs of rules, and whole repositories.
func exampleTrees(t *testing.T) []string {
	t.Helper()
	trees, err := filepath.Glob("../examples/VPN*/*")
	if err != nil || len(trees) < 2*len(rules.IDs()) {
		t.Fatalf("%d examples, %v", len(trees), err)
	}
	for i := range trees {
		trees[i] = strings.TrimPrefix(filepath.ToSlash(trees[i]), "../")
	}
	return append(trees, "examples/fleet", "examples/user-rules/bad")
}

func exampleOptions(t *testing.T, dir string) lint.Options {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	opts := lint.Options{Load: loader.Options{Dir: root}}
	if plan := path.Join(dir, config.FileName); isFile(filepath.Join(root, filepath.FromSlash(plan))) {
		if opts.Plan, err = config.Load(config.Options{Dir: root, File: plan, Rules: rules.IDs()}); err != nil {
			t.Fatal(err)
		}
	}
	return opts
}

// runningPod is what a command may enter.
type runningPod struct {
	namespace, workload string
	running             []string // containers that do not end
}

func podsIn(t *testing.T, linter *lint.Linter, dir string, opts lint.Options) []runningPod {
	t.Helper()
	text, err := linter.Input(t.Context(), []string{dir}, "", opts)
	if err != nil {
		t.Fatal(err)
	}
	var input struct {
		Facts struct {
			Pods []struct {
				Workload   string
				Object     finding.ObjectName
				Containers []struct{ Name, Stage string }
			}
		}
	}
	if err := json.Unmarshal(text, &input); err != nil {
		t.Fatal(err)
	}
	var pods []runningPod
	for _, p := range input.Facts.Pods {
		pod := runningPod{namespace: p.Object.Namespace, workload: p.Workload}
		for _, c := range p.Containers {
			if c.Stage != "init" {
				pod.running = append(pod.running, c.Name)
			}
		}
		pods = append(pods, pod)
	}
	return pods
}

var (
	leftOver = regexp.MustCompile(`\{[a-z-]+\}`)
	// onePod is how a pod is found whose workload a command does not take.
	onePod = regexp.MustCompile(`^\$\(kubectl( -n \S+)? get pods -o name \| grep '\^pod/([a-z0-9.-]+?)-\[[^']*\$' \| tail -n 1\)$`)
)

// pasted says what keeps the commands of a finding from being pasted.
func pasted(f *finding.Finding, pods []runningPod) []string {
	var problems []string
	node := false
	for _, command := range f.Verify {
		if left := leftOver.FindString(strings.ReplaceAll(command, "{end}", "")); left != "" {
			problems = append(problems, "left over "+left+": "+command)
		}
		file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(command), "")
		if err != nil {
			problems = append(problems, err.Error()+": "+command)
			continue
		}
		if strings.Contains(command, `"$NODE"`) && !node {
			problems = append(problems, "nothing sets NODE: "+command)
		}
		node = node || strings.Contains(command, "NODE=$(")
		syntax.Walk(file, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 && call.Args[0].Lit() == "kubectl" {
				if problem := wrongCall(call, pods); problem != "" {
					problems = append(problems, problem+": "+command)
				}
			}
			return true
		})
	}
	return problems
}

// wrongCall says what is wrong with one call of kubectl, "" for nothing.
func wrongCall(call *syntax.CallExpr, pods []runningPod) string {
	var args []string
	for _, word := range call.Args[1:] {
		var b strings.Builder
		if err := syntax.NewPrinter().Print(&b, word); err != nil {
			return err.Error()
		}
		args = append(args, b.String())
	}
	namespace := ""
	if len(args) > 2 && args[0] == "-n" {
		namespace, args = args[1], args[2:]
	}
	if len(args) < 2 {
		return "no command of kubectl"
	}
	target := args[1]
	switch args[0] {
	case "cluster-info":
		return ""
	case "debug":
		if target == `node/"$NODE"` {
			return ""
		}
		if strings.HasPrefix(target, "deploy/") || strings.HasPrefix(target, "sts/") {
			return "kubectl debug takes pods only"
		}
	case "get":
		if target == "nodes" || slices.Contains(args, "--all-namespaces") {
			return ""
		}
	case "exec", "logs":
	default:
		return "an unknown command " + args[0]
	}
	if namespace == "" {
		return "no namespace"
	}
	if namespace == "kube-system" || target == "events" || target == "pods" {
		return ""
	}
	return wrongTarget(namespace, target, args, pods)
}

// wrongTarget looks for the workload, and for the container that a command
// enters.
func wrongTarget(namespace, target string, args []string, pods []runningPod) string {
	i := slices.IndexFunc(pods, func(p runningPod) bool {
		if p.namespace != namespace {
			return false
		}
		_, name, _ := strings.Cut(p.workload, "/")
		found := onePod.FindStringSubmatch(target)
		return target == p.workload || len(found) == 3 && found[2] == name && found[1] == " -n "+namespace
	})
	if i < 0 {
		return "there is no pod " + namespace + " " + target
	}
	if args[0] != "exec" && args[0] != "logs" {
		return ""
	}
	c := slices.Index(args, "-c")
	switch {
	case c < 0 || c+1 == len(args):
		return "no container"
	case !slices.Contains(pods[i].running, args[c+1]):
		return "no container that runs is called " + args[c+1]
	}
	return ""
}

// lintBad lints a rule's bad example as a user would from the repository's root.
func lintBad(t *testing.T, linter *lint.Linter, id string) report.Report {
	t.Helper()
	dir := path.Join("examples", id, "bad")
	said, err := linter.Run(t.Context(), []string{dir}, exampleOptions(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	return said
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
