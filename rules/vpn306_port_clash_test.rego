package vpnlint.rules.vpn306_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn306

declared(port) := testing.listener({"used": false, "port": port, "source": "declared", "ref": testing.ref("/ports/0"), "says": sprintf("containerPort %d", [port])})

app(given) := object.union(testing.application("app"), object.union({"order": 1}, given))

with_containers(containers) := testing.pods([testing.pod({"role": "sidecar", "containers": containers})])

test_fires_for_the_image_s_own_listener if {
	found := vpn306.findings with input as with_containers([
		testing.container({"listeners": [testing.listener({})]}),
		app({"listeners": [declared(8000)]}),
	])
	count(found) == 1
	some f in found
	f.ref == testing.ref("/spec/template/spec/containers/0")
	f.containers == {"vpn", "app"}
	contains(f.message, "8000/TCP")
	f.related[0].ref == testing.ref("/ports/0")
}

test_fires_at_the_vpn_when_it_comes_second if {
	found := vpn306.findings with input as with_containers([
		app({"order": 0, "listeners": [declared(8000)]}),
		testing.container({"order": 1, "listeners": [testing.listener({})]}),
	])
	{f.ref | some f in found} == {testing.ref("/spec/template/spec/containers/0")}
}

with_two(first, second) := with_containers([
	testing.container({}),
	app({"listeners": [object.union(declared(8080), {"used": first})]}),
	app({"order": 2, "name": "web", "listeners": [object.union(declared(8080), {"used": second})]}),
])

test_fires_for_two_applications if {
	count(vpn306.findings) == 1 with input as with_two(true, true)
}

test_silent_when_only_one_uses_the_port if {
	count(vpn306.findings) == 0 with input as with_two(true, false)
}

test_silent_for_two_declarations if {
	count(vpn306.findings) == 0 with input as with_two(false, false)
}

test_silent_when_nobody_else_listens_there if {
	count(vpn306.findings) == 0 with input as with_containers([
		testing.container({"listeners": [testing.listener({"port": 8765})]}),
		app({"listeners": [declared(8000)]}),
	])
}

test_silent_for_another_protocol if {
	count(vpn306.findings) == 0 with input as with_containers([
		testing.container({"listeners": [testing.listener({"protocol": "UDP"})]}),
		app({"listeners": [declared(8000)]}),
	])
}

test_silent_for_an_init_container if {
	count(vpn306.findings) == 0 with input as with_containers([
		testing.container({"stage": "init", "listeners": [testing.listener({})]}),
		app({"listeners": [declared(8000)]}),
	])
}

test_silent_when_unknown if {
	count(vpn306.findings) == 0 with input as with_containers([testing.container({"listeners": []}), app({"listeners": [declared(8000)]})])
}

test_silent_without_a_vpn if {
	count(vpn306.findings) == 0 with input as testing.pods([testing.pod({"role": "none", "containers": [
		app({"order": 0, "listeners": [declared(8000)]}),
		app({"name": "web", "listeners": [declared(8000)]}),
	]})])
}
