package vpnlint.rules.vpn204_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn204

with_lists(list) := {"facts": testing.facts({"unread_lists": list}), "plan": testing.plan([])}

test_fires_for_the_wrong_key if {
	found := vpn204.findings with input as with_lists([testing.unread_list({})])
	count(found) == 1
	some f in found
	f.ref == testing.ref("/data/list")
	startswith(f.message, "the exemption list in ConfigMap kube-system/ip-masq-agent is read by no agent of cluster prod: ds/ip-masq-agent does not find the key list")
	f.related[0].ref == testing.ref("/volume")
}

test_fires_without_an_agent if {
	nobody := {"agent": "", "agent_namespace": "", "agent_container": "", "cluster": "", "expected": testing.nowhere}
	found := vpn204.findings with input as with_lists([testing.unread_list(nobody)])
	some f in found
	count(f.related) == 0
	count(f.clusters) == 0
}

test_fires_on_autopilot if {
	found := vpn204.findings with input as with_lists([testing.unread_list({"wrong": "autopilot"})])
	some f in found
	endswith(f.message, "its policies decide which packets get the node's address")
}

test_fires_for_each_kind if {
	kinds := ["key", "name", "namespace", "mount", "path", "autopilot"]
	list := [testing.unread_list({"wrong": k, "ref": testing.ref(sprintf("/%s", [k]))}) | some k in kinds]
	count(vpn204.findings) == count(kinds) with input as with_lists(list)
}

test_silent_when_all_is_read if {
	count(vpn204.findings) == 0 with input as with_lists([])
}

test_silent_for_a_default_list if {
	count(vpn204.findings) == 0 with input as testing.agents([testing.agent({"list": testing.exemptions({"source": "default"})})])
}

test_silent_when_unknown if {
	count(vpn204.findings) == 0 with input as testing.agents([testing.agent({"list": testing.exemptions({"source": "unknown"})})])
}
