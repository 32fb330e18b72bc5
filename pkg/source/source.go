// Package source says where things are written: files, positions, the objects
// that were read from them, and the symbolic references by which everything
// else speaks of a place. It knows bytes, lines and columns, and parses nothing.
package source

// Position is a place in a text: Line and Column are 1-based, columns count
// Unicode code points. The zero value means "unknown".
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Span is half-open: End is the position just after the last character.
type Span struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Precision says how far a Location may be trusted, from best to worst.
type Precision string

// The precisions, from best to worst.
const (
	// Exact: the very text that a reviewer would change or comment on.
	Exact Precision = "exact"
	// Action: the template action (an include, a toYaml) that emitted the text.
	Action Precision = "action"
	// Parent: the nearest enclosing field whose place is known.
	Parent Precision = "parent"
	// WholeObject: the document that holds the object.
	WholeObject Precision = "object"
	// WholeFile: the file, and no line of it.
	WholeFile Precision = "file"
)

// Worse returns the less trustworthy of the two precisions.
func (p Precision) Worse(q Precision) Precision {
	if q.rank() > p.rank() {
		return q
	}
	return p
}

func (p Precision) rank() int {
	switch p {
	case Exact:
		return 0
	case Action:
		return 1
	case Parent:
		return 2
	case WholeObject:
		return 3
	default:
		return 4
	}
}

// Location is a place in a file. File is a slash path relative to the working
// directory ("stdin" for standard input).
type Location struct {
	File      string    `json:"file"`
	Span      Span      `json:"span"`
	Precision Precision `json:"precision"`
	// Inner is set when File is an archive: the file inside it, with line and
	// column where they are known, for people to read.
	Inner string `json:"inner,omitempty"`
}

// Note is a location with a remark: why a finding also points there.
type Note struct {
	At   Location `json:"at"`
	Says string   `json:"says"`
}

// ObjectID names an object within one run: kind/namespace/name, with "#n"
// appended to the second and later objects that share those three. It is
// stable across renders, so that reports and proofs can pair objects.
type ObjectID string

// Ref is the symbolic place that facts, plans and rules speak of: a field of
// an object, or a part of the string that the field holds. Only Origin.Locate
// turns it into lines.
type Ref struct {
	Object ObjectID `json:"object"`
	// Pointer is a JSON pointer (RFC 6901) into Object.Tree; "" is the object.
	Pointer string `json:"pointer"`
	// Start and End, when End > 0, select the bytes [Start, End) of the string
	// at Pointer (for a Secret's data: of the decoded bytes), such as one entry
	// of a list inside a ConfigMap's configuration file.
	Start int `json:"start,omitempty"`
	End   int `json:"end,omitempty"`
	// Key selects the key of the field instead of its value, where it has one.
	Key bool `json:"-"`
}

// IsZero reports whether r refers to nothing.
func (r Ref) IsZero() bool { return r.Object == "" }

// Child returns the reference to a member of the field: keys are escaped.
func (r Ref) Child(keys ...string) Ref {
	out := Ref{Object: r.Object, Pointer: r.Pointer}
	for _, k := range keys {
		out.Pointer += "/" + escapePointer(k)
	}
	return out
}

// Within returns the reference to the bytes [start, end) of the string at r.
// When r is itself a part of a string, the offsets are relative to that part.
func (r Ref) Within(start, end int) Ref {
	return Ref{Object: r.Object, Pointer: r.Pointer, Start: r.Start + start, End: r.Start + end}
}

