package facts

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/images"
)

func read(t *testing.T, text string) *Facts {
	t.Helper()
	catalog, err := images.Load()
	if err != nil {
		t.Fatal(err)
	}
	out, err := Read(t.Context(), decode(t, "unit", text), catalog, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// onlyPod reads a manifest with one workload, or takes its first.
func onlyPod(t *testing.T, text string, clusters ...*Cluster) (*Pod, seen) {
	t.Helper()
	s := look(t, text, clusters...)
	if len(s.pods) == 0 {
		t.Fatal("no pod found")
	}
	return s.pods[0].pod, s
}

// deployment writes a workload around a pod spec in flow or block form,
// indented by six blanks.
func deployment(spec string) string {
	return `apiVersion: apps/v1
kind: Deployment
metadata: {name: gate, namespace: edge}
spec:
  selector: {matchLabels: {app: gate}}
  template:
    metadata: {labels: {app: gate}}
    spec:
` + strings.TrimRight(indent(spec, 6), " \n") + "\n"
}

func TestWorkloadsAreFoundInEveryKindThatHoldsAPod(t *testing.T) {
	spec := "{containers: [{name: a, image: qmcgaw/gluetun:v3.40.0}]}"
	for _, tt := range []struct {
		name, text, workload, pointer string
		toCompletion, perNode         bool
		replicas                      int
	}{
		{"pod", "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: " + spec, "pod/x", "/spec", false, false, 1},
		{"deployment", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {replicas: 3, template: {spec: " + spec + "}}", "deploy/x", "/spec/template/spec", false, false, 3},
		{"daemon set", "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: x}\nspec: {template: {spec: " + spec + "}}", "ds/x", "/spec/template/spec", false, true, 1},
		{"stateful set", "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: x}\nspec: {template: {spec: " + spec + "}}", "sts/x", "/spec/template/spec", false, false, 1},
		{"job", "apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\nspec: {template: {spec: " + spec + "}}", "job/x", "/spec/template/spec", true, false, 1},
		{"cron job", "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: x}\nspec: {jobTemplate: {spec: {template: {spec: " + spec + "}}}}", "cronjob/x", "/spec/jobTemplate/spec/template/spec", true, false, 1},
		{"rollout of a CRD", "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: x}\nspec: {template: {spec: " + spec + "}}", "rollout/x", "/spec/template/spec", false, false, 1},
		{"template deep in a CRD", "apiVersion: example.com/v1\nkind: Fleet\nmetadata: {name: x}\nspec: {groups: [{podTemplate: {spec: " + spec + "}}]}", "fleet/x", "/spec/groups/0/podTemplate/spec", false, false, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := read(t, tt.text)
			if len(out.Pods) != 1 {
				t.Fatalf("%d pods, want 1", len(out.Pods))
			}
			p := out.Pods[0]
			if p.Workload != tt.workload || p.Ref.Pointer != tt.pointer || p.RunsToCompletion != tt.toCompletion ||
				p.PerNode != tt.perNode || p.Replicas != tt.replicas {
				t.Errorf("got %s at %s, to completion %v, per node %v, replicas %d", p.Workload, p.Ref.Pointer, p.RunsToCompletion, p.PerNode, p.Replicas)
			}
			if p.Containers[0].Family != "gluetun" {
				t.Errorf("family %q", p.Containers[0].Family)
			}
		})
	}
}

func TestNothingInUserDataMakesReadingFail(t *testing.T) {
	for _, text := range []string{
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: {}, namespace: []}\nspec: {replicas: many, template: {metadata: 7, spec: {containers: null, initContainers: {a: b}}}}",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: x, labels: [a], annotations: {a: 1}}\nspec: {hostNetwork: maybe, dnsPolicy: 3, volumes: {}, securityContext: [], containers: [null, 3, text, {name: 4, image: [], env: {A: B}, command: sh, args: [1, null], ports: [x], volumeMounts: [{mountPath: 1}], securityContext: {privileged: sure, capabilities: {add: NET_ADMIN}}, lifecycle: {postStart: []}, startupProbe: {exec: {command: 7}}}]}",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: [{name: a, image: qmcgaw/gluetun, env: [{name: A, value: 1}, {name: [], value: x}, 4, {valueFrom: {configMapKeyRef: 3}}], envFrom: [{configMapRef: []}]}], volumes: [{name: v, configMap: {items: 7}}, {name: [], projected: {sources: {a: b}}}]}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {selector: [a], ports: {a: b}, clusterIP: 7}\n---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: n}\nspec: {podSelector: 4, policyTypes: Egress, egress: {a: b}}",
	} {
		out := read(t, text)
		raw, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range []string{"null"} {
			if strings.Contains(string(raw), `":`+field) {
				t.Errorf("a list or map is null: %s", raw)
			}
		}
	}
}

