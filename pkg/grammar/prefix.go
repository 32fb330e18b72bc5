package grammar

import (
	"math/bits"
	"net/netip"
	"strings"

	"go4.org/netipx"
)

// ParsePrefixes reads a list such as the value of FIREWALL_OUTBOUND_SUBNETS.
// separators is a set of characters ("," or ";," or " "); a space in it stands
// for any white space, and an empty set means that the whole text is one entry.
// White space around entries is trimmed and empty entries are dropped. An entry
// that holds the separator of another language is one invalid entry: that is
// how the reader of the list sees it. base is added to every offset.
func ParsePrefixes(text string, base int, separators string) []Prefix {
	blank := strings.Contains(separators, " ")
	isSeparator := func(r rune) bool {
		return strings.ContainsRune(separators, r) || blank && (r == '\t' || r == '\n' || r == '\r')
	}
	var out []Prefix
	for start := 0; start <= len(text); {
		end := len(text)
		if i := strings.IndexFunc(text[start:], isSeparator); i >= 0 && separators != "" {
			end = start + i
		}
		if from, to := trimRange(text, start, end); from < to {
			out = append(out, ParsePrefix(text[from:to], base+from))
		}
		start = end + 1
	}
	return out
}

// ParsePrefix reads one entry that starts at byte offset base.
func ParsePrefix(text string, base int) Prefix {
	p := Prefix{Range: Range{base, base + len(text)}, Text: text}
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		p.Addr, p.Prefix = addr, netip.PrefixFrom(addr, addr.BitLen())
		p.Valid, p.Bare = true, true
		return p
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		p.Unknown = placeholder(text) != ""
		return p
	}
	p.Valid = true
	p.Addr = prefix.Addr()
	p.Prefix = prefix.Masked()
	p.HostBits = p.Prefix.Addr() != prefix.Addr()
	return p
}

// ParseAddressRange reads "10.0.0.10-10.0.0.20". It is no prefix to any reader
// of prefixes; address pools (MetalLB, strongSwan) are written so.
func ParseAddressRange(text string) (netipx.IPRange, bool) {
	from, to, ok := strings.Cut(text, "-")
	if !ok {
		return netipx.IPRange{}, false
	}
	a, err := netip.ParseAddr(strings.TrimSpace(from))
	if err != nil || a.Zone() != "" {
		return netipx.IPRange{}, false
	}
	b, err := netip.ParseAddr(strings.TrimSpace(to))
	if err != nil || b.Zone() != "" {
		return netipx.IPRange{}, false
	}
	r := netipx.IPRangeFrom(a, b)
	return r, r.IsValid()
}

// ParseNetmask joins an IPv4 network and a dotted mask ("10.8.0.0",
// "255.255.255.0"). The result is masked. A mask with a hole, as in
// 255.0.255.0, is no prefix.
func ParseNetmask(network, mask string) (netip.Prefix, bool) {
	addr, err := netip.ParseAddr(network)
	if err != nil || !addr.Is4() {
		return netip.Prefix{}, false
	}
	m, err := netip.ParseAddr(mask)
	if err != nil || !m.Is4() {
		return netip.Prefix{}, false
	}
	b := m.As4()
	v := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	ones := bits.LeadingZeros32(^v)
	if ones < 32 && v<<ones != 0 {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(addr, ones).Masked(), true
}

// trimRange shrinks [start, end) of text by the white space at its edges.
func trimRange(text string, start, end int) (from, to int) {
	for start < end && isSpace(text[start]) {
		start++
	}
	for end > start && isSpace(text[end-1]) {
		end--
	}
	return start, end
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'
}

// line is one line of a text, without its line break.
type line struct{ start, end int }

// splitLines cuts text at "\n"; a "\r" before it stays and is white space to
// every reader here.
func splitLines(text string) []line {
	var out []line
	for start := 0; start < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i
		}
		out = append(out, line{start, end})
		start = end + 1
	}
	return out
}
