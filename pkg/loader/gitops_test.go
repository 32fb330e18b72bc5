package loader

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/pkg/testtree"
)

func valuesOf(t *testing.T, text string) map[string]any {
	t.Helper()
	var tree map[string]any
	if err := sigsyaml.Unmarshal([]byte(text), &tree); err != nil {
		t.Fatal(err)
	}
	return asMap(plainTree(tree))
}

// plainTree turns the numbers of a test's YAML into those of a document.
func plainTree(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			v[k] = plainTree(x)
		}
	case []any:
		for i, x := range v {
			v[i] = plainTree(x)
		}
	case float64:
		return int64(v)
	}
	return v
}

// shapeOf reads values by shape and returns the objects by kind and name.
func shapeOf(t *testing.T, version, text string) (map[string]map[string]any, *shaper) {
	t.Helper()
	home := &source.Object{Kind: "HelmRelease", Name: "web", Namespace: "apps", Origin: textNowhere{}}
	r := &release{object: home, name: "web", namespace: "apps", kind: "HelmRelease", values: &releaseValues{merged: valuesOf(t, text)}}
	r.values.top = func() source.Provenance { return source.Provenance{} }
	r.chart = chartRef{name: "app-template", version: version}
	top := given{val: r.values.merged, ok: true}
	kind, major := familyOf(r.chart, top)
	s := &shaper{rel: r, values: top, major: major}
	if kind == older {
		s.values.val = laid(olderDefaults(), r.values.merged)
		s.commonLibrary(true)
	} else {
		if major == 2 {
			s.values.val = laid(newerDefaults(), r.values.merged)
		}
		s.appTemplate()
	}
	out := map[string]map[string]any{}
	for _, o := range s.objects {
		out[o.Kind+" "+o.Name] = o.Tree
	}
	return out, s
}

type textNowhere struct{}

func (textNowhere) Locate(source.Ref) source.Provenance { return source.Provenance{} }

func fieldAt(t *testing.T, tree map[string]any, keys string) any {
	t.Helper()
	v, depth := walkTokens(tree, strings.Split(keys, "."))
	if depth != len(strings.Split(keys, ".")) {
		return nil
	}
	return v
}

func TestShapeNamesAndOrder(t *testing.T) {
	two := `
controllers:
  web: {containers: {app: {image: {repository: a, tag: 1}, dependsOn: [zed]}, zed: {image: {repository: z, tag: 1}}}}
  job: {type: cronjob, cronjob: {schedule: "@daily"}, containers: {run: {image: {repository: r, tag: x}}}}
service:
  a: {controller: web, ports: {http: {port: 80}}}
  b: {controller: web, primary: true, ports: {metrics: {port: 9090, targetPort: 9, protocol: UDP}}}
`
	objects, s := shapeOf(t, "4.1.1", two)
	if s.problem != "" {
		t.Fatal(s.problem)
	}
	for _, name := range []string{"Deployment web", "CronJob web-job", "Service web-a", "Service web-b"} {
		if objects[name] == nil {
			t.Errorf("version 4 has no %s: %v", name, sortedKeys(objects))
		}
	}
	if got := fieldAt(t, objects["Deployment web"], "spec.template.spec.containers.0.name"); got != "zed" {
		t.Errorf("the container that another waits for is not the first: %v", got)
	}
	if got := fieldAt(t, objects["CronJob web-job"], "spec.jobTemplate.spec.template.spec.restartPolicy"); got != "Never" {
		t.Errorf("a CronJob's pod restarts %v", got)
	}
	if got := fieldAt(t, objects["Service web-b"], "spec.ports.0.protocol"); got != "UDP" {
		t.Errorf("the protocol is %v", got)
	}
	objects, _ = shapeOf(t, "~3.5", two)
	for _, name := range []string{"Deployment web", "Service web-a", "Service web"} {
		if objects[name] == nil {
			t.Errorf("version 3 has no %s: %v", name, sortedKeys(objects))
		}
	}
	if got := fieldAt(t, objects["Deployment web"], "spec.selector.matchLabels"); asMap(got)["app.kubernetes.io/component"] != "web" {
		t.Errorf("version 3 selects by %v", got)
	}
}

