package vpnlint.rules.vpn205_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn205

entry(says) := {"ref": testing.ref("/entry"), "says": says, "fate": "the agent that runs keeps its old rules"}

refusing(kind, says) := testing.agents([testing.agent({
	"kind": kind,
	"list": testing.exemptions({"source": "unknown", "valid": "absent", "entries": [], "refused": [entry(says)]}),
})])

test_fires_at_the_entry if {
	found := vpn205.findings with input as refusing("ip-masq-agent", "10.4.1.0/14 has bits set right of its mask")
	count(found) == 1
	some f in found
	f.ref == testing.ref("/entry")
	contains(f.message, "ip-masq-agent refuses its whole configuration: 10.4.1.0/14 has bits")
	contains(f.message, "keeps its old rules")
	f.related[0].ref == testing.ref("/agent")
}

test_fires_for_azure if {
	some f in vpn205.findings with input as refusing("azure-v2", "\"10.0.0.0\" is an address without a mask")
	startswith(f.message, "Azure's ip-masq-agent-v2 refuses")
}

test_fires_for_the_managed_agent_without_a_place if {
	found := vpn205.findings with input as testing.agents([testing.agent({
		"kind": "gke-managed", "ref": testing.nowhere,
		"list": testing.exemptions({"valid": "absent", "refused": [entry("65 entries")]}),
	})])
	some f in found
	f.related == []
}

test_fires_for_each_piece if {
	count(vpn205.findings) == 2 with input as testing.agents([testing.agent({"list": testing.exemptions({"refused": [
		entry("10.4.1.0/14 has bits set right of its mask"),
		entry("resyncInterval is the number 60"),
	]})})])
}

test_silent_when_taken if {
	count(vpn205.findings) == 0 with input as testing.agents([testing.agent({})])
}

test_silent_for_the_default if {
	count(vpn205.findings) == 0 with input as testing.agents([testing.agent({"list": testing.exemptions({"source": "default"})})])
}

test_silent_when_unknown if {
	count(vpn205.findings) == 0 with input as testing.agents([testing.agent({"list": testing.exemptions({
		"source": "unknown",
		"valid": "unknown", "entries": [],
	})})])
}
