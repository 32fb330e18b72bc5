package lint_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/pkg/testtree"
)

// language is a configuration language with the line that facts speak of: the
// one with token, which stands in the text once.
type language struct {
	name, key, text, token string
	// objects are the objects that read the file: the ConfigMap's or Secret's name
	// is NAME, VOLUME its volume, SOURCE its envFrom.
	objects string
	// namespace and object name the ConfigMap where the reader fixes them.
	object, namespace string
	// env: the text is NAME=value lines, each of which is a key of the ConfigMap.
	env bool
}

const (
	volumePod = `apiVersion: v1
kind: Pod
metadata: {name: vpn, namespace: net}
spec:
  volumes: [VOLUME]
  containers:
    - name: vpn
      image: IMAGE
      command: COMMAND
      securityContext: {privileged: true}
      volumeMounts: [{name: conf, mountPath: PATH}]
`
	agent = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: ip-masq-agent, namespace: kube-system}
spec:
  selector: {matchLabels: {k8s-app: ip-masq-agent}}
  template:
    metadata: {labels: {k8s-app: ip-masq-agent}}
    spec:
      hostNetwork: true
      volumes: [{name: config, configMap: {name: ip-masq-agent, items: [{key: config, path: ip-masq-agent}]}}]
      containers:
        - name: ip-masq-agent
          image: registry.k8s.io/networking/ip-masq-agent-amd64:v2.9.3
          volumeMounts: [{name: config, mountPath: /etc/config}]
`
	flannel = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: kube-flannel-ds, namespace: kube-flannel}
spec:
  selector: {matchLabels: {app: flannel}}
  template:
    metadata: {labels: {app: flannel}}
    spec:
      hostNetwork: true
      containers: [{name: kube-flannel, image: "docker.io/flannel/flannel:v0.25.1"}]
`
	envPod = `apiVersion: v1
kind: Pod
metadata: {name: vpn, namespace: net}
spec:
  containers:
    - name: vpn
      image: qmcgaw/gluetun:v3.40.0
      envFrom: [SOURCE]
      securityContext: {capabilities: {add: [NET_ADMIN]}}
`
)

func mountingPod(image, command, dir string) string {
	return strings.NewReplacer("IMAGE", image, "COMMAND", command, "PATH", dir).Replace(volumePod)
}

