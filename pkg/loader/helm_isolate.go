package loader

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

// Helm's engine and kustomize's library have no limits: one repeat in a template
// takes all the memory there is, one tpl of itself ends the process, one label
// can be copied to ten thousand objects. What is isolated is therefore rendered
// by a child process, which runs ServeRenders with a limit on its memory. The
// child gets charts and values, or the files of a kustomization, and gives texts;
// whatever reads these, and knows places, is the same code for both.

// chartEngine renders charts; it is used by one goroutine.
type chartEngine interface {
	// render returns the texts by template and the values after the templates
	// had their way with them. A *lostError says that there will be no answer;
	// any other error is the engine's.
	render(c *chart.Chart, values chartutil.Values) (map[string]string, chartutil.Values, error)
}

// lostError is why an engine cannot answer, worded for a gap.
type lostError struct{ why string }

func (e *lostError) Error() string { return e.why }

func tooMuchOutput(limits Limits) error {
	return &lostError{why: fmt.Sprintf("it renders more than %d bytes; raise --limit-output-bytes if that is meant", limits.OutputBytes)}
}

// exceeds reports whether texts are larger than the limit; every template has a
// marked twin, so that twice the limit is what counts.
func exceeds(texts map[string]string, limit int64) bool {
	var total int64
	for _, text := range texts {
		total += int64(len(text))
	}
	return total > 2*limit
}

// ownEngine renders in this process.
type ownEngine struct{ limits Limits }

func (e ownEngine) render(c *chart.Chart, values chartutil.Values) (map[string]string, chartutil.Values, error) {
	texts, err := engine.Engine{}.Render(c, values)
	if err == nil && exceeds(texts, e.limits.OutputBytes) {
		err = tooMuchOutput(e.limits)
	}
	return texts, values, err
}

// The messages between the two processes, in gob: a hello, and then as many
// orders as wanted, each answered by a head and its texts one by one.
type (
	wireHello struct{ MemoryBytes, OutputBytes int64 }

	// wireOrder is one of the two.
	wireOrder struct {
		Render *wireRender
		Build  *wireBuild
	}

	// wireBuild is a kustomization: files by their absolute path, and where it is.
	wireBuild struct {
		Files []wireFile
		Dir   string
	}

	wireRender struct {
		Chart        wireChart
		Release      map[string]any
		Capabilities chartutil.Capabilities
		Values       wireValues
	}

	wireChart struct {
		Metadata         []byte // JSON, for gob refuses the nil values in it
		Templates, Files []wireFile
		Charts           []wireChart
	}

	wireFile struct {
		Name string
		Data []byte
	}

	wireAnswer struct {
		Texts    int
		Values   wireValues
		Failed   bool
		Error    string
		TooLarge bool
	}
)

func toWire(c *chart.Chart) (wireChart, error) {
	meta, err := json.Marshal(c.Metadata)
	if err != nil {
		return wireChart{}, fmt.Errorf("sending the chart's metadata: %w", err)
	}
	out := wireChart{Metadata: meta}
	for _, f := range c.Templates {
		out.Templates = append(out.Templates, wireFile{f.Name, f.Data})
	}
	for _, f := range c.Files {
		out.Files = append(out.Files, wireFile{f.Name, f.Data})
	}
	for _, sub := range c.Dependencies() {
		inner, err := toWire(sub)
		if err != nil {
			return wireChart{}, err
		}
		out.Charts = append(out.Charts, inner)
	}
	return out, nil
}

func (w wireChart) chart() (*chart.Chart, error) {
	c := &chart.Chart{Metadata: &chart.Metadata{}}
	if err := json.Unmarshal(w.Metadata, c.Metadata); err != nil {
		return nil, fmt.Errorf("reading the chart's metadata: %w", err)
	}
	for _, f := range w.Templates {
		c.Templates = append(c.Templates, &chart.File{Name: f.Name, Data: f.Data})
	}
	for _, f := range w.Files {
		c.Files = append(c.Files, &chart.File{Name: f.Name, Data: f.Data})
	}
	for _, sub := range w.Charts {
		inner, err := sub.chart()
		if err != nil {
			return nil, err
		}
		c.AddDependency(inner)
	}
	return c, nil
}

// wireValues are chart values as a list of nodes, the last leads to the top. Maps that
// stand in several places are one node: a template that writes to one writes to
// all, here as there, and a map that holds itself ends.
type wireValues []wireNode

type wireNode struct {
	Kind  wireKind
	Text  string
	Int   int64
	Float float64
	Keys  []string
	Items []int // indices of nodes
}

type wireKind uint8

