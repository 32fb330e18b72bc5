package facts

import (
	"strings"
	"testing"
)

// FG A1, row by row. What the rules look like (A1.9-A1.11), --masq-chain, --to-ports
// and --random-fully (A1.12) and the labels of old instructions (A1.14) decide no
// rule; link-local addresses are behind no VPN (A1.9).
func TestUpstreamAgent(t *testing.T) {
	const taken = "ip-masq-agent explicit present "
	const fate = ": the agent that runs keeps its old rules; one that restarts, on a node that reboots or is added, installs none, and nothing is masqueraded there"
	refused := func(says string) string { return "ip-masq-agent unknown absent [] refused: " + says + fate }
	many := strings.TrimSuffix(strings.Repeat("10.9.0.0/16, ", 65), ", ")
	config := func(text string, args ...string) string { return masqAgent("config", text, args...) }
	testAgents(t, []agentCase{
		{"A1.2 another key is not mounted", masqAgent("ip-masq-agent", "nonMasqueradeCIDRs: [10.9.0.0/16]"), "ip-masq-agent default unknown " + privateOnly},
		{"A1.2 another namespace", strings.Replace(config("nonMasqueradeCIDRs: [10.9.0.0/16]"), "namespace: kube-system", "namespace: other", 1), "ip-masq-agent default unknown " + privateOnly},
		{"A1.3 JSON", config(`{"nonMasqueradeCIDRs": ["10.9.0.0/16"]}`), taken + "[10.9.0.0/16]"},
		{"A1.3 the case of keys, and keys that it does not know", config("NonMasqueradeCIDRs: [10.9.0.0/16]\nsomething: else"), taken + "[10.9.0.0/16]"},
		{"A1.5 no key", config("resyncInterval: 60s"), "ip-masq-agent default present " + privateOnly},
		{"A1.5 an empty list", config("nonMasqueradeCIDRs: []"), taken + "[]"},
		{"A1.5 null", config("nonMasqueradeCIDRs: null"), taken + "[]"},
		{"A1.5 blank", config("nonMasqueradeCIDRs:"), taken + "[]"},
		{"A1.6 the flag changes the default only", config("nonMasqueradeCIDRs: [10.9.0.0/16]", "--nomasq-all-reserved-ranges"), taken + "[10.9.0.0/16]"},
		{"A1.6 and with it", masqDaemonSet("--nomasq-all-reserved-ranges"), "ip-masq-agent default unknown " + reservedToo},
		{"A1.6 off", masqDaemonSet("--nomasq-all-reserved-ranges=false"), "ip-masq-agent default unknown " + privateOnly},
		{"A1.7 host bits", config("nonMasqueradeCIDRs: [10.1.2.3/8]"), refused("10.1.2.3/8 has bits set right of its mask; the network is 10.0.0.0/8")},
		{"A1.7 IPv6 without the flag", config("nonMasqueradeCIDRs: ['fd00::/8']"), refused("fd00::/8 is IPv6 and the agent runs without --enable-ipv6")},
		{"A1.10 with it", config("nonMasqueradeCIDRs: ['fd00::/8']", "--enable-ipv6"), taken + "[fd00::/8]"},
		{"A1.10 the flag is off", config("nonMasqueradeCIDRs: ['fd00::/8']", "--enable-ipv6=false"), refused("fd00::/8 is IPv6 and the agent runs without --enable-ipv6")},
		{"A1.10 the flag is filled in later", config("nonMasqueradeCIDRs: ['fd00::/8']", "'--enable-ipv6=${SIX}'"), taken + "[fd00::/8]"},
		{"A1.12 all flags are filled in later", config("nonMasqueradeCIDRs: ['fd00::/8']", "'${FLAGS}'"), taken + "[fd00::/8]"},
		{"A1.12 a shell starts it", strings.Replace(config("nonMasqueradeCIDRs: ['fd00::/8']"), "args: [--masq-chain=IP-MASQ]", "command: [sh, -c, 'exec /ip-masq-agent --masq-chain=IP-MASQ --enable-ipv6']", 1), taken + "[fd00::/8]"},
		{"A1.12 a shell, and what it adds is known at run time", strings.Replace(config("nonMasqueradeCIDRs: ['fd00::/8']"), "args: [--masq-chain=IP-MASQ]", "command: [sh, -c, 'exec /ip-masq-agent $FLAGS']", 1), taken + "[fd00::/8]"},
		{"A1.7 too many", config("nonMasqueradeCIDRs: [" + many + "]"), refused("65 entries, and the agent accepts at most 64")},
		{"A1.4 a higher limit", config("cidrLimit: 65\nnonMasqueradeCIDRs: [" + many + "]"), taken + "[10.9.0.0/16]"},
		{"A1.4 a lower limit", config("cidrLimit: 1\nnonMasqueradeCIDRs: [10.9.0.0/16, 10.8.0.0/16]"), refused("2 entries, and the agent accepts at most 1")},
		{"A1.4 an agent that has a fixed limit", strings.Replace(config("cidrLimit: 65\nnonMasqueradeCIDRs: ["+many+"]"), ":v2.9.3", ":v2.8.0", 1), refused("65 entries, and the agent accepts at most 64")},
		{"A1.4 and reads past a lower one", strings.Replace(config("cidrLimit: 1\nnonMasqueradeCIDRs: [10.9.0.0/16, 10.8.0.0/16]"), ":v2.9.3", ":v2.8.0", 1), taken + "[10.8.0.0/15]"},
		{"A1.4 a version that is not known", strings.Replace(config("cidrLimit: 65\nnonMasqueradeCIDRs: ["+many+"]"), ":v2.9.3", "", 1), taken + "[10.9.0.0/16]"},
		{"A1.4 a version that is not known, a lower limit", strings.Replace(config("cidrLimit: 1\nnonMasqueradeCIDRs: [10.9.0.0/16, 10.8.0.0/16]"), ":v2.9.3", "", 1), taken + "[10.8.0.0/15]"},
		{"A1.7 a version that is not known, too many for any", strings.Replace(config("nonMasqueradeCIDRs: ["+many+"]"), ":v2.9.3", "", 1), refused("65 entries, and the agent accepts at most 64")},
		{"A1.7 duplicates and overlaps", config("nonMasqueradeCIDRs: [10.9.0.0/16, 10.9.0.0/16, 10.9.1.0/24]"), taken + "[10.9.0.0/16]"},
	})
	for _, text := range []string{"nonMasqueradeCIDRs: [10.1.2.3]", "nonMasqueradeCIDRs: ['10.1.0.0/16 ']", "nonMasqueradeCIDRs: [10.1.0.0-10.2.0.0]", "nonMasqueradeCIDRs: 10.1.0.0/16", "resyncInterval: 60", "resyncInterval: soon", "masqLinkLocal: 'yes'"} {
		a := factsOf(t, decode(t, "unit", config(text))).Agents[0]
		if a.List.Valid != Absent || len(a.List.Refused) == 0 {
			t.Errorf("%s (A1.4, A1.7) is taken: %+v", text, a.List)
		}
	}
}
