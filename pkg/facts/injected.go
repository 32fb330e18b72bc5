package facts

import (
	"strconv"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// injection is a container that an admission webhook adds to a pod.
type injection struct {
	name, image string
	stage       Stage
	// asks is the field that makes the webhook do so, by the webhook.
	asks    node
	by      string
	carries bool
	// security is its securityContext; override is laid over the whole.
	security map[string]any
	override node
}

// admitted returns the pod's spec as it is when it is admitted, with the
// containers that webhooks add. A webhook of which nothing in the tree says that
// it acts on the pod adds nothing.
func admitted(p *podView) (spec node, added []injection) {
	if p.made != nil || p.spec.unseen() {
		return p.spec, nil
	}
	added = append(gatewayClients(p), netbirdSidecar(p)...)
	if len(added) == 0 {
		return p.spec, nil
	}
	w := newWorkload(p.spec, p.object.Kind, p.object.Namespace, p.object.Name)
	w.take(madeTemplate+"/spec", p.spec)
	for _, in := range added {
		list := "initContainers"
		if in.stage == Main {
			list = "containers"
		}
		at := madeTemplate + "/spec/" + list
		n := len(w.root().at(at).items())
		if n == 0 {
			w.set(at, []any{})
		}
		at += "/" + strconv.Itoa(n)
		container := map[string]any{"name": in.name, "image": in.image, "securityContext": in.security}
		if in.stage == NativeSidecar {
			container["restartPolicy"] = "Always"
		}
		w.set(at, container)
		w.places.said[at] = in.asks.ref()
		w.overlay(at, in.override)
	}
	return w.root().at(madeTemplate + "/spec"), added
}

// overlay merges a field of the tree into what stands at a pointer, as a
// strategic merge patch does: maps by their keys, lists of things with names by
// the names, and anything else as a whole.
func (w *workload) overlay(pointer string, from node) {
	if !from.exists() {
		return
	}
	have := w.root().at(pointer)
	if !have.exists() || from.isMap() != have.isMap() {
		w.take(pointer, from)
		return
	}
	if from.isMap() {
		for _, key := range from.keys() {
			w.overlay(source.Ref{Pointer: pointer}.Child(key).Pointer, from.get(key))
		}
		return
	}
	tokens := source.PointerTokens(pointer)
	switch tokens[len(tokens)-1] {
	case "containers", "initContainers", "volumes", "env":
	default:
		w.take(pointer, from)
		return
	}
	for _, item := range from.items() {
		list := w.root().at(pointer).items()
		i := 0
		for i < len(list) && list[i].get("name").text() != item.get("name").text() {
			i++
		}
		w.overlay(pointer+"/"+strconv.Itoa(i), item)
	}
}