const (
	wireNil wireKind = iota
	wireString
	wireBool
	wireInt
	wireInt64
	wireFloat
	wireList
	wireMap
	wireTable // chartutil.Values
	wireTop   // the last node: its only item is the value
)

type wireWriter struct {
	nodes wireValues
	maps  map[uintptr]int
}

func encodeValues(v any) wireValues {
	w := &wireWriter{maps: map[uintptr]int{}}
	top := w.add(v, 0)
	w.put(wireNode{Kind: wireTop, Items: []int{top}})
	return w.nodes
}

// maxValueDepth ends values that templates have nested without end.
const maxValueDepth = 1000

func (w *wireWriter) put(n wireNode) int {
	w.nodes = append(w.nodes, n)
	return len(w.nodes) - 1
}

func (w *wireWriter) add(v any, depth int) int {
	if depth > maxValueDepth {
		return w.put(wireNode{})
	}
	switch v := v.(type) {
	case nil:
		return w.put(wireNode{})
	case string:
		return w.put(wireNode{Kind: wireString, Text: v})
	case bool:
		n := wireNode{Kind: wireBool}
		if v {
			n.Int = 1
		}
		return w.put(n)
	case int:
		return w.put(wireNode{Kind: wireInt, Int: int64(v)})
	case int64:
		return w.put(wireNode{Kind: wireInt64, Int: v})
	case float64:
		return w.put(wireNode{Kind: wireFloat, Float: v})
	case []any:
		n := wireNode{Kind: wireList}
		for _, item := range v {
			n.Items = append(n.Items, w.add(item, depth+1))
		}
		return w.put(n)
	case map[string]any:
		return w.addMap(wireMap, v, depth)
	case chartutil.Values:
		return w.addMap(wireTable, v, depth)
	}
	// Something that a template made and stored: nobody but the report reads it.
	data, err := json.Marshal(v)
	if err != nil {
		return w.put(wireNode{})
	}
	var plain any
	if err := json.Unmarshal(data, &plain); err != nil {
		return w.put(wireNode{})
	}
	return w.add(plain, depth+1)
}

func (w *wireWriter) addMap(kind wireKind, m map[string]any, depth int) int {
	id := reflect.ValueOf(m).Pointer()
	if i, ok := w.maps[id]; ok && m != nil && w.nodes[i].Kind == kind {
		return i
	}
	i := w.put(wireNode{Kind: kind})
	if m != nil {
		w.maps[id] = i
	}
	n := wireNode{Kind: kind, Keys: sortedKeys(m)}
	for _, key := range n.Keys {
		n.Items = append(n.Items, w.add(m[key], depth+1))
	}
	w.nodes[i] = n
	return i
}

// decode returns the value that was encoded.
func (w wireValues) decode() (any, error) {
	made := make([]any, len(w))
	done := make([]bool, len(w))
	var build func(i, depth int) (any, error)
	build = func(i, depth int) (any, error) {
		if i < 0 || i >= len(w) || depth > 2*maxValueDepth {
			return nil, errors.New("broken values")
		}
		if done[i] {
			return made[i], nil
		}
		n := w[i]
		switch n.Kind {
		case wireNil:
		case wireString:
			made[i] = n.Text
		case wireBool:
			made[i] = n.Int == 1
		case wireInt:
			made[i] = int(n.Int)
		case wireInt64:
			made[i] = n.Int
		case wireFloat:
			made[i] = n.Float
		case wireList:
			list := make([]any, len(n.Items))
			for j, item := range n.Items {
				v, err := build(item, depth+1)
				if err != nil {
					return nil, err
				}
				list[j] = v
			}
			made[i] = list
		case wireMap, wireTable:
			m := make(map[string]any, len(n.Keys))
			made[i] = m
			if n.Kind == wireTable {
				made[i] = chartutil.Values(m)
			}
			done[i] = true // before its members: it may hold itself
			for j, item := range n.Items {
				v, err := build(item, depth+1)
				if err != nil || j >= len(n.Keys) {
					return nil, errors.Join(err, errors.New("broken values"))
				}
				m[n.Keys[j]] = v
			}
		default:
			return nil, errors.New("broken values")
		}
		done[i] = true
		return made[i], nil
	}
	if len(w) == 0 || w[len(w)-1].Kind != wireTop || len(w[len(w)-1].Items) != 1 {
		return nil, errors.New("broken values")
	}
	return build(w[len(w)-1].Items[0], 0)
}

