package vpnlint.rules.vpn207_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn207

alone_with(given) := testing.agents([testing.agent(object.union(
	{
		"ref": testing.nowhere, "container": "", "workload": "",
		"object": {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "kube-system", "name": "ip-masq-agent"},
	},
	given,
))])

test_fires_at_the_list if {
	found := vpn207.findings with input as alone_with({})
	count(found) == 1
	some f in found
	f.ref == testing.ref("/data/config")
	startswith(f.message, "ConfigMap kube-system/ip-masq-agent of cluster prod holds a masquerade list")
}

test_fires_without_a_cluster if {
	found := vpn207.findings with input as alone_with({"cluster": ""})
	some f in found
	startswith(f.message, "ConfigMap kube-system/ip-masq-agent holds a masquerade list")
}

test_fires_for_a_refused_list if {
	count(vpn207.findings) == 1 with input as alone_with({"list": testing.exemptions({"source": "unknown", "valid": "absent"})})
}

test_fires_as_warning_where_the_plan_relies_on_it if {
	cluster := testing.cluster({"plan": testing.planned({"masquerade": testing.set_to("ip-masq-agent")})})
	found := vpn207.findings with input as object.union(alone_with({}), {"facts": object.union(alone_with({}).facts, {"clusters": [cluster]})})
	count(found) == 1
	some f in found
	f.severity == "warning"
	contains(f.message, "although the plan relies on one")
	{r.ref | some r in f.related} == {testing.ref("/ip-masq-agent")}
}

test_silent_with_an_agent if {
	count(vpn207.findings) == 0 with input as testing.agents([testing.agent({})])
}

test_silent_where_gke_runs_it if {
	count(vpn207.findings) == 0 with input as alone_with({"kind": "gke-managed"})
}

test_silent_without_a_list if {
	count(vpn207.findings) == 0 with input as testing.agents([])
}

test_silent_when_unknown if {
	# an agent that is in view, whose list cannot be seen
	count(vpn207.findings) == 0 with input as testing.agents([testing.agent({"list": testing.exemptions({"source": "unknown"})})])
}
