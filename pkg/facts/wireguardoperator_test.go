package facts

import "testing"

// FG C2: enableIpForwardOnPodInit is off by default, the pool is 10.8.0.0/24 and
// always masqueraded.
func TestWireguardOperator(t *testing.T) {
	server := func(spec string) string {
		return "apiVersion: vpn.wireguard-operator.io/v1alpha1\nkind: Wireguard\nmetadata: {name: office, namespace: vpn}\nspec: {" + spec + "}\n"
	}
	const calico = "---\napiVersion: operator.tigera.io/v1\nkind: Installation\nmetadata: {name: default}\nspec: {}\n"
	for _, tt := range []struct {
		name, text      string
		forward, turned Known
		mtu             int
	}{
		{"by default", server("serviceType: LoadBalancer"), Absent, Absent, 0},
		{"the switch", server("enableIpForwardOnPodInit: true"), Present, Absent, 0},
		{"the switch, off", server("enableIpForwardOnPodInit: false, mtu: '1380'"), Absent, Absent, 1380},
		{"the switch, filled in later", server("enableIpForwardOnPodInit: '${FORWARD}'"), Unknown, Absent, 0},
		{"on Calico", server("port: 51820") + calico, Absent, Present, 0},
		{"any shape", "apiVersion: vpn.wireguard-operator.io/v1alpha1\nkind: Wireguard\nmetadata: {name: a}\nspec: [1]\n", Absent, Absent, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pods := read(t, tt.text).Pods
			if len(pods) != 1 || len(pods[0].Tunnels) != 1 {
				t.Fatalf("pods %+v", pods)
			}
			p, tun := pods[0], pods[0].Tunnels[0]
			if p.Role != Gateway || p.Forwarding.Needed != Present || p.Forwarding.IPv4.State != tt.forward || p.Forwarding.IPv4.TurnedOff != tt.turned {
				t.Errorf("%s, forwarding %+v", p.Role, p.Forwarding)
			}
			if tun.Side != "server" || prefixesOf(tun.Pool) != "10.8.0.0/24" || tun.Masquerade.State != Present || tun.MTU.Size != tt.mtu {
				t.Errorf("tunnel %+v", tun)
			}
		})
	}
}
