package report

import (
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/report/addressmap"
	"github.com/vpnlint/vpnlint/pkg/source"
)

const mapTitle = "Address plan"

func planSVG(w io.Writer, p AddressPlan, o Options) error {
	m, _ := planMap(p, o).Limited()
	return addressmap.SVG(w, m)
}

// planMap turns the plan into lanes: one a cluster and use. The API server and
// the resolver stand in the lane of the services or nodes, whose addresses they
// have.
func planMap(p AddressPlan, o Options) addressmap.Map {
	m := addressmap.Map{Title: mapTitle}
	var current *addressmap.Group
	lane := map[string]int{}
	for _, u := range p.usages() {
		name := clusterTitle(u.cluster)
		if current == nil || current.Name != name {
			m.Groups = append(m.Groups, addressmap.Group{Name: name})
			current = &m.Groups[len(m.Groups)-1]
			clear(lane)
		}
		title := roleTitle(u.role)
		at, ok := lane[title]
		if !ok {
			at = len(current.Lanes)
			lane[title] = at
			current.Lanes = append(current.Lanes, addressmap.Lane{Name: title, Class: classOf(u.role)})
		}
		l := &current.Lanes[at]
		l.Bars = append(l.Bars, p.bar(u, o))
	}
	for i := range m.Groups {
		for j := range m.Groups[i].Lanes {
			l := &m.Groups[i].Lanes[j]
			l.Bars = mergeBars(l.Bars)
		}
	}
	for n, v := range p.Overlaps {
		name := clusterTitle(v.Cluster)
		g := slices.IndexFunc(m.Groups, func(g addressmap.Group) bool { return g.Name == name })
		if g < 0 {
			continue
		}
		said := side(v.A) + " and " + side(v.B) + "\n" + whatBreaks(v) + "\n" + p.where(v.A) + "\n" + p.where(v.B)
		for _, prefix := range v.Set {
			m.Groups[g].Marks = append(m.Groups[g].Marks, addressmap.Mark{
				Prefix: prefix, Label: fmt.Sprintf("%d: %s", n+1, prefix), Title: said, Link: p.link(v.A.At, o),
			})
		}
	}
	return m
}

func classOf(r cidrplan.Role) string {
	switch r {
	case cidrplan.DNS:
		return string(cidrplan.Service)
	case cidrplan.API, cidrplan.LB:
		return string(cidrplan.Node)
	default:
		return string(r)
	}
}

func (p *AddressPlan) bar(u usage, o Options) addressmap.Bar {
	b := addressmap.Bar{
		Prefix: u.prefix, Label: u.prefix.String(),
		Faint:      u.strength == cidrplan.Default || u.strength == cidrplan.Evidence,
		Everywhere: u.idiom == cidrplan.DefaultRoute,
	}
	if u.owner != "" {
		b.Label += " " + u.owner
	}
	var said []string
	said = append(said, fmt.Sprintf("%s, %s addresses: %s in %s", u.prefix, addresses(u.prefix), roleTitle(u.role), clusterTitle(u.cluster)))
	for _, c := range u.claims {
		line := string(c.Strength)
		if c.Says != "" {
			line += ": " + c.Says
		}
		if at := p.place(c.At); at != "" {
			line += ", " + at
		}
		said = append(said, line)
		if b.Link == "" {
			b.Link = p.link(c.At, o)
		}
	}
	if text := meaning(u.idiom); text != "" {
		said = append(said, text)
	}
	b.Title = strings.Join(said, "\n")
	return b
}

// mergeBars draws a prefix that many owners use once.
func mergeBars(bars []addressmap.Bar) []addressmap.Bar {
	type key struct {
		prefix     netip.Prefix
		everywhere bool
	}
	at := map[key]int{}
	count := map[key]int{}
	var out []addressmap.Bar
	for _, b := range bars {
		k := key{b.Prefix, b.Everywhere}
		i, ok := at[k]
		if !ok {
			at[k], count[k] = len(out), 1
			out = append(out, b)
			continue
		}
		count[k]++
		const most = 20 // what a reader takes in, and a browser shows of a title
		if count[k] <= most {
			out[i].Title += "\n" + b.Title
		}
		out[i].Faint = out[i].Faint && b.Faint
	}
	for k, i := range at {
		if n := count[k]; n > 1 {
			out[i].Label += fmt.Sprintf(" and %d more", n-1)
		}
	}
	return out
}

