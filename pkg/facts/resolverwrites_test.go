package facts

import (
	"strings"
	"testing"
)

func TestResolverWrites(t *testing.T) {
	for name, tt := range map[string]struct {
		hook    string
		want    Known
		servers string
	}{
		"nothing":             {"true", Absent, ""},
		"one":                 {"echo nameserver 10.2.0.1 > /etc/resolv.conf", Present, "10.2.0.1"},
		"and another":         {"echo nameserver 10.2.0.1 > /etc/resolv.conf; echo nameserver 10.96.0.10 >> /etc/resolv.conf", Present, "10.2.0.1 10.96.0.10"},
		"the last one counts": {"echo nameserver 10.2.0.1 > /etc/resolv.conf; echo nameserver 10.96.0.10 > /etc/resolv.conf", Present, "10.96.0.10"},
		"behind the others":   {"echo nameserver 10.2.0.1 >> /etc/resolv.conf", Absent, ""},
		"options":             {"echo options ndots:1 >> /etc/resolv.conf", Absent, ""},
		"not known":           {"echo nameserver $(getdns) > /etc/resolv.conf", Unknown, ""},
		"conditional":         {"[ -e /x ] && echo nameserver 10.2.0.1 > /etc/resolv.conf", Unknown, ""},
		"a copy":              {"cp /tmp/r /etc/resolv.conf", Unknown, ""},
		"an edit":             {"sed -i s/a/b/ /etc/resolv.conf", Unknown, ""},
		"another file":        {"echo nameserver 10.2.0.1 > /tmp/resolv.conf", Absent, ""},
	} {
		t.Run(name, func(t *testing.T) {
			res := read(t, placesOf(tt.hook)["PostUp"]).Pods[0].Tunnels[0].Resolver
			if res.Rewrites != tt.want || tt.want == Present && strings.Join(res.Servers, " ") != tt.servers {
				t.Errorf("resolver %+v", res)
			}
		})
	}
}
