package facts

import (
	"testing"
)

func TestLinuxserverClientHasNoPool(t *testing.T) {
	tun := look(t, mounted("lscr.io/linuxserver/wireguard:1.0.20210914", "/config/wg_confs", "wg0.conf", wgHead+wgPeer+"0.0.0.0/0",
		`env: [{name: INTERNAL_SUBNET, value: "10.244.0.0"}]`), lab()).tunnel(t)
	if tun.Side != "client" || len(tun.Pool) != 0 {
		t.Errorf("%s, pool %+v: INTERNAL_SUBNET counts with PEERS only", tun.Side, tun.Pool)
	}
}
