package loader

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// Most VPN workloads of public GitOps repositories are releases of the bjw-s
// app-template chart, which is in none of them. What it makes of its values
// hardly differs between its versions and is repeated here, as far as a network
// engineer cares: pods, Services, configuration, policies.

// shaper makes the objects of a release without its chart.
type shaper struct {
	rel    *release
	values given
	// major is the version of app-template: 2, 3 or 4; 1 for the older family.
	major int
	// full is the name from which the names of all objects are made.
	full string
	// app are the labels by which all objects of the release are selected.
	app     map[string]string
	objects []*source.Object
	// problem says why the chart would refuse the values, "" when it takes them.
	problem string
	at      []string
}

// refuse records why the chart does not render with these values.
func (s *shaper) refuse(at given, format string, args ...any) {
	if s.problem == "" {
		s.problem, s.at = fmt.Sprintf(format, args...), at.path
	}
}

// templateAction is an action of a Helm template inside of a value.
var (
	helmAction  = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	releaseName = regexp.MustCompile(`^\{\{-?\s*\$?\.Release\.(Name|Namespace)\s*(?:\|\s*quote\s*)?-?\}\}$`)
	plainValue  = regexp.MustCompile(`^\{\{-?\s*\$?\.Values((?:\.[A-Za-z_]\w*)+)\s*-?\}\}$`)
)

// unknownText stands for what a template would write: no reader takes it for a
// value.
const unknownText = "${HELM_TEMPLATE}"

// tpl fills in the templates of a text, those that need nothing but the release
// and its values; what others would write is not known.
func (s *shaper) tpl(text string) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	return helmAction.ReplaceAllStringFunc(text, func(action string) string {
		if m := releaseName.FindStringSubmatch(action); m != nil {
			if m[1] == "Name" {
				return s.rel.name
			}
			return s.rel.namespace
		}
		if m := plainValue.FindStringSubmatch(action); m != nil {
			if v := s.values.get(strings.Split(m[1][1:], ".")...); v.ok && !v.isMap() && !v.isList() {
				return scalarText(v.val)
			}
		}
		return unknownText
	})
}

