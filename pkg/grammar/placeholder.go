package grammar

import (
	"regexp"
	"strings"
)

// placeholders are the spellings by which manifests leave a value to a later
// step: shell and envsubst, Helm, sed-style __NAME__ and @NAME@, <name>, sops.
// They are read here, in a language that has no variables of its own.
var placeholders = regexp.MustCompile(
	`\$\{[^}\n]*\}?|\$\([A-Za-z_][^)\n]*\)|\$[A-Za-z_][A-Za-z0-9_]*|\{\{[^\n]*|__[A-Za-z0-9_]+?__|@[A-Z][A-Z0-9_]*@|%[A-Z][A-Z0-9_]+%|<[A-Za-z][A-Za-z0-9 _.-]*>|ENC\[`)

// placeholder returns the first template placeholder in text, "" if none.
func placeholder(text string) string {
	if !strings.ContainsAny(text, "$_@%<[{") {
		return ""
	}
	return placeholders.FindString(text)
}

// encrypted reports whether a whole text is sops ciphertext or nothing but one
// placeholder: there is no configuration in it to read.
func encrypted(text string) bool {
	t := strings.TrimSpace(text)
	if t == "" || strings.ContainsAny(t, "\n") {
		return false
	}
	return strings.HasPrefix(t, "ENC[") || placeholders.FindString(t) == t
}
