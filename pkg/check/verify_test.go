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
			[]string{`kubectl -n edge exec $(kubectl -n edge get pods -o name | grep '^pod/sync-[0-9]*-[a-z0-9]*$' | tail -n 1) -c vpn -- sysctl net.ipv4.ip_forward`},
		},
		"a pod whose name is made up in the cluster, by its labels": {
			[]string{"forwarding"},
			verifyArgs{Namespace: "mesh", Workload: "pods/example.com/parent=it's,example.com/kind=svc", Container: "vpn"},
			[]string{`kubectl -n mesh exec $(kubectl -n mesh get pods -o name -l 'example.com/parent=it'\''s,example.com/kind=svc' | tail -n 1) -c vpn -- sysctl net.ipv4.ip_forward`},
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
		"a container that has ended, beside one that runs": {
			[]string{"forwarding"},
			verifyArgs{Container: "init"}.forPod(placedPod{workload: "sts/vpn", namespace: "edge", ends: map[string]bool{"init": true}, runs: "openvpn"}),
			[]string{"kubectl -n edge exec sts/vpn -c openvpn -- sysctl net.ipv4.ip_forward"},
		},
		"the node of the workload": {
			[]string{"node-routes"}, verifyArgs{}.forPod(placedPod{workload: "sts/vpn", namespace: "edge"}),
			[]string{
				`NODE=$(kubectl -n edge get $(kubectl -n edge get pods -o name | grep '^pod/vpn-[0-9]*$' | tail -n 1) -o jsonpath='{.spec.nodeName}')`,
				`kubectl debug node/"$NODE" -it --profile=sysadmin --image=nicolaka/netshoot -- sh -c 'ip rule; ip route show table all'`,
			},
		},
		"no node for nothing": {[]string{"capture"}, verifyArgs{}.forPod(pod), nil},
		"a name that looks like a placeholder": {
			[]string{"forwarding"},
			verifyArgs{Workload: "deploy/{container}", Container: "x"},
			[]string{`kubectl exec 'deploy/{container}' -c x -- sysctl net.ipv4.ip_forward`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := slices.DeleteFunc(verifyCommands(tc.templates, tc.args), func(c string) bool { return strings.HasPrefix(c, "# where the image lacks") })
			if !slices.Equal(got, tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

// Images without the program that a command runs get a shell beside them, once,
// and only where a program is run inside a pod.
func TestVerifyShell(t *testing.T) {
	const shell = "# where the image lacks such a program, a shell in the pod's network namespace:\n"
	for name, tc := range map[string]struct {
		templates []string
		workload  string
		want      string
	}{
		"a Deployment":                          {[]string{"forwarding", "ladder", "forwarding-ipv6"}, "deploy/vpn", `kubectl -n edge debug $(kubectl -n edge get pods -o name | grep '^pod/vpn-[a-z0-9]*-[a-z0-9]*$' | tail -n 1) -it --profile=netadmin --image=nicolaka/netshoot`},
		"a Pod":                                 {[]string{"routes"}, "pod/vpn", "kubectl -n edge debug pod/vpn -it --profile=netadmin --image=nicolaka/netshoot"},
		"a log":                                 {[]string{"tunnel-log"}, "pod/vpn", ""},
		"of this container":                     {[]string{"privileges"}, "pod/vpn", ""},
		"a custom resource":                     {[]string{"routes"}, "rollout/vpn", ""},
		"a pod whose name the cluster makes up": {[]string{"routes"}, "pod/", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := slices.DeleteFunc(
				verifyCommands(tc.templates, verifyArgs{Namespace: "edge", Workload: tc.workload, Container: "vpn", Tunnel: "vpn", Destination: "10.0.0.1"}),
				func(c string) bool { return !strings.HasPrefix(c, shell) },
			)
			var want []string
			if tc.want != "" {
				want = []string{shell + tc.want}
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestVerifyTemplates(t *testing.T) {
	all := verifyArgs{
		Namespace: "edge", Workload: "deploy/vpn", Container: "app", Tunnel: "vpn", Destination: "10.20.0.0/16", Behind: "10.20.0.0/16",
		Interface: "wg0", Name: "kubernetes.default.svc.cluster.local", Endpoint: "10.8.0.1", Reason: "SysctlForbidden",
	}
	names := map[string]bool{}
	for _, template := range verifyTemplates {
		if names[template.name] {
			t.Errorf("two templates %s", template.name)
		}
		names[template.name] = true
		if template.means == "" {
			t.Errorf("%s does not say what the answer tells", template.name)
		}
		made := verifyCommands([]string{template.name}, all)
		shell := slices.IndexFunc(made, func(c string) bool { return strings.Contains(c, " debug ") && !strings.Contains(c, "node/") })
		if shell >= 0 {
			made = slices.Delete(made, shell, shell+1)
		}
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
