package facts

import (
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/source"
)

const podGatewaySettings = "/config/settings.sh"

// shellSettings are the assignments of a settings file, the last one of a name
// counting.
type shellSettings map[string]value

// settingsOf reads a settings file whose text stands at ref.
func settingsOf(text string, ref source.Ref) shellSettings {
	out := shellSettings{}
	for _, kv := range grammar.ParseEnvFile(text) {
		v := value{State: Present, Text: kv.Value.Text, Ref: ref.Within(kv.Value.Start, kv.Value.End)}
		if kv.Value.End <= kv.Value.Start {
			// An empty value has no bytes to point at.
			v.Ref, v.Moved = ref.Within(kv.Start, kv.End), true
		} else if text[kv.Value.Start:kv.Value.End] != kv.Value.Text {
			v.Moved = true
		}
		if !kv.Known {
			v.State, v.Why = Unknown, because(kv.Key+" is known only at run time", noAdvice)
		}
		out[kv.Key] = v
	}
	return out
}

func (s shellSettings) get(key string) value {
	if v, has := s[key]; has {
		return v
	}
	return value{State: Absent}
}

// podGateway reads the gateway's own side (FG C5): it forwards what its clients
// send and takes nothing of its own pod; the VPN client beside it does that.
func (r *tunnelReader) podGateway() {
	t := r.t
	t.Side, t.Interface = "server", "vxlan0"
	r.takesNothing("the gateway's routes are those of the VPN client beside it")
	t.Resolver.Rewrites, t.Resolver.Why = Absent, "only its clients are given another resolver"
	f := r.c.file(podGatewaySettings)
	if f.State == Unknown && f.Text == "" {
		t.Bypass.State = Unknown
		t.KillSwitch.State = Unknown
		r.missed(f.Why, f.Ref, aspectBypass, aspectKillSwitch)
		return
	}
	settings := shellSettings{}
	if f.Text != "" {
		t.Config = f.Ref
		settings = settingsOf(f.Text, f.Ref)
	}
	r.settingsList("VPN_LOCAL_CIDRS", settings)
	if v := settings.get("VXLAN_IP_NETWORK"); v.State == Present {
		if pool := poolOf(images.Octets24, v, value{}, ""); len(pool) > 0 {
			t.Pool = pool
		}
	}
	block := settings.get("VPN_BLOCK_OTHER_TRAFFIC")
	switch block.State {
	case Unknown:
		t.KillSwitch = Switch{State: Unknown, Ref: block.Ref, Why: block.Why.text}
		r.missed(block.Why, block.Ref, aspectKillSwitch)
	case Present:
		t.KillSwitch = Switch{State: known(block.Text == "true"), Ref: block.Ref, Why: "VPN_BLOCK_OTHER_TRAFFIC=" + clip(block.Text)}
	default:
		t.KillSwitch = Switch{State: Present, Ref: t.ContainerRef, Why: "VPN_BLOCK_OTHER_TRAFFIC is true by default"}
	}
}

// settingsList makes one list of the settings file the bypass list.
func (r *tunnelReader) settingsList(key string, settings shellSettings) {
	b := &r.t.Bypass
	k := images.Key{Key: key, Sep: " "}
	if r.family != nil {
		if found, has := r.family.Settings.Find(key); has {
			k = found
		}
	}
	b.Key, b.Separator = key, k.Sep
	if b.Separator == "" {
		b.Separator, k.Sep = " ", " "
	}
	v := settings.get(key)
	switch v.State {
	case Unknown:
		b.State, b.Ref = Unknown, v.Ref
		r.missed(v.Why, v.Ref, aspectBypass)
	case Present:
		b.Ref = v.Ref
		r.exemptionList(k, key, v)
	default:
		b.Ref = r.t.Config
		if v = (value{Text: k.Default, Ref: r.t.Config, Moved: true}); k.Default != "" {
			r.exemptionList(k, key, v)
		}
	}
}

