package facts

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/pod-security-admission/api"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/source"
)

const (
	tailscaleGroup = "tailscale.com"
	// tailscaleMain and tailscaleInit are the containers of the operator's proxies.
	tailscaleMain = "tailscale"
	tailscaleInit = "sysctler"
	// usualTailscaleNamespace is where the operator's chart and manifests put it.
	usualTailscaleNamespace = "tailscale"
)

// readConnectors notes the routes for which Tailscale's operator refuses a
// Connector: what is no prefix, and host bits (FG C6; tailscale/tailscale,
// cmd/k8s-operator/connector.go).
func readConnectors(ix *index) {
	for _, o := range ix.ofKind(tailscaleGroup, "Connector") {
		spec := root(o).get("spec")
		for says, n := range map[string]node{
			"subnetRouter.advertiseRoutes": spec.get("subnetRouter", "advertiseRoutes"),
			"appConnector.routes":          spec.get("appConnector", "routes"),
		} {
			for _, item := range n.texts() {
				p := grammar.ParsePrefix(strings.TrimSpace(item.text()), 0)
				if why := refusedRoute(p); why != "" {
					ix.invalidRange(InvalidRange{
						Ref: item.ref(), Text: item.text(), Says: says, Why: why,
						Fate: "the operator takes the Connector for invalid and announces none of its routes",
					})
				}
			}
		}
	}
}

// refusedRoute says why a route that is to be announced is refused, "" for one
// that is taken or cannot be read.
func refusedRoute(p grammar.Prefix) string {
	switch {
	case p.Unknown, !p.Valid && !meantAsRange(p.Text):
		return ""
	case !p.Valid:
		return "it is no prefix"
	case p.Bare:
		return "it is an address without a mask"
	case p.HostBits:
		return "it has bits set right of its mask; the network is " + p.Prefix.String()
	default:
		return ""
	}
}

// tailscaleProxies are the pods that Tailscale's operator makes of Connectors,
// ProxyGroups, Services and Ingresses, in its own namespace (FG C6;
// tailscale/tailscale, cmd/k8s-operator: sts.go, proxygroup_specs.go, svc.go and
// deploy/manifests). Each is judged like a pod of the tree, at the object that
// asks for it or at the ProxyClass that changes it.
func tailscaleProxies(ix *index, cs *clusterSet, pods []*podView, catalog *images.Catalog) []*podView {
	r := &tailscaleReader{ix: ix, cs: cs, catalog: catalog, operators: tailscaleOperators(ix, pods)}
	for _, o := range ix.ofKind(tailscaleGroup, "Connector") {
		r.connector(o)
	}
	for _, o := range ix.ofKind(tailscaleGroup, "ProxyGroup") {
		r.proxyGroup(o)
	}
	for _, o := range ix.ofKind("", "Service") {
		r.service(o)
	}
	for _, o := range ix.ofKind("networking.k8s.io", "Ingress") {
		r.ingress(o)
	}
	return r.out
}

// tailscaleOperator is what is known of an operator of the tree.
type tailscaleOperator struct {
	object *source.Object
	// namespace is where it runs and makes its proxies, "" unknown.
	namespace string
	// image is that of the proxies, class the ProxyClass of those that name none.
	image, class value
	// everyLoadBalancer: it takes Services of type LoadBalancer without a class.
	everyLoadBalancer bool
	ingressClass      string
}

// tailscaleOperators finds the operators of the tree: their pods, and the
// releases of their chart.
func tailscaleOperators(ix *index, pods []*podView) []tailscaleOperator {
	var out []tailscaleOperator
	for _, p := range pods {
		for _, c := range p.containers {
			if c.image.Repository != "tailscale/k8s-operator" && !strings.HasSuffix(c.image.Repository, "/tailscale/k8s-operator") {
				continue
			}
			out = append(out, tailscaleOperator{
				object: p.object, namespace: normalNamespace(p.object.Namespace),
				image: c.env("PROXY_IMAGE"), class: c.env("PROXY_DEFAULT_CLASS"),
				everyLoadBalancer: isTrue(c.env("OPERATOR_DEFAULT_LOAD_BALANCER")),
				ingressClass:      c.env("OPERATOR_INGRESS_CLASS_NAME").Text,
			})
		}
	}
	for _, o := range ix.objects {
		for _, release := range chartReleases(o) {
			if release.chart == "tailscale-operator" && !slices.ContainsFunc(out, func(t tailscaleOperator) bool { return t.object.MadeBy == o }) {
				out = append(out, releasedOperator(o, release))
			}
		}
	}
	return out
}

