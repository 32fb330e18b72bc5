package vpnlint.rules.vpn201_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn201

with_agent(given) := testing.agents([testing.agent(given)])

entry := testing.prefixes(["10.0.0.0/8"])[0]

hidden := testing.site({"remote_state": "unknown"})

with_site(agent, site) := {
	"facts": testing.facts({"agents": [testing.agent(agent)], "sites": [site]}),
	"plan": testing.plan([]),
}

test_fires_as_error_when_nodes_are_expected if {
	found := vpn201.findings with input as with_agent({"targets": [testing.target({})]})
	count(found) == 1
	some f in found
	f.severity == "error"
	f.ref == entry.ref
	contains(f.message, "the exemption 10.0.0.0/8 covers 10.20.0.0/16 behind onprem")
	contains(f.message, "the narrowest list is 10.4.0.0/14")
	f.clusters == {"prod"}
	f.verify.destination == "10.20.0.0/16"
}

test_names_the_networks_of_a_vpn_together if {
	found := vpn201.findings with input as with_agent({"targets": [
		testing.target({}),
		testing.target({"prefix": "10.30.0.0/16", "covered": ["10.30.0.0/16"]}),
		testing.target({"site": "branch", "prefix": "10.40.0.0/16", "covered": ["10.40.0.0/16"]}),
	]})
	some f in found
	contains(f.message, "covers 10.40.0.0/16 behind branch and 10.20.0.0/16 and 10.30.0.0/16 behind onprem, so")
}

many := [testing.target({"ref": testing.ref(sprintf("/%d", [i])), "prefix": prefix, "covered": [prefix]}) |
	some i in numbers.range(10, 59)
	prefix := sprintf("10.20.%d.0/24", [i])
]

test_counts_what_is_too_much_to_name if {
	found := vpn201.findings with input as with_agent({"targets": many})
	some f in found
	contains(f.message, "covers 10.20.10.0/24, 10.20.11.0/24, 10.20.12.0/24, 10.20.13.0/24, 10.20.14.0/24, 10.20.15.0/24 and 44 more behind onprem, so")
	count([r | some r in f.related; startswith(r.says, "10.20.")]) == 20
}

test_counts_the_vpns_that_are_too_many_to_name if {
	targets := [object.union(t, {"site": sprintf("vpn%d", [10 + i])}) | some i, t in many]
	found := vpn201.findings with input as with_agent({"targets": targets})
	some f in found
	contains(f.message, "10.20.15.0/24 behind vpn15 and 44 more, so")
}

test_fires_as_warning_when_nothing_says_which_address if {
	found := vpn201.findings with input as with_agent({"targets": [testing.target({"wanted": "unknown", "wanted_why": ""})]})
	some f in found
	f.severity == "warning"
	contains(f.message, "written nowhere")
}

test_fires_once_an_entry if {
	found := vpn201.findings with input as with_agent({
		"list": testing.exemptions({"entries": testing.prefixes(["10.0.0.0/8", "192.168.0.0/16"])}),
		"targets": [
			testing.target({}),
			testing.target({"prefix": "10.30.0.0/16", "covered": ["10.30.0.0/16"]}),
			testing.target({"prefix": "192.168.7.0/24", "covered": ["192.168.7.0/24"], "entry": 1}),
		],
	})
	count(found) == 2
	{f.ref.pointer | some f in found} == {"/0", "/1"}
}

test_fires_for_a_wide_entry_before_a_hidden_vpn if {
	found := vpn201.findings with input as with_site({"wide": [entry]}, hidden)
	count(found) == 1
	some f in found
	f.severity == "warning"
	contains(f.message, "onprem leads to networks that are not in view")
}

test_silent_for_a_wide_entry_before_a_hidden_vpn_that_carries_pods if {
	announced := object.union(hidden, {"local": testing.prefixes(["10.4.0.0/14", "10.128.0.0/20"])})
	count(vpn201.findings) == 0 with input as with_site({"wide": [entry]}, announced)
}

test_fires_for_a_hidden_vpn_that_carries_a_part_or_says_nothing if {
	every local in [["10.4.0.0/15"], ["0.0.0.0/0"], []] {
		count(vpn201.findings) == 1 with input as with_site({"wide": [entry]}, object.union(hidden, {"local": testing.prefixes(local)}))
	}
}

test_fires_once_for_a_wide_entry_that_covers_a_destination if {
	count(vpn201.findings) == 1 with input as with_site({"wide": [entry], "targets": [testing.target({})]}, hidden)
}

test_silent_when_pods_are_expected if {
	count(vpn201.findings) == 0 with input as with_agent({"targets": [testing.target({"wanted": "pod"})]})
}

test_silent_when_nothing_is_covered if {
	count(vpn201.findings) == 0 with input as with_agent({"targets": [testing.target({"covered": [], "entry": -1})]})
}

test_silent_for_a_default_list if {
	count(vpn201.findings) == 0 with input as with_agent({
		"list": testing.exemptions({"source": "default", "entries": []}),
		"targets": [testing.target({"entry": -1})],
	})
}

test_silent_when_the_agent_refuses_the_list if {
	count(vpn201.findings) == 0 with input as with_agent({
		"list": testing.exemptions({"valid": "absent"}),
		"targets": [testing.target({})],
	})
}

test_silent_for_a_wide_entry_without_a_vpn if {
	count(vpn201.findings) == 0 with input as with_agent({"wide": [entry]})
}

test_silent_for_a_vpn_of_another_cluster if {
	count(vpn201.findings) == 0 with input as with_site({"wide": [entry]}, object.union(hidden, {"cluster": "lab"}))
}

test_silent_when_unknown if {
	count(vpn201.findings) == 0 with input as with_agent({
		"list": testing.exemptions({"source": "unknown", "entries": []}),
		"targets": [testing.target({"covered": [], "entry": -1})],
	})
}

test_says_that_an_entry_is_the_destination if {
	whole := testing.target({"prefix": "10.0.0.0/8", "covered": ["10.0.0.0/8"]})
	some f in vpn201.findings with input as with_agent({"targets": [whole]})
	startswith(f.message, "the exemption 10.0.0.0/8 is a network behind onprem, so packets of pods")
	contains(f.message, "the far side expects node addresses, and a request with a pod address gets no reply: the local selectors hold the nodes only")
}
