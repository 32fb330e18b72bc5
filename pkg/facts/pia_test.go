package facts

import (
	"strings"
	"testing"
)

func TestPIA(t *testing.T) {
	tun := look(t, container("thrnz/docker-wireguard-pia:latest", "LOCAL_NETWORK=10.0.0.0/8"), lab()).tunnel(t)
	if got := strings.Join(tun.Resolver.Servers, " "); got != "10.0.0.243 10.0.0.242" || tun.Resolver.Rewrites != Present {
		t.Errorf("resolver %+v", tun.Resolver)
	}
	tun = look(t, container("thrnz/docker-wireguard-pia:latest", "VPNDNS=0"), lab()).tunnel(t)
	if tun.Resolver.Rewrites != Absent || tun.Resolver.ReachesCluster != Present {
		t.Errorf("resolver %+v", tun.Resolver)
	}
}
