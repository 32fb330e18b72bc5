package loader

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"helm.sh/helm/v3/pkg/chart"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// Helm's own validation fetches what a schema refers to, over HTTP and from any
// file of the machine. A chart that is linted must do neither, so its schema is
// validated here, by the same library with nothing to load from.

// noLoader refuses every reference that leaves the schema.
type noLoader struct{}

var errForeignSchema = errors.New("it refers to another document, which is never fetched")

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s: %w", url, errForeignSchema)
}

// maxSchemaErrors bounds the gaps of one schema.
const maxSchemaErrors = 10

// checkSchemas holds the values of a chart and its subcharts against their
// schemas. Values that break one are a gap each: Helm would refuse them.
func checkSchemas(c *chart.Chart, s *valueScope, l *loadedChart) []finding.Gap {
	var gaps []finding.Gap
	if c.Schema != nil {
		gaps = checkSchema(c, s, l.sourceOf(c))
	}
	for _, sub := range c.Dependencies() {
		if _, ok := s.values[sub.Name()].(map[string]any); ok {
			gaps = append(gaps, checkSchemas(sub, s.sub(sub.Name()), l)...)
		}
	}
	return gaps
}

func checkSchema(c *chart.Chart, s *valueScope, src *chartSource) (gaps []finding.Gap) {
	file := ""
	switch schema := src.files["values.schema.json"]; {
	case src.fixed != nil:
		file = src.fixed.File
	case schema != nil:
		file = schema.Path()
	}
	unusable := func(why string) []finding.Gap {
		return []finding.Gap{{
			Kind: finding.Unmodelled, File: file, What: fmt.Sprintf("the values of chart %s were not held against its schema", c.Name()), Why: why,
			Consequence: "the chart was rendered with values that the schema may forbid",
		}}
	}
	defer func() {
		if r := recover(); r != nil {
			gaps = unusable(fmt.Sprintf("the schema library gave up: %v", r))
		}
	}()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(c.Schema))
	if err != nil {
		return unusable(err.Error())
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	const name = "chart:///values.schema.json"
	if err := compiler.AddResource(name, doc); err != nil {
		return unusable(err.Error())
	}
	schema, err := compiler.Compile(name)
	if err != nil {
		return unusable(strings.ReplaceAll(noSchema(err), name, "values.schema.json"))
	}
	var invalid *jsonschema.ValidationError
	if err := schema.Validate(s.values); !errors.As(err, &invalid) {
		return nil
	}
	if cycle := refCycle(invalid); cycle != nil {
		// It shows when the first value is held against it, and is no value's fault.
		why := fmt.Sprintf("the schema refers to itself without end: %s leads back to itself by way of %s; end the cycle, helm install fails in the same way",
			cycle.URL, cycle.KeywordLocation1)
		return unusable(strings.ReplaceAll(why, name, "values.schema.json"))
	}
	printer := message.NewPrinter(language.English)
	found := rootCauses(invalid)
	for _, e := range found[:min(len(found), maxSchemaErrors)] {
		ref := s.ref(e.InstanceLocation)
		at := ref.At
		if at.File == "" {
			at = source.Location{File: file}
		}
		key, why := "(top)", e.ErrorKind.LocalizedString(printer)
		if ref.Path != "" {
			key = ref.Path
			why += "; give it with --set " + key + "=... or a values file"
		}
		gaps = append(gaps, finding.Gap{
			Kind: finding.Unreadable, File: at.File, Line: at.Span.Start.Line,
			What:        fmt.Sprintf("the value %s breaks the schema of chart %s", key, c.Name()),
			Why:         why,
			Consequence: "helm install refuses these values; the chart was rendered all the same",
		})
	}
	return gaps
}

// rootCauses returns the errors without causes below an error, in the order of their
// places: the library finds them in the order of a map.
func rootCauses(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var out []*jsonschema.ValidationError
	for _, cause := range e.Causes {
		out = append(out, rootCauses(cause)...)
	}
	slices.SortStableFunc(out, func(a, b *jsonschema.ValidationError) int {
		return cmp.Or(slices.Compare(a.InstanceLocation, b.InstanceLocation), cmp.Compare(a.Error(), b.Error()))
	})
	return out
}

// noSchema says why a schema cannot be used: of one that breaks the rules for
// schemas the first place where it does.
func noSchema(err error) string {
	var broken *jsonschema.SchemaValidationError
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &broken) || !errors.As(broken.Err, &invalid) {
		return oneLine(err.Error())
	}
	found := rootCauses(invalid)
	first := found[0]
	why := fmt.Sprintf("%s is no valid schema: /%s: %s", strings.TrimSuffix(broken.URL, "#"), strings.Join(first.InstanceLocation, "/"),
		first.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
	if n := len(found) - 1; n > 0 {
		why += fmt.Sprintf("; there are %d more such places", n)
	}
	return why
}

// refCycle returns what an error says of a schema that leads back to itself
// before it looks at any part of the value, nil when it is no such error.
func refCycle(e *jsonschema.ValidationError) *kind.RefCycle {
	if cycle, is := e.ErrorKind.(*kind.RefCycle); is {
		return cycle
	}
	for _, cause := range e.Causes {
		if cycle := refCycle(cause); cycle != nil {
			return cycle
		}
	}
	return nil
}
