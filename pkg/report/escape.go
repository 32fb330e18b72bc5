package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text of the user's files reaches terminals, log viewers and code hosts. A
// control sequence in it could recolour, hide or overwrite what stands beside
// it, a bidirectional override could make a line read otherwise than it is.
// Every format shows such characters instead of passing them on: terminals get
// \x1b or \u202e, JSON gets its own escape, which keeps the value intact.

// hidden reports whether a character would act on the reader's display instead
// of being shown: controls (ANSI's escape and NUL among them), bidirectional
// controls, line separators, and characters without any ink.
func hidden(r rune) bool {
	switch {
	case r == zeroWidthJoiner:
		// It shapes emoji and Indic scripts and cannot reorder anything.
		return false
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
		return true
	case r == '\u115f', r == '\u1160', r == '\u3164', r == '\uffa0':
		return true // Hangul fillers: letters without ink
	case unicode.Is(unicode.Co, r):
		return true // private use: whatever the font makes of it
	}
	return false
}

const zeroWidthJoiner = '\u200d'

// escapeRune spells a hidden character out.
func escapeRune(r rune) string {
	switch {
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	default:
		return fmt.Sprintf(`\U%08x`, r)
	}
}

// visible returns s with hidden characters and bytes that are no UTF-8 spelled
// out, in one line.
func visible(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r == utf8.RuneError || hidden(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case hidden(r):
			b.WriteString(escapeRune(r))
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// prose returns a message as one line of visible text: runs of blanks and line
// breaks become one space.
func prose(s string) string { return visible(strings.Join(strings.Fields(s), " ")) }

// Plain returns text of the user's as one line that does nothing but be read,
// for what is written beside reports.
func Plain(s string) string { return neutral(visible(s)) }

// writeJSON writes v indented, without HTML escaping, and with hidden
// characters as \u escapes, which leaves every value what it is.
func writeJSON(w io.Writer, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encoding the report: %w", err)
	}
	out := make([]byte, 0, buf.Len())
	// Such marks stand in strings only.
	for _, r := range strings.ReplaceAll(buf.String(), oldCommandMark, `#\u0023[`) {
		switch {
		case r == '\n' || !hidden(r):
			// Outside strings JSON has no other control than the line break, and
			// inside them encoding/json has escaped that.
			out = utf8.AppendRune(out, r)
		case r <= 0xffff:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		}
	}
	_, err := w.Write(out)
	return writing(err)
}
