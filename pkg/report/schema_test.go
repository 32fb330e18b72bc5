package report_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// reports are what every machine-readable format must be valid for.
func reports() map[string]report.Report {
	return map[string]report.Report{
		"awkward":   awkward(),
		"empty":     {},
		"only gaps": {Gaps: awkward().Gaps},
		"files are not known": func() report.Report {
			r := awkward()
			r.Files = nil
			return r
		}(),
		"rules without findings": {Rules: awkward().Rules},
	}
}

func compile(t *testing.T, name, text string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func validate(t *testing.T, schema *jsonschema.Schema, data []byte) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Errorf("%v\n%s", err, data)
	}
}

func TestJSONIsValidAgainstItsSchema(t *testing.T) {
	schema := compile(t, "report.json", report.JSONSchema())
	for name, r := range reports() {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := report.JSON(&out, r, report.Options{}); err != nil {
				t.Fatal(err)
			}
			validate(t, schema, out.Bytes())
			if bytes.Contains(out.Bytes(), []byte(": null")) {
				for line := range strings.Lines(out.String()) {
					if strings.Contains(line, ": null") && !strings.Contains(line, `"suppressed"`) && !strings.Contains(line, `"object"`) {
						t.Errorf("null where a value belongs: %s", line)
					}
				}
			}
		})
	}
}

// TestJSONSchemaIsClosed guards the schema itself: a wrong report must fail.
func TestJSONSchemaIsClosed(t *testing.T) {
	schema := compile(t, "report.json", report.JSONSchema())
	var out bytes.Buffer
	if err := report.JSON(&out, awkward(), report.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, from, to string }{
		{"unknown severity", `"severity": "error"`, `"severity": "fatal"`},
		{"line 0", `"line": 10,`, `"line": 0,`},
		{"null list", `"related": []`, `"related": null`},
		{"unknown member", `"rule": "VPN301"`, `"rule": "VPN301", "extra": 1`},
		{"missing member", `"pointer": "",`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			broken := strings.Replace(out.String(), c.from, c.to, 1)
			if broken == out.String() {
				t.Fatalf("%q is not in the report", c.from)
			}
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(broken))
			if err != nil {
				t.Fatal(err)
			}
			if schema.Validate(doc) == nil {
				t.Error("the schema accepts it")
			}
		})
	}
}

// officialSARIF returns the schema that OASIS publishes. The SARIF library
// carries it as a constant that it does not export, so it is read from the
// library's source, which is there wherever this test compiles.
func officialSARIF(t *testing.T) string {
	t.Helper()
	const pkg = "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", pkg).Output()
	if err != nil {
		t.Fatalf("finding the source of %s: %v", pkg, err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var schema string
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && len(lit.Value) > len(schema) {
			schema = lit.Value
		}
		return true
	})
	text, err := strconv.Unquote(schema)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "Static Analysis Results Format (SARIF) Version 2.1.0") {
		t.Fatalf("%s/schema.go does not hold the schema of SARIF 2.1.0", pkg)
	}
	return text
}

