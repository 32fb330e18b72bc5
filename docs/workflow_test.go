package docs_test

import (
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
// of, and leaves alone those of other tools.
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
	if hook.Entry != "vpnlint lint" || hook.Language != "golang" || !hook.RequireSerial || !hook.PassFilenames {
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
		"web/package.json":                         false,
		"web/package-lock.json":                    false,
		"web/tsconfig.build.json":                  false,
		"charts/openvpn/.vscode/settings.json":     false,
		"charts/openvpn/templates/deployment.yaml": true,
	} {
		if got := files.MatchString(path) && !exclude.MatchString(path); got != want {
			t.Errorf("%s: taken %v, want %v", path, got, want)
		}
	}
}
