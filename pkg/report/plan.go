package report

import (
	"cmp"
	"fmt"
	"io"
	"math/big"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// AddressPlan is an address plan with the places of its claims.
type AddressPlan struct {
	Version string // of vpnlint
	cidrplan.Plan
	// Places are where the claims' refs are written.
	Places map[source.Ref]source.Location
	// Suggestions are computed, in the order of clusters and places.
	Suggestions []Suggestion
	Gaps        []finding.Gap
}

// Suggestion is what set arithmetic proposes in one place.
type Suggestion struct {
	// Kind: exemption (the list of a masquerade agent) | bypass (the list of a
	// tunnel) | pool (a free prefix for one that overlaps).
	Kind    string             `json:"kind"`
	Cluster string             `json:"cluster"`
	Object  finding.ObjectName `json:"object"`
	// Why names what is wrong with what is there.
	Why string `json:"why"`
	// Write are ways to write it, each complete and in the reader's own syntax.
	Write    []string       `json:"write"`
	Prefixes []netip.Prefix `json:"prefixes"`
	At       source.Ref     `json:"-"`
}

// PlanFormat is an output format of an address plan.
type PlanFormat string

// The formats of an address plan.
const (
	PlanTable PlanFormat = "table"
	PlanJSON  PlanFormat = "json"
	PlanSVG   PlanFormat = "svg"
	PlanHTML  PlanFormat = "html"
)

// ParsePlanFormat reads a format as users write it. The error names those that
// exist.
func ParsePlanFormat(s string) (PlanFormat, error) {
	switch f := PlanFormat(s); f {
	case PlanTable, PlanJSON, PlanSVG, PlanHTML:
		return f, nil
	default:
		return "", fmt.Errorf("unknown output format %q: want table, json, svg or html", s)
	}
}

// WritePlan writes an address plan in the format.
func WritePlan(w io.Writer, f PlanFormat, p AddressPlan, o Options) error {
	switch f {
	case PlanTable:
		return planTables(w, p, o)
	case PlanJSON:
		return planJSON(w, p)
	case PlanSVG:
		return planSVG(w, p, o)
	case PlanHTML:
		return planHTML(w, p, o)
	default:
		return fmt.Errorf("unknown output format %q", f)
	}
}

// roleTitles name the use of a range, for one and for the many that share it.
func roleTitle(r cidrplan.Role) string {
	switch r {
	case cidrplan.Pod:
		return "pods"
	case cidrplan.Service:
		return "services"
	case cidrplan.Node:
		return "nodes"
	case cidrplan.VPN:
		return "VPN destinations"
	case cidrplan.Pool:
		return "VPN clients"
	case cidrplan.LB:
		return "load balancers"
	case cidrplan.API:
		return "API server"
	case cidrplan.DNS:
		return "resolver"
	default:
		return string(r)
	}
}

func clusterTitle(name string) string {
	if name == "" {
		return "no cluster named"
	}
	return "cluster " + name
}

// usage is one prefix in one use: all claims that state it.
type usage struct {
	cluster  string
	role     cidrplan.Role
	owner    string
	prefix   netip.Prefix
	idiom    cidrplan.Idiom
	strength cidrplan.Strength
	claims   []cidrplan.Claim
}

// usages lists what is claimed, a prefix once an owner, in the order of the
// plan's ranges. Evidence inside a stated range of its use says nothing new.
func (p *AddressPlan) usages() []usage {
	var out []usage
	for _, r := range p.Ranges {
		first := len(out)
		var stated []netip.Prefix
		for _, c := range r.Claims {
			if c.Strength != cidrplan.Evidence && c.Idiom != cidrplan.DefaultRoute {
				stated = append(stated, c.Prefix)
			}
		}
		for _, c := range r.Claims {
			if c.Strength == cidrplan.Evidence && slices.ContainsFunc(stated, func(s netip.Prefix) bool { return s.Bits() <= c.Prefix.Bits() && s.Contains(c.Prefix.Addr()) }) {
				continue
			}
			same := slices.IndexFunc(out[first:], func(u usage) bool { return u.prefix == c.Prefix && u.idiom == c.Idiom })
			if same >= 0 {
				u := &out[first+same]
				u.claims = append(u.claims, c)
				continue
			}
			out = append(out, usage{
				cluster: r.Cluster, role: r.Role, owner: r.Owner, prefix: c.Prefix,
				idiom: c.Idiom, strength: c.Strength, claims: []cidrplan.Claim{c},
			})
		}
	}
	return out
}

// place is file:line of a ref, "" for a default that nobody wrote.
func (p *AddressPlan) place(ref source.Ref) string {
	at, ok := p.Places[ref]
	switch {
	case !ok || at.File == "":
		return ""
	case known(at):
		return fmt.Sprintf("%s:%d", visible(at.File), normal(at.Span).Start.Line)
	default:
		return visible(at.File)
	}
}

// declaredAt names the places of both sides.
func (p *AddressPlan) declaredAt(a, b cidrplan.Claim) string {
	return "declared: " + p.where(a) + " and " + p.where(b)
}

// where is the place of a claim, for a default whose it is.
func (p *AddressPlan) where(c cidrplan.Claim) string {
	if at := p.place(c.At); at != "" {
		return at
	}
	return cmp.Or(c.Says, "by default")
}

// addresses counts a prefix: exactly where that can be read, as a power of two
// where it cannot.
func addresses(p netip.Prefix) string {
	host := p.Addr().BitLen() - p.Bits()
	if host > 32 {
		return fmt.Sprintf("2^%d", host)
	}
	return grouped(new(big.Int).Lsh(big.NewInt(1), uint(host)).String())
}

// grouped sets commas between thousands.
func grouped(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// meaning says what an idiom makes of a claim, "" for nothing.
func meaning(i cidrplan.Idiom) string {
	switch i {
	case cidrplan.EnclosesCluster:
		return "encloses the cluster by design"
	case cidrplan.NoSNATPool:
		return "exempts a destination, no range of pods"
	case cidrplan.ClusterRoute:
		return "route to the cluster, announced"
	case cidrplan.DefaultRoute:
		return "default route"
	default:
		return ""
	}
}

// side names one side of an overlap.
func side(c cidrplan.Claim) string {
	s := c.Prefix.String() + " (" + roleTitle(c.Role)
	if c.Owner != "" {
		s += " of " + c.Owner
	}
	return s + ")"
}

// whatBreaks says what happens to packets for the addresses that two ranges
// share. Each hop takes the longest prefix that it has a route for.
func whatBreaks(o cidrplan.Overlap) string {
	tunnel := func(c cidrplan.Claim) bool { return c.Role == cidrplan.VPN || c.Role == cidrplan.Pool }
	if m := cmp.Or(meaning(o.A.Idiom), meaning(o.B.Idiom)); m != "" {
		return "nothing as such: " + m
	}
	a, b := o.A, o.B
	if !tunnel(a) && !tunnel(b) {
		if a.Role == cidrplan.Node || b.Role == cidrplan.Node {
			other := roleTitle(a.Role)
			if a.Role == cidrplan.Node {
				other = roleTitle(b.Role)
			}
			return "packets to nodes in " + prefixesText(o.Set) + " are taken for " + other + " and stay on the node that sends them"
		}
		return "an address in " + prefixesText(o.Set) + " is given out twice: to a " + one(a.Role) + " and to a " + one(b.Role)
	}
	far, near := a, b
	if !tunnel(far) {
		far, near = b, a
	}
	if tunnel(near) {
		return "clients with an address in " + prefixesText(o.Set) + " and hosts behind the other VPN cannot be told apart"
	}
	what := "hosts behind the VPN"
	if far.Role == cidrplan.Pool {
		what = "VPN clients"
	}
	switch {
	case far.Prefix.Bits() > near.Prefix.Bits() || far.Prefix == near.Prefix:
		return "packets from the cluster to " + what + " in " + prefixesText(o.Set) + " may be delivered to " + roleTitle(near.Role) +
			", and packets to " + roleTitle(near.Role) + " there may enter the tunnel"
	default:
		return "packets to " + what + " in " + prefixesText(o.Set) + " go to " + roleTitle(near.Role) +
			" wherever the more specific route is known, and into the tunnel elsewhere"
	}
}

func one(r cidrplan.Role) string { return strings.TrimSuffix(roleTitle(r), "s") }

func prefixesText(set []netip.Prefix) string {
	texts := make([]string, 0, len(set))
	for _, p := range set {
		texts = append(texts, p.String())
	}
	const most = 4
	if n := len(texts); n > most {
		return strings.Join(texts[:most], ", ") + fmt.Sprintf(" and %d more", n-most)
	}
	return strings.Join(texts, ", ")
}

// planTables writes the plan for people: ranges, overlaps, contradictions, and
// what arithmetic suggests.
func planTables(w io.Writer, p AddressPlan, o Options) error {
	var b strings.Builder
	width := max(widthOrDefault(o), minWidth)
	paint := painter{on: o.Color}
	if len(p.Ranges) == 0 {
		b.WriteString("no range was found: nothing in the tree states one\n")
	} else if err := rangeTable(&b, p, paint, width); err != nil {
		return err
	}
	for i, v := range p.Overlaps {
		if i == 0 {
			fmt.Fprintf(&b, "\n%s\n", paint.bold(p.overlapTitle()))
		}
		indented(&b, fmt.Sprintf("%d. ", i+1), prefixesText(v.Set)+": "+side(v.A)+" and "+side(v.B)+" in "+clusterTitle(v.Cluster), width)
		indented(&b, "   ", whatBreaks(v), width)
		indented(&b, "   ", p.declaredAt(v.A, v.B)+moreLike(v.More), width)
	}
	for i, c := range p.Conflicts {
		if i == 0 {
			fmt.Fprintf(&b, "\n%s\n", paint.bold(plural(len(p.Conflicts), "contradiction")))
		}
		indented(&b, fmt.Sprintf("%d. ", i+1), contradiction(c), width)
		indented(&b, "   ", p.declaredAt(c.A, c.B), width)
	}
	for i, s := range p.Suggestions {
		if i == 0 {
			fmt.Fprintf(&b, "\n%s\n", paint.bold(plural(len(p.Suggestions), "suggestion")))
		}
		indented(&b, fmt.Sprintf("%d. ", i+1), p.place(s.At)+": "+s.Why, width)
		for n, text := range s.Write {
			if n > 0 {
				b.WriteString("   or\n")
			}
			for line := range strings.SplitSeq(text, "\n") {
				b.WriteString("     " + Plain(line) + "\n") // to be copied: never wrapped
			}
		}
	}
	for i, g := range p.Gaps {
		if i == 0 {
			fmt.Fprintf(&b, "\n%s\n", paint.bold("not seen"))
		}
		at := visible(g.File)
		if g.Line > 0 {
			at += fmt.Sprintf(":%d", g.Line)
		}
		indented(&b, "   ", at+": "+g.What+": "+g.Why, width)
	}
	_, err := io.WriteString(w, b.String())
	return writing(err)
}

// overlapTitle counts the overlaps, those that are left out as well.
func (p AddressPlan) overlapTitle() string {
	n := len(p.Overlaps)
	for i := range p.Overlaps {
		n += p.Overlaps[i].More
	}
	return plural(n, "overlap")
}

// moreLike tells of overlaps that are left out.
func moreLike(n int) string {
	if n == 0 {
		return ""
	}
	return "; " + strconv.Itoa(n) + " more like it"
}

func contradiction(c cidrplan.Conflict) string {
	return clusterTitle(c.Cluster) + ": the range of " + roleTitle(c.A.Role) + " is " + c.A.Prefix.String() + said(c.A) +
		" and " + c.B.Prefix.String() + said(c.B)
}

func said(c cidrplan.Claim) string {
	if c.Says == "" {
		return ""
	}
	return " (" + c.Says + ")"
}

// indented writes wrapped prose behind a head, further lines under its text.
func indented(b *strings.Builder, head, text string, width int) {
	for i, line := range wrap(prose(text), width-len(head)) {
		if i > 0 {
			head = strings.Repeat(" ", len(head))
		}
		b.WriteString(neutral(head+line) + "\n")
	}
}

func rangeTable(w io.Writer, p AddressPlan, paint painter, width int) error {
	usages := p.usages()
	g := grid{paint: paint, footer: plural(len(usages), "range")}
	type row struct{ cluster, use, prefix, size, strength, place string }
	rows := make([]row, 0, len(usages))
	widest := row{cluster: "CLUSTER", use: "ROLE", prefix: "PREFIX", size: "ADDRESSES", strength: "STRENGTH", place: "DECLARED AT"}
	longer := func(have *string, text string) {
		if widthOf(text) > widthOf(*have) {
			*have = text
		}
	}
	for _, u := range usages {
		r := row{cluster: cmp.Or(u.cluster, "-"), use: roleTitle(u.role), prefix: u.prefix.String(), size: addresses(u.prefix), strength: string(u.strength)}
		var places []string
		for _, c := range u.claims {
			at := p.where(c)
			if c.Says != "" && at != c.Says {
				at += " " + c.Says
			}
			if !slices.Contains(places, at) {
				places = append(places, at)
			}
		}
		const most = 3
		if n := len(places); n > most {
			places = append(places[:most], fmt.Sprintf("and %d more", n-most))
		}
		if m := meaning(u.idiom); m != "" {
			places = append(places, m)
		}
		if u.owner != "" && !strings.Contains(strings.Join(places, " "), u.owner) {
			places = append(places, u.owner)
		}
		r.place = strings.Join(places, "; ")
		rows = append(rows, r)
		longer(&widest.cluster, r.cluster)
		longer(&widest.use, r.use)
		longer(&widest.prefix, r.prefix)
		longer(&widest.size, r.size)
		longer(&widest.place, r.place)
	}
	if width < wideTable {
		free := width - frame(3)
		cluster := clampInt(max(widthOf(widest.cluster), widthOf(widest.use)), 7, free*30/100)
		prefix := clampInt(max(widthOf(widest.prefix), widthOf(widest.size)), 9, free*34/100)
		g.widths = []int{cluster, prefix, free - cluster - prefix}
		g.header = []string{"CLUSTER\nROLE", "PREFIX\nADDRESSES", "DECLARED AT (STRENGTH)"}
		for _, r := range rows {
			g.add(nil, r.cluster+"\n"+r.use, r.prefix+"\n"+r.size, r.place+" ("+r.strength+")")
		}
		return g.write(w)
	}
	free := width - frame(6)
	cluster := clampInt(widthOf(widest.cluster), 7, free*20/100)
	use := clampInt(widthOf(widest.use), 4, free*14/100)
	prefix := clampInt(widthOf(widest.prefix), 6, free*24/100)
	size, strength := widthOf(widest.size), len("STRENGTH")
	g.widths = []int{cluster, use, prefix, size, strength, free - cluster - use - prefix - size - strength}
	g.header = []string{"CLUSTER", "ROLE", "PREFIX", "ADDRESSES", "STRENGTH", "DECLARED AT"}
	for _, r := range rows {
		g.add(nil, r.cluster, r.use, r.prefix, r.size, r.strength, r.place)
	}
	return g.write(w)
}
