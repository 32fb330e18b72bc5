package vpnlint.rules.vpn202_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn202

by_default := testing.exemptions({"source": "default", "entries": [], "ref": testing.ref("/agent")})

with_agent(given) := testing.agents([testing.agent(object.union({"list": by_default}, given))])

target := testing.target({"entry": -1})

test_fires_at_the_agent if {
	found := vpn202.findings with input as with_agent({"targets": [target]})
	count(found) == 1
	some f in found
	f.ref == testing.ref("/agent")
	contains(f.message, "so its default (10.0.0.0/8) applies")
	contains(f.message, "10.20.0.0/16 behind onprem")
}

test_fires_when_nothing_says_which_address if {
	count(vpn202.findings) == 1 with input as with_agent({"targets": [object.union(target, {"wanted": "unknown"})]})
}

test_fires_once_for_several_destinations if {
	found := vpn202.findings with input as with_agent({"targets": [target, object.union(target, {"covered": ["192.168.7.0/24"]})]})
	count(found) == 1
}

test_silent_for_an_explicit_list if {
	count(vpn202.findings) == 0 with input as with_agent({"list": testing.exemptions({}), "targets": [target]})
}

test_silent_without_a_vpn if {
	count(vpn202.findings) == 0 with input as with_agent({})
}

test_silent_when_pods_are_expected if {
	count(vpn202.findings) == 0 with input as with_agent({"targets": [object.union(target, {"wanted": "pod"})]})
}

test_silent_when_the_defaults_miss_the_vpn if {
	count(vpn202.findings) == 0 with input as with_agent({"targets": [object.union(target, {"covered": []})]})
}

test_silent_when_unknown if {
	count(vpn202.findings) == 0 with input as with_agent({
		"list": testing.exemptions({"source": "unknown"}),
		"targets": [target],
	})
}
