package loader

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/pkg/testtree"
)

// failingGit puts a git on PATH that leaves a mark when it is run.
func failingGit(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	mark := filepath.Join(dir, "was-run")
	for _, name := range []string{"git", "helm", "helmV3", "docker"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\ntouch "+mark+"\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	t.Cleanup(func() {
		if _, err := os.Stat(mark); err == nil {
			t.Error("a program was run")
		}
	})
}

const vpnDeployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: collector
spec:
  replicas: 1
  template:
    spec:
      containers:
        - name: app
          image: example.com/app:1
        - name: gluetun
          image: ghcr.io/qdm12/gluetun:v3.40.0
          args: [a, b]
          env:
            - name: VPN_TYPE
              value: wireguard
            - name: FIREWALL_OUTBOUND_SUBNETS
              value: 10.244.0.0/16
`

func TestRefusedKustomizationsNeverReachTheLibrary(t *testing.T) {
	failingGit(t)
	tests := []struct {
		name, archive string
		line          int
		why           string
	}{
		{"git base", "-- kustomization.yaml --\nresources:\n- git::https://example.com/x.git\n", 2, "is remote"},
		{"short GitHub base", "-- kustomization.yaml --\nresources:\n- github.com/org/repo/base\n-- github.com/org/repo/base/kustomization.yaml --\nresources: [a.yaml]\n-- github.com/org/repo/base/a.yaml --\n" + podA, 2, "is remote"},
		{"scp base", "-- kustomization.yaml --\nbases:\n- git@example.com:org/repo\n", 2, "is remote"},
		{"remote component", "-- kustomization.yaml --\ncomponents: [\"ssh://host/x\"]\n", 1, "is remote"},
		{"remote patch", "-- kustomization.yaml --\nresources: [a.yaml]\npatches:\n- path: https://x.example/p.yaml\n-- a.yaml --\n" + podA, 3, "is remote"},
		{"remote file of a generator", "-- kustomization.yaml --\nconfigMapGenerator:\n- name: c\n  files:\n  - k=https://x.example/p\n", 4, "is remote"},
		{"remote OpenAPI", "-- kustomization.yaml --\nresources: [a.yaml]\nopenapi: {path: \"http://x/y\"}\n-- a.yaml --\n" + podA, 2, "is remote"},
		{"absolute path", "-- kustomization.yaml --\nresources: [/etc/passwd]\n", 1, "absolute"},
		{"out of the tree", "-- kustomization.yaml --\nresources: [../../../x]\n", 1, "leads out of the tree"},
		{"missing file", "-- kustomization.yaml --\nresources:\n- a.yaml\n", 2, "does not exist"},
		{"cycle", "-- kustomization.yaml --\nresources: [b]\n-- b/kustomization.yaml --\nresources: [..]\n", 1, "cycle"},
		{"itself", "-- kustomization.yaml --\nresources: [\".\"]\n", 1, "cycle"},
		{"helm charts without a name", "-- kustomization.yaml --\nhelmCharts:\n- repo: https://charts.example\n", 2, "has no name"},
		{"exec function", "-- kustomization.yaml --\nresources: [a.yaml]\ntransformers: [fn.yaml]\n-- fn.yaml --\napiVersion: x/v1\nkind: Fn\nmetadata:\n  name: f\n  annotations:\n    config.kubernetes.io/function: |\n      exec: {path: ./run}\n-- a.yaml --\n" + podA, 2, "program or container"},
		{"container generator", "-- kustomization.yaml --\ngenerators:\n- |\n  apiVersion: x/v1\n  kind: Fn\n  metadata: {name: f, annotations: {config.kubernetes.io/function: 'container: {image: x}'}}\n", 2, "program or container"},
		{"unknown plug-in", "-- kustomization.yaml --\nresources: [a.yaml]\ntransformers: [fn.yaml]\n-- fn.yaml --\napiVersion: someteam.example.com/v1\nkind: Sed\nmetadata: {name: f}\n-- a.yaml --\n" + podA, 2, "not built into kustomize"},
		{"inflation generator", "-- kustomization.yaml --\ngenerators: [g]\n-- g/kustomization.yaml --\nresources: [g.yaml]\n-- g/g.yaml --\napiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {name: x}\nname: x\n", 1, "helm program"},
		{"unknown field", "-- kustomization.yaml --\nresource: [a.yaml]\n-- a.yaml --\n" + podA, 1, "unknown field"},
		{"two files", "-- kustomization.yaml --\nresources: [a.yaml]\n-- kustomization.yml --\nresources: [a.yaml]\n-- a.yaml --\n" + podA, 1, "2 kustomization files"},
		{"does not parse", "-- kustomization.yaml --\nresources: [\n", 1, ""},
		{"patch without target", "-- kustomization.yaml --\nresources: [a.yaml]\npatches:\n- path: p.yaml\n-- p.yaml --\napiVersion: v1\nkind: Pod\nmetadata: {name: other}\n-- a.yaml --\n" + podA, 3, "no object of the kustomization is the Pod other"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := testtree.Parse(t, tt.archive)
			r := loadDir(t, dir, ".")
			if len(r.Gaps) != 1 || r.Gaps[0].Kind != finding.Unreadable || r.Gaps[0].Line != tt.line && tt.why != "cycle" || !strings.Contains(r.Gaps[0].Why, tt.why) {
				if tt.why != "cycle" || len(r.Gaps) == 0 {
					t.Errorf("gaps %+v, want line %d: %s", r.Gaps, tt.line, tt.why)
				}
			}
			for _, o := range r.Objects {
				if o.Unit == "." && o.Input == source.Kustomization {
					t.Errorf("built %s", o.ID)
				}
			}
		})
	}
}

// at finds the field of an object by a path whose list items are given by name,
// such as spec.containers.[name=x].image, and returns file:line text.
func at(t *testing.T, r *Result, kind, fieldPath string, part string) (string, source.Provenance) {
	t.Helper()
	for _, o := range r.Objects {
		if o.Kind != kind {
			continue
		}
		var found *source.Ref
		var value any
		visit(o.Tree, source.Ref{Object: o.ID}, func(ref source.Ref, v any) {
			if fieldPathMatches(o.Tree, fieldPath, source.PointerTokens(ref.Pointer)) {
				found, value = &ref, v
			}
		})
		if found == nil {
			t.Fatalf("%s has no %s", o.ID, fieldPath)
		}
		ref := *found
		if part != "" {
			i := strings.Index(value.(string), part)
			ref = ref.Within(i, i+len(part))
		}
		p := o.Origin.Locate(ref)
		f := r.Files[p.Primary.File]
		if f == nil {
			t.Fatalf("the result lacks the file %q", p.Primary.File)
		}
		text := f.Text()[f.Offset(p.Primary.Span.Start):f.Offset(p.Primary.Span.End)]
		return p.Primary.File + ": " + text, p
	}
	t.Fatalf("no %s in %s", kind, summary(r))
	return "", source.Provenance{}
}

// fieldPathMatches reports whether a replacement's path
// (spec.containers.[name=vpn].image, spec.hosts.*) leads to tokens.
func fieldPathMatches(tree map[string]any, fieldPath string, tokens []string) bool {
	parts := splitFieldPath(fieldPath)
	if len(parts) != len(tokens) {
		return false
	}
	var v any = tree
	for i, part := range parts {
		next, ok := member(v, tokens[i])
		if !ok {
			return false
		}
		if cond, isCond := strings.CutPrefix(part, "["); isCond {
			key, want, _ := strings.Cut(strings.TrimSuffix(cond, "]"), "=")
			if got, _ := asMap(next)[key].(string); got != want {
				return false
			}
		} else if part != "*" && part != tokens[i] {
			return false
		}
		v = next
	}
	return true
}

// splitFieldPath splits at dots outside of brackets; \. is a dot.
func splitFieldPath(s string) []string {
	var parts []string
	var b strings.Builder
	inBrackets := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && s[i+1] == '.':
			i++
			b.WriteByte('.')
		case c == '.' && !inBrackets:
			parts = append(parts, b.String())
			b.Reset()
		default:
			inBrackets = c == '[' || inBrackets && c != ']'
			b.WriteByte(c)
		}
	}
	return append(parts, b.String())
}

func TestKustomizationFieldsPointToWhoWroteThem(t *testing.T) {
	failingGit(t)
	const archive = `
-- base/kustomization.yaml --
resources: [deployment.yaml]
namePrefix: x-
-- base/deployment.yaml --
` + vpnDeployment + `
-- prod/kustomization.yaml --
resources:
- ../base
namespace: jobs
patches:
- path: bypass.yaml
- target: {kind: Deployment, name: .*collector}
  patch: |-
    - op: add
      path: /spec/template/spec/hostNetwork
      value: true
    - op: replace
      path: /spec/template/spec/containers/0/args
      value: [c, d]
    - op: add
      path: /spec/template/spec/containers/0/env/-
      value: {name: LATE, value: "yes"}
- patch: |
    kind: Deployment
    apiVersion: apps/v1
    metadata:
      name: x-collector
    spec:
      template:
        spec:
          dnsPolicy: None
images:
- name: example.com/app
  newTag: "2"
replicas:
- name: x-collector
  count: 3
labels:
- pairs: {team: net}
configMapGenerator:
- name: tunnel
  literals:
  - MODE=client
  - "LIST=10.0.0.0/8,10.1.0.0/16"
  files:
  - wg0.conf
  envs: [app.env]
-- prod/bypass.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: x-collector
spec:
  template:
    spec:
      containers:
        - name: gluetun
          env:
            - name: FIREWALL_OUTBOUND_SUBNETS
              value: 192.168.1.0/24
          securityContext:
            capabilities: {add: [NET_ADMIN]}
-- prod/wg0.conf --
[Interface]
Address = 10.66.0.2/32
-- prod/app.env --
A=1
PEER=198.51.100.7
`
	dir := testtree.Parse(t, archive)
	r := loadDir(t, dir, ".")
	if len(r.Gaps) != 0 {
		t.Fatalf("%+v", r.Gaps)
	}
	const c = "spec.template.spec.containers.[name=gluetun]"
	tests := []struct {
		kind, path, part string
		want             string
		precision        source.Precision
	}{
		{"Deployment", c + ".env.[name=FIREWALL_OUTBOUND_SUBNETS].value", "", "prod/bypass.yaml: 192.168.1.0/24", source.Exact},
		{"Deployment", c + ".env.[name=FIREWALL_OUTBOUND_SUBNETS].value", "168", "prod/bypass.yaml: 168", source.Exact},
		{"Deployment", c + ".env.[name=FIREWALL_OUTBOUND_SUBNETS].name", "", "base/deployment.yaml: FIREWALL_OUTBOUND_SUBNETS", source.Exact},
		{"Deployment", c + ".env.[name=VPN_TYPE].value", "", "base/deployment.yaml: wireguard", source.Exact},
		{"Deployment", c + ".env.[name=LATE].value", "", `prod/kustomization.yaml: "yes"`, source.Exact},
		{"Deployment", c, "", "base/deployment.yaml: name: gluetun", source.Exact},
		{"Deployment", c + ".securityContext", "", "prod/bypass.yaml: capabilities: {add: [NET_ADMIN]}", source.Exact},
		{"Deployment", c + ".securityContext.capabilities.add.0", "", "prod/bypass.yaml: NET_ADMIN", source.Exact},
		{"Deployment", c + ".args.1", "", "prod/kustomization.yaml: d", source.Exact},
		{"Deployment", "spec.template.spec.hostNetwork", "", "prod/kustomization.yaml: true", source.Exact},
		{"Deployment", "spec.template.spec.dnsPolicy", "", "prod/kustomization.yaml: None", source.Exact},
		{"Deployment", "spec.template.spec.containers.[name=app].image", "", `prod/kustomization.yaml: "2"`, source.Exact},
		{"Deployment", "spec.replicas", "", "prod/kustomization.yaml: 3", source.Exact},
		{"Deployment", "metadata.namespace", "", "prod/kustomization.yaml: jobs", source.Exact},
		{"Deployment", "metadata.labels.team", "", "prod/kustomization.yaml: net", source.Exact},
		{"Deployment", "metadata.name", "", "base/deployment.yaml: collector", source.Exact},
		{"ConfigMap", "data.MODE", "", "prod/kustomization.yaml: client", source.Exact},
		{"ConfigMap", "data.LIST", "10.1.0.0/16", "prod/kustomization.yaml: 10.1.0.0/16", source.Exact},
		{"ConfigMap", `data.wg0\.conf`, "10.66.0.2/32", "prod/wg0.conf: 10.66.0.2/32", source.Exact},
		{"ConfigMap", "data.PEER", "", "prod/app.env: 198.51.100.7", source.Exact},
	}
	for _, tt := range tests {
		got, p := at(t, r, tt.kind, tt.path, tt.part)
		if got != tt.want || p.Primary.Precision != tt.precision {
			t.Errorf("%s %s: %s (%s), want %s (%s)", tt.kind, tt.path, got, p.Primary.Precision, tt.want, tt.precision)
		}
	}
	_, p := at(t, r, "Deployment", c+".env.[name=FIREWALL_OUTBOUND_SUBNETS].value", "")
	if len(p.Via) != 1 || p.Via[0].At.File != "base/deployment.yaml" || p.Via[0].At.Span.Start.Line != 19 {
		t.Errorf("via %+v, want line 19 of the base", p.Via)
	}
}

func TestMissingFieldOfAKustomizationPointsToItsParent(t *testing.T) {
	dir := testtree.Parse(t, "-- kustomization.yaml --\nresources: [d.yaml]\n-- d.yaml --\n"+vpnDeployment)
	r := loadDir(t, dir, ".")
	p := r.Objects[0].Origin.Locate(source.Ref{Pointer: "/spec/template/spec/containers/1/securityContext/privileged"}).Primary
	if p.File != "d.yaml" || p.Span.Start.Line != 12 || p.Precision != source.Parent {
		t.Errorf("%+v", p)
	}
}

func TestComponentsSecretsAndReplacements(t *testing.T) {
	failingGit(t)
	dir := testtree.Parse(t, `
-- app/kustomization.yaml --
resources: [d.yaml]
components: [../comp]
secretGenerator:
- name: keys
  literals: [key=topsecret]
  options: {disableNameSuffixHash: true}
replacements:
- source: {kind: Deployment, name: collector, fieldPath: metadata.name}
  targets:
  - select: {kind: Deployment}
    fieldPaths:
    - spec.template.spec.containers.[name=gluetun].env.[name=VPN_TYPE].value
transformers:
- |
  apiVersion: builtin
  kind: AnnotationsTransformer
  metadata: {name: a}
  annotations: {x: "1"}
  fieldSpecs:
  - {path: metadata/annotations, create: true}
-- app/d.yaml --
`+vpnDeployment+`
-- comp/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patchesStrategicMerge:
- p.yaml
-- comp/p.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: collector}
spec:
  template:
    spec:
      hostNetwork: true
