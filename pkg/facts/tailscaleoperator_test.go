package facts

import (
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/source"
)

const (
	aConnector = "apiVersion: tailscale.com/v1alpha1\nkind: Connector\nmetadata: {name: office}\nspec: {"
	aClass     = "apiVersion: tailscale.com/v1alpha1\nkind: ProxyClass\nmetadata: {name: low}\nspec: {"
)

// What the operator makes of its objects, and where each part of it is decided.
func TestTailscaleOperator(t *testing.T) {
	const routes = "subnetRouter: {advertiseRoutes: [10.20.0.0/16]}"
	for _, tt := range []struct {
		name, text string
		role       Role
		needed     Known
		says       string // of the pod's sysctl evidence, with the objects they stand in
		namespace  string
		workload   string
	}{
		{
			"a Connector", aConnector + routes + "}", Gateway, Present, "sysctl -w net.ipv4.ip_forward=1 in Connector//office", "tailscale",
			"pods/tailscale.com/parent-resource=office,tailscale.com/parent-resource-type=connector",
		},
		{
			"with a ProxyClass", aConnector + routes + ", proxyClass: low}\n---\n" + aClass + "statefulSet: {pod: {securityContext: {sysctls: [{name: net.ipv4.ip_forward, value: '1'}]}, tailscaleInitContainer: {securityContext: {}}}}}",
			Gateway, Present, "net.ipv4.ip_forward=1 in ProxyClass//low, sysctl -w net.ipv4.ip_forward=1 in ProxyClass//low", "tailscale",
			"pods/tailscale.com/parent-resource=office,tailscale.com/parent-resource-type=connector",
		},
		{
			"in user space", aConnector + routes + ", proxyClass: low}\n---\n" + aClass + "statefulSet: {pod: {tailscaleContainer: {env: [{name: TS_USERSPACE, value: 'true'}]}}}}",
			Gateway, Absent, "sysctl -w net.ipv4.ip_forward=1 in Connector//office", "tailscale",
			"pods/tailscale.com/parent-resource=office,tailscale.com/parent-resource-type=connector",
		},
		{
			"a Service", "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: apps, annotations: {tailscale.com/expose: 'true'}}\nspec: {clusterIP: 10.96.0.7}",
			Gateway, Unknown, "sysctl -w net.ipv4.ip_forward=1 in Service/apps/web, containerboot sets it because of TS_DEST_IP in Service/apps/web", "tailscale",
			"pods/tailscale.com/parent-resource=web,tailscale.com/parent-resource-ns=apps,tailscale.com/parent-resource-type=svc",
		},
		{
			"an Ingress", "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web, namespace: apps}\nspec: {ingressClassName: tailscale}",
			Client, Absent, "", "tailscale", "pods/tailscale.com/parent-resource=web,tailscale.com/parent-resource-ns=apps,tailscale.com/parent-resource-type=ingress",
		},
		{
			"a ProxyGroup beside the operator", "apiVersion: tailscale.com/v1alpha1\nkind: ProxyGroup\nmetadata: {name: ha}\nspec: {type: egress}\n---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: ts, namespace: flux-system}\nspec: {targetNamespace: mesh, chart: {spec: {chart: tailscale-operator}}}",
			Gateway, Present, "sysctl -w net.ipv4.ip_forward=1 in ProxyGroup//ha", "mesh", "sts/ha",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pods := read(t, tt.text).Pods
			if len(pods) != 1 || len(pods[0].Tunnels) != 1 {
				t.Fatalf("pods %+v", pods)
			}
			p := pods[0]
			if p.Role != tt.role || p.Forwarding.Needed != tt.needed || p.Namespace != tt.namespace || p.Workload != tt.workload || !p.StatePerReplica || p.Maker == "" {
				t.Errorf("%s, forwarding needed %s, in %s, %s, by %q", p.Role, p.Forwarding.Needed, p.Namespace, p.Workload, p.Maker)
			}
			var says []string
			for _, e := range p.Forwarding.IPv4.Evidence {
				says = append(says, e.Says+" in "+string(e.Ref.Object))
			}
			if got := strings.Join(says, ", "); got != tt.says {
				t.Errorf("evidence\n%s, want\n%s", got, tt.says)
			}
		})
	}
}

// Every place that a pod of an operator names is one of the tree.
func TestMadePlaces(t *testing.T) {
	text := aConnector + "proxyClass: low, subnetRouter: {advertiseRoutes: ['fd00:20::/64']}}\n---\n" + aClass +
		"statefulSet: {pod: {labels: {a/b: c}, securityContext: {runAsUser: 7}, tailscaleContainer: {image: 'mirror.example.com/tailscale/tailscale:v1.80.0', securityContext: {capabilities: {add: [NET_ADMIN]}}, env: [{name: TS_A, value: b}]}}}}"
	objects := decode(t, "mesh", text)
	catalog, err := images.Load()
	if err != nil {
		t.Fatal(err)
	}
	f, err := Read(t.Context(), objects, catalog, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := f.Pods[0]
	main := p.Containers[1]
	for name, at := range map[string]source.Ref{
		"7": main.NonRoot.Ref, "mirror.example.com/tailscale/tailscale:v1.80.0": main.ImageRef, "fd00:20::/64": p.Tunnels[0].Advertised[0].Ref,
	} {
		if got := textAt(t, objects, at); got != name {
			t.Errorf("%+v holds %q, want %q", at, got, name)
		}
	}
	for _, at := range []source.Ref{p.Ref, p.Metadata, main.Ref, main.SecurityRef, p.Containers[0].Ref, p.Containers[0].SecurityRef, p.ReplicasRef} {
		textAt(t, objects, at) // it exists
	}
	if p.Labels["a/b"] != "c" || p.Containers[0].Privileged != Present || main.Privileged != Absent || main.Family != "tailscale" {
		t.Errorf("pod %+v", p)
	}
}

// A label where the operator usually runs is a question where the operator is
// not in the tree, and none where it is.
func TestTailscaleOperatorOutOfView(t *testing.T) {
	const namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: tailscale, labels: {pod-security.kubernetes.io/enforce: LEVEL}}\n---\n"
	const operator = "\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: operator, namespace: mesh}\nspec: {template: {spec: {containers: [{name: operator, image: tailscale/k8s-operator}]}}}\n"
	connector := aConnector + "exitNode: true}"
	for name, tc := range map[string]struct {
		text string
		gaps int
	}{
		"baseline":        {strings.Replace(namespace, "LEVEL", "baseline", 1) + connector, 1},
		"privileged":      {strings.Replace(namespace, "LEVEL", "privileged", 1) + connector, 0},
		"in view":         {strings.Replace(namespace, "LEVEL", "baseline", 1) + connector + operator, 0},
		"no namespace":    {connector, 0},
		"a lost class":    {aConnector + "exitNode: true, proxyClass: gone}", 1},
		"a class in view": {aConnector + "exitNode: true, proxyClass: low}\n---\n" + aClass + "}", 0},
	} {
		t.Run(name, func(t *testing.T) {
			if gaps := read(t, tc.text).Gaps; len(gaps) != tc.gaps {
				t.Errorf("gaps %+v", gaps)
			}
		})
	}
}
