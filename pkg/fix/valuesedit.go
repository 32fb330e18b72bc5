package fix

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// Values files belong to people: an edit changes what has to change and leaves
// comments, order, quotes and line ends around it as they are.

var (
	errNoEdit  = errors.New("the value's place cannot be edited as text")
	errAliased = errors.New("the value is shared by an alias")
)

// valuesEditor edits the text of one values file.
type valuesEditor struct {
	file *source.File
	text string
	doc  loader.Text // without a Root when the file holds nothing
}

// newValuesEditor is for the document that begins at an offset, -1 for that of a
// values file.
func newValuesEditor(f *source.File, begin int) (*valuesEditor, error) {
	e := &valuesEditor{file: f, text: f.Text()}
	docs := loader.Texts(f, loader.Limits{})
	if begin >= 0 {
		at := slices.IndexFunc(docs, func(d loader.Text) bool { return d.Begin() == begin })
		if at < 0 {
			return nil, errNoEdit
		}
		e.doc = docs[at]
		return e, nil
	}
	switch {
	case len(docs) > 1:
		return nil, errNoEdit // Helm reads the first only
	case len(docs) == 1:
		e.doc = docs[0]
	case !onlyComments(e.text):
		return nil, errNoEdit
	}
	return e, nil
}

func onlyComments(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && line != "---" {
			return false
		}
	}
	return true
}

// set is the edits that give the file the value at keys. A list that is grown
// gets items at its end, where it is written out; else value is the whole list.
// missing returns the value to write when the file holds no more of the way than
// the given keys.
func (e *valuesEditor) set(keys []string, value any, items []any, missing func(held []string) any) ([]finding.Edit, error) {
	if e.doc.Root == nil {
		return e.insertAtEnd(missing(keys[:1]), keys[0])
	}
	n := e.doc.Root
	var key *yaml.Node
	held := 0
	for held < len(keys) {
		if n.Kind == yaml.AliasNode || n.Anchor != "" && held > 0 {
			return nil, errAliased
		}
		k, v := ownMember(n, keys[held])
		if v == nil {
			break
		}
		key, n = k, v
		held++
	}
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return nil, errAliased
	}
	if held == len(keys) {
		if items != nil && n.Kind == yaml.SequenceNode && len(n.Content) > 0 {
			return e.appendItems(n, items)
		}
		return e.replaceValue(key, n, value)
	}
	if _, merged := ownMember(n, "<<"); merged != nil {
		return nil, errAliased // the key may be there by a merge
	}
	inner := missing(keys[:held+1])
	if n.Kind == yaml.MappingNode && len(n.Content) > 0 {
		return e.insertKey(n, keys[held], inner)
	}
	if !emptyNode(n) || held == 0 && n.Kind != yaml.MappingNode {
		return nil, errNoEdit
	}
	return e.replaceValue(key, n, map[string]any{keys[held]: inner})
}

// emptyNode reports whether a node holds nothing: null, {} or [].
func emptyNode(n *yaml.Node) bool {
	switch n.Kind {
	case yaml.ScalarNode:
		return n.Tag == "!!null"
	case yaml.MappingNode, yaml.SequenceNode:
		return len(n.Content) == 0
	}
	return false
}

// ownMember is a member that stands in the node itself, not one that a merge key
// brings in.
func ownMember(n *yaml.Node, name string) (key, value *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == name && n.Content[i].Kind == yaml.ScalarNode {
				key, value = n.Content[i], n.Content[i+1] // the last one counts
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(n.Content) {
			value = n.Content[i]
		}
	}
	return key, value
}

