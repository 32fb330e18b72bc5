package vpnlint.rules.vpn112_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn112

with_container(given) := testing.pods([testing.pod({"containers": [testing.container(given)]})])

test_fires_without_the_capability if {
	found := vpn112.findings with input as with_container({"capabilities": []})
	count(found) == 1
	some f in found
	f.severity == "error"
	f.ref == testing.ref("/spec/template/spec/containers/0/securityContext")
	contains(f.message, "container vpn (OpenVPN) has neither NET_ADMIN nor privilege")
}

test_fires_without_a_device if {
	some f in vpn112.findings with input as with_container({"makes_tun": true, "dropped": ["ALL"]})
	f.severity == "error"
	contains(f.message, "MKNOD is dropped")
}

test_fires_as_warning_for_another_user if {
	some f in vpn112.findings with input as with_container({"non_root": {
		"state": "present", "value": "1000", "ref": testing.ref("/runAsUser"),
	}})
	f.severity == "warning"
	f.ref == testing.ref("/runAsUser")
}

test_fires_for_a_sidecar if {
	count(vpn112.findings) == 1 with input as testing.pods([testing.pod({
		"role": "sidecar",
		"containers": [testing.container({"capabilities": ["NET_RAW"]}), testing.application("app")],
	})])
}

test_silent_with_the_capability if {
	count(vpn112.findings) == 0 with input as with_container({"dropped": ["ALL"]})
}

test_silent_with_all if {
	count(vpn112.findings) == 0 with input as with_container({"capabilities": ["ALL"], "makes_tun": true, "dropped": ["ALL"]})
}

# Runtimes take single capabilities away after they have added.
test_fires_when_it_is_dropped_again if {
	count(vpn112.findings) == 1 with input as with_container({"capabilities": ["ALL"], "dropped": ["NET_ADMIN"]})
}

test_silent_with_a_mounted_device if {
	count(vpn112.findings) == 0 with input as with_container({"makes_tun": true, "dropped": ["ALL"], "tun_device": true})
}

test_silent_when_privileged if {
	count(vpn112.findings) == 0 with input as with_container({"capabilities": [], "privileged": "present"})
}

test_silent_in_user_space if {
	count(vpn112.findings) == 0 with input as with_container({"capabilities": [], "needs_admin": "absent"})
}

test_silent_for_a_control_plane if {
	count(vpn112.findings) == 0 with input as with_container({"capabilities": [], "data_plane": false})
}

test_silent_when_unknown if {
	count(vpn112.findings) == 0 with input as with_container({"capabilities": [], "needs_admin": "unknown"})
}

test_silent_when_privilege_is_unknown if {
	count(vpn112.findings) == 0 with input as with_container({"capabilities": [], "privileged": "unknown"})
}

test_says_that_the_capability_is_there if {
	some f in vpn112.findings with input as testing.pods([testing.pod({"containers": [testing.container({
		"non_root": {"state": "present", "value": "1000", "ref": testing.ref("/runAsUser")},
	})]})])
	contains(f.message, "has NET_ADMIN but does not run as user 0")
}