// link leads to the line of a ref: below Options.Links where that is given, else
// relative to where the output is written. Code hosts know the anchor.
func (p *AddressPlan) link(ref source.Ref, o Options) string {
	at, ok := p.Places[ref]
	if !ok || at.File == "" || at.File == "stdin" {
		return ""
	}
	file := at.File
	target := (&url.URL{Path: path.Clean(file)}).EscapedPath()
	if o.Links != "" {
		target = strings.TrimSuffix(o.Links, "/") + "/" + strings.TrimPrefix(target, "/")
	} else if !strings.HasPrefix(target, "/") {
		target = "./" + target // a file called "javascript:x" is a file
	}
	if known(at) {
		target += fmt.Sprintf("#L%d", normal(at.Span).Start.Line)
	}
	return target
}

// planHTML writes a page: the map, and below it all that it shows as tables.
func planHTML(w io.Writer, p AddressPlan, o Options) error {
	m, left := planMap(p, o).Limited()
	page := addressmap.Page{Map: m}
	if left > 0 {
		page.Note = fmt.Sprintf("The picture leaves out %s; the tables below hold everything.", plural(left, "range"))
	}
	overlaps := addressmap.Table{Heading: p.overlapTitle(), Columns: []string{"", "Shared", "Cluster", "Between", "What breaks", "Declared at"}}
	for n, v := range p.Overlaps {
		overlaps.Rows = append(overlaps.Rows, addressmap.Row{
			{Text: fmt.Sprint(n + 1)}, {Text: prefixesText(v.Set)}, {Text: v.Cluster}, {Text: side(v.A) + "\n" + side(v.B)}, {Text: whatBreaks(v) + moreLike(v.More)},
			p.cell(v.A, v.B, o),
		})
	}
	conflicts := addressmap.Table{Heading: plural(len(p.Conflicts), "contradiction"), Columns: []string{"What", "Declared at"}}
	for _, c := range p.Conflicts {
		conflicts.Rows = append(conflicts.Rows, addressmap.Row{{Text: contradiction(c)}, p.cell(c.A, c.B, o)})
	}
	ranges := addressmap.Table{Heading: "Ranges", Columns: []string{"Cluster", "Role", "Prefix", "Addresses", "Strength", "Owner", "Declared at"}}
	for _, u := range p.usages() {
		places := addressmap.Cell{}
		for _, c := range u.claims {
			at := p.where(c)
			if !slices.ContainsFunc(places.More, func(l addressmap.Link) bool { return l.Text == at }) {
				places.More = append(places.More, addressmap.Link{Text: at, To: p.link(c.At, o)})
			}
		}
		strength := string(u.strength)
		if text := meaning(u.idiom); text != "" {
			strength += "; " + text
		}
		ranges.Rows = append(ranges.Rows, addressmap.Row{
			{Text: u.cluster}, {Text: roleTitle(u.role)}, {Text: u.prefix.String()}, {Text: addresses(u.prefix)}, {Text: strength}, {Text: u.owner}, places,
		})
	}
	suggestions := addressmap.Table{Heading: plural(len(p.Suggestions), "suggestion"), Columns: []string{"Where", "Why", "Write"}}
	for _, s := range p.Suggestions {
		suggestions.Rows = append(suggestions.Rows, addressmap.Row{
			{More: []addressmap.Link{{Text: p.place(s.At), To: p.link(s.At, o)}}}, {Text: s.Why}, {Text: strings.Join(s.Write, "\nor\n"), Code: true},
		})
	}
	gaps := addressmap.Table{Heading: "Not seen", Columns: []string{"Where", "What", "Why"}}
	for i := range p.Gaps {
		g := &p.Gaps[i]
		at := g.File
		if g.Line > 0 {
			at += fmt.Sprintf(":%d", g.Line)
		}
		gaps.Rows = append(gaps.Rows, addressmap.Row{{Text: at}, {Text: g.What}, {Text: g.Why}})
	}
	page.Tables = []addressmap.Table{overlaps, conflicts, suggestions, ranges, gaps}
	return addressmap.HTML(w, page)
}

func (p *AddressPlan) cell(a, b cidrplan.Claim, o Options) addressmap.Cell {
	return addressmap.Cell{More: []addressmap.Link{{Text: p.where(a), To: p.link(a.At, o)}, {Text: p.where(b), To: p.link(b.At, o)}}}
}