// replaceValue writes another value in the place of a node's.
func (e *valuesEditor) replaceValue(key, n *yaml.Node, value any) ([]finding.Edit, error) {
	start, end := e.doc.Start(n), e.doc.End(n)
	inline := e.inFlow(n)
	if scalar, ok := plainScalar(value); ok && !inline {
		if n.Kind != yaml.ScalarNode && !emptyNode(n) && n.Style&yaml.FlowStyle == 0 || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			return nil, errNoEdit
		}
		if start == end { // nothing stands there
			return e.afterKey(key, " "+scalar)
		}
		return []finding.Edit{replace(e.file, start, end, scalar)}, nil
	}
	if !emptyNode(n) && (n.Kind != yaml.ScalarNode && n.Style&yaml.FlowStyle == 0 || key == nil) || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return nil, errNoEdit
	}
	if inline || !emptyNode(n) && n.Kind != yaml.ScalarNode {
		text, err := flowText(value)
		if err != nil || start == end {
			return nil, errNoEdit
		}
		return []finding.Edit{replace(e.file, start, end, text)}, nil
	}
	if key == nil { // the whole file is {}
		if n != e.doc.Root {
			return nil, errNoEdit
		}
		block, err := e.block(value, 0)
		if err != nil {
			return nil, err
		}
		return []finding.Edit{replace(e.file, start, end, e.lines(strings.TrimSuffix(block, "\n")))}, nil
	}
	block, err := e.block(value, e.column(key)+e.style().step)
	if err != nil {
		return nil, err
	}
	return e.blockAfter(key, start, end, block)
}

// blockAfter puts a block below a key in the place of what stands on its line;
// a comment there stays where it is.
func (e *valuesEditor) blockAfter(key *yaml.Node, start, end int, block string) ([]finding.Edit, error) {
	colon, ok := e.colon(key)
	if !ok {
		return nil, errNoEdit
	}
	if start == end {
		start, end = colon, colon
	}
	lineEnd := e.lineEnd(end)
	block = e.lines("\n" + strings.TrimSuffix(block, "\n"))
	if strings.TrimSpace(e.text[end:lineEnd]) == "" {
		return []finding.Edit{replace(e.file, colon, lineEnd, block)}, nil
	}
	if strings.Contains(e.text[colon:start], "\n") || !strings.HasPrefix(strings.TrimSpace(e.text[end:lineEnd]), "#") {
		return nil, errNoEdit
	}
	edits := []finding.Edit{replace(e.file, lineEnd, lineEnd, block)}
	if colon < end {
		edits = append([]finding.Edit{replace(e.file, colon, end, "")}, edits...)
	}
	return edits, nil
}

// afterKey writes text behind a key's colon.
func (e *valuesEditor) afterKey(key *yaml.Node, text string) ([]finding.Edit, error) {
	if key == nil {
		return nil, errNoEdit
	}
	colon, ok := e.colon(key)
	if !ok {
		return nil, errNoEdit
	}
	return []finding.Edit{replace(e.file, colon, colon, text)}, nil
}

// colon is the offset just after a key's colon.
func (e *valuesEditor) colon(key *yaml.Node) (int, bool) {
	end := e.doc.End(key)
	rest := e.text[end:e.lineEnd(end)]
	i := strings.IndexByte(rest, ':')
	if i < 0 || strings.TrimSpace(rest[:i]) != "" {
		return 0, false
	}
	return end + i + 1, true
}

// insertKey adds a key to a mapping that has some.
func (e *valuesEditor) insertKey(n *yaml.Node, name string, value any) ([]finding.Edit, error) {
	if n.Style&yaml.FlowStyle != 0 {
		return e.insertFlow(n, map[string]any{name: value})
	}
	first := n.Content[0]
	column := e.column(first)
	block, err := e.block(map[string]any{name: value}, column)
	if err != nil {
		return nil, err
	}
	return e.blockBehind(n.Content[len(n.Content)-1], column, block)
}

