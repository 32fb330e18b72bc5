package vpnlint.rules.vpn108_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn108

gateway(tunnel) := testing.pods([testing.pod({"tunnels": [testing.tunnel(object.union({"side": "server"}, tunnel))]})])

six := {"pool": testing.prefixes(["10.8.0.0/24", "fd00:8::/64"])}

test_fires_for_a_pool if {
	found := vpn108.findings with input as gateway(six)
	count(found) == 1
	some f in found
	f.ref == testing.ref("/spec/template/spec")
	contains(f.message, "carries IPv6 (fd00:8::/64)")
}

test_names_sysctls_of_a_container if {
	evidence := [testing.evidence({
		"how": "container-sysctl", "effective": "absent", "ref": testing.ref("/sysctls/0"),
		"says": "net.ipv6.conf.all.forwarding=1",
	})]
	found := vpn108.findings with input as testing.pods([testing.pod({
		"tunnels": [testing.tunnel(object.union({"side": "server"}, six))],
		"forwarding": object.union(testing.forwarding([]), {"ipv6": object.union(testing.forwarding([]).ipv6, {"evidence": evidence})}),
	})])
	some f in found
	some note in f.related
	note.ref == testing.ref("/sysctls/0")
}

test_fires_for_an_address if {
	count(vpn108.findings) == 1 with input as gateway({"addresses": testing.prefixes(["fd00:8::1/128"])})
}

# The server's own address says nothing that its pool does not.
test_says_an_address_of_the_pool_once if {
	some f in vpn108.findings with input as gateway(object.union(six, {"addresses": testing.prefixes(["fd00:8::1/128", "fd00:9::1/128"])}))
	contains(f.message, "carries IPv6 (fd00:8::/64 and fd00:9::1/128)")
	count(f.related) == 2
}

test_fires_for_an_advertised_route if {
	count(vpn108.findings) == 1 with input as gateway({"side": "mesh", "advertised": testing.prefixes(["fd00:10:96::/112"])})
}

test_silent_for_ipv4 if {
	count(vpn108.findings) == 0 with input as gateway({"pool": testing.prefixes(["10.8.0.0/24"])})
}

test_silent_for_the_addresses_of_a_mesh if {
	count(vpn108.findings) == 0 with input as gateway({"side": "mesh", "pool": testing.prefixes(["fd7a:115c:a1e0::/48"])})
}

test_silent_for_an_exit_node if {
	count(vpn108.findings) == 0 with input as gateway({"side": "mesh", "advertised": testing.prefixes(["::/0"])})
}

test_silent_in_user_space if {
	count(vpn108.findings) == 0 with input as gateway(object.union(six, {"user_space": "present"}))
}

with_forwarding(given) := testing.pods([testing.pod({
	"forwarding": object.union(testing.forwarding([]), given),
	"tunnels": [testing.tunnel(object.union({"side": "server"}, six))],
})])

test_silent_when_set if {
	count(vpn108.findings) == 0 with input as with_forwarding({"ipv6": testing.family({"state": "present"})})
}

test_silent_when_ipv6_is_off if {
	count(vpn108.findings) == 0 with input as with_forwarding({"ipv6_off": "present"})
}

test_silent_when_unknown if {
	count(vpn108.findings) == 0 with input as with_forwarding({"ipv6": testing.family({"state": "unknown"})})
}

# Of two tunnels those that hand out IPv6 are named.
test_names_the_containers_that_carry_ipv6 if {
	some f in vpn108.findings with input as testing.pods([testing.pod({"tunnels": [
		testing.tunnel(object.union(six, {"side": "server", "container": "wg"})),
		testing.tunnel({"side": "server", "container": "ovpn", "pool": testing.prefixes(["10.9.0.0/24"])}),
	]})])
	contains(f.message, "container wg carries IPv6")
}

test_names_all_of_them if {
	some f in vpn108.findings with input as testing.pods([testing.pod({"tunnels": [
		testing.tunnel(object.union(six, {"side": "server", "container": "a"})),
		testing.tunnel(object.union(six, {"side": "server", "container": "b"})),
	]})])
	contains(f.message, "containers a and b carry IPv6")
}