func TestStartOrderPutsNativeSidecarsAmongTheInitContainers(t *testing.T) {
	p, _ := onlyPod(t, deployment(`
initContainers:
  - {name: first, image: busybox}
  - {name: vpn, image: qmcgaw/gluetun, restartPolicy: Always}
  - {name: last, image: busybox}
containers:
  - {name: app, image: example.com/app}
`))
	var got []string
	for _, c := range p.Containers {
		got = append(got, c.Name+":"+string(c.Stage))
	}
	if want := "first:init vpn:sidecar last:init app:main"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestAPodKnowsTheDirectoryOfItsInput(t *testing.T) {
	objects := decode(t, "apps/vpn/", deployment("containers: [{name: app, image: example.com/app}]"))
	if got := factsOf(t, objects).Pods[0].Unit; got != "apps/vpn" {
		t.Errorf("unit %q, want apps/vpn", got)
	}
}

func TestSecurityContextOfTheContainerWinsOverThePod(t *testing.T) {
	p, s := onlyPod(t, deployment(`
securityContext: {runAsUser: 1000}
containers:
  - name: root
    image: qmcgaw/gluetun
    securityContext: {runAsUser: 0, capabilities: {add: [CAP_net_admin, SYS_MODULE], drop: [all]}}
  - name: app
    image: example.com/app
`))
	root, app := p.Containers[0], p.Containers[1]
	if root.NonRoot.State != Absent || app.NonRoot.State != Present {
		t.Errorf("non root: %v and %v, want absent and present", root.NonRoot.State, app.NonRoot.State)
	}
	if s.at(t, app.NonRoot.Ref) != "1000" {
		t.Errorf("the pod's user is not where it points: %v", app.NonRoot.Ref)
	}
	if strings.Join(root.Capabilities, ",") != "NET_ADMIN,SYS_MODULE" || strings.Join(root.Dropped, ",") != "ALL" {
		t.Errorf("capabilities %v, dropped %v", root.Capabilities, root.Dropped)
	}
}

func TestDroppedCapabilitiesAreNotThere(t *testing.T) {
	for drop, want := range map[string]string{"[cap_net_admin]": "NET_RAW", "[ALL]": "NET_ADMIN,NET_RAW", "[ALL, NET_ADMIN]": "NET_RAW", "[]": "NET_ADMIN,NET_RAW"} {
		p, _ := onlyPod(t, deployment(`
containers:
  - name: vpn
    image: qmcgaw/gluetun
    securityContext: {capabilities: {add: [NET_ADMIN, NET_RAW], drop: `+drop+`}}
`))
		if got := strings.Join(p.Containers[0].Capabilities, ","); got != want {
			t.Errorf("drop %s: %s, want %s", drop, got, want)
		}
	}
}

// TestRoles holds one line for each trap that makes a wrong role.
func TestRoles(t *testing.T) {
	app := "  - {name: app, image: example.com/app:1}\n"
	for _, tt := range []struct {
		name, spec string
		want       Role
	}{
		{"no VPN at all", "containers:\n" + app, None},
		{"an image that only has vpn in its name", "containers:\n  - {name: vpn-portal, image: example.com/team/vpn-portal:2}\n", None},
		{"a load balancer with NET_ADMIN and a forwarding sysctl", "securityContext: {sysctls: [{name: net.ipv4.ip_forward, value: '1'}]}\ncontainers:\n  - {name: lb, image: rancher/klipper-lb:v0.4.9, securityContext: {capabilities: {add: [NET_ADMIN]}}}\n", None},
		{"kilo's admission webhook", "containers:\n  - {name: server, image: squat/kilo:0.7.0, args: [webhook, '--listen=:8443']}\n", Control},
		{"gluetun beside an application", "containers:\n  - {name: vpn, image: qmcgaw/gluetun}\n" + app, Sidecar},
		{"gluetun alone is a proxy", "containers:\n  - {name: vpn, image: qmcgaw/gluetun}\n", Client},
		{"gluetun with its port helper is alone", "containers:\n  - {name: vpn, image: qmcgaw/gluetun}\n  - {name: sync, image: ghcr.io/bjw-s-labs/gluetun-qb-port-sync}\n", Client},
		{"gluetun with an exporter is alone", "containers:\n  - {name: vpn, image: qmcgaw/gluetun}\n  - {name: metrics, image: example.com/gluetun-exporter}\n", Client},
		{"client and application in one image", "containers:\n  - {name: t, image: haugene/transmission-openvpn:5}\n", Client},
		{"linuxserver with PEERS", "containers:\n  - {name: wg, image: lscr.io/linuxserver/wireguard, env: [{name: PEERS, value: '3'}]}\n", Gateway},
		{"linuxserver without PEERS", "containers:\n  - {name: wg, image: lscr.io/linuxserver/wireguard}\n" + app, Sidecar},
		{"linuxserver with hidden PEERS", "containers:\n  - {name: wg, image: lscr.io/linuxserver/wireguard, env: [{name: PEERS, valueFrom: {secretKeyRef: {name: gone, key: k}}}]}\n", RoleUnknown},
		{"wg-easy", "containers:\n  - {name: wg, image: ghcr.io/wg-easy/wg-easy:14}\n", Gateway},
		{"generic image without a configuration in view", "containers:\n  - {name: wg, image: example.com/wireguard:1}\n" + app, RoleUnknown},
		{"tailscale as a member", "containers:\n  - {name: ts, image: tailscale/tailscale}\n" + app, Sidecar},
		{"tailscale as a subnet router", "containers:\n  - {name: ts, image: tailscale/tailscale, env: [{name: TS_ROUTES, value: 10.0.0.0/24}]}\n", Gateway},
		{"tailscale as an exit node", "containers:\n  - {name: ts, image: tailscale/tailscale, env: [{name: TS_EXTRA_ARGS, value: --advertise-exit-node}]}\n", Gateway},
		{"tailscale as a proxy into the cluster", "containers:\n  - {name: ts, image: tailscale/tailscale, env: [{name: TS_DEST_IP, value: 10.96.4.4}]}\n", Gateway},
		{"tailscale that withdraws its routes", "containers:\n  - {name: ts, image: tailscale/tailscale, env: [{name: TS_EXTRA_ARGS, value: '--advertise-routes='}]}\n", Client},
		{"tailscale operator", "containers:\n  - {name: operator, image: tailscale/k8s-operator:v1.80.0}\n", Control},
		{"headscale", "containers:\n  - {name: h, image: headscale/headscale:0.23}\n", Control},
		{"Outline the wiki", "containers:\n  - {name: w, image: outlinewiki/outline:0.80}\n", Control},
		{"wireguard-ui without the interface", "containers:\n  - {name: ui, image: ngoduykhanh/wireguard-ui}\n", Control},
		{"wireguard-ui that starts the interface", "containers:\n  - {name: ui, image: ngoduykhanh/wireguard-ui, env: [{name: WGUI_MANAGE_START, value: 'true'}]}\n", Gateway},
		{"ip-masq-agent", "hostNetwork: true\ncontainers:\n  - {name: a, image: registry.k8s.io/networking/ip-masq-agent:v2.9.0}\n", None},
		{"Kilo", "hostNetwork: true\ncontainers:\n  - {name: kilo, image: squat/kilo}\n", Mesh},
		{"Cilium's agent", "hostNetwork: true\ncontainers:\n  - {name: agent, image: quay.io/cilium/cilium:v1.16.0}\n", Mesh},
		{"pod-gateway's gateway", "initContainers:\n  - {name: routes, image: ghcr.io/angelnu/pod-gateway:v1.10.0, command: [/bin/gateway_init.sh]}\ncontainers:\n  - {name: pod-gateway, image: ghcr.io/angelnu/pod-gateway:v1.10.0, command: [/bin/gateway_sidecar.sh]}\n  - {name: vpn, image: qmcgaw/gluetun}\n", Gateway},
		{"pod-gateway's injected client", "initContainers:\n  - {name: gateway-init, image: ghcr.io/angelnu/pod-gateway:v1.10.0, command: [/bin/client_init.sh]}\ncontainers:\n" + app + "  - {name: gateway-sidecar, image: ghcr.io/angelnu/pod-gateway:v1.10.0, command: [/bin/client_sidecar.sh]}\n", Sidecar},
		{"shadowsocks", "containers:\n  - {name: ss, image: shadowsocks/shadowsocks-libev}\n", Client},
		{"server with an exporter beside it", "containers:\n  - {name: wg, image: ghcr.io/wg-easy/wg-easy:14}\n" + app, Gateway},
		{"an init container that makes WireGuard's keys", "initContainers:\n  - {name: keys, restartPolicy: Always, image: 'ghcr.io/wg-easy/wg-easy:14', command: [sh, -c, wg genkey > /keys/private]}\ncontainers:\n" + app, Control},
		{"a container that makes its keys and the interface", "containers:\n  - {name: wg, image: 'ghcr.io/wg-easy/wg-easy:14', command: [sh, -c, wg genkey > /k; ip link add wg0 type wireguard; wg set wg0 private-key /k; sleep infinity]}\n", Gateway},
		{"an init container that only makes keys", "initContainers:\n  - {name: pki, image: kylemanna/openvpn, command: [ovpn_genconfig, -u, 'udp://vpn.example.com']}\ncontainers:\n" + app, Control},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := onlyPod(t, deployment(tt.spec))
			if p.Role != tt.want {
				t.Errorf("role %s (%s), want %s", p.Role, p.RoleWhy, tt.want)
			}
			if p.RoleWhy == "" {
				t.Error("a role without a reason")
			}
		})
	}
}