// appendItems adds items to a list that has some.
func (e *valuesEditor) appendItems(n *yaml.Node, items []any) ([]finding.Edit, error) {
	if n.Style&yaml.FlowStyle != 0 {
		return e.insertFlow(n, items)
	}
	start := e.doc.Start(n.Content[0])
	line := e.lineStart(start)
	dash := line + len(e.text[line:start]) - len(strings.TrimLeft(e.text[line:start], " "))
	if !strings.HasPrefix(e.text[dash:], "-") {
		return nil, errNoEdit // nested lists on one line
	}
	list := valueNode(items)
	list.Style = 0
	block, err := blockOf(list, dash-line, e.style())
	if err != nil {
		return nil, err
	}
	if bullet := (place{text: e.doc, node: n}).bullet(); bullet != "- " {
		block = widened(block, dash-line, bullet)
	}
	return e.blockBehind(n.Content[len(n.Content)-1], dash-line, block)
}

// blockBehind writes lines after the last entry of a block, and after the
// comments that belong to it: those that are indented deeper than the block.
func (e *valuesEditor) blockBehind(last *yaml.Node, column int, block string) ([]finding.Edit, error) {
	end := e.doc.End(last)
	for end > 0 && (e.text[end-1] == '\n' || e.text[end-1] == '\r') {
		end-- // of a text with line breaks
	}
	at := e.lineEnd(end)
	for next := at; next < len(e.text); {
		next += len(lineBreakAt(e.text, next))
		stop := e.lineEnd(next)
		line := e.text[next:stop]
		trimmed := strings.TrimLeft(line, " ")
		if !strings.HasPrefix(trimmed, "#") || len(line)-len(trimmed) <= column {
			break
		}
		at, next = stop, stop
	}
	return []finding.Edit{replace(e.file, at, at, e.lines("\n"+strings.TrimSuffix(block, "\n")))}, nil
}

// insertFlow adds members to a collection in brackets.
func (e *valuesEditor) insertFlow(n *yaml.Node, members any) ([]finding.Edit, error) {
	text, err := flowText(members)
	if err != nil {
		return nil, err
	}
	end := e.doc.End(n) - 1
	if end < 0 || e.text[end] != '}' && e.text[end] != ']' {
		return nil, errNoEdit
	}
	at := end
	for at > 0 && strings.IndexByte(" \t\r\n", e.text[at-1]) >= 0 {
		at--
	}
	if at != end && strings.Contains(e.text[e.lineStart(at):at], "#") {
		return nil, errNoEdit // a comment before the bracket
	}
	text = text[1 : len(text)-1]
	if e.text[at-1] != ',' {
		text = ", " + text
	} else {
		text = " " + text
	}
	return []finding.Edit{replace(e.file, at, at, text)}, nil
}

// insertAtEnd writes the first value of a file without any.
func (e *valuesEditor) insertAtEnd(value any, name string) ([]finding.Edit, error) {
	block, err := e.block(map[string]any{name: value}, 0)
	if err != nil {
		return nil, err
	}
	if e.text != "" && !strings.HasSuffix(e.text, "\n") {
		block = "\n" + block
	}
	return []finding.Edit{replace(e.file, len(e.text), len(e.text), e.lines(block))}, nil
}

// inFlow reports whether a node stands inside brackets.
func (e *valuesEditor) inFlow(n *yaml.Node) bool {
	var look func(at *yaml.Node, flow bool) (bool, bool)
	look = func(at *yaml.Node, flow bool) (bool, bool) {
		if at == n {
			return flow, true
		}
		for _, c := range at.Content {
			if is, ok := look(c, flow || at.Style&yaml.FlowStyle != 0); ok {
				return is, true
			}
		}
		return false, false
	}
	flow, _ := look(e.doc.Root, false)
	return flow
}

func (e *valuesEditor) column(n *yaml.Node) int {
	start := e.doc.Start(n)
	return start - e.lineStart(start)
}

func (e *valuesEditor) lineStart(at int) int { return strings.LastIndexByte(e.text[:at], '\n') + 1 }

// lineEnd is the end of a line, before its break.
func (e *valuesEditor) lineEnd(at int) int {
	i := strings.IndexByte(e.text[at:], '\n')
	if i < 0 {
		return len(e.text)
	}
	if at+i > at && e.text[at+i-1] == '\r' {
		i--
	}
	return at + i
}

