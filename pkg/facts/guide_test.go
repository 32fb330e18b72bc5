package facts

import (
	"fmt"
	"strings"
	"testing"
)

// The summary of VPN images (FG C0), row by row: what each does with nothing set,
// in a privileged container, so that an image that forwards by itself may do so.
// "-" stands for what does not apply to it, "?" for what its image alone does not
// tell. needs: it needs NET_ADMIN.
func TestImagesOfTheGuide(t *testing.T) {
	for _, row := range strings.Split(strings.TrimSpace(`
image                                          | role    | fwd | masq | ks  | dns | needs | pool
qmcgaw/gluetun:v3.40.0                         | client  | -   | no   | yes | yes | yes   |
ghcr.io/qdm12/gluetun:v3.41.0                  | client  | -   | no   | yes | yes | yes   |
lscr.io/linuxserver/wireguard:1 PEERS=2        | gateway | no  | yes  | no  | no  | yes   | 10.13.13.0/24
ghcr.io/linuxserver/wireguard:1                | client  | -   | ?    | ?   | ?   | yes   |
ghcr.io/wg-easy/wg-easy:14                     | gateway | no  | yes  | no  | no  | yes   | 10.8.0.0/24
ghcr.io/wg-easy/wg-easy:15                     | gateway | no  | yes  | no  | no  | yes   | 10.8.0.0/24 fdcc:ad94:bacf:61a4::cafe:0/112
weejewel/wg-easy:7                             | gateway | no  | yes  | no  | no  | yes   | 10.8.0.0/24
kylemanna/openvpn:2.4                          | gateway | no  | yes  | no  | no  | yes   | 192.168.255.0/24 192.168.254.0/24
jfelten/openvpn-docker:1.1.0                   | gateway | no  | yes  | no  | no  | yes   | 10.240.0.0/16
tonwhales/openvpn-docker:1                     | gateway | no  | yes  | no  | no  | yes   | 10.240.0.0/16
sergelogvinov/openvpn:1                        | gateway | ?   | yes  | no  | no  | yes   | 172.30.0.0/24
ptlange/openvpn:1                              | gateway | no  | yes  | no  | no  | yes   | 10.140.0.0/24
quay.io/plange/openvpn:1                       | gateway | no  | yes  | no  | no  | yes   | 10.140.0.0/24
d3vilh/openvpn-server:1                        | gateway | yes | yes  | no  | no  | yes   | 10.0.70.0/24 10.0.71.0/24
hwdsl2/openvpn-server:1                        | gateway | yes | yes  | no  | no  | yes   | 10.8.0.0/24 fddd:1194:1194:1194::/64
hwdsl2/ipsec-vpn-server:1                      | gateway | yes | yes  | no  | no  | yes   | 192.168.42.0/24 192.168.43.0/24 fddd:500:500:500::/64
dperson/openvpn-client:1                       | client  | -   | no   | no  | no  | yes   |
haugene/transmission-openvpn:5                 | client  | -   | no   | no  | yes | yes   |
binhex/arch-qbittorrentvpn:1                   | client  | -   | no   | yes | yes | yes   |
dyonr/qbittorrentvpn:1                         | client  | -   | no   | yes | yes | yes   |
ghcr.io/bubuntux/nordlynx:1                    | client  | -   | yes  | yes | yes | yes   |
bubuntux/nordvpn:1                             | client  | -   | yes  | yes | yes | yes   |
thrnz/docker-wireguard-pia:1                   | client  | -   | no   | yes | yes | yes   |
thrnz/docker-wireguard-pia:1 FWD_IFACE=eth0    | gateway | no  | yes  | yes | yes | yes   |
jordanpotter/wireguard:2                       | client  | -   | ?    | yes | ?   | yes   |
masipcat/wireguard-go:1                        | unknown | ?   | ?    | ?   | ?   | yes   |
cmulk/wireguard-docker:1                       | gateway | no  | yes  | ?   | ?   | yes   |
ghcr.io/k8s-at-home/wireguard:1                | client  | -   | ?    | ?   | ?   | yes   |
ghcr.io/wfg/openvpn-client:3                   | client  | -   | no   | yes | ?   | yes   |
ghcr.io/tprasadtp/protonwire:7                 | client  | -   | no   | no  | yes | yes   |
ghcr.io/tprasadtp/protonwire:7 SKIP_DNS_CONFIG=1 | client | -  | no   | no  | no  | yes   |
ghcr.io/angelnu/pod-gateway:1                  | gateway | no  | yes  | yes | no  | yes   | 172.16.0.0/24
tailscale/tailscale:v1.80                      | client  | -   | yes  | no  | no  | no    | 100.64.0.0/10 fd7a:115c:a1e0::/48
tailscale/tailscale:v1.80 TS_USERSPACE=false,TS_ROUTES=10.0.0.0/8 | gateway | yes | yes | no | no | yes | 100.64.0.0/10 fd7a:115c:a1e0::/48
tailscale/tailscale:v1.80 TS_USERSPACE=false,TS_EXTRA_ARGS=--advertise-routes=10.0.0.0/8 | gateway | no | yes | no | no | yes | 100.64.0.0/10 fd7a:115c:a1e0::/48
netbirdio/netbird:0.50.0                       | unknown | ?   | ?    | no  | yes | yes   | 100.64.0.0/10
netbirdio/netbird:0.50.0 NB_DISABLE_DNS=true   | unknown | ?   | ?    | no  | no  | yes   | 100.64.0.0/10
netbirdio/netbird:0.50.0-rootless              | unknown | ?   | ?    | no  | no  | no    | 100.64.0.0/10
zerotier/zerotier:1                            | unknown | ?   | no   | no  | no  | yes   |
zyclonite/zerotier:1                           | unknown | ?   | no   | no  | no  | yes   |
zyclonite/zerotier:router                      | gateway | no  | ?    | no  | no  | yes   |
ghcr.io/firezone/gateway:1                     | gateway | no  | yes  | no  | no  | yes   | 100.64.0.0/11 fd00:2021:1111::/107
gravitl/netclient:1                            | unknown | ?   | ?    | no  | ?   | yes   |
nebulaoss/nebula:1                             | unknown | ?   | no   | no  | no  | yes   |
vimagick/strongswan                            | gateway | no  | yes  | no  | no  | yes   | 10.20.30.0/24
strongx509/strongswan:5                        | unknown | ?   | ?    | no  | no  | ?     |
registry.example.com/net/libreswan:5           | unknown | ?   | ?    | no  | no  | ?     |
vimagick/ocserv                                | gateway | no  | yes  | no  | no  | yes   | 10.20.30.0/24
tommylau/ocserv                                | gateway | ?   | ?    | no  | no  | ?     |
vimagick/openconnect                           | client  | -   | no   | no  | ?   | yes   |
siomiz/softethervpn                            | gateway | -   | yes  | no  | no  | no    |
softethervpn/vpnserver                         | gateway | -   | yes  | no  | no  | no    |
jippi/pritunl                                  | gateway | ?   | ?    | no  | no  | ?     |
goofball222/pritunl                            | gateway | ?   | ?    | no  | no  | ?     |
openvpn/openvpn-as                             | gateway | ?   | ?    | no  | no  | ?     |
caomingjun/warp                                | client  | -   | no   | no  | no  | yes   |
caomingjun/warp WARP_ENABLE_NAT=1              | gateway | no  | yes  | no  | no  | yes   |
shadowsocks/shadowsocks-libev                  | client  | -   | no   | no  | no  | no    |
quay.io/outline/shadowbox                      | client  | -   | no   | no  | no  | no    |
squat/kilo:0.6.0                               | unknown | ?   | yes  | no  | no  | yes   | 10.4.0.0/16
ghcr.io/bryopsida/wireguard:1                  | gateway | no  | yes  | no  | no  | yes   | 10.34.0.0/24
ghcr.io/denefoster/k8s-wireguard:1             | gateway | no  | yes  | no  | no  | yes   | 10.10.0.0/24
ghcr.io/denefoster/k8s-wireguard:1 WG_IP_FORWARDING=true | gateway | yes | yes | no | no | yes | 10.10.0.0/24
place1/wg-access-server:1                      | gateway | no  | yes  | no  | no  | yes   | 10.44.0.0/24 fd48:4c4:7aa9::/64
ghcr.io/freifunkmuc/wg-access-server:1         | gateway | no  | yes  | no  | no  | yes   | 10.44.0.0/24 fd48:4c4:7aa9::/64
subspacecommunity/subspace:1                   | gateway | no  | yes  | no  | yes | yes   | 10.99.97.0/24
ngoduykhanh/wireguard-ui:1 WGUI_MANAGE_START=true | gateway | no | no | no | no | yes | 10.252.1.0/24
`), "\n")[1:] {
		cells := strings.Split(row, "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		want := strings.Join(cells[1:], " ")
		image, env, _ := strings.Cut(cells[0], " ")
		t.Run(cells[0], func(t *testing.T) {
			var vars []string
			if env != "" {
				vars = strings.SplitN(env, ",", 2)
			}
			s := look(t, strings.Replace(container(image, vars...), "image:", "securityContext: {privileged: true}\n        image:", 1), lab())
			p, tun := s.pods[0].pod, s.tunnel(t)
			forwards := guideWord(p.Forwarding.IPv4.State)
			switch p.Forwarding.Needed {
			case Absent:
				forwards = "-"
			case Unknown:
				forwards = "?"
			}
			got := strings.TrimSpace(fmt.Sprintln(p.Role, forwards, guideWord(tun.Masquerade.State), guideWord(tun.KillSwitch.State),
				guideWord(tun.Resolver.Rewrites), guideWord(p.Containers[0].NeedsAdmin), prefixesOf(tun.Pool)))
			if got != strings.TrimSpace(want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func guideWord(k Known) string {
	return map[Known]string{Present: "yes", Absent: "no", Unknown: "?"}[k]
}

// What FG C0 lists as no data plane, and the components that run on the host
// network by design.
func TestNoDataPlane(t *testing.T) {
	for _, image := range []string{
		"tailscale/k8s-operator:v1.80", "tailscale/k8s-nameserver:v1.80", "tailscale/k8s-proxy:v1.80", "tailscale/tsidp:v1",
		"netbirdio/management:0.50", "netbirdio/signal:0.50", "netbirdio/relay:0.50", "netbirdio/dashboard:2", "netbirdio/kubernetes-operator:0.1",
		"headscale/headscale:0.26", "juanfont/headscale:0.22", "gurucomputing/headscale-ui:1", "ghcr.io/tale/headplane:0.5",
		"firezone/api:1", "firezone/web:1", "firezone/portal:1", "firezone/relay:1",
		"ghcr.io/angelnu/gateway-admision-controller:v3", "ghcr.io/jodevsa/wireguard-operator/manager:v2", "twingate/connector:1",
		"mindflavor/prometheus-wireguard-exporter:3", "adinhodovic/tailscale-exporter:1", "kumina/openvpn-exporter:1",
		"snoringdragon/gluetun-qbittorrent-port-manager:1", "scuzza/gluetun-webui:1", "ghcr.io/bjw-s-labs/gluetun-qb-port-sync:1", "hononeko/qbit-gluetun-sync:1",
		"outlinewiki/outline:0.8", "lovelaze/nebula-sync:1", "wgportal/wg-portal:1", "ghcr.io/h44z/wg-portal:1", "ngoduykhanh/wireguard-ui:1",
	} {
		t.Run(image, func(t *testing.T) {
			p := look(t, container(image), lab()).pods[0].pod
			if len(p.Tunnels) != 0 || p.Role != Control && p.Role != None || p.Containers[0].DataPlane || p.Forwarding.Needed != Absent {
				t.Errorf("%s, tunnels %+v, forwarding %s", p.Role, p.Tunnels, p.Forwarding.Needed)
			}
		})
	}
	for _, image := range []string{
		"squat/kilo:0.6.0", "quay.io/cilium/cilium:v1.19.6", "docker.io/calico/node:v3.30.0", "quay.io/submariner/submariner-gateway:0.20.0",
	} {
		t.Run(image, func(t *testing.T) {
			text := strings.Replace(container(image), "      containers:", "      hostNetwork: true\n      containers:", 1)
			if p := look(t, text, lab()).pods[0].pod; p.Role != Mesh || p.Forwarding.Needed != Absent {
				t.Errorf("%s, forwarding %+v", p.Role, p.Forwarding.Needed)
			}
		})
	}
}