// routedThroughGateway returns the tunnel that the pod-gateway's webhook gives
// to a pod that itself says nothing of a VPN: its default route then leads
// through the gateway, and what NOT_ROUTED_TO_GATEWAY_CIDRS does not list goes
// there too, the replies to the kubelet's probes among it.
func routedThroughGateway(p *podView) (Tunnel, bool) {
	if _, routed := webhookRoutes(p); !routed || p.runsPodGateway() {
		return Tunnel{}, false
	}
	settings, holder, found := gatewaySettings(p)
	at := p.spec.ref()
	r := &tunnelReader{pod: p, t: &Tunnel{
		Container: "gateway-sidecar", ContainerRef: at, Family: "pod-gateway", FamilyTitle: "pod-gateway",
		Kind: "other", Side: "client", UserSpace: Absent, Interface: "vxlan0",
		Bypass:     Bypass{State: Absent, Ref: at, Key: "NOT_ROUTED_TO_GATEWAY_CIDRS", Separator: " "},
		KillSwitch: Switch{State: Present, Ref: at, Why: "a routed pod has no other default route"},
		Masquerade: Switch{State: Absent, Ref: at, Why: "the gateway masquerades"},
		Clients:    Clients{State: Absent},
		Resolver: Resolver{
			Rewrites: Present, Ref: at, Split: Absent, Why: "the webhook gives routed pods the gateway's resolver",
		},
		RepliesKept: Absent,
	}}
	if found == Present {
		r.t.Config = holder
		at = holder
	}
	r.takesDefault(at, "the webhook's default route through the gateway", "0.0.0.0/0")
	r.t.Routes.MoreSpecificWin = true
	local := "local"
	switch found {
	case Present:
		r.settingsList("NOT_ROUTED_TO_GATEWAY_CIDRS", settings)
		if v := settings.get("DNS_LOCAL_CIDRS"); v.State != Absent {
			local = v.Text
		}
	case Absent:
		r.t.Bypass.State = Unknown
		r.missed(because("no ConfigMap with the gateway's settings.sh is in the tree", "lint it together with the gateway's chart"), at, aspectBypass)
	default:
		r.t.Bypass.State = Unknown
		r.missed(because("several ConfigMaps with a gateway's settings.sh are in the tree", noAdvice), at, aspectBypass)
	}
	// The gateway's resolver asks the cluster's for the names of these domains.
	r.t.Resolver.ReachesCluster = Unknown
	for _, domain := range strings.Fields(local) {
		if domain = strings.Trim(domain, "/"); domain == "local" || domain == "cluster.local" {
			r.t.Resolver.ReachesCluster = Present
		}
	}
	return r.finish(), true
}

// gatewayWebhook is what is known of the webhook of a gateway: the pods of which
// namespaces it sees, and how a pod asks for the gateway or declines it
// (FG C5; angelnu/gateway-admision-controller).
type gatewayWebhook struct {
	// selector chooses namespaces; where it is not in the tree, the chart's label does.
	selector node
	// label and annotation are the pod's keys, with the values that mean yes where
	// true does not.
	label, annotation           string
	labelValue, annotationValue string
	// byDefault: pods that say nothing are routed.
	byDefault bool
	// asInit: its sidecar is an init container that stays.
	asInit bool
}

// gatewayWebhookOf returns the webhook that a pod would meet, with the chart's
// settings for what is not in the tree.
func gatewayWebhookOf(p *podView) gatewayWebhook {
	w := gatewayWebhook{label: "setGateway", annotation: "setGateway", byDefault: true}
	best := -1
	for _, o := range p.ix.ofKind("admissionregistration.k8s.io", "MutatingWebhookConfiguration") {
		if p.ix.apart != nil && p.ix.apart(p.object, o) {
			continue
		}
		for _, hook := range root(o).get("webhooks").items() {
			if rank := nearness(p.object.Unit, o.Unit); strings.HasPrefix(hook.get("clientConfig", "service", "path").text(), "/wh/mutating/setgateway") && rank > best {
				best, w.selector = rank, hook.get("namespaceSelector")
			}
		}
	}
	best = -1
	for _, args := range p.ix.gatewayControllers() {
		rank := nearness(p.object.Unit, args.obj.Unit)
		if rank > best && (p.ix.apart == nil || !p.ix.apart(p.object, args.obj)) {
			best = rank
			w.flags(args)
		}
	}
	return w
}

// gatewayArgs are the command lines of the controllers behind such webhooks.
func gatewayArgs(objects []*source.Object) []node {
	var out []node
	for _, o := range objects {
		switch o.Kind {
		case "Deployment", "DaemonSet", "StatefulSet", "Pod":
		default:
			continue
		}
		for _, t := range findTemplates(o) {
			for _, c := range t.pod.get("spec", "containers").items() {
				if args := c.get("args"); strings.Contains(c.get("image").text(), "gateway-admision-controller") && len(args.items()) > 0 {
					out = append(out, args)
				}
			}
		}
	}
	return out
}

