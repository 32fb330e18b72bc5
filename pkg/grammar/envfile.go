package grammar

import "strings"

// KeyValue is one assignment of a variable file.
type KeyValue struct {
	// Range is that of the assignment, from the name on.
	Range
	Key   string
	Value Word
	// List holds the elements of a bash array: OVPN_ROUTES=([0]="10.0.0.0/8").
	// Value is then the text between the parentheses.
	List   []Word
	IsList bool
	// Known: the value holds no variable or command substitution, and no
	// placeholder.
	Known bool
}

// ParseEnvFile reads assignments as they stand in .env files, settings.sh and
// what `declare -x` prints (ovpn_env.sh): an optional export, declare, readonly,
// local or typeset with options, single and double quotes, values over several
// lines in quotes, bash arrays. Lines that assign nothing are passed over; an
// unquoted value runs to the end of the line as it does in .env files, without
// a trailing comment.
func ParseEnvFile(text string) []KeyValue {
	var out []KeyValue
	for at := 0; at < len(text); {
		kv, next, ok := assignment(text, at)
		if ok {
			out = append(out, kv)
		}
		at = max(next, at+1)
	}
	return out
}

// assignment reads the statement at the start of a line and returns where the
// next line starts.
func assignment(text string, at int) (kv KeyValue, next int, ok bool) {
	lineEnd := len(text)
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		lineEnd = at + i
	}
	next = lineEnd + 1
	start, end := trimRange(text, at, lineEnd)
	for {
		word := text[start:end]
		if i := strings.IndexAny(word, " \t"); i >= 0 {
			word = word[:i]
		}
		switch {
		case word == "export" || word == "declare" || word == "readonly" || word == "local" || word == "typeset" || word == "set",
			strings.HasPrefix(word, "-") && start > at:
			start, _ = trimRange(text, start+len(word), end)
			if word != "" && start < end {
				continue
			}
		}
		break
	}
	nameEnd := start
	for nameEnd < end && isNameByte(text[nameEnd], nameEnd > start) {
		nameEnd++
	}
	if nameEnd == start || nameEnd >= end || text[nameEnd] != '=' {
		return KeyValue{}, next, false
	}
	kv = KeyValue{Key: text[start:nameEnd]}
	valueAt := nameEnd + 1
	if valueAt < len(text) && text[valueAt] == '(' {
		after := kv.array(text, valueAt)
		kv.Range = Range{start, after}
		return kv, nextLine(text, after), true
	}
	after := kv.scalar(text, valueAt, end)
	kv.Range = Range{start, after}
	return kv, nextLine(text, after), true
}

// scalar reads the value at offset at; lineEnd ends an unquoted one. It returns
// the offset after the value.
func (kv *KeyValue) scalar(text string, at, lineEnd int) int {
	value, after, known, quoted := shellWord(text, at, lineEnd)
	if !quoted {
		// Not shell: the rest of the line belongs to the value.
		rest := text[at:lineEnd]
		if i := strings.Index(rest, " #"); i >= 0 {
			rest = rest[:i]
		}
		rest = strings.TrimRight(rest, " \t\r")
		value, after = rest, at+len(rest)
		known = !strings.ContainsAny(rest, "$`")
	}
	from, to := at, after
	if quoted && after-at >= 2 && (text[at] == '"' || text[at] == '\'') && text[after-1] == text[at] {
		from, to = at+1, after-1
	}
	kv.Value = Word{Range: Range{from, to}, Text: value, Unknown: placeholder(value) != ""}
	kv.Known = known && !kv.Value.Unknown
	return after
}

// array reads ( ... ) at offset at and returns the offset after it.
func (kv *KeyValue) array(text string, at int) int {
	kv.IsList, kv.Known = true, true
	i := at + 1
	for i < len(text) && text[i] != ')' {
		if isSpace(text[i]) {
			i++
			continue
		}
		if text[i] == '#' {
			i = nextLine(text, i)
			continue
		}
		start := i
		if text[i] == '[' {
			if j := strings.Index(text[i:], "]="); j >= 0 && !strings.ContainsAny(text[i:i+j], "\n)") {
				start = i + j + 2
			}
		}
		value, after, known, quoted := shellWord(text, start, len(text))
		from, to := start, after
		if quoted && after-start >= 2 && (text[start] == '"' || text[start] == '\'') && text[after-1] == text[start] {
			from, to = start+1, after-1
		}
		w := Word{Range: Range{from, to}, Text: value, Unknown: placeholder(value) != ""}
		kv.List = append(kv.List, w)
		kv.Known = kv.Known && known && !w.Unknown
		i = max(after, i+1)
	}
	end := min(i, len(text))
	kv.Value = Word{Range: Range{min(at+1, end), end}, Text: text[min(at+1, end):end]}
	return min(end+1, len(text))
}

// shellWord reads one word with its quotes from offset at, at most to limit
// when unquoted; quotes may run on over lines. quoted tells whether it begins
// with a quotation mark.
func shellWord(text string, at, limit int) (value string, after int, known, quoted bool) {
	var b strings.Builder
	known = true
	quoted = at < limit && (text[at] == '"' || text[at] == '\'')
	i := at
	for i < len(text) {
		switch c := text[i]; {
		case c == '\'':
			end := strings.IndexByte(text[i+1:], '\'')
			if end < 0 {
				b.WriteString(text[i+1:])
				return b.String(), len(text), false, quoted
			}
			b.WriteString(text[i+1 : i+1+end])
			i += end + 2
		case c == '"':
			end, plain := doubleQuoted(&b, text, i+1)
			if end >= len(text) {
				return b.String(), len(text), false, quoted
			}
			known = known && plain
			i = end + 1
		case c == '\\' && i+1 < limit:
			b.WriteByte(text[i+1])
			i += 2
		case i >= limit || isSpace(c) || c == ')' || c == ';':
			return b.String(), i, known, quoted
		default:
			if c == '$' || c == '`' {
				known = false
			}
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), min(i, len(text)), known, quoted
}

// doubleQuoted writes what stands between quotation marks from offset at, and
// returns the offset of the closing one; plain: nothing in it is expanded.
func doubleQuoted(b *strings.Builder, text string, at int) (end int, plain bool) {
	plain = true
	i := at
	for i < len(text) && text[i] != '"' {
		switch {
		case text[i] == '\\' && i+1 < len(text) && strings.IndexByte("\\\"$`\n", text[i+1]) >= 0:
			i++
			if text[i] != '\n' {
				b.WriteByte(text[i])
			}
		case text[i] == '$' || text[i] == '`':
			plain = false
			b.WriteByte(text[i])
		default:
			b.WriteByte(text[i])
		}
		i++
	}
	return i, plain
}

func nextLine(text string, at int) int {
	if at >= len(text) {
		return len(text)
	}
	i := strings.IndexByte(text[at:], '\n')
	if i < 0 {
		return len(text)
	}
	return at + i + 1
}

func isNameByte(c byte, digit bool) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || digit && c >= '0' && c <= '9'
}
