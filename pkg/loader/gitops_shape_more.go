package loader

import "strconv"

func itoa(n int) string { return strconv.Itoa(n) }

// indexToken reads a number from 0 below limit.
func indexToken(token string, limit int) (int, bool) {
	n, err := strconv.Atoi(token)
	return n, err == nil && n >= 0 && n < limit
}

// volumes makes the volumes of a pod: those of the persistence items that are
// mounted into it.
func (s *shaper) volumes(id string) *made {
	out := listOf(s.values.get("persistence"))
	for _, item := range s.persistence() {
		global, advanced := item.get("globalMounts"), item.get("advancedMounts")
		if !global.empty() || !advanced.get(id).empty() || advanced.empty() {
			out.add(s.volume(item))
		}
	}
	if len(out.list) == 0 {
		return nil
	}
	return out
}

func (s *shaper) persistence() []given {
	var out []given
	all := s.values.get("persistence")
	for _, k := range all.keys() {
		item := all.get(k)
		// Before version 2 an item was off unless it said otherwise.
		if item.isMap() && (s.major == 1 && !item.get("enabled").empty() || s.major != 1 && item.enabled()) {
			out = append(out, item)
		}
	}
	return out
}

// volume makes a volume of a persistence item.
func (s *shaper) volume(item given) *made {
	id := lastOf(item.path)
	out := mapOf(item).set("name", written(id, item))
	source := mapOf(item)
	switch kind := item.get("type").text(); kind {
	case "", "pvc", "persistentVolumeClaim":
		name := s.nameOf(id, item, len(s.persistence()), "PersistentVolumeClaim")
		if claim := item.get("existingClaim"); !claim.empty() {
			source.set("claimName", s.string(claim))
		} else {
			source.set("claimName", written(name, item))
		}
		out.set("persistentVolumeClaim", source)
	case "configMap", "secret":
		key, values, object := "name", "configMaps", "ConfigMap"
		if kind == "secret" {
			key, values, object = "secretName", "secrets", "Secret"
		}
		name := item.get("name")
		if id := item.get("identifier"); name.empty() && !id.empty() {
			full, ok := s.itemName(values, object, id.text())
			if !ok {
				s.refuse(id, "no %s has the identifier %q", values, id.text())
			}
			source.set(key, written(full, id))
		} else if !name.empty() {
			source.set(key, s.string(name))
		}
		source.setGiven("items", item.get("items"))
		source.setGiven("defaultMode", item.get("defaultMode"))
		out.set(kind, source)
	case "emptyDir":
		source.setGiven("medium", item.get("medium"))
		source.setGiven("sizeLimit", item.get("sizeLimit"))
		out.set("emptyDir", source)
	case "hostPath":
		source.setGiven("path", item.get("hostPath"))
		source.setGiven("type", item.get("hostPathType"))
		out.set("hostPath", source)
	case "nfs":
		source.setGiven("server", item.get("server"))
		source.setGiven("path", item.get("path"))
		out.set("nfs", source)
	case "custom":
		spec := item.get("volumeSpec")
		for _, k := range spec.keys() {
			out.set(k, copied(spec.get(k)))
		}
		out.set("name", written(id, item))
	case "image", "ephemeral", "projected": // since 4
		if s.major < 4 {
			s.refuse(item.get("type"), "%q is no type of persistence before version 4", kind)
			break
		}
		if kind == "image" {
			if reference := s.image(item.get("image")); reference != nil {
				source.set("reference", reference)
			}
			source.setGiven("pullPolicy", item.get("pullPolicy"))
		}
		if kind == "projected" {
			source.setGiven("sources", item.get("sources"))
			source.setGiven("defaultMode", item.get("defaultMode"))
		}
		out.set(kind, source)
	default:
		s.refuse(item.get("type"), "%q is no type of persistence", kind)
	}
	return out
}

// mounts makes the volume mounts of a container.
func (s *shaper) mounts(c given, controller, container string) *made {
	out := listOf(s.values.get("persistence"))
	for _, item := range s.persistence() {
		id := lastOf(item.path)
		s.mount(out, id, item, item.get("globalMounts"), item.get("advancedMounts"), item.get("advancedMounts", controller, container))
	}
	for _, claim := range c.get("statefulset", "volumeClaimTemplates").items() {
		if claim.isMap() && claim.enabled() {
			s.mount(out, claim.get("name").text(), claim, claim.get("globalMounts"), claim.get("advancedMounts"), claim.get("advancedMounts", container))
		}
	}
	if len(out.list) == 0 {
		return nil
	}
	return out
}

// mount adds the mounts of one item. A mount without a path takes that of the
// one before it.
func (s *shaper) mount(out *made, id string, item, global, advanced, mine given) {
	path := written("/"+id, item)
	if item.get("type").text() == "hostPath" && item.get("hostPath").ok {
		path = copied(item.get("hostPath"))
	}
	if global.empty() && advanced.empty() {
		out.add(mapOf(item).set("name", written(id, item)).set("mountPath", path))
		return
	}
	for _, list := range []given{global, mine} {
		for _, m := range list.items() {
			if p := m.get("path"); !p.empty() {
				path = copied(p)
			}
			mount := mapOf(m).set("name", written(id, item)).set("mountPath", path)
			for _, k := range []string{"subPath", "subPathExpr", "readOnly", "mountPropagation"} {
				mount.setGiven(k, m.get(k))
			}
			out.add(mount)
		}
	}
}

