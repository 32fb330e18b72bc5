package addressmap_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"

	"github.com/vpnlint/vpnlint/pkg/report/addressmap"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden compares the pictures that have been looked at.
func TestGolden(t *testing.T) {
	for name, m := range samples() {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".svg")
			got := draw(t, m)
			if *update {
				if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(path, got, 0o644)); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs; look at it in a browser and run `go test ./pkg/report/addressmap -update`", path)
			}
		})
	}
}

func TestPictures(t *testing.T) {
	for name, m := range samples() {
		t.Run(name, func(t *testing.T) { inspect(t, m, draw(t, m)) })
	}
}

// TestAnyMap draws maps of chance and holds each to the same.
func TestAnyMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMap(t)
		var b bytes.Buffer
		if err := addressmap.SVG(&b, m); err != nil {
			t.Fatal(err)
		}
		inspect(t, m, b.Bytes())
	})
}

func drawMap(t *rapid.T) addressmap.Map {
	prefix := rapid.Custom(func(t *rapid.T) netip.Prefix {
		if rapid.IntRange(0, 3).Draw(t, "family") == 0 {
			raw := [16]byte{0: 0xfd, 1: rapid.Byte().Draw(t, "b"), 7: rapid.Byte().Draw(t, "c"), 15: rapid.Byte().Draw(t, "d")}
			return netip.PrefixFrom(netip.AddrFrom16(raw), rapid.IntRange(1, 128).Draw(t, "bits6")).Masked()
		}
		addr := netip.AddrFrom4([4]byte{rapid.SampledFrom([]byte{10, 172, 192, 255, 0}).Draw(t, "a"), rapid.Byte().Draw(t, "b"), rapid.Byte().Draw(t, "c"), rapid.Byte().Draw(t, "d")})
		return netip.PrefixFrom(addr, rapid.IntRange(1, 32).Draw(t, "bits")).Masked()
	})
	text := rapid.StringN(0, 60, 200)
	bars := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) addressmap.Bar {
		p := prefix.Draw(t, "prefix")
		return addressmap.Bar{Prefix: p, Label: p.String() + " " + text.Draw(t, "label"), Title: text.Draw(t, "title"), Link: text.Draw(t, "link")}
	}), 1, 12)
	lanes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) addressmap.Lane {
		return addressmap.Lane{Name: text.Draw(t, "name"), Class: rapid.SampledFrom([]string{"pod", "service", "node", "vpn", "pool", "unknown"}).Draw(t, "class"), Bars: bars.Draw(t, "bars")}
	}), 1, 4)
	groups := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) addressmap.Group {
		g := addressmap.Group{Name: text.Draw(t, "cluster"), Lanes: lanes.Draw(t, "lanes")}
		for _, b := range g.Lanes[0].Bars[:rapid.IntRange(0, len(g.Lanes[0].Bars)).Draw(t, "marks")] {
			g.Marks = append(g.Marks, addressmap.Mark{Prefix: b.Prefix, Label: b.Prefix.String(), Title: text.Draw(t, "said")})
		}
		return g
	}), 1, 3)
	return addressmap.Map{Title: text.Draw(t, "title"), Groups: groups.Draw(t, "groups")}
}

func draw(t *testing.T, m addressmap.Map) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := addressmap.SVG(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// element is what the tests look at in a picture.
type element struct {
	name, class, text string
	at                map[string]string
	panel             int
}

func (e element) num(t fataler, key string) float64 {
	f, err := strconv.ParseFloat(e.at[key], 64)
	if err != nil {
		t.Fatalf("%s %v: %s: %v", e.name, e.at, key, err)
	}
	return f
}

func (e element) has(class string) bool { return slices.Contains(strings.Fields(e.class), class) }

type fataler interface {
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// parse reads the picture as strictly as XML is.
func parse(t fataler, picture []byte) []element {
	d := xml.NewDecoder(bytes.NewReader(picture))
	var out []element
	var open []int
	panel := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, picture)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local, at: map[string]string{}}
			for _, a := range token.Attr {
				e.at[a.Name.Local] = a.Value
			}
			e.class = e.at["class"]
			if e.class == "panel" {
				panel++
			}
			e.panel = panel
			open = append(open, len(out))
			out = append(out, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				out[open[len(open)-1]].text += string(token)
			}
		}
	}
}

