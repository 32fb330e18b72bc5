package suppress

import (
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/pkg/suggest"
)

// marker is what a comment that suppresses starts with.
const marker = "vpnlint:ignore"

// nearMarker is the start of a comment that may be meant for a marker: the word
// behind vpnlint's name and a rule's id behind that.
var nearMarker = regexp.MustCompile(`^(?i)vpnlint\s*[:=_-]\s*([a-z]+)(?:[-_](?:next-?|this-?)?line)?[:=]?\s*(vpn[-_]?[0-9]\w*)`)

// meantWords are what other tools write, and what the marker's own word is misspelt as.
var meantWords = []string{"ignore", "disable", "skip", "nolint", "noqa", "allow", "suppress", "off"}

// comment is a suppressing comment of a text:
//
//	# vpnlint:ignore VPN301,VPN304 -- reason
//	{{- /* vpnlint:ignore VPN301 -- reason */ -}}
type comment struct {
	rules  []string
	reason string
	// instead is what stands where the marker and the rule should, "" where they do.
	instead string
	span    source.Span
	// governs are the lines it speaks of: its own and, when it stands alone, the
	// next line that is no comment.
	governs [2]int
}

// comments finds the suppressing comments of a YAML text or a template of one.
// It reads lines and not the YAML: a template is none, and a text that does not
// parse has comments all the same. What stands in a quoted string or a template
// action is no comment; what stands in a block scalar is one if the language
// there has such comments.
func comments(f *source.File) []comment {
	if !strings.Contains(f.Text(), "pnlint") && !strings.Contains(f.Text(), "PNLINT") {
		return nil
	}
	var (
		found []comment
		alone []int // of found: they wait for the line below
		s     = scanner{block: -1}
	)
	start := 0
	for n := 1; n <= f.Lines(); n++ {
		line := f.Line(n)
		l := s.line(line, f.Text()[start:])
		for _, text := range l.comments {
			c, ok := parseComment(line[text.start:text.end])
			if !ok {
				continue
			}
			c.governs[0] = n
			c.span = source.Span{
				Start: source.Position{Line: n, Column: 1 + utf8.RuneCountInString(line[:text.start])},
				End:   source.Position{Line: n, Column: 1 + utf8.RuneCountInString(line[:text.end])},
			}
			if !l.code {
				alone = append(alone, len(found))
			}
			found = append(found, c)
		}
		switch {
		case l.code:
			for _, i := range alone {
				found[i].governs[1] = n
			}
			alone = nil
		case len(l.comments) == 0: // a blank line: what stands above is about nothing
			alone = nil
		}
		if next := strings.IndexByte(f.Text()[start:], '\n'); next >= 0 {
			start += next + 1
		}
	}
	return found
}

// parseComment reads the text of a comment, with or without its own signs.
func parseComment(text string) (comment, bool) {
	text = strings.TrimLeft(text, "#{-/* \t")
	after, ok := strings.CutPrefix(text, marker)
	if !ok || after != "" && !isBlank(after[0]) {
		near := nearMarker.FindStringSubmatch(text)
		if len(near) == 0 || suggest.Nearest(near[1], meantWords) == "" {
			return comment{}, false
		}
		return comment{rules: []string{near[2]}, instead: near[0]}, true
	}
	text = after
	if inside, _, ok := strings.Cut(text, "*/"); ok {
		text = inside
	}
	list, reason, _ := strings.Cut(text, "--")
	return comment{rules: ids(list), reason: strings.TrimSpace(strings.TrimLeft(reason, "-"))}, true
}

// ids reads a list of rules, which ends where no comma follows.
func ids(list string) []string {
	var out []string
	for item := range strings.SplitSeq(list, ",") {
		words := strings.Fields(item)
		if len(words) == 0 {
			continue
		}
		out = append(out, words[0])
		if len(words) > 1 {
			break
		}
	}
	return out
}

// scanner keeps what one line tells about the next.
type scanner struct {
	quote   byte // of a quoted scalar that is open
	action  bool // a template action is open
	comment bool // a template comment is open
	// block is the indent of the node whose block scalar is open, -1 for none.
	block int
	// hash: the block scalar's language has comments that start with #. Its key
	// says so, or its first line.
	hash, undecided bool
}

// scanned is what stands on a line.
type scanned struct {
	comments []struct{ start, end int } // byte offsets
	code     bool                       // something that is no comment
}

