package addressmap

import (
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// palette is the picture's colours by role, on light and dark ground. Fills are
// faint, so that text on them reads like text beside them; edges carry the
// colour.
var palette = []struct{ class, light, dark string }{
	{"pod", "#0969da", "#58a6ff"},
	{"service", "#1a7f6b", "#3fb9a0"},
	{"node", "#59636e", "#9198a1"},
	{"vpn", "#8250df", "#bc8cff"},
	{"pool", "#bc4c00", "#f0883e"},
}

// Style is the style sheet of a picture. It follows the reader's own scheme and
// loads nothing.
func style() string {
	var b strings.Builder
	b.WriteString(`.map text{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1f2328;white-space:pre}
.map .ground{fill:#ffffff}
.map .frame{fill:none;stroke:#d1d9e0}
.map .block{fill:#f6f8fa}
.map .tick{stroke:#d1d9e0}
.map .gap{stroke:#818b98;fill:none}
.map .rule{stroke:#d1d9e0}
.map text.head{font-weight:bold;font-size:12px}
.map text.title{font-weight:bold;font-size:14px}
.map text.quiet{fill:#59636e}
.map text.halo{paint-order:stroke;stroke:#ffffff;stroke-width:3px;stroke-linejoin:round}
.map .bar{fill:#59636e;fill-opacity:.18;stroke:#59636e}
.map .faint{stroke-dasharray:4 3;fill-opacity:.07}
.map .everywhere{stroke-dasharray:1 4;fill-opacity:.05}
.map .pin{fill-opacity:1}
.map .shared{fill:#cf222e;fill-opacity:.13;stroke:none}
.map .mark{fill:#cf222e;fill-opacity:.75;stroke:#cf222e}
.map text.mark{fill:#a40e26;fill-opacity:1;stroke:#ffffff;font-weight:bold}
.map a:hover text{text-decoration:underline}
`)
	for _, c := range palette {
		fmt.Fprintf(&b, ".map .%s{fill:%s;stroke:%s}\n", c.class, c.light, c.light)
	}
	b.WriteString(`@media (prefers-color-scheme: dark){
.map text{fill:#f0f6fc}
.map .ground{fill:#0d1117}
.map .frame,.map .rule,.map .tick{stroke:#3d444d}
.map .block{fill:#161b22}
.map .gap{stroke:#9198a1}
.map text.quiet{fill:#9198a1}
.map text.halo{stroke:#0d1117}
.map .bar{fill:#9198a1;stroke:#9198a1}
.map .shared{fill:#ff7b72;fill-opacity:.2}
.map .mark{fill:#f85149;stroke:#f85149}
.map text.mark{fill:#ff9a93;stroke:#0d1117}
`)
	for _, c := range palette {
		fmt.Fprintf(&b, ".map .%s{fill:%s;stroke:%s}\n", c.class, c.dark, c.dark)
	}
	b.WriteString("}\n")
	return b.String()
}

// SVG writes the map as a picture of its own. It loads nothing, and everything
// that comes from the map is escaped.
func SVG(w io.Writer, m Map) error {
	_, err := io.WriteString(w, svg(m))
	if err != nil {
		return fmt.Errorf("writing the map: %w", err)
	}
	return nil
}

func svg(m Map) string {
	panels, height := layout(m)
	d := &drawing{}
	d.line(`<svg xmlns="http://www.w3.org/2000/svg" class="map" width="%d" height="%s" viewBox="0 0 %d %s" role="img" aria-label="%s">`,
		pictureWidth, num(height), pictureWidth, num(height), escape(m.Title))
	d.line("<style>\n%s</style>", style())
	d.line(`<rect class="ground" width="%d" height="%s"/>`, pictureWidth, num(height))
	d.line(`<rect class="frame" x="0.5" y="0.5" width="%d" height="%s" rx="8"/>`, pictureWidth-1, num(height-1))
	if m.Title != "" {
		d.line(`<text class="title" x="%d" y="%d">%s</text>`, margin, margin+12, escape(clipped(m.Title, (pictureWidth-2*margin)*11/14)))
	}
	for i := range panels {
		d.panel(&panels[i])
	}
	d.legend(height-legendSize+laneGap, panels)
	d.line("</svg>")
	return d.String()
}

type drawing struct{ strings.Builder }

func (d *drawing) line(format string, args ...any) {
	fmt.Fprintf(&d.Builder, format+"\n", args...)
}

// num writes a coordinate; hundredths are finer than any screen.
func num(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func px(f float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(f, 'f', 2, 64), "0"), ".")
}

