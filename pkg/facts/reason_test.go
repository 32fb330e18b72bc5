package facts

import (
	"strings"
	"testing"
)

func TestReasons(t *testing.T) {
	t.Parallel()
	secret := notInTree("Secret vpn/keys", lintWithSecret)
	for _, tc := range []struct {
		name    string
		why     reason
		said    string
		outside bool
	}{
		{"without advice", because("the far side decides", noAdvice), "the far side decides", false},
		{"with advice", because("it is no prefix", correctIt), "it is no prefix; correct it", false},
		{"of a variable", secret.of("TS_ROUTES: "), "TS_ROUTES: Secret vpn/keys is not in the tree; " + string(lintWithSecret), true},
		{"of one source", allOf([]reason{secret}), "Secret vpn/keys is not in the tree; " + string(lintWithSecret), true},
		{
			"of two sources",
			allOf([]reason{because("a source is not known", noAdvice), secret}), "a source is not known; Secret vpn/keys is not in the tree", true,
		},
		{"of none", allOf(nil), "", false},
	} {
		if got := tc.why.said(); got != tc.said || tc.why.outside != tc.outside || tc.why.holds() != (tc.said != "") {
			t.Errorf("%s: %q (outside %v), want %q", tc.name, got, tc.why.outside, tc.said)
		}
	}
}

// What the reader of a gap can do is said where it is.
func TestGapsSayWhatToDo(t *testing.T) {
	t.Parallel()
	for what, tree := range map[string]string{
		"; write it so that it is reached in any case, if it is": deployment(`
initContainers:
  - name: fwd
    image: busybox
    command: [sh, -c, 'if [ -e /etc/forward ]; then sysctl -w net.ipv4.ip_forward=1; fi']
    securityContext: {privileged: true}
` + server),
		"; lint it together with that NetworkAttachmentDefinition":                            "apiVersion: v1\nkind: Pod\nmetadata: {name: vpn, annotations: {k8s.v1.cni.cncf.io/networks: lan}}\nspec: {containers: [{name: vpn, image: kylemanna/openvpn}]}\n",
		"; lint it together with the ConfigMap or Secret that holds it; keys may be left out": "apiVersion: v1\nkind: Pod\nmetadata: {name: vpn}\nspec: {containers: [{name: app, image: a}, {name: vpn, image: linuxserver/wireguard}]}\n",
	} {
		var said []string
		for _, g := range factsOf(t, decode(t, "unit", tree)).Gaps {
			said = append(said, g.Why)
		}
		if all := strings.Join(said, "\n"); !strings.Contains(all, what) {
			t.Errorf("no gap says %q:\n%s", what, all)
		}
	}
}