var languages = []language{
	{
		name: "WireGuard", key: "wg0.conf", token: "10.99.7.0/24", objects: mountingPod("linuxserver/wireguard:1.0.20210914", "[]", "/config/wg_confs"),
		text: "[Interface]\nPrivateKey = AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n# Büro, ümlaut\nAddress = 10.2.0.2/32\n\n[Peer]\nPublicKey = BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA=\nAllowedIPs = 10.98.0.0/24, 10.99.7.0/24\nEndpoint = 198.51.100.7:51820\n",
	},
	{
		name: "OpenVPN", key: "openvpn.conf", token: "10.99.7.0", objects: mountingPod("kylemanna/openvpn:2.4", "[]", "/etc/openvpn"),
		text: "port 1194\nproto udp\ndev tun\nserver 10.8.0.0 255.255.255.0\n# Büro\npush \"route 10.99.7.0 255.255.255.0\"\nkeepalive 10 60\n",
	},
	{
		name: "ipsec.conf", key: "ipsec.conf", token: "10.99.7.0/24", objects: mountingPod("docker.io/strongx509/strongswan:5.9.14", "[]", "/etc"),
		text: "config setup\n    uniqueids=no\n\nconn büro\n    left=%defaultroute\n    leftsubnet=10.244.0.0/16\n    right=203.0.113.77\n    rightsubnet=10.99.7.0/24\n    auto=start\n",
	},
	{
		name: "swanctl.conf", key: "swanctl.conf", token: "10.99.7.0/24", objects: mountingPod("docker.io/strongx509/strongswan:5.9.14", "[]", "/etc/swanctl"),
		text: "connections {\n  # Büro\n  site {\n    remote_addrs = 203.0.113.77\n    children {\n      net {\n        local_ts = 10.244.0.0/16\n        remote_ts = 10.99.7.0/24\n        start_action = start\n      }\n    }\n  }\n}\n",
	},
	{
		name: "net-conf.json", key: "net-conf.json", token: "10.99.0.0/16", objects: flannel, object: "kube-flannel-cfg", namespace: "kube-flannel",
		text: "{\n  \"Name\": \"ü\",\n  \"Network\": \"10.99.0.0/16\",\n  \"Backend\": {\"Type\": \"vxlan\"}\n}\n",
	},
	{
		name: "ip-masq-agent", key: "config", token: "10.99.7.0/24", objects: agent, object: "ip-masq-agent", namespace: "kube-system",
		text: "# Büro\nresyncInterval: 60s\nnonMasqueradeCIDRs:\n  - 10.244.0.0/16\n  - 10.99.7.0/24\nmasqLinkLocal: false\n",
	},
	{
		name: "iptables script", key: "up.sh", token: "POSTROUTING", objects: mountingPod("kylemanna/openvpn:2.4", `[sh, /scripts/up.sh]`, "/scripts"),
		text: "#!/bin/sh\n# Büro\nset -e\niptables -t nat -A POSTROUTING -s 10.8.0.0/24 -o eth0 -j MASQUERADE\nexec openvpn --dev tun --server 10.8.0.0 255.255.255.0\n",
	},
	{
		name: "nft script", key: "up.sh", token: "masquerade", objects: mountingPod("kylemanna/openvpn:2.4", `[sh, /scripts/up.sh]`, "/scripts"),
		text: "#!/bin/sh\n# Büro\nset -e\nnft add table ip nat\nnft add chain ip nat post { type nat hook postrouting priority 100 \\; }\nnft add rule ip nat post oifname eth0 masquerade\nexec openvpn --dev tun --server 10.8.0.0 255.255.255.0\n",
	},
	{
		name: "sysctl text", key: "99-vpn.conf", token: "net.ipv4.ip_forward = 1", objects: mountingPod("kylemanna/openvpn:2.4", `[sh, -c, "sysctl -p /sysctl/99-vpn.conf && exec ovpn_run"]`, "/sysctl"),
		text: "# Büro\nnet.core.rmem_max = 2500000\nnet.ipv4.ip_forward = 1\nnet.ipv4.conf.all.rp_filter = 2\n",
	},
	{
		name: "env file", token: "10.99.7.0/24", objects: envPod, env: true,
		text: "# Büro\nVPN_SERVICE_PROVIDER=mullvad\nFIREWALL_OUTBOUND_SUBNETS=10.244.0.0/16,10.99.7.0/24\nVPN_TYPE=wireguard\n",
	},
}

// filled fills in how the file reaches the pod.
func (l language) filled(kind, name string) string {
	volume, ref := "{name: conf, configMap: {name: "+name+"}}", "{configMapRef: {name: "+name+"}}"
	if kind == "Secret" {
		volume, ref = "{name: conf, secret: {secretName: "+name+"}}", "{secretRef: {name: "+name+"}}"
	}
	return strings.NewReplacer("VOLUME", volume, "SOURCE", ref).Replace(l.objects)
}

func (l language) name0() (name, namespace string) {
	if l.object != "" {
		return l.object, l.namespace
	}
	return "conf", "net"
}

// carrying is a way in which the text of a file stands in a repository: the files
// of the tree, and the kind and name of the object that it becomes.
type carrying struct {
	name  string
	files func(l language) map[string]string
	kind  string // "" for ConfigMap
	// fits reports whether the text can be written in this way.
	fits func(l language) bool
	// encoded: no place inside of the text can be meant, but the key's line.
	encoded bool
	// decoded: the places are those of a text that the chart encodes, and are not
	// called exact.
	decoded bool
}

func header(kind string, l language) string {
	name, namespace := l.name0()
	return "apiVersion: v1\nkind: " + kind + "\nmetadata:\n  name: " + name + "\n  namespace: " + namespace + "\n"
}

