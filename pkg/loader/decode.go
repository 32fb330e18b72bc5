package loader

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// textMap says where the bytes of a decoded text were written. For a plain
// manifest it is the identity; for a chart it maps rendered text to template
// text.
type textMap interface {
	// Map returns the provenance of the bytes [start, end) of the decoded text.
	Map(start, end int) source.Provenance
	// Absent returns the conditions inside [start, end) that kept text out.
	Absent(start, end int) []source.Guard
}

// wholeMap is a textMap that tells a mapping from its first entry, by which it is
// marked.
type wholeMap interface {
	MapWhole(start, end int) source.Provenance
}

// unit is what the objects of one render have in common.
type unit struct {
	kind      source.InputKind
	dir       string // source.Object.Unit
	namespace string // for objects that name none; "" for manifests
	crds      bool   // of a chart's crds directory
}

// identity is the textMap of a text that was written as it is decoded.
type identity struct{ file *source.File }

func (m identity) Map(start, end int) source.Provenance {
	return source.Provenance{Primary: source.Location{File: m.file.Path(), Span: m.file.Span(start, end), Precision: source.Exact}}
}

func (identity) Absent(int, int) []source.Guard { return nil }

// decodeObjects reads the objects of f, a text of any number of YAML or JSON
// documents. A document that cannot be read costs only itself and is a gap of
// kind unreadable; documents that are no Kubernetes objects are passed over,
// but for a chart, where they are a gap of kind unmodelled. The objects have no ID yet.
func decodeObjects(ctx context.Context, f *source.File, m textMap, u unit, limits Limits) ([]*source.Object, []finding.Gap) {
	d := decoder{file: f, m: m, unit: u, limits: limits.withDefaults()}
	d.aliasBudget = d.limits.AliasNodes
	split := splitDocuments
	if u.kind == source.Chart {
		split = splitRendered
	}
	chunks := d.splitJSON(split(f.Text()))
	for i, c := range chunks {
		if ctx.Err() != nil {
			d.gap(c.start, "the rest of the file was not read", "the time for it ran out", "")
			break
		}
		if i == d.limits.Documents {
			d.gap(c.start, fmt.Sprintf("documents %d and following of the file were not read", i+1),
				fmt.Sprintf("the file holds %d documents, more than the limit of %d; split it or raise --limit-documents", len(chunks), d.limits.Documents), "what they declare is missing from this report")
			break
		}
		before := len(d.objects)
		d.document(ctx, c)
		if len(d.objects) > before && unheard(f.Text(), c) {
			d.addGap(finding.Unmodelled, (&document{file: f, chunk: c}).next(c.start), "a document follows a line of three dots without a line of ---",
				"kubectl and Helm read no further than the dots and drop it without a word; write --- in their place", "it was checked as if it were applied")
		}
	}
	return d.objects, d.gaps
}

// unheard reports whether a document is one to YAML but not to kubectl, which
// splits a text at lines of --- and reads the first document of each part.
func unheard(text string, c chunk) bool {
	before := strings.TrimRight(text[:c.start], "\r\n")
	return c.start > 0 && isMarker(before[strings.LastIndexByte(before, '\n')+1:], "...") && !marked(text[c.start:c.end])
}

// marked reports whether a document has a line of ---.
func marked(text string) bool {
	for line := range strings.Lines(text) {
		if isMarker(line, "---") {
			return true
		}
	}
	return false
}

// chunk is the byte range of one document in a text.
type chunk struct{ start, end int }

