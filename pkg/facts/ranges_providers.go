package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// This file reads clusters that a cloud makes: Cluster API with its providers,
// Config Connector, Crossplane and eksctl.
//
// Quirks of their readers: the control planes of Cluster API have names of
// their own; a block may be blank or a netmask only where the cloud chooses;
// secondary ranges are named, and stand in the subnetwork; Crossplane wraps
// blocks in lists of one in its older versions.

// declareProvider fills in a declaration of a kind that only some version of a
// provider has. It reports whether it is one.
func declareProvider(d *declaration) bool {
	group := groupOf(d.obj)
	switch group {
	case "infrastructure.cluster.x-k8s.io", "controlplane.cluster.x-k8s.io":
		return declareClusterAPI(d)
	}
	switch kind := d.obj.Kind; {
	case kind == "Cluster" && crossplane(group, "container.gcp"):
		d.class, d.fallback, d.read = "gke", "cluster", readCrossplaneGKE
	case kind == "Cluster" && crossplane(group, "eks.aws"):
		d.class, d.fallback, d.read = "eks", "cluster", readCrossplaneEKS
	case kind == "KubernetesCluster" && crossplane(group, "containerservice.azure"):
		d.class, d.fallback, d.read = "aks", "cluster", readCrossplaneAKS
	case kind == "ManagedCluster" && group == "containerservice.azure.com":
		d.class, d.fallback, d.read = "aks", "cluster", readASOManagedCluster
	default:
		return false
	}
	return true
}

// crossplane reports whether an API group is a provider's: of Upbound's
// providers, their namespaced kinds, or the older community providers.
func crossplane(group, service string) bool {
	rest, is := strings.CutPrefix(group, service+".")
	return is && (rest == "upbound.io" || rest == "m.upbound.io" || rest == "crossplane.io")
}

func declareClusterAPI(d *declaration) bool {
	o := d.obj
	switch o.Kind {
	case "AzureCluster":
		d.class, d.fallback, d.read = "azure", "cluster", readAzureCluster
	case "AWSCluster":
		d.class, d.fallback, d.read = "aws", "cluster", readAWSCluster
	case "GCPCluster", "GCPManagedCluster":
		d.class, d.fallback, d.read = "gcp", "cluster", readGCPCluster
	case "KubeadmControlPlane", "KubeadmControlPlaneTemplate":
		d.class, d.read = "control-plane", readKubeadmControlPlane
	case "TalosControlPlane":
		d.class, d.read = "control-plane", readTalosControlPlane
	case "AzureManagedControlPlane":
		d.class, d.read = "control-plane", readAzureManaged
	case "AWSManagedControlPlane":
		d.class, d.read = "control-plane", readAWSManaged
	case "GCPManagedControlPlane":
		d.class, d.read = "control-plane", readGCPManaged
	default:
		return false
	}
	if d.class == "control-plane" {
		// Its name is that of the control plane, not of the cluster.
		d.fallback, d.name = o.Name, ""
	}
	if of := root(o).get("metadata", "labels", "cluster.x-k8s.io/cluster-name").text(); of != "" {
		d.name = of
	}
	return true
}

// clusterAPIParts are the objects that a Cluster names as its own.
func clusterAPIParts(o *source.Object) []objectKey {
	var out []objectKey
	for _, part := range []string{"infrastructureRef", "controlPlaneRef"} {
		ref := root(o).get("spec", part)
		namespace, has := ref.get("namespace").str()
		if !has {
			namespace = o.Namespace
		}
		if name := ref.get("name").text(); name != "" {
			out = append(out, keyOf(ref.get("kind").text(), namespace, name))
		}
	}
	return out
}

func readClusterAPI(f *founded, o *source.Object) {
	network := root(o).get("spec", "clusterNetwork")
	f.rangeOf(cidrplan.Pod, network.get("pods", "cidrBlocks"), "pods.cidrBlocks")
	f.rangeOf(cidrplan.Service, network.get("services", "cidrBlocks"), "services.cidrBlocks")
	f.controlPlaneEndpoint(o)
}

func (f *founded) controlPlaneEndpoint(o *source.Object) {
	f.endpoint(root(o).get("spec", "controlPlaneEndpoint", "host"))
}

func readAzureCluster(f *founded, o *source.Object) {
	network := root(o).get("spec", "networkSpec")
	said := false
	for _, subnet := range network.get("subnets").items() {
		switch subnet.get("role").text() {
		case "node", "cluster":
			said = f.rangeOf(cidrplan.Node, subnet.get("cidrBlocks"), "node subnet "+subnet.get("name").text()) || said
		}
	}
	if !said { // the subnets are cut from it
		f.rangeOf(cidrplan.Node, network.get("vnet", "cidrBlocks"), "vnet.cidrBlocks")
	}
	f.controlPlaneEndpoint(o)
}