// manifest makes the carrier of one data key.
func manifest(kind, field string, write func(l language, key, text string) string) func(l language) map[string]string {
	return func(l language) map[string]string {
		var b strings.Builder
		b.WriteString(header(kind, l) + field + ":\n  # what follows is read by the pod\n  other: \"x\"\n")
		for _, kv := range l.keys() {
			b.WriteString(write(l, kv[0], kv[1]))
		}
		return map[string]string{"conf.yaml": b.String()}
	}
}

// keys are the keys of the object that the text becomes.
func (l language) keys() [][2]string {
	if !l.env {
		return [][2]string{{l.key, l.text}}
	}
	var out [][2]string
	for _, line := range strings.Split(l.text, "\n") {
		if name, value, is := strings.Cut(line, "="); is {
			out = append(out, [2]string{name, value})
		}
	}
	return out
}

func indented(text, by string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = by + line
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// foldable reports whether a folded scalar can hold the text line by line.
func foldable(l language) bool {
	return !strings.Contains(l.text, "\n ") && !strings.Contains(l.text, "\n\n")
}

var carriers = []carrying{
	{name: "literal block", files: manifest("ConfigMap", "data", func(_ language, key, text string) string {
		return "  " + key + ": |\n" + indented(text, "    ")
	})},
	{name: "folded block", fits: foldable, files: manifest("ConfigMap", "data", func(_ language, key, text string) string {
		return "  " + key + ": >\n" + strings.ReplaceAll(indented(text, "      "), "\n", "\n\n")
	})},
	{name: "block with an indentation indicator", files: manifest("ConfigMap", "data", func(_ language, key, text string) string {
		return "  " + key + ": |1-\n" + indented(text, "   ")
	})},
	{
		name: "plain scalar over lines", files: manifest("ConfigMap", "data", func(_ language, key, text string) string {
			return "  " + key + ":\n" + strings.ReplaceAll(indented(text, "    "), "\n", "\n\n")
		}),
		fits: func(l language) bool {
			return foldable(l) && !strings.ContainsAny(l.text[:1], "[{#*") && !strings.Contains(l.text, "#") && !strings.Contains(l.text, ": ")
		},
	},
	{name: "single quotes", fits: foldable, files: manifest("ConfigMap", "data", func(_ language, key, text string) string {
		return "  " + key + ": '" + strings.ReplaceAll(strings.ReplaceAll(text, "'", "''"), "\n", "\n\n    ") + "'\n"
	})},
	{name: "double quotes with escapes", files: manifest("ConfigMap", "data", func(_ language, key, text string) string {
		return "  " + key + ": \"" + escaped(text) + "\"\n"
	})},
	{name: "double quotes over lines", files: manifest("ConfigMap", "data", func(_ language, key, text string) string {
		return "  " + key + ": \"" + strings.ReplaceAll(strings.TrimSuffix(escaped(text), "\\n"), "\\n", "\\n\\\n    ") + "\"\n"
	}), fits: func(l language) bool { return !strings.Contains(l.text, "\n ") && !l.env }},
	{name: "JSON", files: func(l language) map[string]string {
		name, namespace := l.name0()
		data := map[string]string{}
		for _, kv := range l.keys() {
			data[kv[0]] = kv[1]
		}
		text, _ := json.MarshalIndent(map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": namespace}, "data": data,
		}, "", "  ")
		return map[string]string{"conf.json": string(text)}
	}},
	{name: "stringData", kind: "Secret", fits: func(l language) bool { return l.object == "" }, files: manifest("Secret", "stringData", func(_ language, key, text string) string {
		return "  " + key + ": |\n" + indented(text, "    ")
	})},
	{
		name: "Secret", kind: "Secret", fits: func(l language) bool { return l.object == "" }, encoded: true,
		files: manifest("Secret", "data", func(_ language, key, text string) string {
			return "  " + key + ": " + base64.StdEncoding.EncodeToString([]byte(text)) + "\n"
		}),
	},
	{
		name: "binaryData", fits: func(l language) bool { return !l.env && l.object == "" }, encoded: true,
		files: manifest("ConfigMap", "binaryData", func(_ language, key, text string) string {
			return "  " + key + ": " + base64.StdEncoding.EncodeToString([]byte(text)) + "\n"
		}),
	},
	{name: "generator", files: func(l language) map[string]string {
		name, namespace := l.name0()
		field, file := "files: [conf/"+l.key+"]", "conf/"+l.key
		if l.env {
			field, file = "envs: [conf/vpn.env]", "conf/vpn.env"
		}
		return map[string]string{
			"kustomization.yaml": "resources: [pod.yaml]\ngeneratorOptions: {disableNameSuffixHash: true}\nconfigMapGenerator:\n  - name: " + name + "\n    namespace: " + namespace + "\n    " + field + "\n",
			file:                 l.text,
		}
	}},
	{name: "properties", fits: func(l language) bool { return l.env }, files: func(l language) map[string]string {
		return map[string]string{
			"kustomization.yaml": "resources: [pod.yaml]\nsecretGenerator: [{name: other, literals: [a=b]}]\nconfigMapGenerator: [{name: conf, namespace: net, env: vpn.properties}]\ngeneratorOptions: {disableNameSuffixHash: true}\n",
			"vpn.properties":     l.text,
		}
	}},
	chartFile("Files.Get", `  {{ .Key }}: |
{{ .Files.Get "files/FILE" | indent 4 }}
`),
	chartFile("Files.Get with nindent", `  {{ .Key }}: |-
    {{- .Files.Get "files/FILE" | nindent 4 }}
`),
	chartFile("AsConfig", `{{ (.Files.Glob "files/*").AsConfig | indent 2 }}
`),
	chartFile("Glob", `{{- range $path, $_ := .Files.Glob "files/*" }}
  {{ base $path }}: |
{{ $.Files.Get $path | indent 4 }}
{{- end }}
`),
	chartFile("Files.Lines", `  {{ .Key }}: |
{{- range .Files.Lines "files/FILE" }}
    {{ . }}
{{- end }}
`),
	chartValue("toYaml of a value", `{{ toYaml .Values.conf | indent 2 }}
`, "conf"),
	chartValue("value", `  KEY: |
{{ .Values.conf.file | indent 4 }}
`, "file"),
	chartValue("tpl", `  KEY: |
{{ tpl .Values.conf.file . | indent 4 }}
`, "file"),
	chartSecret("AsSecrets", `{{ (.Files.Glob "files/*").AsSecrets | indent 2 }}
`),
	chartSecret("encoded file", `  KEY: {{ .Files.Get "files/KEY" | b64enc | quote }}
`),
	chartSecret("encoded value", `  KEY: {{ .Values.conf.file | b64enc }}
`),
	chartValue("quoted value", `  KEY: {{ .Values.conf.file | quote }}
`, "file"),
	{name: "app-template release", fits: func(l language) bool { return l.object == "" }, files: func(l language) map[string]string {
		var b strings.Builder
		b.WriteString("apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: conf, namespace: net}\nspec:\n  chart:\n    spec: {chart: app-template, version: 4.2.0, sourceRef: {kind: HelmRepository, name: bjw-s}}\n  values:\n    configMaps:\n      file:\n        data:\n")
		for _, kv := range l.keys() {
			b.WriteString("          " + kv[0] + ": |\n" + indented(kv[1], "            "))
		}
		return map[string]string{"release.yaml": b.String()}
	}},
	{name: "release with its chart", fits: func(l language) bool { return !l.env }, files: func(l language) map[string]string {
		name, namespace := l.name0()
		return map[string]string{
			"release.yaml":                 "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: conf, namespace: net}\nspec:\n  chart:\n    spec: {chart: ./charts/conf, sourceRef: {kind: GitRepository, name: flux-system}}\n  values:\n    conf: |\n" + indented(l.text, "      "),
			"charts/conf/Chart.yaml":       "apiVersion: v2\nname: conf\nversion: 1.0.0\n",
			"charts/conf/templates/c.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n  namespace: " + namespace + "\ndata:\n  " + l.key + ": |\n{{ .Values.conf | indent 4 }}\n",
		}
	}},
	{name: "Application values", fits: func(l language) bool { return !l.env }, files: func(l language) map[string]string {
		name, namespace := l.name0()
		return map[string]string{
			"app.yaml":                     "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: conf, namespace: argocd}\nspec:\n  destination: {namespace: net}\n  source:\n    path: charts/conf\n    helm:\n      values: |\n        conf: |\n" + indented(l.text, "          "),
			"charts/conf/Chart.yaml":       "apiVersion: v2\nname: conf\nversion: 1.0.0\n",
			"charts/conf/templates/c.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n  namespace: " + namespace + "\ndata:\n  " + l.key + ": |\n{{ .Values.conf | indent 4 }}\n",
		}
	}},
}