// splitDocuments cuts a text at its document markers, so that each document
// can be parsed, and fail, alone. YAML gives a line that starts with --- or ...
// no other meaning, not even inside a block scalar. Only to YAML does a comment
// have to stand apart from the dashes: kubectl drops the rest of their line, and
// kustomize takes a comment.
func splitDocuments(text string) []chunk {
	var out []chunk
	start := 0
	if strings.HasPrefix(text, "\ufeff") {
		start = len("\ufeff")
	}
	for i := start; i < len(text); {
		next := len(text)
		if j := strings.IndexByte(text[i:], '\n'); j >= 0 {
			next = i + j + 1
		}
		switch line := text[i:next]; {
		case isMarker(line, "---") && i > start:
			if !onlyDirectives(text[start:i]) {
				out = append(out, chunk{start, i})
				start = i
			}
		case strings.HasPrefix(line, "---#"):
			if i > start && !onlyDirectives(text[start:i]) {
				out = append(out, chunk{start, i})
			}
			start = i + len("---")
		case isMarker(line, "..."):
			out = append(out, chunk{start, next})
			start = next
		}
		i = next
	}
	if start < len(text) {
		out = append(out, chunk{start, len(text)})
	}
	return out
}

// splitRendered cuts what templates render as Helm does: at three dashes that
// start a line, whatever follows them, and without the blanks around a document.
// Templates that trim too much leave the next document on the line of the dashes,
// those that trim too little indent its first line.
func splitRendered(text string) []chunk {
	behindBlanks := func(at int) int { return len(text) - len(strings.TrimLeft(text[at:], " \t\r\n")) }
	var out []chunk
	first := behindBlanks(len(text) - len(strings.TrimPrefix(text, "\ufeff")))
	start := first
	for i := 0; i < len(text); {
		next := len(text)
		if j := strings.IndexByte(text[i:], '\n'); j >= 0 {
			next = i + j + 1
		}
		switch line := text[i:next]; {
		case strings.HasPrefix(line, "---") && (i == first || i > start && !onlyDirectives(text[start:i])):
			if i > start {
				out = append(out, chunk{start, i})
			}
			start = behindBlanks(i + len("---"))
		case isMarker(line, "...") && i >= start:
			out = append(out, chunk{start, next})
			start = next
		}
		i = next
	}
	if start < len(text) {
		out = append(out, chunk{start, len(text)})
	}
	return out
}

// splitJSON takes the chunks apart that hold JSON objects one after the other:
// kubectl reads them all, a YAML parser only the first. What follows an object
// and is no object is a gap.
func (d *decoder) splitJSON(chunks []chunk) []chunk {
	out := make([]chunk, 0, len(chunks))
	for _, c := range chunks {
		text := d.file.Text()[c.start:c.end]
		at := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
		if !strings.HasPrefix(text[at:], "{") {
			out = append(out, c)
			continue
		}
		dec := json.NewDecoder(strings.NewReader(text[at:]))
		start, objects := at, 0
		for {
			var skipped json.RawMessage
			if err := dec.Decode(&skipped); err != nil {
				break
			}
			end := at + int(dec.InputOffset())
			if skipped[0] != '{' {
				break
			}
			out = append(out, chunk{c.start + start, c.start + end})
			start, objects = end, objects+1
		}
		switch rest := text[start:]; {
		case objects == 0:
			out = append(out, c) // YAML that looks like it
		case !blankDocument(rest):
			skip := len(rest) - len(strings.TrimLeft(rest, " \t\r\n"))
			d.gap(c.start+start+skip, "the text after the JSON object was not read",
				"only another object may follow one, and this is none; correct it, or separate the two with ---", "")
		}
	}
	return out
}

func isMarker(line, marker string) bool {
	if !strings.HasPrefix(line, marker) {
		return false
	}
	return len(line) == len(marker) || strings.IndexByte(" \t\r\n", line[len(marker)]) >= 0
}

// onlyDirectives reports whether text holds a %YAML or %TAG line and no
// content: it then belongs to the document after the marker.
func onlyDirectives(text string) bool {
	found := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "%"):
			found = true
		case line != "" && line[0] != '#':
			return false
		}
	}
	return found
}

// decoder reads the documents of one text.
type decoder struct {
	file        *source.File
	m           textMap
	unit        unit
	limits      Limits
	aliasBudget int
	nodes       int // so far, of Limits.Nodes

	objects []*source.Object
	gaps    []finding.Gap
	offsets []int // of the gaps, in the text
	// strict: a key that is written twice is a gap in whatever document.
	strict bool
	// reader is who reads a text that holds no Kubernetes object, and takes the last
	// of two keys of one name; "" where that does not matter.
	reader string
}