// ServeRenders is the child's side of Options.Isolate: it limits its own memory
// to what the parent says, where the system can, and renders what r brings until
// r ends.
func ServeRenders(r io.Reader, w io.Writer) error {
	in, out := gob.NewDecoder(r), gob.NewEncoder(w)
	var hello wireHello
	if err := in.Decode(&hello); err != nil {
		return fmt.Errorf("reading the limits: %w", err)
	}
	// Collect garbage before the limit strikes; the limit is what counts.
	debug.SetMemoryLimit(hello.MemoryBytes / 4 * 3)
	if err := limitMemory(hello.MemoryBytes); err != nil {
		return fmt.Errorf("limiting the memory: %w", err)
	}
	limits := Limits{OutputBytes: hello.OutputBytes}
	for {
		var order wireOrder
		if err := in.Decode(&order); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading an order: %w", err)
		}
		texts, answer, err := order.run(limits)
		if err != nil {
			return err
		}
		if err := out.Encode(answer); err != nil {
			return fmt.Errorf("answering: %w", err)
		}
		for _, name := range sortedKeys(texts) {
			if err := out.Encode(wireFile{Name: name, Data: []byte(texts[name])}); err != nil {
				return fmt.Errorf("answering: %w", err)
			}
		}
	}
}

func (o wireOrder) run(limits Limits) (map[string]string, wireAnswer, error) {
	switch {
	case o.Render != nil:
		return o.Render.render(limits)
	case o.Build != nil:
		return o.Build.build(limits)
	}
	return nil, wireAnswer{}, errors.New("an order without a task")
}

func (o wireBuild) build(limits Limits) (map[string]string, wireAnswer, error) {
	text, err := runKustomize(newGraphFiles(o.Files), o.Dir)
	if err == nil && int64(len(text)) > limits.OutputBytes {
		err = tooMuchOutput(limits)
	}
	if err != nil {
		return nil, answerOf(nil, nil, err), nil
	}
	texts := map[string]string{"": string(text)}
	return texts, answerOf(texts, nil, nil), nil
}

func (o wireRender) render(limits Limits) (map[string]string, wireAnswer, error) {
	c, err := o.Chart.chart()
	if err != nil {
		return nil, wireAnswer{}, err
	}
	values, err := o.Values.decode()
	if err != nil {
		return nil, wireAnswer{}, fmt.Errorf("reading the values: %w", err)
	}
	top := chartutil.Values{"Chart": c.Metadata, "Capabilities": &o.Capabilities, "Release": o.Release, "Values": values}
	texts, _, err := ownEngine{limits}.render(c, top)
	if err != nil {
		texts = nil
	}
	return texts, answerOf(texts, top["Values"], err), nil
}

// answerOf says what the engine said: its errors are answers.
func answerOf(texts map[string]string, values any, err error) wireAnswer {
	var lost *lostError
	switch {
	case errors.As(err, &lost):
		return wireAnswer{TooLarge: true}
	case err != nil:
		return wireAnswer{Failed: true, Error: err.Error()}
	}
	return wireAnswer{Texts: len(texts), Values: encodeValues(values)}
}

// children are the child processes of one run: each serves one render at a time
// and is used again, for to start one costs more than most charts.
type children struct {
	ctx     context.Context // of the run
	command []string
	limits  Limits

	mu   sync.Mutex
	idle []*childProcess
}

// take returns a child that is idle, or a new one.
func (p *children) take() (*childProcess, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return c, nil
	}
	p.mu.Unlock()
	return p.start()
}

// give takes a child back that has answered.
func (p *children) give(c *childProcess) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.used = true
	p.idle = append(p.idle, c)
}

// close ends the children. One that does not end because it is asked to is none
// of these: it has answered all that it was asked.
func (p *children) close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.idle {
		_ = c.end()
	}
	p.idle = nil
}

// childProcess is a process that runs ServeRenders.
type childProcess struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	enc    *gob.Encoder
	dec    *gob.Decoder
	stderr firstWords
	used   bool // it has answered before
}

func (p *children) start() (*childProcess, error) {
	c := &childProcess{cmd: exec.CommandContext(p.ctx, p.command[0], p.command[1:]...)}
	c.cmd.Env = []string{} // templates have no business with the environment
	c.cmd.Stderr = &c.stderr
	out, err := c.cmd.StdoutPipe()
	if err == nil {
		c.in, err = c.cmd.StdinPipe()
	}
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		return nil, &lostError{why: fmt.Sprintf("the process that renders it could not be started: %v; turn it off with --isolate=false", err)}
	}
	c.enc, c.dec = gob.NewEncoder(c.in), gob.NewDecoder(out)
	if err := c.enc.Encode(wireHello{MemoryBytes: p.limits.MemoryBytes, OutputBytes: p.limits.OutputBytes}); err != nil {
		return nil, c.explain(err, p.limits)
	}
	return c, nil
}

