package loader

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// family is a kind of chart whose values tell what it makes.
type family string

const (
	// newer is app-template from version 2 on, older app-template 0 and 1 and the
	// k8s-at-home library that it grew out of.
	newer family = "newer"
	older family = "older"
	// anyChart: nothing is known of what the chart makes of its values.
	anyChart family = "any"
)

// byShape makes the objects of a release whose chart is not available.
func (g *gitops) byShape(r *release, why string) []*source.Object {
	merged := withoutNulls(r.values.merged)
	top := given{val: merged, ok: true}
	kind, major := familyOf(r.chart, top)
	r.misspelt(kind, asMap(merged))
	s := &shaper{rel: r, values: top, major: major}
	read := "its values were read by the shape of the app-template chart; what a newer version makes of them may differ"
	reads := ""
	switch {
	case kind == newer:
		if r.chart.name != "app-template" {
			// A chart on the same library, with defaults of its own.
			r.open = true
			read = "its values were read by the shape of the app-template chart; what the chart sets by itself is unknown"
			reads = "their values were read by the shape of the app-template chart, and name no container with a right to change the network; what the charts set by themselves is unknown"
		}
		if major == 2 {
			s.values.val = laid(newerDefaults(), asMap(merged))
		}
		s.appTemplate()
	case kind == older:
		s.values.val = laid(olderDefaults(), asMap(merged))
		s.commonLibrary(r.chart.name == "app-template")
		if r.chart.name != "app-template" {
			read = "its values were read by the shape of the k8s-at-home library; what the chart sets by itself is unknown"
			reads = "their values were read by the shape of the k8s-at-home library, and name no container with a right to change the network; what the charts set by themselves is unknown"
		}
	default:
		read = "its values were searched for VPN containers; everything else that the chart makes is missing from this report"
		reads = "their values were searched for VPN containers, and name none with a right to change the network; everything else that the charts make is missing from this report"
		s.search(top, 0)
	}
	if r.chart.name == "app-template" {
		// The chart installs nothing of them before they are corrected to who knows what.
		r.open = r.sayKinds(s.values, map[family][]valueKind{newer: newerKinds, older: olderKinds}[kind]) || r.open
	}
	if s.problem != "" && r.chart.name == "app-template" {
		r.gapAtValue(s.at, "the values of the "+r.kind+" "+r.object.Name+" were read in part",
			s.problem+": the chart app-template refuses them", "what it would install was checked as far as it could be read")
	}
	if why != "" {
		m := missingChart{kind: finding.Unresolved, why: why, read: read, reads: reads}
		m.plain = reads != "" && why == r.chart.notDownloaded() && !mayTunnel(s.objects)
		if kind == anyChart && isInflation(r.object) {
			m.kind, m.why = finding.Unreadable, r.notInflated(why)
		}
		g.miss(r, m)
	}
	if r.values.unseen != "" || r.open {
		for _, o := range s.objects {
			o.Unseen = []string{""}
		}
	}
	return s.objects
}

// mayTunnel reports whether a container among those found in the values of a
// release may change the network of its pod.
func mayTunnel(objects []*source.Object) bool {
	return slices.ContainsFunc(objects, func(o *source.Object) bool {
		spec, _ := field(o.Tree, "spec", "template", "spec")
		for _, key := range []string{"initContainers", "containers"} {
			list, _ := asMap(spec)[key].([]any)
			if slices.ContainsFunc(list, mayChangeNetwork) {
				return true
			}
		}
		return false
	})
}

func mayChangeNetwork(container any) bool {
	context := asMap(asMap(container)["securityContext"])
	privileged, _ := context["privileged"].(bool)
	add, _ := asMap(context["capabilities"])["add"].([]any)
	return privileged || slices.ContainsFunc(add, func(c any) bool { return c == "NET_ADMIN" || c == "ALL" || c == "SYS_ADMIN" })
}

// gapAtValue records a gap at a value of the release.
func (r *release) gapAtValue(path []string, what, why, consequence string) {
	r.gapIn(path, source.Ref{}, what, why, consequence)
}

