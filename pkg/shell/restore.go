package shell

import "strings"

// Restores reports whether a command loads rules in the form of iptables-save,
// and from which file; "-" stands for standard input.
func Restores(c *Command) (file Word, ok bool) {
	switch c.Name() {
	case "iptables-restore", "iptables-nft-restore", "iptables-legacy-restore", "ip6tables-restore", "ip6tables-nft-restore", "ip6tables-legacy-restore":
	default:
		return Word{}, false
	}
	args := c.args()
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a.Text == "-w" || a.Text == "-W" || a.Text == "-T" || a.Text == "--table" || a.Text == "-M" || a.Text == "--modprobe":
			if a.Text != "-w" || i+1 < len(args) && isNumber(args[i+1].Text) {
				i++
			}
		case a.Text == "-t" || a.Text == "--test":
			return Word{}, false // it only tries
		case a.Text != "-" && !strings.HasPrefix(a.Text, "-"):
			return a, true
		}
	}
	return Word{Text: "-", Known: true}, true
}

// Restored reads rules in the form of iptables-save that a command loads; false
// for a line that makes no sense.
func Restored(c *Command, text string) (rules []*IPTablesRule, whole bool) {
	program := "iptables"
	if strings.HasPrefix(c.Name(), "ip6") {
		program = "ip6tables"
	}
	table := ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line == "COMMIT":
			continue
		case line[0] == '*':
			table = line[1:]
			continue
		case table == "":
			return nil, false
		case line[0] == ':':
			fields := strings.Fields(line[1:])
			if len(fields) < 2 {
				return nil, false
			}
			if fields[1] != "-" {
				rules = append(rules, &IPTablesRule{
					IPv6: program == "ip6tables", Table: table, Chain: fields[0], Op: "P", Target: fields[1], Known: true, Command: c,
				})
			}
			continue
		}
		if line[0] == '[' { // counters
			_, line, _ = strings.Cut(line, "]")
		}
		parsed := Parse(program + " -t " + table + " " + line)
		if parsed.Err != nil || len(parsed.Commands) != 1 {
			return nil, false
		}
		rule, ok := IPTables(parsed.Commands[0])
		if !ok || rule.Op == "" {
			return nil, false
		}
		rule.Command = c
		for _, m := range []*Match{&rule.Source, &rule.Destination, &rule.Out} {
			m.Arg, m.Start, m.End = c.Arg, 0, 0 // it stands in no word of the command
		}
		rules = append(rules, rule)
	}
	return rules, len(rules) > 0
}
