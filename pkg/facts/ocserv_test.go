package facts

import (
	"strconv"
	"strings"
	"testing"
)

func TestOCServ(t *testing.T) {
	t.Parallel()
	plain := "command: [sh, -c]\nargs: ['apk add ocserv && exec ocserv -f -c /etc/ocserv/ocserv.conf']"
	for name, tt := range map[string]struct {
		image, command, conf     string
		pool, routes, resolvers  string
		everything               bool
		masquerade, clientsKnown Known
	}{
		"pool with a mask": {
			"alpine:3.20", plain, "# ipv4-network = 10.1.0.0\nipv4-network = 10.9.0.0\nipv4-netmask = 255.255.255.0\nroute = 10.244.0.0/255.255.0.0\nroute = 10.96.0.0/12\ndns = 10.96.0.10\n",
			"10.9.0.0/24", "10.244.0.0/16 10.96.0.0/12", "10.96.0.10/32", false, Absent, Present,
		},
		"pool with its length, no route": {
			"alpine:3.20", plain, "ipv4-network = 10.9.0.0/23\nipv6-network = fda9:4efe:7e3b:3ea::/64\n",
			"10.9.0.0/23 fda9:4efe:7e3b:3ea::/64", "", "", true, Absent, Present,
		},
		"a route that is cut out": {
			"alpine:3.20", plain, "ipv4-network = 10.9.0.0/24\nroute = default\nno-route = 192.168.0.0/16\n",
			"10.9.0.0/24", "", "", true, Absent, Unknown,
		},
		"a script for each client": {
			"alpine:3.20", plain, "ipv4-network = 10.9.0.0/24\nconnect-script = /etc/ocserv/connect.sh\n",
			"10.9.0.0/24", "", "", true, Unknown, Present,
		},
		"an image that was not read": {
			"registry.example.com/net/ocserv:1.3", "env: []", "ipv4-network = 10.9.0.0/24\n",
			"10.9.0.0/24", "", "", true, Unknown, Present,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := look(t, mounted(tt.image, "/etc/ocserv", "ocserv.conf", tt.conf, tt.command), lab())
			tun := s.tunnel(t)
			if tun.Side != "server" || tun.Masquerade.State != tt.masquerade || tun.Clients.State != tt.clientsKnown || tun.Clients.Default != tt.everything {
				t.Errorf("%s, masquerade %+v, clients %+v", tun.Side, tun.Masquerade, tun.Clients)
			}
			if pool, routes, resolvers := prefixesOf(tun.Pool), prefixesOf(tun.Clients.Routes), prefixesOf(tun.Clients.Resolvers); pool != tt.pool || routes != tt.routes || resolvers != tt.resolvers {
				t.Errorf("pool %q, routes %q, resolvers %q", pool, routes, resolvers)
			}
		})
	}
}

// The program makes a server of its container where it serves, and not where it
// only answers a question.
func TestOCServByItsProgram(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]Role{
		"ocserv -f -c /etc/ocserv/ocserv.conf": Gateway, "ocserv --test-config -c /etc/ocserv/ocserv.conf": None, "ocserv --version": None,
	} {
		p, _ := onlyPod(t, deployment("containers: [{name: vpn, image: 'alpine:3.20', command: [sh, -c, '"+command+"'], securityContext: {capabilities: {add: [NET_ADMIN]}}}]"))
		if p.Role != want {
			t.Errorf("%s: %s (%s), want %s", command, p.Role, p.RoleWhy, want)
		}
	}
}

// A client alone in its pod whose hook translates what enters the tunnel is there
// for others; beside an application, or with a rule for what leaves, it is not.
func TestClientThatSendsOthersOn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		hook, beside string
		want         Role
	}{
		"by its name":          {"iptables -t nat -A POSTROUTING -o wg0 -j MASQUERADE", "", Gateway},
		"by %i":                {"iptables -A FORWARD -i eth0 -j ACCEPT; iptables -t nat -A POSTROUTING -o %i -j MASQUERADE", "", Gateway},
		"by nft":               {"nft add rule ip nat postrouting oifname wg0 masquerade", "", Gateway},
		"out of the pod":       {"iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE", "", Client},
		"maybe":                {"if [ -e /etc/others ]; then iptables -t nat -A POSTROUTING -o %i -j MASQUERADE; fi", "", Client},
		"nothing":              {"true", "", Client},
		"beside application":   {"iptables -t nat -A POSTROUTING -o %i -j MASQUERADE", "- {name: app, image: registry.example.com/shop:1}\n", Sidecar},
		"beside a proxy":       {"iptables -t nat -A POSTROUTING -o %i -j MASQUERADE", "- {name: proxy, image: alpine/socat, args: ['TCP-LISTEN:80,fork', 'TCP:192.168.50.4:80']}\n", Client},
		"beside a mere helper": {"iptables -t nat -A POSTROUTING -o %i -j MASQUERADE", "- {name: dns, image: 'coredns/coredns:1.11'}\n", Gateway},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := deployment("volumes: [{name: c, configMap: {name: conf}}]\ncontainers:\n- {name: vpn, image: linuxserver/wireguard, volumeMounts: [{name: c, mountPath: /config/wg_confs}]}\n"+tt.beside) +
				"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf, namespace: edge}\ndata:\n  wg0.conf: |\n    [Interface]\n    Address = 10.8.0.2/32\n    PostUp = " + tt.hook +
				"\n    [Peer]\n    PublicKey = x\n    Endpoint = 198.51.100.9:51820\n    AllowedIPs = 192.168.50.0/24\n"
			p, _ := onlyPod(t, text)
			if p.Role != tt.want || (p.Forwarding.Needed == Present) != (tt.want == Gateway) {
				t.Errorf("%s (%s), forwarding %s; want %s", p.Role, p.RoleWhy, p.Forwarding.Needed, tt.want)
			}
		})
	}
}

