package finding

import "testing"

func TestWithoutCredentials(t *testing.T) {
	for text, want := range map[string]string{
		"": "",
		`resources entry "https://user:hunter2@example.com/x?ref=v1" is remote`: `resources entry "https://***@example.com/x?ref=v1" is remote`,
		`"https://ghp_secret@github.com/a/b" and "https://a:b@c.d/"`:            `"https://***@github.com/a/b" and "https://***@c.d/"`,
		`https://user:p:a:s@example.com`:                                        `https://***@example.com`,
		`git::https://x:y@example.com/a`:                                        `git::https://***@example.com/a`,
		`ssh://git@example.com/a`:                                               `ssh://git@example.com/a`,
		`ssh://git:secret@example.com/a`:                                        `ssh://git:***@example.com/a`,
		`git+ssh://git@example.com/a`:                                           `git+ssh://git@example.com/a`,
		`git@github.com:a/b`:                                                    `git@github.com:a/b`,
		`https://example.com/a@v1 and mail to a@b.c`:                            `https://example.com/a@v1 and mail to a@b.c`,
		`oci://example.com/chart, then user@host`:                               `oci://example.com/chart, then user@host`,
		`chart oci://ghcr.io/a/b@sha256:0123`:                                   `chart oci://ghcr.io/a/b@sha256:0123`,
		`socks5://user:pass@10.0.0.1:1080 is the proxy`:                         `socks5://***@10.0.0.1:1080 is the proxy`,
	} {
		if got := WithoutCredentials(text); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}
