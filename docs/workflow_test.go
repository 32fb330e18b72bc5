package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestWorkflows checks the README's workflow and our own with actionlint. The
// README's is checked with the action from this tree, so that its inputs and
// outputs exist.
func TestWorkflows(t *testing.T) {
	actionlint, err := exec.LookPath("actionlint")
	if err != nil {
		t.Skip("actionlint is not installed")
	}
	root := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	workflow := readmeWorkflow(t)
	local := regexp.MustCompile(`uses: vpnlint/vpnlint@\S+`).ReplaceAllString(workflow, "uses: ./")
	if local == workflow {
		t.Fatal("the README's workflow does not use the action")
	}
	write(".github/workflows/readme.yml", local)
	write("action.yml", read(t, "../action.yml"))
	write(".git/HEAD", "ref: refs/heads/main\n") // actionlint looks for the root of a repository
	ours, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil || len(ours) == 0 {
		t.Fatalf("no workflows of our own: %v", err)
	}
	for _, path := range ours {
		write(".github/workflows/"+filepath.Base(path), read(t, path))
	}
	cmd := exec.CommandContext(t.Context(), actionlint, "-no-color")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func readmeWorkflow(t *testing.T) string {
	t.Helper()
	for block := range strings.SplitSeq(read(t, "../README.md"), "```yaml\n") {
		text, _, closed := strings.Cut(block, "\n```")
		if closed && strings.Contains(text, "jobs:") {
			return text + "\n"
		}
	}
	t.Fatal("no workflow in the README")
	return ""
}

// TestActionRuns runs the script of the action: what it says of the report, and
// with which code it ends.
func TestActionRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the program")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	var action struct {
		Inputs map[string]struct {
			Default string `json:"default"`
		} `json:"inputs"`
		Runs struct {
			Steps []struct {
				ID  string            `json:"id"`
				Run string            `json:"run"`
				Env map[string]string `json:"env"`
			} `json:"steps"`
		} `json:"runs"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "../action.yml")), &action); err != nil {
		t.Fatal(err)
	}
	step := action.Runs.Steps[len(action.Runs.Steps)-1]
	if step.ID != "lint" {
		t.Fatalf("the last step is %q", step.ID)
	}
	temp := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(temp, "vpnlint"), "../cmd/vpnlint")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the program: %v\n%s", err, out)
	}
	input := regexp.MustCompile(`^\$\{\{ inputs\.([\w-]+) \}\}$`)
	const (
		broken  = "apiVersion: v1\nkind: Pod\nmetadata: [\n"
		gateway = "apiVersion: v1\nkind: Pod\nmetadata: {name: vpn}\nspec:\n  containers:\n    - name: wireguard\n" +
			"      image: ghcr.io/wg-easy/wg-easy:14\n      securityContext: {capabilities: {add: [NET_ADMIN]}}\n"
	)
	for name, c := range map[string]struct {
		manifest string
		inputs   map[string]string
		old      bool // a report of an earlier run is there
		want     string
	}{
		"findings":   {manifest: gateway, want: "sarif-file=vpnlint.sarif\nexit-code=1\n"},
		"never":      {manifest: gateway, inputs: map[string]string{"fail-on": "never"}, want: "sarif-file=vpnlint.sarif\nexit-code=0\n"},
		"gap":        {manifest: broken, inputs: map[string]string{"fail-on": "never"}, want: "sarif-file=vpnlint.sarif\nexit-code=3\n"},
		"allow-gaps": {manifest: broken, inputs: map[string]string{"allow-gaps": "true"}, want: "sarif-file=vpnlint.sarif\nexit-code=0\n"},
		"usage":      {manifest: gateway, inputs: map[string]string{"fail-on": "sometimes"}, old: true, want: "exit-code=2\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			output := filepath.Join(t.TempDir(), "output")
			cmd := exec.CommandContext(t.Context(), bash, "-e", "-o", "pipefail", "-c", step.Run)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "RUNNER_TEMP="+temp, "GITHUB_OUTPUT="+output)
			for variable, value := range step.Env {
				m := input.FindStringSubmatch(value)
				if m == nil {
					t.Fatalf("%s is no input: %s", variable, value)
				}
				given, ok := c.inputs[m[1]]
				if !ok {
					given = action.Inputs[m[1]].Default
				}
				cmd.Env = append(cmd.Env, variable+"="+given)
			}
			files := map[string]string{"pod.yaml": c.manifest}
			if c.old {
				files["vpnlint.sarif"] = "{}"
			}
			for file, text := range files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			out, _ := cmd.CombinedOutput() // its exit code is in the output file, too
			if got := read(t, output); got != c.want || !strings.HasSuffix(got, fmt.Sprintf("exit-code=%d\n", cmd.ProcessState.ExitCode())) {
				t.Errorf("got %q and exit code %d, want %q\n%s", got, cmd.ProcessState.ExitCode(), c.want, out)
			}
		})
	}
}

// TestActionsArePinned: an action of others is named by commit, with the
// version beside it, because tags can be moved.
func TestActionsArePinned(t *testing.T) {
	pinned := regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	uses := regexp.MustCompile(`uses: (.*)`)
	paths, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, path := range append(paths, "../action.yml", "../README.md") {
		for _, m := range uses.FindAllStringSubmatch(read(t, path), -1) {
			if m[1] == "./" || strings.HasPrefix(m[1], "vpnlint/vpnlint@") {
				continue
			}
			seen++
			if !pinned.MatchString(m[1]) {
				t.Errorf("%s: %s", path, m[1])
			}
		}
	}
	if seen == 0 {
		t.Error("no action found")
	}
}

// TestHook: the hook takes the files that charts and kustomizations are made
// of. Those of other tools it takes as changed files, which need not parse.
func TestHook(t *testing.T) {
	var hooks []struct {
		ID            string `json:"id"`
		Entry         string `json:"entry"`
		Language      string `json:"language"`
		Files         string `json:"files"`
		Exclude       string `json:"exclude"`
		RequireSerial bool   `json:"require_serial"`
		PassFilenames bool   `json:"pass_filenames"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "../.pre-commit-hooks.yaml")), &hooks); err != nil {
		t.Fatal(err)
	}
	if len(hooks) != 1 || hooks[0].ID != "vpnlint" {
		t.Fatalf("got %+v", hooks)
	}
	hook := hooks[0]
	if hook.Entry != "vpnlint lint --changed" || hook.Language != "golang" || !hook.RequireSerial || !hook.PassFilenames {
		t.Errorf("got %+v", hook)
	}
	files, exclude := regexp.MustCompile(hook.Files), regexp.MustCompile(hook.Exclude)
	for path, want := range map[string]bool{
		"charts/openvpn/Chart.yaml":                true,
		"charts/openvpn/Chart.lock":                true,
		"charts/openvpn/templates/_helpers.tpl":    true,
		"charts/openvpn/values.schema.json":        true,
		"overlays/prod/kustomization.yml":          true,
		"clusters/prod/ip-masq-agent.yaml":         true,
		".vpnlint.yaml":                            true,
		"README.md":                                false,
		"main.go":                                  false,
		".github/workflows/ci.yml":                 false,
		"web/tsconfig.build.json":                  true,
		"charts/openvpn/.vscode/settings.json":     false,
		"charts/openvpn/templates/deployment.yaml": true,
	} {
		if got := files.MatchString(path) && !exclude.MatchString(path); got != want {
			t.Errorf("%s: taken %v, want %v", path, got, want)
		}
	}
}
