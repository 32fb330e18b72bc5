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

func TestFlannelExemptions(t *testing.T) {
	flannel := func(container string) string {
		return daemon("flannel", "ghcr.io/flannel-io/flannel:v0.26.4", container)
	}
	testExemptions(t, []layerCase{
		{"off by default", flannel(", command: [/opt/bin/flanneld], args: [--kube-subnet-mgr]"), "flannel none [10.20.0.0/16] wants node"},
		{"turned off", flannel(", args: ['--ip-masq=false']"), "flannel none [10.20.0.0/16] wants node"},
		{"on", flannel(", args: [--ip-masq]"), ""},
		{"filled in later", flannel(", args: ['--ip-masq=${MASQ}']"), ""},
		{"a shell starts it", flannel(", command: [sh, -c, 'flanneld --ip-masq']"), ""},
		{"variables that are not in view", flannel(", envFrom: [{configMapRef: {name: elsewhere}}]"), ""},
		{"another layer does", flannel(", args: [--kube-subnet-mgr]") + daemon("kube-router", "cloudnativelabs/kube-router:v2.5.0", ""), ""},
	})
}