func TestSARIFIsValidAgainstTheOfficialSchema(t *testing.T) {
	schema := compile(t, "sarif-2.1.0.json", officialSARIF(t))
	for name, r := range reports() {
		t.Run(name, func(t *testing.T) {
			validate(t, schema, sarifOf(t, r, report.Options{SourceRoot: "/repo", Dir: "/repo/deploy"}))
		})
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(`{"version":"2.1.0","runs":[{"results":[]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if schema.Validate(doc) == nil {
		t.Error("the schema accepts a run without a tool: it does not check anything")
	}
}

func sarifOf(t *testing.T, r report.Report, o report.Options) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := report.SARIF(&out, r, o); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func parse(t *testing.T, data []byte) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// each calls f for every member of a JSON document; the elements of a list go
// by the list's name.
func each(value any, f func(key string, value any)) {
	var walk func(key string, value any)
	walk = func(key string, value any) {
		f(key, value)
		switch v := value.(type) {
		case map[string]any:
			for name, member := range v {
				walk(name, member)
			}
		case []any:
			for _, member := range v {
				walk(key, member)
			}
		}
	}
	walk("", value)
}

func TestSARIFRegionsLieInTheirFile(t *testing.T) {
	r := awkward()
	doc := parse(t, sarifOf(t, r, report.Options{}))
	seen := 0
	each(doc, func(_ string, value any) {
		location, ok := value.(map[string]any)
		if !ok || location["artifactLocation"] == nil {
			return
		}
		uri := location["artifactLocation"].(map[string]any)["uri"].(string)
		path := strings.NewReplacer("%20", " ", "%23", "#").Replace(uri)
		file := r.Files[path]
		if file == nil {
			return
		}
		var regions []any
		if region, ok := location["region"]; ok {
			regions = append(regions, region)
		}
		if replacements, ok := location["replacements"].([]any); ok {
			for _, x := range replacements {
				regions = append(regions, x.(map[string]any)["deletedRegion"])
			}
		}
		for _, x := range regions {
			seen++
			region := x.(map[string]any)
			number := func(name string, otherwise int) int {
				if n, ok := region[name].(float64); ok {
					return int(n)
				}
				return otherwise
			}
			startLine := number("startLine", 0)
			endLine := number("endLine", startLine)
			startColumn := number("startColumn", 1)
			endColumn := number("endColumn", 1)
			units := func(line int) int { return 1 + len(utf16.Encode([]rune(file.Line(line)))) }
			switch {
			case startLine < 1 || endLine < startLine || endLine > file.Lines():
				t.Errorf("%s: lines %d to %d of %d", path, startLine, endLine, file.Lines())
			case startColumn < 1 || startColumn > units(startLine):
				t.Errorf("%s:%d: start column %d of %d", path, startLine, startColumn, units(startLine))
			case endColumn < 1 || endColumn > units(endLine):
				t.Errorf("%s:%d: end column %d of %d", path, endLine, endColumn, units(endLine))
			}
		}
	})
	if seen < 12 {
		t.Errorf("only %d regions were looked at", seen)
	}
}

func TestSARIFCountsUTF16Units(t *testing.T) {
	run := parse(t, sarifOf(t, awkward(), report.Options{}))["runs"].([]any)[0].(map[string]any)
	if run["columnKind"] != "utf16CodeUnits" {
		t.Errorf("columnKind is %v", run["columnKind"])
	}
	for _, x := range run["results"].([]any) {
		result := x.(map[string]any)
		if result["ruleId"] != "VPN999" {
			continue
		}
		location := result["locations"].([]any)[0].(map[string]any)
		region := location["physicalLocation"].(map[string]any)["region"].(map[string]any)
		// 東京 🚇 gateway: the emoji is two units, all else one.
		if got := region["endColumn"].(float64) - region["startColumn"].(float64); got != 13 {
			t.Errorf("the region is %v units wide, want 13", got)
		}
		return
	}
	t.Error("no such result")
}

func TestSARIFHoldsNoDefaults(t *testing.T) {
	for name, r := range reports() {
		t.Run(name, func(t *testing.T) {
			data := sarifOf(t, r, report.Options{})
			each(parse(t, data), func(key string, value any) {
				if value == float64(-1) {
					t.Errorf("%s is -1", key)
				}
				if key == "rank" || key == "byteOffset" || key == "charOffset" || key == "uriBaseId" || key == "originalUriBaseIds" {
					t.Errorf("%s is there", key)
				}
				if list, ok := value.([]any); ok && len(list) == 0 && key != "results" && key != "rules" && key != "suppressions" {
					t.Errorf("%s is an empty list", key)
				}
			})
			if bytes.Contains(data, []byte("primaryLocationLineHash")) {
				t.Error("primaryLocationLineHash is the code host's own")
			}
		})
	}
}

func TestSARIFResultsNameTheirRule(t *testing.T) {
	runs := parse(t, sarifOf(t, awkward(), report.Options{}))["runs"].([]any)
	if len(runs) != 1 {
		t.Fatalf("%d runs, want 1", len(runs))
	}
	run := runs[0].(map[string]any)
	rules := run["tool"].(map[string]any)["driver"].(map[string]any)["rules"].([]any)
	for _, x := range run["results"].([]any) {
		result := x.(map[string]any)
		rule := rules[int(result["ruleIndex"].(float64))].(map[string]any)
		if rule["id"] != result["ruleId"] {
			t.Errorf("result of %v points to rule %v", result["ruleId"], rule["id"])
		}
		help := rule["help"].(map[string]any)
		if help["text"] == "" || help["markdown"] == "" {
			t.Errorf("%v has no help", rule["id"])
		}
	}
}

func TestSARIFOfAnEmptyReportHasResults(t *testing.T) {
	run := parse(t, sarifOf(t, report.Report{}, report.Options{}))["runs"].([]any)[0].(map[string]any)
	if results, ok := run["results"].([]any); !ok || len(results) != 0 {
		t.Errorf("results is %v, want an empty list", run["results"])
	}
}

func TestSARIFURIs(t *testing.T) {
	for _, c := range []struct{ name, file, root, dir, want string }{
		{"below the root", "a/b.yaml", "/repo", "/repo", "a/b.yaml"},
		{"from a directory below the root", "a/b.yaml", "/repo", "/repo/deploy", "deploy/a/b.yaml"},
		{"up and down again", "../other/b.yaml", "/repo", "/repo/deploy", "other/b.yaml"},
		{"outside of the root", "../../tmp/b c.yaml", "/repo", "/repo/deploy", "file:///tmp/b%20c.yaml"},
		{"absolute, below the root", "/repo/x.yaml", "/repo", "/repo/deploy", "x.yaml"},
		{"characters that mean something in a URI", "a b/c#d?e%41.yaml", "/repo", "/repo", "a%20b/c%23d%3Fe%2541.yaml"},
		{"a colon is no scheme", "c:d.yaml", "/repo", "/repo", "./c:d.yaml"},
		{"control and wide characters", "\x1b[1m東.yaml", "/repo", "/repo", "%1B%5B1m%E6%9D%B1.yaml"},
		{"no root", "./a.yaml", "", "", "a.yaml"},
		{"standard input", "stdin", "/repo", "/repo/deploy", "stdin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := report.Report{Findings: []finding.Finding{{
				Rule: "VPN101", Severity: finding.Error, Message: "m",
				Primary: source.Location{File: c.file, Precision: source.WholeFile},
			}}}
			var got string
			each(parse(t, sarifOf(t, r, report.Options{SourceRoot: c.root, Dir: c.dir})), func(key string, value any) {
				if key == "uri" {
					got = value.(string)
				}
			})
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestSARIFLeavesOutTheLeastSevere(t *testing.T) {
	var r report.Report
	add := func(n int, s finding.Severity) {
		for range n {
			r.Findings = append(r.Findings, finding.Finding{
				Rule: "VPN101", Severity: s, Message: "m", Primary: source.Location{File: "a.yaml"},
			})
		}
	}
	add(10, finding.Note)
	add(24995, finding.Warning)
	add(3, finding.Error)
	run := parse(t, sarifOf(t, r, report.Options{}))["runs"].([]any)[0].(map[string]any)
	count := map[any]int{}
	for _, x := range run["results"].([]any) {
		count[x.(map[string]any)["level"]]++
	}
	if count["error"] != 3 || count["warning"] != 24995 || count["note"] != 2 {
		t.Errorf("kept %v", count)
	}
	if data, _ := json.Marshal(run["invocations"]); !strings.Contains(string(data), "8 of the least severe findings") {
		t.Errorf("nothing says that 8 were left out: %s", data)
	}
}
