package facts

import (
	"fmt"
	"strings"
	"testing"
)

// The facts of FG C1, by version where they differ.
func TestGluetunFirewall(t *testing.T) {
	for _, tt := range []struct {
		image, env string
		want       Known
		malformed  string
	}{
		{"v3.40.0", "", Present, ""},
		{"v3.38.0", "FIREWALL=off", Absent, ""},
		{"v3.39.0", "FIREWALL=off", Present, "FIREWALL unread"},
		{"v3.39.0", "FIREWALL_ENABLED_DISABLING_IT_SHOOTS_YOU_IN_YOUR_FOOT=off", Absent, ""},
		{"v3.38.0", "FIREWALL_ENABLED_DISABLING_IT_SHOOTS_YOU_IN_YOUR_FOOT=off", Present, "FIREWALL_ENABLED_DISABLING_IT_SHOOTS_YOU_IN_YOUR_FOOT unread"},
		{"", "FIREWALL=off", Unknown, ""},
		{"latest", "FIREWALL=off", Unknown, ""},
		{"v3.40.0", "FIREWALL_ENABLED_DISABLING_IT_SHOOTS_YOU_IN_YOUR_FOOT=on", Present, ""},
	} {
		t.Run(tt.image+" "+tt.env, func(t *testing.T) {
			tun := look(t, gluetunOf(tt.image, tt.env), lab()).tunnel(t)
			var malformed []string
			for _, m := range tun.Bypass.Malformed {
				malformed = append(malformed, m.Text+" "+m.Effect)
			}
			if tun.KillSwitch.State != tt.want || strings.Join(malformed, ", ") != tt.malformed {
				t.Errorf("kill switch %+v, malformed %v; want %s and %q", tun.KillSwitch, malformed, tt.want, tt.malformed)
			}
			if tun.Masquerade.State != Absent || tun.RepliesKept != Present {
				t.Errorf("masquerade %+v, replies %s: it masquerades nothing, and answers by the old gateway (rule 100)", tun.Masquerade, tun.RepliesKept)
			}
		})
	}
}

func gluetunOf(tag, env string) string {
	image := "qmcgaw/gluetun"
	if tag != "" {
		image += ":" + tag
	}
	if env == "" {
		return container(image)
	}
	return container(image, strings.Split(env, " ")...)
}

func TestGluetunOutboundSubnets(t *testing.T) {
	for _, tt := range []struct{ name, env, state, entries, malformed string }{
		{"none", "", "absent", "", ""},
		{"a list", "FIREWALL_OUTBOUND_SUBNETS=10.244.0.0/16,10.96.0.0/12", "present", "10.244.0.0/16 10.96.0.0/12", ""},
		{"IPv6 as well", "FIREWALL_OUTBOUND_SUBNETS=10.244.0.0/16,fd00::/8", "present", "10.244.0.0/16 fd00::/8", ""},
		{"the old name", "EXTRA_SUBNETS=10.244.0.0/16", "present", "10.244.0.0/16", "EXTRA_SUBNETS renamed"},
		{"everything is refused", "FIREWALL_OUTBOUND_SUBNETS=0.0.0.0/0", "unknown", "", "0.0.0.0/0 refused"},
		{"filled in later", "FIREWALL_OUTBOUND_SUBNETS=${PODS}", "unknown", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := look(t, gluetunOf("v3.40.0", tt.env), lab()).tunnel(t).Bypass
			var malformed []string
			for _, m := range b.Malformed {
				malformed = append(malformed, m.Text+" "+m.Effect)
			}
			if got := fmt.Sprint(b.State, "|", prefixesOf(b.Entries), "|", strings.Join(malformed, ",")); got != tt.state+"|"+tt.entries+"|"+tt.malformed {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestGluetunResolver(t *testing.T) {
	const bypass = " FIREWALL_OUTBOUND_SUBNETS=10.244.0.0/16,10.96.0.0/12"
	for _, tt := range []struct {
		tag, env        string
		rewrites, split Known
		reaches         Known
	}{
		{"v3.40.0", "", Present, Absent, Absent},
		{"v3.40.0", "A=b" + bypass, Present, Absent, Absent},
		{"v3.40.0", "DOT=off DNS_ADDRESS=10.96.0.10" + bypass, Present, Absent, Present},
		{"v3.40.0", "DNS_KEEP_NAMESERVER=on", Absent, Absent, Present},
		{"v3.41.0", "", Present, Present, Absent},
		{"v3.41.0", "A=b" + bypass, Present, Present, Present},
		{"", "A=b" + bypass, Present, Unknown, Unknown},
		{"", "", Present, Unknown, Absent},
		{"v3.42.0", "DNS_KEEP_NAMESERVER=on", Present, Present, Absent},
	} {
		t.Run(tt.tag+" "+tt.env, func(t *testing.T) {
			r := look(t, gluetunOf(tt.tag, tt.env), lab()).tunnel(t).Resolver
			if r.Rewrites != tt.rewrites || r.ReachesCluster != tt.reaches || tt.rewrites == Present && r.Split != tt.split {
				t.Errorf("resolver %+v; want %s, split %s, reaches the cluster %s", r, tt.rewrites, tt.split, tt.reaches)
			}
		})
	}
}

func TestGluetunInput(t *testing.T) {
	for _, tt := range []struct {
		env    string
		closed Known
		ports  string
	}{
		{"", Present, "[]"},
		{"FIREWALL_INPUT_PORTS=8080,9999", Present, "[8080 9999]"},
		{"FIREWALL_VPN_INPUT_PORTS=8080", Present, "[]"}, // on the tunnel's side
		{"FIREWALL_ENABLED_DISABLING_IT_SHOOTS_YOU_IN_YOUR_FOOT=off", Absent, "[]"},
		{"FIREWALL_INPUT_PORTS=${PORTS}", Unknown, "[]"},
	} {
		t.Run(tt.env, func(t *testing.T) {
			in := look(t, gluetunOf("v3.40.0", tt.env), lab()).tunnel(t).Input
			if in.Closed != tt.closed || fmt.Sprint(in.Ports) != tt.ports {
				t.Errorf("input %+v", in)
			}
		})
	}
}

// The control server, the proxies (off) and the health server, which only
// processes of the pod reach.
func TestGluetunListeners(t *testing.T) {
	for _, tt := range []struct{ env, want string }{
		{"", "8000 false, 9999 true"},
		{"HEALTH_SERVER_ADDRESS=:9999", "8000 false, 9999 false"},
		{"HEALTH_SERVER_ADDRESS=0.0.0.0:9990", "8000 false, 9990 false"},
		{"HTTPPROXY=on", "8000 false, 8888 false, 9999 true"},
		{"SHADOWSOCKS=on", "8000 false, 8388 false, 8388 false, 9999 true"},
		{"HTTP_CONTROL_SERVER_ADDRESS=127.0.0.1:8001", "8001 true, 9999 true"},
	} {
		t.Run(tt.env, func(t *testing.T) {
			pod, _ := onlyPod(t, gluetunOf("v3.40.0", tt.env))
			var got []string
			for _, l := range pod.Containers[0].Listeners {
				got = append(got, fmt.Sprint(l.Port, " ", l.Loopback == Present))
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("got %q, want %q", strings.Join(got, ", "), tt.want)
			}
		})
	}
}
