package vpnlint.rules.vpn305_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn305

with_container(container) := testing.pods([testing.pod({
	"role": "sidecar",
	"containers": [testing.container(container), testing.application("app")],
})])

privileged := {"privileged": "present", "capabilities": []}

test_fires_for_a_privileged_client if {
	found := vpn305.findings with input as with_container(privileged)
	count(found) == 1
	some f in found
	f.ref == testing.ref("/spec/template/spec/containers/0/securityContext/privileged")
	f.containers == {"vpn"}
}

test_fires_and_asks_for_nothing_in_user_space if {
	pod := testing.pod({
		"role": "client", "tunnels": [testing.tunnel({"user_space": "present"})],
		"containers": [testing.container(object.union({"name": "vpn", "data_plane": true, "application": false}, privileged))],
	})
	found := vpn305.findings with input as testing.pods([pod])
	{contains(f.message, "works in user space, without any capability: ") | some f in found} == {true}
}

test_fires_as_note_for_module_loading if {
	found := vpn305.findings with input as with_container({"modules": [{"name": "vpn", "ref": testing.ref("/add/1"), "says": "SYS_MODULE"}]})
	{f.severity | some f in found} == {"note"}
}

test_fires_for_the_processes_of_the_node if {
	found := vpn305.findings with input as testing.pods([testing.pod({
		"role": "client", "host_pid": {"state": "present", "value": "true", "ref": testing.ref("/hostPID")},
	})])
	count(found) == 1
	some f in found
	f.ref == testing.ref("/hostPID")
}

test_silent_with_capabilities if {
	count(vpn305.findings) == 0 with input as with_container({})
}

test_silent_when_the_privilege_is_needed if {
	count(vpn305.findings) == 0 with input as with_container(object.union(privileged, {"needs_privilege": testing.switch("present")}))
}

test_silent_when_unknown if {
	count(vpn305.findings) == 0 with input as with_container(object.union(privileged, {"needs_privilege": testing.switch("unknown")}))
}

test_silent_for_an_init_container_that_writes_sysctls if {
	count(vpn305.findings) == 0 with input as testing.pods([testing.pod({"containers": [
		testing.container({}),
		testing.container({"name": "sysctl", "stage": "init", "data_plane": false, "privileged": "present"}),
	]})])
}

test_silent_for_a_node_mesh if {
	count(vpn305.findings) == 0 with input as testing.pods([testing.pod({"role": "mesh", "containers": [testing.container(privileged)]})])
}

test_says_what_a_mount_is_for if {
	some f in vpn305.findings with input as with_container({"modules": [{"name": "vpn", "ref": testing.ref("/mount"), "says": "/lib/modules of the node"}]})
	contains(f.message, "container vpn mounts /lib/modules of the node, which only loading kernel modules needs")
}

test_says_what_a_module_can_do if {
	some f in vpn305.findings with input as with_container({"modules": [
		{"name": "vpn", "ref": testing.ref("/add/1"), "says": "SYS_MODULE"},
		{"name": "vpn", "ref": testing.ref("/mount"), "says": "/lib/modules of the node"},
	]})
	contains(f.message, "(/lib/modules of the node and SYS_MODULE): whoever takes the tunnel over can put code into the node's kernel")
}
