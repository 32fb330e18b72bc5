package fix

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// listReview is what a narrower exemption list changes for whoever is reached, and
// the way back.
const listReview = " with their node's address: allow-lists and firewall rules there that name pod addresses stop matching; " +
	"the way back is the list as it is now, applied and checked in the same way"

// listPlace is a list of prefixes in a file, of one of the spellings
//
//   - 10.0.0.0/8          a line each
//     [10.0.0.0/8, "..."]   in brackets, JSON included, on one line or more
type listPlace struct {
	file    *source.File
	entries []span // without quotes
	quote   string
	block   bool
	// between stands between two entries of a list in brackets.
	between string
}

func (c *sight) listAt(list []facts.PrefixAt) (listPlace, bool) {
	var l listPlace
	for _, e := range list {
		f, s, ok := c.unquoted(e)
		if !ok || l.file != nil && f != l.file {
			return l, false
		}
		l.file, l.entries = f, append(l.entries, s)
	}
	if len(l.entries) == 0 {
		return l, false
	}
	text := l.file.Text()
	first := l.entries[0]
	if first.start > 0 && strings.ContainsAny(text[first.start-1:first.start], `"'`) {
		l.quote = text[first.start-1 : first.start]
	}
	for _, s := range l.entries {
		if s.start < len(l.quote) || text[s.start-len(l.quote):s.start] != l.quote || !strings.HasPrefix(text[s.end:], l.quote) {
			return l, false
		}
	}
	before := text[lineStart(text, first.start):first.start]
	l.block = strings.TrimSpace(strings.TrimSuffix(before, l.quote)) == "-"
	lead := strings.TrimSuffix(before, l.quote)
	switch {
	case !l.block && len(l.entries) > 1:
		l.between = text[first.end+len(l.quote) : l.entries[1].start-len(l.quote)]
	case strings.TrimSpace(lead) == "": // a line of its own
		l.between = "," + lineBreak(text) + lead
	default:
		l.between = ", "
	}
	return l, l.block || strings.HasPrefix(l.between, ",") && !strings.Contains(l.between, "#")
}

// unquoted finds the text of an entry, whether its place counts the quotes or not.
func (c *sight) unquoted(e facts.PrefixAt) (*source.File, span, bool) {
	for _, quote := range []string{"", `"`, "'"} {
		if f, s, ok := c.exact(e.Ref, quote+e.Text+quote); ok {
			return f, span{s.start + len(quote), s.end - len(quote)}, true
		}
	}
	return nil, span{}, false
}

// addAfter is the edit that puts prefixes behind entry i.
func (l listPlace) addAfter(i int, prefixes []string) finding.Edit {
	text := l.file.Text()
	s := l.entries[i]
	if !l.block {
		return replace(l.file, s.end+len(l.quote), s.end+len(l.quote), l.between+l.joined(prefixes))
	}
	line := text[lineStart(text, s.start) : s.start-len(l.quote)]
	var b strings.Builder
	for _, p := range prefixes {
		b.WriteString(lineBreak(text) + line + l.quote + p + l.quote)
	}
	end := lineEnd(text, s.end)
	return replace(l.file, end, end, b.String())
}

func (l listPlace) joined(prefixes []string) string {
	quoted := make([]string, len(prefixes))
	for i, p := range prefixes {
		quoted[i] = l.quote + p + l.quote
	}
	return strings.Join(quoted, l.between)
}

// swap are the edits that put prefixes in the place of entry i; none: the entry
// goes.
func (l listPlace) swap(i int, prefixes []string) ([]finding.Edit, bool) {
	text := l.file.Text()
	s := l.entries[i]
	switch {
	case len(prefixes) > 0 && l.block:
		edits := []finding.Edit{replace(l.file, s.start, s.end, prefixes[0])}
		if len(prefixes) > 1 {
			edits = append(edits, l.addAfter(i, prefixes[1:]))
		}
		return edits, true
	case len(prefixes) > 0:
		return []finding.Edit{replace(l.file, s.start-len(l.quote), s.end+len(l.quote), l.joined(prefixes))}, true
	case len(l.entries) < 2:
		return nil, false // an empty list is another statement
	case l.block:
		start := lineStart(text, s.start)
		return []finding.Edit{replace(l.file, lineEnd(text, lineStart(text, start-1)), lineEnd(text, s.end), "")}, true
	case i > 0:
		return []finding.Edit{replace(l.file, l.entries[i-1].end+len(l.quote), s.end+len(l.quote), "")}, true
	default:
		return []finding.Edit{replace(l.file, s.start-len(l.quote), l.entries[1].start-len(l.quote), "")}, true
	}
}

// agentsOf are the masquerade agents whose list stands in the finding's object.
func (c *sight) agentsOf() []*facts.Agent {
	var out []*facts.Agent
	for i := range c.Reading.Facts.Agents {
		a := &c.Reading.Facts.Agents[i]
		if a.List.Ref.Object == c.Finding.ObjectID && a.List.Source == "explicit" {
			out = append(out, a)
		}
	}
	return out
}

