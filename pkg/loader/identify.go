package loader

import (
	"strings"
)

// This file recognises documents. Most say what they are; a few configurations
// of clusters do not, and are known by what they hold, and where that is not
// enough by the name under which their reader looks for them. To take a file for
// what it is not is worse than to miss one: nothing is recognised by a single
// key that others use too.

// The names under which the documents without apiVersion and kind are objects.
const (
	talosVersion     = "talos.dev/v1alpha1"
	talosKind        = "MachineConfig"
	talhelperVersion = "talhelper.budimanjojo.com/v1"
	talhelperKind    = "TalosConfig"
	k3sVersion       = "k3s.io/v1"
	k3sKind          = "Config"
	installVersion   = "install.openshift.io/v1"
	installKind      = "InstallConfig"
)

// identify returns the apiVersion and kind of a document that stands in a file
// of this name, "" for one that is no object.
func identify(tree map[string]any, file string) (apiVersion, kind string) {
	apiVersion, _ = tree["apiVersion"].(string)
	kind, _ = tree["kind"].(string)
	switch {
	case kind != "":
		return apiVersion, kind
	case apiVersion == "v1" && isInstallConfig(tree):
		return installVersion, installKind
	case apiVersion != "":
		return apiVersion, ""
	case isTalos(tree):
		return talosVersion, talosKind
	case isTalhelper(tree):
		return talhelperVersion, talhelperKind
	case isK3s(tree, file):
		return k3sVersion, k3sKind
	}
	return "", ""
}

// mayHoldObjects is a cheap necessary condition for identify to find an object.
func mayHoldObjects(text string) bool {
	if strings.Contains(text, "apiVersion") && (strings.Contains(text, "kind") || strings.Contains(text, "baseDomain")) {
		return true
	}
	for _, word := range []string{"v1alpha1", "podSubnets", "serviceSubnets", "machine", "talosVersion", "clusterPodNets", "clusterSvcNets"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	for _, key := range k3sKeys() {
		if strings.Contains(text, key) {
			return true
		}
	}
	return false
}

// isTalos recognises machine configurations, which have a version, and patches
// of them, which need not: they have no other keys than a machine
// configuration, and one of its own below.
func isTalos(tree map[string]any) bool {
	machine, hasMachine := tree["machine"].(map[string]any)
	cluster, hasCluster := tree["cluster"].(map[string]any)
	if !hasMachine && !hasCluster {
		return false
	}
	if tree["version"] == "v1alpha1" {
		return true
	}
	for key := range tree {
		switch key {
		case "machine", "cluster", "debug", "persist":
		default:
			return false
		}
	}
	network, _ := cluster["network"].(map[string]any)
	_, pods := network["podSubnets"].([]any)
	_, services := network["serviceSubnets"].([]any)
	if pods || services {
		return true
	}
	for _, key := range []string{"kubelet", "sysctls", "install", "nodeLabels", "kernel"} {
		if _, is := machine[key].(map[string]any); is {
			return true
		}
	}
	return false
}

// isTalhelper recognises talconfig.yaml, from which talhelper makes machine
// configurations.
func isTalhelper(tree map[string]any) bool {
	_, name := tree["clusterName"].(string)
	_, nodes := tree["nodes"].([]any)
	_, version := tree["talosVersion"].(string)
	_, pods := tree["clusterPodNets"].([]any)
	_, services := tree["clusterSvcNets"].([]any)
	return name && nodes && (version || pods || services)
}

// k3sKeys are options of k3s and RKE2 that nothing else is known to have at the
// top of a file.
func k3sKeys() []string {
	return []string{
		"cluster-cidr", "service-cidr", "cluster-dns", "cluster-init", "flannel-backend", "flannel-iface", "write-kubeconfig-mode",
		"tls-san", "kubelet-arg", "kube-proxy-arg", "kube-apiserver-arg", "kube-controller-manager-arg", "node-taint", "node-external-ip",
		"disable-kube-proxy", "disable-network-policy", "disable-cloud-controller", "etcd-expose-metrics", "secrets-encryption",
		"agent-token", "embedded-registry",
	}
}

// isK3s recognises the configuration file of k3s and RKE2: by a range, or by two
// of its options, or by one where the file has the name that is looked for.
func isK3s(tree map[string]any, file string) bool {
	known := 0
	for _, key := range k3sKeys() {
		switch tree[key].(type) {
		case string, []any:
			if key == "cluster-cidr" || key == "service-cidr" {
				return true
			}
			known++
		case bool:
			known++
		}
	}
	return known > 1 || known == 1 && isK3sFile(file)
}

// isK3sFile: /etc/rancher/k3s/config.yaml and the pieces in config.yaml.d beside
// it, wherever in a tree.
func isK3sFile(name string) bool {
	dirs := strings.Split(name, "/")
	n := len(dirs)
	if n > 2 && dirs[n-2] == "config.yaml.d" {
		return dirs[n-3] == "k3s" || dirs[n-3] == "rke2"
	}
	return n > 1 && dirs[n-1] == "config.yaml" && (dirs[n-2] == "k3s" || dirs[n-2] == "rke2")
}

// isInstallConfig recognises OpenShift's install-config.yaml, whose apiVersion
// is v1 and which has no kind.
func isInstallConfig(tree map[string]any) bool {
	_, domain := tree["baseDomain"].(string)
	_, platform := tree["platform"].(map[string]any)
	_, networking := tree["networking"].(map[string]any)
	return domain && (platform || networking)
}
