package loader

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// nodeError is a node that has no value in Kubernetes' eyes.
type nodeError struct {
	node *yaml.Node
	msg  string
}

func (e *nodeError) Error() string { return e.msg }

// builder turns a node tree into values as sigs.k8s.io/yaml would decode the
// same text (YAML 1.1: on is true, 0755 is octal), without parsing it twice.
// The tests hold it against that library.
type builder struct {
	limits      Limits
	aliasBudget int
	inAlias     int
	open        map[*yaml.Node]bool // aliases being expanded

	duplicates []*yaml.Node // keys that a later one of the same mapping replaces
	tagged     bool         // an explicit tag occurs: ask the library for the values
}

func (b *builder) value(n *yaml.Node, depth int) (any, error) {
	if depth > b.limits.Depth {
		return nil, &nodeError{n, b.limits.tooDeep()}
	}
	if b.inAlias > 0 {
		if b.aliasBudget--; b.aliasBudget < 0 {
			return nil, &nodeError{n, fmt.Sprintf("its aliases expand to more than the limit of %d nodes (an alias bomb?); raise --limit-alias-nodes if that is meant", b.limits.AliasNodes)}
		}
	}
	if n.Style&yaml.TaggedStyle != 0 {
		b.tagged = true
	}
	switch n.Kind {
	case yaml.ScalarNode:
		v := scalarValue(n)
		if f, ok := v.(float64); ok {
			return number(n, f)
		}
		return v, nil
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			v, err := b.value(c, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case yaml.MappingNode:
		out := make(map[string]any, len(n.Content)/2)
		if err := b.mapping(n, out, depth); err != nil {
			return nil, err
		}
		return out, nil
	case yaml.AliasNode:
		var out any
		err := b.expand(n, func(target *yaml.Node) (err error) {
			out, err = b.value(target, depth+1)
			return err
		})
		return out, err
	default:
		return nil, &nodeError{n, "unknown kind of YAML node"}
	}
}

// number maps a float to what is left of it after the way through JSON.
func number(n *yaml.Node, f float64) (any, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, &nodeError{n, fmt.Sprintf("%s is no number that JSON, and so Kubernetes, can hold; quote it if a string is meant", n.Value)}
	}
	if f == math.Trunc(f) {
		if i, err := strconv.ParseInt(strconv.FormatFloat(f, 'f', -1, 64), 10, 64); err == nil {
			return i, nil
		}
	}
	return f, nil
}

// expand calls use with the node that an alias stands for.
func (b *builder) expand(n *yaml.Node, use func(*yaml.Node) error) error {
	if n.Alias == nil || b.open[n.Alias] {
		return &nodeError{n, fmt.Sprintf("the anchor %q contains itself", n.Value)}
	}
	if b.open == nil {
		b.open = map[*yaml.Node]bool{}
	}
	b.open[n.Alias] = true
	b.inAlias++
	err := use(n.Alias)
	b.inAlias--
	delete(b.open, n.Alias)
	var ne *nodeError
	if b.inAlias == 0 && errors.As(err, &ne) {
		ne.node = n // what a reader can act on is the alias
	}
	return err
}

