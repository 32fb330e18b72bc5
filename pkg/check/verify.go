package check

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
)

// verifyArgs are what the commands that prove a finding are made out for. A
// command whose argument is not known is left out.
type verifyArgs struct {
	Namespace string `json:"namespace"`
	// Workload is a reference that kubectl accepts: "deploy/openvpn".
	Workload  string `json:"workload"`
	Container string `json:"container"` // to run the command in
	Tunnel    string `json:"tunnel"`    // the VPN's container
	// Destination is an address or prefix, of which the first address is used
	// where a command takes one.
	Destination string `json:"destination"`
	Behind      string `json:"behind"`    // an address or prefix behind the VPN
	Interface   string `json:"interface"` // of the tunnel
	Name        string `json:"name"`      // a DNS name of the cluster
	Endpoint    string `json:"endpoint"`  // the gateway's own address in the tunnel
	Reason      string `json:"reason"`    // of the event that tells a refusal
}

// forPod fills in what the pod itself tells. A container that has ended cannot
// be entered; any other of the pod sees the same network namespace.
func (a verifyArgs) forPod(pod placedPod) verifyArgs {
	if a.Workload == "" {
		a.Workload = pod.workload
	}
	if a.Namespace == "" {
		a.Namespace = pod.namespace
	}
	if pod.ends[a.Container] {
		a.Container = pod.runs
	}
	if pod.ends[a.Tunnel] {
		a.Tunnel = pod.runs
	}
	return a
}

// verifyTemplate is a group of commands that rules name in METADATA. The words
// in braces are the arguments; each is quoted for the shell. means says for the
// rule's page what the answer tells.
type verifyTemplate struct {
	name     string
	means    string
	commands []string
}

const (
	kubectl = "kubectl{namespace}"
	// A program in the VPN's container, and in another one.
	inTunnel    = kubectl + " exec {workload} -c {tunnel} -- "
	inContainer = kubectl + " exec {workload} -c {container} -- "
	// onNode gives a shell with the node's network. The image needs tcpdump and
	// iptables; netshoot is the usual choice.
	onNode = `kubectl debug node/"$NODE" -it --profile=sysadmin --image=nicolaka/netshoot -- `
	// whichNode sets NODE for onNode: the node of the workload, else any.
	whichNode = `{node}`
)

