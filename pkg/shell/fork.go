package shell

import "slices"

// maxForks bounds the ways that a command is said to stand on; behind more,
// nobody can tell.
const maxForks = 100

// Choice is a place where a script goes one of several ways.
type Choice struct {
	// Ways is how many there are, the one of a missing else among them; one of
	// them is always taken. 0 if they cannot be counted.
	Ways int
	// Test is the command whose outcome decides, nil for none: a case, a list that
	// a loop goes through.
	Test *Command
	// Also are the other tests of a list of && or ||, with what each of them did
	// where the way AllOn is taken; on the other one any of them did otherwise.
	Also  []Outcome
	AllOn int
	// Refused: the way behind a command that its program refuses.
	Refused bool
}

// Outcome is a command and whether it succeeds.
type Outcome struct {
	Command  *Command
	Succeeds bool
}

// Fork is the way that a command stands on.
type Fork struct {
	*Choice
	// Way counts from 0; below 0 for one that is not known.
	Way int
	// Succeeds: it is taken when Test succeeds, otherwise when it fails.
	Succeeds bool
}

// Covered reports whether commands that stand on these ways, each of them as a
// way through choices from the outermost on, leave no way through the script
// without one of them.
func Covered(paths [][]Fork) bool {
	byChoice := map[*Choice][][]Fork{}
	var order []*Choice
	for _, p := range paths {
		if len(p) == 0 {
			return true
		}
		if _, has := byChoice[p[0].Choice]; !has {
			order = append(order, p[0].Choice)
		}
		byChoice[p[0].Choice] = append(byChoice[p[0].Choice], p)
	}
	return slices.ContainsFunc(order, func(c *Choice) bool {
		ways := map[int][][]Fork{}
		for _, p := range byChoice[c] {
			if p[0].Way >= 0 {
				ways[p[0].Way] = append(ways[p[0].Way], p[1:])
			}
		}
		if len(ways) == 0 || len(ways) != c.Ways {
			return false
		}
		for _, rest := range ways {
			if !Covered(rest) {
				return false
			}
		}
		return true
	})
}

// choice makes the two ways of a test: when it succeeds and when it fails.
func choice(r result) (yes, no Fork) {
	c := &Choice{Ways: 2, Test: r.last, Also: r.also}
	if r.allFail {
		c.AllOn = 1
	}
	if r.mixed {
		c.Test, c.Also = nil, nil
	}
	return Fork{Choice: c, Way: 0, Succeeds: !r.negated}, Fork{Choice: c, Way: 1, Succeeds: r.negated}
}

// perhaps is a way of which nothing is known but that it may not be taken.
func perhaps() Fork { return Fork{Choice: &Choice{}, Way: -1} }

// on puts what follows on further ways.
func (c context) on(forks ...Fork) context {
	if n := len(c.forks); n+len(forks) > maxForks {
		if n == 0 || c.forks[n-1].Way >= 0 {
			c.forks = append(c.forks[:n:n], perhaps())
		}
		return c
	}
	c.forks = append(c.forks[:len(c.forks):len(c.forks)], forks...)
	return c
}

// openWay is where the script goes on after a choice of which some ways end it.
func openWay(ways []way) Fork {
	open := Fork{}
	n := 0
	for _, w := range ways {
		if w.res.flow.end == goesOn {
			open = w.fork
			n++
		}
	}
	if n != 1 || open.Choice == nil {
		return perhaps()
	}
	return open
}
