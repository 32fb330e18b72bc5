package lint_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/pkg/testtree"
)

// broken are texts of which one line is wrong; the token is a part of it.
// says is the rule that says so and words of its message, or "gap" and words of
// the gap's reason.
var broken = []struct {
	language
	rule, says string
}{
	{language{
		name: "WireGuard, a line", key: "wg0.conf", token: "this is no setting", objects: mountingPod("linuxserver/wireguard:1.0.20210914", "[]", "/config/wg_confs"),
		text: "[Interface]\nPrivateKey = AAAA\nAddress = 10.2.0.2/32\n[Peer]\nPublicKey = BBBB\nthis is no setting\nAllowedIPs = 0.0.0.0/0\nEndpoint = 198.51.100.7:51820\n",
	}, "gap", "is no section and no key; correct that line"},
	{language{
		name: "WireGuard, a prefix", key: "wg0.conf", token: "10.99.7.0/240", objects: mountingPod("linuxserver/wireguard:1.0.20210914", "[]", "/config/wg_confs"),
		text: "[Interface]\nPrivateKey = AAAA\nAddress = 10.2.0.2/32\n[Peer]\nPublicKey = BBBB\nAllowedIPs = 10.98.0.0/24, 10.99.7.0/240\nEndpoint = 198.51.100.7:51820\n",
	}, "VPN405", "is neither an address nor a prefix"},
	{language{
		name: "WireGuard, an MTU", key: "wg0.conf", token: "MTU = 14x0", objects: mountingPod("linuxserver/wireguard:1.0.20210914", "[]", "/config/wg_confs"),
		text: "[Interface]\nPrivateKey = AAAA\nAddress = 10.2.0.2/32\nMTU = 14x0\n[Peer]\nPublicKey = BBBB\nAllowedIPs = 0.0.0.0/0\nEndpoint = 198.51.100.7:51820\n",
	}, "gap", "MTU is \"14x0\", not a number up to 65535"},
	{language{
		name: "WireGuard, an endpoint", key: "wg0.conf", token: "Endpoint = vpn.example.com", objects: mountingPod("linuxserver/wireguard:1.0.20210914", "[]", "/config/wg_confs"),
		text: "[Interface]\nPrivateKey = AAAA\nAddress = 10.2.0.2/32\n[Peer]\nPublicKey = BBBB\nAllowedIPs = 0.0.0.0/0\nEndpoint = vpn.example.com\n",
	}, "gap", "Endpoint is \"vpn.example.com\", not host:port"},
	{language{
		name: "WireGuard, a last comma", key: "wg0.conf", token: "0.0.0.0/0,", objects: mountingPod("linuxserver/wireguard:1.0.20210914", "[]", "/config/wg_confs"),
		text: "[Interface]\nPrivateKey = AAAA\nAddress = 10.2.0.2/32\n[Peer]\nPublicKey = BBBB\nAllowedIPs = 0.0.0.0/0,\nEndpoint = 198.51.100.7:51820\n",
	}, "gap", "AllowedIPs has an entry without an address"},
	{language{
		name: "WireGuard, a keepalive", key: "wg0.conf", token: "PersistentKeepalive = 25s", objects: mountingPod("linuxserver/wireguard:1.0.20210914", "[]", "/config/wg_confs"),
		text: "[Interface]\nPrivateKey = AAAA\nAddress = 10.2.0.2/32\n[Peer]\nPublicKey = BBBB\nAllowedIPs = 0.0.0.0/0\nEndpoint = 198.51.100.7:51820\nPersistentKeepalive = 25s\n",
	}, "gap", "PersistentKeepalive is \"25s\", not a number up to 65535"},
	{language{
		name: "WireGuard, a port", key: "wg0.conf", token: "ListenPort = 518200", objects: mountingPod("linuxserver/wireguard:1.0.20210914", "[]", "/config/wg_confs"),
		text: "[Interface]\nPrivateKey = AAAA\nAddress = 10.2.0.2/32\nListenPort = 518200\n[Peer]\nPublicKey = BBBB\nAllowedIPs = 0.0.0.0/0\nEndpoint = 198.51.100.7:51820\n",
	}, "gap", "ListenPort is \"518200\""},
	{language{
		name: "WireGuard, a table", key: "wg0.conf", token: "Table = 51x", objects: mountingPod("linuxserver/wireguard:1.0.20210914", "[]", "/config/wg_confs"),
		text: "[Interface]\nPrivateKey = AAAA\nAddress = 10.2.0.2/32\nTable = 51x\n[Peer]\nPublicKey = BBBB\nAllowedIPs = 0.0.0.0/0\nEndpoint = 198.51.100.7:51820\n",
	}, "gap", "Table is \"51x\""},
	{language{
		name: "WireGuard, a mark", key: "wg0.conf", token: "FwMark = mark", objects: mountingPod("linuxserver/wireguard:1.0.20210914", "[]", "/config/wg_confs"),
		text: "[Interface]\nPrivateKey = AAAA\nAddress = 10.2.0.2/32\nFwMark = mark\n[Peer]\nPublicKey = BBBB\nAllowedIPs = 0.0.0.0/0\nEndpoint = 198.51.100.7:51820\n",
	}, "gap", "FwMark is \"mark\""},
	{language{
		name: "WireGuard, a switch", key: "wg0.conf", token: "SaveConfig = maybe", objects: mountingPod("linuxserver/wireguard:1.0.20210914", "[]", "/config/wg_confs"),
		text: "[Interface]\nPrivateKey = AAAA\nAddress = 10.2.0.2/32\nSaveConfig = maybe\n[Peer]\nPublicKey = BBBB\nAllowedIPs = 0.0.0.0/0\nEndpoint = 198.51.100.7:51820\n",
	}, "gap", "SaveConfig is \"maybe\", neither true nor false"},
	{language{
		name: "WireGuard, a misspelt key", key: "wg0.conf", token: "AllowedIP = ", objects: mountingPod("linuxserver/wireguard:1.0.20210914", "[]", "/config/wg_confs"),
		text: "[Interface]\nPrivateKey = AAAA\nAddress = 10.2.0.2/32\n[Peer]\nPublicKey = BBBB\nAllowedIP = 0.0.0.0/0\nEndpoint = 198.51.100.7:51820\n",
	}, "gap", "unknown key \"AllowedIP\" in [Peer]"},
	{language{
		name: "WireGuard, a misspelt section", key: "wg0.conf", token: "[Peeer]", objects: mountingPod("linuxserver/wireguard:1.0.20210914", "[]", "/config/wg_confs"),
		text: "[Interface]\nPrivateKey = AAAA\nAddress = 10.2.0.2/32\n[Peeer]\nPublicKey = BBBB\nAllowedIPs = 0.0.0.0/0\nEndpoint = 198.51.100.7:51820\n",
	}, "gap", "unknown section [Peeer]"},
	{language{
		name: "WireGuard, an address", key: "wg0.conf", token: "Address = ten", objects: mountingPod("linuxserver/wireguard:1.0.20210914", "[]", "/config/wg_confs"),
		text: "[Interface]\nPrivateKey = AAAA\nAddress = ten\n[Peer]\nPublicKey = BBBB\nAllowedIPs = 0.0.0.0/0\nEndpoint = 198.51.100.7:51820\n",
	}, "gap", "Address ten is no address; correct that line"},
	{language{
		name: "WireGuard, a resolver", key: "wg0.conf", token: "DNS = 10.8.0", objects: mountingPod("linuxserver/wireguard:1.0.20210914", "[]", "/config/wg_confs"),
		text: "[Interface]\nPrivateKey = AAAA\nAddress = 10.2.0.2/32\nDNS = 10.8.0\n[Peer]\nPublicKey = BBBB\nAllowedIPs = 10.98.0.0/24\nEndpoint = 198.51.100.7:51820\n",
	}, "gap", "DNS 10.8.0 is no address; correct that line"},
	{language{
		name: "OpenVPN, a quotation mark", key: "openvpn.conf", token: "push \"route 10.99.7.0", objects: mountingPod("kylemanna/openvpn:2.4", "[]", "/etc/openvpn"),
		text: "port 1194\nproto udp\ndev tun\nserver 10.8.0.0 255.255.255.0\npush \"route 10.99.7.0 255.255.255.0\nkeepalive 10 60\n",
	}, "gap", "a quotation mark is not closed"},
	{language{
		name: "OpenVPN, a netmask", key: "openvpn.conf", token: "255.255.0.255", objects: mountingPod("kylemanna/openvpn:2.4", "[]", "/etc/openvpn"),
		text: "port 1194\nproto udp\ndev tun\nserver 10.8.0.0 255.255.0.255\nkeepalive 10 60\n",
	}, "VPN405", "its ones are not in one piece"},
	{language{
		name: "OpenVPN, a netmask of no four bytes", key: "openvpn.conf", token: "255.255.255.300", objects: mountingPod("kylemanna/openvpn:2.4", "[]", "/etc/openvpn"),
		text: "port 1194\nproto udp\ndev tun\nserver 10.8.0.0 255.255.255.300\nkeepalive 10 60\n",
	}, "VPN405", "300 is more than 255"},
	{language{
		name: "OpenVPN, an address in the short form", key: "openvpn.conf", token: "server 10.8.0 255", objects: mountingPod("kylemanna/openvpn:2.4", "[]", "/etc/openvpn"),
		text: "port 1194\nproto udp\ndev tun\nserver 10.8.0 255.255.255.0\nkeepalive 10 60\n",
	}, "gap", "is no network and netmask of four numbers each; correct that line"},
	{language{
		name: "OpenVPN, a misspelt option", key: "openvpn.conf", token: "redirect-gatewy def1", objects: mountingPod("alpine/openvpn:2.6", "[openvpn, --config, /etc/openvpn/openvpn.conf]", "/etc/openvpn"),
		text: "client\nproto udp\ndev tun\nremote 203.0.113.7 1194\nnobind\nredirect-gatewy def1\n",
	}, "gap", "there is no option redirect-gatewy (the nearest is redirect-gateway)"},
	{language{
		name: "OpenVPN, a misspelt option of a server", key: "openvpn.conf", token: "topolgy subnet", objects: mountingPod("kylemanna/openvpn:2.4", "[]", "/etc/openvpn"),
		text: "port 1194\nproto udp\ndev tun\nserver 10.8.0.0 255.255.255.0\nkeepalive 10 60\ntopolgy subnet\n",
	}, "gap", "there is no option topolgy (the nearest is topology)"},
	{language{
		name: "OpenVPN, a flag", key: "openvpn.conf", token: "redirect-gateway def9", objects: mountingPod("alpine/openvpn:2.6", "[openvpn, --config, /etc/openvpn/openvpn.conf]", "/etc/openvpn"),
		text: "client\nproto udp\ndev tun\nremote 203.0.113.7 1194\nnobind\nredirect-gateway def9\n",
	}, "gap", "redirect-gateway \"def9\" is no flag of it"},
	{language{
		name: "OpenVPN, a topology", key: "openvpn.conf", token: "topology subnetz", objects: mountingPod("kylemanna/openvpn:2.4", "[]", "/etc/openvpn"),
		text: "port 1194\nproto udp\ndev tun\nserver 10.8.0.0 255.255.255.0\nkeepalive 10 60\ntopology subnetz\n",
	}, "gap", "topology \"subnetz\" is none of net30, p2p and subnet"},
	{language{
		name: "OpenVPN, a port", key: "openvpn.conf", token: "lport 119400", objects: mountingPod("kylemanna/openvpn:2.4", "[]", "/etc/openvpn"),
		text: "port 1194\nproto udp\ndev tun\nserver 10.8.0.0 255.255.255.0\nkeepalive 10 60\nlport 119400\n",
	}, "gap", "lport \"119400\" is no port"},
	{language{
		name: "OpenVPN, a protocol", key: "openvpn.conf", token: "proto udpp", objects: mountingPod("alpine/openvpn:2.6", "[openvpn, --config, /etc/openvpn/openvpn.conf]", "/etc/openvpn"),
		text: "client\nproto udpp\ndev tun\nremote 203.0.113.7 1194\nredirect-gateway def1\n",
	}, "gap", "proto \"udpp\" is no protocol"},
	{language{
		name: "OpenVPN, a device", key: "openvpn.conf", token: "dev tnu0", objects: mountingPod("alpine/openvpn:2.6", "[openvpn, --config, /etc/openvpn/openvpn.conf]", "/etc/openvpn"),
		text: "client\nproto udp\ndev tnu0\nremote 203.0.113.7 1194\nredirect-gateway def1\n",
	}, "gap", "dev \"tnu0\" is no tun and no tap"},
	{language{
		name: "OpenVPN, a remote port", key: "openvpn.conf", token: "203.0.113.7 99999", objects: mountingPod("alpine/openvpn:2.6", "[openvpn, --config, /etc/openvpn/openvpn.conf]", "/etc/openvpn"),
		text: "client\nproto udp\ndev tun\nremote 203.0.113.7 99999\nredirect-gateway def1\n",
	}, "gap", "remote \"99999\" is no port"},
	{language{
		name: "OpenVPN, a pull-filter", key: "openvpn.conf", token: "pull-filter ignor", objects: mountingPod("alpine/openvpn:2.6", "[openvpn, --config, /etc/openvpn/openvpn.conf]", "/etc/openvpn"),
		text: "client\nproto udp\ndev tun\nremote 203.0.113.7 1194\nnobind\npull-filter ignor redirect-gateway\n",
	}, "gap", "pull-filter \"ignor\" is none of"},
	{language{
		name: "OpenVPN, a short netmask", key: "openvpn.conf", token: "10.50.0.0 255.255.0", objects: mountingPod("alpine/openvpn:2.6", "[openvpn, --config, /etc/openvpn/openvpn.conf]", "/etc/openvpn"),
		text: "client\nproto udp\ndev tun\nremote 203.0.113.7 1194\nnobind\nroute 10.50.0.0 255.255.0\nroute-nopull\n",
	}, "gap", "route 10.50.0.0 255.255.0 is no network and netmask of four numbers each"},
	{language{
		name: "OpenVPN, a short netmask that is pushed", key: "openvpn.conf", token: "10.50.0.0 255.255.0", objects: mountingPod("kylemanna/openvpn:2.4", "[]", "/etc/openvpn"),
		text: "port 1194\nproto udp\ndev tun\nserver 10.8.0.0 255.255.255.0\nkeepalive 10 60\npush \"route 10.50.0.0 255.255.0\"\n",
	}, "gap", "route 10.50.0.0 255.255.0 is no network and netmask of four numbers each"},
	{language{
		name: "OpenVPN, a pushed resolver", key: "openvpn.conf", token: "dhcp-option DNS 10.8.0", objects: mountingPod("kylemanna/openvpn:2.4", "[]", "/etc/openvpn"),
		text: "port 1194\nproto udp\ndev tun\nserver 10.8.0.0 255.255.255.0\nkeepalive 10 60\npush \"dhcp-option DNS 10.8.0\"\n",
	}, "gap", "dhcp-option DNS 10.8.0 is no address"},
	{language{
		name: "ocserv, a route", key: "ocserv.conf", token: "10.8.0.0/255.255.240", objects: mountingPod("alpine:3.20", `[sh, -c, "apk add ocserv iptables; iptables -t nat -A POSTROUTING -s 10.9.0.0/24 -j MASQUERADE; exec ocserv -f -c /etc/ocserv/ocserv.conf"]`, "/etc/ocserv"),
		text: "ipv4-network = 10.9.0.0/24\nroute = 10.8.0.0/255.255.240\ndns = 10.96.0.10\n",
	}, "gap", "\"10.8.0.0/255.255.240\" is no network"},
	{language{
		name: "ocserv, a resolver", key: "ocserv.conf", token: "dns = 10.8.0", objects: mountingPod("alpine:3.20", `[sh, -c, "apk add ocserv iptables; iptables -t nat -A POSTROUTING -s 10.9.0.0/24 -j MASQUERADE; exec ocserv -f -c /etc/ocserv/ocserv.conf"]`, "/etc/ocserv"),
		text: "ipv4-network = 10.9.0.0/24\nroute = 10.96.0.0/12\ndns = 10.8.0\n",
	}, "gap", "\"10.8.0\" is no address"},
	{language{
		name: "ocserv, a pool", key: "ocserv.conf", token: "10.9.0.0/240", objects: mountingPod("alpine:3.20", `[sh, -c, "apk add ocserv iptables; iptables -t nat -A POSTROUTING -s 10.9.0.0/24 -j MASQUERADE; exec ocserv -f -c /etc/ocserv/ocserv.conf"]`, "/etc/ocserv"),
		text: "ipv4-network = 10.9.0.0/240\nroute = 10.96.0.0/12\n",
	}, "gap", "\"10.9.0.0/240\" is no network and no netmask"},
	{language{
		name: "ocserv, a line", key: "ocserv.conf", token: "route 10.96.0.0/12", objects: mountingPod("alpine:3.20", `[sh, -c, "apk add ocserv iptables; iptables -t nat -A POSTROUTING -s 10.9.0.0/24 -j MASQUERADE; exec ocserv -f -c /etc/ocserv/ocserv.conf"]`, "/etc/ocserv"),
		text: "ipv4-network = 10.9.0.0/24\nroute 10.96.0.0/12\n",
	}, "gap", "\"route 10.96.0.0/12\" is no setting"},
	{language{
		name: "OpenVPN, an argument too many", key: "openvpn.conf", token: "route-nopull yes", objects: mountingPod("alpine/openvpn:2.6", "[openvpn, --config, /etc/openvpn/openvpn.conf]", "/etc/openvpn"),
		text: "client\nproto udp\ndev tun\nremote 203.0.113.7 1194\nnobind\nredirect-gateway def1\nroute-nopull yes\n",
	}, "gap", "has more arguments than the option route-nopull takes"},
	{language{
		name: "OpenVPN, a mode", key: "openvpn.conf", token: "mode clint", objects: mountingPod("alpine/openvpn:2.6", "[openvpn, --config, /etc/openvpn/openvpn.conf]", "/etc/openvpn"),
		text: "client\nproto udp\ndev tun\nremote 203.0.113.7 1194\nnobind\nredirect-gateway def1\nmode clint\n",
	}, "gap", "mode \"clint\" is neither p2p nor server"},
	{language{
		name: "OpenVPN, a keepalive", key: "openvpn.conf", token: "keepalive 60 10", objects: mountingPod("alpine/openvpn:2.6", "[openvpn, --config, /etc/openvpn/openvpn.conf]", "/etc/openvpn"),
		text: "client\nproto udp\ndev tun\nremote 203.0.113.7 1194\nnobind\nredirect-gateway def1\nkeepalive 60 10\n",
	}, "gap", "keepalive \"10\" is less than twice the first number"},
	{language{
		name: "OpenVPN, push without quotation marks", key: "openvpn.conf", token: "push route 10.99.7.0", objects: mountingPod("kylemanna/openvpn:2.4", "[]", "/etc/openvpn"),
		text: "port 1194\nproto udp\ndev tun\nserver 10.8.0.0 255.255.255.0\npush route 10.99.7.0 255.255.255.0\n",
	}, "gap", "the argument of push is not in quotation marks"},
	{language{
		name: "ocserv, a route without a prefix", key: "ocserv.conf", token: "route = 10.96.0.0", objects: mountingPod("alpine:3.20", `[sh, -c, "apk add ocserv && exec ocserv -f -c /etc/ocserv/ocserv.conf"]`, "/etc/ocserv"),
		text: "ipv4-network = 10.9.0.0/24\nroute = 10.96.0.0\n",
	}, "gap", "\"10.96.0.0\" is no setting"},
	{language{
		name: "ipsec.conf, a pool", key: "ipsec.conf", token: "10.3.0.0/240", objects: mountingPod("docker.io/strongx509/strongswan:5.9.14", "[]", "/etc"),
		text: "conn office\n    left=%defaultroute\n    leftsubnet=10.96.0.0/12\n    right=%any\n    rightsourceip=10.3.0.0/240\n    auto=add\n",
	}, "gap", "10.3.0.0/240"},
	{language{
		name: "ipsec.conf, a line", key: "ipsec.conf", token: "rightsubnet 0.0.0.0/0", objects: mountingPod("docker.io/strongx509/strongswan:5.9.14", "[]", "/etc"),
		text: "conn office\n    left=%defaultroute\n    leftsourceip=%config\n    right=203.0.113.77\n    rightsubnet 0.0.0.0/0\n    auto=start\n",
	}, "gap", "is no setting; correct that line"},
	{language{
		name: "swanctl.conf, a selector", key: "swanctl.conf", token: "10.99.7.0/240", objects: mountingPod("docker.io/strongx509/strongswan:5.9.14", "[]", "/etc/swanctl"),
		text: "connections {\n  site {\n    remote_addrs = 203.0.113.77\n    children {\n      net {\n        local_ts = 10.244.0.0/16\n        remote_ts = 10.99.7.0/240\n      }\n    }\n  }\n}\n",
	}, "gap", "\"10.99.7.0/240\" is no traffic selector; correct it"},
	{language{
		name: "swanctl.conf, a brace", key: "swanctl.conf", token: "connections {", objects: mountingPod("docker.io/strongx509/strongswan:5.9.14", "[]", "/etc/swanctl"),
		text: "# sites\nconnections {\n  site {\n    remote_addrs = 203.0.113.77\n    children {\n      net {\n        remote_ts = 0.0.0.0/0\n      }\n    }\n  }\n",
	}, "gap", "is never closed"},
	{language{
		name: "net-conf.json, a range", key: "net-conf.json", token: "10.99.0.0/160", objects: flannel, object: "kube-flannel-cfg", namespace: "kube-flannel",
		text: "{\n  \"Network\": \"10.99.0.0/160\",\n  \"Backend\": {\"Type\": \"vxlan\"}\n}\n",
	}, "VPN405", "it is no prefix"},
	{language{
		name: "net-conf.json, a bracket", key: "net-conf.json", token: "\"Backend\": [", objects: flannel, object: "kube-flannel-cfg", namespace: "kube-flannel",
		text: "{\n  \"Network\": \"10.99.0.0/16\",\n  \"Backend\": [\"Type\": {}\n}\n",
	}, "gap", "it is not YAML as it stands here; correct it"},
	{language{
		name: "ip-masq-agent, an entry", key: "config", token: "10.99.7.0/240", objects: agent, object: "ip-masq-agent", namespace: "kube-system",
		text: "resyncInterval: 60s\nnonMasqueradeCIDRs:\n  - 10.244.0.0/16\n  - 10.99.7.0/240\nmasqLinkLocal: false\n",
	}, "VPN205", "is no prefix"},
	{language{
		name: "ip-masq-agent, a type", key: "config", token: "soon", objects: agent, object: "ip-masq-agent", namespace: "kube-system",
		text: "nonMasqueradeCIDRs:\n  - 10.244.0.0/16\nresyncInterval: soon\nmasqLinkLocal: false\n",
	}, "VPN205", "no duration"},
	{language{
		name: "ip-masq-agent, a bracket", key: "config", token: "- [10.99.7.0/24", objects: agent, object: "ip-masq-agent", namespace: "kube-system",
		text: "resyncInterval: 60s\nnonMasqueradeCIDRs:\n  - 10.244.0.0/16\n  - [10.99.7.0/24\nmasqLinkLocal: false\n",
	}, "VPN205", "neither YAML nor JSON"},
	{language{
		name: "script, its syntax", key: "up.sh", token: "if [ -e /tmp/x ; then", objects: mountingPod("kylemanna/openvpn:2.4", `[sh, /scripts/up.sh]`, "/scripts"),
		text: "set -e\nip link set dev eth0 mtu 1400\nif [ -e /tmp/x ; then\nexec openvpn --dev tun --server 10.8.0.0 255.255.255.0\n",
	}, "gap", "cannot be read as shell from here on"},
	{language{
		name: "script, iptables", key: "up.sh", token: "10.8.0.0/240", objects: mountingPod("kylemanna/openvpn:2.4", `[sh, /scripts/up.sh]`, "/scripts"),
		text: "set -e\niptables -t nat -A POSTROUTING -s 10.8.0.0/240 -j MASQUERADE\nexec openvpn --dev tun --server 10.8.0.0 255.255.255.0\n",
	}, "VPN405", "the command fails, and it translates nothing"},
	{language{
		name: "script, a target of iptables", key: "up.sh", token: "MASQUERAED", objects: mountingPod("kylemanna/openvpn:2.4", `[sh, /scripts/up.sh]`, "/scripts"),
		text: "set -e\niptables -t nat -A POSTROUTING -o eth0 -j MASQUERAED\nexec openvpn --dev tun --server 10.8.0.0 255.255.255.0\n",
	}, "gap", "it is no target of iptables and no chain that is made before"},
	{language{
		name: "script, a word of nft", key: "up.sh", token: "masquerad", objects: mountingPod("kylemanna/openvpn:2.4", `[sh, /scripts/up.sh]`, "/scripts"),
		text: "nft add rule ip nat post oifname eth0 masquerad\nexec openvpn --dev tun --server 10.8.0.0 255.255.255.0\n",
	}, "gap", "nft has no such word"},
	{language{
		name: "script, a route", key: "up.sh", token: "10.50.0.0/160", objects: mountingPod("kylemanna/openvpn:2.4", `[sh, /scripts/up.sh]`, "/scripts"),
		text: "set -e\niptables -t nat -A POSTROUTING -s 10.8.0.0/24 -j MASQUERADE\nip route add 10.50.0.0/160 via 10.1.1.1\nexec openvpn --dev tun --server 10.8.0.0 255.255.255.0\n",
	}, "gap", "it is no prefix; correct it"},
	{language{
		name: "script, a rule of routing", key: "up.sh", token: "form 10.8.0.0", objects: mountingPod("kylemanna/openvpn:2.4", `[sh, /scripts/up.sh]`, "/scripts"),
		text: "iptables -t nat -A POSTROUTING -s 10.8.0.0/24 -j MASQUERADE\nip rule add form 10.8.0.0/24 table 100\nexec openvpn --dev tun --server 10.8.0.0 255.255.255.0\n",
	}, "gap", "ip rule has no such word"},
	{language{
		name: "script, a setting of the kernel", key: "up.sh", token: "ip_forwrd", objects: mountingPod("kylemanna/openvpn:2.4", `[sh, /scripts/up.sh]`, "/scripts"),
		text: "iptables -t nat -A POSTROUTING -s 10.8.0.0/24 -j MASQUERADE\nsysctl -w net.ipv4.ip_forwrd=1\nexec openvpn --dev tun --server 10.8.0.0 255.255.255.0\n",
	}, "gap", "the kernel has no setting net.ipv4.ip_forwrd"},
	{language{
		name: "sysctl.conf, a name", key: "99-vpn.conf", token: "ip_forwrd", objects: mountingPod("kylemanna/openvpn:2.4", `[sh, -c, "sysctl -p /sysctl/99-vpn.conf && exec ovpn_run"]`, "/sysctl"),
		text: "net.core.rmem_max = 2500000\nnet.ipv4.ip_forwrd = 1\n",
	}, "gap", "the kernel has no setting net.ipv4.ip_forwrd"},
	{language{
		name: "nft file, a hook", key: "rules.nft", token: "hok postrouting", objects: mountingPod("kylemanna/openvpn:2.4", `[sh, -c, "nft -f /scripts/rules.nft && exec openvpn --dev tun --server 10.8.0.0 255.255.255.0"]`, "/scripts"),
		text: "table ip nat {\n  chain post {\n    type nat hok postrouting priority 100;\n    oifname eth0 masquerade\n  }\n}\n",
	}, "gap", "the word hook stands behind a chain's type"},
	{language{
		name: "iptables-save file, a chain", key: "rules.v4", token: "POSTROUTNG", objects: mountingPod("kylemanna/openvpn:2.4", `[sh, -c, "iptables-restore < /scripts/rules.v4 && exec openvpn --dev tun --server 10.8.0.0 255.255.255.0"]`, "/scripts"),
		text: "*nat\n:POSTROUTING ACCEPT [0:0]\n[1:2] -A POSTROUTNG -o eth0 -j MASQUERADE\nCOMMIT\n",
	}, "gap", "the table nat has no such chain"},
	{language{
		name: "script, iptables-restore with a here-document", key: "up.sh", token: "-A POSTROUTING", objects: mountingPod("kylemanna/openvpn:2.4", `[sh, /scripts/up.sh]`, "/scripts"),
		text: "set -e\niptables-restore <<EOF\n*nat\n:POSTROUTING ACCEPT [0:0]\n-A POSTROUTING -o \"eth0 -j MASQUERADE\nCOMMIT\nEOF\nexec openvpn --dev tun --server 10.8.0.0 255.255.255.0\n",
	}, "gap", "not to be understood"},
	{language{
		name: "hook of WireGuard, a word of nft", key: "wg0.conf", token: "masquerad", objects: mountingPod("linuxserver/wireguard:1.0.20210914", "[]", "/config/wg_confs"),
		text: "[Interface]\nPrivateKey = AAAA\nAddress = 10.13.13.1/24\nListenPort = 51820\nPostUp = nft add rule ip nat post oifname eth0 masquerad\n[Peer]\nPublicKey = BBBB\nAllowedIPs = 10.13.13.2/32\n",
	}, "gap", "nft has no such word"},
	{language{
		name: "script, nft", key: "up.sh", token: "10.8.0.0/240", objects: mountingPod("kylemanna/openvpn:2.4", `[sh, /scripts/up.sh]`, "/scripts"),
		text: "set -e\nnft add rule ip nat post ip saddr 10.8.0.0/240 masquerade\nexec openvpn --dev tun --server 10.8.0.0 255.255.255.0\n",
	}, "VPN405", "the command fails, and it translates nothing"},
	{language{
		name: "nft file, a prefix", key: "rules.nft", token: "10.8.0.0/240", objects: mountingPod("kylemanna/openvpn:2.4", `[sh, -c, "nft -f /scripts/rules.nft && exec openvpn --dev tun --server 10.8.0.0 255.255.255.0"]`, "/scripts"),
		text: "table ip nat {\n  chain post {\n    type nat hook postrouting priority 100;\n    ip saddr 10.8.0.0/240 oifname eth0 masquerade\n  }\n}\n",
	}, "VPN405", "it is no prefix"},
	{language{
		name: "nft file, a quotation mark", key: "rules.nft", token: "ip saddr", objects: mountingPod("kylemanna/openvpn:2.4", `[sh, -c, "nft -f /scripts/rules.nft && exec openvpn --dev tun --server 10.8.0.0 255.255.255.0"]`, "/scripts"),
		text: "table ip nat {\n  chain post {\n    type nat hook postrouting priority 100;\n    ip saddr 10.8.0.0/24 oifname \"eth0 masquerade\n  }\n}\n",
	}, "gap", "not to be understood"},
	{language{
		name: "nft file, a brace", key: "rules.nft", token: "chain post", objects: mountingPod("kylemanna/openvpn:2.4", `[sh, -c, "nft -f /scripts/rules.nft && exec openvpn --dev tun --server 10.8.0.0 255.255.255.0"]`, "/scripts"),
		text: "table ip nat {\n  chain post\n    type nat hook postrouting priority 100;\n    ip saddr 10.8.0.0/24 oifname eth0 masquerade\n  }\n}\n",
	}, "gap", "not to be understood"},
	{language{
		name: "nft file, an open table", key: "rules.nft", token: "table ip nat", objects: mountingPod("kylemanna/openvpn:2.4", `[sh, -c, "nft -f /scripts/rules.nft && exec openvpn --dev tun --server 10.8.0.0 255.255.255.0"]`, "/scripts"),
		text: "table ip nat {\n  chain post {\n    type nat hook postrouting priority 100;\n    ip saddr 10.8.0.0/24 oifname eth0 masquerade\n  }\n",
	}, "gap", "not to be understood"},
	{language{
		name: "iptables-save file, a prefix", key: "rules.v4", token: "10.8.0.0/240", objects: mountingPod("kylemanna/openvpn:2.4", `[sh, -c, "iptables-restore < /scripts/rules.v4 && exec openvpn --dev tun --server 10.8.0.0 255.255.255.0"]`, "/scripts"),
		text: "*nat\n:POSTROUTING ACCEPT [0:0]\n[1:2] -A POSTROUTING -s 10.8.0.0/240 -o eth0 -j MASQUERADE\nCOMMIT\n",
	}, "VPN405", "it is no prefix"},
	{language{
		name: "iptables-save file, a quotation mark", key: "rules.v4", token: "-A POSTROUTING", objects: mountingPod("kylemanna/openvpn:2.4", `[sh, -c, "iptables-restore < /scripts/rules.v4 && exec openvpn --dev tun --server 10.8.0.0 255.255.255.0"]`, "/scripts"),
		text: "*nat\n:POSTROUTING ACCEPT [0:0]\n[1:2] -A POSTROUTING -s \"10.8.0.0/24 -o eth0 -j MASQUERADE\nCOMMIT\n",
	}, "gap", "not to be understood"},
	{language{
		name: "script, nft with a here-document", key: "up.sh", token: "10.8.0.0/240", objects: mountingPod("kylemanna/openvpn:2.4", `[sh, /scripts/up.sh]`, "/scripts"),
		text: "set -e\nnft -f - <<EOF\ntable ip nat {\n  chain post {\n    type nat hook postrouting priority 100;\n    ip saddr 10.8.0.0/240 masquerade\n  }\n}\nEOF\nexec openvpn --dev tun --server 10.8.0.0 255.255.255.0\n",
	}, "VPN405", "the command fails, and it translates nothing"},
	{language{
		name: "net-conf.json, a type", key: "net-conf.json", token: "SubnetLen", objects: flannel, object: "kube-flannel-cfg", namespace: "kube-flannel",
		text: "{\n  \"Network\": \"10.99.0.0/16\",\n  \"SubnetLen\": \"wide\",\n  \"Backend\": {\"Type\": \"vxlan\"}\n}\n",
	}, "gap", "\"wide\" is no number"},
	{language{
		name: "Nebula, a route", key: "config.yml", token: "10.99.7.0/240", objects: mountingPod("nebulaoss/nebula:1.9.5", "[]", "/config"),
		text: "pki:\n  ca: /pki/ca.crt\ntun:\n  mtu: 1300\n  unsafe_routes:\n    - route: 10.98.0.0/24\n      via: 192.168.100.99\n    - route: 10.99.7.0/240\n      via: 192.168.100.99\n",
	}, "VPN405", "it is no prefix"},
	{language{
		name: "Nebula, a gateway", key: "config.yml", token: "192.168.100.999", objects: mountingPod("nebulaoss/nebula:1.9.5", "[]", "/config"),
		text: "pki:\n  ca: /pki/ca.crt\ntun:\n  unsafe_routes:\n    - route: 10.98.0.0/24\n      via: 192.168.100.999\n",
	}, "gap", "is no address, and nebula stops there"},
	{language{
		name: "Nebula, a bracket", key: "config.yml", token: "[10.99.7.0/24", objects: mountingPod("nebulaoss/nebula:1.9.5", "[]", "/config"),
		text: "pki:\n  ca: /pki/ca.crt\ntun:\n  unsafe_routes:\n    - route: [10.99.7.0/24\n      via: 192.168.100.99\n",
	}, "gap", "which is not YAML from here on"},
	{language{
		name: "environment", token: "10.244.0.0/16;10.96.0.0/12", objects: envPod, env: true,
		text: "VPN_SERVICE_PROVIDER=mullvad\nFIREWALL_OUTBOUND_SUBNETS=10.244.0.0/16;10.96.0.0/12\nVPN_TYPE=wireguard\n",
	}, "VPN310", "is separated by commas"},
	{language{
		name: "environment, a switch", token: "maybe", objects: envPod, env: true,
		text: "VPN_SERVICE_PROVIDER=mullvad\nDNS_KEEP_NAMESERVER=maybe\nVPN_TYPE=wireguard\n",
	}, "gap", "is neither on nor off, and the image stops there"},
	{language{
		name: "environment, a port", token: "80;443", objects: envPod, env: true,
		text: "VPN_SERVICE_PROVIDER=mullvad\nFIREWALL_INPUT_PORTS=80;443\nVPN_TYPE=wireguard\n",
	}, "gap", "is no port, and the image stops there"},
	{language{
		name: "environment, a network of the tunnel", token: "10.0.0.0/99", objects: envPod, env: true,
		text: "VPN_SERVICE_PROVIDER=custom\nWIREGUARD_ALLOWED_IPS=10.0.0.0/99\nVPN_TYPE=wireguard\n",
	}, "gap", "is no prefix, and the image stops there"},
	{language{
		name: "environment of Tailscale, a switch", token: "nope", objects: strings.Replace(envPod, "qmcgaw/gluetun:v3.40.0", "tailscale/tailscale:v1.80.0", 1), env: true,
		text: "TS_USERSPACE=nope\nTS_HOSTNAME=vpn\n",
	}, "gap", "is neither true nor false, and the image takes its default instead"},
	{language{
		name: "environment of Tailscale, a flag", token: "--acept-routes", objects: strings.Replace(envPod, "qmcgaw/gluetun:v3.40.0", "tailscale/tailscale:v1.80.0", 1), env: true,
		text: "TS_USERSPACE=true\nTS_EXTRA_ARGS=--acept-routes\n",
	}, "gap", "tailscale up has no flag"},
	{language{
		name: "serve.json, a brace", key: "serve.json", token: "\"TCP\": {", objects: strings.Replace(mountingPod("tailscale/tailscale:v1.80.0", "[]", "/serve"), "command: []\n", "env: [{name: TS_SERVE_CONFIG, value: /serve/serve.json}]\n", 1),
		text: "{\n  \"Web\": {},\n  \"TCP\": {\n    \"443\": {\"HTTPS\": true}\n}\n",
	}, "gap", "a bracket is never closed"},
}

