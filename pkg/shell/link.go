package shell

// LinkMTU reads the size of packets that ip link set or ifconfig gives an
// interface.
func LinkMTU(c *Command) (dev, mtu Word, ok bool) {
	args := c.args()
	switch c.Name() {
	case "ip":
		for len(args) > 0 && len(args[0].Text) > 1 && args[0].Text[0] == '-' {
			args = args[1:]
		}
		if len(args) < 3 || args[0].Text != "link" && args[0].Text != "l" || args[1].Text != "set" {
			return Word{}, Word{}, false
		}
		p := &ipArgs{args: args[2:]}
		for p.more() {
			switch w := p.next(); w.Text {
			case "mtu":
				mtu, ok = p.next(), true
			case "dev":
				dev = p.next()
			case "up", "down", "multicast", "arp", "on", "off":
			case "txqueuelen", "address", "name", "alias", "group", "master", "netns":
				p.next()
			default:
				if dev.Text == "" {
					dev = w
				}
			}
		}
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
