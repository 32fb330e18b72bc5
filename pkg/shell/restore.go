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

// Restored reads rules in the form of iptables-save that a command loads; broken is
// the offset of a line that makes no sense, -1 for none.
func Restored(c *Command, text string) (rules []*IPTablesRule, broken int) {
	program := "iptables"
	if strings.HasPrefix(c.Name(), "ip6") {
		program = "ip6tables"
	}
	table, next := "", 0
	for line := range strings.Lines(text) {
		at := next // the offset of what is left of the line
		next += len(line)
		at += len(line) - len(strings.TrimLeft(line, " \t\r\n"))
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line == "COMMIT":
			continue
		case line[0] == '*':
			table = line[1:]
			continue
		case table == "":
			return nil, at
		case line[0] == ':':
			fields := strings.Fields(line[1:])
			if len(fields) < 2 {
				return nil, at
			}
			if fields[1] != "-" {
				rules = append(rules, &IPTablesRule{
					IPv6: program == "ip6tables", Table: table, Chain: fields[0], Op: "P", Target: fields[1], Known: true, Command: c,
				})
			}
			continue
		}
		if line[0] == '[' { // counters
			counters, rest, _ := strings.Cut(line, "]")
			at, line = at+len(counters)+len("]"), rest
		}
		head := program + " -t " + table + " "
		parsed := Parse(head + line)
		if parsed.Err != nil || len(parsed.Commands) != 1 {
			return nil, at
		}
		rule, ok := IPTables(parsed.Commands[0])
		if !ok || rule.Op == "" {
			return nil, at
		}
		rule.Command = c
		for _, m := range []*Match{&rule.Source, &rule.Destination, &rule.Out} {
			m.Arg, m.Loaded = c.Arg, true
			m.Start, m.End = m.Start-len(head)+at, m.End-len(head)+at
		}
		rules = append(rules, rule)
	}
	if len(rules) == 0 {
		return nil, 0
	}
	return rules, -1
}
