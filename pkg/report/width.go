package report

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Widths are counted in terminal cells and never depend on the locale:
// ambiguous East Asian characters count one cell.

// tabWidth is the distance of tab stops in excerpts.
const tabWidth = 4

// narrow holds the options of the width tables.
func narrow() displaywidth.Options { return displaywidth.Options{EastAsianWidth: false} }

func widthOf(s string) int { return narrow().String(s) }

// cell is one user-perceived character of a line and what is shown for it.
type cell struct {
	shows string
	width int // terminal cells
	runes int // code points of the source that it stands for
}

// cells splits a line of a file into what a terminal shows for it: tabs become
// blanks up to the next stop, hidden characters and broken UTF-8 are spelled
// out.
func cells(line string) []cell {
	out := make([]cell, 0, len(line))
	column := 0
	add := func(shows string, width, runes int) {
		out = append(out, cell{shows: shows, width: width, runes: runes})
		column += width
	}
	graphemes := narrow().StringGraphemes(line)
	for graphemes.Next() {
		g := graphemes.Value()
		switch {
		case g == "\t":
			n := tabWidth - column%tabWidth
			add(strings.Repeat(" ", n), n, 1)
		case visible(g) == g:
			add(g, graphemes.Width(), utf8.RuneCountInString(g))
		default:
			// Spelled out one by one, so that every column keeps its cells.
			for i := 0; i < len(g); {
				_, size := utf8.DecodeRuneInString(g[i:])
				shows := visible(g[i : i+size])
				add(shows, widthOf(shows), 1)
				i += size
			}
		}
	}
	return out
}

// wrap breaks visible text into lines of at most width cells. It breaks at
// blanks; a word longer than a line is broken after a slash, comma, dot or
// dash where there is one, else anywhere between two characters.
func wrap(text string, width int) []string {
	width = max(width, 8)
	var lines []string
	var line strings.Builder
	used := 0
	flush := func() {
		lines = append(lines, line.String())
		line.Reset()
		used = 0
	}
	for word := range strings.SplitSeq(text, " ") {
		if word == "" {
			continue
		}
		w := widthOf(word)
		if used > 0 && used+1+w <= width {
			line.WriteByte(' ')
			line.WriteString(word)
			used += 1 + w
			continue
		}
		if used > 0 {
			flush()
		}
		for w > width {
			head, tail := splitWord(word, width)
			line.WriteString(head)
			flush()
			word, w = tail, w-widthOf(head) // counting the tail anew would take the square of its length
		}
		line.WriteString(word)
		used = w
	}
	if used > 0 || len(lines) == 0 {
		flush()
	}
	return lines
}

// splitWord cuts a word that is wider than width cells, behind a slash where
// it can, else behind other punctuation, and inside no address or range if there
// is any other place; head is never empty.
func splitWord(word string, width int) (head, tail string) {
	graphemes := narrow().StringGraphemes(word)
	used, end, slash, other := 0, 0, 0, 0
	for graphemes.Next() {
		if used += graphemes.Width(); used > width && end > 0 {
			break
		}
		g := graphemes.Value()
		end += len(g)
		if used <= width/3 || insideRange(word, end) {
			continue
		}
		switch g {
		case "/":
			slash = end
		case ",", ".", "-", "_", ":", "=":
			other = end
		}
	}
	if slash > 0 {
		end = slash
	} else if other > 0 {
		end = other
	}
	return word[:end], word[end:]
}

// insideRange reports whether a line that ends before end would break an address, a
// range or a version: between two digits and at the colons of IPv6.
func insideRange(word string, end int) bool {
	isDigit := func(i int) bool { return i >= 0 && i < len(word) && word[i] >= '0' && word[i] <= '9' }
	before, after := word[:end], word[end:]
	if strings.HasSuffix(before, ":") && (strings.HasPrefix(after, "/") || strings.HasPrefix(after, ":")) || strings.HasSuffix(before, ":/") && isDigit(end) {
		return true
	}
	return isDigit(end) && isDigit(end-2) && word[end-1] != ','
}

// wrapCommand breaks a line of shell at blanks outside of quotes, with the
// backslash that lets the shell read on. A word that is wider stays whole.
func wrapCommand(line string, width int) []string {
	const more = ` \`
	words := withOptions(shellWords(line))
	if widthOf(line) <= width || len(words) == 0 {
		return []string{line}
	}
	var lines []string
	current := words[0]
	for _, word := range words[1:] {
		if widthOf(current)+1+widthOf(word)+len(more) <= width {
			current += " " + word
			continue
		}
		lines = append(lines, current+more)
		current = word
	}
	return append(lines, current)
}

// withOptions joins what reads as one: an option and its value, -- and a program.
func withOptions(words []string) []string {
	var out []string
	for _, word := range words {
		last := len(out) - 1
		if last >= 0 && strings.HasPrefix(out[last], "-") && !strings.ContainsAny(out[last], " =") && !strings.HasPrefix(word, "-") {
			out[last] += " " + word
			continue
		}
		out = append(out, word)
	}
	return out
}

// shellWords splits at blanks that stand in no quotes and behind no backslash. A
// comment is one word: what is broken off it would be run.
func shellWords(line string) []string {
	var words []string
	var quote rune
	start, escaped := 0, false
	for i, r := range line {
		switch {
		case escaped:
			escaped = false
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == '#' && i == start:
			return append(words, line[i:])
		case r == ' ':
			if i > start {
				words = append(words, line[start:i])
			}
			start = i + 1
		}
	}
	if start < len(line) {
		words = append(words, line[start:])
	}
	return words
}
