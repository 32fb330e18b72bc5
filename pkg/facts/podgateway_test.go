package facts

import (
	"strings"
	"testing"
)

func TestPodGateway(t *testing.T) {
	const settings = `apiVersion: v1
kind: ConfigMap
metadata: {name: pod-gateway, namespace: vpn-gateway}
data:
  settings.sh: |
    VXLAN_IP_NETWORK="172.16.0"
    VPN_LOCAL_CIDRS="10.0.0.0/8"
    NOT_ROUTED_TO_GATEWAY_CIDRS="10.0.0.0/8"
`
	routed := func(namespace, labels string) string {
		return "apiVersion: v1\nkind: Namespace\nmetadata: {name: media, labels: {routed-gateway: \"" + namespace + "\"}}\n---\n" + settings + `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: player, namespace: media}
spec:
  template:
    metadata: {labels: {app: player` + labels + `}}
    spec:
      containers: [{name: player, image: "registry.example.com/demo/player:2.0"}]
`
	}
	s := look(t, routed("true", ""), lab(nodes("172.20.8.0/22")))
	tun := s.tunnel(t)
	if tun.Side != "client" || tun.KillSwitch.State != Present || tun.RepliesKept != Absent {
		t.Errorf("tunnel %+v", tun)
	}
	if s.pods[0].pod.Role != Sidecar {
		t.Errorf("role %s: the webhook adds a sidecar", s.pods[0].pod.Role)
	}
	if got := tun.Captures[0]; strings.Join(got.Nodes, " ") != "172.20.8.0/22" || got.Suggestion != `NOT_ROUTED_TO_GATEWAY_CIDRS="10.0.0.0/8 172.20.8.0/22"` {
		t.Errorf("capture %+v", got)
	}
	if got := s.at(t, tun.Bypass.Ref); got != "10.0.0.0/8" || !strings.Contains(string(tun.Bypass.Ref.Object), "ConfigMap/vpn-gateway") {
		t.Errorf("bypass at %q of %s", got, tun.Bypass.Ref.Object)
	}
	for name, text := range map[string]string{
		"a namespace that is not routed": routed("false", ""),
		"a pod that opts out":            routed("true", `, setGateway: "false"`),
	} {
		if pods := look(t, text, lab()).pods; len(pods[0].pod.Tunnels) != 0 || pods[0].pod.Role != None {
			t.Errorf("%s: tunnels %+v", name, pods[0].pod.Tunnels)
		}
	}
}

func TestPodGatewayItself(t *testing.T) {
	s := look(t, mounted("ghcr.io/angelnu/pod-gateway:v1.13.0", "/config", "settings.sh", "VXLAN_IP_NETWORK=\"172.19.4\"\nVPN_BLOCK_OTHER_TRAFFIC=false\n", `command: ["/bin/gateway_sidecar.sh"]`), lab())
	tun := s.tunnel(t)
	if tun.Side != "server" || tun.Routes.State != Absent || prefixesOf(tun.Pool) != "172.19.4.0/24" || tun.KillSwitch.State != Absent || tun.Masquerade.State != Present {
		t.Errorf("%+v", tun)
	}
}