// verifyTemplates say how to see a finding on the running cluster. Their claims
// stand in claims.go.
var verifyTemplates = [...]verifyTemplate{
	{"forwarding", "1 forwards, 0 drops. Read it again after every rollout: what counts is the value in the pod that runs now.", []string{
		inContainer + "sysctl net.ipv4.ip_forward",
	}},
	{"forwarding-ipv6", "1 forwards, 0 drops. Read it again after every rollout.", []string{
		inContainer + "sysctl net.ipv6.conf.all.forwarding",
	}},
	{"sysctl-refused", "The kubelet that refuses the pod says so in an event.", []string{
		kubectl + " get events --field-selector reason=SysctlForbidden",
	}},
	{"refusal", "A pod that is refused leaves an event that says why.", []string{
		kubectl + " get events --field-selector reason={reason}",
	}},
	{"admission", "An event of the workload says which level refuses the pod, and why.", []string{
		"# \"violates PodSecurity\"\n" + kubectl + " get events --field-selector reason=FailedCreate",
	}},
	{"ladder", "From a client of the VPN, outward, up to the first silence: that hop drops.", []string{
		"# from a VPN client: the gateway itself\nping -c 3 {endpoint}",
		"# from a VPN client: a pod, through the gateway\n" + `ping -c 3 $(kubectl -n kube-system get pods -l k8s-app=kube-dns -o jsonpath='{.items[0].status.podIP}')`,
		"# from a VPN client: a service\n" + `nslookup kubernetes.default.svc.cluster.local $(kubectl -n kube-system get service kube-dns -o jsonpath='{.spec.clusterIP}')`,
		"# from a VPN client: a public destination; the first silence is the hop that drops\nping -c 3 1.1.1.1",
	}},
	{"translation", "The counters of the rules say what is translated; what passes without being counted keeps its address.", []string{
		inContainer + "iptables -t nat -nvL POSTROUTING",
	}},
	{"capture", "The source address in the capture is the one that the far side sees, and replies show that it can answer. Look for the same request there too.", []string{
		whichNode,
		"# while a pod talks to it: the source address decides\n" + onNode + "tcpdump -ni any net {destination}",
	}},
	{"pool-capture", "On the gateway's node, outside the gateway, no packet has an address of the pool: the capture stays silent while clients talk.", []string{
		whichNode,
		onNode + "tcpdump -ni any net {destination}",
	}},
	{"agent-rules", "The agent's log says what it made of its configuration, the rules on the node what it wrote. Where they differ from the ConfigMap, suspect the agent, not the network.", []string{
		whichNode,
		kubectl + " logs {workload} -c {container} --tail=20",
		onNode + `sh -c 'iptables-save -t nat | grep -iE "masq|snat"'`,
	}},
	{"agents", "Without an agent in the list nothing reads the ConfigMap.", []string{
		"kubectl get daemonsets --all-namespaces -o wide | grep -i masq",
	}},
	{"routes", "The interface in the answer is the one that the packet takes.", []string{
		inTunnel + "ip route get {address}",
	}},
	{"peers", "Each prefix stands at the one peer that gets its packets.", []string{
		inTunnel + "wg show {interface} allowed-ips",
	}},
	{"node-routes", "Rules and routes of the VPN that show here apply to the whole node.", []string{
		whichNode,
		onNode + "sh -c 'ip rule; ip route show table all'",
	}},
	{"three-destinations", "From the application's container: each of the three must answer, or not, as it was meant.", []string{
		"# a destination behind the VPN\n" + inContainer + "nc -zvw 5 {behind} 443",
		"# a cluster service\n" + inContainer + "nc -zvw 5 kubernetes.default.svc.cluster.local 443",
		"# the public internet\n" + inContainer + "nc -zvw 5 1.1.1.1 443",
	}},
	{"resolver", "The name servers that all containers of the pod use, and whether they know the cluster's names.", []string{
		inContainer + "cat /etc/resolv.conf",
		inContainer + "nslookup {name}",
	}},
	{"start-order", "What started before the VPN could send without it; native sidecars are among the init containers.", []string{
		kubectl + ` get {pod} -o jsonpath='{range .status.initContainerStatuses[*]}{.state.running.startedAt} {.name}{"\n"}{end}'`,
		kubectl + ` get {pod} -o jsonpath='{range .status.containerStatuses[*]}{.state.running.startedAt} {.name}{"\n"}{end}'`,
	}},
	{"reverse-path", "src_valid_mark must be 1, or no rp_filter that applies may be 1.", []string{
		inContainer + "sysctl net.ipv4.conf.all.src_valid_mark net.ipv4.conf.all.rp_filter net.ipv4.conf.eth0.rp_filter",
		"# wg-quick says what it could not write\n" + kubectl + " logs {workload} -c {tunnel} --tail=50",
	}},
	{"tunnel-log", "The VPN says what it made of its configuration, or why it stopped.", []string{
		kubectl + " logs {workload} -c {tunnel} --tail=50",
	}},
	{"privileges", "The capabilities that the VPN really has, as a bit mask (capsh --decode).", []string{
		inTunnel + "grep Cap /proc/1/status",
	}},
	{"listeners", "The port appears once: the container that came second is missing.", []string{
		inTunnel + "netstat -tuln",
		"# \"address already in use\" of whichever started second\n" + kubectl + " logs {workload} -c {container} --tail=20",
	}},
	{"input-rules", "What no rule admits falls to the chain's policy; failed probes are events.", []string{
		inTunnel + "iptables -nvL INPUT",
		kubectl + " get events --field-selector reason=Unhealthy",
	}},
	{"job-state", "The job is not complete, and its pod runs on with the VPN alone ready.", []string{
		kubectl + " get {object}",
		kubectl + " get {pod}",
	}},
	{"replicas", "READY counts the gateways that share one key and one pool; the strategy says whether an update runs old and new ones at once.", []string{
		kubectl + " get {object}",
		kubectl + ` get {object} -o jsonpath='{.spec.strategy}{.spec.updateStrategy}{"\n"}'`,
	}},
	{"reach", "It times out while the packets have no way, and connects when they have one.", []string{
		inContainer + "nc -zvw 5 {behind} 443",
	}},
	{"ipv6", "The default route of IPv6 must be the tunnel's, or there must be none.", []string{
		inContainer + "ip -6 route",
	}},
	{"packet-size", "The MTU of both interfaces; the large ping gets no answer while small ones do.", []string{
		inTunnel + "ip link show",
		"# through the tunnel: 1400 bytes\n" + inTunnel + "ping -c 3 -M do -s 1372 1.1.1.1",
	}},
	{"kill-test", "With the tunnel killed the application must lose its way out. Run the second command at once: the tunnel comes back.", []string{
		"# interrupts the tunnel and all that uses it\n" + inTunnel + "kill 1",
		"# at once: must fail while the tunnel is down\n" + inContainer + "nc -zvw 5 1.1.1.1 443",
	}},
	{"cluster-ranges", "The ranges that the cluster really has: pods and services as its components were told, and the nodes with their addresses. Managed clusters tell them elsewhere.", []string{
		`kubectl cluster-info dump | grep -oE -- '--(service-)?cluster-(ip-range|cidr)=[0-9a-f.:/,]+' | sort -u`,
		`kubectl get nodes -o jsonpath='{range .items[*]}{.spec.podCIDRs}{" "}{.status.addresses[0].address}{"\n"}{end}'`,
	}},
	{"client-route", "On a client inside such a network the route must lead into the tunnel.", []string{
		"# from a VPN client at home, with the tunnel up\nip route get {address}",
	}},
}