// readAzureManaged: AKS. Without overlay, Azure's own plugin gives pods
// addresses of the nodes' network.
func readAzureManaged(f *founded, o *source.Object) {
	spec := root(o).get("spec")
	network := spec.get("virtualNetwork")
	if !f.rangeOf(cidrplan.Node, network.get("subnet", "cidrBlock"), "virtualNetwork.subnet.cidrBlock") {
		f.rangeOf(cidrplan.Node, network.get("cidrBlock"), "virtualNetwork.cidrBlock")
	}
	f.rangeOf(cidrplan.DNS, spec.get("dnsServiceIP"), "dnsServiceIP")
	f.podsOfNodes = spec.get("networkPlugin").text() == "azure" && spec.get("networkPluginMode").text() != "overlay"
	f.controlPlaneEndpoint(o)
}

func readAWSCluster(f *founded, o *source.Object) {
	f.rangeOf(cidrplan.Node, root(o).get("spec", "network", "vpc", "cidrBlock"), "vpc.cidrBlock")
	f.controlPlaneEndpoint(o)
}

// readAWSManaged: EKS. A secondary block is for pods alone.
func readAWSManaged(f *founded, o *source.Object) {
	spec := root(o).get("spec")
	f.rangeOf(cidrplan.Node, spec.get("network", "vpc", "cidrBlock"), "vpc.cidrBlock")
	f.partOf(cidrplan.Pod, spec.get("secondaryCidrBlock"), "secondaryCidrBlock")
	if spec.get("vpcCni", "disable").boolean() == Absent {
		f.cni("aws", spec.ref())
	}
	f.controlPlaneEndpoint(o)
}

func readGCPCluster(f *founded, o *source.Object) {
	for _, subnet := range root(o).get("spec", "network", "subnets").items() {
		f.rangeOf(cidrplan.Node, subnet.get("cidrBlock"), "subnet "+subnet.get("name").text())
	}
	f.controlPlaneEndpoint(o)
}

func readGCPManaged(f *founded, o *source.Object) {
	network := root(o).get("spec", "clusterNetwork")
	f.block(cidrplan.Claim{Role: cidrplan.Pod}, network.get("pod", "cidrBlock"), "pod.cidrBlock")
	f.block(cidrplan.Claim{Role: cidrplan.Service}, network.get("service", "cidrBlock"), "service.cidrBlock")
	f.block(cidrplan.Claim{Role: cidrplan.API}, network.get("privateCluster", "controlPlaneCidrBlock"), "controlPlaneCidrBlock")
	f.endpoint(root(o).get("spec", "endpoint", "host"))
}

// readEksctl: pods take addresses of the VPC, so that the VPC's range says all
// about them that is to be said. The networks of hybrid nodes come on top.
func readEksctl(f *founded, o *source.Object) {
	top := root(o)
	vpc := top.get("vpc")
	said := f.rangeOf(cidrplan.Node, vpc.get("cidr"), "vpc.cidr")
	said = f.rangeOf(cidrplan.Node, vpc.get("extraCIDRs"), "vpc.extraCIDRs") || said
	for _, place := range []string{"private", "public"} {
		subnets := vpc.get("subnets", place)
		for _, name := range subnets.keys() {
			said = f.rangeOf(cidrplan.Node, subnets.get(name, "cidr"), "subnet "+name) || said
		}
	}
	if !said && !vpc.get("id").exists() && !vpc.get("subnets").exists() {
		f.constant(cidrplan.Node, vpc, "eksctl's default vpc.cidr", "192.168.0.0/16")
	}
	f.rangeOf(cidrplan.Service, top.get("kubernetesNetworkConfig", "serviceIPv4CIDR"), "serviceIPv4CIDR")
	remote := top.get("remoteNetworkConfig")
	for _, network := range remote.get("remoteNodeNetworks").items() {
		f.rangeOf(cidrplan.Node, network.get("cidrs"), "remoteNodeNetworks")
	}
	for _, network := range remote.get("remotePodNetworks").items() {
		f.partOf(cidrplan.Pod, network.get("cidrs"), "remotePodNetworks")
	}
	f.cni("aws", top.ref())
}

func readContainerCluster(f *founded, o *source.Object) {
	spec := root(o).get("spec")
	f.gke = o
	f.gkeRanges(spec, f.subnetwork(o, spec.get("subnetworkRef")))
	if root(o).get("metadata", "annotations", "cnrm.cloud.google.com/remove-default-node-pool").text() != "true" {
		f.nodePool(spec.get("nodeConfig"))
	}
}

