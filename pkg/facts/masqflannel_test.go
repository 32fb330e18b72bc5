package facts

import (
	"strings"
	"testing"
)

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
	plugin := func(delegate string) string {
		return cniConf(`{"name":"cbr0","plugins":[{"type":"flannel","delegate":{"isDefaultGateway":true` + delegate + `}},{"type":"portmap","capabilities":{"portMappings":true}}]}`)
	}
	const keeps, off = "flannel none [10.20.0.0/16] wants node", `,"ipMasq":false`
	const without = ", command: [/opt/bin/flanneld], args: [--kube-subnet-mgr]"
	testExemptions(t, []layerCase{
		{"off by default, and the plugin is told not to", flannel(without) + plugin(off), keeps},
		{"off by default, and the plugin does instead", flannel(without) + plugin(""), ""},
		{"off by default, and the plugin is told to", flannel(without) + plugin(`,"ipMasq":true`), ""},
		{"off by default, and the plugin's answer is filled in later", flannel(without) + plugin(`,"ipMasq":"${MASQ}"`), ""},
		{"off by default, and the plugin is not in view", flannel(without), ""},
		{"off by default, and one of two configurations", flannel(without) + plugin(off) + strings.Replace(plugin(""), "name: cni", "name: other", 1), ""},
		{"off by default, and a configuration of one plugin", flannel(without) + cniConf(`{"name":"cbr0","type":"flannel","delegate":{"ipMasq":false}}`), keeps},
		{"off by default, and a configuration that is broken", flannel(without) + cniConf(`{"name":`), ""},
		{"turned off", flannel(", args: ['--ip-masq=false']") + plugin(off), keeps},
		{"on", flannel(", args: [--ip-masq]") + plugin(off), ""},
		{"filled in later", flannel(", args: ['--ip-masq=${MASQ}']") + plugin(off), ""},
		{"a shell starts it", flannel(", command: [sh, -c, 'flanneld --ip-masq']") + plugin(off), ""},
		{"variables that are not in view", flannel(", envFrom: [{configMapRef: {name: elsewhere}}]") + plugin(off), ""},
		{"another layer does", flannel(without) + plugin(off) + daemon("kube-router", "cloudnativelabs/kube-router:v2.5.0", ""), ""},
		{"kube-proxy rewrites on the way to Services only", flannel(without) + plugin(off) + "\n---\napiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\niptables: {masqueradeAll: true}\n", keeps},
		{"the flannel of k3s always does", flannel(without) + plugin(off) + "\n---\napiVersion: k3s.io/v1\nkind: Config\nflannel-backend: vxlan\ncluster-cidr: 10.244.0.0/16\n", ""},
	})
}

// cniConf is a ConfigMap with the nodes' CNI configuration.
func cniConf(text string) string {
	return "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: cni, namespace: kube-system}\ndata: {cni-conf.json: '" + text + "'}\n"
}