`)
	r := loadDir(t, dir, ".")
	if len(r.Gaps) != 0 || len(r.Inputs) != 1 {
		t.Fatal(summary(r), r.Gaps)
	}
	for path, want := range map[string]string{
		"Deployment spec.template.spec.hostNetwork":                                         "comp/p.yaml: true",
		"Deployment spec.template.spec.containers.[name=gluetun].env.[name=VPN_TYPE].value": "app/d.yaml: collector",
		"Secret data.key": "app/kustomization.yaml: topsecret",
	} {
		kind, field, _ := strings.Cut(path, " ")
		if got, _ := at(t, r, kind, field, ""); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	_, p := at(t, r, "Deployment", "spec.template.spec.containers.[name=gluetun].env.[name=VPN_TYPE].value", "")
	if len(p.Via) != 2 || p.Via[0].Says != "put here by this replacement" || p.Via[0].At.File != "app/kustomization.yaml" || p.Via[0].At.Span.Start.Line != 12 {
		t.Errorf("the replacement is not told of: %+v", p.Via)
	}
}

func TestKustomizationLimits(t *testing.T) {
	dir := testtree.Parse(t, "-- kustomization.yaml --\nresources: [a.yaml, b.yaml]\n-- a.yaml --\n"+podA+"-- b.yaml --\n"+pod("b"))
	r, err := Load(t.Context(), []string{"."}, Options{Dir: dir, Limits: Limits{KustomizeFiles: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Gaps) != 1 || !strings.Contains(r.Gaps[0].Why, "--limit-kustomize-files") || len(r.Objects) != 0 {
		t.Errorf("%s %+v", summary(r), r.Gaps)
	}
}

func TestBrokenResourceOfAKustomizationNamesItsLine(t *testing.T) {
	dir := testtree.Parse(t, "-- kustomization.yaml --\nresources: [a.yaml]\n-- a.yaml --\n"+podA+"spec:\n\tx: 1\n")
	r := loadDir(t, dir, ".")
	if len(r.Gaps) != 1 || r.Gaps[0].File != "a.yaml" || r.Gaps[0].Line < 4 || r.Gaps[0].What != "the kustomization was not built" {
		t.Errorf("%+v", r.Gaps)
	}
}

func TestAliasBombNeverReachesTheLibrary(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString(podA + "a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 8), i-1)
	}
	for name, archive := range map[string]string{
		"resource": "-- kustomization.yaml --\nresources: [a.yaml]\n-- a.yaml --\n" + bomb.String(),
		"patch":    "-- kustomization.yaml --\nresources: [b.yaml]\npatches: [{path: a.yaml}]\n-- b.yaml --\n" + podA + "-- a.yaml --\n" + bomb.String(),
	} {
		r := loadDir(t, testtree.Parse(t, archive), ".")
		if len(r.Gaps) != 1 || r.Gaps[0].File != "a.yaml" || !strings.Contains(r.Gaps[0].Why, "--limit-alias-nodes") || len(r.Objects) != 0 {
			t.Errorf("%s: %s %+v", name, summary(r), r.Gaps)
		}
	}
}

// What is remote is left out, and told of; the library builds the rest and never
// hears of it.
func TestRemoteResourcesAreLeftOut(t *testing.T) {
	for name, tc := range map[string]struct{ archive, objects, gap string }{
		"beside a file": {
			"-- kustomization.yaml --\nnamePrefix: my-\nresources:\n- a.yaml\n- https://github.com/org/repo//base?ref=v1\n-- a.yaml --\n" + podA,
			"object Pod//my-a in .\n", "gap unreadable kustomization.yaml:4 a resource of the kustomization is not in the tree\n",
		},
		"nothing else": {
			"-- kustomization.yaml --\nresources:\n- git::https://example.com/x.git\n",
			"", "gap unreadable kustomization.yaml:2 a resource of the kustomization is not in the tree\n",
		},
		"in a base": {
			"-- kustomization.yaml --\nresources: [base, a.yaml]\n-- a.yaml --\n" + podA + "-- base/kustomization.yaml --\nbases: [\"git@example.com:org/repo\", ../more]\n-- more/kustomization.yaml --\nresources: [b.yaml]\n-- more/b.yaml --\n" + pod("b"),
			"object Pod//a in .\nobject Pod//b in .\n", "gap unreadable base/kustomization.yaml:1 a resource of the kustomization is not in the tree\n",
		},
		"with a patch for it": {
			"-- kustomization.yaml --\nresources: [\"https://example.com/x.yaml\"]\npatches:\n- patch: \"{apiVersion: v1, kind: Pod, metadata: {name: far}, spec: {hostNetwork: true}}\"\n",
			"", "gap unreadable kustomization.yaml:1 a resource of the kustomization is not in the tree\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := loadDir(t, testtree.Parse(t, tc.archive), ".")
			got := summary(r)
			if want := "input kustomization .\n" + tc.objects + tc.gap; got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
			for _, g := range r.Gaps {
				if !strings.Contains(g.Why, "vendor") {
					t.Errorf("it does not say what to do: %s", g.Why)
				}
			}
		})
	}
}

// Disks take names that the library's own file system in memory refuses.
func TestKustomizationsWithUncommonNamesAreBuilt(t *testing.T) {
	for _, dir := range []string{"owner+name", "my apps", "team@home", "größe", "a..b", "x=1,y~(2)"} {
		t.Run(dir, func(t *testing.T) {
			r := loadDir(t, testtree.Parse(t, "-- "+dir+"/kustomization.yaml --\nresources: [\"pod a.yaml\", ../base+1]\n"+
				"configMapGenerator:\n- name: c\n  files: [\"k=file+1\"]\n-- "+dir+"/pod a.yaml --\n"+podA+"-- "+dir+"/file+1 --\nx\n"+
				"-- base+1/kustomization.yaml --\nresources: [b.yaml]\n-- base+1/b.yaml --\n"+pod("b")), dir)
			if len(r.Gaps) != 0 || len(r.Objects) != 3 {
				t.Errorf("objects %s, gaps %+v; want 3 objects and no gap", summary(r), r.Gaps)
			}
		})
	}
}

// Nobody commits the .env of a Secret, and kustomize build works for those who have it.
func TestGeneratorsWhoseFilesAreMissingAreLeftOut(t *testing.T) {
	archive := "-- kustomization.yaml --\nresources: [d.yaml]\nsecretGenerator:\n- name: s\n  envs: [.env]\n- name: kept\n  literals: [a=b]\n" +
		"configMapGenerator:\n- name: c\n  files: [k=c.txt]\n-- d.yaml --\n" + vpnDeployment
	r := loadDir(t, testtree.Parse(t, archive), ".")
	if len(r.Gaps) != 1 || r.Gaps[0].Line != 9 || !strings.Contains(r.Gaps[0].What, "2 objects") || !strings.Contains(r.Gaps[0].Why, `"c.txt" is not in the tree`) || len(r.Objects) != 2 {
		t.Errorf("objects %s, gaps %+v; want the Deployment, the Secret kept and a gap about the others", summary(r), r.Gaps)
	}
	if where, _ := at(t, r, "Secret", "metadata.name", ""); where != "kustomization.yaml: kept" {
		t.Errorf("the Secret is at %s", where)
	}
	// Nothing but a gap is left of one that makes nothing else.
	r = loadDir(t, testtree.Parse(t, "-- kustomization.yaml --\nresources: [d.yaml, env]\n-- d.yaml --\n"+vpnDeployment+
		"-- env/kustomization.yaml --\nsecretGenerator:\n- name: s\n  envs: [.env]\n"), ".")
	if len(r.Gaps) != 1 || r.Gaps[0].What != "Secret s of the kustomization was not made" || len(r.Objects) != 1 {
		t.Errorf("objects %s, gaps %+v", summary(r), r.Gaps)
	}
	// What another generator makes is not all there is when this one adds to it.
	r = loadDir(t, testtree.Parse(t, "-- kustomization.yaml --\nresources: [base]\nsecretGenerator:\n- name: s\n  behavior: merge\n  envs: [.env]\n"+
		"-- base/kustomization.yaml --\nsecretGenerator:\n- name: s\n  literals: [a=b]\n"), ".")
	if len(r.Gaps) != 1 || !strings.Contains(r.Gaps[0].What, "not built") {
		t.Errorf("gaps %+v", r.Gaps)
	}
}