// escape makes a text safe inside elements and attributes; line breaks stay.
func escape(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = html.EscapeString(printable(l))
	}
	return strings.Join(lines, "\n")
}

// printable spells out, in one line, what XML cannot hold and what would act on
// the display instead of being shown.
func printable(s string) string {
	if strings.IndexFunc(s, unprintable) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unprintable(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// unprintable: controls, what reorders its neighbours, what no font shows, and
// what XML refuses.
func unprintable(r rune) bool {
	return r != '\u200d' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) || r == '\ufffe' || r == '\uffff')
}

const axisX = margin + gutter

func (d *drawing) panel(p *panel) {
	d.line(`<g class="panel" data-family="%s">`, family(p.axis.v4))
	d.axis(p)
	for i := range p.groups {
		d.ground(&p.groups[i])
	}
	d.gaps(p)
	for i := range p.groups {
		d.texts(&p.groups[i])
	}
	d.line("</g>")
}

func family(v4 bool) string {
	if v4 {
		return "IPv4"
	}
	return "IPv6"
}

// axis draws the blocks and the addresses at their ends. An end stands in the
// second line where it would meet the start.
func (d *drawing) axis(p *panel) {
	d.line(`<text class="head" x="%d" y="%s">%s</text>`, margin, px(p.top+11), family(p.axis.v4))
	for _, b := range p.axis.blocks {
		from, to := p.axis.name(b.from), p.axis.name(b.to)
		x1, x2 := axisX+b.x, axisX+b.x+b.width
		d.line(`<rect class="block" data-from="%s" data-to="%s" x="%s" y="%s" width="%s" height="%s"/>`,
			from, to, px(x1), px(p.top+axisHeight-4), px(b.width), px(p.bottom-p.top-axisHeight))
		line := 0.0
		if textWidth(from)+textWidth(to)+2*labelGap > b.width {
			line = 13
		}
		d.line(`<text class="quiet" x="%s" y="%s">%s</text>`, px(x1), px(p.top+11), from)
		d.line(`<text class="quiet" x="%s" y="%s" text-anchor="end">%s</text>`, px(x2), px(p.top+11+line), to)
		for _, x := range []float64{x1, x2} {
			d.line(`<line class="tick" x1="%s" x2="%s" y1="%s" y2="%s"/>`, px(x), px(x), px(p.top+axisHeight-8), px(p.bottom-4))
		}
	}
}

// gaps draws the breaks: two waves through everything, and how much they hide.
func (d *drawing) gaps(p *panel) {
	for i := 1; i < len(p.axis.blocks); i++ {
		left, right := p.axis.blocks[i-1], p.axis.blocks[i]
		d.line(`<g class="break"><title>%s to %s is left out</title>`, p.axis.name(left.to), p.axis.name(right.from))
		for _, x := range []float64{axisX + left.x + left.width + breakWidth/2 - 3, axisX + left.x + left.width + breakWidth/2 + 3} {
			var path strings.Builder
			fmt.Fprintf(&path, "M%s %s", px(x), px(p.top+axisHeight-8))
			side := 2.5
			for y := p.top + axisHeight - 8; y+8 <= p.bottom-4; y += 8 {
				fmt.Fprintf(&path, "q%s 4 0 8", px(side))
				side = -side
			}
			d.line(`<path class="gap" d="%s"/>`, &path)
		}
		d.line("</g>")
	}
}

// ground draws the lanes of a group without their texts.
func (d *drawing) ground(g *placedGroup) {
	if g.name != "" {
		d.line(`<line class="rule" x1="%d" x2="%d" y1="%s" y2="%s"/>`, margin, pictureWidth-margin, px(g.y+2), px(g.y+2))
	}
	for _, m := range g.marks {
		d.line(`<rect class="shared" x="%s" y="%s" width="%s" height="%s"/>`,
			px(axisX+m.x), px(g.top-2), px(max(m.width, pinBelow)), px(m.y-g.top+4))
	}
	for _, l := range g.lanes {
		for _, b := range l.bars {
			d.bar(&b, l.class)
		}
	}
	for _, m := range g.marks {
		d.open(m.Link, m.Title)
		d.line(`<rect class="mark" data-prefix="%s" x="%s" y="%s" width="%s" height="%d"/>`, m.Prefix, px(axisX+m.x), px(m.y), px(m.width), barHeight)
		if m.pin {
			d.pin(axisX+m.x+m.width/2, m.y, "mark")
		}
		d.close(m.Link)
	}
}