// gapAtKey records a gap at the key of a value.
func (r *release) gapAtKey(path []string, what, why, consequence string) {
	r.gapIn(path, source.Ref{Key: true}, what, why, consequence)
}

func (r *release) gapIn(path []string, ref source.Ref, what, why, consequence string) {
	at := r.values.locate(path, ref).Primary
	r.gaps = append(r.gaps, finding.Gap{Kind: finding.Unmodelled, File: at.File, Line: at.Span.Start.Line, What: what, Why: why, Consequence: consequence})
}

// familyOf tells what kind of chart a release installs: by its name and
// version, else by the shape of the values.
func familyOf(c chartRef, values given) (kind family, major int) {
	switch {
	case c.name == "app-template":
		switch major = majorOf(c.version); {
		case major >= 2:
			return newer, min(major, 4)
		case major >= 0:
			return older, 1
		case hasControllers(values):
			return newer, 4
		case isOlder(values):
			return older, 1
		}
		return newer, 4
	case hasControllers(values):
		return newer, 4
	case strings.Contains(c.repository, "k8s-at-home") && values.isMap(), isOlder(values):
		return older, 1
	}
	return anyChart, 0
}

// majorOf returns the major version that a version or range asks for, -1 when
// that cannot be told.
func majorOf(version string) int {
	digits := strings.TrimLeft(strings.TrimSpace(version), "v^~=> ")
	end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(digits)
	}
	n, err := strconv.Atoi(digits[:end])
	if err != nil || n > 1000 {
		return -1
	}
	return n
}

// hasControllers reports whether values are of the newer shape: controllers
// with containers that have an image.
func hasControllers(values given) bool {
	for _, c := range enabledItems(values.get("controllers")) {
		for _, container := range enabledItems(c.get("containers")) {
			if container.get("image").isMap() || container.get("image").text() != "" {
				return true
			}
		}
	}
	return false
}

// isOlder reports whether values are of the older shape: the VPN add-on, or an
// image beside at least two of the blocks that only this family has together.
func isOlder(values given) bool {
	if vpn := values.get("addons", "vpn"); vpn.isMap() {
		return true
	}
	if !values.get("image", "repository").ok {
		return false
	}
	marks := 0
	for _, at := range [][]string{
		{"controller"}, {"service", "main"}, {"probes", "liveness"}, {"probes", "startup"}, {"additionalContainers"}, {"sidecars"},
		{"podSecurityContext"}, {"addons"}, {"ingress", "main"}, {"persistence", "config", "enabled"},
	} {
		if values.get(at...).isMap() || at[0] == "persistence" && values.get(at...).ok {
			marks++
		}
	}
	return marks >= 2
}

// laid lays a release's values over a chart's defaults.
func laid(defaults, values map[string]any) map[string]any { return mergeMaps(defaults, values) }

// defaultProbes are the probes that the main container has by default, before
// version 3.
func defaultProbes() map[string]any {
	probe := func(period, failures int64) map[string]any {
		return map[string]any{"enabled": true, "type": "TCP", "spec": map[string]any{"periodSeconds": period, "failureThreshold": failures}}
	}
	return map[string]any{"liveness": probe(10, 3), "readiness": probe(10, 3), "startup": probe(5, 30)}
}

func mainService() map[string]any {
	return map[string]any{"main": map[string]any{
		"enabled": true, "primary": true, "controller": "main",
		"ports": map[string]any{"http": map[string]any{"enabled": true, "primary": true, "protocol": "HTTP"}},
	}}
}

// newerDefaults are the values that app-template 2 starts from: a controller
// main with a container main.
func newerDefaults() map[string]any {
	return map[string]any{
		"defaultPodOptions": map[string]any{"automountServiceAccountToken": true, "enableServiceLinks": true},
		"controllers": map[string]any{"main": map[string]any{
			"enabled": true, "replicas": int64(1),
			"containers": map[string]any{"main": map[string]any{"order": int64(1), "probes": defaultProbes()}},
		}},
		"service": mainService(),
	}
}