const lostDocument = "what this document declares is missing from this report; the other documents of the file were read"

// gap records that the document around the byte offset could not be read.
func (d *decoder) gap(offset int, what, why, consequence string) {
	if consequence == "" {
		consequence = lostDocument
	}
	d.addGap(finding.Unreadable, offset, what, why, consequence)
}

func (d *decoder) addGap(kind finding.GapKind, offset int, what, why, consequence string) {
	at := d.m.Map(offset, offset).Primary
	d.offsets = append(d.offsets, offset)
	d.gaps = append(d.gaps, finding.Gap{
		Kind: kind, File: at.File, Line: at.Span.Start.Line, What: what, Why: why, Consequence: consequence,
	})
}

// yamlErrorLine finds the line that the YAML library names in an error.
var yamlErrorLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

var unknownAnchor = regexp.MustCompile(`^unknown anchor '(.+)' referenced`)

// structural are the errors for which the library names the start of the
// construct, less one, instead of the line that breaks it.
var structural = regexp.MustCompile(`did not find expected (?:key|'-' indicator|node content)$`)

// unclosed are the errors for which the library names the line, less one, where
// the list or mapping in brackets begins.
var unclosed = regexp.MustCompile(`did not find expected ',' or '[\]}]'$`)

// unclosedAt is the line of a bracket that breaks a text: what stands before it
// parses, and with it no more.
func unclosedAt(text string, line int) int {
	ends := []int{0}
	for at := 0; len(ends) <= line+1; {
		n := strings.IndexByte(text[at:], '\n')
		if n < 0 {
			ends = append(ends, len(text))
			break
		}
		at += n + 1
		ends = append(ends, at)
	}
	for _, try := range []int{line + 1, 1} {
		if try >= len(ends) {
			continue
		}
		_, before := parseNode(text[:ends[try-1]])
		_, with := parseNode(text[:ends[try]])
		if before == nil && with != nil {
			return try
		}
	}
	return line
}

const (
	// tabbed is the error for which the library names the line of the value that
	// the tab stands behind.
	tabbed = "found a tab character that violates indentation"
	// misplaced is the error for which the library names the colon of the key behind
	// a line that lacks one: it reads both lines as one text.
	misplaced = "mapping values are not allowed in this context"
)

// tabAt is the first line behind the given one that a tab indents.
func tabAt(text string, line int) int {
	n := 0
	for l := range strings.Lines(text) {
		if n++; n > line && strings.Contains(l[:len(l)-len(strings.TrimLeft(l, " \t"))], "\t") {
			return n
		}
	}
	return line
}

// plainKey is a line that begins with a key of a mapping, plainText one without a
// colon that ends a key.
var (
	plainKey  = regexp.MustCompile(`^( *)[\w./-]+:(?:\s|$)`)
	plainText = regexp.MustCompile(`^( *)[\w./-]+(?:[ :][^\s:#][^:#]*)?\s*$`)
)

// colonlessAt is the line before the given one where that is the key, indented
// alike, of which the colon or the blank behind it is missing.
func colonlessAt(text string, line int) int {
	lines := strings.Split(text, "\n")
	if line < 2 || line > len(lines) {
		return line
	}
	key, before := plainKey.FindStringSubmatch(lines[line-1]), plainText.FindStringSubmatch(lines[line-2])
	if key == nil || before == nil || key[1] != before[1] {
		return line
	}
	return line - 1
}

// likeJSON is how JSON begins, and YAML seldom does.
var likeJSON = regexp.MustCompile(`^\s*(?:\[\s*)?\{\s*"`)

// jsonError is what breaks a text of JSON. The YAML library would name the line
// where the object around it begins.
func jsonError(text string) (line int, why string, is bool) {
	var at *json.SyntaxError
	if !likeJSON.MatchString(text) || !errors.As(json.Unmarshal([]byte(text), new(any)), &at) {
		return 0, "", false
	}
	whole := strings.TrimRight(text, " \t\r\n") // where it is cut off, its last line is to blame
	before := whole[:max(0, min(int(at.Offset)-1, len(whole)))]
	return 1 + strings.Count(before, "\n"), at.Error(), true
}

