package check

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
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
}

// forPod fills in what the pod itself tells.
func (a verifyArgs) forPod(pod placedPod) verifyArgs {
	if a.Workload == "" {
		a.Workload = pod.workload
	}
	if a.Namespace == "" {
		a.Namespace = pod.namespace
	}
	return a
}

// verifyTemplate is a group of commands that rules name in METADATA. The words
// in braces are the arguments; each is quoted for the shell.
type verifyTemplate struct {
	name     string
	claims   []string
	commands []string
}

const (
	kubectl = "kubectl{namespace}"
	// onNode gives a shell with the node's network. The image needs tcpdump and
	// iptables; netshoot is the usual choice.
	onNode = `kubectl debug node/"$NODE" -it --profile=sysadmin --image=nicolaka/netshoot -- `
	// whichNode sets NODE for onNode.
	whichNode = `NODE=$(` + kubectl + ` get pods --no-headers -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName | awk -v w={workload-name} 'index($1, w) == 1 {print $2; exit}')`
)

// verifyTemplates answer claims F11, F12, M3, M4, C10 and C12: each finding
// says how to see it on the running cluster.
var verifyTemplates = [...]verifyTemplate{
	{"forwarding", []string{"F2", "F12"}, []string{
		kubectl + " exec {workload} -c {container} -- sysctl net.ipv4.ip_forward",
	}},
	{"forwarding-ipv6", []string{"F2", "F12"}, []string{
		kubectl + " exec {workload} -c {container} -- sysctl net.ipv6.conf.all.forwarding",
	}},
	{"sysctl-refused", []string{"F6"}, []string{
		kubectl + ` get events --field-selector reason=SysctlForbidden`,
	}},
	{"admission", []string{"F5", "C11"}, []string{
		kubectl + " get events --field-selector reason=FailedCreate  # \"violates PodSecurity\"",
	}},
	{"ladder", []string{"F1", "F11"}, []string{
		"ping -c 3 {endpoint}  # from a VPN client: the gateway itself",
		`ping -c 3 "$(kubectl -n kube-system get pods -l k8s-app=kube-dns -o jsonpath='{.items[0].status.podIP}')"  # from a VPN client: a pod, through the gateway`,
		`nslookup kubernetes.default.svc.cluster.local "$(kubectl -n kube-system get service kube-dns -o jsonpath='{.spec.clusterIP}')"  # from a VPN client: a service`,
		"ping -c 3 1.1.1.1  # from a VPN client: a public destination; the first silence is the hop that drops",
	}},
	{"capture", []string{"M1", "M4", "M9"}, []string{
		onNode + "tcpdump -ni any net {destination}  # NODE runs a pod that talks to it; the source address decides",
	}},
	{"agent-rules", []string{"M3", "M5"}, []string{
		kubectl + " logs {workload} -c {container} --tail=20",
		onNode + "sh -c 'iptables-save -t nat | grep -i masq'",
	}},
	{"routes", []string{"C5", "C12"}, []string{
		kubectl + " exec {workload} -c {tunnel} -- ip route get {address}",
	}},
	{"peers", []string{"C2"}, []string{
		kubectl + " exec {workload} -c {tunnel} -- wg show {interface} allowed-ips",
	}},
	{"node-routes", []string{"C4"}, []string{
		whichNode,
		onNode + "sh -c 'ip rule; ip route show table all'",
	}},
	{"three-destinations", []string{"C12"}, []string{
		kubectl + " exec {workload} -c {container} -- nc -zvw 5 {behind} 443  # a destination behind the VPN",
		kubectl + " exec {workload} -c {container} -- nc -zvw 5 kubernetes.default.svc.cluster.local 443  # a cluster service",
		kubectl + " exec {workload} -c {container} -- nc -zvw 5 1.1.1.1 443  # the public internet",
	}},
	{"resolver", []string{"C7", "F3"}, []string{
		kubectl + " exec {workload} -c {container} -- cat /etc/resolv.conf",
		kubectl + " exec {workload} -c {container} -- nslookup {name}",
	}},
	{"start-order", []string{"C8", "C9"}, []string{
		kubectl + ` get pods -o jsonpath='{range .items[*].status.containerStatuses[*]}{.state.running.startedAt}{" "}{.name}{"\n"}{end}{range .items[*].status.initContainerStatuses[*]}{.state.running.startedAt}{" "}{.name}{"\n"}{end}'`,
	}},
	{"reverse-path", []string{"C8"}, []string{
		kubectl + " exec {workload} -c {container} -- sysctl net.ipv4.conf.all.src_valid_mark net.ipv4.conf.all.rp_filter net.ipv4.conf.eth0.rp_filter",
		kubectl + " logs {workload} -c {tunnel} --tail=50  # wg-quick says what it could not write",
	}},
	{"tunnel-log", []string{"C5"}, []string{
		kubectl + " logs {workload} -c {tunnel} --tail=50",
	}},
	{"privileges", []string{"C11"}, []string{
		kubectl + " exec {workload} -c {tunnel} -- grep Cap /proc/1/status",
	}},
	{"listeners", []string{"C1"}, []string{
		kubectl + " exec {workload} -c {tunnel} -- netstat -tuln",
		kubectl + " logs {workload} -c {container} --tail=20  # \"address already in use\" of whichever started second",
	}},
	{"input-rules", []string{"C8"}, []string{
		kubectl + " exec {workload} -c {tunnel} -- iptables -nvL INPUT",
		kubectl + " get events --field-selector reason=Unhealthy",
	}},
	{"job-state", []string{"C8"}, []string{
		kubectl + " get {object}",
		kubectl + ` get pods -o jsonpath='{range .items[*]}{.metadata.name}{" "}{.status.phase}{"\n"}{end}'`,
	}},
	{"reach", []string{"C3"}, []string{
		kubectl + " exec {workload} -c {container} -- nc -zvw 5 {behind} 443",
	}},
	{"ipv6", []string{"C8"}, []string{
		kubectl + " exec {workload} -c {container} -- ip -6 route",
	}},
	{"packet-size", []string{"F1"}, []string{
		kubectl + " exec {workload} -c {tunnel} -- ip link show",
		kubectl + " exec {workload} -c {tunnel} -- ping -c 3 -M do -s 1372 1.1.1.1  # through the tunnel: 1400 bytes",
	}},
	{"kill-test", []string{"C10"}, []string{
		kubectl + " exec {workload} -c {tunnel} -- kill 1",
		kubectl + " exec {workload} -c {container} -- nc -zvw 5 1.1.1.1 443  # at once: must fail while the tunnel is down",
	}},
}

