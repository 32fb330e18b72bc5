package report

// Quirks of those who read SARIF, and what this writer does about them:
//
//   - GitHub refuses a file without `results`, with lines below 1, with more
//     than 25,000 results of a run, and base ids that it cannot resolve:
//     `results` is always there, regions are clamped to their file, what is
//     over the limit is cut from the least severe on (with a notification), and
//     URIs are plain relative ones.
//   - upload-sarif computes primaryLocationLineHash itself and warns about
//     others: our fingerprint has its own key.
//   - go-sarif writes every default of the schema (rank -1, index -1, empty
//     lists): they are removed, because some readers take rank -1 for a rank.

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

const (
	// fingerprintKey names our fingerprint and its version.
	fingerprintKey = "vpnlint/v1"
	// maxResults is what GitHub accepts in one run.
	maxResults = 25000
	// helpRoot is where the pages of the rules are published.
	helpRoot = "https://github.com/vpnlint/vpnlint/blob/main/rules/docs/"
	// maxShortText is what GitHub shows of a rule's short texts.
	maxShortText = 1024
)

// SARIF writes the report as SARIF 2.1.0 with one run. URIs are relative to
// o.SourceRoot; columns count UTF-16 code units. Gaps become notifications of
// the run's invocation, which did not succeed when one of them is unreadable.
func SARIF(w io.Writer, r Report, o Options) error {
	s := sarifWriter{report: r, options: o, rules: map[string]int{}}
	log, err := s.log()
	if err != nil {
		return err
	}
	return writeJSON(w, log)
}

type sarifWriter struct {
	report  Report
	options Options
	rules   map[string]int // index in the driver's list, by id
}

func (s *sarifWriter) log() (any, error) {
	run := sarif.NewRun()
	driver := sarif.NewToolComponent().WithName(toolName)
	if s.report.Version != "" {
		driver.WithVersion(s.report.Version)
	}
	for _, m := range s.allRules() {
		s.rules[m.ID] = len(driver.Rules)
		driver.AddRule(sarifRule(m))
	}
	for _, k := range gapKinds() {
		driver.Notifications = append(driver.Notifications, sarif.NewReportingDescriptor().
			WithID(string(k.kind)).
			WithShortDescription(multiformat(k.means, "")))
	}
	run.Tool = sarif.NewTool()
	run.Tool.Driver = driver
	run.ColumnKind = ptr("utf16CodeUnits")

	kept, left := mostSevere(s.report.Findings, maxResults)
	anySuppressed := slices.ContainsFunc(kept, func(f finding.Finding) bool { return f.Suppressed != nil })
	for i := range kept {
		run.AddResult(s.result(&kept[i]))
	}
	run.AddInvocation(s.invocation(left))

	tree, err := plainTree(sarif.NewReport().AddRun(run))
	if err != nil {
		return nil, err
	}
	tree = withoutDefaults(tree)
	complete(tree, anySuppressed)
	return tree, nil
}

// allRules returns the rules that ran and, for findings whose rule is not among
// them, what the finding says of it: every result needs its rule.
func (s *sarifWriter) allRules() []finding.RuleMeta {
	rules := slices.Clone(s.report.Rules)
	have := map[string]bool{}
	for i := range rules {
		have[rules[i].ID] = true
	}
	for i := range s.report.Findings {
		f := &s.report.Findings[i]
		if !have[f.Rule] {
			have[f.Rule] = true
			rules = append(rules, finding.RuleMeta{
				ID: f.Rule, Name: f.Name, Title: f.Name, Severities: []finding.Severity{f.Severity},
			})
		}
	}
	slices.SortStableFunc(rules, func(a, b finding.RuleMeta) int { return strings.Compare(a.ID, b.ID) })
	return rules
}