// inspect holds a picture to what is promised of all of them.
func inspect(t fataler, m addressmap.Map, picture []byte) {
	elements := parse(t, picture)
	width, height := elements[0].num(t, "width"), elements[0].num(t, "height")
	checkHarmless(t, elements)
	checkTexts(t, elements, width, height)
	drawn := map[netip.Prefix]int{}
	for _, e := range elements {
		text := e.at["data-prefix"]
		if text == "" {
			continue
		}
		p := netip.MustParsePrefix(text)
		if !e.has("mark") {
			drawn[p]++
		}
		if e.has("everywhere") {
			continue
		}
		x1, x2 := scale(t, elements, e.panel, p)
		if x, w := e.num(t, "x"), e.num(t, "width"); math.Abs(x-x1) > 0.02 || math.Abs(x+w-x2) > 0.03 {
			t.Errorf("%s is drawn from %g to %g, it is at %g to %g", p, x, x+w, x1, x2)
		}
	}
	want := map[netip.Prefix]int{}
	families := map[bool]bool{}
	for _, g := range m.Groups {
		for _, l := range g.Lanes {
			for _, b := range l.Bars {
				want[b.Prefix]++
				families[b.Prefix.Addr().Is4()] = families[b.Prefix.Addr().Is4()] || !b.Everywhere
			}
		}
	}
	for p, n := range want {
		if families[p.Addr().Is4()] && drawn[p] != n {
			t.Errorf("%s is drawn %d times, not %d", p, drawn[p], n)
		}
	}
}

// scale computes where a prefix lies from the blocks that the picture declares.
func scale(t fataler, elements []element, panel int, p netip.Prefix) (x1, x2 float64) {
	from := number(p.Addr())
	to := new(big.Int).Add(from, new(big.Int).Lsh(big.NewInt(1), uint(p.Addr().BitLen()-p.Bits())))
	starts, ends := math.NaN(), math.NaN()
	before := math.NaN() // the right edge of the block before
	for _, e := range elements {
		if e.class != "block" || e.panel != panel {
			continue
		}
		x, w := e.num(t, "x"), e.num(t, "width")
		first, last := number(netip.MustParseAddr(e.at["data-from"])), end(p.Addr().Is4())
		if text := e.at["data-to"]; text != "end" {
			last = number(netip.MustParseAddr(text))
		}
		at := func(n *big.Int) (float64, bool) {
			if n.Cmp(first) < 0 || n.Cmp(last) > 0 {
				return 0, false
			}
			part, _ := new(big.Rat).SetFrac(new(big.Int).Sub(n, first), new(big.Int).Sub(last, first)).Float64()
			return x + w*part, true
		}
		if v, ok := at(from); ok {
			starts = v // the later block, where two meet: it shows the addresses
		} else if math.IsNaN(starts) && from.Cmp(first) < 0 {
			starts = (before + x) / 2 // left out: in the middle of the break
		}
		if v, ok := at(to); ok && math.IsNaN(ends) {
			ends = v
		} else if math.IsNaN(ends) && to.Cmp(first) < 0 {
			ends = (before + x) / 2
		}
		before = x + w
	}
	return starts, ends
}

func number(a netip.Addr) *big.Int { return new(big.Int).SetBytes(a.AsSlice()) }

func end(v4 bool) *big.Int {
	if v4 {
		return new(big.Int).Lsh(big.NewInt(1), 32)
	}
	return new(big.Int).Lsh(big.NewInt(1), 128)
}

// checkHarmless: nothing is loaded, nothing runs, and no text of the user's can
// be an element.
func checkHarmless(t fataler, elements []element) {
	allowed := []string{"svg", "style", "g", "a", "title", "text", "rect", "line", "path"}
	for _, e := range elements {
		if !slices.Contains(allowed, e.name) {
			t.Errorf("element <%s>", e.name)
		}
		for key, value := range e.at {
			if strings.HasPrefix(key, "on") || key == "src" || key == "style" || strings.Contains(value, "url(") && key != "href" && key != "aria-label" {
				t.Errorf("<%s %s=%q>", e.name, key, value)
			}
		}
		if e.name == "style" && (strings.Contains(e.text, "url(") || strings.Contains(e.text, "@import") || strings.Contains(e.text, "http")) {
			t.Errorf("the style sheet loads something: %s", e.text)
		}
	}
}

type box struct {
	x1, x2, y1, y2 float64
	text           string
}

