# METADATA
# description: |
#   Small inputs for the rules' tests. Each builder fills in what a test does not say and is undefined
#   for a key that the input does not have, so that a misspelt fixture fails its test.
package vpnlint.lib.testing

made(base, given) := object.union(base, given) if {
	every key, _ in given { key in object.keys(base) }
}

pods(list) := {"facts": facts({"pods": list}), "plan": plan([])}

agents(list) := {"facts": facts({"agents": list}), "plan": plan([])}

invalid(list) := {"facts": facts({"invalid": list}), "plan": plan([])}

overlaps(list) := {"facts": facts({}), "plan": plan(list)}

facts(given) := made(
	{"pods": [], "agents": [], "sites": [], "clusters": [], "invalid": [], "policy_blocks": [], "unread_lists": [], "backends": [], "node_routes": [], "peer_groups": []},
	given,
)

plan(list) := {"ranges": [], "overlaps": list, "conflicts": []}

conflicts(ranges, list) := {"facts": facts({}), "plan": {"ranges": ranges, "overlaps": [], "conflicts": list}}

ref(pointer) := {"object": "Deployment/vpn/vpn", "pointer": pointer, "start": 0, "end": 0}

nowhere := {"object": "", "pointer": "", "start": 0, "end": 0}

switch(state) := {"state": state, "ref": ref("/switch"), "why": "because"}

pod(given) := made(
	{
		"id": "vpn", "object": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "vpn", "name": "vpn", "helm": ""},
		"namespace": "vpn", "maker": "", "workload": "deploy/vpn", "ref": ref("/spec/template/spec"), "metadata": ref("/spec/template/metadata"),
		"name_ref": ref("/metadata/name"),
		"labels": {}, "annotations": {}, "replicas": 1, "replicas_ref": ref("/spec/replicas"),
		"surge": {"state": "absent", "value": "", "ref": nowhere}, "scaled": {"state": "absent", "value": "", "ref": nowhere},
		"state_per_replica": false,
		"runs_to_completion": false, "per_node": false, "sysctls": [], "rejections": [], "injected": [], "attached": switch("absent"),
		"role": "gateway", "role_why": "a server", "unit": "apps/vpn", "clusters": [], "cluster_known": "present",
		"host_network": {"state": "absent", "value": "false", "ref": nowhere},
		"dns_policy": {"state": "absent", "value": "ClusterFirst", "ref": nowhere},
		"cluster_resolver": switch("present"), "first_resolver": "",
		"containers": [container({})], "forwarding": forwarding([]), "tunnels": [], "needs": [], "gates": [],
		"host_pid": off, "host_ipc": off, "shared_processes": off, "mentions": [], "inbound": [], "node_probes": [],
		"src_valid_mark": sysctls("absent", []), "loose_filter": sysctls("absent", []), "ipv6_off": sysctls("absent", []),
		"egress": egress("absent"),
	},
	given,
)

off := {"state": "absent", "value": "false", "ref": nowhere}

# Evidence for one setting of the pod's network namespace.
sysctls(state, list) := {"state": state, "evidence": list}

container(given) := made(
	{
		"name": "vpn", "ref": ref("/spec/template/spec/containers/0"), "stage": "main", "order": 0,
		"image": "vpn:1", "image_ref": ref("/spec/template/spec/containers/0/image"), "family": "openvpn",
		"family_title": "OpenVPN", "version": "", "data_plane": true, "application": false,
		"privileged": "absent", "capabilities": ["NET_ADMIN"], "dropped": [], "uses_network": "absent",
		"security_ref": ref("/spec/template/spec/containers/0/securityContext"),
		"non_root": {"state": "unknown", "value": "", "ref": nowhere}, "tun_device": false,
		"combined": false, "needs_admin": "present", "makes_tun": false,
		"needs_privilege": switch("absent"), "modules": [], "listeners": [], "own_command": false,
	},
	given,
)

application(name) := container({
	"name": name, "data_plane": false, "application": true, "family": "", "family_title": "",
	"ref": ref("/spec/template/spec/containers/1"),
})

egress(state) := {
	"deny_by_default": state, "tunnel_only": state, "policies": [], "unenforced": switch("absent"),
}

sysctl(given) := made(
	{
		"name": "net.ipv4.ip_forward", "value": "1", "ref": ref("/sysctls/0"), "safe": false,
		"allowed": "unseen", "kubelet_ref": nowhere,
	},
	given,
)

rejection(given) := made(
	{
		"level": "baseline", "version": "latest", "says": "non-default capabilities (NET_ADMIN)",
		"ref": ref("/capabilities"), "label_ref": ref("/labels"),
	},
	given,
)

