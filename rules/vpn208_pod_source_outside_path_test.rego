package vpnlint.rules.vpn208_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn208

on_purpose := testing.exemptions({"entries": testing.prefixes(["10.4.0.0/14", "10.20.0.0/16"])})

target(given) := testing.target(object.union({"entry": 1, "lacks": [testing.lack("selectors", ["10.4.0.0/14"])]}, given))

with_agent(given) := testing.agents([testing.agent(object.union({"list": on_purpose, "targets": [target({})]}, given))])

test_fires_at_the_selectors if {
	found := vpn208.findings with input as with_agent({})
	count(found) == 1
	some f in found
	f.ref == testing.ref("/selectors")
	contains(f.message, "keep their address towards 10.20.0.0/16 (which is on the exemption list), but onprem carries nothing from 10.4.0.0/14")
}

test_fires_when_nothing_masquerades if {
	none := testing.exemptions({"source": "none", "entries": [], "why": "defaultSnatStatus.disabled keeps the pod's address everywhere"})
	found := vpn208.findings with input as with_agent({"list": none, "targets": [target({"entry": -1})]})
	some f in found
	contains(f.message, "(defaultSnatStatus.disabled keeps the pod's address everywhere)")
}

test_fires_for_a_part_of_the_pods if {
	count(vpn208.findings) == 1 with input as with_agent({"targets": [target({"wanted": "unknown", "lacks": [testing.lack("selectors", ["10.6.0.0/15"])]})]})
}

test_fires_for_an_entry_inside_the_destination if {
	list := testing.exemptions({"entries": testing.prefixes(["10.20.7.0/24"])})
	count(vpn208.findings) == 1 with input as with_agent({"list": list, "targets": [target({"entry": 0, "covered": ["10.20.7.0/24"]})]})
}

test_silent_when_the_selectors_hold_the_pods if {
	count(vpn208.findings) == 0 with input as with_agent({"targets": [target({"wanted": "pod", "lacks": []})]})
}

by_plan := {"wanted": "pod", "wanted_why": "the plan says so (tenants)", "wanted_ref": testing.ref("/sourceAddress")}

test_fires_for_the_far_side_of_the_plan if {
	list := testing.exemptions({"source": "default", "entries": []})
	found := vpn208.findings with input as with_agent({
		"list": list,
		"targets": [target(object.union(by_plan, {"entry": -1, "lacks": [testing.lack("return-route", ["10.4.0.0/14"]), testing.lack("far-side", ["10.4.0.0/15"])]}))],
	})
	count(found) == 1
	some f in found
	f.ref == testing.ref("/return-route")
	contains(f.message, "(sourceAddress: pod, the plan says so (tenants))")
	contains(f.message, "the far side of onprem has no return route to 10.4.0.0/14 and the far side of onprem lets nothing from 10.4.0.0/15 in")
	testing.ref("/far-side") in {r.ref | some r in f.related}
}

test_silent_when_the_plan_s_path_holds_the_pods if {
	count(vpn208.findings) == 0 with input as with_agent({"targets": [target(object.union(by_plan, {"lacks": []}))]})
}

test_silent_for_a_wider_entry if {
	list := testing.exemptions({"entries": testing.prefixes(["10.0.0.0/8"])})
	count(vpn208.findings) == 0 with input as with_agent({"list": list, "targets": [target({"entry": 0})]})
}

test_silent_for_a_default_list if {
	list := testing.exemptions({"source": "default", "entries": []})
	count(vpn208.findings) == 0 with input as with_agent({"list": list, "targets": [target({"entry": -1})]})
}

test_silent_when_the_address_is_rewritten if {
	count(vpn208.findings) == 0 with input as with_agent({"targets": [target({"covered": []})]})
}

test_silent_when_unknown if {
	list := testing.exemptions({"source": "unknown", "entries": []})
	count(vpn208.findings) == 0 with input as with_agent({"list": list, "targets": [target({"entry": -1, "covered": []})]})
}

test_fires_where_nothing_masquerades_and_nodes_are_expected if {
	none := testing.exemptions({
		"source": "none", "entries": [], "ref": testing.ref("/disabled"),
		"why": "defaultSnatStatus.disabled keeps the pod's address everywhere",
	})
	choice := {"wanted": "node", "wanted_why": "the plan says so (firewall)", "wanted_ref": testing.ref("/sourceAddress")}
	some f in vpn208.findings with input as with_agent({
		"list": none,
		"targets": [target(object.union(choice, {"entry": -1, "lacks": [testing.lack("choice", ["10.4.0.0/14"])]}))],
	})
	f.ref == testing.ref("/disabled")
	contains(f.message, "(defaultSnatStatus.disabled keeps the pod's address everywhere), but the far side of onprem expects node addresses: the plan says so (firewall): a request")
	testing.ref("/choice") in {r.ref | some r in f.related}
}
