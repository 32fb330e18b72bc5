package loader

import (
	"testing"

	sigsyaml "sigs.k8s.io/yaml"
)

func TestIdentify(t *testing.T) {
	tests := []struct{ name, file, text, want string }{
		{"what says so itself", "a.yaml", "apiVersion: v1\nkind: Pod\n", "v1 Pod"},
		{"no kind", "a.yaml", "apiVersion: v2\nname: chart\n", "v2 "},
		{"Talos", "controlplane.yaml", "version: v1alpha1\nmachine: {type: controlplane}\ncluster: {}\n", "talos.dev/v1alpha1 MachineConfig"},
		{"a Talos patch with ranges", "patches/net.yaml", "cluster:\n  network:\n    podSubnets: [10.1.0.0/16]\n", "talos.dev/v1alpha1 MachineConfig"},
		{"a Talos patch of the machine", "patches/k.yaml", "machine:\n  sysctls: {net.ipv4.ip_forward: '1'}\n", "talos.dev/v1alpha1 MachineConfig"},
		{"a cluster of something else", "values.yaml", "cluster:\n  name: pg\n  instances: 3\n", " "},
		{"a machine of something else", "values.yaml", "machine:\n  type: n2\n", " "},
		{"values with a key beside", "values.yaml", "image: x\ncluster: {network: {podSubnets: [10.1.0.0/16]}}\n", " "},
		{"talhelper", "talconfig.yaml", "clusterName: home\ntalosVersion: v1.9.0\nnodes: []\n", "talhelper.budimanjojo.com/v1 TalosConfig"},
		{"no talhelper", "values.yaml", "clusterName: home\nnodes: []\n", " "},
		{"k3s by a range", "anything.yaml", "service-cidr: 10.43.0.0/16\n", "k3s.io/v1 Config"},
		{"k3s by two options", "anything.yaml", "write-kubeconfig-mode: '0644'\ncluster-init: true\n", "k3s.io/v1 Config"},
		{"one option proves nothing", "anything.yaml", "tls-san: [a]\n", " "},
		{"one option under the right name", "ansible/files/k3s/config.yaml", "tls-san: [a]\n", "k3s.io/v1 Config"},
		{"a piece of it", "etc/rancher/rke2/config.yaml.d/50-net.yaml", "cluster-dns: 10.43.0.10\n", "k3s.io/v1 Config"},
		{"the name alone proves nothing", "k3s/config.yaml", "foo: bar\n", " "},
		{"a range of the wrong type", "a.yaml", "cluster-cidr: {a: b}\n", " "},
		{"OpenShift's installer", "install-config.yaml", "apiVersion: v1\nbaseDomain: example.com\nplatform: {none: {}}\n", "install.openshift.io/v1 InstallConfig"},
		{"a domain is not enough", "values.yaml", "apiVersion: v1\nbaseDomain: example.com\n", "v1 "},
		{"a domain without version", "values.yaml", "baseDomain: example.com\nplatform: {}\n", " "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var tree map[string]any
			if err := sigsyaml.Unmarshal([]byte(tt.text), &tree); err != nil {
				t.Fatal(err)
			}
			apiVersion, kind := identify(tree, tt.file)
			if got := apiVersion + " " + kind; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if kind != "" && !mayHoldObjects(tt.text) {
				t.Error("the cheap check before it keeps the file out")
			}
		})
	}
}
