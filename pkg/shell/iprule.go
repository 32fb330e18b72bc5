package shell

import "strings"

// RuleChange is an "ip rule add" or del.
type RuleChange struct {
	Delete bool
	IPv6   bool
	Not    bool
	From   Word
	To     Word
	FwMark Word
	Iif    Word
	Oif    Word
	// Table is a number or name ("main"); Priority the order, "" if the kernel
	// chooses it.
	Table    Word
	Priority Word
	// SuppressPrefix is the value of suppress_prefixlength, "" without it.
	SuppressPrefix Word
	Known          bool
	Command        *Command
}

// IPRule reads a call of "ip rule add" or "del"; false for anything else.
func IPRule(c *Command) (rule *RuleChange, ok bool) {
	args, v6, object := ipObject(c)
	if object != "rule" {
		return nil, false
	}
	p := &ipArgs{args: args}
	r := &RuleChange{IPv6: v6, Known: known(args), Command: c}
	switch p.next().Text {
	case "add", "a":
	case "del", "delete", "d":
		r.Delete = true
	default:
		return nil, false
	}
	for p.more() {
		switch p.next().Text {
		case "not":
			r.Not = true
		case "from":
			r.From = p.next()
		case "to":
			r.To = p.next()
		case "fwmark":
			r.FwMark = p.next()
		case "iif", "dev":
			r.Iif = p.next()
		case "oif":
			r.Oif = p.next()
		case "table", "lookup":
			r.Table = p.next()
		case "pref", "priority", "order", "preference", "prio":
			r.Priority = p.next()
		case "suppress_prefixlength", "sup_pl":
			r.SuppressPrefix = p.next()
		}
	}
	return r, true
}

// ipObject reads "ip [OPTIONS] OBJECT" and returns the words after the object.
// Object names may be shortened as iproute2 allows it.
func ipObject(c *Command) (args []Word, v6 bool, object string) {
	if c.Name() != "ip" {
		return nil, false, ""
	}
	args = c.args()
	for len(args) > 0 && strings.HasPrefix(args[0].Text, "-") {
		switch args[0].Text {
		case "-6":
			v6 = true
		case "-f", "-family":
			if len(args) > 1 {
				v6 = args[1].Text == "inet6"
				args = args[1:]
			}
		case "-n", "-netns":
			// Another namespace's routes are not the pod's.
			return nil, false, ""
		}
		args = args[1:]
	}
	if len(args) == 0 || args[0].Text == "" {
		return nil, false, ""
	}
	switch object = args[0].Text; object {
	case "ru", "rul":
		object = "rule"
	case "r", "ro", "rou", "rout":
		object = "route"
	case "l", "li", "lin":
		object = "link"
	case "a", "ad", "add", "addr":
		object = "address"
	}
	return args[1:], v6, object
}