// olderDefaults are those of app-template 1 and of the k8s-at-home library.
func olderDefaults() map[string]any {
	return map[string]any{
		"controller":         map[string]any{"enabled": true, "type": "deployment", "replicas": int64(1)},
		"enableServiceLinks": true, "automountServiceAccountToken": true,
		"probes": defaultProbes(), "service": mainService(),
		"persistence": map[string]any{"shared": map[string]any{"enabled": false, "type": "emptyDir", "mountPath": "/shared"}},
		"addons": map[string]any{"vpn": map[string]any{
			"enabled":         false,
			"securityContext": map[string]any{"capabilities": map[string]any{"add": []any{"NET_ADMIN", "SYS_MODULE"}}},
		}},
	}
}

// vpnAddons are the containers that addons.vpn adds, by its type, and where
// they expect their configuration.
var vpnAddons = map[string]struct{ image, config, scripts string }{
	"openvpn":   {"dperson/openvpn-client", "/vpn/vpn.conf", "/vpn"},
	"wireguard": {"ghcr.io/k8s-at-home/wireguard", "/etc/wireguard/wg0.conf", "/config"},
	"gluetun":   {"docker.io/qmcgaw/gluetun", "/gluetun/config.conf", "/gluetun/scripts"},
}

// chartImages are those of charts that are themselves a part of a VPN: the
// container of an application that needs one would be something else.
var chartImages = map[string]string{"pod-gateway": "ghcr.io/angelnu/pod-gateway"}

// commonLibrary makes the objects of the older family. template: the chart is
// app-template, which sets nothing by itself.
func (s *shaper) commonLibrary(template bool) {
	name := s.rel.name
	if !template {
		name = s.rel.chart.name
	}
	s.setNames(name)
	if s.values.get("controller", "enabled").empty() {
		return
	}
	spec := mapOf(s.values.get("podSecurityContext"))
	if !s.values.get("podSecurityContext").isMap() {
		spec.path = []string{}
	}
	for _, k := range []string{"hostNetwork", "hostPID", "hostIPC", "hostname", "dnsConfig", "dnsPolicy", "nodeSelector", "affinity", "tolerations", "hostAliases", "runtimeClassName", "automountServiceAccountToken", "enableServiceLinks"} {
		spec.setGiven(k, s.values.get(k))
	}
	spec.setGiven("securityContext", s.values.get("podSecurityContext"))
	policy := spec.fields["dnsPolicy"]
	s.podDefaults(spec)
	if policy != nil {
		spec.set("dnsPolicy", policy)
	}
	inits := map[string]*made{}
	s.extraContainers("initContainers", inits)
	if len(inits) > 0 {
		list := listOf(s.values.get("initContainers"))
		for _, key := range sortedKeys(inits) {
			list.add(inits[key])
		}
		spec.set("initContainers", list)
	}
	volumes := s.volumes("")
	containers := listOf(s.values)
	containers.add(s.mainContainer())
	more := map[string]*made{}
	for _, key := range []string{"additionalContainers", "sidecars"} {
		s.extraContainers(key, more)
	}
	if vpn := s.values.get("addons", "vpn"); vpn.isMap() && !vpn.get("enabled").empty() {
		addon := s.addon(vpn, &volumes)
		more["addon-"+scalarText(addon.fields["name"].value)] = addon
	}
	for _, key := range sortedKeys(more) {
		containers.add(more[key])
	}
	spec.set("containers", containers)
	if volumes != nil {
		spec.set("volumes", volumes)
	}
	c := s.values.get("controller")
	labels := mapOf(given{path: []string{}})
	match := mapOf(given{path: []string{}})
	for _, k := range sortedKeys(s.app) {
		labels.set(k, own(s.app[k]))
		match.set(k, own(s.app[k]))
	}
	for _, k := range s.values.get("podLabels").keys() {
		labels.set(k, s.string(s.values.get("podLabels", k)))
	}
	meta := mapOf(given{path: []string{}}).set("labels", labels)
	if a := s.values.get("podAnnotations"); !a.empty() {
		meta.set("annotations", s.tree(a))
	}
	top := &made{path: []string{}, fields: map[string]*made{}}
	top.set("metadata", s.metadata(s.full, c))
	pod := &made{path: []string{}, fields: map[string]*made{"metadata": meta, "spec": spec}}
	kind := c.get("type").text()
	s.workload(kind, top, pod, (&made{path: []string{}, fields: map[string]*made{}}).set("matchLabels", match), c)
	if !template && len(s.objects) > 0 {
		at := "/spec/template/spec/containers/0"
		if kind == "cronjob" {
			at = "/spec/jobTemplate" + at
		}
		s.objects[0].Unseen = []string{at}
	}
	for _, svc := range s.services() {
		s.service(svc, 1)
	}
	s.configuration("configMaps", "ConfigMap", "data")
	s.configuration("configmap", "ConfigMap", "data")
	s.configuration("secrets", "Secret", "stringData")
	s.addonPolicy()
}