func (d *drawing) bar(b *placedBar, class string) {
	classes := "bar " + known(class)
	if b.Faint {
		classes += " faint"
	}
	if b.Everywhere {
		classes += " everywhere"
	}
	d.open(b.Link, b.Title)
	d.line(`<rect class="%s" data-prefix="%s" x="%s" y="%s" width="%s" height="%d" rx="2"/>`,
		classes, b.Prefix, px(axisX+b.x), px(b.y), px(b.width), barHeight)
	if b.pin {
		d.pin(axisX+b.x+b.width/2, b.y, known(class))
	}
	d.close(b.Link)
}

// pin marks what is too narrow to be seen: a diamond on a stem.
func (d *drawing) pin(x, y float64, class string) {
	d.line(`<path class="pin %s" d="M%s %sv%dm0 %dl3.5 4 -3.5 4 -3.5 -4z"/>`, class, px(x), px(y), barHeight, -barHeight)
}

func (d *drawing) open(link, title string) {
	if link != "" {
		d.line(`<a href="%s">`, escape(link))
	} else {
		d.line("<g>")
	}
	if title != "" {
		d.line("<title>%s</title>", escape(title))
	}
}

func (d *drawing) close(link string) {
	if link != "" {
		d.line("</a>")
		return
	}
	d.line("</g>")
}

func known(class string) string {
	for _, c := range palette {
		if c.class == class {
			return class
		}
	}
	return "other"
}

// texts come last, above bars and breaks.
func (d *drawing) texts(g *placedGroup) {
	if g.name != "" {
		d.line(`<text class="head" x="%d" y="%s">%s<title>%s</title></text>`,
			margin, px(g.y+18), escape(clipped(g.name, (pictureWidth-2*margin)*11/12)), escape(g.name))
	}
	for _, l := range g.lanes {
		d.line(`<text x="%d" y="%s">%s<title>%s</title></text>`, margin+8, px(l.y+barHeight-4), escape(clipped(l.name, gutter-16)), escape(l.name))
		for _, b := range l.bars {
			d.label(b.label, b.y, "halo", b.Link, b.Title)
		}
	}
	if len(g.marks) > 0 {
		d.line(`<text class="halo mark" x="%d" y="%s">overlaps</text>`, margin+8, px(g.marks[0].y+barHeight-4))
	}
	for _, m := range g.marks {
		d.label(m.label, m.y, "halo mark", m.Link, m.Title)
	}
}

func (d *drawing) label(l placedLabel, y float64, class, link, title string) {
	if l.text == "" {
		return
	}
	d.open(link, title)
	anchor := ""
	if l.anchor == "end" {
		anchor = ` text-anchor="end"`
	}
	d.line(`<text class="%s" x="%s" y="%s"%s>%s</text>`, class, px(axisX+l.x), px(y+barHeight-4), anchor, escape(l.text))
	d.close(link)
}

// legend says what is not obvious.
func (d *drawing) legend(y float64, panels []panel) {
	said := "each block has its own scale"
	for _, p := range panels {
		if len(p.axis.blocks) > 1 {
			said += "; waves: addresses left out"
			break
		}
	}
	var pin, faint, everywhere bool
	for _, p := range panels {
		for _, g := range p.groups {
			for _, l := range g.lanes {
				for _, b := range l.bars {
					pin, faint, everywhere = pin || b.pin, faint || b.Faint, everywhere || b.Everywhere
				}
			}
		}
	}
	if pin {
		said += "; diamond: too narrow to be seen"
	}
	if faint {
		said += "; dashed: not written, a default or seen in use"
	}
	if everywhere {
		said += "; dotted: a default route"
	}
	d.line(`<text class="quiet" x="%d" y="%s">%s</text>`, margin, px(y+10), said)
}