invalid_range(given) := made(
	{
		"object": {"apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "ClusterConfiguration", "namespace": "", "name": ""},
		"pod": "", "ref": ref("/podSubnet"), "text": "10.244.0.0", "says": "podSubnet",
		"why": "it is an address without a mask", "fate": "kubeadm refuses the configuration",
	},
	given,
)

policy_block(given) := made(
	{
		"object": {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "namespace": "db", "name": "from-vpn"},
		"cluster": "", "known": true, "prefix": "10.8.0.0/24", "ref": ref("/cidr"), "except": false, "source": true,
	},
	given,
)

# A gateway's forwarding for which there is this evidence, none of which turns
# it on for certain.
forwarding(evidence) := {
	"needed": "present", "needed_why": "it is a gateway", "ipv6_off": "absent",
	"ipv4": family({"evidence": evidence}), "ipv6": family({}),
}

family(given) := made(
	{"state": "absent", "evidence": [], "carried": "present", "turned_off": "absent", "turned_off_by": "", "turned_off_ref": nowhere, "field": "", "field_ref": nowhere},
	given,
)

evidence(given) := made(
	{
		"how": "script", "value": "1", "container": "vpn", "ref": ref("/command"),
		"says": "sysctl -w net.ipv4.ip_forward=1", "effective": "present", "when": "before",
		"tolerant": false, "conditional": false, "target": "",
	},
	given,
)

prefixes(list) := [{"prefix": p, "text": p, "ref": ref(sprintf("/%d", [i]))} | some i, p in list]

range(role, prefix) := {
	"role": role, "prefix": prefix, "ref": ref(sprintf("/%s", [role])), "says": "podSubnet", "strength": "declared",
}

tunnel(given) := made(
	{
		"container": "vpn", "container_ref": ref("/spec/template/spec/containers/0"), "family": "gluetun",
		"family_title": "gluetun", "version": "", "kind": "wireguard", "side": "client", "user_space": "absent",
		"interface": "tun0", "config": nowhere, "routes": routes({}), "bypass": bypass({}), "captures": [],
		"resolver": resolver({}), "kill_switch": switch("absent"), "masquerade": switch("absent"),
		"pool": [], "pool_routed": switch("absent"), "masquerade_out": [], "image_known": true,
		"addresses": [], "local": [], "rewrites": [], "advertised": [], "peers": [],
		"clients": clients({}), "replies_kept": "absent",
		"mark_write": "", "input": firewall("unknown", []), "ipv6": switch("unknown"), "mtu": mtu(0, ""),
	},
	given,
)

# What an image's own firewall lets in.
firewall(closed, ports) := {
	"closed": closed, "key": "FIREWALL_INPUT_PORTS", "ports": ports, "ref": ref("/spec/template/spec/containers/0"),
}

mtu(size, says) := {"size": size, "ref": ref("/mtu"), "says": says, "outer6": false}

# A listener of an image on all addresses.
listener(given) := made(
	{
		"port": 8000, "protocol": "TCP", "source": "image", "ref": ref("/spec/template/spec/containers/0"),
		"says": "the control server of Gluetun (:8000)", "loopback": "absent", "used": true,
	},
	given,
)

inbound(given) := made(
	{
		"kind": "service", "container": "app", "port": 8080, "protocol": "TCP", "ref": ref("/service"),
		"says": "Service jobs/app port 80", "tunnel": false,
	},
	given,
)

mention(address) := {
	"container": "app", "address": address, "ref": ref("/env/0/value"), "says": sprintf("https://%s:8443", [address]),
	"proxied": false,
}

malformed(effect, why) := {"text": "10.244.0.0/16 10.96.0.0/12", "ref": ref("/entry"), "effect": effect, "why": why}

cluster(given) := made(
	{
		"name": "prod", "ref": ref("/cluster"), "unit": "prod", "ranges": [range("service", "10.96.0.0/12")], "cni": "",
		"cni_ref": nowhere, "forwarding_off": switch("absent"), "forwarding_on": switch("absent"),
		"source_check": switch("absent"), "spoofing_allowed": switch("unknown"), "mtu": mtu(0, ""),
		"planned": false, "plan": planned({}), "elsewhere": false,
	},
	given,
)

unset := {"state": "absent", "value": "", "ref": nowhere}

# What only the plan file says of a cluster.
planned(given) := made(
	{
		"pod_forwarding": unset, "allowed_unsafe_sysctls": [], "masquerade": unset, "internal": [], "dns": [],
		"api_server": [], "node_pools": [], "vpn": [], "client_pools": [],
	},
	given,
)

planned_vpn(given) := made(
	{
		"name": "onprem", "ref": ref("/clusters/0/vpn/0"), "tunnel": {"kind": "", "name": "", "ref": nowhere, "object": nowhere},
		"full_tunnel": switch("absent"), "destinations": prefixes(["10.20.0.0/16"]), "owner": "VPN onprem",
		"source_address": unset, "reason": unset, "local_traffic_selectors": [], "return_routes": [], "far_side_allows": [],
	},
	given,
)

planned_pool(prefix, acknowledged) := {
	"name": "road-warriors", "ref": ref("/clusters/0/clientPools/0"),
	"range": {"prefix": prefix, "text": prefix, "ref": ref("/clusters/0/clientPools/0/range")}, "routed": switch("absent"),
	"acknowledge": [{"text": rule, "ref": ref("/acknowledge")} | some rule in acknowledged], "reason": unset,
}

# A setting that is made.
set_to(value) := {"state": "present", "value": value, "ref": ref(sprintf("/%s", [value]))}

# A default route.
routes(given) := made(
	{
		"state": "present", "default": true, "prefixes": prefixes(["0.0.0.0/0"]), "ref": ref("/routes"),
		"why": "gluetun's default", "more_specific_win": false, "fw_mark": false, "named": [],
		"internet": object.get(given, "default", true),
	},
	given,
)

clients(given) := made(
	{"state": "absent", "default": false, "routes": [], "resolvers": [], "unreached": []},
	given,
)

# A peer that calls in, with these prefixes.
peer(key, list) := {
	"ref": ref(sprintf("/%s", [key])), "interface": "wg0", "public_key": key, "endpoint": false, "endpoint_address": "", "table": "auto",
	"allowed_ips": [{"prefix": p, "text": p, "ref": ref(sprintf("/%s/%d", [key, i]))} | some i, p in list],
}

unreached(address, within) := {
	"resolver": {"prefix": sprintf("%s/32", [address]), "text": address, "ref": ref("/resolver")}, "within": within,
}

bypass(given) := made(
	{
		"state": "absent", "key": "FIREWALL_OUTBOUND_SUBNETS", "separator": ",", "ref": ref("/bypass"),
		"entries": [], "malformed": [],
	},
	given,
)

# What is captured of a cluster with known ranges.
capture(given) := made(
	{
		"cluster": "prod", "known": true, "services": [], "pods": [], "nodes": [], "api": [],
		"pods_certain": false, "missing": [], "overruled": [], "suggestion": "", "alternative": "", "ranges": [range("service", "10.96.0.0/12")],
	},
	given,
)

resolver(given) := made(
	{
		"rewrites": "absent", "servers": [], "ref": ref("/resolver"), "why": "DNS = 10.2.0.1",
		"reaches_cluster": "absent", "first": "",
	},
	given,
)

need(kind) := {
	"container": "app", "ref": ref("/env/0"), "kind": kind,
	"says": "http://ledger.billing.svc.cluster.local:8080",
}

gate(given) := made(
	{
		"tunnel": "vpn", "ref": ref("/spec/template/spec/containers/0"), "stage": "sidecar",
		"startup_probe": switch("absent"), "post_start_blocks": switch("absent"),
		"before": [], "after": ["app"], "waits": [], "fake_gates": [], "early_inits": [],
	},
	given,
)

object_name(kind, name) := {"apiVersion": "v1", "kind": kind, "namespace": "jobs", "name": name}

agent(given) := made(
	{
		"kind": "ip-masq-agent",
		"object": {"apiVersion": "apps/v1", "kind": "DaemonSet", "namespace": "kube-system", "name": "ip-masq-agent"},
		"ref": ref("/agent"), "container": "ip-masq-agent", "workload": "ds/ip-masq-agent", "cluster": "prod",
		"list": exemptions({}), "effective": ["10.0.0.0/8"], "targets": [], "missing_pods": [], "missing_nodes": [],
		"wide": [], "minimal": ["10.4.0.0/14"], "missed_pools": [], "pod_ranges": [range("pod", "10.4.0.0/14")], "node_ranges": [],
	},
	given,
)

# An explicit list of 10.0.0.0/8.
exemptions(given) := made(
	{
		"source": "explicit", "ref": ref("/data/config"), "why": "nonMasqueradeCIDRs",
		"entries": prefixes(["10.0.0.0/8"]), "valid": "present", "refused": [],
		"resync": {"state": "absent", "value": "60s", "ref": ref("/data/config")}, "resync_reason": "",
	},
	given,
)

missed_pool(name) := {
	"name": name, "object": {"apiVersion": "v1", "kind": "ContainerNodePool", "namespace": "infra", "name": name},
	"pool": ref("/taint"), "ref": ref("/spec/template/spec"), "why": "does not tolerate its taint dedicated=batch:NoSchedule",
}

rewrite(list) := {
	"ref": ref("/natOutgoing"), "says": "natOutgoing of IPPool pods", "sources": ["10.244.0.0/16"],
	"prefixes": list, "unless": "",
}

# A list under a key that the agent does not read.
unread_list(given) := made(
	{
		"object": {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "kube-system", "name": "ip-masq-agent"},
		"ref": ref("/data/list"), "cluster": "prod", "agent": "ds/ip-masq-agent", "agent_namespace": "kube-system",
		"agent_container": "ip-masq-agent", "wrong": "key", "why": "ds/ip-masq-agent does not find the key list",
		"expected": ref("/volume"),
	},
	given,
)

target(given) := made(
	{
		"site": "onprem", "prefix": "10.20.0.0/16", "ref": ref("/remote"), "wanted": "node",
		"wanted_why": "the local selectors hold the nodes only", "wanted_ref": ref("/local"),
		"covered": ["10.20.0.0/16"], "entry": 0, "lacks": [],
	},
	given,
)

# A step of the path that leaves pods out.
lack(kind, list) := {"kind": kind, "ref": ref(sprintf("/%s", [kind])), "outside": list}

site(given) := made(
	{
		"name": "onprem", "object": {"apiVersion": "v1", "kind": "ComputeVPNTunnel", "namespace": "", "name": "onprem"},
		"ref": ref("/site"), "cluster": "prod", "cluster_known": "present", "remote_state": "present", "remote": [],
		"local_state": "present", "local": [], "planned": false,
	},
	given,
)

# An address outside the cluster behind a Service, and a route that all nodes have.
backend(given) := made(
	{"object": object_name("Endpoints", "erp"), "cluster": "", "cluster_known": "present", "address": "10.60.4.20", "ref": ref("/ip"), "resolved": nowhere},
	given,
)

node_route(given) := made({"cluster": "", "cluster_known": "present", "prefix": "10.60.0.0/16", "ref": ref("/destRange")}, given)

claim(role, prefix) := {
	"cluster": "prod", "role": role, "prefix": prefix, "at": ref(sprintf("/%s", [role])), "says": role,
	"strength": "declared", "owner": "", "idiom": "",
}

overlap(a, b, relation, set) := {"cluster": "prod", "a": a, "b": b, "relation": relation, "set": set, "more": 0}

# One of each element, to hold the builders against the schema of the input.
everything := {
	"facts": {
		"pods": [pod({
			"containers": [container({"listeners": [listener({})], "modules": [{"name": "vpn", "ref": nowhere, "says": "SYS_MODULE"}]}), application("app")],
			"inbound": [inbound({})], "mentions": [mention("10.60.4.20")], "src_valid_mark": sysctls("present", [evidence({})]),
			"forwarding": object.union(forwarding([evidence({})]), {"ipv6": family({"evidence": [evidence({})]})}),
			"tunnels": [tunnel({
				"captures": [capture({})], "bypass": bypass({"entries": prefixes(["10.0.0.0/8"]), "malformed": [malformed("refused", "wants commas")]}),
				"peers": [peer("anna", ["10.77.0.2/32"])],
				"clients": clients({"unreached": [unreached("10.96.0.10", [range("service", "10.96.0.0/12")])]}),
			})],
			"needs": [need("name")],
			"gates": [gate({"fake_gates": [{"name": "wait", "ref": nowhere, "says": "ping"}]})],
			"sysctls": [sysctl({})], "rejections": [rejection({})],
		})],
		"agents": [agent({"targets": [target({"lacks": [lack("selectors", ["10.4.0.0/14"])]})], "missed_pools": [missed_pool("batch")], "wide": prefixes(["10.0.0.0/8"])})],
		"sites": [site({"remote": prefixes(["10.20.0.0/16"])})],
		"clusters": [cluster({"plan": planned({"vpn": [planned_vpn({})], "client_pools": [planned_pool("10.250.0.0/24", ["VPN406"])]})})], "invalid": [invalid_range({})], "policy_blocks": [policy_block({})], "unread_lists": [unread_list({})],
		"backends": [backend({})],
		"node_routes": [node_route({})],
		"peer_groups": [{"says": "Kilo's mesh", "cluster": "prod", "peers": [peer("anna", ["10.77.0.2/32"])]}],
	},
	"plan": plan([overlap(claim("vpn", "10.20.0.0/16"), claim("pod", "10.16.0.0/12"), "a-in-b", ["10.20.0.0/16"])]),
}
