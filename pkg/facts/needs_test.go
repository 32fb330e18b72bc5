package facts

import (
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
)

const tunnel = `
containers:
  - name: vpn
    image: qmcgaw/gluetun
    env: [{name: FIREWALL_OUTBOUND_SUBNETS, value: "10.244.0.0/16,10.96.0.0/12"}, {name: PEER, value: http://ledger.billing.svc}]
`

func needsOf(p *Pod) string {
	var out []string
	for _, n := range p.Needs {
		out = append(out, n.Container+" "+n.Kind+" "+n.Says)
	}
	return strings.Join(out, "\n")
}

func TestNeeds(t *testing.T) {
	app := func(env string) string {
		return deployment(tunnel + "  - {name: app, image: example.com/app, env: [" + env + "]}\n")
	}
	const services = `
---
apiVersion: v1
kind: Service
metadata: {name: postgres, namespace: edge}
spec: {selector: {app: db}, clusterIP: 10.99.7.7, ports: [{port: 5432}]}
---
apiVersion: v1
kind: Service
metadata: {name: ledger, namespace: billing}
spec: {selector: {app: ledger}, ports: [{port: 80}]}
`
	for _, tt := range []struct{ name, text, want string }{
		{"the tunnel's own configuration is none", deployment(tunnel + "  - {name: app, image: example.com/app}\n"), ""},
		{"a name below svc", app("{name: A, value: 'http://ledger.billing.svc.cluster.local:8080/x'}"), "app name http://ledger.billing.svc.cluster.local:8080/x"},
		{"svc in a public name", app("{name: A, value: 'https://api.svc.example.com'}"), ""},
		{"svc inside a word", app("{name: A, value: 'my.svcs.host'}"), ""},
		{"name and namespace of a Service", app("{name: A, value: 'tcp://ledger.billing:80'}") + services, "app name tcp://ledger.billing:80"},
		{"name and namespace of no Service", app("{name: A, value: 'tcp://ledger.other:80'}") + services, ""},
		{"a single label with a port", app("{name: A, value: 'postgres:5432'}") + services, "app name postgres:5432"},
		{"a single label in a host variable", app("{name: DB_HOST, value: postgres}") + services, "app name postgres"},
		{"a single label in prose", app("{name: NOTE, value: uses postgres}") + services, ""},
		{"a single label of another namespace", app("{name: DB_HOST, value: ledger}") + services, ""},
		{"the API server by name", app("{name: A, value: 'https://kubernetes.default'}"), "app name https://kubernetes.default"},
		{"an address of the service range", app("{name: A, value: '10.96.0.10:53'}"), "app service 10.96.0.10:53"},
		{"an address of the pod range", app("{name: A, value: 10.244.3.9}"), "app pod 10.244.3.9"},
		{"the API server's address", app("{name: A, value: 'https://10.96.0.1'}"), "app api https://10.96.0.1"},
		{"a Service's address in view", app("{name: A, value: 10.99.7.7}") + services, "app service 10.99.7.7"},
		{"a range is a setting", app("{name: TRUSTED_PROXIES, value: '10.244.0.0/16,10.96.0.0/12'}"), ""},
		{"a public address", app("{name: A, value: 'https://203.0.113.7'}"), ""},
		{"a listener", app("{name: A, value: '0.0.0.0:8080'}"), ""},
		{"an image name", app("{name: A, value: 'registry.example.com/postgres:15'}") + services, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := onlyPod(t, tt.text, lab(RangeAt{Role: cidrplan.API, Prefix: "10.96.0.1/32", Strength: cidrplan.Declared}))
			if got := needsOf(p); got != tt.want {
				t.Errorf("needs %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNeedsPointIntoMountedConfiguration(t *testing.T) {
	p, s := onlyPod(t, deployment("volumes: [{name: c, configMap: {name: app}}]"+tunnel+"  - {name: app, image: example.com/app, volumeMounts: [{name: c, mountPath: /etc/app}]}\n")+
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, namespace: edge}\ndata:\n  app.toml: |\n    url = \"http://ledger.billing.svc:80\"\n")
	if len(p.Needs) != 1 {
		t.Fatalf("needs %q", needsOf(p))
	}
	if got := s.at(t, p.Needs[0].Ref); got != "http://ledger.billing.svc:80" {
		t.Errorf("points at %q", got)
	}
}

func TestAnInitContainerBeforeTheTunnelIsNotAffected(t *testing.T) {
	init := "initContainers:\n  - {name: wait, image: busybox, command: [sh, -c, 'until nc -z db.edge.svc 5432; do sleep 1; done']}\n"
	if p, _ := onlyPod(t, deployment(init+tunnel+"  - {name: app, image: example.com/app}\n")); len(p.Needs) != 0 {
		t.Errorf("needs %q", needsOf(p))
	}
	after := "initContainers:\n  - {name: vpn, image: qmcgaw/gluetun, restartPolicy: Always}\n  - {name: wait, image: busybox, command: [sh, -c, 'until nc -z db.edge.svc 5432; do sleep 1; done']}\ncontainers:\n  - {name: app, image: example.com/app}\n"
	if p, _ := onlyPod(t, deployment(after)); needsOf(p) != "wait name db.edge.svc" {
		t.Errorf("needs %q", needsOf(p))
	}
}

func TestRepliesOfServicesAndProbes(t *testing.T) {
	const service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: edge}\nspec: {selector: {app: gate}, ports: [{port: 80, targetPort: %s}]}\n"
	app := tunnel + "    ports: [{name: control, containerPort: 8000}]\n  - name: app\n    image: example.com/app\n    ports: [{name: http, containerPort: 8080}]\n    readinessProbe: {httpGet: {path: /, port: http}}\n    livenessProbe: {exec: {command: [cat, /tmp/x]}}\n"
	for _, tt := range []struct{ name, target, want string }{
		{"a port by name", "http", "app replies Service edge/web port 80\napp replies readinessProbe httpGet http"},
		{"the tunnel's own listener", "control", "app replies readinessProbe httpGet http"},
		{"a port that nobody declares", "9090", "app replies Service edge/web port 80\napp replies readinessProbe httpGet http"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := onlyPod(t, deployment(app)+strings.ReplaceAll(service, "%s", tt.target))
			if got := needsOf(p); got != tt.want {
				t.Errorf("needs %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("a combined image answers itself", func(t *testing.T) {
		p, _ := onlyPod(t, deployment("containers:\n  - {name: t, image: haugene/transmission-openvpn, ports: [{containerPort: 9091}]}\n")+strings.ReplaceAll(service, "%s", "9091"))
		if got := needsOf(p); got != "t replies Service edge/web port 80" {
			t.Errorf("needs %q", got)
		}
	})
}

func TestMentionsAreCollectedWithoutATunnelToo(t *testing.T) {
	p, s := onlyPod(t, deployment("containers:\n  - {name: app, image: example.com/app, args: ['--db=tcp://10.20.0.7:5432', --listen=127.0.0.1, --net=10.20.0.0/16]}\n"))
	if len(p.Mentions) != 1 || p.Mentions[0].Address != "10.20.0.7" || len(p.Needs) != 0 {
		t.Fatalf("mentions %+v", p.Mentions)
	}
	if got := s.at(t, p.Mentions[0].Ref); got != "tcp://10.20.0.7:5432" {
		t.Errorf("points at %q", got)
	}
}
