package vpnlint.rules.vpn308_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn308

with_pod(pod, tunnel, clusters) := {
	"facts": testing.facts({"clusters": clusters, "pods": [testing.pod(object.union(
		{
			"role": "client", "clusters": ["prod"], "inbound": [testing.inbound({"port": 8888})],
			"tunnels": [testing.tunnel(object.union({"replies_kept": "present"}, tunnel))],
		},
		pod,
	))]}),
	"plan": testing.plan([]),
}

closed(ports) := {"input": testing.firewall("present", ports)}

probe(port) := testing.inbound({"kind": "probe", "port": port, "ref": testing.ref("/probe/port"), "says": sprintf("startupProbe httpGet %d", [port])})

cni(name) := [testing.cluster({"cni": name})]

health := testing.container({"listeners": [testing.listener({"port": 9999, "loopback": "present", "says": "the health server of Gluetun (127.0.0.1:9999)"})]})

test_fires_as_error_with_a_host_route_per_pod if {
	found := vpn308.findings with input as with_pod({}, closed([]), cni("calico"))
	count(found) == 1
	some f in found
	f.severity == "error"
	f.ref == testing.ref("/spec/template/spec/containers/0")
	contains(f.message, "FIREWALL_INPUT_PORTS lacks 8888")
}

test_fires_as_warning_without_the_cni if {
	found := vpn308.findings with input as with_pod({"inbound": [probe(8080)]}, closed([8888]), cni(""))
	{f.severity | some f in found} == {"warning"}
}

test_fires_for_a_service_behind_flannel if {
	count(vpn308.findings) == 1 with input as with_pod({}, closed([]), cni("flannel"))
}

test_fires_as_error_for_a_listener_on_loopback if {
	found := vpn308.findings with input as with_pod({"containers": [health], "inbound": [probe(9999)]}, {}, cni("flannel"))
	count(found) == 1
	some f in found
	f.severity == "error"
	f.ref == testing.ref("/probe/port")
	contains(f.message, "bound to loopback")
}

test_fires_once_for_loopback_behind_a_firewall if {
	count(vpn308.findings) == 1 with input as with_pod({"containers": [health], "inbound": [probe(9999)]}, closed([]), cni("calico"))
}

test_fires_as_warning_when_answers_are_captured if {
	found := vpn308.findings with input as with_pod({}, {"replies_kept": "absent"}, [])
	{f.severity | some f in found} == {"warning"}
}

test_fires_for_the_nodes_that_a_bypass_lacks if {
	found := vpn308.findings with input as with_pod(
		{},
		{
			"replies_kept": "absent", "bypass": testing.bypass({"state": "present", "entries": testing.prefixes(["10.96.0.0/12"])}),
			"captures": [testing.capture({"nodes": ["192.168.10.0/24"], "ranges": [testing.range("node", "192.168.10.0/24")]})],
		},
		[],
	)
	count(found) == 1
	some f in found
	contains(f.message, "nothing keeps the node range 192.168.10.0/24 of cluster prod out")
	f.clusters == {"prod"}
	testing.ref("/node") in {r.ref | some r in f.related}
}

test_silent_when_nobody_who_asks_is_captured if {
	count(vpn308.findings) == 0 with input as with_pod({}, {"replies_kept": "absent", "captures": [testing.capture({"ranges": [testing.range("pod", "10.244.0.0/16")]})]}, [])
}

test_silent_when_the_port_is_let_in if {
	count(vpn308.findings) == 0 with input as with_pod({}, closed([8888]), cni("calico"))
}

test_silent_for_a_probe_behind_flannel if {
	count(vpn308.findings) == 0 with input as with_pod({"inbound": [probe(8080)]}, closed([]), cni("flannel"))
}

test_silent_when_the_firewall_is_off if {
	count(vpn308.findings) == 0 with input as with_pod({}, {"input": testing.firewall("absent", [])}, cni("calico"))
}

test_silent_when_unknown if {
	count(vpn308.findings) == 0 with input as with_pod({}, {"input": testing.firewall("unknown", [])}, cni("calico"))
}

test_silent_without_anything_from_outside if {
	count(vpn308.findings) == 0 with input as with_pod({"inbound": []}, closed([]), cni("calico"))
}

test_silent_when_vpn302_speaks if {
	count(vpn308.findings) == 0 with input as with_pod({"needs": [testing.need("name")]}, {"replies_kept": "absent"}, [])
}

test_silent_when_the_nodes_bypass_the_tunnel if {
	count(vpn308.findings) == 0 with input as with_pod(
		{},
		{"replies_kept": "absent", "bypass": testing.bypass({"state": "present", "entries": testing.prefixes(["10.0.0.0/8"])})},
		[],
	)
}

test_silent_on_the_host_network if {
	count(vpn308.findings) == 0 with input as with_pod(
		{"host_network": {"state": "present", "value": "true", "ref": testing.ref("/h")}},
		closed([]),
		cni("calico"),
	)
}

unplaced := {"clusters": [], "cluster_known": "unknown"}

nameless(name) := [testing.cluster({"name": "", "cni": name})]

test_fires_for_a_service_in_an_unknown_cluster_without_its_cni if {
	found := vpn308.findings with input as with_pod(unplaced, closed([]), nameless("calico"))
	{f.severity | some f in found} == {"warning"}
}

test_silent_for_a_probe_in_an_unknown_cluster if {
	count(vpn308.findings) == 0 with input as with_pod(object.union(unplaced, {"inbound": [probe(8080)]}), closed([]), nameless("calico"))
}

test_silent_for_captured_answers_in_an_unknown_cluster if {
	count(vpn308.findings) == 0 with input as with_pod(unplaced, {"replies_kept": "absent"}, nameless("calico"))
}

test_fires_when_a_probe_asks_the_node if {
	found := vpn308.findings with input as with_pod(
		{"inbound": [], "node_probes": [{"name": "app", "ref": testing.ref("/host"), "says": "livenessProbe httpGet with host 127.0.0.1"}]},
		closed([]), cni("calico"),
	)
	some f in found
	f.severity == "error"
	f.ref == testing.ref("/host")
	contains(f.message, "asks the node's own loopback")
}
