package fix

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/finding"
)

const tunDeviceReview = "runc 1.2.0 to 1.2.3 keeps /dev/net/tun from containers that are not privileged (1.2.4 does not); a kernel-mode WireGuard tunnel does without"

// dropPrivilege replaces privileged by NET_ADMIN. Nothing of the kind is offered
// where the container would need /dev/net/tun from the node to go on.
func dropPrivilege(c *sight) []candidate {
	pod := c.Pod()
	if pod == nil || !strings.HasSuffix(c.Finding.Pointer, "/privileged") {
		return c.none("what the container shares with the node is taken away by hand")
	}
	i := slices.IndexFunc(pod.Containers, func(k facts.Container) bool {
		return k.Ref.Object == c.Finding.ObjectID && within(c.Finding.Pointer, k.Ref.Pointer)
	})
	if i < 0 {
		return nil
	}
	k := &pod.Containers[i]
	if !k.TunDevice && !k.MakesTun && !slices.ContainsFunc(pod.Tunnels, func(t facts.Tunnel) bool { return t.Container == k.Name && t.Kind == "wireguard" }) {
		return c.none("without privileged, " + k.Name + " would have no /dev/net/tun")
	}
	at, ok := c.containerAt(k)
	if !ok {
		return c.notEdited("container " + k.Name + " is")
	}
	_, security := field(at.node, "securityContext")
	key, value := field(security, "privileged")
	if key == nil || !isBlock(security) || value.Value != "true" {
		return c.notEdited("the securityContext of " + k.Name + " is")
	}
	edits, ok := at.at(security).netAdmin(at.at(key), at.at(value))
	if !ok {
		return c.notEdited("the capabilities of " + k.Name + " are")
	}
	one := candidate{Title: "give " + k.Name + " NET_ADMIN instead of privileged", Edits: edits}
	if !k.TunDevice {
		one.Review = tunDeviceReview
	}
	return []candidate{one}
}

// netAdmin are the edits of a securityContext that put NET_ADMIN in the place of
// privileged.
func (p place) netAdmin(key, value place) ([]finding.Edit, bool) {
	f := p.text.File
	text := f.Text()
	from, to := p.text.Start(key.node), p.text.End(value.node)
	step, dash := p.step()
	eol := lineBreak(text) + pad(p.column())
	capabilities, given := field(p.node, "capabilities")
	if capabilities == nil && strings.TrimSpace(text[to:lineEnd(text, to)]) != "" {
		return []finding.Edit{replace(f, from, to, "capabilities: {add: [NET_ADMIN]}")}, true // a remark stays in its line
	}
	if capabilities == nil {
		return []finding.Edit{replace(f, from, to, "capabilities:"+eol+pad(step)+"add:"+eol+pad(step+dash)+p.bullet()+"NET_ADMIN")}, true
	}
	_, added := field(given, "add")
	if added == nil || added.Kind != yaml.SequenceNode {
		return nil, false
	}
	for _, one := range added.Content {
		if strings.TrimPrefix(one.Value, "CAP_") != "NET_ADMIN" {
			continue
		}
		begin := lineStart(text, from)
		if begin == 0 || strings.TrimSpace(text[begin:from]) != "" || len(p.node.Content) < 4 {
			return nil, false // it shares its line with something else
		}
		return []finding.Edit{replace(f, lineEnd(text, lineStart(text, begin-1)), lineEnd(text, to), "")}, true
	}
	return nil, false
}

// privilegedWriter makes the init container that writes the sysctl privileged,
// which is what /proc/sys asks for (FG D3.1). A container that stays gets none:
// it would keep the privilege.
func privilegedWriter(c *sight) []candidate {
	pod := c.Pod()
	if pod == nil {
		return nil
	}
	for i := range pod.Containers {
		k := &pod.Containers[i]
		if k.Stage != facts.Init || k.DataPlane || !within(c.Finding.Pointer, k.Ref.Pointer) {
			continue
		}
		at, ok := c.containerAt(k)
		if !ok {
			return c.notEdited("container " + k.Name + " is")
		}
		step, _ := at.step()
		key, security := field(at.node, "securityContext")
		one := candidate{Title: "make the init container " + k.Name + " privileged, so that it may write the sysctl"}
		set, value := field(security, "privileged")
		switch {
		case key == nil:
			one.Edits = []finding.Edit{at.addField([]string{"securityContext:", pad(step) + "privileged: true"})}
		case !isBlock(security) || security.Kind != yaml.MappingNode:
			return c.notEdited("the securityContext of " + k.Name + " is")
		case refusesMore(security):
			// The API server takes no container that says both.
			return c.none(k.Name + " forbids itself any privilege: allowPrivilegeEscalation: false")
		case set != nil && value.Value == "false":
			one.Edits = []finding.Edit{replace(at.text.File, at.text.Start(value), at.text.End(value), "true")}
		case set == nil:
			one.Edits = []finding.Edit{at.at(security).addField([]string{"privileged: true"})}
		default:
			return nil
		}
		return []candidate{one}
	}
	return nil
}

// refusesMore: a securityContext rules out any further privilege.
func refusesMore(security *yaml.Node) bool {
	_, escalation := field(security, "allowPrivilegeEscalation")
	return escalation != nil && escalation.Value != "true"
}

// spared: nothing is left out when the write fails. What stands behind && is, and
// wg-quick runs its hooks with set -e, so that a semicolon does not help there.
func (c *sight) spared(e facts.ForwardEvidence) bool {
	text, _ := descend(c.object(e.Ref.Object), e.Ref.Pointer).(string)
	_, after, found := strings.Cut(text, e.Says)
	after = strings.TrimLeft(after, " ")
	if e.How == "config-hook" {
		return e.Tolerant && found && strings.HasPrefix(after, "||")
	}
	return e.Tolerant && found && !strings.HasPrefix(after, "&&")
}

// tolerated offers what comes before only where the writes that fail are allowed
// to: one that ends its script takes the container or the tunnel with it, whoever
// else has set the value.
func tolerated(then proposer) proposer {
	return func(c *sight) []candidate {
		pod := c.Pod()
		if pod == nil {
			return c.none(whyNoPod)
		}
		for _, e := range slices.Concat(pod.Forwarding.IPv4.Evidence, pod.Forwarding.IPv6.Evidence) {
			refused := e.Effective == facts.Absent && e.Value == "1"
			if refused && (!c.spared(e) || !strings.Contains(e.Says, "ip_forward")) {
				return c.none("a write that fails ends its script, whoever else sets the value: " + e.Says)
			}
		}
		return then(c)
	}
}
