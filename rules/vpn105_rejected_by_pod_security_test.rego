package vpnlint.rules.vpn105_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn105

test_fires_for_one_check if {
	found := vpn105.findings with input as testing.pods([testing.pod({"rejections": [testing.rejection({})]})])
	count(found) == 1
	some f in found
	f.ref == testing.ref("/capabilities")
	contains(f.message, "namespace vpn enforces the baseline Pod Security level (latest), which forbids non-default capabilities")
	f.related[0].ref == testing.ref("/labels")
}

test_fires_once_for_several_checks if {
	found := vpn105.findings with input as testing.pods([testing.pod({"rejections": [
		testing.rejection({}),
		testing.rejection({"says": "privileged (container \"init\")", "ref": testing.ref("/privileged")}),
	]})])
	count(found) == 1
	some f in found
	contains(f.message, "(NET_ADMIN) and privileged")
	f.related[1].ref == testing.ref("/privileged")
}

test_fires_at_a_pinned_version if {
	some f in vpn105.findings with input as testing.pods([testing.pod({"rejections": [testing.rejection({
		"level": "restricted",
		"version": "v1.29",
	})]})])
	contains(f.message, "restricted Pod Security level (v1.29)")
}

# What a webhook adds is named, and so is the workload, for the place is not in it.
test_fires_for_what_a_webhook_adds if {
	some f in vpn105.findings with input as testing.pods([testing.pod({
		"containers": [testing.application("web")], "rejections": [testing.rejection({"ref": testing.ref("/routed-gateway")})],
		"injected": [
			{"name": "gateway-sidecar", "carries": true, "ref": testing.ref("/routed-gateway"), "by": "the webhook"},
			{"name": "helper", "carries": false, "ref": testing.ref("/routed-gateway"), "by": "the webhook"},
		],
	})])
	contains(f.message, "no pod of Deployment vpn is ever made, and the tunnel of container gateway-sidecar never")
	f.containers == {"web", "gateway-sidecar", "helper"}
	f.related[1].says == "the webhook adds container gateway-sidecar because of this"
}

test_fires_for_what_an_operator_makes if {
	some f in vpn105.findings with input as testing.pods([testing.pod({
		"object": {"apiVersion": "tailscale.com/v1alpha1", "kind": "Connector", "namespace": "", "name": "office", "helm": ""},
		"namespace": "tailscale", "maker": "Tailscale's operator", "rejections": [testing.rejection({})],
	})])
	startswith(f.message, "namespace tailscale enforces")
	contains(f.message, "no pod of Tailscale's operator for Connector office is ever made")
}

test_silent_when_admitted if {
	count(vpn105.findings) == 0 with input as testing.pods([testing.pod({})])
}

test_silent_without_pods if {
	count(vpn105.findings) == 0 with input as testing.pods([])
}

# What the library cannot be asked, because the namespace or a field is not
# readable, is no rejection.
test_silent_when_unknown if {
	count(vpn105.findings) == 0 with input as testing.pods([testing.pod({
		"role": "unknown",
		"containers": [testing.container({"privileged": "unknown"})],
	})])
}
