package loader

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