// VerifyClaims returns the claims of the domain that verify commands carry, by the
// words of such a command that tell it from all others.
func VerifyClaims() map[string][]string {
	out := map[string][]string{}
	for i := range verifyTemplates {
		t := &verifyTemplates[i]
		for _, command := range t.commands {
			longest := slices.MaxFunc(placeholder.Split(command, -1), func(a, b string) int { return len(a) - len(b) })
			words := strings.TrimSpace(longest)
			out[words] = append(out[words], t.claims...)
		}
	}
	return out
}

var placeholder = regexp.MustCompile(`\{[a-z-]+\}`)

// verifyCommands makes the named templates out.
func verifyCommands(names []string, args verifyArgs) []string {
	values := map[string]string{
		"{workload}":      args.Workload,
		"{object}":        args.Workload,
		"{workload-name}": args.Workload[strings.LastIndexByte(args.Workload, '/')+1:],
		"{container}":     args.Container,
		"{tunnel}":        args.Tunnel,
		"{destination}":   args.Destination,
		"{address}":       firstAddress(args.Destination),
		"{interface}":     args.Interface,
		"{behind}":        firstAddress(args.Behind),
		"{name}":          args.Name,
		"{endpoint}":      firstAddress(args.Endpoint),
	}
	var out []string
	for _, name := range names {
		i := slices.IndexFunc(verifyTemplates[:], func(t verifyTemplate) bool { return t.name == name })
		if i < 0 {
			continue // New has refused it
		}
		for _, command := range verifyTemplates[i].commands {
			if made, ok := makeOut(command, args.Namespace, values); ok && !slices.Contains(out, made) {
				out = append(out, made)
			}
		}
	}
	return out
}

func makeOut(command, namespace string, values map[string]string) (string, bool) {
	known := true
	made := placeholder.ReplaceAllStringFunc(command, func(p string) string {
		if p == "{namespace}" {
			if namespace == "" {
				return ""
			}
			return " -n " + quote(namespace)
		}
		value, isArgument := values[p]
		if !isArgument {
			return p // jsonpath's {end}
		}
		if value == "" {
			known = false
		}
		if p == "{workload}" {
			value, ok := podOf(namespace, value)
			known = known && ok
			return value
		}
		return quote(value)
	})
	return made, known
}

// podOf makes a workload out for kubectl exec and logs. Both find a pod of the
// built-in workloads by themselves, but of no CronJob, whose pods are told by
// their names, and of no custom resource.
func podOf(namespace, workload string) (string, bool) {
	kind, name, _ := strings.Cut(workload, "/")
	switch kind {
	case "deploy", "sts", "ds", "rs", "rc", "job", "pod":
		return quote(workload), true
	case "cronjob":
		get := "kubectl"
		if namespace != "" {
			get += " -n " + quote(namespace)
		}
		return `"$(` + get + ` get pods -o name | grep ` + quote("^pod/"+name+"-[0-9]") + ` | tail -n 1)"`, true
	default:
		return "", false
	}
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