// mainContainer is the application's.
func (s *shaper) mainContainer() *made {
	v := s.values
	out := mapOf(v.get("image"))
	if !v.get("image").ok {
		out.path = []string{}
	}
	out.set("name", own(s.full))
	if image := s.image(v.get("image")); image != nil {
		out.set("image", image)
	} else if known := chartImages[s.rel.chart.name]; known != "" {
		out.set("image", own(known))
	} else {
		out.set("image", own(unknownText))
	}
	for _, k := range []string{"securityContext", "lifecycle", "resources"} {
		out.setGiven(k, v.get(k))
	}
	for _, k := range []string{"command", "args"} {
		if g := v.get(k); g.isList() {
			out.setGiven(k, g)
		} else if !g.empty() {
			list := listOf(g)
			list.add(copied(g))
			out.set(k, list)
		}
	}
	if env := s.env(v.get("env")); env != nil {
		out.set("env", env)
	}
	out.setGiven("envFrom", v.get("envFrom"))
	ports := listOf(v.get("service"))
	var primary given
	for _, svc := range s.services() {
		for _, p := range enabledItems(svc.get("ports")) {
			if p.get("port").empty() && p.get("targetPort").empty() {
				continue
			}
			entry := s.servicePort(p)
			ports.add(mapOf(p).set("name", entry.fields["name"]).set("containerPort", entry.fields["targetPort"]).set("protocol", entry.fields["protocol"]))
			if !primary.ok || !svc.get("primary").empty() && !p.get("primary").empty() {
				primary = p
			}
		}
	}
	if len(ports.list) > 0 {
		out.set("ports", ports)
	}
	s.probes(out, v.get("probes"), primary)
	mounts := listOf(v.get("persistence"))
	for _, item := range s.persistence() {
		s.olderMount(mounts, item)
	}
	if len(mounts.list) > 0 {
		out.set("volumeMounts", mounts)
	}
	return out
}

// olderMount mounts a persistence item into the main container.
func (s *shaper) olderMount(mounts *made, item given) {
	id := lastOf(item.path)
	if subs := item.get("subPath"); subs.isList() {
		for _, sub := range subs.items() {
			mount := mapOf(sub).set("name", written(id, item))
			mount.setGiven("mountPath", sub.get("mountPath"))
			mount.setGiven("subPath", sub.get("path"))
			mounts.add(mount)
		}
		return
	}
	at := written("/"+id, item)
	if item.get("type").text() == "hostPath" && item.get("hostPath").ok {
		at = copied(item.get("hostPath"))
	}
	switch path := item.get("mountPath"); {
	case path.text() == "-":
		return
	case !path.empty():
		at = copied(path)
	}
	mount := mapOf(item).set("name", written(id, item)).set("mountPath", at)
	mount.setGiven("subPath", item.get("subPath"))
	mounts.add(mount)
}

// extraContainers adds the containers that stand in the values, by their keys:
// the charts sort by them.
func (s *shaper) extraContainers(key string, out map[string]*made) {
	all := s.values.get(key)
	items := all.items()
	for _, k := range all.keys() {
		items = append(items, all.get(k))
	}
	for _, g := range items {
		if !g.isMap() {
			continue
		}
		c := s.tree(g)
		if c.fields["name"] == nil {
			c.set("name", written(lastOf(g.path), g))
		}
		if env := s.env(g.get("env")); env != nil {
			c.set("env", env)
		}
		if image := s.image(g.get("image")); image != nil {
			c.set("image", image)
		}
		out[lastOf(g.path)] = c
	}
}

