package facts

import (
	"strings"
	"testing"
)

func TestRejections(t *testing.T) {
	const netAdmin = "containers: [{name: vpn, image: kylemanna/openvpn, securityContext: {capabilities: {add: [NET_ADMIN]}}}]"
	for _, tt := range []struct{ name, labels, spec, want string }{
		{"no namespace labels", "", netAdmin, ""},
		{"privileged", "pod-security.kubernetes.io/enforce: privileged", netAdmin, ""},
		{"only audited", "pod-security.kubernetes.io/audit: baseline", netAdmin, ""},
		{"baseline", "pod-security.kubernetes.io/enforce: baseline", netAdmin, "baseline latest non-default capabilities"},
		{"pinned", "pod-security.kubernetes.io/enforce: baseline, pod-security.kubernetes.io/enforce-version: v1.29", netAdmin, "baseline v1.29 non-default capabilities"},
		{"a level that does not exist", "pod-security.kubernetes.io/enforce: strict", netAdmin, ""},
		{"a version that does not exist", "pod-security.kubernetes.io/enforce: baseline, pod-security.kubernetes.io/enforce-version: newest", netAdmin, ""},
		{"several checks", "pod-security.kubernetes.io/enforce: baseline", "hostNetwork: true\ncontainers: [{name: vpn, image: kylemanna/openvpn, securityContext: {privileged: true}}]", "baseline latest host namespaces, baseline latest privileged"},
		{"an unsafe sysctl", "pod-security.kubernetes.io/enforce: baseline", "securityContext: {sysctls: [{name: net.ipv4.ip_forward, value: '1'}]}\ncontainers: [{name: vpn, image: kylemanna/openvpn}]", "baseline latest forbidden sysctls"},
		{"a sysctl that a later version takes", "pod-security.kubernetes.io/enforce: baseline, pod-security.kubernetes.io/enforce-version: v1.28", "securityContext: {sysctls: [{name: net.ipv4.tcp_fin_timeout, value: '30'}]}\ncontainers: [{name: vpn, image: kylemanna/openvpn}]", "baseline v1.28 forbidden sysctls"},
		{"a sysctl that this version takes", "pod-security.kubernetes.io/enforce: baseline, pod-security.kubernetes.io/enforce-version: v1.29", "securityContext: {sysctls: [{name: net.ipv4.tcp_fin_timeout, value: '30'}]}\ncontainers: [{name: vpn, image: kylemanna/openvpn}]", ""},
		{"the node's tun device", "pod-security.kubernetes.io/enforce: baseline", "volumes: [{name: tun, hostPath: {path: /dev/net/tun}}]\ncontainers: [{name: vpn, image: kylemanna/openvpn}]", "baseline latest hostPath volumes"},
		{"restricted asks for what the tunnel needs only", "pod-security.kubernetes.io/enforce: restricted", "securityContext: {runAsNonRoot: true}\ncontainers: [{name: vpn, image: tailscale/tailscale, securityContext: {capabilities: {drop: [ALL]}}}]", ""},
		{"restricted", "pod-security.kubernetes.io/enforce: restricted", netAdmin, "restricted latest unrestricted capabilities, restricted latest runAsNonRoot != true"},
		{"no VPN in it", "pod-security.kubernetes.io/enforce: baseline", "containers: [{name: web, image: nginx, securityContext: {privileged: true}}]", ""},
		{"fields of wrong types", "pod-security.kubernetes.io/enforce: baseline", "volumes: 7\ncontainers: [{name: vpn, image: kylemanna/openvpn, ports: {a: b}, securityContext: {privileged: 'yes'}}]", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			facts := read(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: edge, labels: {"+tt.labels+"}}\n---\n"+deployment(tt.spec))
			var got []string
			for _, r := range facts.Pods[0].Rejections {
				reason, _, _ := strings.Cut(r.Says, " (")
				got = append(got, r.Level+" "+r.Version+" "+reason)
				if r.Ref.IsZero() || r.LabelRef.IsZero() {
					t.Errorf("no place: %+v", r)
				}
			}
			if all := strings.Join(got, ", "); all != tt.want {
				t.Errorf("got  %s\nwant %s", all, tt.want)
			}
		})
	}
}

// Who is to blame for a container that a webhook adds, and for one that an
// operator makes.
func TestRejectionsOfWhatIsMade(t *testing.T) {
	const namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: edge, labels: {pod-security.kubernetes.io/enforce: baseline%s}}\n---\n"
	const player = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: player, namespace: edge, annotations: {%s}}\nspec: {containers: [{name: player, image: example.com/player}]}\n"
	for name, tc := range map[string]struct{ text, at, injected string }{
		"a namespace's label":    {strings.Replace(namespace, "%s", ", routed-gateway: 'true'", 1) + strings.Replace(player, "%s", "", 1), "Namespace//edge /metadata/labels/routed-gateway", "gateway-init gateway-sidecar"},
		"a pod's own annotation": {strings.Replace(namespace, "%s", ", routed-gateway: 'true'", 1) + strings.Replace(player, "%s", "setGateway: 'true'", 1), "Pod/edge/player /metadata/annotations/setGateway", "gateway-init gateway-sidecar"},
		"a setup key":            {strings.Replace(namespace, "%s", "", 1) + strings.Replace(player, "%s", "netbird.io/setup-key: k", 1), "Pod/edge/player /metadata/annotations/netbird.io~1setup-key", "netbird"},
		"a profile": {
			strings.Replace(namespace, "%s", "", 1) + "apiVersion: netbird.io/v1alpha1\nkind: SidecarProfile\nmetadata: {name: p, namespace: edge}\nspec: {setupKeyRef: {name: k}}\n" + strings.Replace(player, "%s", "", 1),
			"SidecarProfile/edge/p /spec", "resolv-conf netbird",
		},
		"a profile's override": {
			strings.Replace(namespace, "%s", "", 1) + "apiVersion: netbird.io/v1alpha1\nkind: SidecarProfile\nmetadata: {name: p, namespace: edge}\nspec: {containerOverride: {securityContext: {privileged: false, capabilities: {add: [NET_ADMIN]}}}}\n" + strings.Replace(player, "%s", "", 1),
			"SidecarProfile/edge/p /spec/containerOverride/securityContext/capabilities/add", "resolv-conf netbird",
		},
		"an override by name": {
			strings.Replace(namespace, "%s", "", 1) + "apiVersion: netbird.io/v1alpha1\nkind: NetworkRouter\nmetadata: {name: r, namespace: edge}\nspec: {workloadOverride: {podTemplate: {spec: {hostNetwork: true, containers: [{name: extra, image: example.com/x}, {name: netbird, securityContext: {privileged: false, capabilities: {add: []}}}]}}}}\n",
			"NetworkRouter/edge/r /spec/workloadOverride/podTemplate/spec/hostNetwork", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			pods := read(t, tc.text).Pods
			p := pods[len(pods)-1]
			if len(p.Rejections) == 0 {
				t.Fatalf("%+v", p)
			}
			var injected []string
			for _, in := range p.Injected {
				injected = append(injected, in.Name)
			}
			if at := string(p.Rejections[0].Ref.Object) + " " + p.Rejections[0].Ref.Pointer; at != tc.at || strings.Join(injected, " ") != tc.injected {
				t.Errorf("at %s, with %s", at, injected)
			}
		})
	}
}
