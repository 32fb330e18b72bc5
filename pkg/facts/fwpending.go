package facts

import "github.com/vpnlint/vpnlint/pkg/shell"

type filterRule struct {
	table, chain, target string
	policy               bool
	out                  string
	outNot               bool
	source, dest         string
}
type ipRule struct {
	add   bool
	to    shell.Word
	table string
}
type ipRoute struct {
	add bool
	to  shell.Word
	dev string
}

func iptablesRule(command) (filterRule, bool) { return filterRule{}, false }
func ipRuleOf(command) (ipRule, bool)         { return ipRule{}, false }
func ipRouteOf(command) (ipRoute, bool)       { return ipRoute{}, false }
