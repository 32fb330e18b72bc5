package source

import "strconv"

// ScalarText writes a string, a boolean or a number of a tree as text, numbers
// without exponent; false for anything else. What stands in a file as 0x10 or 1e3
// is a number by now: it comes out as 16 and 1000.
func ScalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	default:
		return "", false
	}
}
