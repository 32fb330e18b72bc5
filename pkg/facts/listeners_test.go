package facts

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestListeners(t *testing.T) {
	gluetun := func(env, more string) string {
		return deployment("containers:\n  - name: vpn\n    image: ghcr.io/qdm12/gluetun:v3.40\n    env: [" + env + "]\n" + indent(more, 4) + "\n")
	}
	const always = "8000/TCP absent image, 9999/TCP present image"
	for _, tt := range []struct{ name, manifest, want string }{
		{"gluetun's own", gluetun("", ""), always},
		{"a moved control server", gluetun("{name: HTTP_CONTROL_SERVER_ADDRESS, value: '127.0.0.1:8765'}", ""), "8765/TCP present image, 9999/TCP present image"},
		{"proxies that are on", gluetun("{name: HTTPPROXY, value: 'on'}, {name: SHADOWSOCKS, value: 'on'}", ""), "8000/TCP absent image, 8888/TCP absent image, 8388/TCP absent image, 8388/UDP absent image, 9999/TCP present image"},
		{"a proxy that is off", gluetun("{name: HTTPPROXY, value: 'off'}", ""), always},
		{"a health server for all", gluetun("{name: HEALTH_SERVER_ADDRESS, value: ':9999'}", ""), "8000/TCP absent image, 9999/TCP absent image"},
		{"an address in a Secret that is not in the tree", gluetun("{name: HTTP_CONTROL_SERVER_ADDRESS, valueFrom: {secretKeyRef: {name: gone, key: a}}}", ""), "9999/TCP present image"},
		{"variables that cannot be seen", gluetun("", "envFrom: [{secretRef: {name: gone}}]"), ""},
		{"no port", gluetun("{name: HTTP_CONTROL_SERVER_ADDRESS, value: 'off'}", ""), "9999/TCP present image"},
		{"a port declared on behalf of others", gluetun("", "ports: [{containerPort: 8080}]"), always},
		{"an application's", deployment("containers: [{name: app, image: registry.example.com/demo/app, ports: [{containerPort: 53, protocol: UDP}, {containerPort: '8080/tcp'}, {containerPort: 70000}]}]\n"), "53/UDP unknown declared"},
		{"a health check that is on", deployment("containers: [{name: vpn, image: masipcat/wireguard-go, env: [{name: ENABLE_HEALTHCHECK, value: 'true'}, {name: HEALTHCHECK_PORT, value: '8081'}]}]\n"), "8081/TCP absent image"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := onlyPod(t, tt.manifest)
			var got []string
			for _, l := range p.Containers[0].Listeners {
				got = append(got, fmt.Sprintf("%d/%s %s %s", l.Port, l.Protocol, l.Loopback, l.Source))
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), tt.want)
			}
		})
	}
}

// A TURN relay declares every port of its range; each is looked up once.
func TestThousandsOfDeclaredPorts(t *testing.T) {
	var ports strings.Builder
	for port := 49152; port <= 65535; port++ {
		fmt.Fprintf(&ports, "{containerPort: %d, protocol: UDP}, ", port)
	}
	start := time.Now()
	p, _ := onlyPod(t, deployment("containers:\n  - name: relay\n    image: registry.example.com/demo/relay\n    env: [{name: LISTEN_PORT, value: '50000'}]\n    ports: ["+ports.String()+"]\n"))
	took := time.Since(start)
	used := []int{}
	for _, l := range p.Containers[0].Listeners {
		if l.Used {
			used = append(used, l.Port)
		}
	}
	if len(p.Containers[0].Listeners) != 16384 || len(used) != 1 || used[0] != 50000 {
		t.Errorf("%d listeners, in use %v", len(p.Containers[0].Listeners), used)
	}
	if took > 15*time.Second { // a second; a minute when every port asks again
		t.Errorf("it took %v", took)
	}
}

func TestInbound(t *testing.T) {
	p, _ := onlyPod(t, deployment(`
containers:
  - name: vpn
    image: ghcr.io/qdm12/gluetun:v3.40
    env: [{name: HTTPPROXY, value: "on"}, {name: FIREWALL_INPUT_PORTS, value: "8888, 8080"}]
    livenessProbe: {exec: {command: [/gluetun-entrypoint, healthcheck]}}
    readinessProbe: {httpGet: {port: 9999}}
  - name: app
    image: registry.example.com/demo/app
    ports: [{name: web, containerPort: 8080}]
    readinessProbe: {httpGet: {port: web}}
    startupProbe: {tcpSocket: {port: 8080, host: 127.0.0.1}}
    livenessProbe: {httpGet: {port: nowhere}}
`)+`
---
apiVersion: v1
kind: Service
metadata: {name: gate, namespace: edge}
spec:
  selector: {app: gate}
  ports: [{name: proxy, port: 3128, targetPort: 8888}, {name: web, port: 80, targetPort: web}, {name: gone, port: 1, targetPort: gone}]
`)
	var got []string
	for _, i := range p.Inbound {
		got = append(got, fmt.Sprintf("%s %s %d %v", i.Kind, i.Container, i.Port, i.Tunnel))
	}
	const want = "probe vpn 9999 true, probe app 8080 false, service vpn 8888 true, service app 8080 false"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
	in := p.Tunnels[0].Input
	if in.Closed != Present || fmt.Sprint(in.Ports) != "[8888 8080]" {
		t.Errorf("input firewall: %+v", in)
	}
}

