package facts

import (
	"strings"
	"testing"
)

func TestTuningOfAnAttachedNetworkForwards(t *testing.T) {
	network := `
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: routed, namespace: edge}
spec:
  config: '{"plugins": [{"type": "macvlan"}, {"type": "tuning", "sysctl": {"net.ipv4.ip_forward": "1"}}]}'
---
apiVersion: v1
kind: Pod
metadata:
  name: gate
  namespace: edge
  annotations: {k8s.v1.cni.cncf.io/networks: 'NETWORKS'}
spec:
  containers: [{name: wireguard, image: "ghcr.io/wg-easy/wg-easy:14", securityContext: {capabilities: {add: [NET_ADMIN]}}}]
`
	for networks, want := range map[string]Known{
		"routed":                                 Present,
		"other, edge/routed@net1":                Present,
		`[{"name": "routed"}]`:                   Present,
		`[{"name": "routed", "namespace": "x"}]`: Unknown, // not in the tree
		"elsewhere/routed":                       Unknown,
		"other":                                  Unknown,
		"[{":                                     Absent,
	} {
		f := factsOf(t, decode(t, "edge", strings.Replace(network, "NETWORKS", networks, 1)))
		if got := f.Pods[0].Forwarding.IPv4.State; got != want {
			t.Errorf("networks %s: forwarding is %s, want %s", networks, got, want)
		}
	}
}
