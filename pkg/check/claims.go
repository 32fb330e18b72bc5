package check

// Claim is something that a VPN in Kubernetes taught somebody the hard way, and that
// vpnlint has to know.
type Claim struct {
	ID    string // F1, C5
	Means string // one line
}

// Claims returns all of them: M of masquerading, F of pods that forward, C of what
// a tunnel beside an application reroutes.
func Claims() []Claim { return claims[:] }

var claims = [...]Claim{
	{"M1", "a node gets through and a pod does not: the source address on the wire decides, not tunnel and routes"},
	{"M2", "the masquerade agent decides by destination, and its default list exempts all private ranges"},
	{"M3", "ConfigMap, running agent and installed rules can disagree"},
	{"M4", "one source address, seen on both sides, ends the discussion"},
	{"M5", "the fix narrows the exemption list and leaves the rest of the configuration alone"},
	{"M6", "a change of the list changes what every far side sees, and what names pod addresses fails in silence"},
	{"M7", "a node pool without the agent keeps its old rules"},
	{"M8", "keep pod addresses and teach them to the path, or not: a choice that is written down with its reason"},
	{"M9", "check both directions: a reply has a path of its own"},
	{"M10", "the way back is the previous configuration, with the same checks"},
	{"F1", "when only the gateway itself answers, it does not forward"},
	{"F2", "forwarding is a setting of the pod's network namespace"},
	{"F3", "a name that fails while the address answers is a matter of DNS"},
	{"F4", "only what the manifest holds outlasts a restart"},
	{"F5", "an init container that writes a sysctl needs a privilege that Pod Security may refuse"},
	{"F6", "a pod sysctl must be on the kubelet's list"},
	{"F7", "where a chart has a switch, its value outlasts upgrades, and a patch does not"},
	{"F8", "forwarding is not enough: clients' addresses need a way back"},
	{"F9", "policies see the address after translation"},
	{"F10", "clients that only need services can end at one, and nothing is routed"},
	{"F11", "work outward, and stop at the first silence"},
	{"F12", "read the setting again, in the pod, after every rollout"},
	{"C1", "the containers of a pod share one network namespace, and nobody else does"},
	{"C2", "a route or resolver hits every process of the pod at once"},
	{"C3", "another pod that needs the same way needs a tunnel of its own"},
	{"C4", "on the host network it is the whole node"},
	{"C5", "a broad default route takes the API server and the services along"},
	{"C6", "pods, services, nodes and what is behind the VPN must not overlap"},
	{"C7", "who replaces the resolver loses the cluster's names"},
	{"C8", "a sidecar that runs is no egress policy"},
	{"C9", "the gap is short on a healthy cluster and permanent on a broken one"},
	{"C10", "kill the tunnel and see that the application loses its way out"},
	{"C11", "making interfaces and routes is a privilege to be given sparingly"},
	{"C12", "test from the application's container: behind the VPN, in the cluster, on the internet"},
	{"C13", "the plan lies beside the configuration, so that another cluster is a plan check"},
}

// Carrier is something besides a rule that answers a claim of the domain: a
// command of vpnlint, or a group of verify commands that rules name.
type Carrier struct {
	// Command is "plan free", Verify the name of the group; one of them is set.
	Command, Verify string
	// Claim is one of the domain's requirements: M4, F12.
	Claim string
	// Says is text that it produces and that answers the claim.
	Says string
	// Scenario is the file in testdata/script that runs the command and compares
	// its output with Says. Verify commands are compared with what the examples of
	// the rules get.
	Scenario string
}

// Carriers returns all of them. The claims of rules stand in their METADATA.
func Carriers() []Carrier { return carriers[:] }

