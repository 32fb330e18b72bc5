package facts

import "github.com/vpnlint/vpnlint/pkg/shell"

// consequence is what commands bring about, each on some of the ways through its
// script.
type consequence struct {
	paths [][]shell.Fork
	apply func(Known)
}

// brings applies what a command does: at once where its script surely comes to
// it, never where it cannot. What only some ways bring about waits for settle,
// since the others may do the same; what says which effects are the same. apply
// is called with Present or Unknown, and Unknown never takes back what is
// Present.
func (r *tunnelReader) brings(c command, what string, apply func(Known)) {
	switch state, open := c.reached(); state {
	case Present:
		apply(Present)
	case Unknown:
		if r.consequences[what] == nil {
			if r.consequences == nil {
				r.consequences = map[string]*consequence{}
			}
			r.consequences[what] = &consequence{apply: apply}
			r.pending = append(r.pending, what)
		}
		e := r.consequences[what]
		e.paths = append(e.paths, open)
	}
}

// settle decides the effects that wait.
func (r *tunnelReader) settle() {
	for _, what := range r.pending {
		e := r.consequences[what]
		e.apply(presentOrUnknown(shell.Covered(e.paths)))
	}
	r.consequences, r.pending = nil, nil
}

// presentOrUnknown is Present, or Unknown.
func presentOrUnknown(certain bool) Known {
	if certain {
		return Present
	}
	return Unknown
}

// perhaps says why an effect is not known.
func (c command) perhaps() reason {
	if c.behindRefused() {
		return because("whether its script comes to "+c.says()+" hangs on an earlier command that is refused", "correct that command")
	}
	return because("whether its script comes to "+c.says()+" is known at run time only", writeOpenly)
}

// masquerades: what leaves the pod is given another source.
func (r *tunnelReader) masquerades(c command) {
	r.brings(c, "masquerade", func(k Known) {
		m := &r.t.Masquerade
		switch {
		case k == Present && (m.State != Present || m.Ref == r.t.ContainerRef):
			*m = Switch{State: Present, Ref: c.ref(), Why: c.says()}
		case k == Unknown:
			r.hookOpaque = true
			if m.State == Absent {
				*m = Switch{State: Unknown, Ref: c.ref(), Why: c.says()}
			}
			r.missed(c.perhaps(), c.ref(), aspectMasquerade)
		}
	})
}

// stopsTraffic: nothing leaves outside the tunnel any more.
func (r *tunnelReader) stopsTraffic(c command) {
	r.brings(c, "kill switch", func(k Known) {
		if k == Present {
			r.hookSwitch = true
			r.t.KillSwitch = Switch{State: Present, Ref: c.ref(), Why: c.says()}
			return
		}
		r.mayStop(c, c.perhaps())
	})
}

// mayStop: whether traffic outside the tunnel is stopped is not known.
func (r *tunnelReader) mayStop(c command, why reason) {
	ks := &r.t.KillSwitch
	r.filterUnknown = true
	if ks.State == Absent {
		*ks = Switch{State: Unknown, Ref: c.ref(), Why: c.says()}
	}
	r.missed(why, c.ref(), aspectKillSwitch)
}