// escaped writes a text as the inside of a double-quoted scalar, other letters by
// their numbers.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n':
			b.WriteString("\\n")
		case r == '"' || r == '\\':
			b.WriteString("\\" + string(r))
		case r > 126:
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// chartFile makes the carrier of a file of a chart.
func chartFile(name, template string) carrying {
	return carrying{name: name, fits: func(l language) bool { return !l.env }, files: func(l language) map[string]string {
		template := strings.NewReplacer("{{ .Key }}", l.key, "FILE", l.key).Replace(template)
		return map[string]string{
			"Chart.yaml":         "apiVersion: v2\nname: conf\nversion: 1.0.0\n",
			"templates/c.yaml":   header("ConfigMap", l) + "data:\n" + template,
			"templates/pod.yaml": l.filled("ConfigMap", "conf"),
			"files/" + l.key:     l.text,
			"pod.yaml":           "",
		}
	}}
}

// chartSecret makes the carrier of a Secret that a chart makes of a file, or of a
// value with the same text where the template reads one.
func chartSecret(name, template string) carrying {
	return carrying{name: name, kind: "Secret", decoded: true, fits: func(l language) bool { return !l.env && l.object == "" }, files: func(l language) map[string]string {
		files := map[string]string{
			"Chart.yaml":         "apiVersion: v2\nname: conf\nversion: 1.0.0\n",
			"templates/c.yaml":   header("Secret", l) + "data:\n" + strings.ReplaceAll(template, "KEY", l.key),
			"templates/pod.yaml": l.filled("Secret", "conf"),
			"pod.yaml":           "",
		}
		if strings.Contains(template, ".Values") {
			files["values.yaml"] = "conf:\n  file: |\n" + indented(l.text, "    ")
		} else {
			files["files/"+l.key] = l.text
		}
		return files
	}}
}