// service makes a Service.
func (s *shaper) service(g given, count int) {
	id := lastOf(g.path)
	spec := mapOf(g)
	spec.setGiven("type", g.get("type"))
	for _, k := range []string{"clusterIP", "loadBalancerIP", "externalName", "externalTrafficPolicy", "internalTrafficPolicy", "ipFamilyPolicy", "ipFamilies", "externalIPs"} {
		spec.setGiven(k, g.get(k))
	}
	ports := listOf(g.get("ports"))
	for _, p := range enabledItems(g.get("ports")) {
		if p.get("port").empty() {
			if s.major >= 3 {
				s.refuse(p, "the port %s of the Service %s has no number", lastOf(p.path), id)
			}
			continue
		}
		ports.add(s.servicePort(p))
	}
	if len(ports.list) == 0 && g.get("type").text() != "ExternalName" {
		return // the older charts leave out a Service without ports
	}
	selector := mapOf(g)
	for _, k := range sortedKeys(s.app) {
		selector.set(k, own(s.app[k]))
	}
	if s.major >= 2 {
		controller := s.controllerOf(g)
		if controller == "" {
			s.refuse(g, "the Service %s names no controller", id)
		}
		selector.set(s.controllerLabel(), own(controller))
	}
	for _, k := range g.get("extraSelectorLabels").keys() {
		selector.set(k, s.string(g.get("extraSelectorLabels", k)))
	}
	spec.set("ports", ports).set("selector", selector)
	s.emit("v1", "Service", mapOf(g).set("metadata", s.metadata(s.nameOf(id, g, count, "Service"), g)).set("spec", spec))
}

func (s *shaper) servicePort(p given) *made {
	out := mapOf(p).set("name", written(lastOf(p.path), p)).set("port", s.port(p.get("port")))
	target := p.get("targetPort")
	if target.empty() {
		target = p.get("port")
	}
	out.set("targetPort", s.port(target))
	switch protocol := p.get("protocol").text(); protocol {
	case "", "HTTP", "HTTPS", "TCP":
		out.set("protocol", own("TCP"))
	default:
		out.set("protocol", copied(p.get("protocol")))
	}
	out.setGiven("nodePort", p.get("nodePort"))
	out.setGiven("appProtocol", p.get("appProtocol"))
	return out
}

// configuration makes ConfigMaps or Secrets.
func (s *shaper) configuration(values, kind string, fields ...string) {
	all := enabledItems(s.values.get(values))
	if s.major < 3 {
		all = switchedOn(s.values.get(values))
	}
	for _, g := range all {
		p := mapOf(g).set("metadata", s.metadata(s.nameOf(lastOf(g.path), g, len(all), kind), g))
		for _, field := range fields {
			if data := g.get(field); !data.empty() {
				p.set(field, s.tree(data))
			}
		}
		p.setGiven("type", g.get("type"))
		s.emit("v1", kind, p)
	}
}

// switchedOn returns the members that are maps and say that they are on.
func switchedOn(g given) []given {
	var out []given
	for _, k := range g.keys() {
		if item := g.get(k); item.isMap() && !item.get("enabled").empty() {
			out = append(out, item)
		}
	}
	return out
}

// policies makes the NetworkPolicies.
func (s *shaper) policies() {
	all := enabledItems(s.values.get("networkpolicies"))
	for _, g := range all {
		spec := mapOf(g)
		if g.has("podSelector") {
			spec.set("podSelector", copied(g.get("podSelector")))
		} else {
			match := mapOf(g)
			for _, k := range sortedKeys(s.app) {
				match.set(k, own(s.app[k]))
			}
			match.set(s.controllerLabel(), own(s.controllerOf(g)))
			for _, k := range g.get("extraSelectorLabels").keys() {
				match.set(k, s.string(g.get("extraSelectorLabels", k)))
			}
			spec.set("podSelector", mapOf(g).set("matchLabels", match))
		}
		spec.setGiven("policyTypes", g.get("policyTypes"))
		for _, k := range []string{"ingress", "egress"} {
			if rules := g.get("rules", k); !rules.empty() {
				spec.set(k, s.tree(rules))
			}
		}
		s.emit("networking.k8s.io/v1", "NetworkPolicy", mapOf(g).set("metadata", s.metadata(s.nameOf(lastOf(g.path), g, len(all), "NetworkPolicy"), g)).set("spec", spec))
	}
}

// rawResources copies the objects that stand in the values as they are.
func (s *shaper) rawResources() {
	all := enabledItems(s.values.get("rawResources"))
	for _, g := range all {
		body := g.get("manifest")
		if !body.isMap() {
			body = g.get("spec")
		}
		apiVersion, kind := g.get("apiVersion").text(), g.get("kind").text()
		if !body.isMap() || apiVersion == "" || kind == "" {
			continue
		}
		p := s.tree(body)
		p.set("metadata", s.metadata(s.nameOf(lastOf(g.path), g, len(all), kind), g))
		s.emit(apiVersion, kind, p)
	}
}
