package facts

import (
	"encoding/json"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// networksAnnotation names the further networks of a pod, for Multus: a comma
// list of [namespace/]name[@interface], or a JSON list of objects.
const networksAnnotation = "k8s.v1.cni.cncf.io/networks"

// attached tells whether the pod names further networks.
func attached(n node) Switch {
	if text := strings.TrimSpace(n.text()); text != "" && text != "[]" {
		return Switch{State: Present, Ref: n.ref(), Why: clip(text)}
	}
	return Switch{State: Absent, Ref: n.ref()}
}

// attachments adds what the tuning plugin of a further network sets: its
// sysctls hold for the whole network namespace of the pods that name it
// (FG D1.6).
func (r *forwardingReader) attachments() {
	if r.p.pod.HostNetwork.Value == "true" {
		return
	}
	for _, o := range attachedNetworks(r.p) {
		config := root(o).get("spec", "config")
		on, says := tunedOn(cniPlugins(config))
		if !on {
			continue
		}
		r.add(forward4, timed{at: -1, ForwardEvidence: ForwardEvidence{
			How: "cni", Value: "1", Ref: config.ref(), Effective: Present, When: "before",
			Says: "the tuning plugin of network " + qualified(o.Namespace, o.Name) + " sets " + says,
		}})
	}
}

// attachedNetworks returns the NetworkAttachmentDefinitions of the tree that a
// pod names.
func attachedNetworks(p *podView) []*source.Object {
	type selection struct{ Name, Namespace string }
	var selections []selection
	text := strings.TrimSpace(p.pod.Annotations[networksAnnotation])
	if strings.HasPrefix(text, "[") {
		if json.Unmarshal([]byte(text), &selections) != nil {
			return nil
		}
	} else {
		for _, part := range strings.Split(text, ",") {
			name, _, _ := strings.Cut(strings.TrimSpace(part), "@")
			namespace, rest, has := strings.Cut(name, "/")
			if !has {
				namespace, rest = "", name
			}
			selections = append(selections, selection{Name: rest, Namespace: namespace})
		}
	}
	var out []*source.Object
	for _, s := range selections {
		if s.Namespace == "" {
			s.Namespace = p.object.Namespace
		}
		if o, state := p.ix.find("NetworkAttachmentDefinition", s.Namespace, s.Name, p.object); state == Present {
			out = append(out, o)
		}
	}
	return out
}
