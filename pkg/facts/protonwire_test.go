package facts

import (
	"testing"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
)

func TestProtonwireLeavesPrivateNetworks(t *testing.T) {
	tun := look(t, container("ghcr.io/tprasadtp/protonwire:7"), lab()).tunnel(t)
	if got := tun.Captures[0]; len(got.Services)+len(got.Pods) != 0 {
		t.Errorf("captures %+v", got)
	}
	public := &Cluster{Name: "odd", Ranges: []RangeAt{{Role: cidrplan.Service, Prefix: "198.18.0.0/15", Strength: cidrplan.Declared}}}
	if got := look(t, container("ghcr.io/tprasadtp/protonwire:7"), public).tunnel(t).Captures[0]; len(got.Services) != 1 {
		t.Errorf("a public service range is taken: %+v", got)
	}
}
