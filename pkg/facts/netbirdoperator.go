package facts

import (
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/source"
)

const (
	netbirdGroup = "netbird.io"
	netbirdImage = "netbirdio/netbird"
)

// netbirdRouters are the routing peers that NetBird's operator makes, each a
// Deployment in the namespace of its object (netbirdio/kubernetes-operator,
// internal/controller: nbroutingpeer_controller.go, networkrouter_controller.go).
func netbirdRouters(ix *index, cs *clusterSet, catalog *images.Catalog) []*podView {
	var out []*podView
	add := func(o *source.Object, w *workload, replicas node, forwards string) {
		w.set("/spec/replicas", int64(3))
		w.take("/spec/replicas", replicas)
		p := w.view(ix, cs, catalog, &maker{
			asks: root(o).get("spec"), by: "NetBird's operator", role: Gateway, side: partServer, namespaceKnown: true, ownState: true, forwards: forwards,
			why: "NetBird's operator makes routing peers of " + o.Kind + " " + qualified(o.Namespace, o.Name),
		})
		out = append(out, p)
	}
	for _, o := range ix.ofKind(netbirdGroup, "NBRoutingPeer") {
		spec := root(o).get("spec")
		w := newWorkload(spec, "Deployment", o.Namespace, o.Name)
		w.set(madeTemplate, netbirdPod(map[string]any{"capabilities": map[string]any{"add": []any{"NET_ADMIN"}}}))
		if privileged := spec.get("privileged"); privileged.exists() {
			w.take(madeTemplate+"/spec/containers/0/securityContext/privileged", privileged)
		}
		for _, key := range []string{"nodeSelector", "tolerations", "volumes"} {
			w.take(madeTemplate+"/spec/"+key, spec.get(key))
		}
		for _, key := range []string{"volumeMounts", "resources"} {
			w.take(madeTemplate+"/spec/containers/0/"+key, spec.get(key))
		}
		add(o, w, spec.get("replicas"), "privileged") // then its client may write the setting
	}
	for _, o := range ix.ofKind(netbirdGroup, "NetworkRouter") {
		spec := root(o).get("spec")
		w := newWorkload(spec, "Deployment", o.Namespace, "networkrouter-"+o.Name)
		w.set(madeTemplate, netbirdPod(netbirdPrivileges()))
		w.take(madeTemplate+"/spec/containers/0/image", spec.get("image"))
		w.overlay(madeTemplate, spec.get("workloadOverride", "podTemplate"))
		add(o, w, spec.get("workloadOverride", "replicas"), "")
	}
	return out
}

func netbirdPod(security map[string]any) map[string]any {
	return map[string]any{"spec": map[string]any{"containers": []any{
		map[string]any{"name": "netbird", "image": netbirdImage, "securityContext": security},
	}}}
}

// netbirdPrivileges are those of the operator's newer routers and sidecars.
func netbirdPrivileges() map[string]any {
	return map[string]any{
		"privileged": true, "readOnlyRootFilesystem": true,
		"capabilities": map[string]any{"add": []any{"NET_ADMIN", "SYS_RESOURCE", "SYS_ADMIN"}},
	}
}

// netbirdSidecar is the client that the operator's webhook adds to a pod: by the
// annotation that names a setup key, else by the first profile of the namespace
// that selects the pod (internal/webhook/v1/pod_webhook.go).
func netbirdSidecar(p *podView) []injection {
	meta := root(p.object).at(p.pod.Metadata.Pointer)
	if key := meta.get("annotations", netbirdGroup+"/setup-key"); key.text() != "" {
		stage := Main
		if meta.get("annotations", netbirdGroup+"/init-sidecar").text() == "true" {
			stage = NativeSidecar
		}
		return []injection{{
			name: "netbird", image: netbirdImage, stage: stage, asks: key, by: "NetBird's webhook", carries: true,
			security: map[string]any{"capabilities": map[string]any{"add": []any{"NET_ADMIN"}}},
		}}
	}
	var profiles []*source.Object
	for _, o := range p.ix.ofKind(netbirdGroup, "SidecarProfile") {
		if normalNamespace(o.Namespace) != normalNamespace(p.object.Namespace) || p.ix.apart != nil && p.ix.apart(p.object, o) {
			continue
		}
		switch selects(root(o).get("spec", "podSelector"), p.pod.Labels) {
		case Present:
			profiles = append(profiles, o)
		case Unknown:
			return nil
		}
	}
	if len(profiles) == 0 {
		return nil
	}
	o := slices.MinFunc(profiles, func(a, b *source.Object) int { return strings.Compare(a.Name, b.Name) })
	spec := root(o).get("spec")
	stage := NativeSidecar
	if spec.get("injectionMode").text() == "Container" {
		stage = Main
	}
	return []injection{
		{
			name: "resolv-conf", image: netbirdImage, stage: Init, asks: spec, by: "NetBird's webhook",
			security: map[string]any{"capabilities": map[string]any{"drop": []any{"ALL"}}},
		},
		{
			name: "netbird", image: netbirdImage, stage: stage, asks: spec, by: "NetBird's webhook", carries: true,
			security: netbirdPrivileges(), override: spec.get("containerOverride"),
		},
	}
}
