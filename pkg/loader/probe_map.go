package loader

import (
	"sync"
	"text/template/parse"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// templateMap is the textMap of one rendered template: it leads from rendered
// text to template text. It is safe for concurrent use.
type templateMap struct {
	file   *source.File // the template, as its locations are shown
	marks  []mark
	plain  string // the rendered text
	events []event
	scope  *valueScope
	// defines finds where a define is written.
	defines func(name string) (source.Location, bool)
	// trees finds what a define holds.
	trees func(name string) (*templateFile, *parse.Tree, bool)
	// files are the chart's own files that can be shown.
	files func() map[string]*source.File

	once  sync.Once
	steps []step
	forks []*fork
}

// step is a node that the render reached and the text that it emitted.
type step struct {
	mark       *mark
	start, end int // in the rendered text
	pad        int // blanks before each line of a text but its first
	cut        int // bytes of a text that were trimmed off
	round      *round
	frame      *frame
	reads      [][]string
	// from is what the node's expression stands for, when it is a value.
	from symbol
}

// frame is one execution of a define's marked copy, or of the file itself.
type frame struct {
	caller *frame // nil for the file
	call   step   // in the caller
	indent int    // of its lines, in the rendered text
	vars   int    // where its variables begin
	depth  int
	latest map[*parse.BranchNode]*fork
}

// fork is one execution of an if, with or range.
type fork struct {
	mark  *mark
	at    int // in the rendered text
	round *round
	frame *frame
	test  symbol
	// rounds counts how often the main arm was entered: 0 or 1 but for a range.
	rounds   int
	tookElse bool
}

// round is one execution of an arm of a fork; that of a file or a define has no
// fork.
type round struct {
	parent *round
	arm    *arm
	fork   *fork
	frame  *frame
	dot    symbol
	elem   symbol // of a range
	vars   int    // variables that outlive the round
}

// tracer replays the events of a render.
type tracer struct {
	*templateMap
	ev    *evaluator
	now   *round
	frame *frame
}

// trace replays the events: it finds for each step its branches and what it
// reads. It runs once, and only for templates that somebody asks about.
func (m *templateMap) trace() {
	t := &tracer{templateMap: m, ev: &evaluator{values: m.scope.values, defines: m.trees, files: m.files}}
	t.open(step{}, symbol{known: true})
	for i, e := range m.events {
		end := len(m.plain)
		if i+1 < len(m.events) {
			end = m.events[i+1].at
		}
		t.replay(e, end)
	}
}

func (t *tracer) replay(e event, end int) {
	mk := &t.marks[e.mark]
	switch {
	case mk.leave:
		t.close(e.at, end)
	case mk.enter:
		t.leave(mk.in.parent)
		if f := t.frame.latest[mk.in.branch]; f != nil {
			t.now = t.enter(f, mk.in)
			t.now.vars = len(t.ev.vars)
		}
	case mk.main != nil:
		t.leave(mk.in)
		f := &fork{mark: mk, at: e.at, round: t.now, frame: t.frame, test: t.ev.pipe(mk.main.branch.Pipe, t.now.dot, 0)}
		t.frame.latest[mk.main.branch] = f
		t.forks = append(t.forks, f)
	default:
		t.leave(mk.in)
		s := step{mark: mk, start: e.at, end: end, pad: e.pad, cut: e.cut, round: t.now, frame: t.frame}
		arg := t.evaluate(&s)
		if s.end > s.start {
			t.steps = append(t.steps, s)
		}
		if mk.call {
			t.open(s, arg)
		}
	}
}

// evaluate finds what a node reads; of a node that prints a define, it returns
// what the define gets as its dot.
func (t *tracer) evaluate(s *step) (arg symbol) {
	dot := t.now.dot
	switch n := s.mark.node.(type) {
	case *parse.ActionNode:
		if s.mark.call {
			return t.ev.operand(n.Pipe.Cmds[0].Args[2], dot, 0)
		}
		s.from = t.ev.pipe(n.Pipe, dot, 0)
		s.reads = s.from.all()
		for _, v := range n.Pipe.Decl {
			if n.Pipe.IsAssign {
				t.ev.assign(v.Ident[0], s.from)
			} else {
				t.ev.declare(v.Ident[0], s.from)
			}
		}
		t.now.vars = len(t.ev.vars)
	case *parse.TemplateNode:
		if n.Pipe == nil {
			return symbol{isLit: true} // nil
		}
		arg = t.ev.pipe(n.Pipe, dot, 0)
		if !s.mark.call {
			s.reads = arg.all()
		}
	}
	return arg
}

// open begins a frame: the file, or the define that call prints.
func (t *tracer) open(call step, dot symbol) {
	f := &frame{caller: t.frame, call: call, vars: len(t.ev.vars), latest: map[*parse.BranchNode]*fork{}}
	if t.frame != nil {
		f.depth = t.frame.depth + 1
		f.indent = t.frame.indent
		if n, ok := indentArgument(call.mark.tmpl.text[call.mark.start:call.mark.end]); ok {
			f.indent += n
		}
	}
	t.frame = f
	t.ev.base = len(t.ev.vars)
	t.ev.declare("$", dot)
	t.now = &round{parent: t.now, frame: f, dot: dot, vars: len(t.ev.vars)}
}

// close ends a frame. What the call prints after the define's text, the end of
// a line or a quote, is its own.
func (t *tracer) close(at, end int) {
	for t.now.fork != nil {
		t.now = t.now.parent
	}
	f := t.frame
	t.now, t.frame = t.now.parent, f.caller
	t.ev.vars = t.ev.vars[:f.vars]
	t.ev.base = f.caller.vars
	if at < end {
		s := f.call
		s.start, s.end = at, end
		t.steps = append(t.steps, s)
	}
}

// leave goes back to the arm, which is around the current one.
func (t *tracer) leave(in *arm) {
	for t.now.fork != nil && t.now.arm != in {
		t.now = t.now.parent
		t.ev.vars = t.ev.vars[:min(len(t.ev.vars), t.now.vars)]
	}
}

// enter begins a round of an arm: it sets the dot and the variables.
func (t *tracer) enter(f *fork, in *arm) *round {
	ev := t.ev
	r := &round{parent: t.now, arm: in, fork: f, frame: t.frame, dot: t.now.dot}
	pipe := in.branch.Pipe
	set := func(name string, is symbol) {
		if pipe.IsAssign {
			ev.assign(name, is)
		} else {
			ev.declare(name, is)
		}
	}
	if in.isElse {
		f.tookElse = true
		if in.branch.NodeType != parse.NodeRange {
			for _, v := range pipe.Decl {
				set(v.Ident[0], f.test)
			}
		}
		return r
	}
	f.rounds++
	if in.branch.NodeType != parse.NodeRange {
		if in.branch.NodeType == parse.NodeWith {
			r.dot = f.test
		}
		for _, v := range pipe.Decl {
			set(v.Ident[0], f.test)
		}
		return r
	}
	key, elem := ev.element(f.test, f.rounds-1)
	r.dot, r.elem = elem, elem
	switch len(pipe.Decl) {
	case 1:
		set(pipe.Decl[0].Ident[0], elem)
	case 2:
		set(pipe.Decl[0].Ident[0], key)
		set(pipe.Decl[1].Ident[0], elem)
	}
	return r
}
