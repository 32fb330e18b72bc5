package lint_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/pkg/testtree"
	"github.com/vpnlint/vpnlint/rules"
)

// TestRows holds every rule against the sentences that say when it fires and when
// it stays silent. Each archive of testdata/rows is a rule, each file of it a
// tree in a few lines, and the file's name is the sentence and what the rule says
// of the tree:
//
//	-- the image writes it and may not = warning --
//
// After the equals sign stand the severities of the rule's findings, or silent;
// "VPN102 error" names another rule. A document is a manifest, the plan (plan:),
// a workload in short (pod: its spec; kind, name, namespace, annotations and
// spec beside it), or @name for the archive's file of that name.
func TestRows(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(repoRoot(t), "testdata", "rows", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d archives, %v", len(files), err)
	}
	linter, err := lint.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := linter.Compile(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		rule := strings.TrimSuffix(filepath.Base(file), ".txtar")
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		shared := map[string]string{}
		for _, f := range archive.Files {
			if strings.HasPrefix(f.Name, "@") {
				shared[f.Name] = string(f.Data)
			}
		}
		for _, f := range archive.Files {
			sentence, want, found := strings.Cut(f.Name, " = ")
			if strings.HasPrefix(f.Name, "@") {
				continue
			}
			t.Run(rule+"/"+sentence, func(t *testing.T) {
				t.Parallel()
				if !found {
					t.Fatal("it says nothing of what is expected")
				}
				holdRow(t, linter, rule, want, rowTree(t, string(f.Data), shared))
			})
		}
	}
}

func holdRow(t *testing.T, linter *lint.Linter, rule, want, dir string) {
	t.Helper()
	opts := lint.Options{Load: loader.Options{Dir: dir}}
	if _, err := os.Stat(filepath.Join(dir, config.FileName)); err == nil {
		if opts.Plan, err = config.Load(config.Options{Dir: dir, File: filepath.Join(dir, config.FileName), Rules: rules.IDs()}); err != nil {
			t.Fatal(err)
		}
	}
	r, err := linter.Run(t.Context(), []string{dir}, opts)
	if err != nil {
		t.Fatal(err)
	}
	if r.Summary.Objects == 0 {
		t.Fatal("nothing in it was read")
	}
	for i := range r.Findings {
		checkWords(t, &r.Findings[i])
	}
	wanted := map[string]map[string]bool{rule: {}}
	for _, w := range strings.Split(want, ", ") {
		of, severity, named := strings.Cut(w, " ")
		if !named {
			of, severity = rule, w
		}
		if wanted[of] == nil {
			wanted[of] = map[string]bool{}
		}
		if severity != "silent" {
			wanted[of][severity] = true
		}
	}
	for of, severities := range wanted {
		got := severitiesOf(r, of)
		if !maps.Equal(got, severities) {
			t.Errorf("%s says %v, want %v\n%s", of, got, severities, said(r))
		}
	}
}

func severitiesOf(r report.Report, rule string) map[string]bool {
	out := map[string]bool{}
	for _, f := range r.Findings {
		if f.Rule == rule && f.Suppressed == nil {
			out[string(f.Severity)] = true
		}
	}
	return out
}

func said(r report.Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		b.WriteString(f.Rule + " " + string(f.Severity) + ": " + f.Message + "\n")
	}
	for _, g := range r.Gaps {
		b.WriteString("gap: " + g.What + ": " + g.Why + "\n")
	}
	return b.String()
}

// rowTree writes the documents of a row to a directory. A line "# dir: NAME" at
// the beginning of a document puts it there.
func rowTree(t *testing.T, text string, shared map[string]string) string {
	t.Helper()
	docs := map[string]string{}
	for _, doc := range strings.Split("\n"+text, "\n---") {
		doc = strings.Trim(doc, "\n")
		if named, is := shared[strings.TrimSpace(doc)]; is {
			doc = strings.Trim(named, "\n")
		}
		name := "all.yaml"
		if rest, is := strings.CutPrefix(doc, "# dir: "); is {
			sub, _, _ := strings.Cut(rest, "\n")
			name = sub + "/all.yaml"
		}
		var tree map[string]any
		if err := yaml.Unmarshal([]byte(doc), &tree); err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		switch {
		case tree["plan"] != nil:
			name, doc = config.FileName, marshalled(t, tree["plan"])
		case tree["pod"] != nil:
			doc = marshalled(t, rowWorkload(tree))
		}
		docs[name] += "---\n" + doc + "\n"
	}
	return testtree.Write(t, docs)
}

func marshalled(t *testing.T, v any) string {
	t.Helper()
	out, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// rowWorkload writes out a workload in short.
func rowWorkload(short map[string]any) map[string]any {
	text := func(key, otherwise string) string {
		if s, is := short[key].(string); is {
			return s
		}
		return otherwise
	}
	name, kind := text("name", "vpn"), text("kind", "Deployment")
	meta := map[string]any{"name": name, "namespace": text("namespace", "vpn")}
	if kind == "Pod" {
		meta["annotations"], meta["labels"] = short["annotations"], map[string]any{"app": name}
		return map[string]any{"apiVersion": "v1", "kind": kind, "metadata": meta, "spec": short["pod"]}
	}
	template := map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"app": name}, "annotations": short["annotations"]},
		"spec":     short["pod"],
	}
	spec := map[string]any{"template": template}
	api := "apps/v1"
	switch kind {
	case "Job":
		api = "batch/v1"
	case "CronJob":
		api, spec = "batch/v1", map[string]any{"schedule": "@daily", "jobTemplate": map[string]any{"spec": spec}}
	default:
		spec["selector"] = map[string]any{"matchLabels": map[string]any{"app": name}}
	}
	if more, is := short["spec"].(map[string]any); is {
		maps.Copy(spec, more)
	}
	return map[string]any{"apiVersion": api, "kind": kind, "metadata": meta, "spec": spec}
}
