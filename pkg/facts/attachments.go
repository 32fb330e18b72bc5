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
	found, missing := attachedNetworks(r.p)
	if missing != "" {
		at := root(r.p.object).at(r.p.pod.Metadata.Pointer).get("annotations").ref()
		r.add(forward4, timed{at: -1, maybe: true, ForwardEvidence: ForwardEvidence{
			How: "cni", Value: "1", Ref: at, Effective: Unknown, When: "before", Says: "network " + missing + ", which is not in the tree",
		}})
		r.unseen = append(r.unseen, unseenScript{ref: at, why: notInTree("network "+missing, lintWithNetwork), network: true})
	}
	for _, o := range found {
		config := root(o).get("spec", "config")
		on, says := tunedOn(r.p.ix.cniPlugins(config, "network "+qualified(o.Namespace, o.Name)))
		if !on {
			continue
		}
		r.add(forward4, timed{at: -1, ForwardEvidence: ForwardEvidence{
			How: "cni", Value: "1", Ref: config.ref(), Effective: Present, When: "before",
			Says: "the tuning plugin of network " + qualified(o.Namespace, o.Name) + " sets " + says,
		}})
	}
}

// defaultNetworkAnnotation names the network that takes the place of the
// cluster's own for a pod.
const defaultNetworkAnnotation = "v1.multus-cni.io/default-network"

// attachedNetworks returns the NetworkAttachmentDefinitions of the tree that a
// pod names, and the name of one that is not there.
func attachedNetworks(p *podView) (found []*source.Object, missing string) {
	type selection struct{ Name, Namespace string }
	var selections []selection
	for _, annotation := range []string{networksAnnotation, defaultNetworkAnnotation} {
		text := strings.TrimSpace(p.pod.Annotations[annotation])
		if strings.HasPrefix(text, "[") {
			var listed []selection
			if json.Unmarshal([]byte(text), &listed) == nil {
				selections = append(selections, listed...)
			}
			continue
		}
		for _, part := range strings.Split(text, ",") {
			name, _, _ := strings.Cut(strings.TrimSpace(part), "@")
			namespace, rest, has := strings.Cut(name, "/")
			if !has {
				namespace, rest = "", name
			}
			if rest != "" {
				selections = append(selections, selection{Name: rest, Namespace: namespace})
			}
		}
	}
	for _, s := range selections {
		if s.Namespace == "" {
			s.Namespace = p.object.Namespace
		}
		if o, state := p.ix.find("NetworkAttachmentDefinition", s.Namespace, s.Name, p.object); state == Present {
			found = append(found, o)
		} else {
			missing = qualified(s.Namespace, s.Name)
		}
	}
	return found, missing
}
