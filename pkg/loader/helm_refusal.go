package loader

import (
	"errors"
	"regexp"
	"strings"
	"unicode"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// fileError is what Helm's loader refuses a file of a chart for.
type fileError struct {
	name string // within the chart
	line int    // from 1
	why  string
}

// Error implements error.
func (e *fileError) Error() string { return e.name + ": " + e.why }

// asHelm ends what is said of a file that Helm would refuse too.
const asHelm = "; correct it, helm refuses the chart in the same way"

// refusedFile begins what Helm's loader says of a file; refusedMetadata of what
// Chart.yaml says.
var (
	refusedFile     = regexp.MustCompile(`^cannot load ([^:]+): (?s:(.+))$`)
	refusedMetadata = regexp.MustCompile(`^validation: (?:chart\.metadata\.)?(?s:(.+))$`)
)

// refusal finds the place in the chart's files that Helm's loader refuses. Its own
// words name types of Go and no line.
func refusal(files map[string]*source.File, err error) error {
	if m := refusedMetadata.FindStringSubmatch(err.Error()); m != nil && files["Chart.yaml"] != nil {
		return &fileError{"Chart.yaml", lineOfField(files["Chart.yaml"].Text(), strings.Fields(m[1])[:1]), m[1] + asHelm}
	}
	m := refusedFile.FindStringSubmatch(err.Error())
	if len(m) != 3 || files[m[1]] == nil {
		return err
	}
	text := files[m[1]].Text()
	if _, broken := parseNode(text); broken != nil {
		line, why := syntaxError(text, broken)
		return &fileError{m[1], line, why + asHelm}
	}
	field, why := jsonWords(m[2])
	return &fileError{m[1], lineOfField(text, field), why + asHelm}
}

// wrongType is how Go's JSON package says that a value is of another type than the
// one that it is read into.
var wrongType = regexp.MustCompile(`json: cannot unmarshal (\w+) into Go (?:struct field (?:\w+)\.([\w.]+)|value) of type (\S+)`)

// jsonWords says in the words of YAML what Go's JSON package says in those of Go,
// and of which field. Other words stay what they are.
func jsonWords(text string) (field []string, why string) {
	m := wrongType.FindStringSubmatch(text)
	if m == nil {
		return nil, strings.TrimPrefix(oneLine(text), "error converting YAML to JSON: yaml: ")
	}
	subject := "it"
	for name := range strings.SplitSeq(m[2], ".") {
		if name != "" && !unicode.IsUpper(rune(name[0])) { // a type of Go that is part of another
			field = append(field, name)
		}
	}
	if len(field) > 0 {
		subject = strings.Join(field, ".")
	}
	return field, subject + " is " + jsonKind(m[1]) + ", not " + goKind(m[3])
}

func jsonKind(kind string) string {
	switch kind {
	case "object":
		return "a mapping"
	case "array":
		return "a list"
	case "bool":
		return "true or false"
	default:
		return "a " + kind
	}
}

func goKind(name string) string {
	switch {
	case strings.HasPrefix(name, "[]"):
		return "a list"
	case name == "string":
		return "a string"
	case name == "bool":
		return "true or false"
	case strings.HasPrefix(name, "int"), strings.HasPrefix(name, "uint"), strings.HasPrefix(name, "float"):
		return "a number"
	default:
		return "a mapping"
	}
}

// lineOfField is the line of a field's key, or of what is nearest to it.
func lineOfField(text string, field []string) int {
	n, err := parseNode(text)
	line := 1
	for _, name := range field {
		if err != nil || n == nil {
			break
		}
		key, value := memberNode(n, name)
		if key == nil {
			break
		}
		line, n = key.Line, value
	}
	return line
}

// refusedAt is the place and the reason of a chart that was not loaded.
func refusedAt(err error) (name string, line int, why string) {
	var at *fileError
	if errors.As(err, &at) {
		return at.name, at.line, at.why
	}
	return "", 1, err.Error()
}