// checkTexts: every text is inside the picture, and none meets another or a bar
// that is not its own.
func checkTexts(t fataler, elements []element, width, height float64) {
	var boxes []box
	for _, e := range elements {
		if e.name != "text" || e.text == "" {
			continue
		}
		size := 11.0
		if e.has("head") {
			size = 12
		} else if e.has("title") {
			size = 14
		}
		// A monospaced font of a browser: 0.6 of its size.
		w := 0.602 * size * float64(displaywidth.Options{}.String(e.text))
		b := box{x1: e.num(t, "x"), y1: e.num(t, "y") - size*0.8, y2: e.num(t, "y") + size*0.25, text: e.text}
		b.x2 = b.x1 + w
		if e.at["text-anchor"] == "end" {
			b.x1, b.x2 = b.x1-w, b.x1
		}
		if b.x1 < 0 || b.x2 > width || b.y1 < 0 || b.y2 > height {
			t.Errorf("%q reaches out of the picture: %+v", e.text, b)
		}
		boxes = append(boxes, b)
	}
	slices.SortFunc(boxes, func(a, b box) int { return int(math.Copysign(1, a.y1-b.y1)) })
	for i, a := range boxes {
		for _, b := range boxes[i+1:] {
			if b.y1 >= a.y2 {
				break
			}
			if a.x1 < b.x2 && b.x1 < a.x2 {
				t.Errorf("%q and %q meet", a.text, b.text)
			}
		}
	}
	for _, e := range elements {
		if e.name != "rect" || e.at["data-prefix"] == "" {
			continue
		}
		x, w, y := e.num(t, "x"), e.num(t, "width"), e.num(t, "y")
		for _, b := range boxes {
			meets := b.y1 < y+15 && y < b.y2 && b.x1 < x+w && x < b.x2
			if inside := x <= b.x1 && b.x2 <= x+w; meets && !inside {
				t.Errorf("%q meets the bar of %s", b.text, e.at["data-prefix"])
			}
		}
	}
}

func TestLimited(t *testing.T) {
	var m addressmap.Map
	for c := range 4 {
		g := addressmap.Group{Name: fmt.Sprint("cluster ", c)}
		var bars []addressmap.Bar
		for i := range 1000 {
			bars = append(bars, bar(fmt.Sprintf("10.%d.%d.%d/32", c, i/250, i%250), ""))
		}
		g.Lanes = []addressmap.Lane{lane("node", "nodes", bars...)}
		if c == 3 {
			g.Marks = []addressmap.Mark{mark("10.3.3.249/32", 1)}
		}
		m.Groups = append(m.Groups, g)
	}
	kept, left := m.Limited()
	total := 0
	var overlap bool
	for _, g := range kept.Groups {
		total += len(g.Marks)
		for _, l := range g.Lanes {
			total += len(l.Bars)
			overlap = overlap || slices.ContainsFunc(l.Bars, func(b addressmap.Bar) bool { return b.Prefix.String() == "10.3.3.249/32" })
		}
	}
	if total != addressmap.MaxBars || left != 4001-addressmap.MaxBars {
		t.Errorf("%d are kept, %d left out", total, left)
	}
	if !overlap {
		t.Error("the bar that overlaps was left out")
	}
	if same, none := samples()["forty"].Limited(); none != 0 || len(same.Groups) != 4 {
		t.Error("a small map is cut")
	}
}

// TestPage: the page is well-formed too, and what it shows is escaped.
func TestPage(t *testing.T) {
	evil := `</td><script>alert(1)</script>"'&` + "\x00\u202e"
	var b bytes.Buffer
	err := addressmap.HTML(&b, addressmap.Page{
		Map: samples()["extremes"], Note: evil,
		Tables: []addressmap.Table{
			{Heading: evil, Columns: []string{"a", evil}, Rows: []addressmap.Row{{{Text: evil + "\nsecond"}, {More: []addressmap.Link{{Text: evil, To: "./a.yaml#L1"}, {Text: "plain"}}}}}},
			{Heading: "without rows", Columns: []string{"x"}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	page := b.String()
	elements := parse(t, []byte(strings.TrimPrefix(page, "<!DOCTYPE html>")))
	names := map[string]bool{}
	for _, e := range elements {
		names[e.name] = true
	}
	if names["script"] || names["link"] || names["img"] {
		t.Errorf("elements %v", slices.Sorted(maps.Keys(names)))
	}
	for _, wrong := range []string{"without rows", "\x00", "\u202e", "src=", "@import"} {
		if strings.Contains(page, wrong) {
			t.Errorf("the page holds %q", wrong)
		}
	}
	for _, part := range []string{"prefers-color-scheme: dark", "Content-Security-Policy", `<a href="./a.yaml#L1">`} {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %q", part)
		}
	}
}
