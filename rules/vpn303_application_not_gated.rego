# METADATA
# title: the application can start before its tunnel
# description: |
#   Until the tunnel is up the pod has its ordinary routes: what the application sends in that time
#   leaves through the cluster's egress, with the node's address. On a healthy cluster the gap is
#   short; on a broken one it is permanent.
#
#   A native sidecar (an init container with `restartPolicy: Always`) with a `startupProbe` that asks
#   the tunnel closes the gap at the start. It does not when the tunnel restarts later: only a kill
#   switch or a default-deny egress policy covers that.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/
#     description: "Kubernetes: sidecar containers and when the next container starts"
# custom:
#   id: VPN303
#   name: application-not-gated
#   severities: [warning, error, note]
#   family: sidecar
#   claims:
#     - C8: "container qbittorrent can send before the tunnel is up"
#     - C9: "no gate is repeated when the tunnel restarts"
#   fires: |
#     **Warning**: the tunnel is an ordinary container next to or after the application, or a native
#     sidecar without a startup probe, or with one that only asks somebody outside (`ping 1.1.1.1`) where
#     no kill switch keeps that in; or an init container that needs the network stands before the
#     tunnel. **Note**: a native sidecar without a startup probe whose image has a kill switch.
#     **Error**: an init container waits for a VPN that starts only after it, so it tests the plain
#     network.
#   silent: |
#     - a native sidecar with a startup probe, or with a `postStart` hook that returns when the tunnel
#       is up
#     - the tunnel is the first container and its `postStart` hook returns when the tunnel is up
#     - the application's own command waits for the tunnel
#     - an egress policy denies by default
#     - a test of a chart, which only runs when `helm test` asks for it
#     - a data plane in user space, or a tunnel that takes no routes
#     - the VPN's image is the application too, and its routes cannot be seen
#   remedy: "Run the VPN as a native sidecar (an init container with restartPolicy: Always) with a startupProbe that tests the tunnel."
#   verify: [start-order, kill-test]
#   needs: [facts.pods.gates]
#   since: "0.1"
package vpnlint.rules.vpn303

import data.vpnlint.lib.pods
import data.vpnlint.lib.text

# The gate tests something else than the tunnel: it says more than the missing
# one.
findings contains finding if {
	some [pod, tunnel, gate] in gates
	some fake in gate.fake_gates
	finding := {
		"ref": fake.ref,
		"pod": pod.id,
		"severity": "error",
		"message": sprintf(
			"init container %s waits for a VPN that does not exist yet: %s starts after it, so the wait tests the plain network (%s), and %s may send outside the tunnel",
			[fake.name, tunnel.container, fake.says, text.containers(applications(pod))],
		),
		"containers": (applications(pod) | {fake.name}),
		"related": [{"ref": gate.ref, "says": sprintf("%s starts here", [tunnel.container])}],
		"verify": verify(pod, tunnel),
	}
}

findings contains finding if {
	some [pod, tunnel, gate] in gates
	gate.stage in {"sidecar", "main"}
	count(gate.fake_gates) == 0
	open := ungated(gate)
	count(open) > 0
	finding := {
		"ref": gate.ref,
		"pod": pod.id,
		"severity": severity(tunnel, gate),
		"message": sprintf(
			"%s can send before the tunnel is up: %s; until then packets leave outside the tunnel%s, and no gate is repeated when the tunnel restarts",
			[text.containers(open), why(gate), switch(tunnel)],
		),
		"containers": open,
		"missing": ["startupProbe", "postStart"],
		"verify": verify(pod, tunnel),
	}
}

# Whatever gates the application, this one runs before it.
findings contains finding if {
	some [pod, tunnel, gate] in gates
	some early in gate.early_inits
	not early.ref in {fake.ref | some fake in gate.fake_gates}
	finding := {
		"ref": early.ref,
		"pod": pod.id,
		"severity": "warning",
		"message": sprintf(
			"init container %s uses the network (%s) before %s starts: its packets leave outside the tunnel",
			[early.name, early.says, tunnel.container],
		),
		"containers": {early.name},
		"related": [{"ref": gate.ref, "says": sprintf("%s starts here", [tunnel.container])}],
		"verify": verify(pod, tunnel),
	}
}

# Tunnels that matter to an application of the pod, each with its gate.
gates contains [pod, tunnel, gate] if {
	some pod in input.facts.pods
	pod.role == "sidecar"
	not pods.helm_test(pod)
	pod.egress.deny_by_default == "absent"
	some tunnel in pod.tunnels
	tunnel.side in {"client", "mesh"}
	tunnel.user_space != "present"
	tunnel.routes.state != "absent"
	not for_itself(pod, tunnel)
	some gate in pod.gates
	gate.tunnel == tunnel.container
}

# The image has an application of its own, which it holds back itself. Whether the
# tunnel is there for what stands beside it is not known where its routes are not.
for_itself(pod, tunnel) if {
	tunnel.routes.state == "unknown"
	some container in pod.containers
	container.name == tunnel.container
	container.combined
}

# The applications that nothing holds back.
ungated(gate) := (before(gate) | after(gate)) - {name | some name in gate.waits}

before(gate) := {name | some name in gate.before}

after(gate) := set() if held(gate)

after(gate) := {name | some name in gate.after} if not held(gate)

# What starts after the tunnel's container starts after the tunnel. Not to know
# counts as held.
held(gate) if gate.post_start_blocks.state != "absent"

held(gate) if {
	gate.stage == "sidecar"
	gate.startup_probe.state != "absent"
}

severity(tunnel, gate) := "note" if covered(tunnel, gate)

severity(tunnel, gate) := "warning" if not covered(tunnel, gate)

# The image stops traffic outside the tunnel as soon as it runs.
covered(tunnel, gate) if {
	gate.stage == "sidecar"
	count(before(gate)) == 0
	tunnel.kill_switch.state != "absent"
}

switch(tunnel) := " unless the image's kill switch is faster" if tunnel.kill_switch.state == "present"

switch(tunnel) := "" if tunnel.kill_switch.state != "present"

why(gate) := sprintf("%s is a native sidecar that starts after %s", [gate.tunnel, text.list(gate.before)]) if {
	gate.stage == "sidecar"
	count(after(gate)) == 0
}

why(gate) := sprintf("%s is a native sidecar without a startup probe, so only its process is waited for", [gate.tunnel]) if {
	gate.stage == "sidecar"
	count(after(gate)) > 0
	without_probe(gate)
}

why(gate) := sprintf("%s is a native sidecar, and %s, so only its process is waited for", [gate.tunnel, gate.startup_probe.why]) if {
	gate.stage == "sidecar"
	count(after(gate)) > 0
	not without_probe(gate)
}

why(gate) := sprintf("%s is an ordinary container, and nothing orders the two", [gate.tunnel]) if {
	gate.stage != "sidecar"
	count(gate.before) == 0
}

why(gate) := sprintf("%s is an ordinary container that starts after %s", [gate.tunnel, text.list(gate.before)]) if {
	gate.stage != "sidecar"
	count(gate.before) > 0
}

without_probe(gate) if gate.startup_probe.why in {"", "no startupProbe"}

applications(pod) := {c.name | some c in pod.containers; c.application}

verify(pod, tunnel) := {"tunnel": tunnel.container, "container": pods.first_application(pod)}