// line scans a line; rest is the text from its start on.
func (s *scanner) line(line, rest string) scanned {
	trimmed := strings.TrimSpace(line)
	control := strings.HasPrefix(trimmed, "{{") && strings.HasSuffix(trimmed, "}}")
	indent := len(line) - len(strings.TrimLeft(line, " "))
	if s.block >= 0 && trimmed != "" && !control && !s.action && !s.comment && indent <= s.block {
		s.block = -1
	}
	if s.block >= 0 && s.undecided && trimmed != "" && !control {
		s.hash, s.undecided = hasHash(trimmed), false
	}
	var out scanned
	var plain strings.Builder // the line without comments, strings and actions
	open := true              // a quote here would open a quoted scalar
	for i := 0; i < len(line); {
		switch {
		case s.comment:
			end := strings.Index(line[i:], "*/")
			if end < 0 {
				end = len(line) - i
			} else {
				s.comment, s.action = false, true
			}
			out.comments = append(out.comments, struct{ start, end int }{i, i + end})
			i += end
			if s.action {
				i += len("*/")
				// Its own closing braces are no code.
				if after, ok := strings.CutPrefix(strings.TrimLeft(line[i:], " \t-"), "}}"); ok {
					s.action, i = false, len(line)-len(after)
				}
			}
		case s.action:
			out.code = true
			i += s.inAction(line[i:])
		case s.quote != 0:
			out.code = true
			i += s.inQuote(line[i:])
		case strings.HasPrefix(line[i:], "{{"):
			body := strings.TrimLeft(line[i+2:], "- \t")
			if strings.HasPrefix(body, "/*") {
				s.comment = true
				i = len(line) - len(body) + len("/*")
				break
			}
			s.action, out.code, open = true, true, false
			plain.WriteByte('x')
			i += 2
		case line[i] == '#' && (i == 0 || isBlank(line[i-1]) || strings.HasSuffix(line[:i], "}}")) && (s.block < 0 || s.hash):
			out.comments = append(out.comments, struct{ start, end int }{i, len(line)})
			i = len(line)
		case (line[i] == '"' || line[i] == '\'') && open && s.opens(line[i:], rest[min(i, len(rest)):]):
			s.quote, out.code, open = line[i], true, false
			plain.WriteByte('x')
			i++
		default:
			c := line[i]
			if !isBlank(c) {
				out.code = true
				open = c == '[' || c == '{' || c == ',' || c == '(' ||
					(c == ':' || c == '-' || c == '?') && i+1 < len(line) && isBlank(line[i+1])
			}
			plain.WriteByte(c)
			i++
		}
	}
	if s.block < 0 && s.quote == 0 {
		s.header(plain.String())
	}
	return out
}

// opens reports whether the quote at the start of line opens a string. In a
// block scalar strings end on their line, and a quote that is never closed is
// none.
func (s *scanner) opens(line, rest string) bool {
	quote := line[:1]
	if s.block >= 0 {
		return strings.Contains(line[1:], quote)
	}
	return strings.Contains(rest[1:], quote)
}

// inQuote returns how many bytes of the line belong to the open quoted scalar.
func (s *scanner) inQuote(line string) int {
	for i := 0; i < len(line); i++ {
		switch {
		case s.quote == '"' && line[i] == '\\':
			i++
		case line[i] == s.quote && s.quote == '\'' && strings.HasPrefix(line[i+1:], "'"):
			i++
		case line[i] == s.quote:
			s.quote = 0
			return i + 1
		}
	}
	if s.block >= 0 {
		s.quote = 0
	}
	return len(line)
}

// inAction returns how many bytes of the line belong to the open action.
func (s *scanner) inAction(line string) int {
	var quote byte
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote == '"' && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '`':
			quote = c
		case strings.HasPrefix(line[i:], "}}"):
			s.action = false
			return i + 2
		}
	}
	return len(line)
}

// header notices that a line opens a block scalar.
func (s *scanner) header(line string) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return
	}
	last := words[len(words)-1]
	if last[0] != '|' && last[0] != '>' || strings.Trim(last[1:], "+-123456789") != "" || len(last) > 3 {
		return
	}
	words = words[:len(words)-1]
	for len(words) > 0 && (words[len(words)-1][0] == '!' || words[len(words)-1][0] == '&') {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return
	}
	key := words[len(words)-1]
	if key != "-" && !strings.HasSuffix(key, ":") {
		return
	}
	s.block = nodeIndent(line)
	s.hash, s.undecided = true, true
	switch strings.ToLower(path.Ext(strings.Trim(strings.TrimSuffix(key, ":"), `"'`))) {
	case ".json", ".conflist", ".md", ".html", ".xml", ".js", ".css", ".pem", ".crt", ".key", ".csr", ".txt", ".go", ".lua", ".sql":
		s.hash, s.undecided = false, false
	}
}

// nodeIndent returns the indent of the mapping or list that a line's last key
// belongs to: "- - key: |" is two lists deep.
func nodeIndent(line string) int {
	i := len(line) - len(strings.TrimLeft(line, " "))
	for strings.HasPrefix(line[i:], "- ") {
		rest := strings.TrimLeft(line[i+1:], " ")
		if rest == "" || rest[0] == '|' || rest[0] == '>' || rest[0] == '!' || rest[0] == '&' {
			return i
		}
		i = len(line) - len(rest)
	}
	return i
}

// hasHash tells by a text's first line whether # starts comments in it: not in
// JSON, XML or PEM.
func hasHash(first string) bool {
	switch first[0] {
	case '{', '<':
		return false
	case '[':
		return len(first) > 1 && !strings.ContainsAny(first[1:2], "{[\"0123456789]")
	default:
		return !strings.HasPrefix(first, "-----BEGIN ")
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