func sarifRule(m finding.RuleMeta) *sarif.ReportingDescriptor {
	title := firstOf(m.Title, m.Name, m.ID)
	d := sarif.NewReportingDescriptor().WithID(m.ID)
	if m.Name != "" {
		d.WithName(m.Name)
	}
	if !m.User && m.Since != "" {
		d.WithHelpURI(helpRoot + m.ID + ".md")
	}
	d.WithShortDescription(multiformat(shorten(title, maxShortText), ""))
	d.WithFullDescription(multiformat(shorten(firstOf(m.Description, title), maxShortText), ""))
	text, markdown := ruleHelp(m, title)
	d.WithHelp(multiformat(text, markdown))
	configuration := sarif.NewReportingConfiguration()
	configuration.Level = string(m.Severity())
	d.DefaultConfiguration = configuration

	tags := []string{"kubernetes", "networking", "vpn"}
	if m.Family != "" && !slices.Contains(tags, m.Family) {
		tags = append(tags, m.Family)
	}
	properties := sarif.NewPropertyBag()
	properties.Tags = tags
	properties.Add("precision", "high")
	properties.Add("problem.severity", problemSeverity(m.Severity()))
	d.Properties = properties
	return d
}

// problemSeverity is GitHub's name for a severity.
func problemSeverity(s finding.Severity) string {
	if s == finding.Note {
		return "recommendation"
	}
	return string(s)
}

// ruleHelp is the page of a rule that viewers show beside a result.
func ruleHelp(m finding.RuleMeta, title string) (text, markdown string) {
	var plain, md strings.Builder
	fmt.Fprintf(&md, "# %s %s\n\n", m.ID, title)
	fmt.Fprintf(&plain, "%s %s\n", m.ID, title)
	part := func(heading, body string) {
		body = strings.TrimSpace(body)
		if body == "" {
			return
		}
		if heading == "" {
			fmt.Fprintf(&md, "%s\n\n", body)
			fmt.Fprintf(&plain, "\n%s\n", body)
			return
		}
		fmt.Fprintf(&md, "## %s\n\n%s\n\n", heading, body)
		fmt.Fprintf(&plain, "\n%s: %s\n", heading, body)
	}
	part("", m.Description)
	part("Fires when", m.Fires)
	part("Stays silent when", m.Silent)
	part("What to do", m.Remedy)
	var links, bare []string
	for _, l := range m.Sources {
		links = append(links, fmt.Sprintf("- [%s](%s)", l.Title, l.URL))
		bare = append(bare, fmt.Sprintf("\n%s %s", l.Title, l.URL))
	}
	if len(links) > 0 {
		fmt.Fprintf(&md, "## Sources\n\n%s\n", strings.Join(links, "\n"))
		fmt.Fprintf(&plain, "\nSources:%s\n", strings.Join(bare, ""))
	}
	return strings.TrimSpace(plain.String()), strings.TrimSpace(md.String()) + "\n"
}

func (s *sarifWriter) result(f *finding.Finding) *sarif.Result {
	index := s.rules[f.Rule]
	out := sarif.NewRuleResult(f.Rule).WithRuleIndex(index).WithLevel(string(f.Severity))
	out.Message = linkedMessage(f.Message, f.Related)
	primary := s.location(f.Primary)
	if f.Object.Kind != "" {
		logical := sarif.NewLogicalLocation()
		logical.FullyQualifiedName = ptr(f.Object.String() + fragment(f.Pointer))
		logical.Kind = ptr("resource")
		primary.LogicalLocations = []*sarif.LogicalLocation{logical}
	}
	out.Locations = []*sarif.Location{primary}
	for i, n := range f.Related {
		related := s.location(n.At)
		related.ID = i + 1
		if n.Says != "" {
			related.Message = message(n.Says)
		}
		out.RelatedLocations = append(out.RelatedLocations, related)
	}
	if f.Fingerprint != "" {
		out.PartialFingerprints = map[string]string{fingerprintKey: f.Fingerprint}
	}
	if f.Suppressed != nil {
		out.Suppressions = []*sarif.Suppression{s.suppression(f.Suppressed)}
	}
	for i := range f.Fixes {
		if fix := s.fix(&f.Fixes[i]); fix != nil {
			out.Fixes = append(out.Fixes, fix)
		}
	}
	properties := sarif.NewPropertyBag()
	properties.Add("precision", string(precisionOf(f.Primary)))
	addList(properties, "containers", f.Containers)
	addList(properties, "clusters", f.Clusters)
	addList(properties, "valueSets", f.ValueSets)
	addList(properties, "verify", f.Verify)
	out.Properties = properties
	return out
}