// parserDepth is how deep the parsers of YAML and JSON read at most.
const parserDepth = 10000

// tooDeep says why a text is not read that is nested too deeply.
func (l Limits) tooDeep() string {
	if l.Depth >= parserDepth {
		return fmt.Sprintf("it is nested deeper than %d levels, the most that is ever read, whatever --limit-depth allows", parserDepth)
	}
	return fmt.Sprintf("it is nested deeper than the limit of %d levels; raise --limit-depth if that is meant", l.Depth)
}

// syntaxError returns the line of a parser's error, from 1, and its message.
func syntaxError(text string, err error) (line int, why string) {
	if line, why, is := jsonError(text); is {
		return line, why
	}
	why = err.Error()
	line = 1
	m := yamlErrorLine.FindStringSubmatch(why)
	why = why[len(m[0]):]
	if n, err := strconv.Atoi(m[1]); err == nil {
		line = n
	}
	if m := unknownAnchor.FindStringSubmatch(why); m != nil {
		before, _, _ := strings.Cut(text, "*"+m[1])
		return 1 + strings.Count(before, "\n"), why
	}
	switch why {
	case tabbed:
		return tabAt(text, line), why
	case misplaced:
		return colonlessAt(text, line), why
	}
	if unclosed.MatchString(why) {
		return unclosedAt(text, line), why
	}
	const largest = 1 << 20 // looking for the line costs some twenty parses
	if !structural.MatchString(why) || len(text) > largest {
		return line, why
	}
	var ends []int
	for i := range len(text) {
		if text[i] == '\n' {
			ends = append(ends, i+1)
		}
	}
	// The line that breaks the document is the last of the shortest beginning
	// that fails in this way.
	n := sort.Search(len(ends), func(i int) bool {
		_, err := parseNode(text[:ends[i]])
		return err != nil && structural.MatchString(err.Error())
	})
	return n + 1, why
}

// document decodes one document.
func (d *decoder) document(ctx context.Context, c chunk) {
	leave, err := d.limits.budget.enter(ctx, d.file.Text()[c.start:c.end])
	if err != nil {
		d.gap(c.start, "the document was not read", "the time for it ran out", "")
		return
	}
	defer leave()
	before := d.nodes
	v, root, doc, ok := d.parse(c)
	if !ok {
		return
	}
	doc.dropped = root != nil && !d.limits.budget.keeps(d.nodes-before)
	d.take(v, root, doc, "")
	if doc.dropped {
		doc.root = nil
	}
}

