package facts

import (
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/images"
)

// upstreamOf is the dialect of the version that a container runs: before v2.9.0 the
// limit of 64 entries is fixed, and cidrLimit is a key that it does not know (FG A1.4).
func upstreamOf(c *containerView) masqDialect {
	d := upstreamDialect()
	switch images.ParseVersion(c.image.Tag).AtLeast(2, 9) {
	case images.Yes:
	case images.No:
		d.limit = grammar.DefaultCIDRLimit
		d.tolerates = func(conf *grammar.IPMasq, p grammar.Problem) bool {
			return p.Kind == grammar.TooMany || p.Range == conf.CIDRLimitRange
		}
	default: // one of both
		d.tolerates = func(conf *grammar.IPMasq, p grammar.Problem) bool {
			return p.Kind == grammar.TooMany && len(conf.Entries) <= grammar.DefaultCIDRLimit || p.Range == conf.CIDRLimitRange
		}
	}
	return d
}

// upstreamDialect is that of kubernetes-sigs/ip-masq-agent (FG A1): the file is laid
// over the defaults, so that a missing key keeps them.
func upstreamDialect() masqDialect {
	return masqDialect{
		kind:  agentUpstream,
		files: []string{masqConfig},
		keepsDefault: func(conf *grammar.IPMasq) (string, bool) {
			return "the configuration has no nonMasqueradeCIDRs", conf.List == grammar.ListDefault // FG A1.5
		},
		tolerates:  func(*grammar.IPMasq, grammar.Problem) bool { return false },
		ipv6ByFlag: true,
		late:       func(string) bool { return false },
		resyncs:    true,
		// FG A1.8
		fate: "the agent that runs keeps its old rules; one that restarts, on a node that reboots or is added, installs none, and nothing is masqueraded there",
	}
}