// releasedOperator is an operator whose chart is not in the tree.
func releasedOperator(o *source.Object, release chartRelease) tailscaleOperator {
	spec := root(o).get("spec")
	namespace := cmp.Or(spec.get("targetNamespace").text(), spec.get("destination", "namespace").text())
	if namespace == "" && o.Kind == "HelmRelease" {
		namespace = o.Namespace
	}
	if placeholder(namespace) != "" {
		namespace = ""
	}
	values := release.values
	elsewhere := release.elsewhere || len(release.from) > 0
	if _, is := values.str(); is {
		docs, broken := values.documents()
		if elsewhere = elsewhere || len(broken) > 0 || len(docs) != 1; !elsewhere {
			values = docs[0]
		}
	}
	out := tailscaleOperator{object: o, namespace: namespace, image: value{State: Absent}, class: value{State: Absent}}
	switch class := values.get("proxyConfig", "defaultProxyClass"); {
	case class.text() != "":
		out.class = literal(class.text(), class.ref())
	case elsewhere:
		out.class = value{State: Unknown, Ref: values.ref()}
	}
	if repository, tag := values.get("proxyConfig", "image", "repository").text(), values.get("proxyConfig", "image", "tag").text(); repository != "" || tag != "" {
		out.image = value{State: Present, Text: strings.TrimSuffix(cmp.Or(repository, "tailscale/tailscale")+":"+tag, ":")}
	}
	out.ingressClass = values.get("ingressClass", "name").text()
	return out
}

type tailscaleReader struct {
	ix        *index
	cs        *clusterSet
	catalog   *images.Catalog
	operators []tailscaleOperator
	out       []*podView
}

// operatorOf returns the operator that acts on an object; false where the tree
// has none, or several that differ are equally near.
func (r *tailscaleReader) operatorOf(o *source.Object) (tailscaleOperator, bool) {
	var best []tailscaleOperator
	bestRank := -1
	for _, t := range r.operators {
		if r.ix.apart != nil && r.ix.apart(o, t.object) {
			continue
		}
		switch rank := nearness(o.Unit, t.object.Unit); {
		case rank > bestRank:
			best, bestRank = []tailscaleOperator{t}, rank
		case rank == bestRank:
			best = append(best, t)
		}
	}
	if len(best) == 0 {
		return tailscaleOperator{class: value{State: Unknown}, image: value{State: Absent}}, false
	}
	for _, other := range best[1:] {
		if other.namespace != best[0].namespace || other.class.Text != best[0].class.Text || other.class.State != best[0].class.State {
			return tailscaleOperator{class: value{State: Unknown}, image: value{State: Absent}}, false
		}
	}
	return best[0], best[0].namespace != ""
}

// proxy is a proxy that is asked for.
type proxy struct {
	asks node
	kind string // of the object, as the operator's labels have it
	name string // of the StatefulSet, "" where the cluster makes it up
	why  string
	// userSpace: it needs no kernel, and has no init container.
	userSpace bool
	// class names the ProxyClass that the object itself asks for; operators' default
	// counts for what names none, where they have one for its kind.
	class     node
	byDefault bool
	replicas  node
	env       []madeVariable
	routes    []PrefixAt
	side      part
}

type madeVariable struct {
	name  string
	value any
	from  node
}

