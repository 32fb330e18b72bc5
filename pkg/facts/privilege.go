package facts

import "github.com/vpnlint/vpnlint/pkg/images"

// readPrivilegeNeeds says what the VPN containers need to do their work in the
// kernel, and whether each replica has state of its own.
func readPrivilegeNeeds(p *podView) {
	for _, c := range p.containers {
		c.c.NeedsAdmin, c.c.MakesTun = Absent, false
		if c.c.DataPlane && c.image.Family != nil {
			c.c.NeedsAdmin, c.c.MakesTun = p.needsAdmin(c), makesTun(c.c.Family)
			c.c.TunUnmade = c.tunUnmade()
		}
		if !c.c.DataPlane {
			continue
		}
		for _, m := range c.spec.get("volumeMounts").items() {
			p.pod.StatePerReplica = p.pod.StatePerReplica || p.claims[m.get("name").text()]
		}
	}
}

func (p *podView) needsAdmin(c *containerView) Known {
	f := c.image.Family
	needs := f.Needs
	for _, t := range p.pod.Tunnels {
		if t.Container != c.c.Name {
			continue
		}
		switch t.UserSpace {
		case Present:
			return Absent
		case Unknown:
			return Unknown
		}
		if needs.Kernel != nil {
			needs = *needs.Kernel
		}
	}
	switch {
	case f.Confidence == images.Low:
		return Unknown
	case f.ID == "softether", f.ID == "shadowsocks":
		return Absent
	case needs.Privileged, containsWord(needs.Capabilities, "NET_ADMIN"):
		return Present
	default:
		return Absent
	}
}

// tunUnmade: the container's own command starts OpenVPN past the start script of an
// image that makes the device, and makes none itself.
func (c *containerView) tunUnmade() Switch {
	s := Switch{State: Absent, Ref: c.c.Ref}
	if c.c.Family != "kylemanna-openvpn" {
		return s
	}
	at, past := c.startsPast("ovpn_run", "openvpn")
	if !past {
		return s
	}
	for _, cmd := range c.commands() {
		if cmd.opaque || cmd.name() == "mknod" {
			return s
		}
	}
	return Switch{State: Present, Ref: at, Why: "openvpn is started without the image's ovpn_run, which makes the device"}
}

// makesTun: the start scripts of these images make the device with mknod when
// it is not there (FG C3, C4, C6).
func makesTun(family string) bool {
	switch family {
	case "kylemanna-openvpn", "haugene-transmission-openvpn", "tailscale":
		return true
	default:
		return false
	}
}
