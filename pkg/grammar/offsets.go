package grammar

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// nodeOffsets turns the lines and columns of yaml nodes into byte offsets.
type nodeOffsets struct {
	text  string
	lines []int // byte offset of the start of each line
}

// newNodeOffsets counts lines as the YAML scanner does: it also breaks at CR,
// NEL, LS and PS.
func newNodeOffsets(text string) *nodeOffsets {
	o := &nodeOffsets{text: text, lines: []int{0}}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		switch r {
		case '\r':
			if i < len(text) && text[i] == '\n' {
				i++
			}
		case '\n', '\u0085', '\u2028', '\u2029':
		default:
			continue
		}
		o.lines = append(o.lines, i)
	}
	return o
}

// offset returns the byte offset of a node's first character, within the text.
func (o *nodeOffsets) offset(line, column int) int {
	if line < 1 {
		return 0
	}
	if line > len(o.lines) {
		return len(o.text)
	}
	at := o.lines[line-1]
	for c := 1; c < column && at < len(o.text); c++ {
		_, n := utf8.DecodeRuneInString(o.text[at:])
		at += n
	}
	return at
}

// rangeOf returns where a node stands. A node without a place (an absent value)
// has an empty range.
func (o *nodeOffsets) rangeOf(n *yaml.Node) Range {
	start := o.offset(n.Line, n.Column)
	end := start
	switch n.Kind {
	case yaml.ScalarNode:
		end = o.scalarEnd(n, start)
	case yaml.AliasNode:
		end = start + 1 + len(n.Value)
	case yaml.SequenceNode, yaml.MappingNode:
		for _, c := range n.Content {
			end = max(end, o.rangeOf(c).End)
		}
		if n.Style&yaml.FlowStyle != 0 {
			end = o.flowEnd(n, end)
		}
	}
	return Range{start, min(max(end, start), len(o.text))}
}

func (o *nodeOffsets) scalarEnd(n *yaml.Node, start int) int {
	rest := o.text[start:]
	// A tag or an anchor stands before the value; the node begins at it.
	for strings.HasPrefix(rest, "!") || strings.HasPrefix(rest, "&") {
		i := strings.IndexAny(rest, " \t\r\n")
		if i < 0 {
			return len(o.text)
		}
		rest = strings.TrimLeft(rest[i:], " \t\r\n")
	}
	at := len(o.text) - len(rest)
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0 && strings.HasPrefix(rest, `"`):
		for i := 1; i < len(rest); i++ {
			switch rest[i] {
			case '\\':
				i++
			case '"':
				return at + i + 1
			}
		}
		return len(o.text)
	case n.Style&yaml.SingleQuotedStyle != 0 && strings.HasPrefix(rest, "'"):
		for i := 1; i < len(rest); i++ {
			if rest[i] != '\'' {
				continue
			}
			if i+1 < len(rest) && rest[i+1] == '\'' {
				i++
				continue
			}
			return at + i + 1
		}
		return len(o.text)
	case strings.HasPrefix(rest, n.Value):
		return at + len(n.Value)
	}
	// A block scalar or a plain one over several lines: to the end of its line.
	if i := strings.IndexAny(rest, "\r\n"); i >= 0 {
		return at + i
	}
	return len(o.text)
}

// flowEnd finds the bracket that closes a flow collection, skipping white
// space, comments and a trailing comma after its last item.
func (o *nodeOffsets) flowEnd(n *yaml.Node, at int) int {
	closing := byte(']')
	if n.Kind == yaml.MappingNode {
		closing = '}'
	}
	if len(n.Content) == 0 {
		at++
	}
	for at < len(o.text) {
		switch c := o.text[at]; {
		case c == closing:
			return at + 1
		case c == '#':
			i := strings.IndexByte(o.text[at:], '\n')
			if i < 0 {
				return len(o.text)
			}
			at += i
		case isSpace(c) || c == ',':
			at++
		default:
			return at
		}
	}
	return len(o.text)
}
