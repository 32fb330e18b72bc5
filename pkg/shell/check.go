package shell

// maxChecks bounds how many commands of a pipe are looked at.
const maxChecks = 8

// Answers reports whether a command makes the change that a test missed:
// iptables -C of the same rule, or a listing of the same table that a search
// went through: ip route | grep -q NET || ip route add NET ...
func Answers(c, test *Command) bool {
	if rule, ok := IPTables(c); ok {
		if check, asks := IPTables(test); asks && check.Op == "C" {
			return check.Chain == rule.Chain && check.Table == rule.Table && check.Target == rule.Target
		}
	}
	object, changes := tableOf(c)
	if object == "" || !changes {
		return false
	}
	for by, i := test, 0; by != nil && i < maxChecks; by, i = by.PipedFrom, i+1 {
		if listed, alters := tableOf(by); listed == object && !alters {
			return true
		}
	}
	return false
}

// tableOf returns what a command shows or changes, "" for anything else.
func tableOf(c *Command) (object string, changes bool) {
	args := c.args()
	switch c.Name() {
	case "iptables", "iptables-nft", "iptables-legacy", "ip6tables", "ip6tables-nft", "ip6tables-legacy":
		rule, _ := IPTables(c)
		object = "iptables"
		if rule.IPv6 {
			object = "ip6tables"
		}
		return object, rule.Op != "L" && rule.Op != "S" && rule.Op != ""
	case "iptables-save", "iptables-nft-save", "iptables-legacy-save":
		return "iptables", false
	case "ip6tables-save", "ip6tables-nft-save", "ip6tables-legacy-save":
		return "ip6tables", false
	case "nft":
		for _, a := range args {
			if a.Text == "list" {
				return "nft", false
			}
		}
		return "nft", true
	case "ip":
		words, _, object := ipObject(c)
		if object != "rule" && object != "route" {
			return "", false
		}
		return object, len(words) > 0 && !shows(words[0].Text)
	}
	return "", false
}

// shows: what ip does with an object that it lists.
func shows(op string) bool {
	switch op {
	case "show", "sh", "s", "list", "lst", "ls", "l", "get", "save":
		return true
	}
	return false
}