func (b *builder) mapping(n *yaml.Node, out map[string]any, depth int) error {
	var own map[string]*yaml.Node
	if len(n.Content) > 2 {
		own = make(map[string]*yaml.Node, len(n.Content)/2)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if isMergeKey(k) {
			if err := b.merge(n.Content[i+1], out, depth+1); err != nil {
				return err
			}
			continue
		}
		key, err := keyString(k)
		if err != nil {
			return err
		}
		if k.Style&yaml.TaggedStyle != 0 {
			b.tagged = true
		}
		v, err := b.value(n.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		if own != nil {
			if earlier := own[key]; earlier != nil && b.inAlias == 0 {
				b.duplicates = append(b.duplicates, earlier)
			}
			own[key] = k
		}
		out[key] = v
	}
	return nil
}

// merge writes the entries of a << value into out. As in the library of
// Kubernetes, it overrides keys that come before it in the same mapping.
func (b *builder) merge(n *yaml.Node, out map[string]any, depth int) error {
	if depth > b.limits.Depth {
		return &nodeError{n, b.limits.tooDeep()}
	}
	switch {
	case n.Kind == yaml.MappingNode:
		return b.mapping(n, out, depth)
	case n.Kind == yaml.AliasNode && n.Alias != nil && n.Alias.Kind == yaml.MappingNode:
		return b.expand(n, func(target *yaml.Node) error { return b.mapping(target, out, depth) })
	case n.Kind == yaml.SequenceNode:
		// The first of several wins, so it is written last.
		for i := len(n.Content) - 1; i >= 0; i-- {
			if c := n.Content[i]; c.Kind == yaml.SequenceNode {
				break
			} else if err := b.merge(c, out, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return &nodeError{n, "a merge key (<<) needs a mapping or a list of mappings"}
}

func isMergeKey(k *yaml.Node) bool {
	return k.Kind == yaml.ScalarNode && k.Value == "<<" && (k.Style == 0 || k.Tag == "!!merge")
}

// keyString returns the string that a key becomes in JSON.
func keyString(k *yaml.Node) (string, error) {
	n := k
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		return "", &nodeError{k, "a mapping or list cannot be a key"}
	}
	switch v := scalarValue(n).(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		switch s := strconv.FormatFloat(v, 'g', -1, 32); s {
		case "+Inf":
			return ".inf", nil
		case "-Inf":
			return "-.inf", nil
		case "NaN":
			return ".nan", nil
		default:
			return s, nil
		}
	default:
		return "", &nodeError{k, "a key cannot be null; quote it if a string is meant"}
	}
}

// scalarValue resolves a scalar by the rules of YAML 1.1 as Kubernetes'
// library reads them: string, bool, int64, float64 or nil.
func scalarValue(n *yaml.Node) any {
	s := n.Value
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return s
	}
	if s == "" {
		return nil
	}
	switch c := s[0]; {
	case strings.IndexByte("yYnNtTfFoO~", c) >= 0:
		return resolveWord(s)
	case c == '.':
		return resolveDotted(s)
	case c == '+' || c == '-' || '0' <= c && c <= '9':
		return resolveNumber(s)
	}
	return s
}

func resolveWord(s string) any {
	switch s {
	case "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return true
	case "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return false
	case "~", "null", "Null", "NULL":
		return nil
	}
	return s
}

func resolveDotted(s string) any {
	switch s {
	case ".nan", ".NaN", ".NAN":
		return math.NaN()
	case ".inf", ".Inf", ".INF":
		return math.Inf(1)
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return f
	}
	return s
}

func resolveNumber(s string) any {
	switch s {
	case "+.inf", "+.Inf", "+.INF":
		return math.Inf(1)
	case "-.inf", "-.Inf", "-.INF":
		return math.Inf(-1)
	}
	// Addresses and versions are the common case and no numbers.
	if strings.Count(s, ".") > 1 || strings.IndexByte(s, '/') >= 0 {
		return s
	}
	plain := strings.ReplaceAll(s, "_", "")
	if i, err := strconv.ParseInt(plain, 0, 64); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(plain, 0, 64); err == nil {
		return float64(u)
	}
	if isFloat(plain) {
		if f, err := strconv.ParseFloat(plain, 64); err == nil {
			return f
		}
	}
	if digits, ok := strings.CutPrefix(plain, "0b"); ok {
		if i, err := strconv.ParseInt(digits, 2, 64); err == nil {
			return i
		}
		if u, err := strconv.ParseUint(digits, 2, 64); err == nil {
			return float64(u)
		}
	} else if digits, ok := strings.CutPrefix(plain, "-0b"); ok {
		if i, err := strconv.ParseInt("-"+digits, 2, 64); err == nil {
			return i
		}
	}
	return s
}

// isFloat reports whether s is a decimal float: [-+] digits with at most one
// dot, and an exponent.
func isFloat(s string) bool {
	s = strings.TrimLeft(s[:1], "+-") + s[1:]
	mantissa, exponent, hasExponent := cutAny(s, "eE")
	if hasExponent {
		if exponent != "" && (exponent[0] == '+' || exponent[0] == '-') {
			exponent = exponent[1:]
		}
		if !allDigits(exponent) {
			return false
		}
	}
	whole, fraction, dotted := strings.Cut(mantissa, ".")
	switch {
	case !dotted:
		return allDigits(whole)
	case whole == "":
		return allDigits(fraction)
	default:
		return allDigits(whole) && (fraction == "" || allDigits(fraction))
	}
}

func cutAny(s, chars string) (before, after string, found bool) {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

func allDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