// connector: a subnet router, exit node or app connector. Its routes are in the
// configuration file of tailscaled, so that nothing but the init container turns
// forwarding on. The operator's default ProxyClass is not for Connectors.
func (r *tailscaleReader) connector(o *source.Object) {
	spec := root(o).get("spec")
	p := proxy{asks: spec, kind: "connector", class: spec.get("proxyClass"), replicas: spec.get("replicas"), side: partServer}
	routes := spec.get("subnetRouter", "advertiseRoutes")
	switch {
	case spec.get("subnetRouter").exists():
		p.asks, p.why = spec.get("subnetRouter"), "is a subnet router"
	case spec.get("appConnector").exists():
		p.asks, p.why = spec.get("appConnector"), "is an app connector"
		routes = spec.get("appConnector", "routes")
	case spec.get("exitNode").boolean() == Present:
		p.asks, p.why = spec.get("exitNode"), "is an exit node"
	default:
		return // the operator refuses it
	}
	for _, item := range routes.texts() {
		route, valid := prefixAt(grammar.ParsePrefix(strings.TrimSpace(item.text()), 0), item.ref())
		if valid {
			p.routes = append(p.routes, route)
		}
	}
	if exit := spec.get("exitNode"); exit.boolean() == Present {
		for _, everything := range []string{"0.0.0.0/0", "::/0"} {
			p.routes = append(p.routes, PrefixAt{Prefix: everything, Text: everything, Ref: exit.ref()})
		}
	}
	r.add(p)
}

// proxyGroup: proxies for several Services or Ingresses, both kinds in the
// kernel. Those of the API server work in user space, without a tunnel that this
// program judges.
func (r *tailscaleReader) proxyGroup(o *source.Object) {
	spec := root(o).get("spec")
	kind := spec.get("type")
	p := proxy{
		asks: kind, kind: "proxygroup", name: o.Name, class: spec.get("proxyClass"), byDefault: true,
		replicas: spec.get("replicas"), side: partServer,
	}
	switch kind.text() {
	case "egress":
		p.why = "forwards what the cluster sends to the tailnet"
	case "ingress":
		p.why = "forwards what the tailnet sends to Services"
	default:
		return
	}
	r.add(p)
}

// service: annotations and the load balancer's class ask for a proxy (svc.go).
func (r *tailscaleReader) service(o *source.Object) {
	top := root(o)
	annotation := func(key string) node {
		n := top.get("metadata", "annotations", tailscaleGroup+"/"+key)
		if n.text() == "" {
			return node{}
		}
		return n
	}
	spec := top.get("spec")
	if annotation("proxy-group").exists() || spec.get("clusterIP").text() == "None" {
		return // the group's pods do it, or the operator refuses it
	}
	t, _ := r.operatorOf(o)
	class := spec.get("loadBalancerClass")
	balanced := spec.get("type").text() == "LoadBalancer" && (class.text() == tailscaleMain || !class.exists() && t.everyLoadBalancer)
	named := spec.get("type").text() == "ExternalName"
	p := proxy{kind: "svc", class: proxyClassOf(top), byDefault: true, side: partServer}
	switch expose := annotation("expose"); {
	case expose.text() == "true" && named && spec.get("externalName").text() != "":
		p.asks, p.why = expose, "forwards what the tailnet sends to "+spec.get("externalName").text()
		p.env = []madeVariable{{"TS_EXPERIMENTAL_DEST_DNS_NAME", spec.get("externalName").text(), spec.get("externalName")}}
	case (expose.text() == "true" || balanced) && !named:
		p.asks, p.why = expose, "forwards what the tailnet sends to the Service"
		if balanced && !expose.exists() {
			if p.asks = class; !class.exists() {
				p.asks = spec.get("type")
			}
		}
		destination := madeVariable{name: "TS_DEST_IP", value: atRunTime("the Service's clusterIP")}
		if address := spec.get("clusterIP"); address.text() != "" {
			destination.value, destination.from = address.text(), address
		}
		p.env = []madeVariable{destination}
	default:
		for _, target := range []struct{ key, env string }{
			{"tailnet-ip", "TS_TAILNET_TARGET_IP"}, {"ts-tailnet-target-ip", "TS_TAILNET_TARGET_IP"}, {"tailnet-fqdn", "TS_TAILNET_TARGET_FQDN"},
		} {
			if n := annotation(target.key); n.exists() && !p.asks.exists() {
				p.asks, p.why = n, "forwards what the cluster sends to "+n.text()+" of the tailnet"
				p.env = []madeVariable{{target.env, n.text(), n}}
			}
		}
	}
	if p.asks.exists() {
		r.add(p)
	}
}

