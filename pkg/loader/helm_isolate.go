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

// Helm's engine has no limits: one repeat in a template takes all the memory
// there is, and one tpl of itself ends the process. An isolated chart is
// therefore rendered by a child process, which runs ServeRenders with a limit on
// its memory. The child gets charts and values and gives texts; whatever reads
// these, and knows places, is the same code for both.

// chartEngine renders charts; it is used by one goroutine.
type chartEngine interface {
	// render returns the texts by template and the values after the templates
	// had their way with them. A *lostError says that there will be no answer;
	// any other error is the engine's.
	render(c *chart.Chart, values chartutil.Values) (map[string]string, chartutil.Values, error)
	close()
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

func (ownEngine) close() {}

// The messages between the two processes, in gob: a hello, and then as many
// renders as wanted, each answered by a head and its texts one by one.
type (
	wireHello struct{ MemoryBytes, OutputBytes int64 }

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
	for {
		var order wireRender
		if err := in.Decode(&order); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading a chart: %w", err)
		}
		texts, answer, err := order.render(Limits{OutputBytes: hello.OutputBytes})
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

// childEngine renders in a child process, which is started when first needed.
type childEngine struct {
	ctx     context.Context
	command []string
	limits  Limits

	cmd    *exec.Cmd
	in     io.WriteCloser
	enc    *gob.Encoder
	dec    *gob.Decoder
	stderr firstWords
	lost   error
}

func (e *childEngine) render(c *chart.Chart, values chartutil.Values) (map[string]string, chartutil.Values, error) {
	if e.lost != nil {
		return nil, nil, e.lost
	}
	texts, after, err := e.ask(c, values)
	var engineErr *engineFailure
	if err != nil && !errors.As(err, &engineErr) {
		e.lost = e.explain(err)
		return nil, nil, e.lost
	}
	return texts, after, err
}

// engineFailure is an error of the engine in the child.
type engineFailure struct{ text string }

func (e *engineFailure) Error() string { return e.text }

func (e *childEngine) ask(c *chart.Chart, values chartutil.Values) (map[string]string, chartutil.Values, error) {
	if e.cmd == nil {
		if err := e.start(); err != nil {
			return nil, nil, err
		}
	}
	wire, err := toWire(c)
	if err != nil {
		return nil, nil, err
	}
	release, _ := values["Release"].(map[string]any)
	caps, ok := values["Capabilities"].(*chartutil.Capabilities)
	if !ok {
		return nil, nil, errors.New("the chart's values lack the cluster's capabilities")
	}
	order := wireRender{Chart: wire, Release: release, Capabilities: *caps, Values: encodeValues(values["Values"])}
	if err := e.enc.Encode(order); err != nil {
		return nil, nil, err
	}
	var answer wireAnswer
	if err := e.dec.Decode(&answer); err != nil {
		return nil, nil, err
	}
	if answer.TooLarge {
		return nil, nil, tooMuchOutput(e.limits)
	}
	if answer.Failed {
		return nil, nil, &engineFailure{text: answer.Error}
	}
	changed, err := answer.Values.decode()
	if err != nil {
		return nil, nil, err
	}
	texts := make(map[string]string, answer.Texts)
	for range answer.Texts {
		var f wireFile
		if err := e.dec.Decode(&f); err != nil {
			return nil, nil, err
		}
		texts[f.Name] = string(f.Data)
	}
	after := chartutil.Values{}
	for key, v := range values {
		after[key] = v
	}
	after["Values"] = changed
	return texts, after, nil
}

func (e *childEngine) start() error {
	cmd := exec.CommandContext(e.ctx, e.command[0], e.command[1:]...)
	cmd.Env = []string{} // templates have no business with the environment
	cmd.Stderr = &e.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the process that renders it: %w", err)
	}
	e.cmd, e.in = cmd, in
	e.enc, e.dec = gob.NewEncoder(in), gob.NewDecoder(out)
	return e.enc.Encode(wireHello{MemoryBytes: e.limits.MemoryBytes, OutputBytes: e.limits.OutputBytes})
}

// explain words why the child gave no answer.
func (e *childEngine) explain(err error) error {
	var lost *lostError
	if errors.As(err, &lost) {
		return err
	}
	if e.cmd == nil {
		return &lostError{why: err.Error() + "; turn it off with --isolate=false"}
	}
	ended := e.end()
	said := e.stderr.String()
	if slices.ContainsFunc([]string{"out of memory", "cannot allocate", "cannot map pages", "stack exceeds", "pthread_create failed", "failed to create new OS thread"}, func(s string) bool { return strings.Contains(said, s) }) {
		return &lostError{why: fmt.Sprintf("rendering it takes more memory than the limit of %d bytes; look for a huge repeat or a loop in its templates, or raise --limit-memory-bytes", e.limits.MemoryBytes)}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	if first == "" && ended != nil {
		first = ended.Error()
	}
	return &lostError{why: fmt.Sprintf("the process that renders it ended without an answer (%v: %s); look for a loop in its templates", err, first)}
}

// end waits for the child; it has nothing more to read.
func (e *childEngine) end() error {
	_ = e.in.Close()
	return e.cmd.Wait()
}

func (e *childEngine) close() {
	if e.cmd != nil && e.lost == nil {
		_ = e.end()
	}
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