// addon makes the container of addons.vpn.
func (s *shaper) addon(vpn given, volumes **made) *made {
	kind := vpn.get("type").text()
	if kind == "" {
		kind = "openvpn"
		if s.rel.chart.name == "app-template" {
			kind = "gluetun"
		}
	}
	known, ok := vpnAddons[kind]
	if !ok {
		s.refuse(vpn.get("type"), "%q is no type of addons.vpn", kind)
	}
	c := mapOf(vpn).set("name", own(kind))
	if image := s.image(vpn.get(kind, "image")); image != nil {
		if tag := vpn.get(kind, "image", "tag"); tag.ok && !vpn.get(kind, "image", "repository").ok {
			image = written(known.image+":"+scalarText(tag.val), tag)
		}
		c.set("image", image)
	} else {
		image := known.image
		if tag := vpn.get(kind, "image", "tag"); tag.ok {
			image += ":" + scalarText(tag.val)
		}
		c.set("image", written(image, vpn))
	}
	for _, k := range []string{"securityContext", "args", "livenessProbe", "resources", "envFrom"} {
		c.setGiven(k, vpn.get(k))
	}
	if env := s.env(vpn.get("env")); env != nil {
		c.set("env", env)
	}
	if auth := vpn.get(kind, "authSecret"); !auth.empty() {
		from := listOf(auth)
		from.add(mapOf(auth).set("secretRef", mapOf(auth).set("name", s.string(auth))))
		c.set("envFrom", from)
	}
	s.addonFiles(vpn, c, known.config, known.scripts, volumes)
	return c
}

// addonFiles mounts the configuration and the scripts of addons.vpn.
func (s *shaper) addonFiles(vpn given, c *made, config, scripts string, volumes **made) {
	mounts := listOf(vpn)
	volume := func(name string, from given, kind string, v *made) {
		if *volumes == nil {
			*volumes = listOf(s.values)
		}
		(*volumes).add(mapOf(from).set("name", own(name)).set(kind, v))
	}
	item := func(key string) *made {
		list := listOf(vpn)
		list.add(mapOf(vpn).set("key", own(key)).set("path", own(key)))
		return list
	}
	file, secret := vpn.get("configFile"), vpn.get("configFileSecret")
	if !file.empty() || !secret.empty() {
		name, from := own(s.full+"-vpnconfig"), file
		if !secret.empty() {
			name, from = s.string(secret), secret
		} else {
			data := mapOf(file).set("vpnConfigfile", copied(file))
			s.emit("v1", "Secret", mapOf(file).set("metadata", s.metadata(s.full+"-vpnconfig", given{path: vpn.path})).set("stringData", data))
		}
		volume("vpnconfig", from, "secret", mapOf(from).set("secretName", name).set("items", item("vpnConfigfile")))
		mounts.add(mapOf(from).set("name", own("vpnconfig")).set("mountPath", own(config)).set("subPath", own("vpnConfigfile")))
	}
	data := mapOf(vpn.get("scripts"))
	items := listOf(vpn.get("scripts"))
	for _, when := range []string{"up", "down"} {
		if script := vpn.get("scripts", when); !script.empty() {
			key := when + ".sh"
			data.set(key, copied(script))
			items.list = append(items.list, item(key).list...)
			mounts.add(mapOf(script).set("name", own("vpnscript")).set("mountPath", own(scripts+"/"+key)).set("subPath", own(key)))
		}
	}
	if len(data.fields) > 0 {
		name := s.full + "-addon-vpn"
		s.emit("v1", "ConfigMap", mapOf(vpn.get("scripts")).set("metadata", s.metadata(name, given{path: vpn.path})).set("data", data))
		volume("vpnscript", vpn.get("scripts"), "configMap", mapOf(vpn.get("scripts")).set("name", own(name)).set("items", items))
	}
	if shared := s.values.get("persistence", "shared"); !shared.get("enabled").empty() {
		mounts.add(mapOf(shared).set("name", own("shared")).set("mountPath", copied(shared.get("mountPath"))))
	}
	for _, m := range vpn.get("additionalVolumeMounts").items() {
		mounts.add(copied(m))
	}
	if len(mounts.list) > 0 {
		c.set("volumeMounts", mounts)
	}
}