// A server of which only the image knows whether it translates the clients' pool.
func TestUnseenMasqueradeIsAGap(t *testing.T) {
	t.Parallel()
	conf := "conn rw\n    leftsubnet=0.0.0.0/0\n    right=%any\n    rightsourceip=10.99.0.0/24\n"
	for name, tt := range map[string]struct {
		text string
		want bool
	}{
		"an image that was not read": {mounted("docker.io/strongx509/strongswan:5.9.14", "/etc", "ipsec.conf", conf), true},
		"no clients": {
			mounted("docker.io/strongx509/strongswan:5.9.14", "/etc", "ipsec.conf", "conn site\n    right=198.51.100.9\n    leftsubnet=10.244.0.0/16\n    rightsubnet=10.60.0.0/24\n"), false,
		},
		"the script does it": {
			mounted("docker.io/strongx509/strongswan:5.9.14", "/etc", "ipsec.conf", conf, "command: [sh, -c, 'iptables -t nat -A POSTROUTING -s 10.99.0.0/24 -j MASQUERADE; exec ipsec start --nofork']"), false,
		},
	} {
		found := false
		for _, g := range look(t, tt.text, lab()).gaps {
			found = found || strings.HasPrefix(g.What, "the masquerade of ") && strings.Contains(g.Why, "what image docker.io/strongx509/strongswan:5.9.14 runs is not in the tree")
		}
		if found != tt.want {
			t.Errorf("%s: a gap: %v, want %v", name, found, tt.want)
		}
	}
}

// A container with the rights of a VPN whose image is named when the tree is
// applied may be one.
func TestImageThatIsNamedLaterIsAGap(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]bool{
		"${IMAGE}": true, "${REGISTRY}/${IMAGE}:${TAG}": true, "registry.example.com/net/${NAME}:1": true, "${IMAGE:-wg}": true,
		"${REGISTRY}/net/shop:1": false, "registry.example.com/shop:${TAG}": false, "${REGISTRY}/linuxserver/wireguard": false,
	} {
		for security, rights := range map[string]bool{"{capabilities: {add: [NET_ADMIN]}}": true, "{privileged: true}": false, "{}": false} {
			found := false
			for _, g := range look(t, deployment("containers: [{name: vpn, image: '"+image+"', securityContext: "+security+"}]"), lab()).gaps {
				found = found || g.What == "what container vpn runs"
			}
			if found != (want && rights) {
				t.Errorf("%s, %s: a gap: %v", image, security, found)
			}
		}
	}
}

// What is no setting, and what is no network, is a gap of its own line; the rest of
// such a file decides nothing.
func TestOCServBroken(t *testing.T) {
	t.Parallel()
	for conf, bad := range map[string]string{
		"ipv4-network 10.9.0.0\nipv4-netmask = 255.255.255.0\n":  "ipv4-network 10.9.0.0",
		"ipv4-network = 10.9.0.0\nipv4-netmask = 255.0.255.0\n":  "255.0.255.0",
		"ipv4-network = 10.9.0\nipv4-netmask = 255.255.255.0\n":  "10.9.0",
		"ipv4-network = 10.9.0.0/240\n[vhost:a.example]\n# no\n": "10.9.0.0/240",
	} {
		s := look(t, mounted("alpine:3.20", "/etc/ocserv", "ocserv.conf", conf, "command: [sh, -c]\nargs: ['exec ocserv -f -c /etc/ocserv/ocserv.conf']"), lab())
		if tun := s.tunnel(t); len(tun.Pool) > 0 || len(s.gaps) != 1 || !strings.HasPrefix(s.gaps[0].Why, strconv.Quote(bad)) {
			t.Errorf("%q: pool %+v, gaps %+v", conf, tun.Pool, s.gaps)
		}
	}
}
