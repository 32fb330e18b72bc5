package facts

import "testing"

// FG A7, kube-router. It has no list of exemptions but pods and nodes.
func TestKubeRouterLayer(t *testing.T) {
	router := func(args string) string {
		return daemon("kube-router", "docker.io/cloudnativelabs/kube-router:v2.5.0", ", args: ["+args+"]")
	}
	pods := podsOf("10.244.0.0/16")
	const says = "kube-router's --enable-pod-egress 10.60.0.0/24"
	testLayer(t, []layerCase{
		{"pod egress is on by default", pods + router("--run-router=true"), says},
		{"and written", pods + router("--enable-pod-egress=true"), says},
		{"turned off", pods + router("--enable-pod-egress=false"), ""},
		{"filled in later", pods + router("'--enable-pod-egress=${EGRESS}'"), ""},
		{"policies only", pods + router("--run-router=false, --run-firewall=true"), ""},
		{"masquerade-all is for Services", pods + router("--enable-pod-egress=false, --masquerade-all"), ""},
		{"no SNAT towards nodes", kopsCluster("10.244.0.0/16", "10.60.0.0/24") + router("--run-router=true"), ""},
		{"the pod range is not in view", router("--run-router=true"), ""},
	})
}

func TestKubeRouterExemptions(t *testing.T) {
	router := func(args string) string {
		return daemon("kube-router", "docker.io/cloudnativelabs/kube-router:v2.5.0", ", args: ["+args+"]")
	}
	testExemptions(t, []layerCase{
		{"by default", router(""), ""},
		{"turned off", router("--enable-pod-egress=false"), "kube-router none [10.20.0.0/16] wants node"},
		{"turned off, and its bridge does not either", router("--enable-pod-egress=false") + cniConf(`{"name":"k","plugins":[{"type":"bridge","ipMasq":false}]}`), "kube-router none [10.20.0.0/16] wants node"},
		{"turned off, and its bridge does", router("--enable-pod-egress=false") + cniConf(`{"name":"k","plugins":[{"type":"bridge","ipMasq":true}]}`), ""},
		{"filled in later", router("'--enable-pod-egress=${EGRESS}'"), ""},
		{"policies only", router("--run-router=false, --enable-pod-egress=false"), ""},
	})
}