// addonPolicy makes the NetworkPolicy of addons.vpn.
func (s *shaper) addonPolicy() {
	policy := s.values.get("addons", "vpn", "networkPolicy")
	if s.values.get("addons", "vpn", "enabled").empty() || policy.get("enabled").empty() {
		return
	}
	match := mapOf(policy)
	for _, k := range sortedKeys(s.app) {
		match.set(k, own(s.app[k]))
	}
	for _, k := range policy.get("podSelectorLabels").keys() {
		match.set(k, s.string(policy.get("podSelectorLabels", k)))
	}
	types := listOf(policy)
	types.add(own("Egress"))
	spec := mapOf(policy).set("podSelector", mapOf(policy).set("matchLabels", match)).set("policyTypes", types)
	spec.setGiven("egress", policy.get("egress"))
	s.emit("networking.k8s.io/v1", "NetworkPolicy", mapOf(policy).set("metadata", s.metadata(s.full, policy)).set("spec", spec))
}

// Limits of the search for containers in the values of an unknown chart.
const (
	maxSearchDepth = 12
	maxSearchFound = 64
)

// search looks for blocks that describe a container: an image, and what only a
// container has. Of the pod around it nothing is known; whether it carries a
// VPN is for others to say.
func (s *shaper) search(g given, depth int) {
	if depth > maxSearchDepth || len(s.objects) >= maxSearchFound {
		return
	}
	if g.isMap() && len(g.path) > 0 || g.isMap() && g.get("image").ok {
		if c := s.container0(g); c != nil {
			s.loose(g, c)
		}
	}
	for _, k := range g.keys() {
		s.search(g.get(k), depth+1)
	}
	for _, item := range g.items() {
		s.search(item, depth+1)
	}
}

// container0 makes a container of a block of values that looks like one.
func (s *shaper) container0(g given) *made {
	image := s.image1(g.get("image"))
	if image == nil {
		return nil
	}
	name := g.get("name").text()
	if name == "" && len(g.path) > 0 {
		name = lastOf(g.path)
	}
	if name == "" {
		name = s.rel.name
	}
	c := mapOf(g).set("name", written(name, g)).set("image", image)
	like := 0
	for _, k := range []string{"securityContext", "lifecycle", "resources", "ports", "command", "args", "envFrom"} {
		v := g.get(k)
		if v.empty() {
			continue
		}
		if list := k == "ports" || k == "command" || k == "args" || k == "envFrom"; list && !v.isList() || !list && !v.isMap() {
			continue
		}
		like++
		c.set(k, copied(v))
	}
	for _, k := range []string{"env", "extraEnv", "extraEnvVars", "envVars", "environment"} {
		if env := s.env(g.get(k)); env != nil {
			like++
			if c.fields["env"] == nil {
				c.set("env", env)
			}
		}
	}
	if like == 0 {
		return nil
	}
	return c
}

// image1 joins what charts call the parts of an image.
func (s *shaper) image1(g given) *made {
	if text := g.text(); text != "" {
		return s.string(g)
	}
	older := *s
	older.major = 1
	image := older.image(g)
	if image == nil {
		return nil
	}
	if registry := g.get("registry").text(); registry != "" {
		image.value = fmt.Sprintf("%s/%v", registry, image.value)
	}
	return image
}

// loose adds a container about whose pod nothing is known, as a part of the
// release's object itself.
func (s *shaper) loose(g given, c *made) {
	at := given{path: g.path}
	list := listOf(at)
	list.add(c)
	p := mapOf(at).set("metadata", mapOf(at).set("name", own(s.rel.object.Name)).set("namespace", own(s.rel.namespace)))
	p.set("spec", mapOf(at).set("template", mapOf(at).set("spec", mapOf(at).set("containers", list))))
	s.emit(s.rel.object.APIVersion, s.rel.object.Kind, p)
	s.objects[len(s.objects)-1].Unseen = []string{""}
}