// flags reads the controller's command line.
func (w *gatewayWebhook) flags(args node) {
	w.label, w.annotation, w.labelValue, w.annotationValue, w.byDefault, w.asInit = "", "", "", "", false, false
	for _, arg := range args.texts() {
		name, text, _ := strings.Cut(strings.TrimLeft(arg.text(), "-"), "=")
		switch name {
		case "setGatewayLabel":
			w.label = text
		case "setGatewayLabelValue":
			w.labelValue = text
		case "setGatewayAnnotation":
			w.annotation = text
		case "setGatewayAnnotationValue":
			w.annotationValue = text
		case "setGatewayDefault":
			w.byDefault = true
		case "sidecarAsInit":
			w.asInit = true
		}
	}
}

// webhookRoutes reports whether the gateway's webhook takes the pod, and the
// field that makes it do so: its namespace is labelled, or the pod asks for it; a
// pod can also opt out.
func webhookRoutes(p *podView) (asks node, routed bool) {
	w := gatewayWebhookOf(p)
	meta := root(p.object).at(p.pod.Metadata.Pointer)
	said, yes := node{}, w.byDefault
	for _, key := range []struct{ kind, name, value string }{{"labels", w.label, w.labelValue}, {"annotations", w.annotation, w.annotationValue}} {
		if own := meta.get(key.kind, key.name); key.name != "" && own.exists() {
			said = own
			yes = own.text() == key.value
			if key.value == "" {
				yes = isOn(own.text())
			}
		}
	}
	if !yes {
		return node{}, false
	}
	ns, found := p.ix.find("Namespace", "", normalNamespace(p.object.Namespace), p.object)
	if found != Present {
		return said, said.exists() && !w.selector.exists()
	}
	labels := root(ns).get("metadata", "labels")
	seen := isOn(labels.get("routed-gateway").text())
	asks = labels.get("routed-gateway")
	if w.selector.exists() {
		have := labels.stringMap()
		have["kubernetes.io/metadata.name"] = ns.Name
		seen = selects(w.selector, have) == Present
		asks = w.selector
		if keys := w.selector.get("matchLabels").keys(); len(keys) > 0 {
			asks = labels.get(keys[0])
		}
	}
	if said.exists() {
		asks = said
	}
	return asks, seen
}

// gatewayClients are the containers that the gateway's webhook adds to a pod.
func gatewayClients(p *podView) []injection {
	if p.runsPodGateway() {
		return nil
	}
	asks, routed := webhookRoutes(p)
	if !routed {
		return nil
	}
	stage := Main
	if gatewayWebhookOf(p).asInit {
		stage = NativeSidecar
	}
	client := func(name string, stage Stage) injection {
		return injection{
			name: name, image: "ghcr.io/angelnu/pod-gateway", stage: stage, asks: asks, by: "the pod-gateway's webhook", carries: true,
			security: map[string]any{
				"capabilities": map[string]any{"add": []any{"NET_ADMIN", "NET_RAW"}}, "runAsUser": int64(0), "runAsNonRoot": false,
			},
		}
	}
	return []injection{client("gateway-init", Init), client("gateway-sidecar", stage)}
}

func (p *podView) runsPodGateway() bool {
	return slices.ContainsFunc(p.containers, func(c *containerView) bool { return c.c.Family == "pod-gateway" })
}

// gatewaySettings finds the settings of the gateway that serves a pod: the
// nearest ConfigMap of the tree that holds them.
func gatewaySettings(p *podView) (shellSettings, source.Ref, Known) {
	var best []node
	bestRank := -1
	for _, o := range p.ix.ofKind("", "ConfigMap") {
		file := root(o).get("data", "settings.sh")
		if !strings.Contains(file.text(), "VXLAN_") && !strings.Contains(file.text(), "NOT_ROUTED_TO_GATEWAY_CIDRS") {
			continue
		}
		if p.ix.apart != nil && p.ix.apart(p.object, o) {
			continue
		}
		switch rank := nearness(p.object.Unit, o.Unit); {
		case rank > bestRank:
			best, bestRank = []node{file}, rank
		case rank == bestRank:
			best = append(best, file)
		}
	}
	if len(best) == 0 {
		return nil, source.Ref{}, Absent
	}
	for _, other := range best[1:] {
		if other.text() != best[0].text() {
			return nil, source.Ref{}, Unknown
		}
	}
	return settingsOf(best[0].text(), best[0].ref()), best[0].ref(), Present
}