// chartValue makes the carrier of a value of a chart.
func chartValue(name, template, key string) carrying {
	return carrying{name: name, fits: func(l language) bool { return !l.env }, files: func(l language) map[string]string {
		key := key
		if key == "conf" {
			key = l.key
		}
		return map[string]string{
			"Chart.yaml":         "apiVersion: v2\nname: conf\nversion: 1.0.0\n",
			"templates/c.yaml":   header("ConfigMap", l) + "data:\n" + strings.ReplaceAll(template, "KEY", l.key),
			"templates/pod.yaml": l.filled("ConfigMap", "conf"),
			"values.yaml":        "# the configuration\nconf:\n  " + key + ": |\n" + indented(l.text, "    "),
			"pod.yaml":           "",
		}
	}}
}

// Wherever a configuration stands, what facts say of a part of it is at the file,
// line and column of that part.
func TestPositionsInStrings(t *testing.T) {
	catalog, err := images.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range languages {
		for _, c := range carriers {
			if c.fits != nil && !c.fits(l) {
				continue
			}
			t.Run(l.name+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				checkPlaces(t, catalog, l, c, c.tree(l))
			})
		}
	}
}

func checkPlaces(t *testing.T, catalog *images.Catalog, l language, c carrying, files map[string]string) {
	maps.DeleteFunc(files, func(_, text string) bool { return text == "" })
	dir := testtree.Write(t, files)
	loaded, err := loader.Load(t.Context(), []string{"."}, loader.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range loaded.Gaps {
		if !strings.Contains(g.What, "was not available") {
			t.Errorf("gap: %s: %s", g.What, g.Why)
		}
	}
	known, err := facts.Read(t.Context(), loaded.Objects, catalog, facts.Options{})
	if err != nil {
		t.Fatal(err)
	}
	objects := map[source.ObjectID]*source.Object{}
	for _, o := range loaded.Objects {
		objects[o.ID] = o
	}
	refs := map[source.Ref]bool{}
	collectRefs(reflect.ValueOf(known), refs, 0)
	found := false
	for _, r := range slices.SortedFunc(maps.Keys(refs), func(a, b source.Ref) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }) {
		part, ok := partOf(objects[r.Object], r)
		if !ok || !strings.Contains(part, l.token) && part != l.token || strings.Contains(part, "\n") {
			continue
		}
		found = true
		at := objects[r.Object].Origin.Locate(r).Primary
		checkPlace(t, c, files, at, part)
	}
	if !found {
		t.Errorf("no fact speaks of a part of the text with %s", l.token)
	}
}