// A configuration with a mistake is said to be broken at the line of the mistake,
// wherever it stands, once, and nothing else is said of it.
func TestBrokenTextStandsAtItsLine(t *testing.T) {
	linter, err := lint.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range broken {
		for _, c := range carriers {
			if c.fits != nil && !c.fits(b.language) {
				continue
			}
			t.Run(b.name+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				files := c.tree(b.language)
				said := lintTree(t, linter, files)
				var at []place
				for i := range said.Findings {
					f := &said.Findings[i]
					here := f.Rule == b.rule && strings.Contains(f.Message, b.says)
					if here {
						at = append(at, place{f.Primary.File, f.Primary.Span.Start.Line})
					} else if in := pointsInto(f, files); in != "" {
						t.Errorf("%s speaks of the text at %s: %s", f.Rule, in, f.Message)
					}
				}
				for _, g := range said.Gaps {
					if b.rule == "gap" && strings.Contains(g.Why, b.says) {
						at = append(at, place{g.File, g.Line})
					}
				}
				want := placeOf(files, c, b.language)
				if len(at) != 1 || !slices.Contains(want, at[0]) {
					t.Errorf("%s %q at %v, want at %v once; gaps %+v", b.rule, b.says, at, want, said.Gaps)
				}
			})
		}
	}
}

