package shell

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/suggest"
)

// Refusal is a word that a program refuses, so that it does nothing and fails.
type Refusal struct {
	Word Word
	// Why says what is wrong with the word: "it is no target of iptables".
	Why string
}

// refuse makes a refusal. It names what was meant, where that can be told.
func refuse(w Word, why, meant string) *Refusal {
	if meant != "" {
		why += ", " + strconv.Quote(meant) + " is near"
	}
	return &Refusal{Word: w, Why: why}
}

// refusal tells what the program of a command refuses of it. Only what no version of
// the program takes counts: a word that is not known, a chain that somebody else may
// have made, and an option of an extension that is not known here may all be right.
func (r *reader) refusal(c *Command) *Refusal {
	if slices.ContainsFunc(c.Words, filledLater) {
		return nil
	}
	switch c.Name() {
	case "iptables", "iptables-legacy", "iptables-nft", "ip6tables", "ip6tables-legacy", "ip6tables-nft":
		if r.made == nil {
			r.made = map[string]bool{}
		}
		return refusedIPTables(c, r.made)
	case "nft":
		return refusedNFT(c)
	case "ip":
		return refusedIP(c)
	case "ifconfig":
		return refusedMTU(c)
	case "route":
		return refusedOldRoute(c)
	default:
		return refusedSysctl(c)
	}
}

// filledLater: the word holds what a template of something else fills in.
func filledLater(w Word) bool {
	return slices.ContainsFunc([]string{"{{", "}}", "{%", "%}", "<", ">", "@@", "__", "..."}, func(mark string) bool {
		return strings.Contains(w.Text, mark)
	})
}

// near returns the word of a list that a misspelt one most likely means. A word that
// goes on where one of the list ends, such as REJECTED or INPUT2, is a name of its
// own, and so is a short beginning of one.
func near(wrong string, words []string) string {
	const longest = 64
	if len(wrong) > longest {
		return ""
	}
	best, distance := "", 3
	for _, w := range words {
		same, of := strings.ToLower(wrong), strings.ToLower(w)
		if strings.HasPrefix(same, of) && (len(same)-len(of) > 1 || strings.ContainsAny(same[len(of):], "0123456789-_")) {
			return ""
		}
		n := suggest.Distance(same, of)
		if n < distance && n <= max(1, (len(of)-1)/3) && len(of) > 2 {
			best, distance = w, n
		}
	}
	return best
}

// numeric reports whether a text is meant as an address or a range, and not as a
// name that is looked up or filled in.
func numeric(text string) bool {
	if !strings.ContainsAny(text, "0123456789:") {
		return false
	}
	four := strings.Trim(text, "0123456789./") == "" && strings.Contains(text, ".")
	six := strings.Trim(text, "0123456789abcdefABCDEF:./") == "" && strings.Count(text, ":") > 1
	return four || six
}

// noNetwork says why a tool takes a text for no network of a family, "" when it may
// take it. Fewer than four numbers are a way to write one.
func noNetwork(text string, ipv6, either bool) string {
	if !numeric(text) {
		return ""
	}
	address, length, masked := strings.Cut(text, "/")
	is6 := strings.Contains(address, ":")
	switch {
	case is6 && !ipv6 && !either:
		return "it is IPv6"
	case !is6 && ipv6 && !either:
		return "it is IPv4"
	case is6:
		if _, err := netip.ParseAddr(address); err != nil {
			return "it is no address"
		}
	case !shortAddress(address):
		return "it is no address"
	}
	if !masked {
		return ""
	}
	widest := 32
	if is6 {
		widest = 128
	}
	if n, err := strconv.Atoi(length); err == nil && n <= widest {
		return ""
	}
	if !strings.ContainsAny(length, ".:") || !shortAddress(length) && !is6 {
		return "it is no prefix"
	}
	return ""
}

// shortAddress: up to four numbers of a byte each, between dots.
func shortAddress(text string) bool {
	parts := strings.Split(text, ".")
	for _, p := range parts {
		if n, err := strconv.Atoi(p); err != nil || n > 255 || n < 0 {
			return false
		}
	}
	return len(parts) <= 4
}

// part is a piece of a word, for the place of one entry of a list.
func part(w Word, text string, from int) Word {
	at := strings.Index(w.Text[from:], text)
	if at < 0 || w.End-w.Start != len(w.Text) {
		return w // quoted, or made of variables: its offsets are not those of the text
	}
	out := w
	out.Text, out.Start = text, w.Start+from+at
	out.End = out.Start + len(text)
	return out
}

// badNetworks returns the first entry of a list with commas that is no network.
func badNetworks(w Word, ipv6, either bool) *Refusal {
	if !w.Known {
		return nil
	}
	from := 0
	for _, entry := range strings.Split(w.Text, ",") {
		if why := noNetwork(strings.TrimSpace(entry), ipv6, either); why != "" {
			return refuse(part(w, strings.TrimSpace(entry), from), why, "")
		}
		from += len(entry) + 1
	}
	return nil
}

// badPort says why a text is no port or range of ports, "" when it may be one: the
// name of a service may.
func badPort(text string) string {
	for _, p := range strings.FieldsFunc(text, func(ch rune) bool { return ch == ':' || ch == '-' }) {
		n, err := strconv.Atoi(p)
		switch {
		case err == nil && n > 65535:
			return p + " is no port, the highest is 65535"
		case err != nil && p[0] >= '0' && p[0] <= '9':
			return strconv.Quote(p) + " is no port"
		}
	}
	return ""
}
