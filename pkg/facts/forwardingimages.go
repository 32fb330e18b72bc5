package facts

import (
	"path"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/images"
)

// image adds what a family's entrypoint does by itself.
func (r *forwardingReader) image(c *containerView) {
	f := c.image.Family
	if f == nil || !c.c.DataPlane || c.c.Stage == Init && f.ID != "pod-gateway" {
		return
	}
	if c.image.By == images.ByCommand && c.runsAlone(f.ID) {
		return
	}
	t := timed{at: c.c.Order, ForwardEvidence: ForwardEvidence{
		How: "image", Value: "1", Container: c.c.Name, Ref: c.c.ImageRef,
		Says: f.Title + "'s entrypoint writes it", Effective: c.canWrite(), When: r.when(c, scriptCommand),
	}}
	families := []knob{forward4}
	switch f.Defaults.EnablesForwarding {
	case images.DefaultNo:
		return
	case images.DefaultUnknown:
		t.maybe = true
		families = []knob{forward4, forward6}
		if t.Effective == Absent {
			return // it could not, whatever it does
		}
		t.Says = "what " + f.Title + "'s entrypoint does is not known"
		t.Effective = Unknown
	case images.DefaultConditional:
		sets, says, both := r.conditionalImage(c)
		if sets == Absent {
			return
		}
		t.maybe, t.Says = sets == Unknown, says
		if sets == Unknown {
			t.Effective = and(t.Effective, Unknown)
		}
		families = both
		t.Tolerant = strings.HasPrefix(f.ID, "hwdsl2-")
	case images.DefaultYes:
		if f.ID == "bryopsida-wireguard" {
			return // its chart's init container does, which is in view
		}
		if f.ID == "pod-gateway" {
			if !c.runs("gateway_init.sh") {
				return
			}
		}
	}
	if c.replacesEntrypoint() {
		t.maybe = true
		t.Effective = and(t.Effective, Unknown)
		t.Says += ", if command still runs it"
	}
	for _, family := range families {
		r.add(family, t)
	}
	if f.Defaults.EnablesForwarding == images.DefaultYes && f.ID != "netmaker-netclient" && t.Effective != Absent {
		// Whether it also does so for IPv6 was not read from its entrypoint.
		t.maybe, t.Effective = true, Unknown
		r.add(forward6, t)
	} else if f.ID == "netmaker-netclient" {
		r.add(forward6, t)
	}
}

// runsAlone: a plain system runs a program that leaves forwarding alone, and there
// is no start script but the one in the manifest.
func (c *containerView) runsAlone(family string) bool {
	switch family {
	case "openvpn-generic", "wireguard-generic", "amneziawg", "tailscale-other", "ocserv-generic", "strongswan-generic":
		return bareImage(c.image.Repository)
	}
	return false
}

// replacesEntrypoint: command names something else than the image's own
// programs.
func (c *containerView) replacesEntrypoint() bool {
	first := c.spec.get("command").texts()
	if len(first) == 0 {
		return false
	}
	for _, own := range c.image.Family.Hints.Commands {
		for _, w := range first {
			if w.text() == own || path.Base(w.text()) == path.Base(own) {
				return false
			}
		}
	}
	return true
}

// runs reports whether one of the container's commands is the program.
func (c *containerView) runs(program string) bool {
	for _, cmd := range c.commands() {
		if cmd.name() == program {
			return true
		}
	}
	return false
}

// conditionalImage evaluates the condition of families that set forwarding
// sometimes (FG C0).
func (r *forwardingReader) conditionalImage(c *containerView) (sets Known, says string, families []knob) {
	switch c.c.Family {
	case "tailscale":
		return r.tailscaleImage(c)
	case "netbird":
		if r.p.made != nil {
			return Present, "NetBird writes it as a routing peer", []knob{forward4}
		}
		return Unknown, c.c.FamilyTitle + " sets it in some set-ups", []knob{forward4, forward6}
	case "wireguard-operator":
		return Absent, "", nil // its agent leaves that to an init container
	case "denefoster-k8s-wireguard":
		v := c.env("WG_IP_FORWARDING")
		if v.State == Unknown {
			return Unknown, "WG_IP_FORWARDING cannot be seen", []knob{forward4}
		}
		return answer(v.Text != ""), "WG_IP_FORWARDING is set", []knob{forward4}
	case "hwdsl2-openvpn":
		return Present, "its entrypoint tries sysctl and ignores errors", []knob{forward4, forward6}
	case "hwdsl2-ipsec":
		return Present, "its entrypoint tries sysctl and ignores errors", []knob{forward4, forward6}
	default:
		return Unknown, c.c.FamilyTitle + " sets it in some set-ups", []knob{forward4, forward6}
	}
}

// tailscaleImage: containerboot sets forwarding in kernel mode for what its own
// variables name; --advertise-routes in TS_EXTRA_ARGS does not count (FG C6).
func (r *forwardingReader) tailscaleImage(c *containerView) (sets Known, says string, families []knob) {
	for _, t := range r.p.pod.Tunnels {
		if t.Container == c.c.Name && t.UserSpace == Present {
			return Absent, "", nil
		}
	}
	v4, v6 := false, false
	sets = Absent
	for _, key := range tailscaleRoutes() {
		v := c.env(key)
		switch {
		case v.State == Absent || v.State == Present && strings.TrimSpace(v.Text) == "":
			continue
		case v.State == Unknown && !c.setsKey(key):
			sets = or(sets, Unknown)
			continue
		case v.State == Unknown:
			sets, says = Present, key
			v4 = true
			continue
		}
		sets, says = Present, key
		for _, entry := range grammar.ParsePrefixes(v.Text, 0, ",") {
			v4 = v4 || entry.Valid && entry.Prefix.Addr().Is4()
			v6 = v6 || entry.Valid && entry.Prefix.Addr().Is6()
		}
		if strings.HasSuffix(key, "NAME") || strings.HasSuffix(key, "FQDN") {
			v4, v6 = true, true
		}
	}
	if sets != Present {
		return sets, "containerboot may set it", []knob{forward4, forward6}
	}
	if v4 || !v6 {
		families = append(families, forward4)
	}
	if v6 {
		families = append(families, forward6)
	}
	return sets, "containerboot sets it because of " + says, families
}
