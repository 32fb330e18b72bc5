package facts

import "testing"

// FG A7, flannel.
func TestFlannelLayer(t *testing.T) {
	conf := func(network string) string {
		return "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: kube-flannel-cfg, namespace: kube-flannel}\ndata: {net-conf.json: '{\"Network\": \"" + network + "\", \"Backend\": {\"Type\": \"vxlan\"}}'}\n"
	}
	flannel := func(container string) string {
		return daemon("flannel", "ghcr.io/flannel-io/flannel:v0.26.4", container)
	}
	const says = "flannel's --ip-masq 10.60.0.0/24"
	testLayer(t, []layerCase{
		{"the flag is off by default", conf("10.244.0.0/16") + flannel(", args: [--kube-subnet-mgr]"), ""},
		{"the manifest passes it", conf("10.244.0.0/16") + flannel(", args: [--ip-masq, --kube-subnet-mgr]"), says},
		{"with a value", conf("10.244.0.0/16") + flannel(", args: ['--ip-masq=true']"), says},
		{"turned off", conf("10.244.0.0/16") + flannel(", args: ['--ip-masq=false']"), ""},
		{"filled in later", conf("10.244.0.0/16") + flannel(", args: ['--ip-masq=${MASQ}']"), ""},
		{"its variable", conf("10.244.0.0/16") + flannel(", env: [{name: FLANNELD_IP_MASQ, value: 'true'}]"), "flannel's FLANNELD_IP_MASQ 10.60.0.0/24"},
		{"the flag before its variable", conf("10.244.0.0/16") + flannel(", args: ['--ip-masq=false'], env: [{name: FLANNELD_IP_MASQ, value: 'true'}]"), ""},
		{"what is inside Network is not rewritten", conf("10.0.0.0/8") + flannel(", args: [--ip-masq]"), ""},
		{"the network is not in view", flannel(", args: [--ip-masq]"), ""},
	})
}
