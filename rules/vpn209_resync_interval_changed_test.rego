package vpnlint.rules.vpn209_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn209

every_ten := {"state": "present", "value": "10s", "ref": testing.ref("/data/config")}

with_list(given) := testing.agents([testing.agent({"list": testing.exemptions(given)})])

test_fires_at_the_interval if {
	found := vpn209.findings with input as with_list({"resync": every_ten})
	count(found) == 1
	some f in found
	f.ref == testing.ref("/data/config")
	contains(f.message, "every 10s instead of every 60s")
}

test_fires_without_an_agent_in_view if {
	count(vpn209.findings) == 1 with input as testing.agents([testing.agent({
		"ref": testing.nowhere, "container": "", "list": testing.exemptions({"resync": every_ten}),
	})])
}

test_fires_for_a_default_list if {
	count(vpn209.findings) == 1 with input as with_list({"source": "default", "resync": every_ten})
}

test_silent_for_the_default if {
	count(vpn209.findings) == 0 with input as with_list({})
}

test_silent_with_a_reason if {
	count(vpn209.findings) == 0 with input as with_list({"resync": every_ten, "resync_reason": "nodes are preempted often"})
}

test_silent_for_agents_that_do_not_read_it if {
	# their facts have no interval at all
	count(vpn209.findings) == 0 with input as with_list({"resync": {"state": "", "value": "", "ref": testing.nowhere}})
}

test_silent_when_unknown if {
	count(vpn209.findings) == 0 with input as with_list({"resync": object.union(every_ten, {"state": "unknown"})})
}