type place struct {
	file string
	line int
}

// tree are the files of a carrier with the objects that read what it carries.
func (c carrying) tree(l language) map[string]string {
	kind := c.kind
	if kind == "" {
		kind = "ConfigMap"
	}
	files := c.files(l)
	name, _ := l.name0()
	if _, own := files["pod.yaml"]; !own {
		files["pod.yaml"] = l.filled(kind, name)
	}
	return files
}

// placeOf is where the token stands: any line of several that have it, and of an
// encoded text the line of its key.
func placeOf(files map[string]string, c carrying, l language) []place {
	token := l.token
	if c.encoded {
		token = l.key + ": "
		if l.env {
			before, _, _ := strings.Cut(l.text, l.token)
			name, _, _ := strings.Cut(l.text[strings.LastIndex(before, "\n")+1:], "=")
			token = name + ": "
		}
	}
	var out []place
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for i, line := range strings.Split(files[name], "\n") {
			if strings.Contains(line, token) || strings.Contains(line, strings.ReplaceAll(token, `"`, `\"`)) {
				out = append(out, place{name, i + 1})
			}
		}
	}
	return out
}

// pointsInto tells which place of a finding is in the text or what carries it, ""
// for none.
func pointsInto(f *finding.Finding, files map[string]string) string {
	places := []string{f.Primary.File}
	for _, n := range f.Related {
		places = append(places, n.At.File)
	}
	for _, file := range places {
		if _, is := files[file]; is && !strings.HasSuffix(file, "pod.yaml") {
			return file
		}
	}
	return ""
}

func lintTree(t *testing.T, linter *lint.Linter, files map[string]string) report.Report {
	t.Helper()
	maps.DeleteFunc(files, func(_, text string) bool { return text == "" })
	dir := testtree.Write(t, files)
	said, err := linter.Run(t.Context(), []string{"."}, lint.Options{Load: loader.Options{Dir: dir}})
	if err != nil {
		t.Fatal(err)
	}
	return said
}