func fragment(pointer string) string {
	if pointer == "" {
		return ""
	}
	return "#" + pointer
}

func addList(p *sarif.PropertyBag, key string, values []string) {
	if len(values) > 0 {
		p.Add(key, values)
	}
}

// line is the location of a whole line, or of a file where the line is 0.
func (s *sarifWriter) line(name string, line int) *sarif.Location {
	at := source.Location{File: name, Precision: source.WholeFile}
	if line > 0 {
		at.Precision = source.Exact
		at.Span.Start = source.Position{Line: line, Column: 1}
		at.Span.End = at.Span.Start
		if file := s.report.Files[name]; file != nil {
			at.Span.End.Column += utf8.RuneCountInString(file.Line(line))
		}
	}
	return s.location(at)
}

func (s *sarifWriter) suppression(in *finding.Suppression) *sarif.Suppression {
	out := sarif.NewSuppression()
	out.Kind = ptr("external")
	if in.By == "comment" || in.By == "annotation" {
		out.Kind = ptr("inSource")
	}
	out.Status = ptr("accepted")
	if in.Reason != "" {
		out.Justification = ptr(in.Reason)
	}
	if in.File != "" {
		out.Location = s.line(in.File, in.Line)
	}
	return out
}

// fix returns nil for a fix without edits: the schema wants a change.
func (s *sarifWriter) fix(in *finding.Fix) *sarif.Fix {
	out := sarif.NewFix()
	out.Description = message(in.Title)
	if in.Review != "" {
		out.Description = message(in.Title + "; decide first: " + in.Review)
	}
	var change *sarif.ArtifactChange
	file := ""
	for _, e := range in.Edits {
		if change == nil || e.At.File != file {
			change, file = sarif.NewArtifactChange(), e.At.File
			change.ArtifactLocation = s.artifact(file)
			out.ArtifactChanges = append(out.ArtifactChanges, change)
		}
		replacement := sarif.NewReplacement()
		replacement.DeletedRegion = s.region(e.At)
		if text := s.inserted(e); text != "" {
			replacement.InsertedContent = sarif.NewArtifactContent()
			replacement.InsertedContent.Text = ptr(text)
		}
		change.Replacements = append(change.Replacements, replacement)
	}
	if len(out.ArtifactChanges) == 0 {
		return nil
	}
	return out
}

// inserted is the text of an edit without the line break that the region, which
// must end inside the file, could not take along.
func (s *sarifWriter) inserted(e finding.Edit) string {
	if file := s.report.Files[e.At.File]; file != nil && e.At.Span.End.Line > file.Lines() {
		return strings.TrimSuffix(e.Text, "\n")
	}
	return e.Text
}

// gapKinds lists the kinds of notifications in the order of their index.
func gapKinds() []gapKind {
	return []gapKind{
		{finding.Unreadable, "error", "An input could not be parsed, rendered or built: nothing is known of it."},
		{finding.Unresolved, "warning", "A value lies where it cannot be seen, so the rules that need it stay silent."},
		{finding.Unmodelled, "note", "Something was seen but is not understood, so the rules that need it stay silent."},
	}
}

type gapKind struct {
	kind  finding.GapKind
	level string
	means string
}

func (s *sarifWriter) invocation(left int) *sarif.Invocation {
	out := sarif.NewInvocation()
	succeeded := true
	for i := range s.report.Gaps {
		g := &s.report.Gaps[i]
		succeeded = succeeded && g.Kind != finding.Unreadable
		out.ToolExecutionNotifications = append(out.ToolExecutionNotifications, s.notification(g))
	}
	if left > 0 {
		n := sarif.NewNotification()
		n.Level = "warning"
		n.Message = message(fmt.Sprintf(
			"%d of the least severe findings were left out: code hosts refuse more than %d in one run", left, maxResults))
		out.ToolExecutionNotifications = append(out.ToolExecutionNotifications, n)
	}
	out.ExecutionSuccessful = ptr(succeeded)
	return out
}