// ingress: a proxy in user space, unless it also forwards what the cluster sends
// to its own address.
func (r *tailscaleReader) ingress(o *source.Object) {
	top := root(o)
	t, _ := r.operatorOf(o)
	class := top.get("spec", "ingressClassName")
	if class.text() != cmp.Or(t.ingressClass, tailscaleMain) || top.get("metadata", "annotations", tailscaleGroup+"/proxy-group").text() != "" {
		return
	}
	p := proxy{asks: class, kind: "ingress", class: proxyClassOf(top), byDefault: true, userSpace: true, why: "answers for an Ingress", side: partProxy}
	if n := top.get("metadata", "annotations", tailscaleGroup+"/experimental-forward-cluster-traffic-via-ingress"); n.text() == "true" {
		p.asks, p.userSpace, p.side, p.why = n, false, partServer, "forwards what the cluster sends to an Ingress"
	}
	r.add(p)
}

// proxyClassOf: a label wins over the annotation.
func proxyClassOf(top node) node {
	if label := top.get("metadata", "labels", tailscaleGroup+"/proxy-class"); label.exists() {
		return label
	}
	return top.get("metadata", "annotations", tailscaleGroup+"/proxy-class")
}

// add makes the pod of a proxy.
func (r *tailscaleReader) add(p proxy) {
	asks := p.asks.obj
	operator, known := r.operatorOf(asks)
	namespace := cmp.Or(operator.namespace, usualTailscaleNamespace)
	w := newWorkload(p.asks, "StatefulSet", namespace, p.name)
	image := operator.image.Text
	if operator.image.State != Present || image == "" {
		image = "tailscale/tailscale"
	}
	w.set(madeTemplate, map[string]any{"metadata": map[string]any{}, "spec": map[string]any{}})
	if !p.userSpace {
		w.set(madeTemplate+"/spec/initContainers", []any{map[string]any{
			"name": tailscaleInit, "image": image, "securityContext": map[string]any{"privileged": true}, "command": []any{"/bin/sh", "-c"},
			"args": []any{"sysctl -w net.ipv4.ip_forward=1 && if sysctl net.ipv6.conf.all.forwarding; then sysctl -w net.ipv6.conf.all.forwarding=1; fi"},
		}})
	}
	main := map[string]any{"name": tailscaleMain, "image": image}
	if !p.userSpace {
		main["securityContext"] = map[string]any{"privileged": true}
	}
	w.set(madeTemplate+"/spec/containers", []any{main})
	mode := "false"
	if p.userSpace {
		mode = "true"
	}
	w.variable("/containers/0", "TS_USERSPACE", mode)
	w.variable("/containers/0", "TS_EXPERIMENTAL_VERSIONED_CONFIG_DIR", "/etc/tsconfig/$(POD_NAME)")
	for _, v := range p.env {
		if at := w.variable("/containers/0", v.name, v.value); v.from.exists() {
			w.places.copied[at+"/value"] = v.from.ref()
		}
	}
	selector := "tailscale.com/parent-resource=" + asks.Name + ",tailscale.com/parent-resource-type=" + p.kind
	if p.kind == "svc" || p.kind == "ingress" {
		selector = "tailscale.com/parent-resource=" + asks.Name + ",tailscale.com/parent-resource-ns=" + normalNamespace(asks.Namespace) + ",tailscale.com/parent-resource-type=" + p.kind
	}
	labels := map[string]any{"tailscale.com/managed": "true"}
	for _, pair := range strings.Split(selector, ",") {
		key, text, _ := strings.Cut(pair, "=")
		labels[key] = text
	}
	w.set(madeTemplate+"/metadata/labels", labels)
	w.take("/spec/replicas", p.replicas)

	m := &maker{
		asks: p.asks, by: "Tailscale's operator", role: Gateway, side: p.side, advertised: p.routes, namespaceKnown: known, ownState: true,
		why: "Tailscale's operator makes a proxy of " + asks.Kind + " " + qualified(asks.Namespace, asks.Name) + ", which " + p.why,
	}
	if p.side == partProxy {
		m.role = Client
	}
	if name, from, state := className(p, operator); state == Unknown {
		w.object.Unseen = []string{""}
	} else if name != "" {
		r.applyClass(w, p, m, name, from)
	}
	r.unplaced(p, known)
	pod := w.view(r.ix, r.cs, r.catalog, m)
	pod.pod.Workload = "pods/" + selector
	if p.name != "" {
		pod.pod.Workload = "sts/" + p.name
	}
	r.out = append(r.out, pod)
}