func TestInputFirewall(t *testing.T) {
	for _, tt := range []struct {
		name, container string
		want            Known
	}{
		{"on by default", "image: ghcr.io/qdm12/gluetun:v3.40", Present},
		{"turned off", "image: ghcr.io/qdm12/gluetun:v3.38\nenv: [{name: FIREWALL, value: 'off'}]", Absent},
		{"a switch that is not read any more", "image: ghcr.io/qdm12/gluetun:v3.40\nenv: [{name: FIREWALL, value: 'off'}]", Present},
		{"rules of the user's own", "image: ghcr.io/qdm12/gluetun:v3.40\nvolumeMounts: [{name: rules, mountPath: /iptables}]", Unknown},
		{"a list that cannot be seen", "image: ghcr.io/qdm12/gluetun:v3.40\nenv: [{name: FIREWALL_INPUT_PORTS, value: '${PORTS}'}]", Unknown},
		{"another image", "image: dperson/openvpn-client", Unknown},
		{"DyonR's", "image: dyonr/qbittorrentvpn", Present},
		{"DyonR's without its VPN", "image: dyonr/qbittorrentvpn\nenv: [{name: VPN_ENABLED, value: 'false'}]", Absent},
		{"DyonR's, perhaps without", "image: dyonr/qbittorrentvpn\nenv: [{name: VPN_ENABLED, value: '${ON}'}]", Unknown},
		{"DyonR's with ports that cannot be seen", "image: dyonr/qbittorrentvpn\nenv: [{name: ADDITIONAL_PORTS, value: '${PORTS}'}]", Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := onlyPod(t, deployment("volumes: [{name: rules, configMap: {name: gone}}]\ncontainers:\n  - name: vpn\n"+indent(tt.container, 4)+"\n"))
			if got := p.Tunnels[0].Input.Closed; got != tt.want {
				t.Errorf("closed: %s, want %s", got, tt.want)
			}
		})
	}
}

func TestSwitchThatIsNotRead(t *testing.T) {
	p, _ := onlyPod(t, deployment("containers: [{name: vpn, image: 'ghcr.io/qdm12/gluetun:v3.40', env: [{name: FIREWALL, value: 'off'}]}]\n"))
	if m := p.Tunnels[0].Bypass.Malformed; len(m) != 1 || m[0].Effect != "unread" {
		t.Errorf("malformed: %+v", m)
	}
	p, _ = onlyPod(t, deployment("containers: [{name: vpn, image: 'ghcr.io/qdm12/gluetun:v3.40', env: [{name: FIREWALL, value: 'on'}]}]\n"))
	if m := p.Tunnels[0].Bypass.Malformed; len(m) != 0 {
		t.Errorf("a switch that changes nothing is reported: %+v", m)
	}
}

// A declared port is documentation; these say that the container listens.
func TestUsedPorts(t *testing.T) {
	for _, tt := range []struct {
		name, app string
		want      bool
	}{
		{"declared only", "", false},
		{"a probe", "readinessProbe: {httpGet: {port: 8080}}", true},
		{"a probe by name", "livenessProbe: {tcpSocket: {port: web}}", true},
		{"a probe of another port", "readinessProbe: {httpGet: {port: 8081}}", false},
		{"a probe of another host", "readinessProbe: {httpGet: {port: 8080, host: 10.0.0.1}}", false},
		{"a variable", "env: [{name: PORT, value: '8080'}]", true},
		{"a variable of another meaning", "env: [{name: RETRIES, value: '8080'}]", false},
		{"a peer's address", "env: [{name: UPSTREAM_ADDR, value: 'db.example.com:8080'}]", false},
		{"an address to listen on", "env: [{name: LISTEN, value: '0.0.0.0:8080'}]", true},
		{"a flag", "args: [serve, --port=8080]", true},
		{"a flag and its value", "args: [serve, --bind-address, ':8080']", true},
		{"an argument that is no flag", "args: [port=8080]", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := onlyPod(t, deployment("containers:\n  - name: app\n    image: example.com/app\n    ports: [{name: web, containerPort: 8080}]\n    "+tt.app+"\n"))
			if got := p.Containers[0].Listeners; len(got) != 1 || got[0].Used != tt.want {
				t.Errorf("got %+v, want %v", got, tt.want)
			}
		})
	}
	p, _ := onlyPod(t, deployment("containers: [{name: vpn, image: 'qmcgaw/gluetun:v3.40'}]"))
	if !p.Containers[0].Listeners[0].Used {
		t.Error("an image's own listener is not used")
	}
}
