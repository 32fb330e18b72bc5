package loader

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/template/parse"
	"time"

	"golang.org/x/tools/txtar"
	"helm.sh/helm/v3/pkg/engine"

	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/pkg/testtree"
)

// fifteenTemplates is a chart of ordinary size and habits: helpers, switches,
// ranges, structures from values.
func fifteenTemplates() []txtar.File {
	var b strings.Builder
	b.WriteString("-- Chart.yaml --\napiVersion: v2\nname: bench\nversion: 0.1.0\n-- values.yaml --\nimage: {repository: example.com/vpn, tag: 1.2.3}\nports: [51820, 1194]\nhost: true\nresources: {limits: {cpu: 1, memory: 64Mi}}\nnodeSelector: {}\n")
	b.WriteString("-- templates/_helpers.tpl --\n{{- define \"bench.name\" -}}{{ .Release.Name }}-{{ .Chart.Name }}{{- end }}\n{{- define \"bench.labels\" -}}\napp.kubernetes.io/name: {{ .Chart.Name }}\napp.kubernetes.io/instance: {{ .Release.Name }}\n{{- end }}\n")
	for i := range 14 {
		fmt.Fprintf(&b, `-- templates/t%d.yaml --
{{- if .Values.host }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "bench.name" . }}-%d
  labels:
    {{- include "bench.labels" . | nindent 4 }}
spec:
  template:
    metadata:
      labels:
        {{- include "bench.labels" . | nindent 8 }}
    spec:
      hostNetwork: {{ .Values.host }}
      containers:
        - name: vpn
          image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
          ports:
            {{- range .Values.ports }}
            - containerPort: {{ . }}
              protocol: UDP
            {{- end }}
          resources:
            {{- toYaml .Values.resources | nindent 12 }}
          securityContext:
            capabilities:
              add: [NET_ADMIN]
      {{- with .Values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "bench.name" . }}-%d
data:
  wg0.conf: |
    [Interface]
    Address = 10.250.%d.1/24
    PostUp = iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE
{{- end }}
`, i, i, i, i)
	}
	return txtar.Parse([]byte(b.String())).Files
}

// BenchmarkChart renders a chart of fifteen templates, traced and decoded, and
// reports how often a bare render by Helm's engine would fit in the same time.
func BenchmarkChart(b *testing.B) {
	files := fifteenTemplates()
	dir := testtree.Unpack(b, files)
	opts := Options{Dir: dir}
	t, err := openTree(dir, opts)
	if err != nil {
		b.Fatal(err)
	}
	defer t.close()
	c, values := helmLoad(b, files, opts)
	var bare, whole time.Duration
	for b.Loop() {
		start := time.Now()
		if _, err := engine.Render(c, values); err != nil {
			b.Fatal(err)
		}
		bare += time.Since(start)
		start = time.Now()
		if out := renderChart(b.Context(), chartAt{t: t, dir: "."}, opts, valueSet{name: DefaultSet}, &seenTexts{}); len(out.objects) != 28 {
			b.Fatalf("%d objects, %+v", len(out.objects), out.gaps)
		}
		whole += time.Since(start)
	}
	b.ReportMetric(float64(whole)/float64(bare), "x-bare-render")
	b.ReportMetric(float64(whole.Microseconds())/float64(b.N)/1000, "ms-chart")
}

// FuzzProbe holds the probe against any template: what renders must come out of
// the twin as it comes out of the template, and every place must lie inside it.
func FuzzProbe(f *testing.F) {
	for _, seed := range []string{
		"a: { {{- if .Values.x }}b{{ else if .Values.y }}c{{ else }}d{{ end -}} }\n",
		"{{ range $i, $x := .Values.list }}{{ if $i }}{{ break }}{{ end }}x{{ $x }}{{ end }}",
		"{{- /* c }} */ -}}\n{{ with $v := .Values.x }}{{ $v }}{{ end }}{{ `}}` }}{{ \"{{\" }}{{ '\\'' }}",
		"{{ define \"a\" }}x{{ end }}{{ template \"a\" . }}{{ block \"b\" . }}y{{ end }}",
		"{{ $x := 1 }}{{ if .Values.y }}{{ $x = 2 }}{{ end }}{{ $x }}{{ index .Values \"list\" 1 | quote }}{{ .Template.Name }}",
		"apiVersion: v1\nkind: A\nmetadata: {name: a}\nspec:\n  {{- toYaml .Values | nindent 2 }}\n",
	} {
		f.Add(seed)
	}
	head := []txtar.File{
		{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: c\nversion: 0.1.0\n")},
		{Name: "values.yaml", Data: []byte("x: 1\ny: \"\"\nlist: [a, {b: c}]\n")},
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 || strings.Contains(text, "repeat") || strings.Contains(text, "until") || strings.Contains(text, "gen") || strings.Contains(text, "seq") || strings.Contains(text, "now") || strings.Contains(text, "rand") || strings.Contains(text, "crypt") {
			t.Skip("it may take all time or memory, or differ from render to render")
		}
		files := slices.Concat(head, []txtar.File{{Name: "templates/t.yaml", Data: []byte(text)}})
		parsed, err := parseTemplate("c/templates/t.yaml", source.NewFile("t.yaml", text))
		if err != nil {
			return
		}
		p := &twinPrinter{find: func(name string) (*templateFile, *parse.Tree, bool) {
			tree := parsed.trees[name]
			return parsed, tree, tree != nil && name != "c/templates/t.yaml" && !parse.IsEmptyTree(tree.Root)
		}}
		twin, err := p.twin(parsed, "c/templates/t.yaml", true)
		if err != nil {
			return
		}
		c, values := helmLoad(t, files, Options{})
		plain, err := engine.Render(c, values)
		if err != nil {
			return
		}
		addTwin(c, "1", twin)
		addTwin(c, copiesFile, p.copies.String())
		_, values = helmLoad(t, files, Options{})
		marked, err := engine.Render(c, values)
		if err != nil {
			t.Fatalf("the twin %q does not render: %v", twin, err)
		}
		out := plain["c/templates/t.yaml"]
		events, err := p.align(out, marked["1"])
		if err != nil {
			if strings.ContainsAny(text, "\x00") || strings.Contains(text, "no value") || strings.Contains(text, "set") || strings.Contains(text, "trim") {
				return
			}
			t.Fatalf("%v: plain %q marked %q", err, out, marked["1"])
		}
		last := 0
		for _, e := range events {
			m := p.marks[e.mark]
			if e.at < last || e.at > len(out) || !m.enter && !m.leave && (m.start < 0 || m.end > len(text) || m.start > m.end) {
				t.Fatalf("event %+v of %+v in %q", e, m, text)
			}
			last = e.at
		}
	})
}