// scalarText writes a scalar as a template would.
func scalarText(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// string is a value that the chart writes as a string, templates filled in.
func (s *shaper) string(g given) *made {
	text, is := g.val.(string)
	if !is {
		return written(scalarText(g.val), g)
	}
	if filled := s.tpl(text); filled != text {
		return written(filled, g)
	}
	return copied(g)
}

// tree is a value whose strings may hold templates.
func (s *shaper) tree(g given) *made {
	switch {
	case g.isMap():
		out := mapOf(g)
		for _, k := range g.keys() {
			out.set(k, s.tree(g.get(k)))
		}
		return out
	case g.isList():
		out := listOf(g)
		for _, item := range g.items() {
			out.add(s.tree(item))
		}
		return out
	}
	if _, is := g.val.(string); is {
		return s.string(g)
	}
	return copied(g)
}

// setNames works out the name of the release's objects: app-template always
// takes the release's for its own.
func (s *shaper) setNames(chart string) {
	name := chart
	for _, g := range []given{s.values.get("nameOverride"), s.values.get("global", "nameOverride")} {
		if text := g.text(); text != "" {
			name = text
		}
	}
	s.full = s.rel.name
	if !strings.Contains(s.rel.name, name) {
		s.full = s.rel.name + "-" + name
	}
	for _, g := range []given{s.values.get("fullnameOverride"), s.values.get("global", "fullnameOverride")} {
		if text := g.text(); text != "" {
			s.full = text
		}
	}
	s.full = trimName(s.full)
	s.app = map[string]string{"app.kubernetes.io/name": trimName(name), "app.kubernetes.io/instance": s.rel.name}
}

func trimName(name string) string {
	return strings.TrimSuffix(name[:min(len(name), 63)], "-")
}

// controllerLabel tells the controllers of a release apart.
func (s *shaper) controllerLabel() string {
	if s.major >= 4 {
		return "app.kubernetes.io/controller"
	}
	return "app.kubernetes.io/component"
}

// nameOf is the name of an item of the values, one of count of its kind.
func (s *shaper) nameOf(id string, g given, count int, kind string) string {
	if text := g.get("forceRename").text(); text != "" && s.major >= 3 {
		return s.tpl(text)
	}
	withID := s.full + "-" + id
	if s.major >= 4 {
		return s.nameOfItem(id, g, count)
	}
	if override := s.tpl(g.get("nameOverride").text()); override != "" {
		if override == s.full {
			return s.full
		}
		return s.full + "-" + override
	}
	bare := false
	switch kind {
	case "Service":
		bare = !g.get("primary").empty() || s.major == 3 && count <= 1
	case "ConfigMap", "PersistentVolumeClaim":
	case "Secret":
		bare = s.major == 2 && id == "main"
	default:
		bare = s.major == 2 && id == "main" || s.major == 3 && count <= 1
	}
	if bare || s.major == 3 && id == s.full {
		return s.full
	}
	return withID
}

// nameOfItem is nameOf since version 4.
func (s *shaper) nameOfItem(id string, g given, count int) string {
	name := s.full
	if prefix := s.tpl(g.get("prefix").text()); prefix != "" && prefix != name {
		name = prefix + "-" + name
	}
	if (count > 1 || !s.values.get("global", "alwaysAppendIdentifierToResourceName").empty()) &&
		!strings.HasSuffix(name, "-"+id) && name != id {
		name += "-" + id
	}
	if suffix := s.tpl(g.get("suffix").text()); suffix != "" && !strings.HasSuffix(name, "-"+suffix) {
		name += "-" + suffix
	}
	return strings.ToLower(name)
}

// enabledItems returns the members of a map that are maps and not switched off.
func enabledItems(g given) []given {
	var out []given
	for _, k := range g.keys() {
		if item := g.get(k); item.isMap() && item.enabled() {
			out = append(out, item)
		}
	}
	return out
}

func lastOf(path []string) string { return path[len(path)-1] }

// metadata makes an object's metadata.
func (s *shaper) metadata(name string, g given) *made {
	labels := mapOf(given{path: g.path})
	for _, k := range sortedKeys(s.app) {
		labels.set(k, own(s.app[k]))
	}
	for _, k := range g.get("labels").keys() {
		labels.set(k, s.string(g.get("labels", k)))
	}
	meta := &made{path: g.path, fields: map[string]*made{}}
	meta.set("name", written(name, g)).set("labels", labels)
	if s.major > 3 { // before, the chart leaves that to Helm
		meta.set("namespace", own(s.rel.namespace))
	}
	if a := g.get("annotations"); !a.empty() {
		meta.set("annotations", s.tree(a))
	}
	return meta
}

// emit adds an object of the release.
func (s *shaper) emit(apiVersion, kind string, p *made) {
	p.set("apiVersion", own(apiVersion)).set("kind", own(kind))
	s.objects = append(s.objects, s.rel.objectOf(p))
}

// appTemplate makes the objects of app-template from version 2 on.
func (s *shaper) appTemplate() {
	s.setNames(s.rel.name)
	s.app["app.kubernetes.io/name"] = trimName(s.rel.name)
	if name := s.values.get("global", "nameOverride").text(); name != "" {
		s.app["app.kubernetes.io/name"] = trimName(name)
	}
	controllers := enabledItems(s.values.get("controllers"))
	for _, c := range controllers {
		s.controller(c, len(controllers))
	}
	services := s.services()
	for _, svc := range services {
		s.service(svc, len(services))
	}
	s.configuration("configMaps", "ConfigMap", "data", "binaryData")
	s.configuration("secrets", "Secret", "stringData", "data")
	s.policies()
	s.rawResources()
}

// services are the enabled Services.
func (s *shaper) services() []given { return enabledItems(s.values.get("service")) }

// controllerOf is the controller that a Service or policy is for.
func (s *shaper) controllerOf(g given) string {
	if text := g.get("controller").text(); text != "" {
		return text
	}
	all := enabledItems(s.values.get("controllers"))
	if len(all) == 1 && s.major >= 4 {
		return lastOf(all[0].path)
	}
	if s.major == 2 {
		return "main"
	}
	return ""
}

// controller makes a workload.
func (s *shaper) controller(c given, count int) {
	id := lastOf(c.path)
	kind := c.get("type").text()
	if kind == "" {
		kind = "deployment"
	}
	name := s.nameOf(id, c, count, "")
	top := mapOf(c).set("metadata", s.metadata(name, c))
	pod := mapOf(c)
	labels := mapOf(given{path: c.path})
	for _, k := range sortedKeys(s.app) {
		labels.set(k, own(s.app[k]))
	}
	labels.set(s.controllerLabel(), own(id))
	annotations := mapOf(given{path: c.path})
	for _, g := range []given{s.values.get("defaultPodOptions"), c.get("pod")} {
		for _, k := range g.get("labels").keys() {
			labels.set(k, s.string(g.get("labels", k)))
		}
		for _, k := range g.get("annotations").keys() {
			annotations.set(k, s.string(g.get("annotations", k)))
		}
	}
	pod.set("metadata", mapOf(c).set("labels", labels).set("annotations", annotations))
	spec := s.podSpec(c, id)
	pod.set("spec", spec)
	selector := &made{path: c.path, fields: map[string]*made{}}
	match := &made{path: c.path, fields: map[string]*made{}}
	for _, k := range sortedKeys(s.app) {
		match.set(k, own(s.app[k]))
	}
	match.set(s.controllerLabel(), own(id))
	selector.set("matchLabels", match)
	s.workload(kind, top, pod, selector, c)
}

// workload completes an object of a controller's type.
func (s *shaper) workload(kind string, top, pod, selector *made, c given) {
	spec := mapOf(c)
	switch kind {
	case "deployment", "statefulset", "daemonset":
		spec.set("selector", selector).set("template", pod)
	}
	if kind == "deployment" || kind == "statefulset" {
		switch replicas := c.get("replicas"); {
		case replicas.ok:
			spec.set("replicas", copied(replicas))
		case !c.has("replicas"):
			spec.set("replicas", own(int64(1)))
		}
	}
	switch kind {
	case "deployment":
		spec.set("strategy", s.strategy(c))
		s.emit("apps/v1", "Deployment", top.set("spec", spec))
	case "statefulset":
		if claims := s.claimTemplates(c); claims != nil {
			spec.set("volumeClaimTemplates", claims)
		}
		s.emit("apps/v1", "StatefulSet", top.set("spec", spec))
	case "daemonset":
		s.emit("apps/v1", "DaemonSet", top.set("spec", spec))
	case "cronjob", "job":
		settings := c.get(kind)
		job := mapOf(c).set("template", pod)
		for _, k := range []string{"activeDeadlineSeconds", "ttlSecondsAfterFinished", "parallelism", "backoffLimit"} {
			job.setGiven(k, settings.get(k))
		}
		if pod.fields["spec"].fields["restartPolicy"] == nil {
			pod.fields["spec"].set("restartPolicy", own("Never"))
		}
		if kind == "job" {
			s.emit("batch/v1", "Job", top.set("spec", job))
			return
		}
		spec.setGiven("schedule", settings.get("schedule"))
		spec.setGiven("suspend", settings.get("suspend"))
		spec.set("jobTemplate", mapOf(c).set("spec", job))
		s.emit("batch/v1", "CronJob", top.set("spec", spec))
	default:
		s.refuse(c.get("type"), "%q is no type of a controller", kind)
	}
}

// strategy is a Deployment's: the chart recreates pods unless told otherwise.
func (s *shaper) strategy(c given) *made {
	out := mapOf(c.get("strategy"))
	kind := c.get("strategy")
	if kind.empty() {
		return out.set("type", own("Recreate"))
	}
	out.set("type", copied(kind))
	update := c.get("rollingUpdate")
	if kind.text() == "RollingUpdate" && (!update.get("surge").empty() || !update.get("unavailable").empty()) {
		rolling := mapOf(update)
		rolling.setGiven("maxSurge", update.get("surge"))
		rolling.setGiven("maxUnavailable", update.get("unavailable"))
		out.set("rollingUpdate", rolling)
	}
	return out
}

func (s *shaper) claimTemplates(c given) *made {
	claims := c.get("statefulset", "volumeClaimTemplates")
	out := listOf(claims)
	for _, claim := range claims.items() {
		if claim.isMap() && claim.enabled() {
			out.add(mapOf(claim).set("metadata", mapOf(claim).set("name", copied(claim.get("name")))))
		}
	}
	if len(out.list) == 0 {
		return nil
	}
	return out
}

// podOption is a field of the pod: the controller's own before the default for
// all. A map of its own replaces the default unless the strategy is to merge.
func (s *shaper) podOption(c given, option string) *made {
	def, mine := s.values.get("defaultPodOptions", option), c.get("pod", option)
	value := def
	if _, isBool := def.val.(bool); !isBool && def.empty() {
		value = given{path: def.path}
	}
	_, isBool := mine.val.(bool)
	switch {
	case s.major == 2 && c.get("pod").has(option):
		value = mine // the default only fills in keys that are not there
	case mine.isMap() && s.values.get("defaultPodOptionsStrategy").text() == "merge" && value.isMap():
		return s.merged(mine, value)
	case isBool && mine.ok, mine.isMap() && s.major >= 4, !mine.empty():
		value = mine
	}
	if _, isBool := value.val.(bool); !value.ok || value.empty() && !isBool {
		return nil
	}
	if option == "affinity" || option == "topologySpreadConstraints" {
		return s.tree(value)
	}
	return copied(value)
}

// merged lays a over b: what a has counts.
func (s *shaper) merged(a, b given) *made {
	if !a.isMap() || !b.isMap() {
		return copied(a)
	}
	out := mapOf(a)
	for _, k := range b.keys() {
		out.set(k, copied(b.get(k)))
	}
	for _, k := range a.keys() {
		switch {
		case !a.get(k).empty():
			out.set(k, s.merged(a.get(k), b.get(k)))
		case out.fields[k] == nil:
			out.set(k, copied(a.get(k)))
		}
	}
	return out
}

// podSpec makes the pod of a controller.
func (s *shaper) podSpec(c given, id string) *made {
	// A lack in the pod is shown at its options, else at the controller.
	spec := mapOf(c)
	if pod := c.get("pod"); pod.isMap() {
		spec.path = pod.path
	}
	for _, option := range []string{
		"securityContext", "hostname", "hostIPC", "hostPID", "hostUsers", "shareProcessNamespace", "dnsConfig", "hostAliases",
		"restartPolicy", "nodeSelector", "affinity", "tolerations", "hostNetwork", "runtimeClassName",
		"automountServiceAccountToken", "enableServiceLinks",
	} {
		spec.set(option, s.podOption(c, option))
	}
	s.podDefaults(spec)
	if policy := s.podOption(c, "dnsPolicy"); policy != nil {
		spec.set("dnsPolicy", policy)
	}
	if init := s.containers(c, c.get("initContainers"), id, "init"); init != nil {
		spec.set("initContainers", init)
	}
	containers := s.containers(c, c.get("containers"), id, "default")
	if containers == nil {
		s.refuse(c, "the controller %s has no container", id)
		containers = listOf(c)
	}
	spec.set("containers", containers)
	if volumes := s.volumes(id); volumes != nil {
		spec.set("volumes", volumes)
	}
	return spec
}

// podDefaults adds what the chart writes into every pod.
func (s *shaper) podDefaults(spec *made) {
	def := func(key string, v any) {
		if spec.fields[key] == nil {
			spec.set(key, own(v))
		}
	}
	def("automountServiceAccountToken", true)
	def("enableServiceLinks", s.major < 3)
	policy := &made{value: "ClusterFirst"}
	if host := spec.fields["hostNetwork"]; host != nil {
		switch v := host.value.(type) {
		case bool:
			if v {
				policy.value = "ClusterFirstWithHostNet"
			}
		case string:
			// A placeholder: which of the two is not known.
			policy.value = v
		}
	}
	spec.set("dnsPolicy", policy)
}

// containers makes a list of containers in the order of their dependencies.
func (s *shaper) containers(c, all given, id, kind string) *made {
	enabled := map[string]given{}
	for _, g := range enabledItems(all) {
		enabled[lastOf(g.path)] = g
	}
	order, ok := s.order(enabled)
	if !ok {
		s.refuse(all, "the containers of %s depend on each other in a circle, or on one that does not exist", id)
	}
	out := listOf(all)
	for _, name := range order {
		out.add(s.container(c, enabled[name], id, kind))
	}
	if len(out.list) == 0 {
		return nil
	}
	return out
}

// order sorts by dependsOn as the chart does: the first by name of those that
// wait for nothing is next. Version 2 had numbers instead.
func (s *shaper) order(items map[string]given) ([]string, bool) {
	waits := map[string][]string{}
	depends := false
	for name, g := range items {
		waits[name] = dependencies(g)
		depends = depends || len(waits[name]) > 0
	}
	names := sortedKeys(items)
	if s.major == 2 && !depends {
		slices.SortStableFunc(names, func(a, b string) int {
			return strings.Compare(orderKey(items[a])+a, orderKey(items[b])+b)
		})
		return names, true
	}
	var out []string
	for len(names) > 0 {
		next := slices.IndexFunc(names, func(n string) bool { return len(waits[n]) == 0 })
		if next < 0 {
			return out, false
		}
		done := names[next]
		out = append(out, done)
		names = slices.Delete(names, next, next+1)
		for n := range waits {
			waits[n] = slices.DeleteFunc(waits[n], func(w string) bool { return w == done })
		}
	}
	return out, true
}

func dependencies(g given) []string {
	switch on := g.get("dependsOn"); {
	case on.text() != "":
		return []string{on.text()}
	case on.isList():
		var out []string
		for _, item := range on.items() {
			out = append(out, item.text())
		}
		return out
	}
	return nil
}

// orderKey is how version 2 sorts by number: as text.
func orderKey(g given) string {
	if !g.get("order").ok {
		return "99-"
	}
	return scalarText(g.get("order").val) + "-"
}

// option is a field of a container: its own, else the controller's default.
func (s *shaper) option(c, container given, kind, key string) given {
	mine := container.get(key)
	def := c.get("defaultContainerOptions", key)
	applies := s.major >= 3 && def.ok && (kind != "init" || !c.get("applyDefaultContainerOptionsToInitContainers").ok || !c.get("applyDefaultContainerOptionsToInitContainers").empty())
	if applies && mine.empty() {
		return def
	}
	return mine
}

// container makes one container.
func (s *shaper) container(c, g given, id, kind string) *made {
	name := lastOf(g.path)
	if override := g.get("nameOverride").text(); override != "" {
		name = s.tpl(override)
	}
	out := mapOf(g).set("name", written(name, g))
	out.named = true
	merge := c.get("defaultContainerOptionsStrategy").text() == "merge"
	take := func(key string) *made {
		v := s.option(c, g, kind, key)
		if v.empty() {
			return nil
		}
		if def := c.get("defaultContainerOptions", key); merge && v.isMap() && def.isMap() && !slices.Equal(v.path, def.path) && s.option(c, given{}, kind, key).ok {
			return s.merged(v, def)
		}
		return copied(v)
	}
	if image := s.image(s.option(c, g, kind, "image")); image != nil {
		out.set("image", image)
	} else {
		s.refuse(g, "the container %s has no image with repository and tag", lastOf(g.path))
	}
	for _, key := range []string{"workingDir", "securityContext", "lifecycle", "ports", "resources", "restartPolicy"} {
		out.set(key, take(key))
	}
	for _, key := range []string{"command", "args"} {
		switch v := s.option(c, g, kind, key); {
		case v.empty():
		case v.isList():
			out.set(key, copied(v))
		default:
			list := listOf(v)
			list.add(copied(v))
			out.set(key, list)
		}
	}
	if env := s.env(s.option(c, g, kind, "env")); env != nil {
		out.set("env", env)
	}
	if from := s.envFrom(s.option(c, g, kind, "envFrom")); from != nil {
		out.set("envFrom", from)
	}
	s.probes(out, s.option(c, g, kind, "probes"), s.primaryPort(id))
	if mounts := s.mounts(c, id, lastOf(g.path)); mounts != nil {
		out.set("volumeMounts", mounts)
	}
	return out
}

// image joins repository and tag.
func (s *shaper) image(g given) *made {
	if text := g.text(); text != "" {
		return s.string(g)
	}
	repository, tag := g.get("repository"), g.get("tag")
	if repository.empty() || !repository.ok {
		return nil
	}
	name := scalarText(repository.val)
	if tag.empty() {
		if s.major != 1 {
			return nil
		}
		return written(name, repository)
	}
	return written(name+":"+s.tpl(scalarText(tag.val)), g)
}

// env makes a list of variables of a list or of a map.
func (s *shaper) env(g given) *made {
	out := listOf(g)
	switch {
	case g.isList():
		for _, item := range g.items() {
			if item.isMap() {
				out.add(s.variable(item.get("name").text(), item, item))
			}
		}
	case g.isMap():
		items := map[string]given{}
		for _, name := range g.keys() {
			items[name] = g.get(name)
		}
		order, ok := s.order4(items)
		if !ok {
			s.refuse(g, "variables depend on each other in a circle, or on one that does not exist")
		}
		for _, name := range order {
			v := items[name]
			if !v.ok {
				out.add(mapOf(v).set("name", written(name, v)))
				continue
			}
			out.add(s.variable(name, v, v))
		}
	}
	if len(out.list) == 0 {
		return nil
	}
	return out
}

// order4 sorts variables by dependsOn; no version gives them numbers.
func (s *shaper) order4(items map[string]given) ([]string, bool) {
	newer := *s
	newer.major = 4
	return newer.order(items)
}

// variable makes an entry of env.
func (s *shaper) variable(name string, v, at given) *made {
	out := mapOf(at).set("name", written(name, at))
	if !v.isMap() {
		return out.set("value", s.string(v))
	}
	switch {
	case v.has("value"):
		if value := v.get("value"); value.ok {
			out.set("value", s.string(value))
		}
	case v.has("valueFrom"):
		out.set("valueFrom", s.tree(v.get("valueFrom")))
	default:
		from := mapOf(v)
		for _, k := range v.keys() {
			if k != "name" && k != "dependsOn" {
				from.set(k, s.tree(v.get(k)))
			}
		}
		out.set("valueFrom", from)
	}
	return out
}

// envFrom resolves the references to ConfigMaps and Secrets of the release.
func (s *shaper) envFrom(g given) *made {
	out := listOf(g)
	for _, item := range g.items() {
		entry := mapOf(item)
		for _, ref := range []struct{ short, long, values string }{
			{"configMap", "configMapRef", "configMaps"}, {"secret", "secretRef", "secrets"},
		} {
			kind := strings.ToUpper(ref.short[:1]) + ref.short[1:]
			switch {
			case item.has(ref.short):
				name := item.get(ref.short)
				text := s.tpl(name.text())
				if full, ok := s.itemName(ref.values, kind, name.text()); ok {
					text = full
				}
				entry.set(ref.long, mapOf(name).set("name", written(text, name)))
			case item.has(ref.long):
				at := item.get(ref.long)
				if id := at.get("identifier"); !id.empty() {
					full, ok := s.itemName(ref.values, kind, id.text())
					if !ok {
						s.refuse(id, "no %s has the identifier %q", ref.values, id.text())
					}
					entry.set(ref.long, mapOf(at).set("name", written(full, id)))
				} else {
					entry.set(ref.long, s.tree(at))
				}
			}
		}
		entry.setGiven("prefix", item.get("prefix"))
		out.add(entry)
	}
	if len(out.list) == 0 {
		return nil
	}
	return out
}

// itemName is the name of the release's own object that has an identifier.
func (s *shaper) itemName(values, kind, id string) (string, bool) {
	all := enabledItems(s.values.get(values))
	for _, g := range all {
		if lastOf(g.path) == id {
			return s.nameOf(id, g, len(all), kind), true
		}
	}
	return "", false
}

// primaryPort is the port that a controller's probes go to: the first by name,
// or the one marked as primary, of the Service likewise.
func (s *shaper) primaryPort(controller string) given {
	var service, port given
	for _, svc := range s.services() {
		if s.controllerOf(svc) != controller {
			continue
		}
		if !service.ok || !svc.get("primary").empty() && service.get("primary").empty() {
			service = svc
		}
	}
	for _, p := range enabledItems(service.get("ports")) {
		if !port.ok || !p.get("primary").empty() && port.get("primary").empty() {
			port = p
		}
	}
	return port
}

// probes adds the probes that are on. One that is not custom asks the primary
// port, and is left out where there is none.
func (s *shaper) probes(container *made, probes, port given) {
	for _, name := range probes.keys() {
		probe := probes.get(name)
		if probe.get("enabled").empty() {
			continue
		}
		if !probe.get("custom").empty() {
			if spec := probe.get("spec"); spec.isMap() && !spec.empty() {
				container.set(name+"Probe", s.tree(spec))
			}
			continue
		}
		if !port.ok {
			continue
		}
		made := mapOf(probe)
		for _, field := range []struct {
			key string
			def int64
		}{{"initialDelaySeconds", 0}, {"failureThreshold", 3}, {"timeoutSeconds", 1}, {"periodSeconds", 10}} {
			if v := probe.get("spec", field.key); v.ok {
				made.set(field.key, copied(v))
			} else {
				made.set(field.key, own(field.def))
			}
		}
		kind := probe.get("type").text()
		if kind == "AUTO" {
			kind = port.get("protocol").text()
		}
		action, key := mapOf(probe), "tcpSocket"
		switch kind {
		case "HTTP", "HTTPS":
			key = "httpGet"
			action.setGiven("path", probe.get("path"))
			action.set("scheme", own(kind))
		case "GRPC":
			key = "grpc"
		}
		number := port.get("targetPort")
		if number.empty() {
			number = port.get("port")
		}
		if mine := probe.get("port"); !mine.empty() {
			number = mine
		}
		if number.ok {
			action.set("port", s.port(number))
		}
		container.set(name+"Probe", made.set(key, action))
	}
}

// port is a number, also where a template or a string writes it.
func (s *shaper) port(g given) *made {
	text, is := g.val.(string)
	if !is {
		return copied(g)
	}
	filled := s.tpl(text)
	if n, ok := indexToken(filled, 1<<16); ok {
		return written(int64(n), g)
	}
	return written(filled, g)
}