func (s *sarifWriter) notification(g *finding.Gap) *sarif.Notification {
	n := sarif.NewNotification()
	n.Level = "warning"
	for i, k := range gapKinds() {
		if k.kind == g.Kind {
			n.Level = k.level
			n.Descriptor = sarif.NewReportingDescriptorReference()
			n.Descriptor.ID = ptr(string(k.kind))
			n.Descriptor.Index = i
		}
	}
	n.Message = message(g.What + ": " + g.Why + "; " + g.Consequence)
	if g.File != "" {
		n.Locations = []*sarif.Location{s.line(g.File, g.Line)}
	}
	properties := sarif.NewPropertyBag()
	if g.Object != nil {
		properties.Add("object", g.Object.String())
	}
	addList(properties, "rules", g.Rules)
	if len(properties.Properties) > 0 {
		n.Properties = properties
	}
	return n
}

func (s *sarifWriter) location(l source.Location) *sarif.Location {
	physical := sarif.NewPhysicalLocation()
	physical.ArtifactLocation = s.artifact(l.File)
	physical.Region = s.region(l)
	out := sarif.NewLocation()
	out.PhysicalLocation = physical
	return out
}

func (s *sarifWriter) artifact(file string) *sarif.ArtifactLocation {
	out := sarif.NewArtifactLocation()
	out.URI = ptr(sourceURI(file, s.options))
	return out
}

