package check

import (
	"slices"
	"strings"
	"testing"
)

func TestVerifyCommands(t *testing.T) {
	pod := placedPod{workload: "deploy/vpn", namespace: "edge"}
	for name, tc := range map[string]struct {
		templates []string
		args      verifyArgs
		want      []string
	}{
		"made out for the pod": {
			[]string{"forwarding"},
			verifyArgs{Container: "openvpn"}.forPod(pod),
			[]string{"kubectl -n edge exec deploy/vpn -c openvpn -- sysctl net.ipv4.ip_forward"},
		},
		"without a namespace": {
			[]string{"forwarding"},
			verifyArgs{Workload: "pod/vpn", Container: "openvpn"},
			[]string{"kubectl exec pod/vpn -c openvpn -- sysctl net.ipv4.ip_forward"},
		},
		"a CronJob, which kubectl exec does not know": {
			[]string{"forwarding"},
			verifyArgs{Namespace: "edge", Workload: "cronjob/sync", Container: "vpn"},
			[]string{`kubectl -n edge exec "$(kubectl -n edge get pods -o name | grep '^pod/sync-[0-9]' | tail -n 1)" -c vpn -- sysctl net.ipv4.ip_forward`},
		},
		"nothing for a custom resource": {
			[]string{"forwarding"}, verifyArgs{Workload: "rollout/vpn", Container: "vpn"}, nil,
		},
		"nothing where the container is not known": {
			[]string{"forwarding"}, verifyArgs{}.forPod(pod), nil,
		},
		"the first host of a prefix": {
			[]string{"routes"},
			verifyArgs{Tunnel: "gluetun", Destination: "10.96.0.0/12"}.forPod(pod),
			[]string{"kubectl -n edge exec deploy/vpn -c gluetun -- ip route get 10.96.0.1"},
		},
		"the one host of a host prefix": {
			[]string{"routes"},
			verifyArgs{Tunnel: "gluetun", Destination: "fd00::7/128"}.forPod(pod),
			[]string{"kubectl -n edge exec deploy/vpn -c gluetun -- ip route get fd00::7"},
		},
		"a host's address with the length of its network": {
			[]string{"routes"},
			verifyArgs{Tunnel: "wg", Destination: "10.8.0.7/24"}.forPod(pod),
			[]string{"kubectl -n edge exec deploy/vpn -c wg -- ip route get 10.8.0.7"},
		},
		"hostile names are quoted": {
			[]string{"forwarding"},
			verifyArgs{Namespace: "a b", Workload: "deploy/$(id)", Container: "it's"},
			[]string{`kubectl -n 'a b' exec 'deploy/$(id)' -c 'it'\''s' -- sysctl net.ipv4.ip_forward`},
		},
		"a name that looks like a placeholder": {
			[]string{"forwarding"},
			verifyArgs{Workload: "deploy/{container}", Container: "x"},
			[]string{`kubectl exec 'deploy/{container}' -c x -- sysctl net.ipv4.ip_forward`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := verifyCommands(tc.templates, tc.args); !slices.Equal(got, tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestVerifyTemplates(t *testing.T) {
	all := verifyArgs{
		Namespace: "edge", Workload: "deploy/vpn", Container: "app", Tunnel: "vpn", Destination: "10.20.0.0/16", Behind: "10.20.0.0/16",
		Interface: "wg0", Name: "kubernetes.default.svc.cluster.local", Endpoint: "10.8.0.1",
	}
	names := map[string]bool{}
	for _, template := range verifyTemplates {
		if names[template.name] {
			t.Errorf("two templates %s", template.name)
		}
		names[template.name] = true
		for _, claim := range template.claims {
			if !claimPattern.MatchString(claim) {
				t.Errorf("%s: %q is no claim", template.name, claim)
			}
		}
		made := verifyCommands([]string{template.name}, all)
		if len(made) != len(template.commands) {
			t.Errorf("%s: %d of %d commands with every argument known", template.name, len(made), len(template.commands))
		}
		for _, command := range made {
			// {end} is kubectl's own.
			if left := placeholder.FindString(strings.ReplaceAll(command, "{end}", "")); left != "" {
				t.Errorf("%s: no argument %s: %s", template.name, left, command)
			}
		}
	}
}
