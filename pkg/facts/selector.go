package facts

import (
	"strings"
)

// and, or and not are Kleene's operators: what is unknown decides nothing
// unless the other side decides alone.
func and(a, b Known) Known {
	switch {
	case a == Absent || b == Absent:
		return Absent
	case a == Present && b == Present:
		return Present
	default:
		return Unknown
	}
}

func or(a, b Known) Known { return not(and(not(a), not(b))) }

func not(a Known) Known {
	switch a {
	case Present:
		return Absent
	case Absent:
		return Present
	default:
		return Unknown
	}
}

func answer(b bool) Known {
	if b {
		return Present
	}
	return Absent
}

// selects evaluates a label selector. An empty or missing selector selects
// everything; the caller knows where a missing one selects nothing.
func selects(selector node, labels map[string]string) Known {
	return selectsKeys(selector, labels, func(key string) string { return key })
}

// selectsKeys evaluates a label selector whose keys are first rewritten.
func selectsKeys(selector node, labels map[string]string, rewrite func(string) string) Known {
	result := Present
	match := selector.get("matchLabels")
	for _, key := range match.keys() {
		want, is := match.get(key).str()
		if !is || placeholder(want) != "" {
			result = and(result, Unknown)
			continue
		}
		got, has := labels[rewrite(key)]
		result = and(result, answer(has && got == want))
	}
	for _, expr := range selector.get("matchExpressions").items() {
		result = and(result, matchExpression(expr, labels, rewrite))
	}
	return result
}

func matchExpression(expr node, labels map[string]string, rewrite func(string) string) Known {
	got, has := labels[rewrite(expr.get("key").text())]
	in := false
	for _, v := range expr.get("values").texts() {
		in = in || has && v.text() == got
	}
	switch expr.get("operator").text() {
	case "In":
		return answer(in)
	case "NotIn":
		return answer(!in)
	case "Exists":
		return answer(has)
	case "DoesNotExist":
		return answer(!has)
	default:
		return Unknown
	}
}

// equalitySelector evaluates a Service's selector, a plain map.
func equalitySelector(selector node, labels map[string]string) bool {
	keys := selector.keys()
	for _, key := range keys {
		want, is := selector.get(key).str()
		if got, has := labels[key]; !is || !has || got != want {
			return false
		}
	}
	return len(keys) > 0
}

// calicoSelects evaluates a Calico selector expression such as
// "role == 'db' && has(tier)". What is not understood is Unknown.
func calicoSelects(expression string, labels map[string]string) Known {
	s := &calicoSelector{tokens: calicoTokens(expression), labels: labels}
	if len(s.tokens) == 0 {
		return Present
	}
	result := s.disjunction(0)
	if s.at != len(s.tokens) {
		return Unknown
	}
	return result
}

type calicoSelector struct {
	tokens []string
	at     int
	labels map[string]string
}

// calicoTokens splits a selector; string literals keep their opening quote.
func calicoTokens(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		switch ch := s[i]; {
		case ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r':
			i++
		case ch == '\'' || ch == '"':
			end := strings.IndexByte(s[i+1:], ch)
			if end < 0 {
				return append(out, s[i:])
			}
			out = append(out, "'"+s[i+1:i+1+end])
			i += end + 2
		case strings.HasPrefix(s[i:], "&&"), strings.HasPrefix(s[i:], "||"), strings.HasPrefix(s[i:], "=="), strings.HasPrefix(s[i:], "!="):
			out = append(out, s[i:i+2])
			i += 2
		case strings.ContainsRune("!(){},", rune(ch)):
			out = append(out, string(ch))
			i++
		default:
			end := i
			for end < len(s) && !strings.ContainsRune(" \t\r\n'\"!(){},&|=", rune(s[end])) {
				end++
			}
			if end == i {
				end++
			}
			out = append(out, s[i:end])
			i = end
		}
	}
	return out
}

func (s *calicoSelector) peek() string {
	if s.at < len(s.tokens) {
		return s.tokens[s.at]
	}
	return ""
}

func (s *calicoSelector) accept(token string) bool {
	if s.peek() != token || s.at >= len(s.tokens) {
		return false
	}
	s.at++
	return true
}

// disjunction and the functions below descend the grammar; depth bounds what a
// hostile expression can cost.
func (s *calicoSelector) disjunction(depth int) Known {
	result := s.conjunction(depth)
	for s.accept("||") {
		result = or(result, s.conjunction(depth))
	}
	return result
}

func (s *calicoSelector) conjunction(depth int) Known {
	result := s.operand(depth)
	for s.accept("&&") {
		result = and(result, s.operand(depth))
	}
	return result
}

func (s *calicoSelector) operand(depth int) Known {
	const maxDepth = 50
	if depth > maxDepth {
		s.at = len(s.tokens) + 1
		return Unknown
	}
	switch {
	case s.accept("!"):
		return not(s.operand(depth + 1))
	case s.accept("("):
		result := s.disjunction(depth + 1)
		return s.closing(result)
	case s.accept("all"):
		return s.call(Present)
	case s.accept("global"):
		return s.call(Unknown)
	case s.accept("has"):
		if !s.accept("(") {
			return Unknown
		}
		_, has := s.labels[s.peek()]
		s.at++
		return s.closing(answer(has))
	}
	key := s.peek()
	s.at++
	got, has := s.labels[key]
	switch {
	case s.accept("=="):
		want, ok := s.literal()
		return s.unless(ok, answer(has && got == want))
	case s.accept("!="):
		want, ok := s.literal()
		return s.unless(ok, answer(!has || got != want))
	case s.accept("in"):
		return s.set(has, got)
	case s.accept("not"):
		if s.accept("in") {
			return not(s.set(has, got))
		}
	}
	return Unknown
}

func (s *calicoSelector) unless(ok bool, result Known) Known {
	if !ok {
		return Unknown
	}
	return result
}

func (s *calicoSelector) call(result Known) Known {
	if !s.accept("(") {
		return Unknown
	}
	return s.closing(result)
}

func (s *calicoSelector) closing(result Known) Known {
	if !s.accept(")") {
		return Unknown
	}
	return result
}

func (s *calicoSelector) literal() (string, bool) {
	token := s.peek()
	if !strings.HasPrefix(token, "'") {
		return "", false
	}
	s.at++
	return token[1:], true
}

func (s *calicoSelector) set(has bool, got string) Known {
	if !s.accept("{") {
		return Unknown
	}
	in := false
	for !s.accept("}") {
		want, ok := s.literal()
		if !ok {
			return Unknown
		}
		in = in || has && want == got
		s.accept(",")
	}
	return answer(in)
}