// parse reads the value of one document and its node, nil when its places are
// not known. ok is false when there is nothing to read, or a gap says why it
// cannot be read.
func (d *decoder) parse(c chunk) (v any, root *yaml.Node, doc *document, ok bool) {
	text := d.file.Text()[c.start:c.end]
	if blankDocument(text) {
		return nil, nil, nil, false
	}
	if i := badByte(text); i >= 0 {
		why := fmt.Sprintf("byte 0x%02x is not UTF-8; save the file as UTF-8", text[i])
		if _, as, wide := otherEncoding(text); wide {
			i, why = 0, as.why()
		} else if text[i] < utf8.RuneSelf {
			why = fmt.Sprintf("control character 0x%02x is not allowed in YAML; remove it", text[i])
		}
		d.gap(c.start+i, "the document could not be parsed", why, "")
		return nil, nil, nil, false
	}
	if err := tooDense(text, d.limits.Nodes-d.nodes, d.limits); err != nil {
		d.gap(c.start, "the document was not read", err.Error(), "")
		return nil, nil, nil, false
	}
	d.nodes += nodesOf(text)
	doc = &document{file: d.file, chunk: c}
	root, more, err := parseFirst(text)
	if err != nil {
		// The parser for positions is stricter in places than the one that
		// Kubernetes uses, which decides.
		if !strings.Contains(text, "*") {
			if v, err := decodeLenient(text); err == nil && v != nil {
				if at := strayDirective(text); at >= 0 {
					d.unread(c.start + at)
				}
				return v, nil, doc, true
			}
		}
		line, why := syntaxError(text, err)
		if strings.Contains(why, "exceeded max depth") {
			// Parsers have a limit of their own, which is no word on the text.
			why = d.limits.tooDeep()
		}
		d.gap(min(doc.offset(line, 1), max(c.start, c.end-1)), "the document could not be parsed", explainSyntax(text, why), "")
		return nil, nil, nil, false
	}
	if root == nil {
		return nil, nil, nil, false
	}
	doc.root = root
	if next := doc.next(doc.end(root)); more && !onlyDirectives(text[next-c.start:]) {
		d.unread(next)
	}
	b := builder{limits: d.limits, aliasBudget: d.aliasBudget}
	v, err = b.value(root, 0)
	d.aliasBudget = b.aliasBudget
	// The node tree does not tell that a scalar has the tag "!".
	if err == nil && (b.tagged || strings.Contains(text, "! ")) {
		v, err = decodeLenient(text)
	}
	if err != nil {
		offset := c.start
		var ne *nodeError
		if errors.As(err, &ne) {
			offset = doc.start(ne.node)
		}
		d.gap(offset, "the document could not be read", explainSyntax(text, err.Error()), "")
		return nil, nil, nil, false
	}
	if m, ok := v.(map[string]any); d.strict || d.reader != "" || ok && d.isObject(m) {
		for _, k := range b.duplicates {
			why := cmp.Or(d.reader, "Kubernetes") + " reads the last one and drops the others; remove those that are not meant"
			if d.strict {
				why = "remove one of them"
			}
			d.addGap(finding.Unmodelled, doc.start(k), fmt.Sprintf("key %q is written twice in one mapping", k.Value), why,
				"the last value was checked, the others were not")
		}
	}
	return v, root, doc, true
}

// unread records that a document ended before its text did.
func (d *decoder) unread(offset int) {
	d.gap(offset, "the text behind the end of the document was not read",
		"the document ends before it, and kubectl drops the rest without a word; if it is a document of its own, write --- above it", "whatever it declares is missing from this report")
}

// strayDirective is the offset of a line that begins with % and ends the document
// before it, of text that goes on behind it; -1 for none.
func strayDirective(text string) int {
	at := strings.Index(text, "\n%") + 1
	if at == 0 || blankDocument(text[:at]) || onlyDirectives(text[at:]) {
		return -1
	}
	return at
}

func (d *decoder) isObject(tree map[string]any) bool {
	apiVersion, kind := identify(tree, d.file.Path())
	return apiVersion != "" && kind != ""
}

// blankDocument reports whether a document holds nothing but markers,
// comments and blanks.
func blankDocument(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line == "---" || line == "..." {
			continue
		}
		return false
	}
	return true
}