func checkPlace(t *testing.T, c carrying, files map[string]string, at source.Location, part string) {
	t.Helper()
	if c.encoded {
		if at.File != "conf.yaml" || at.Precision == source.Exact {
			t.Errorf("%q is at %+v, which cannot be meant to be exact", part, at)
		}
		line := strings.Split(files["conf.yaml"], "\n")[max(at.Span.Start.Line-1, 0)]
		_, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if plain, err := base64.StdEncoding.DecodeString(value); err != nil || !strings.Contains(string(plain), part) {
			t.Errorf("%q is at %+v, and the line there is %q", part, at, line)
		}
		return
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		before, _, ok := strings.Cut(files[name], part)
		if !ok {
			continue
		}
		line := strings.Count(before, "\n") + 1
		column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
		if at.File != name || at.Span.Start != (source.Position{Line: line, Column: column}) || at.Precision == source.Exact == c.decoded {
			t.Errorf("%q is at %s:%d:%d (%s), want %s:%d:%d (exact, unless decoded)", part, at.File, at.Span.Start.Line, at.Span.Start.Column, at.Precision, name, line, column)
		}
		return
	}
	if strings.ContainsAny(part, `"\`) {
		return // it is written with escapes
	}
	t.Errorf("%q stands in no file", part)
}

// partOf is the text that a reference selects of a string.
func partOf(o *source.Object, r source.Ref) (string, bool) {
	if o == nil {
		return "", false
	}
	var v any = o.Tree
	for _, token := range source.PointerTokens(r.Pointer) {
		m, is := v.(map[string]any)
		if !is {
			return "", false
		}
		v = m[token]
	}
	text, is := v.(string)
	if path.Dir(r.Pointer) == "/binaryData" || o.Kind == "Secret" && path.Dir(r.Pointer) == "/data" {
		plain, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return "", false
		}
		text = string(plain)
	}
	if !is || r.End == 0 || r.End > len(text) {
		return "", false
	}
	return text[r.Start:r.End], true
}

// collectRefs collects all references that a value holds.
func collectRefs(v reflect.Value, into map[source.Ref]bool, depth int) {
	if depth > 40 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			collectRefs(v.Elem(), into, depth+1)
		}
	case reflect.Struct:
		if r, is := v.Interface().(source.Ref); is {
			into[r] = true
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				collectRefs(v.Field(i), into, depth+1)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			collectRefs(v.Index(i), into, depth+1)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			collectRefs(v.MapIndex(k), into, depth+1)
		}
	}
}
