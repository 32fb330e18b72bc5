package addressmap_test

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/report/addressmap"
)

func bar(prefix, of string) addressmap.Bar {
	label := prefix
	if of != "" {
		label += " " + of
	}
	return addressmap.Bar{Prefix: netip.MustParsePrefix(prefix), Label: label, Title: prefix + " is " + of, Link: "clusters/prod/plan.yaml#L3"}
}

func mark(prefix string, n int) addressmap.Mark {
	return addressmap.Mark{Prefix: netip.MustParsePrefix(prefix), Label: fmt.Sprint(n, ": ", prefix), Title: "two ranges share " + prefix, Link: "clusters/prod/plan.yaml#L4"}
}

func lane(class, name string, bars ...addressmap.Bar) addressmap.Lane {
	return addressmap.Lane{Name: name, Class: class, Bars: bars}
}

// samples are the maps that have been looked at in a browser.
func samples() map[string]addressmap.Map {
	everywhere := bar("0.0.0.0/0", "default route of Deployment media/qbittorrent")
	everywhere.Everywhere = true
	six := bar("::/0", "default route")
	six.Everywhere = true
	faint := bar("10.96.0.0/12", "kubeadm's default")
	faint.Faint = true
	long := strings.Repeat("a-name-as-long-as-kubernetes-allows-", 7)
	many := addressmap.Map{Title: "Address plan of forty ranges"}
	for c := range 4 {
		g := addressmap.Group{Name: fmt.Sprint("cluster region-", c)}
		var vpn []addressmap.Bar
		for i := range 7 {
			vpn = append(vpn, bar(fmt.Sprintf("10.%d.%d.0/24", 200+c, i*9), fmt.Sprint("site-", i)))
		}
		g.Lanes = []addressmap.Lane{
			lane("vpn", "VPN destinations", vpn...),
			lane("node", "nodes", bar(fmt.Sprintf("172.%d.0.0/20", 16+c), "")),
			lane("pod", "pods", bar(fmt.Sprintf("10.%d.0.0/14", 4*c), "")),
			lane("service", "services", bar(fmt.Sprintf("10.%d.0.0/20", 100+c), "")),
		}
		if c == 1 {
			g.Lanes = append(g.Lanes, lane("pool", "VPN clients", bar("10.5.6.0/24", "road-warriors")))
			g.Marks = []addressmap.Mark{mark("10.5.6.0/24", 1)}
		}
		many.Groups = append(many.Groups, g)
	}
	return map[string]addressmap.Map{
		"three": {Title: "Address plan", Groups: []addressmap.Group{{Name: "cluster prod", Lanes: []addressmap.Lane{
			lane("pod", "pods", bar("10.244.0.0/16", "")), lane("service", "services", bar("10.96.0.0/12", "")),
			lane("node", "nodes", bar("192.168.10.0/24", "")),
		}}}},
		"forty": many,
		"ipv6": {Title: "Address plan of a dual-stack cluster", Groups: []addressmap.Group{{Name: "cluster lab", Lanes: []addressmap.Lane{
			lane("vpn", "VPN destinations", bar("fd00:20::/32", "Deployment edge/wg"), bar("2001:db8:0:ffff::/64", "Deployment edge/wg"), six),
			lane("pod", "pods", bar("10.244.0.0/16", ""), bar("fd00:10:244::/56", "")),
			lane("service", "services", bar("10.96.0.0/12", ""), bar("fd00:10:96::/112", "")),
			lane("node", "nodes", bar("fd00:20:1:2:3:4:5:0/112", "")),
		}, Marks: []addressmap.Mark{mark("fd00:20:1:2:3:4:5:0/112", 1)}}}},
		"nested": {Title: "Overlaps three deep", Groups: []addressmap.Group{{Name: "cluster prod", Lanes: []addressmap.Lane{
			lane("vpn", "VPN destinations", bar("10.0.0.0/8", "ComputeVPNTunnel net/onprem"), bar("10.244.8.0/24", "Deployment edge/wg")),
			lane("pool", "VPN clients", bar("10.244.8.128/25", "Deployment edge/openvpn")),
			lane("pod", "pods", bar("10.244.0.0/16", "")), lane("service", "services", faint, bar("10.96.0.10/32", "resolver"), bar("10.96.0.1/32", "API server")),
		}, Marks: []addressmap.Mark{mark("10.96.0.0/12", 1), mark("10.244.0.0/16", 2), mark("10.244.8.0/24", 3), mark("10.244.8.128/25", 4)}}}},
		"extremes": {Title: "Very small beside very large <&\"'> \u202e\x1b", Groups: []addressmap.Group{
			{Name: "cluster " + long, Lanes: []addressmap.Lane{
				lane("vpn", "VPN destinations of "+long, everywhere, bar("10.0.0.0/8", long), bar("10.255.255.255/32", "the last"), bar("192.168.1.1/32", "a router")),
				lane("pool", "漢字の名前のレーン", bar("10.8.0.0/30", "漢字"), bar("240.0.0.0/4", "")),
				lane("what", "<script>", bar("127.0.0.1/32", "</text><script>alert(1)</script>")),
			}, Marks: []addressmap.Mark{mark("10.8.0.0/30", 1)}},
		}},
		"one address": {Groups: []addressmap.Group{{Lanes: []addressmap.Lane{lane("node", "nodes", bar("10.0.0.1/32", ""))}}}},
		"all":         {Groups: []addressmap.Group{{Lanes: []addressmap.Lane{lane("vpn", "VPN", everywhere, six)}}}},
		"empty":       {Title: "nothing"},
	}
}