// badByte returns the offset of the first byte that makes text no YAML at all,
// or -1.
func badByte(text string) int {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\t' && c != '\n' && c != '\r' {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

var templateAction = regexp.MustCompile(`\{\{-?\s*[-/."$(\w]`)

// explainSyntax adds what the user can do to a parser's message.
func explainSyntax(text, why string) string {
	switch {
	case templateAction.MatchString(text):
		return why + "; it holds template actions ({{ … }}) but belongs to no chart: lint the chart it comes from, or the rendered output"
	case strings.Contains(why, "incompatible YAML document"):
		return why + ": Kubernetes reads YAML 1.1 only; remove the line that begins with %YAML"
	case why == tabbed, strings.Contains(why, "cannot start any token") && strings.Contains(text, "\t"):
		return why + "; YAML does not allow tabs as indentation: use spaces"
	default:
		return why
	}
}

// nodesOf estimates from above how many values a text of YAML holds: there is a
// comma, a colon, a dash or a line end beside each. A parser spends some hundred
// bytes on every one, however short it is written.
func nodesOf(text string) int {
	n := 1
	for i := range len(text) {
		switch text[i] {
		case '\n', ',', '[', '{':
			n++
		case ':', '-', '?':
			if i+1 == len(text) || text[i+1] <= ' ' || i > 0 && text[i-1] == '"' {
				n++
			}
		}
	}
	return n
}

// tooDense refuses a text with more values than are left of the limit.
func tooDense(text string, left int, limits Limits) error {
	if len(text) <= left || nodesOf(text) <= left {
		return nil
	}
	return fmt.Errorf("the text holds more than the limit of %d values; split it, or raise --limit-nodes", limits.Nodes)
}

// parseNode parses one document; the node is nil for an empty one.
func parseNode(text string) (*yaml.Node, error) {
	root, _, err := parseFirst(text)
	return root, err
}

// parseFirst is parseNode and reports whether text goes on behind the end of the
// document, as behind a bracket that closes it: readers of YAML pass over that.
func parseFirst(text string) (root *yaml.Node, more bool, err error) {
	// The input is hostile and the parser is not ours: what it did not foresee
	// must cost this document only.
	defer func() {
		if r := recover(); r != nil {
			root, more, err = nil, false, fmt.Errorf("the YAML parser gave up: %v", r)
		}
	}()
	var n yaml.Node
	dec := yaml.NewDecoder(strings.NewReader(text))
	if err := dec.Decode(&n); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, false, nil
		}
		return nil, false, err
	}
	if n.Kind != yaml.DocumentNode || len(n.Content) != 1 {
		return nil, false, nil
	}
	return n.Content[0], !errors.Is(dec.Decode(new(yaml.Node)), io.EOF), nil
}

// decodeLenient decodes a document by the library that Kubernetes and Helm
// use, for the rare documents that need more than the node tree tells.
func decodeLenient(text string) (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, fmt.Errorf("the YAML parser gave up: %v", r)
		}
	}()
	data := []byte(text)
	if !json.Valid(data) {
		if data, err = sigsyaml.YAMLToJSON(data); err != nil {
			return nil, err
		}
	}
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return plainNumbers(v), nil
}

// plainNumbers turns JSON numbers into int64 where they fit and float64 else,
// as Kubernetes does.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			v[k] = plainNumbers(x)
		}
	case []any:
		for i, x := range v {
			v[i] = plainNumbers(x)
		}
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		if f, err := v.Float64(); err == nil {
			return f
		}
		return v.String()
	}
	return v
}

// take records v, found at pointer of the document, as an object; a List is
// taken apart. root is v's node, nil when its place is not known.
func (d *decoder) take(v any, root *yaml.Node, doc *document, pointer string) {
	tree, ok := v.(map[string]any)
	if !ok {
		d.notObject(root, doc, v != nil)
		return
	}
	apiVersion, kind := identify(tree, d.file.Path())
	if apiVersion == "" || kind == "" {
		d.notObject(root, doc, len(tree) > 0)
		d.nearlyWorkload(tree, root, doc)
		return
	}
	if items, ok := listItems(kind, tree); ok {
		itemsNode := child(root, "items")
		for i, item := range items {
			if m, ok := item.(map[string]any); ok && strings.Count(pointer, "/items/") < 8 {
				d.takeItem(m, childAt(itemsNode, i), doc, fmt.Sprintf("%s/items/%d", pointer, i), apiVersion, strings.TrimSuffix(kind, "List"))
			}
		}
		return
	}
	d.add(tree, apiVersion, kind, root, doc, pointer)
}

// takeItem records an item of a list; those of a typed list (PodList) may lack
// their own apiVersion and kind.
func (d *decoder) takeItem(tree map[string]any, node *yaml.Node, doc *document, pointer, apiVersion, kind string) {
	if a, k := identify(tree, ""); (a == "" || k == "") && kind != "" {
		d.add(tree, apiVersion, kind, node, doc, pointer)
		return
	}
	d.take(tree, node, doc, pointer)
}

