package loader

import (
	"slices"
	"strings"
)

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
