package facts

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// nowhere is the origin of fixtures: one file, no lines.
type nowhere struct{ file string }

func (n nowhere) Locate(source.Ref) source.Provenance {
	return source.Provenance{Primary: source.Location{File: n.file, Precision: source.WholeFile}}
}

// decode reads a multi-document manifest into objects of one unit, as the
// loader would: numbers are int64 or float64.
func decode(t *testing.T, unit, text string) []*source.Object {
	t.Helper()
	var out []*source.Object
	seen := map[string]int{}
	for _, doc := range strings.Split("\n"+text, "\n---") {
		if strings.TrimSpace(doc) == "" {
			continue
		}
		raw, err := yaml.YAMLToJSON([]byte(doc))
		if err != nil {
			t.Fatalf("fixture: %v\n%s", err, doc)
		}
		dec := json.NewDecoder(strings.NewReader(string(raw)))
		dec.UseNumber()
		var tree map[string]any
		if err := dec.Decode(&tree); err != nil {
			t.Fatalf("fixture: %v", err)
		}
		tree, _ = plainNumbers(tree).(map[string]any)
		o := &source.Object{Tree: tree, Unit: unit, Input: source.Manifest, Origin: nowhere{unit + "/all.yaml"}}
		top := root(o)
		o.APIVersion, o.Kind = top.get("apiVersion").text(), top.get("kind").text()
		o.Namespace, o.Name = top.get("metadata", "namespace").text(), top.get("metadata", "name").text()
		id := o.Kind + "/" + o.Namespace + "/" + o.Name
		if seen[id]++; seen[id] > 1 {
			o.ID = source.ObjectID(id + "#" + strconv.Itoa(seen[id]))
		} else {
			o.ID = source.ObjectID(id)
		}
		out = append(out, o)
	}
	return out
}

func plainNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, _ := v.Float64()
		return f
	case map[string]any:
		for k := range v {
			v[k] = plainNumbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	}
	return v
}

// textAt returns the string, or the part of it, that a reference selects.
func textAt(t *testing.T, objects []*source.Object, r source.Ref) string {
	t.Helper()
	for _, o := range objects {
		if o.ID != r.Object {
			continue
		}
		n := root(o).at(r.Pointer)
		if !n.exists() {
			t.Fatalf("reference %+v points nowhere", r)
		}
		text, _ := n.scalar()
		if r.End > 0 {
			return text[r.Start:r.End]
		}
		return text
	}
	t.Fatalf("reference %+v names no object", r)
	return ""
}