// lineBreakAt is the line break that begins at an offset.
func lineBreakAt(text string, at int) string {
	switch {
	case strings.HasPrefix(text[at:], "\r\n"):
		return "\r\n"
	case strings.HasPrefix(text[at:], "\n"):
		return "\n"
	}
	return ""
}

// lines gives new lines the breaks that the file has.
func (e *valuesEditor) lines(text string) string {
	if strings.Contains(e.text, "\r\n") {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// plainScalar is a value as it is written on a line, false for a collection but
// a short list of words.
func plainScalar(value any) (string, bool) {
	switch v := value.(type) {
	case map[string]any:
		return "", false
	case []any:
		if valueNode(v).Style&yaml.FlowStyle == 0 {
			return "", false
		}
	case string:
		if strings.Contains(v, "\n") {
			return "", false
		}
	}
	text, err := flowText(value)
	return text, err == nil
}

func flowText(value any) (string, error) {
	n := valueNode(value)
	n.Style |= yaml.FlowStyle
	text, err := encode(n, style{2, 2})
	return strings.TrimSuffix(text, "\n"), err
}

// style is how a file indents a mapping inside of a mapping, and a list.
type style struct{ step, dash int }

// style is the file's own.
func (e *valuesEditor) style() style {
	if e.doc.Root == nil {
		return style{2, 2}
	}
	step, dash := place{text: e.doc, node: e.doc.Root}.step()
	return style{step, dash}
}

// block writes a value as a block, every line indented.
func (e *valuesEditor) block(value any, indent int) (string, error) {
	return blockOf(valueNode(value), indent, e.style())
}

func blockOf(n *yaml.Node, indent int, as style) (string, error) {
	text, err := encode(n, as)
	if err != nil {
		return "", err
	}
	pad := strings.Repeat(" ", indent)
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(pad + line)
	}
	return b.String(), nil
}

// widened gives the items of a list another bullet than a dash and a blank.
func widened(block string, indent int, bullet string) string {
	var b strings.Builder
	for line := range strings.Lines(block) {
		lead, rest := line[:indent], line[indent:]
		if item, is := strings.CutPrefix(rest, "- "); is {
			b.WriteString(lead + bullet + item)
		} else {
			b.WriteString(lead + pad(len(bullet)-len("- ")) + rest)
		}
	}
	return b.String()
}

func encode(n *yaml.Node, as style) (string, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(as.step)
	if as.dash == 0 {
		enc.CompactSeqIndent()
	}
	if err := errors.Join(enc.Encode(n), enc.Close()); err != nil {
		return "", fmt.Errorf("writing a value: %w", err)
	}
	return b.String(), nil
}

// valueNode is a value with its keys in the order that people write: what names
// a thing first, the others by the alphabet. Short lists of words stand on a line.
func valueNode(value any) *yaml.Node {
	switch v := value.(type) {
	case map[string]any:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, key := range orderedKeys(v) {
			n.Content = append(n.Content, scalarNode(key), valueNode(v[key]))
		}
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		short := len(v) <= 4
		for _, item := range v {
			inner := valueNode(item)
			short = short && inner.Kind == yaml.ScalarNode
			n.Content = append(n.Content, inner)
		}
		if short {
			n.Style = yaml.FlowStyle
		}
		return n
	}
	return scalarNode(value)
}

func scalarNode(value any) *yaml.Node {
	n := &yaml.Node{}
	if err := n.Encode(value); err != nil {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: fmt.Sprint(value)}
	}
	return n
}

func orderedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	rank := func(key string) int {
		switch key {
		case "name":
			return 0
		case "image":
			return 1
		case "command":
			return 2
		}
		return 3
	}
	slices.SortFunc(keys, func(a, b string) int {
		if x, y := rank(a), rank(b); x != y {
			return x - y
		}
		return strings.Compare(a, b)
	})
	return keys
}