func TestRoleFollowsTheConfigurationOfAGenericImage(t *testing.T) {
	pod := deployment(`
volumes:
  - {name: conf, secret: {secretName: wg}}
containers:
  - name: wg
    image: masipcat/wireguard-go
    volumeMounts: [{name: conf, mountPath: /etc/wireguard}]
  - {name: app, image: example.com/app}
`)
	server := "\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: wg, namespace: edge}\nstringData:\n  wg0.conf: |\n    [Interface]\n    Address = 10.77.0.1/24\n    ListenPort = 51820\n    [Peer]\n    AllowedIPs = 10.77.0.2/32\n    [Peer]\n    AllowedIPs = 10.77.0.3/32\n"
	client := "\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: wg, namespace: edge}\nstringData:\n  wg0.conf: |\n    [Interface]\n    Address = 10.77.0.2/32\n    [Peer]\n    Endpoint = vpn.example.com:51820\n    AllowedIPs = 0.0.0.0/0\n"
	// The same configurations under an image that generates one if PEERS is set.
	linuxserver := strings.NewReplacer("masipcat/wireguard-go", "lscr.io/linuxserver/wireguard", "/etc/wireguard", "/config/wg_confs").Replace(pod)
	for name, tt := range map[string]struct {
		text string
		want Role
	}{
		"server": {pod + server, Gateway}, "client": {pod + client, Sidecar}, "not in the tree": {pod, RoleUnknown},
		"linuxserver with a server's configuration": {linuxserver + server, Gateway},
		"linuxserver with a client's configuration": {linuxserver + client, Sidecar},
	} {
		t.Run(name, func(t *testing.T) {
			if p, _ := onlyPod(t, tt.text); p.Role != tt.want {
				t.Errorf("role %s (%s), want %s", p.Role, p.RoleWhy, tt.want)
			}
		})
	}
}