func readCrossplaneGKE(f *founded, o *source.Object) {
	spec := root(o).get("spec", "forProvider")
	var subnet *source.Object
	if found := f.managed(o, "compute.gcp", "Subnetwork", spec, "subnetwork"); len(found) > 0 && allAlike(found) {
		subnet = found[0]
	}
	f.gkeRanges(spec, subnet)
}

// gkeRanges reads a cluster's spec in Config Connector's or Crossplane's form.
func (f *founded) gkeRanges(spec node, subnet *source.Object) {
	policy := single(spec.get("ipAllocationPolicy"))
	f.subnet = subnet
	f.block(cidrplan.Claim{Role: cidrplan.Pod}, policy.get("clusterIpv4CidrBlock"), "clusterIpv4CidrBlock")
	f.block(cidrplan.Claim{Role: cidrplan.Service}, policy.get("servicesIpv4CidrBlock"), "servicesIpv4CidrBlock")
	f.secondary(cidrplan.Claim{Role: cidrplan.Pod}, subnet, policy.get("clusterSecondaryRangeName"))
	f.secondary(cidrplan.Claim{Role: cidrplan.Service}, subnet, policy.get("servicesSecondaryRangeName"))
	for _, name := range single(policy.get("additionalPodRangesConfig")).get("podRangeNames").items() {
		f.secondary(cidrplan.Claim{Role: cidrplan.Pod, Part: true}, subnet, name)
	}
	if !policy.exists() { // a routes-based cluster
		f.block(cidrplan.Claim{Role: cidrplan.Pod}, spec.get("clusterIpv4Cidr"), "clusterIpv4Cidr")
	}
	if subnet != nil {
		f.rangeOf(cidrplan.Node, subnetSpec(subnet).get("ipCidrRange"), "ipCidrRange of subnetwork "+subnet.Name)
	}
	f.block(cidrplan.Claim{Role: cidrplan.API}, single(spec.get("privateClusterConfig")).get("masterIpv4CidrBlock"), "masterIpv4CidrBlock")
}

// single unwraps a block that stands in a list of its own, as in Crossplane's
// older versions.
func single(n node) node {
	if items := n.items(); len(items) == 1 {
		return items[0]
	}
	return n
}

// block adds a range that Google may choose instead: blank, or a netmask only.
func (f *founded) block(like cidrplan.Claim, n node, says string) {
	like.Says, like.Strength = says, cidrplan.Declared
	text, is := n.str()
	text = strings.TrimSpace(text)
	switch {
	case is && text == "":
	case strings.HasPrefix(text, "/"):
		f.unreadable(like, n, n.ref(), because(text+" is a size only: Google chooses the addresses when the cluster is made", writeRangeInPlan))
	default:
		f.rangeAs(like, n)
	}
}

// subnetwork resolves a reference to a ComputeSubnetwork: by object name, or by
// the name in Google's own path.
func (f *founded) subnetwork(o *source.Object, ref node) *source.Object {
	if name := ref.get("name").text(); name != "" {
		namespace, has := ref.get("namespace").str()
		if !has {
			namespace = o.Namespace
		}
		found, state := f.ix.find("ComputeSubnetwork", namespace, name, o)
		if state != Present {
			return nil
		}
		return found
	}
	external := ref.get("external").text()
	if external == "" {
		return nil
	}
	var found []*source.Object
	for _, s := range f.ix.ofKind("compute.cnrm.cloud.google.com", "ComputeSubnetwork") {
		name := s.Name
		if id := root(s).get("spec", "resourceID").text(); id != "" {
			name = id
		}
		if name == path.Base(external) {
			found = append(found, s)
		}
	}
	if len(found) == 0 || !allAlike(found) {
		return nil
	}
	return found[0]
}

// subnetSpec is where a subnetwork keeps its ranges, in either form.
func subnetSpec(subnet *source.Object) node {
	spec := root(subnet).get("spec")
	if n := spec.get("forProvider"); n.exists() {
		return n
	}
	return spec
}

// secondary adds the subnetwork's secondary range of the name in n.
func (f *founded) secondary(like cidrplan.Claim, subnet *source.Object, n node) {
	name := n.text()
	if name == "" {
		return
	}
	like.Says, like.Strength = "secondary range "+name, cidrplan.Declared
	spec := subnetSpec(subnet)
	for _, r := range append(spec.get("secondaryIpRange").items(), spec.get("secondaryIpRanges").items()...) {
		if r.get("rangeName").text() == name {
			like.Says += " of subnetwork " + subnet.Name
			f.rangeAs(like, r.get("ipCidrRange"))
			return
		}
	}
	f.unreadable(like, n, n.ref(), notInTree("the subnetwork that has it", "lint it together with that subnetwork, or write the range into the plan"))
}