// unplaced notes that a proxy may be refused where the operator usually runs,
// when nothing in the tree says where this one does.
func (r *tailscaleReader) unplaced(p proxy, known bool) {
	namespace, state := r.ix.find("Namespace", "", usualTailscaleNamespace, p.asks.obj)
	enforce := root(namespace).get("metadata", "labels", api.EnforceLevelLabel)
	if known || state != Present || !enforce.exists() || enforce.text() == string(api.LevelPrivileged) {
		return
	}
	r.ix.gapAt(finding.Unresolved, p.asks.obj, p.asks.ref(), "whether Pod Security admits the proxy", reason{text: "the operator that makes it is not in the tree, and so neither is its namespace", do: "add it", outside: true},
		"namespace "+usualTailscaleNamespace+" would be held against what it enforces: VPN105 stays silent about the proxy", "VPN105")
}

// className is the name of the ProxyClass that a proxy gets, and the place that
// says it.
func className(p proxy, operator tailscaleOperator) (name string, from source.Ref, state Known) {
	switch {
	case p.class.exists():
		name, is := p.class.str()
		if !is || placeholder(name) != "" {
			return "", p.class.ref(), Unknown
		}
		return name, p.class.ref(), Present
	case !p.byDefault:
		return "", source.Ref{}, Absent
	default:
		return operator.class.Text, operator.class.Ref, operator.class.State
	}
}

// applyClass lays a ProxyClass over the proxy (applyProxyClassToStatefulSet of
// sts.go). What of it cannot be seen may change anything.
func (r *tailscaleReader) applyClass(w *workload, p proxy, m *maker, name string, from source.Ref) {
	class, state := r.ix.find("ProxyClass", "", name, p.asks.obj)
	if state != Present || groupOf(class) != tailscaleGroup {
		w.object.Unseen = []string{""}
		r.ix.gapAt(finding.Unresolved, p.asks.obj, from, "what ProxyClass "+name+" changes in the proxy", notInTree("it", "lint it together with that ProxyClass"),
			"privileges, sysctls and environment of the proxy are not known: VPN101, VPN102, VPN104, VPN105, VPN108 and VPN112 stay silent about it",
			"VPN101", "VPN102", "VPN104", "VPN105", "VPN108", "VPN112")
		return
	}
	spec := root(class).get("spec")
	if accept := spec.get("tailscale", "acceptRoutes"); accept.boolean() != Absent && p.kind != "proxygroup" {
		m.acceptRoutes = accept
	}
	pod := spec.get("statefulSet", "pod")
	if !pod.exists() {
		return
	}
	for _, key := range []string{"securityContext", "nodeName", "nodeSelector", "affinity", "tolerations", "dnsPolicy", "dnsConfig"} {
		w.take(madeTemplate+"/spec/"+key, pod.get(key))
	}
	for _, key := range []string{"labels", "annotations"} {
		for _, name := range pod.get(key).keys() {
			w.take(source.Ref{Pointer: madeTemplate + "/metadata"}.Child(key, name).Pointer, pod.get(key, name))
		}
	}
	r.applyContainer(w, "/containers/0", pod.get("tailscaleContainer"))
	if !p.userSpace {
		r.applyContainer(w, "/initContainers/0", pod.get("tailscaleInitContainer"))
	}
}

func (r *tailscaleReader) applyContainer(w *workload, container string, overlay node) {
	at := madeTemplate + "/spec" + container
	// An empty securityContext takes the operator's away as well.
	security := overlay.get("securityContext")
	if !security.isMap() {
		security = node{}
	}
	w.take(at+"/securityContext", security)
	for _, key := range []string{"command", "args"} {
		// What runs there fails or works by these rights.
		w.decided(at+"/"+key, security)
	}
	for _, key := range []string{"requests", "limits"} {
		w.take(at+"/resources/"+key, overlay.get("resources", key))
	}
	if image := overlay.get("image"); image.text() != "" {
		w.take(at+"/image", image)
	}
	for _, entry := range overlay.get("env").items() {
		name := entry.get("name").text()
		if name == "" {
			continue
		}
		to := w.variable(container, name, entry.get("value").text())
		w.places.copied[to] = entry.ref()
	}
}
