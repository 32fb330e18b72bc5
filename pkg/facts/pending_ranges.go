package facts

import (
	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/source"
)

type clusterSet struct{ clusters []*Cluster }

func readClusters(*index) *clusterSet { return &clusterSet{} }

func (*clusterSet) of(*source.Object) []*Cluster { return nil }

func readSites(*index, *clusterSet) []Site { return nil }

func readAgents(*index, *clusterSet, []Site, []*podView) []Agent { return nil }

func readClaims(*index, *clusterSet, []*podView, []Site) []cidrplan.Claim { return nil }