// managed resolves Crossplane's references of a field to other resources of a
// provider: fieldRef and fieldRefs by object, fieldSelector by labels, and the
// field itself by the name that the cloud knows.
func (f *founded) managed(o *source.Object, service, kind string, in node, field string) []*source.Object {
	var out []*source.Object
	for _, ref := range append(in.get(field+"Refs").items(), in.get(field+"Ref")) {
		if found, state := f.ix.find(kind, o.Namespace, ref.get("name").text(), o); state == Present && crossplane(groupOf(found), service) {
			out = append(out, found)
		}
	}
	labels := in.get(field+"Selector", "matchLabels").stringMap()
	names := argumentsOf(in.get(field))
	if len(out) > 0 || len(labels) == 0 && len(names) == 0 {
		return out
	}
	for _, s := range f.ix.byKind[kind] {
		if !crossplane(groupOf(s), service) {
			continue
		}
		meta := root(s).get("metadata")
		external := meta.get("annotations", "crossplane.io/external-name").text()
		named := slices.ContainsFunc(names, func(n node) bool {
			base := path.Base(n.text())
			return n.text() != "" && (base == s.Name || base == external)
		})
		if named || len(labels) > 0 && hasLabels(meta.get("labels").stringMap(), labels) {
			out = append(out, s)
		}
	}
	return out
}

func hasLabels(have, want map[string]string) bool {
	for k, v := range want {
		if got, has := have[k]; !has || got != v {
			return false
		}
	}
	return true
}

func readCrossplaneEKS(f *founded, o *source.Object) {
	spec := root(o).get("spec", "forProvider")
	f.rangeOf(cidrplan.Service, single(spec.get("kubernetesNetworkConfig")).get("serviceIpv4Cidr"), "serviceIpv4Cidr")
	for _, key := range []string{"vpcConfig", "resourcesVpcConfig"} {
		for _, subnet := range f.managed(o, "ec2.aws", "Subnet", single(spec.get(key)), "subnetId") {
			f.rangeOf(cidrplan.Node, subnetSpec(subnet).get("cidrBlock"), "cidrBlock of subnet "+subnet.Name)
		}
	}
	remote := single(spec.get("remoteNetworkConfig"))
	f.rangeOf(cidrplan.Node, single(remote.get("remoteNodeNetworks")).get("cidrs"), "remoteNodeNetworks")
	f.partOf(cidrplan.Pod, single(remote.get("remotePodNetworks")).get("cidrs"), "remotePodNetworks")
	f.cni("aws", spec.ref())
}

func readCrossplaneAKS(f *founded, o *source.Object) {
	spec := root(o).get("spec", "forProvider")
	network := single(spec.get("networkProfile"))
	for _, field := range []struct {
		role cidrplan.Role
		keys []string
	}{
		{cidrplan.Pod, []string{"podCidr", "podCidrs"}},
		{cidrplan.Service, []string{"serviceCidr", "serviceCidrs"}},
		{cidrplan.DNS, []string{"dnsServiceIp"}},
	} {
		for _, key := range field.keys {
			f.rangeOf(field.role, network.get(key), key)
		}
	}
	for _, subnet := range f.managed(o, "network.azure", "Subnet", single(spec.get("defaultNodePool")), "vnetSubnetId") {
		f.rangeOf(cidrplan.Node, subnetSpec(subnet).get("addressPrefixes"), "addressPrefixes of subnet "+subnet.Name)
	}
	f.podsOfNodes = network.get("networkPlugin").text() == "azure" && network.get("networkPluginMode").text() != "overlay"
}

// readASOManagedCluster reads AKS as Azure Service Operator makes it. Subnets
// are named by an id of Azure or by a reference; neither is followed.
func readASOManagedCluster(f *founded, o *source.Object) {
	network := root(o).get("spec", "networkProfile")
	for _, field := range []struct {
		role cidrplan.Role
		keys []string
	}{
		{cidrplan.Pod, []string{"podCidr", "podCidrs"}},
		{cidrplan.Service, []string{"serviceCidr", "serviceCidrs"}},
		{cidrplan.DNS, []string{"dnsServiceIP"}},
	} {
		for _, key := range field.keys {
			f.rangeOf(field.role, network.get(key), key)
		}
	}
	f.podsOfNodes = network.get("networkPlugin").text() == "azure" && network.get("networkPluginMode").text() != "overlay"
}
