package facts

import "testing"

// Of a pod that an operator makes only the object is in the tree: the field of it
// that makes the pod forward is named, and where it is written or would be.
func TestFieldThatMakesAnOperatorForward(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, field, at string }{
		"wireguard-operator, left out": {
			"apiVersion: vpn.wireguard-operator.io/v1alpha1\nkind: Wireguard\nmetadata: {name: office, namespace: vpn}\nspec: {mtu: '1380'}\n",
			"enableIpForwardOnPodInit: true", "/spec",
		},
		"wireguard-operator, switched off": {
			"apiVersion: vpn.wireguard-operator.io/v1alpha1\nkind: Wireguard\nmetadata: {name: office, namespace: vpn}\nspec: {enableIpForwardOnPodInit: false}\n",
			"enableIpForwardOnPodInit: true", "/spec/enableIpForwardOnPodInit",
		},
		"NetBird's NBRoutingPeer": {
			"apiVersion: netbird.io/v1\nkind: NBRoutingPeer\nmetadata: {name: router, namespace: vpn}\nspec: {replicas: 1}\n",
			"privileged: true", "/spec",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pods := read(t, tt.text).Pods
			if len(pods) != 1 {
				t.Fatalf("%d pods", len(pods))
			}
			if got := pods[0].Forwarding.IPv4; got.State != Absent || got.Field != tt.field || got.FieldRef.Pointer != tt.at {
				t.Errorf("%s, field %q at %s; want %q at %s", got.State, got.Field, got.FieldRef.Pointer, tt.field, tt.at)
			}
		})
	}
}
