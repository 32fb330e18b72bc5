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