// sourceURI is the percent-encoded URI of a file, relative to the source root.
// A file outside of it becomes an absolute file URI, because readers refuse
// paths that climb.
func sourceURI(file string, o Options) string {
	if file == stdin {
		return file
	}
	p, ok := underSourceRoot(file, o)
	if ok {
		return (&url.URL{Path: p}).String()
	}
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/x
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

// region converts a span. Lines and columns are clamped to the file, so that a
// place never lies before its first or behind its last character.
func (s *sarifWriter) region(l source.Location) *sarif.Region {
	out := sarif.NewRegion()
	if !known(l) {
		out.StartLine = ptr(1)
		return out
	}
	span := normal(l.Span)
	file := s.report.Files[l.File]
	switch {
	case file != nil:
		span.Start, span.End = clamp(file, span.Start), clamp(file, span.End)
		span.Start.Column, span.End.Column = file.UTF16(span.Start), file.UTF16(span.End)
	case span.Start == span.End:
		// Of a line whose text is not at hand, only the line can be said.
		out.StartLine = ptr(span.Start.Line)
		return out
	}
	out.StartLine, out.StartColumn = ptr(span.Start.Line), ptr(span.Start.Column)
	out.EndLine, out.EndColumn = ptr(span.End.Line), ptr(span.End.Column)
	return out
}

func clamp(file *source.File, p source.Position) source.Position {
	if last := file.Lines(); p.Line > last {
		return source.Position{Line: last, Column: 1 + utf8.RuneCountInString(file.Line(last))}
	}
	p.Column = min(p.Column, 1+utf8.RuneCountInString(file.Line(p.Line)))
	return p
}

// mostSevere returns at most limit findings in their order, leaving out notes
// first, then warnings; left is how many.
func mostSevere(all []finding.Finding, limit int) (kept []finding.Finding, left int) {
	if len(all) <= limit {
		return all, 0
	}
	keep := make([]bool, len(all))
	room := limit
	for _, sev := range []finding.Severity{finding.Error, finding.Warning, finding.Note} {
		for i := range all {
			if room > 0 && all[i].Severity == sev {
				keep[i] = true
				room--
			}
		}
	}
	for i := range all {
		if keep[i] {
			kept = append(kept, all[i])
		}
	}
	return kept, len(all) - len(kept)
}

// message makes a text that no reader takes for a link or a placeholder.
func message(text string) *sarif.Message {
	text = strings.TrimSpace(strings.ToValidUTF8(text, string(utf8.RuneError)))
	if text == "" {
		text = "(no message)"
	}
	m := sarif.NewMessage()
	m.Text = ptr(strings.ReplaceAll(text, "](", "] ("))
	return m
}

// linkedMessage is a message with links to the related locations: code hosts show
// those that a message names, and no others. Their ids count from 1.
func linkedMessage(text string, related []source.Note) *sarif.Message {
	m := message(text)
	var links []string
	for i, n := range related {
		if says := strings.Join(strings.Fields(n.Says), " "); says != "" {
			links = append(links, fmt.Sprintf("[%s](%d)", escapeLink(says), i+1))
		}
	}
	if len(links) > 0 {
		// Ours are links only where all other brackets are none.
		m.Text = ptr(escapeLink(*message(text).Text) + ". See: " + strings.Join(links, "; ") + ".")
	}
	return m
}

// escapeLink keeps brackets from being read as a link (SARIF 2.1.0, 3.11.6).
func escapeLink(text string) string {
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`).Replace(text)
}

func multiformat(text, markdown string) *sarif.MultiformatMessageString {
	m := sarif.NewMultiformatMessageString()
	m.Text = ptr(text)
	if markdown != "" {
		m.Markdown = ptr(markdown)
	}
	return m
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v = strings.TrimSpace(v); v != "" {
			return v
		}
	}
	return ""
}

// shorten cuts a text to at most n characters at a word.
func shorten(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	short := string([]rune(text)[:n-len(cut)])
	if i := strings.LastIndexAny(short, " \n"); i > 0 {
		short = short[:i]
	}
	return strings.TrimSpace(short) + cut
}

func ptr[T any](v T) *T { return &v }

// plainTree turns the library's types into maps, lists and numbers.
func plainTree(log *sarif.Report) (any, error) {
	data, err := json.Marshal(log)
	if err != nil {
		return nil, fmt.Errorf("encoding the report: %w", err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, fmt.Errorf("encoding the report: %w", err)
	}
	return tree, nil
}

// isDefault reports whether the library wrote a value that means "not set".
func isDefault(key string, value any) bool {
	switch key {
	case "rank", "index", "parentIndex", "id", "charOffset", "byteOffset", "ruleIndex":
		return value == json.Number("-1")
	case "enabled":
		return value == true
	case "isComprehensive":
		return value == false
	case "language":
		return value == "en-US"
	case "kind":
		return value == "fail"
	case "newlineSequences":
		return true
	}
	switch v := value.(type) {
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	case nil:
		return true
	}
	return false
}

// withoutDefaults removes what says nothing. Property bags are ours and stay.
func withoutDefaults(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			if key != "properties" {
				v[key] = withoutDefaults(member)
			}
			if isDefault(key, v[key]) {
				delete(v, key)
			}
		}
		return v
	case []any:
		for i := range v {
			v[i] = withoutDefaults(v[i])
		}
		return v
	default:
		return value
	}
}

// complete puts back the empty lists that mean something: a run without results
// found nothing, one without the list did not look; and where one result says
// whether it is suppressed, all must.
func complete(tree any, anySuppressed bool) {
	log, _ := tree.(map[string]any)
	runs, _ := log["runs"].([]any)
	for _, r := range runs {
		run, _ := r.(map[string]any)
		if run["results"] == nil {
			run["results"] = []any{}
		}
		results, _ := run["results"].([]any)
		for _, x := range results {
			if result, ok := x.(map[string]any); ok && anySuppressed && result["suppressions"] == nil {
				result["suppressions"] = []any{}
			}
		}
		tool, _ := run["tool"].(map[string]any)
		if driver, ok := tool["driver"].(map[string]any); ok && driver["rules"] == nil {
			driver["rules"] = []any{}
		}
	}
}
