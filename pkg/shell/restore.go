package shell

import (
	"slices"
	"strings"
)

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

// inputPlace is where the text stands that a here-document holds, or that is printed
// into a command.
func inputPlace(c *Command) place {
	if c.PipedFrom == nil && c.hereDoc.exact {
		return c.hereDoc
	}
	return commandPlace(c)
}

// InputLine is what is left of a line of such a text from an offset on.
func InputLine(c *Command, text string, offset int) Word {
	return lineAt(text, offset, inputPlace(c))
}

// Restored reads rules in the form of iptables-save that a command loads; broken is
// the offset of a line that makes no sense, -1 for none. Of rules of which a word is
// refused nothing is loaded. inline: they stand in a here-document, or are printed into
// the command.
func Restored(c *Command, text string, inline bool) (rules []*IPTablesRule, broken int, refused *Refusal) {
	program := "iptables"
	if strings.HasPrefix(c.Name(), "ip6") {
		program = "ip6tables"
	}
	table, next := "", 0
	made := map[string]bool{}
	in := place{exact: true, arg: c.Arg}
	if inline {
		in = inputPlace(c)
	}
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
			return nil, at, nil
		case line[0] == ':':
			fields := strings.Fields(line[1:])
			if len(fields) < 2 {
				return nil, at, nil
			}
			made[fields[0]] = fields[1] == "-"
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
			return nil, at, nil
		}
		rule, ok := IPTables(parsed.Commands[0])
		if !ok || rule.Op == "" {
			return nil, at, nil
		}
		rule.Command = c
		moved := func(w *Word) {
			w.Arg, w.Loaded = c.Arg, !inline
			w.Start, w.End = in.of(w.Start-len(head)+at, w.End-len(head)+at)
		}
		for _, m := range []*Match{&rule.Source, &rule.Destination, &rule.Out} {
			moved(&m.Word)
		}
		if slices.ContainsFunc(parsed.Commands[0].Words, filledLater) {
			rules = append(rules, rule)
			continue
		}
		if bad := refusedIPTables(parsed.Commands[0], made); bad != nil && refused == nil {
			if refused = bad; bad.Word.Start < len(head) { // the table
				bad.Word.Start, bad.Word.End = len(head), len(head)+len(line)
			}
			moved(&bad.Word)
		}
		rules = append(rules, rule)
	}
	if len(rules) == 0 {
		return nil, 0, nil
	}
	return rules, -1, refused
}