// ask has a child do what is ordered. The error is the engine's, an
// *engineFailure, or a *lostError. Whether there is an answer does not depend on
// what a child did before: where one fails that has been used, a new one decides.
func (p *children) ask(ctx context.Context, order wireOrder) (wireAnswer, map[string]string, error) {
	for {
		c, err := p.take()
		if err != nil {
			return wireAnswer{}, nil, err
		}
		stop := context.AfterFunc(ctx, func() { _ = c.cmd.Process.Kill() })
		answer, texts, err := c.ask(order)
		if stop(); err == nil {
			p.give(c)
			switch {
			case answer.TooLarge:
				err = tooMuchOutput(p.limits)
			case answer.Failed:
				err = &engineFailure{text: answer.Error}
			}
			return answer, texts, err
		}
		why := c.explain(err, p.limits)
		if !c.used || ctx.Err() != nil {
			return wireAnswer{}, nil, why
		}
	}
}

func (c *childProcess) ask(order wireOrder) (wireAnswer, map[string]string, error) {
	var answer wireAnswer
	if err := c.enc.Encode(order); err != nil {
		return answer, nil, err
	}
	if err := c.dec.Decode(&answer); err != nil {
		return answer, nil, err
	}
	texts := make(map[string]string, answer.Texts)
	for range answer.Texts {
		var f wireFile
		if err := c.dec.Decode(&f); err != nil {
			return answer, nil, err
		}
		texts[f.Name] = string(f.Data)
	}
	return answer, texts, nil
}

// explain words why the child gave no answer.
func (c *childProcess) explain(err error, limits Limits) error {
	ended := c.end()
	said := c.stderr.String()
	// (a stack that cannot grow ends in a SIGSEGV of Go's runtime)
	if slices.ContainsFunc([]string{"out of memory", "SIGSEGV", "cannot allocate", "cannot map pages", "stack exceeds", "pthread_create failed", "failed to create new OS thread"}, func(s string) bool { return strings.Contains(said, s) }) {
		return &lostError{why: fmt.Sprintf("rendering it takes more memory than the limit of %d bytes; look for a loop, a huge repeat or what is copied many times, or raise --limit-memory-bytes", limits.MemoryBytes)}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	if first == "" && ended != nil {
		first = ended.Error()
	}
	return &lostError{why: fmt.Sprintf("the process that renders it ended without an answer (%v: %s); look for a loop in it", err, first)}
}

// end waits for the child; it has nothing more to read.
func (c *childProcess) end() error {
	_ = c.in.Close()
	return c.cmd.Wait()
}

// childEngine renders charts in child processes.
type childEngine struct {
	ctx      context.Context // of the chart
	children *children
	lost     error
}

// engineFailure is an error of the engine in the child.
type engineFailure struct{ text string }

func (e *engineFailure) Error() string { return e.text }

func (e *childEngine) render(c *chart.Chart, values chartutil.Values) (map[string]string, chartutil.Values, error) {
	if e.lost != nil {
		return nil, nil, e.lost
	}
	texts, after, err := e.ask(c, values)
	var lost *lostError
	if errors.As(err, &lost) {
		e.lost = err
	}
	return texts, after, err
}

func (e *childEngine) ask(c *chart.Chart, values chartutil.Values) (map[string]string, chartutil.Values, error) {
	wire, err := toWire(c)
	if err != nil {
		return nil, nil, &lostError{why: err.Error()}
	}
	release, _ := values["Release"].(map[string]any)
	caps, ok := values["Capabilities"].(*chartutil.Capabilities)
	if !ok {
		return nil, nil, &lostError{why: "the chart's values lack the cluster's capabilities"}
	}
	order := wireRender{Chart: wire, Release: release, Capabilities: *caps, Values: encodeValues(values["Values"])}
	answer, texts, err := e.children.ask(e.ctx, wireOrder{Render: &order})
	if err != nil {
		return nil, nil, err
	}
	changed, err := answer.Values.decode()
	if err != nil {
		return nil, nil, &lostError{why: err.Error()}
	}
	after := chartutil.Values{}
	for key, v := range values {
		after[key] = v
	}
	after["Values"] = changed
	return texts, after, nil
}

// firstWords keeps the beginning of what a process says, where Go says why it dies.
type firstWords struct {
	mu sync.Mutex
	b  bytes.Buffer
}

const maxWords = 16 << 10

func (t *firstWords) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := maxWords - t.b.Len(); room > 0 {
		t.b.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (t *firstWords) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}
