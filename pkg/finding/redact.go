package finding

import (
	"regexp"
	"strings"
)

// userinfo is what stands before the host of a URL. That of ssh is the name of an
// account, which is no secret, and may have a password behind it; whatever stands
// there in a URL of HTTP may be a token.
var userinfo = regexp.MustCompile(`(?i)\b([a-z][a-z0-9+.-]*://)([^/?#@\s"'` + "`" + `<>:]*)(:[^/?#@\s"'<>]*)?@`)

// WithoutCredentials returns a text without the passwords and tokens that stand in
// the URLs in it: reports are kept and shown where manifests are not.
func WithoutCredentials(text string) string {
	if !strings.Contains(text, "://") || !strings.Contains(text, "@") {
		return text
	}
	return userinfo.ReplaceAllStringFunc(text, func(m string) string {
		parts := userinfo.FindStringSubmatch(m)
		if strings.EqualFold(strings.TrimPrefix(strings.ToLower(parts[1]), "git+"), "ssh://") {
			if parts[3] == "" {
				return m
			}
			return parts[1] + parts[2] + ":***@"
		}
		return parts[1] + "***@"
	})
}