// podShell is for images without the programs that the commands name.
const podShell = "# where the image lacks such a program, a shell in the pod's network namespace:\n" +
	"kubectl{namespace} debug {pod} -it --profile=netadmin --image=nicolaka/netshoot"

// verifyMeans returns what the answers to a rule's verify commands tell.
func verifyMeans(m finding.RuleMeta) []string {
	var out []string
	for _, name := range m.Verify {
		for i := range verifyTemplates {
			if t := &verifyTemplates[i]; t.name == name {
				out = append(out, t.means)
			}
		}
	}
	return out
}

var placeholder = regexp.MustCompile(`\{[a-z-]+\}`)

// verifyCommands makes the named templates out.
func verifyCommands(names []string, args verifyArgs) []string {
	made := maker{namespace: args.Namespace, values: map[string]string{
		"{workload}":    args.Workload,
		"{object}":      args.Workload,
		"{pod}":         args.Workload,
		"{node}":        args.Workload,
		"{container}":   args.Container,
		"{tunnel}":      args.Tunnel,
		"{destination}": args.Destination,
		"{address}":     firstAddress(args.Destination),
		"{interface}":   args.Interface,
		"{behind}":      firstAddress(args.Behind),
		"{name}":        args.Name,
		"{endpoint}":    firstAddress(args.Endpoint),
		"{reason}":      args.Reason,
	}}
	var out []string
	add := func(template string) {
		if command, ok := made.out(template); ok && !slices.Contains(out, command) {
			out = append(out, command)
		}
	}
	for _, name := range names {
		i := slices.IndexFunc(verifyTemplates[:], func(t verifyTemplate) bool { return t.name == name })
		if i < 0 {
			continue // New has refused it
		}
		for _, command := range verifyTemplates[i].commands {
			add(command)
		}
	}
	if !slices.ContainsFunc(out, func(c string) bool { return strings.Contains(c, `"$NODE"`) }) {
		out = slices.DeleteFunc(out, func(c string) bool { return strings.Contains(c, setsNode) })
	}
	for i, command := range slices.Backward(out) {
		if shell, ok := made.out(podShell); ok && needsProgram(command) {
			return slices.Insert(out, i+1, shell)
		}
	}
	return out
}