func TestIPsecSelectorsOfThePodRangeMakeAGateway(t *testing.T) {
	p, _ := onlyPod(t, deployment(`
volumes:
  - {name: conf, configMap: {name: ipsec}}
containers:
  - name: strongswan
    image: docker.io/strongx509/strongswan:5.9.14
    securityContext: {capabilities: {add: [NET_ADMIN]}}
    volumeMounts: [{name: conf, mountPath: /etc/ipsec.conf, subPath: ipsec.conf}]
`)+`
---
apiVersion: v1
kind: ConfigMap
metadata: {name: ipsec, namespace: edge}
data:
  ipsec.conf: |
    conn site
        left=%defaultroute
        leftsubnet=10.244.0.0/16
        right=198.51.100.9
        rightsubnet=10.60.0.0/24
        auto=start
`, lab())
	if p.Role != Gateway || p.Forwarding.Needed != Present || p.Forwarding.IPv4.State != Absent {
		t.Errorf("role %s (%s), needed %s, state %s; want a gateway that nothing makes forward", p.Role, p.RoleWhy, p.Forwarding.Needed, p.Forwarding.IPv4.State)
	}
}

func TestAnotherUserThanRootIsUnknownForProgramsWithFileCapabilities(t *testing.T) {
	for image, want := range map[string]Known{"ghcr.io/bryopsida/wireguard:main": Unknown, "lscr.io/linuxserver/wireguard:1.0.20210914": Present} {
		p, _ := onlyPod(t, deployment("containers:\n  - name: wg\n    image: "+image+"\n    securityContext: {runAsUser: 1000, capabilities: {add: [NET_ADMIN]}}\n"))
		if got := p.Containers[0].NonRoot.State; got != want {
			t.Errorf("%s: non root %s, want %s", image, got, want)
		}
	}
}