func TestShapeDefaultsByVersion(t *testing.T) {
	text := `
controllers: {main: {containers: {main: {image: {repository: a, tag: "1"}}}}}
service: {main: {controller: main, ports: {http: {port: 8080}}}}
`
	probe := "spec.template.spec.containers.0.startupProbe.tcpSocket.port"
	links := "spec.template.spec.enableServiceLinks"
	second, _ := shapeOf(t, "2.6.0", text)
	third, _ := shapeOf(t, "3.0.0", text)
	if got := fieldAt(t, second["Deployment web"], probe); got != int64(8080) {
		t.Errorf("version 2 probes the primary port by default, got %v", got)
	}
	if got := fieldAt(t, third["Deployment web"], probe); got != nil {
		t.Errorf("version 3 has no probe by default, got %v", got)
	}
	if fieldAt(t, second["Deployment web"], links) != true || fieldAt(t, third["Deployment web"], links) != false {
		t.Error("enableServiceLinks is on by default until version 3")
	}
	host, _ := shapeOf(t, "4.0.0", "defaultPodOptions: {hostNetwork: true}\n"+text)
	if got := fieldAt(t, host["Deployment web"], "spec.template.spec.dnsPolicy"); got != "ClusterFirstWithHostNet" {
		t.Errorf("on the host network the policy is %v", got)
	}
	older, _ := shapeOf(t, "1.5.1", `
image: {repository: a, tag: "1"}
service: {main: {ports: {http: {port: 8080}}}}
addons: {vpn: {enabled: true, type: gluetun, env: [{name: VPN_TYPE, value: wireguard}]}}
`)
	if got := fieldAt(t, older["Deployment web"], "spec.template.spec.containers.1.image"); got != "docker.io/qmcgaw/gluetun" {
		t.Errorf("the add-on's container is %v", got)
	}
	if got := fieldAt(t, older["Deployment web"], "spec.template.spec.containers.1.securityContext.capabilities.add"); len(got.([]any)) != 2 {
		t.Errorf("the add-on may %v", got)
	}
}

func TestShapeRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"a circle":             "controllers: {web: {containers: {a: {dependsOn: b, image: {repository: a, tag: 1}}, b: {dependsOn: a, image: {repository: b, tag: 1}}}}}",
		"an image without tag": "controllers: {web: {containers: {a: {image: {repository: a}}}}}",
		"an unknown type":      "controllers: {web: {type: x, containers: {a: {image: {repository: a, tag: 1}}}}}",
		"a missing ConfigMap":  "controllers: {web: {containers: {a: {image: {repository: a, tag: 1}, envFrom: [{configMapRef: {identifier: x}}]}}}}",
	} {
		if _, s := shapeOf(t, "4.1.1", text); s.problem == "" {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestShapeTemplates(t *testing.T) {
	objects, _ := shapeOf(t, "4.1.1", `
host: db
controllers: {web: {containers: {a: {image: {repository: a, tag: 1}, env: {A: "{{ .Release.Name }}-x", B: "{{ .Values.host }}", C: '{{ include "x" . }}', D: true, E: {value: 3}, F: {secretKeyRef: {name: s, key: k}}}}}}}
`)
	env := fieldAt(t, objects["Deployment web"], "spec.template.spec.containers.0.env").([]any)
	var got []string
	for _, e := range env {
		got = append(got, scalarText(asMap(e)["name"])+"="+scalarText(asMap(e)["value"]))
	}
	if want := []string{"A=web-x", "B=db", "C=" + unknownText, "D=true", "E=3", "F="}; !slices.Equal(got, want) {
		t.Errorf("env is %q, want %q", got, want)
	}
	if got := fieldAt(t, objects["Deployment web"], "spec.template.spec.containers.0.env.5.valueFrom.secretKeyRef.name"); got != "s" {
		t.Errorf("a source without valueFrom is %v", got)
	}
}

func TestSubstitute(t *testing.T) {
	here := source.Location{File: "vars.yaml", Span: source.Span{Start: source.Position{Line: 3, Column: 1}}}
	s := &substituter{vars: &variables{active: true, known: map[string]setting{
		"A": {"alpha", here}, "EMPTY": {"", here}, "LOOP": {"${LOOP}", here}, "B": {"${A}", here},
	}}}
	for text, want := range map[string]string{
		"x ${A} y":                  "x alpha y",
		"${A}${A}":                  "alphaalpha",
		"$${A}":                     "${A}",
		"${NONE}":                   "${NONE}",
		"${NONE:=d}":                "d",
		"${NONE:-${A}}":             "alpha",
		"${EMPTY:=d}":               "d",
		"${EMPTY=d}":                "",
		"${A^^}":                    "${A^^}",
		"${LOOP}":                   "${LOOP}",
		"${B}":                      "${A}", // once
		"${A":                       "${A",
		"$A":                        "$A",
		strings.Repeat("${A:=", 50): strings.Repeat("${A:=", 50),
	} {
		if got, _ := s.fill(text, 0); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	text, e := s.fill("10.0.0.0/8,${A},172.16.0.0/12", 0)
	start := strings.Index(text, "172")
	if from, to := e.before(start, len(text)); from != len("10.0.0.0/8,${A},") || to != len("10.0.0.0/8,${A},172.16.0.0/12") {
		t.Errorf("what stands behind a variable is at %d-%d", from, to)
	}
	s.vars.hidden = "a Secret"
	if got, _ := s.fill("${NONE:=d}", 0); got != "${NONE:=d}" {
		t.Errorf("a default counts although the variable may exist: %q", got)
	}
}

func FuzzSubstitute(f *testing.F) {
	for _, text := range []string{"${A}", "${A:=${B:=}}", "$${", "${}", "${A:-\n}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := &substituter{vars: &variables{active: true, known: map[string]setting{"A": {text: "x"}, "B": {text: text}}}}
		filled, e := s.fill(text, 0)
		from, to := e.before(0, len(filled))
		if from < 0 || to > len(text) {
			t.Errorf("%q: %d-%d lies outside", text, from, to)
		}
	})
}

func FuzzShape(f *testing.F) {
	f.Add("4.1.1", "controllers: {a: {containers: {c: {image: {repository: a, tag: 1}, probes: {x: {enabled: true}}}}}}")
	f.Add("1.0.0", "addons: {vpn: {enabled: true, type: x, scripts: {up: a}}}\ncontroller: []")
	f.Add("2", "persistence: {a: {type: [x], globalMounts: [1, {path: 2}]}}\nservice: {a: {ports: {b: {port: x}}}}")
	f.Fuzz(func(t *testing.T, version, text string) {
		var tree map[string]any
		if len(text) > 4096 || sigsyaml.Unmarshal([]byte(text), &tree) != nil || tree == nil {
			return
		}
		_, s := shapeOf(t, version, text)
		for _, o := range s.objects {
			walkPlaces(o)
		}
		s.search(s.values, 0)
	})
}

// walkPlaces asks for the place of each field of an object.
func walkPlaces(o *source.Object) {
	var visit func(v any, r source.Ref)
	visit = func(v any, r source.Ref) {
		o.Origin.Locate(r)
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				visit(x, r.Child(k))
			}
		case []any:
			for i, x := range v {
				visit(x, r.Child(itoa(i)))
			}
		}
	}
	visit(o.Tree, source.Ref{Object: "x"})
}

func TestShapeVolumesOfVersionFour(t *testing.T) {
	values := `
controllers: {main: {containers: {app: {image: {repository: example.org/web, tag: "1"}}}}}
persistence:
  plugin: {type: image, image: "example.org/plugin:2", pullPolicy: Always, globalMounts: [{path: /plugin}]}
  skin: {type: image, image: {repository: example.org/skin, tag: 3}}
  scratch: {type: ephemeral, size: 1Gi}
`
	objects, s := shapeOf(t, "4.4.0", values)
	if s.problem != "" {
		t.Fatal(s.problem)
	}
	for at, want := range map[string]string{"0.image.reference": "example.org/plugin:2", "0.image.pullPolicy": "Always", "1.ephemeral": "map[]", "2.image.reference": "example.org/skin:3"} {
		if got := fmt.Sprint(fieldAt(t, objects["Deployment web"], "spec.template.spec.volumes."+at)); got != want {
			t.Errorf("%s: got %s, want %s", at, got, want)
		}
	}
	if _, s := shapeOf(t, "3.7.3", values); s.problem == "" {
		t.Error("version 3 takes volumes of images")
	}
}

func TestAChartWithoutANameIsCalledByItsRelease(t *testing.T) {
	dir := testtree.Parse(t, `-- a.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: runner, namespace: ci}
spec: {chart: {spec: {version: 1.2.3}}, values: {a: 1}}
`)
	r := loadDir(t, dir, ".")
	if len(r.Gaps) != 1 || !strings.HasPrefix(r.Gaps[0].What, "the chart of the HelmRelease runner was not available") {
		t.Errorf("%+v", r.Gaps)
	}
}
