package vpnlint.rules.vpn206_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn206

with_missed(list) := testing.agents([testing.agent({"missed_pools": list})])

test_fires_for_a_taint if {
	found := vpn206.findings with input as with_missed([testing.missed_pool("batch")])
	count(found) == 1
	some f in found
	f.ref == testing.ref("/spec/template/spec")
	startswith(f.message, "ds/ip-masq-agent misses node pool batch, for it does not tolerate its taint dedicated=batch:NoSchedule: ")
	f.related[0].ref == testing.ref("/taint")
}

test_fires_once_for_two_pools_with_one_cause if {
	found := vpn206.findings with input as with_missed([testing.missed_pool("batch"), testing.missed_pool("gpu")])
	count(found) == 1
	some f in found
	count(f.related) == 2
}

test_fires_at_each_cause if {
	selector := {"ref": testing.ref("/spec/template/spec/nodeSelector"), "why": "selects other nodes by nodeSelector"}
	found := vpn206.findings with input as with_missed([testing.missed_pool("batch"), object.union(testing.missed_pool("edge"), selector)])
	count(found) == 2
}

test_silent_when_every_pool_is_served if {
	count(vpn206.findings) == 0 with input as with_missed([])
}

test_silent_without_an_agent if {
	count(vpn206.findings) == 0 with input as testing.agents([])
}

test_silent_for_a_list_that_is_not_explicit if {
	count(vpn206.findings) == 0 with input as testing.agents([testing.agent({"list": testing.exemptions({"source": "default"})})])
}

test_silent_when_unknown if {
	# selectors that cannot be decided miss no pool
	count(vpn206.findings) == 0 with input as testing.agents([testing.agent({"list": testing.exemptions({"source": "unknown"})})])
}
