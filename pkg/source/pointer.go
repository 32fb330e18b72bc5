package source

import "strings"

var (
	pointerEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

func escapePointer(token string) string {
	if !strings.ContainsAny(token, "~/") {
		return token
	}
	return pointerEscaper.Replace(token)
}

// PointerTokens splits a JSON pointer into its unescaped tokens.
func PointerTokens(pointer string) []string {
	if pointer == "" {
		return nil
	}
	tokens := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, t := range tokens {
		tokens[i] = pointerUnescaper.Replace(t)
	}
	return tokens
}

// ParentPointer returns the pointer of the enclosing field, and false for "".
func ParentPointer(pointer string) (string, bool) {
	i := strings.LastIndexByte(pointer, '/')
	if i < 0 {
		return "", false
	}
	return pointer[:i], true
}
