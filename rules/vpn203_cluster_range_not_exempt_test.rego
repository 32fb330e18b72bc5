package vpnlint.rules.vpn203_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn203

with_agent(given) := testing.agents([testing.agent(given)])

test_fires_for_pods if {
	found := vpn203.findings with input as with_agent({"missing_pods": ["10.6.0.0/15"]})
	count(found) == 1
	some f in found
	f.severity == "warning"
	f.ref == testing.ref("/data/config")
	contains(f.message, "leaves out 10.6.0.0/15 of the pod range 10.4.0.0/14 of cluster prod")
}

test_fires_as_note_for_nodes if {
	found := vpn203.findings with input as with_agent({
		"missing_nodes": ["10.128.0.0/20"],
		"node_ranges": [testing.range("node", "10.128.0.0/20")],
	})
	{f.severity | some f in found} == {"note"}
}

test_fires_for_an_empty_list if {
	found := vpn203.findings with input as with_agent({
		"list": testing.exemptions({"entries": []}),
		"missing_pods": ["10.4.0.0/14"],
	})
	some f in found
	contains(f.message, "the exemption list (empty) leaves out")
}

test_silent_when_all_is_exempt if {
	count(vpn203.findings) == 0 with input as with_agent({})
}

test_silent_for_a_default_list if {
	count(vpn203.findings) == 0 with input as with_agent({
		"list": testing.exemptions({"source": "default"}),
		"missing_pods": ["10.4.0.0/14"],
	})
}

test_silent_when_the_agent_refuses_the_list if {
	count(vpn203.findings) == 0 with input as with_agent({
		"list": testing.exemptions({"valid": "absent"}),
		"missing_pods": ["10.4.0.0/14"],
	})
}

test_silent_when_unknown if {
	count(vpn203.findings) == 0 with input as with_agent({
		"list": testing.exemptions({"source": "unknown"}),
		"missing_pods": ["10.4.0.0/14"],
	})
}

with_choice(source) := {
	"facts": testing.facts({
		"agents": [testing.agent({"missing_pods": ["10.6.0.0/16"]})],
		"clusters": [testing.cluster({"plan": testing.planned({"vpn": [testing.planned_vpn({"destinations": testing.prefixes(["10.6.0.0/16"]), "source_address": source})]})})],
	}),
	"plan": testing.plan([]),
}

test_silent_for_what_the_plan_wants_rewritten if {
	count(vpn203.findings) == 0 with input as with_choice(testing.set_to("node"))
}

test_fires_for_what_the_plan_wants_kept if {
	count(vpn203.findings) == 1 with input as with_choice(testing.set_to("pod"))
	count(vpn203.findings) == 1 with input as with_choice(testing.unset)
}

test_fires_for_pods_in_the_private_block_that_a_vpn_leads_to if {
	corporate := testing.planned_vpn({"destinations": testing.prefixes(["10.0.0.0/8"]), "source_address": testing.set_to("node")})
	count(vpn203.findings) == 1 with input as {
		"facts": testing.facts({
			"agents": [testing.agent({"missing_pods": ["10.6.0.0/16"]})],
			"clusters": [testing.cluster({"plan": testing.planned({"vpn": [corporate]})})],
		}),
		"plan": testing.plan([]),
	}
}