// narrowExemption replaces the entry that covers a VPN by those of its parts that
// the cluster's own traffic needs: the list stays, and so do its other entries
// (M5).
func narrowExemption(c *sight) []candidate {
	var out []candidate
	agents := c.agentsOf()
	if len(agents) == 0 {
		return c.none("no agent is in view that reads the list at this place")
	}
	for _, a := range agents {
		i := slices.IndexFunc(a.List.Entries, func(e facts.PrefixAt) bool { return c.Locate(e.Ref).Primary == c.Finding.Primary })
		if i < 0 || len(a.Minimal) == 0 {
			c.none("the ranges that the cluster itself needs exempt are not known")
			continue
		}
		list, ok := c.listAt(a.List.Entries)
		if !ok {
			c.notEdited("the list is")
			continue
		}
		entry := a.List.Entries[i]
		others := prefixesOf(slices.Delete(slices.Clone(a.List.Entries), i, i+1))
		var parts []string
		for _, p := range cidrplan.Intersect(parsed(a.Minimal), prefixesOf([]facts.PrefixAt{entry})) {
			if !cidrplan.Contains(others, []netip.Prefix{p}) {
				parts = append(parts, p.String())
			}
		}
		edits, ok := list.swap(i, parts)
		if !ok {
			c.notEdited("the list is")
			continue
		}
		one := candidate{Title: "take " + entry.Text + " off the exemption list", Edits: edits}
		if len(parts) > 0 {
			one.Title = "exempt " + sentence(parts) + " instead of " + entry.Text
		}
		if c.Finding.Severity != finding.Error || !c.onlyVPN(a, i) {
			one.Review = "pods will reach the rest of " + entry.Text + listReview
		}
		out = append(out, one)
	}
	return out
}

// onlyVPN: the entry holds nothing but destinations that want node addresses.
func (c *sight) onlyVPN(a *facts.Agent, entry int) bool {
	var wanted []string
	for _, t := range a.Targets {
		if t.Wanted == "node" {
			wanted = append(wanted, t.Prefix)
		}
	}
	return cidrplan.Contains(parsed(wanted), prefixesOf(a.List.Entries[entry:entry+1]))
}

// completeExemption adds what is missing of the cluster's own ranges.
func completeExemption(c *sight) []candidate {
	var out []candidate
	for _, a := range c.agentsOf() {
		missing := slices.Concat(a.MissingPods, a.MissingNodes)
		list, ok := c.listAt(a.List.Entries)
		if !ok || len(missing) == 0 {
			c.notEdited("the list is")
			continue
		}
		one := candidate{
			Title: "exempt " + sentence(missing) + ", too",
			Edits: []finding.Edit{list.addAfter(len(list.entries)-1, missing)},
		}
		if c.Finding.Severity == finding.Note {
			one.Review = "a list may leave the nodes out on purpose: packets of pods to them keep the pod's address then"
		}
		out = append(out, one)
	}
	return out
}

// writeExemption gives an agent whose configuration has no list the one that is
// computed: the cluster's own ranges, without the networks behind VPNs that want
// node addresses.
func writeExemption(c *sight) []candidate {
	var out []candidate
	for i := range c.Reading.Facts.Agents {
		a := &c.Reading.Facts.Agents[i]
		if a.List.Source != "default" || len(a.Minimal) == 0 || c.Locate(a.Ref).Primary != c.Finding.Primary && c.Locate(a.List.Ref).Primary != c.Finding.Primary {
			continue
		}
		text, _ := descend(c.object(a.List.Ref.Object), a.List.Ref.Pointer).(string)
		at, end, ok := lastTopLine(text)
		if !ok {
			continue
		}
		edits, ok := c.lineAfter(source.Ref{Object: a.List.Ref.Object, Pointer: a.List.Ref.Pointer, Start: at, End: end},
			append([]string{"nonMasqueradeCIDRs:"}, indented(2, bulleted(a.Minimal))...))
		if !ok {
			continue
		}
		out = append(out, candidate{
			Title:  "write the exemption list " + sentence(a.Minimal),
			Edits:  edits,
			Review: "pods will reach all other private networks" + listReview,
		})
	}
	if len(out) == 0 {
		return c.none("no configuration is in view that the list could be written into, or the ranges that it needs are not known")
	}
	return out
}

func bulleted(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = "- " + w
	}
	return out
}

// lastTopLine finds the last line of a text of keys and values, none of which is
// nested.
func lastTopLine(text string) (start, end int, ok bool) {
	at := 0
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, " \r\n")
		switch {
		case bare == "" || bare[0] == '#':
		case strings.ContainsAny(bare[:1], " \t-{[") || !strings.Contains(bare, ": "):
			return 0, 0, false
		default:
			start, end, ok = at, at+len(bare), true
		}
		at += len(line)
	}
	return start, end, ok
}

func prefixesOf(list []facts.PrefixAt) []netip.Prefix {
	var texts []string
	for _, e := range list {
		texts = append(texts, e.Prefix)
	}
	return parsed(texts)
}

func parsed(texts []string) []netip.Prefix {
	var out []netip.Prefix
	for _, text := range texts {
		if p, err := netip.ParsePrefix(text); err == nil {
			out = append(out, p.Masked())
		}
	}
	return out
}

// sentence lists words: "a, b and c".
func sentence(words []string) string {
	if n := len(words); n > 1 {
		return fmt.Sprintf("%s and %s", strings.Join(words[:n-1], ", "), words[n-1])
	}
	return strings.Join(words, "")
}
