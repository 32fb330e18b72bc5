package fix

import (
	"fmt"
	"slices"

	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/images"
)

// killSwitch turns the image's own kill switch on, as far as the catalogue knows
// how. Which addresses a policy outside the pod would have to admit is for people
// to say.
func killSwitch(c *sight) []candidate {
	pod := c.Pod()
	if pod == nil {
		return c.none(whyNoPod)
	}
	var out []candidate
	for i := range pod.Tunnels {
		t := &pod.Tunnels[i]
		family := c.catalog.Family(t.Family)
		if t.KillSwitch.State != facts.Absent || family == nil || c.Locate(t.KillSwitch.Ref).Primary != c.Finding.Primary {
			continue
		}
		for _, k := range family.Env.KillSwitch {
			edits, ok := c.switchOn(pod, t, k)
			if !ok {
				continue
			}
			out = append(out, candidate{
				Title:  fmt.Sprintf("turn on the kill switch of %s (%s)", t.FamilyTitle, k.Key),
				Edits:  edits,
				Review: "the image's firewall then drops whatever leaves outside the tunnel and is on no bypass list",
			})
		}
	}
	if len(out) == 0 {
		return c.none("no variable is known that turns on a kill switch of the image where it is written")
	}
	return out
}

// switchOn sets the variable, or changes the value that turns it off.
func (c *sight) switchOn(pod *facts.Pod, t *facts.Tunnel, k images.Key) ([]finding.Edit, bool) {
	if k.Key == "" || k.Deprecated {
		return nil, false
	}
	env, _ := descend(c.object(pod.Ref.Object), t.ContainerRef.Pointer+"/env").([]any)
	at := slices.IndexFunc(env, func(item any) bool {
		m, _ := item.(map[string]any)
		return m["name"] == k.Key
	})
	if at < 0 {
		switch {
		case k.OnWhenPresent:
			return c.addVariables(pod, t, []variable{{k.Key, ""}})
		case len(k.OnValues) > 0 && k.On("", false) == images.No:
			return c.addVariables(pod, t, []variable{{k.Key, k.OnValues[0]}})
		}
		return nil, false
	}
	m, _ := env[at].(map[string]any)
	value, _ := m["value"].(string)
	to := k.Default
	if len(k.OnValues) > 0 {
		to = k.OnValues[0]
	}
	f, s, ok := c.exact(t.ContainerRef.Child("env", fmt.Sprint(at), "value"), value)
	if !ok || to == "" || to == value {
		return nil, false
	}
	return []finding.Edit{replace(f, s.start, s.end, to)}, true
}
