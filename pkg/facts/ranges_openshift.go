package facts

import (
	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// This file reads OpenShift: the Network resources of a cluster, the installer's
// configuration, and clusters that are hosted or installed by an agent.
//
// The networks that OVN-Kubernetes uses inside a node (join, transit,
// masquerade) are no ranges of the plan: nothing outside meets them, although
// the join network lies inside Tailscale's range (FG A7, F).

func readOpenShift(f *founded, o *source.Object) {
	spec := root(o).get("spec")
	f.openShiftNetworking(spec)
	if kind := spec.get("defaultNetwork", "type"); kind.text() == "OVNKubernetes" {
		f.cni("ovn", kind.ref())
	}
}

// openShiftNetworking reads what all of them have in common. The lists hold
// ranges, or maps with a cidr.
func (f *founded) openShiftNetworking(n node) (pods, services bool) {
	network := func(role cidrplan.Role, key string) (said bool) {
		for _, entry := range n.get(key).items() {
			if entry.isMap() {
				entry = entry.get("cidr")
			}
			said = f.rangeOf(role, entry, key) || said
		}
		return said
	}
	pods = network(cidrplan.Pod, "clusterNetwork")
	services = network(cidrplan.Service, "serviceNetwork")
	network(cidrplan.Node, "machineNetwork")
	if kind := n.get("networkType"); kind.text() == "OVNKubernetes" {
		f.cni("ovn", kind.ref())
	}
	return pods, services
}

// readInstallConfig reads install-config.yaml, from which the installer writes
// the cluster's Network.
func readInstallConfig(f *founded, o *source.Object) {
	networking := root(o).get("networking")
	pods, services := f.openShiftNetworking(networking)
	if !pods {
		f.constant(cidrplan.Pod, networking, "the installer's default clusterNetwork", "10.128.0.0/14")
	}
	if !services {
		f.constant(cidrplan.Service, networking, "the installer's default serviceNetwork", "172.30.0.0/16")
	}
}

func readHostedCluster(f *founded, o *source.Object) {
	f.openShiftNetworking(root(o).get("spec", "networking"))
}
