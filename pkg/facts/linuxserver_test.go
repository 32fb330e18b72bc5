package facts

import (
	"strings"
	"testing"
)

func TestLinuxserverClientHasNoPool(t *testing.T) {
	tun := look(t, mounted("lscr.io/linuxserver/wireguard:1.0.20210914", "/config/wg_confs", "wg0.conf", wgHead+wgPeer+"0.0.0.0/0",
		`env: [{name: INTERNAL_SUBNET, value: "10.244.0.0"}]`), lab()).tunnel(t)
	if tun.Side != "client" || len(tun.Pool) != 0 {
		t.Errorf("%s, pool %+v: INTERNAL_SUBNET counts with PEERS only", tun.Side, tun.Pool)
	}
}

// The server's file has its peers in the order of PEERS, and none that PEERS does not
// name.
func TestLinuxserverPeersInOrder(t *testing.T) {
	for peers, want := range map[string]string{
		"nas,box":   "SERVER_ALLOWEDIPS_PEER_nas SERVER_ALLOWEDIPS_PEER_box",
		"box, nas":  "SERVER_ALLOWEDIPS_PEER_box SERVER_ALLOWEDIPS_PEER_nas",
		"box,phone": "SERVER_ALLOWEDIPS_PEER_box",
		"2":         "",
	} {
		tun := look(t, container("lscr.io/linuxserver/wireguard:latest", "PEERS="+peers,
			"SERVER_ALLOWEDIPS_PEER_nas=192.168.70.0/24", "SERVER_ALLOWEDIPS_PEER_box=192.168.70.0/24"), lab()).tunnel(t)
		var got []string
		for _, p := range tun.Peers {
			got = append(got, p.PublicKey)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("PEERS=%s: %v, want %s", peers, got, want)
		}
	}
}