func (d *decoder) notObject(root *yaml.Node, doc *document, something bool) {
	if d.unit.kind != source.Chart || !something {
		return
	}
	offset := doc.chunk.start
	if root != nil {
		offset = doc.start(root)
	}
	d.addGap(finding.Unmodelled, offset, "the chart renders a document that is no Kubernetes object",
		"it has no apiVersion and kind, so the API server would refuse it", "the document was not checked")
}

const noAPIVersion = " without an apiVersion"

// podSpecs are the keys that lead to the pod spec of a workload.
var podSpecs = map[string][]string{
	"Pod": {"spec"}, "Deployment": {"spec", "template", "spec"}, "StatefulSet": {"spec", "template", "spec"},
	"DaemonSet": {"spec", "template", "spec"}, "ReplicaSet": {"spec", "template", "spec"}, "Job": {"spec", "template", "spec"},
	"CronJob": {"spec", "jobTemplate", "spec", "template", "spec"},
}

// mapAt returns the mapping that the keys lead to, nil for none.
func mapAt(tree map[string]any, keys []string) map[string]any {
	for _, key := range keys {
		tree, _ = tree[key].(map[string]any)
	}
	return tree
}

// nearlyWorkload notes what is a workload but for its apiVersion: whoever wrote it
// takes it for one, and the API server does not.
func (d *decoder) nearlyWorkload(tree map[string]any, root *yaml.Node, doc *document) {
	kind, _ := tree["kind"].(string)
	lead, ok := podSpecs[kind]
	if _, has := tree["apiVersion"]; has || !ok || d.unit.kind != source.Manifest {
		return
	}
	pod := mapAt(tree, lead)
	if containers, _ := pod["containers"].([]any); len(containers) == 0 {
		return
	}
	offset := doc.chunk.start
	if root != nil {
		offset = doc.start(root)
	}
	d.addGap(finding.Unmodelled, offset, "a "+kind+noAPIVersion,
		"the API server refuses it; write the apiVersion, or correct its spelling", "it was not checked")
}

func (d *decoder) add(tree map[string]any, apiVersion, kind string, root *yaml.Node, doc *document, pointer string) {
	origin := &textOrigin{doc: doc, root: root, m: d.m, base64: kind == "Secret"}
	if doc.dropped && root != nil {
		origin.root, origin.again = nil, func() *yaml.Node { return doc.again(pointer) }
	}
	o := &source.Object{
		APIVersion: apiVersion, Kind: kind, Tree: tree,
		Namespace: d.unit.namespace, Unit: d.unit.dir, Input: d.unit.kind,
		Origin: origin,
	}
	if meta, ok := tree["metadata"].(map[string]any); ok {
		o.Name, _ = meta["name"].(string)
		if ns, _ := meta["namespace"].(string); ns != "" {
			o.Namespace = ns
		}
	}
	o.Helm = helmRole(tree)
	if d.unit.crds {
		o.Helm = source.HelmCRD
	}
	d.objects = append(d.objects, o)
}

// helmRole reads the annotation by which Helm knows its hooks. It is an object's
// own and counts in what helm template wrote as well.
func helmRole(tree map[string]any) source.HelmRole {
	annotations := asMap(asMap(tree["metadata"])["annotations"])
	events, _ := annotations["helm.sh/hook"].(string)
	role := source.HelmRole("")
	for event := range strings.SplitSeq(events, ",") {
		switch strings.TrimSpace(event) {
		case "":
		case "test", "test-success", "test-failure":
			if role == "" {
				role = source.HelmTest
			}
		default:
			return source.HelmHook // it runs by itself, whatever else it is
		}
	}
	return role
}

// listItems returns the items of a List or a typed list such as ConfigMapList.
func listItems(kind string, tree map[string]any) ([]any, bool) {
	if !strings.HasSuffix(kind, "List") {
		return nil, false
	}
	if _, ok := tree["spec"]; ok {
		return nil, false // a custom resource that happens to be called so
	}
	items, ok := tree["items"].([]any)
	return items, ok || kind == "List"
}