// needsProgram reports whether a command runs a program that some images lack.
// Programs that act on the container itself have no use in another.
func needsProgram(command string) bool {
	_, program, exec := strings.Cut(command, " -- ")
	return exec && strings.Contains(command, " exec ") && !strings.HasPrefix(program, "kill ") && !strings.HasPrefix(program, "grep ") && !strings.HasPrefix(program, "cat ")
}

// maker makes commands out for one object.
type maker struct {
	namespace string
	values    map[string]string
}

// out returns the command, false where an argument is not known.
func (m maker) out(command string) (string, bool) {
	known := true
	made := placeholder.ReplaceAllStringFunc(command, func(p string) string {
		if p == "{namespace}" {
			return m.inNamespace()
		}
		value, isArgument := m.values[p]
		if !isArgument {
			return p // jsonpath's {end}
		}
		ok := value != ""
		switch p {
		case "{workload}":
			value, ok = m.execable(value)
		case "{pod}":
			value, ok = m.pod(value)
		case "{object}":
			if labels, made := strings.CutPrefix(value, "pods/"); made {
				value = "pods -l " + quote(labels)
				break
			}
			value = quote(value)
		case "{node}":
			return m.node(value)
		default:
			value = quote(value)
		}
		known = known && ok
		return value
	})
	return made, known
}

func (m maker) inNamespace() string {
	if m.namespace == "" {
		return ""
	}
	return " -n " + quote(m.namespace)
}

// execable makes a workload out for kubectl exec and logs. Both find a pod of the
// built-in workloads by themselves, but of no CronJob, whose pods are told by
// their names, and of no custom resource.
func (m maker) execable(workload string) (string, bool) {
	kind, name, _ := strings.Cut(workload, "/")
	if name == "" {
		return "", false // the cluster makes it up
	}
	switch kind {
	case "deploy", "sts", "ds", "rs", "rc", "job", "pod":
		return quote(workload), true
	case "cronjob", "pods":
		return m.pod(workload)
	default:
		return "", false
	}
}

// pod makes a workload out for commands that take pods only: one of its pods, by
// the form that its controller gives their names.
func (m maker) pod(workload string) (string, bool) {
	kind, name, _ := strings.Cut(workload, "/")
	form, ok := map[string]string{
		"deploy": "-[a-z0-9]*-[a-z0-9]*$", "sts": "-[0-9]*$", "ds": "-[a-z0-9]*$", "rs": "-[a-z0-9]*$", "rc": "-[a-z0-9]*$",
		"job": "-[a-z0-9-]*$", "cronjob": "-[0-9]*-[a-z0-9]*$",
	}[kind]
	switch {
	case name == "":
		return "", false
	case kind == "pod":
		return quote(workload), true
	case kind == "pods": // the name is made up in the cluster, the labels are known
		return `$(kubectl` + m.inNamespace() + ` get pods -o name -l ` + quote(name) + ` | tail -n 1)`, true
	case !ok:
		return "", false
	}
	return `$(kubectl` + m.inNamespace() + ` get pods -o name | grep ` + quote("^pod/"+name+form) + ` | tail -n 1)`, true
}

// setsNode is how the line begins that sets NODE.
const setsNode = "NODE=$("

// node sets NODE to where a pod of the workload runs. Without a workload it is
// any node.
func (m maker) node(workload string) string {
	pod, ok := m.pod(workload)
	if !ok {
		return "# any node, better one with pods that talk to the VPN:\n" + setsNode + `kubectl get nodes -o jsonpath='{.items[0].metadata.name}')`
	}
	return setsNode + "kubectl" + m.inNamespace() + ` get ` + pod + ` -o jsonpath='{.spec.nodeName}')`
}

// firstAddress returns an address of a prefix that a host may have: the one
// that is written, if it is a host's, else the first after the network's own.
func firstAddress(destination string) string {
	prefix, err := netip.ParsePrefix(destination)
	if err != nil {
		return destination
	}
	if prefix.IsSingleIP() || prefix.Addr() != prefix.Masked().Addr() {
		return prefix.Addr().String()
	}
	return prefix.Addr().Next().String()
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

// quote makes a word of the manifests safe to paste into a shell.
func quote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