var carriers = [...]Carrier{
	{Command: "lint", Claim: "M5", Says: "the narrowest list is 10.4.0.0/14, 10.128.0.0/20", Scenario: "masquerade_story.txtar"},
	{Command: "lint", Claim: "C13", Says: "clusters lab, prod", Scenario: "plan_targets.txtar"},
	{Command: "plan", Claim: "M1", Says: "packets to 10.20.0.0/16 behind onprem keep pod addresses", Scenario: "masquerade_story.txtar"},
	{Command: "plan", Claim: "M5", Says: "nonMasqueradeCIDRs:\n     - 10.4.0.0/14\n     - 10.128.0.0/20\n", Scenario: "masquerade_story.txtar"},
	{Command: "plan", Claim: "C6", Says: "packets from the cluster to VPN clients in 10.244.8.0/24", Scenario: "plan.txtar"},
	{Command: "plan free", Claim: "C6", Says: "10.243.255.0/24", Scenario: "plan.txtar"},
	{Command: "plan init", Claim: "C6", Says: "# services: [] # ??? 10.96.0.0/12 is kubeadm's default serviceSubnet", Scenario: "plan_init.txtar"},
	{Command: "fix", Claim: "F7", Says: "+  enabled: true", Scenario: "fix_chart.txtar"},
	{Command: "fix", Claim: "M6", Says: "allow-lists and firewall rules there that name pod addresses stop matching", Scenario: "fix_review.txtar"},
	{Command: "fix", Claim: "M10", Says: "the way back is the list as it is now, applied and checked in the same way", Scenario: "fix_review.txtar"},
	{Command: "lint", Claim: "F7", Says: `"proof": "rendered"`, Scenario: "fix.txtar"},

	{Verify: "forwarding", Claim: "F2", Says: "exec deploy/openvpn -c openvpn -- sysctl net.ipv4.ip_forward"},
	{Verify: "forwarding", Claim: "F12", Says: "sysctl net.ipv4.ip_forward"},
	{Verify: "forwarding-ipv6", Claim: "F12", Says: "sysctl net.ipv6.conf.all.forwarding"},
	{Verify: "sysctl-refused", Claim: "F6", Says: "reason=SysctlForbidden"},
	{Verify: "admission", Claim: "F5", Says: "# \"violates PodSecurity\"\nkubectl -n remote-access get events"},
	{Verify: "ladder", Claim: "F1", Says: "# from a VPN client: the gateway itself"},
	{Verify: "ladder", Claim: "F3", Says: "nslookup kubernetes.default.svc.cluster.local"},
	{Verify: "ladder", Claim: "F11", Says: "# from a VPN client: a public destination; the first silence is the hop that drops"},
	{Verify: "translation", Claim: "F8", Says: "iptables -t nat -nvL POSTROUTING"},
	{Verify: "capture", Claim: "M1", Says: "the source address decides"},
	{Verify: "capture", Claim: "M4", Says: "tcpdump -ni any net 10.20.0.0/16"},
	{Verify: "pool-capture", Claim: "F9", Says: "tcpdump -ni any net 10.211.0.0/24"},
	{Verify: "agent-rules", Claim: "M3", Says: `iptables-save -t nat | grep -iE "masq|snat"`},
	{Verify: "agents", Claim: "M3", Says: "get daemonsets --all-namespaces -o wide | grep -i masq"},
	{Verify: "routes", Claim: "C5", Says: "-- ip route get 10.96.0.1"},
	{Verify: "node-routes", Claim: "C4", Says: "ip rule; ip route show table all"},
	{Verify: "three-destinations", Claim: "C12", Says: "# a cluster service\nkubectl"},
	{Verify: "three-destinations", Claim: "C12", Says: "# the public internet\nkubectl"},
	{Verify: "resolver", Claim: "C7", Says: "cat /etc/resolv.conf"},
	{Verify: "privileges", Claim: "C11", Says: "grep Cap /proc/1/status"},
	{Verify: "reach", Claim: "C3", Says: "-- nc -zvw 5 10.60.4.20 443"},
	{Verify: "kill-test", Claim: "C10", Says: "# at once: must fail while the tunnel is down"},
	{Verify: "cluster-ranges", Claim: "C6", Says: "{.spec.podCIDRs}"},
}