// Object is one Kubernetes object (or a document of a Kubernetes-style
// configuration such as kubeadm's) as it would reach the API server.
type Object struct {
	ID         ObjectID
	APIVersion string
	Kind       string
	// Namespace is the namespace as written, else the release's for a chart,
	// else "".
	Namespace string
	Name      string
	// Tree is the user's data as Kubernetes reads it, nothing injected:
	// map[string]any, []any, string, bool, int64, float64, nil.
	Tree map[string]any
	// Unit is the directory (slash path relative to the working directory) of
	// what was rendered as one: the chart, the kustomization, or the directory
	// of a plain manifest. It decides which cluster the object belongs to.
	Unit string
	// Path is the input's own path: the directory (or archive) of a chart or
	// kustomization, the file of a plain manifest.
	Path string
	// Cluster is the name of the planned cluster that the target names by which
	// the object was rendered; "" for none.
	Cluster string
	// Input is how the object was read.
	Input InputKind
	// Helm is the part that the object has in a chart beside its workloads.
	Helm HelmRole
	// ValueSets are the names of all the value sets that the object's chart is
	// rendered with, the default first; nil for what comes of no chart.
	ValueSets []string
	// Unseen are JSON pointers to the parts of Tree of which only what stands
	// there is known: a field or list item that is missing may exist all the same.
	// "" is the whole object.
	Unseen []string
	// AppliedBy are the paths of the inputs (as Path) whose GitOps objects apply the
	// object, directly or by way of others; sorted, nil for none.
	AppliedBy []string
	// MadeBy is the GitOps object (a HelmRelease, an Application) that installs
	// this one, nil for none that is known.
	MadeBy *Object
	// Origin finds the places of its fields; never nil.
	Origin Origin
}

// Ref returns the reference to the object's field at the given keys.
func (o *Object) Ref(keys ...string) Ref { return Ref{Object: o.ID}.Child(keys...) }

// InputKind tells how an object came to be.
type InputKind string

// The plan file is read as one object of this kind, so that its fields are referred
// to and located like those of any other.
const (
	PlanAPIVersion = "vpnlint.dev/v1"
	PlanKind       = "Plan"
)

// An object of this kind stands for an entry of a kustomization's helmCharts whose
// chart is not in the tree. No file holds one.
const (
	ChartEntryGroup = "kustomize.config.k8s.io"
	ChartEntryKind  = "helmCharts"
)

// The kinds of input.
const (
	Manifest      InputKind = "manifest"
	Chart         InputKind = "chart"
	Kustomization InputKind = "kustomization"
)

// HelmRole tells apart what Helm treats in its own way. The zero value is an
// ordinary object.
type HelmRole string

// The roles. A hook runs at a moment of the release's life and is not part of
// it; a test runs only when somebody asks for it; CRDs of a chart's crds
// directory are installed before everything else and never upgraded.
const (
	HelmHook HelmRole = "hook"
	HelmTest HelmRole = "test"
	HelmCRD  HelmRole = "crd"
)

// Origin knows where an object's fields were written.
type Origin interface {
	// Locate never fails: a pointer that does not exist falls back to its
	// nearest existing ancestor with a lower precision. r.Object is ignored.
	Locate(r Ref) Provenance
}

// Provenance is all that is known about who wrote a field.
type Provenance struct {
	// Primary is the line to change: the template, manifest or patch.
	Primary Location
	// Values are the values that the place itself reads, in reading order.
	Values []ValueRef
	// Guards are the conditions around the place, outermost first.
	Guards []Guard
	// Absent are the conditions inside the place that kept text out of it.
	Absent []Guard
	// Via are the steps between the place and the result: the define that an
	// include reaches, the base file under a patch.
	Via []Note
	// Item is the structure of values that a range of the template makes the place
	// of: what lacks there is to be written in it. nil for none.
	Item *ValueRef
}

// ValueRef is a chart value that was read, and where it was set.
type ValueRef struct {
	// Path is the dotted path, such as "openvpn.redirectGateway".
	Path string
	At   Location
	// By says who set it: "chart default", "values file", "--set".
	By string
	// Text is the value, shortened, for messages ("false").
	Text string
	// Member: a template prints a structure of values whole, and this is the member
	// of it that stands at the place: what lacks there is to be written here.
	Member bool
}

// Guard is an if, with or range of a template and whether its text was taken.
type Guard struct {
	At    Location
	Reads []ValueRef
	Taken bool
	// Keeps is the template text that the guard governs.
	Keeps string
}
