package shell

// LinkMTU reads the size of packets that ip link set or ifconfig gives an
// interface.
func LinkMTU(c *Command) (dev, mtu Word, ok bool) {
	args := c.args()
	switch c.Name() {
	case "ip":
		set := linkSet(c)
		dev, mtu, ok = set.dev, set.mtu, set.hasMTU
	case "ifconfig":
		if len(args) == 0 {
			return Word{}, Word{}, false
		}
		dev = args[0]
		for i, w := range args {
			if w.Text == "mtu" && i+1 < len(args) {
				mtu, ok = args[i+1], true
			}
		}
	}
	return dev, mtu, ok && dev.Text != ""
}

// LinkNetNS reads the interface that ip link set moves into another network
// namespace.
func LinkNetNS(c *Command) (dev Word, ok bool) {
	set := linkSet(c)
	return set.dev, set.moves && set.dev.Text != ""
}

// linkChange is what ip link set says of an interface; moves: it goes into another
// network namespace.
type linkChange struct {
	dev, mtu      Word
	hasMTU, moves bool
}

func linkSet(c *Command) (set linkChange) {
	p := &ipArgs{args: ipLink(c, "set")}
	for p.more() {
		switch w := p.next(); w.Text {
		case "mtu":
			set.mtu, set.hasMTU = p.next(), true
		case "netns":
			p.next()
			set.moves = true
		case "dev":
			set.dev = p.next()
		case "up", "down", "multicast", "arp", "on", "off":
		case "txqueuelen", "address", "name", "alias", "group", "master":
			p.next()
		default:
			if set.dev.Text == "" {
				set.dev = w
			}
		}
	}
	return set
}

// ipLink returns the words behind an operation of ip link, nil for another command.
func ipLink(c *Command, operation string) []Word {
	args, _, object := ipObject(c)
	if object != "link" || len(args) < 2 || args[0].Text != operation {
		return nil
	}
	return args[1:]
}

// AddressAdd reads the address that ip address add gives an interface.
func AddressAdd(c *Command) (dev, address Word, ok bool) {
	args, _, object := ipObject(c)
	if object != "address" {
		return Word{}, Word{}, false
	}
	p := &ipArgs{args: args}
	switch p.next().Text {
	case "add", "a", "replace", "r":
	default:
		return Word{}, Word{}, false
	}
	for p.more() {
		switch w := p.next(); w.Text {
		case "dev":
			dev = p.next()
		case "peer", "brd", "broadcast", "label", "scope", "metric", "valid_lft", "preferred_lft", "proto":
			p.next()
		case "noprefixroute", "nodad", "home", "mngtmpaddr", "optimistic", "autojoin":
		case "local":
			address = p.next()
		default:
			if address.Text == "" {
				address = w
			}
		}
	}
	return dev, address, dev.Text != "" && address.Text != ""
}
