// Package loader turns paths into objects: it walks directories, recognises
// charts, kustomizations and manifests by their content, renders the first two
// in memory, and remembers where each field was written. It is the only place
// that knows Helm and kustomize. It never touches the network, never runs what
// a chart or kustomization brings, and never follows a path out of the tree.
package loader

import (
	"cmp"
	"io"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// Options say how to render what is found.
type Options struct {
	// Dir is the working directory (absolute): paths are relative to it, and so
	// are the files of the result.
	Dir string
	// Stdin is read for the path "-".
	Stdin io.Reader

	// Changed says that the paths are those of files that somebody changed, of
	// whatever program: one that does not parse only counts where it looks like
	// Kubernetes, as in a directory, and not for being named. One that is not there
	// any more is passed over.
	Changed bool

	// For charts, as Helm's flags of the same names.
	ValuesFiles []string
	Set         []string
	// ValueSets are further sets of values to render every chart with, beside
	// its defaults and the ci/*-values.yaml files that it brings. ValuesFiles and
	// Set hold for all sets.
	ValueSets []ValueSet
	// Overrides are values to lay over all others, --set included, by the path of
	// the chart, which is Object.Path of its objects: a tree as a values file holds
	// it, with the values of a subchart under its name. Lists take the place of
	// lists, and null takes a value away, as in Helm. They are for charts among
	// the inputs; what a GitOps object makes of one goes by ChartValues.Path, and
	// what a kustomization makes of one is left alone.
	Overrides map[string]map[string]any
	// Targets say how to render certain charts.
	Targets     []Target
	ReleaseName string // default: the chart's name
	Namespace   string // default: "default"
	KubeVersion string // default: DefaultKubeVersion
	APIVersions []string

	// Charts are paths of charts by name: directories or archives that GitOps
	// objects, and entries of helmCharts whose chart is not in the tree, install
	// under that name, or that charts depend on.
	Charts map[string]string

	// Workers is the number of charts and files handled at once; 0: GOMAXPROCS.
	Workers int
	// Isolate is the command line of a program that calls ServeRenders, for
	// charts and kustomizations to be rendered in processes of their own, where
	// their memory is limited and what they break is not the caller's; nil: in
	// this one, which only fits inputs that one trusts.
	Isolate []string
	Limits  Limits

	// Overlay are contents that stand in for those of files on disk, in memory
	// only, by slash path relative to Dir: what would be loaded if the files were
	// edited. Each names a regular file that exists, and holds under whatever
	// other name the file is read. It reaches no file inside an archive, and not
	// what the caller reads itself, such as the plan file.
	Overlay map[string][]byte

	children *children         // made of Isolate by Load
	overlaid []overlaid        // made of Overlay by Load
	shelf    *chartShelf       // made by Load
	charts   map[string]target // made of Charts by Load
}

// DefaultSet is the name of the value set that every chart has: its own
// defaults, with the values that the user gives for all sets.
const DefaultSet = "default"

// ValueSet is a named set of values files, the later ones win.
type ValueSet struct {
	Name  string
	Files []string
}

// DefaultKubeVersion is the Kubernetes version that charts are rendered for
// when the user names none.
const DefaultKubeVersion = "v1.35.0"

// Limits bound what one input may cost. Zero fields mean the default. The
// command line has an option for each: --limit-file-bytes, --limit-documents,
// --limit-nodes, --limit-depth, --limit-alias-nodes, --limit-render-seconds,
// --limit-output-bytes, --limit-memory-bytes, --limit-kustomize-files,
// --limit-total-bytes.
type Limits struct {
	FileBytes      int64 // of one file; default 10 MiB
	Documents      int   // of one file; default 20,000
	Nodes          int   // YAML values of one text, as far as commas, colons and lines tell; default 500,000
	Depth          int   // of nested YAML; default 200
	AliasNodes     int   // nodes that aliases may expand to in one file; default 100,000
	RenderSeconds  int   // of one chart or kustomization; default 20
	OutputBytes    int64 // of one chart's rendered text; default 64 MiB
	MemoryBytes    int64 // of a process of Options.Isolate; default 400 MiB
	KustomizeFiles int   // resource files of one kustomization; default 400
	TotalBytes     int64 // that all inputs take in memory, as estimated; default 160 MiB

	budget *budget // what the run has left, made by Load
}

// Result is what was loaded, sorted so that it does not depend on the order of
// paths, files or workers.
type Result struct {
	// Objects are those of the default value sets; the same as Groups[0].Objects.
	Objects []*source.Object
	// Groups are the combinations of value sets to look at, the default first:
	// what one cluster could run at once. There is always one.
	Groups []Group
	// Files holds every text that a location may point into, by path.
	Files map[string]*source.File
	Gaps  []finding.Gap
	// Inputs are the charts, kustomizations and files that were rendered or read.
	Inputs []Input
	// Charts are the values of the charts among the inputs, one for each of their
	// value sets that was rendered.
	Charts []*ChartValues
	// Skipped are files that are no Kubernetes, for --verbose.
	Skipped []Skip
}

// Group is what the inputs come to when charts are rendered with the value sets
// of these names; a chart without a set of a name takes part with its defaults,
// and what is no chart is part of every group. Names with the same objects
// share a group, so that nothing is looked at twice.
type Group struct {
	Names   []string
	Objects []*source.Object
}

// Input is one chart, kustomization or manifest file.
type Input struct {
	Kind source.InputKind
	Path string
}

// Skip is a file that was passed over, and why.
type Skip struct{ Path, Why string }

// DefaultLimits returns the limits that hold where the user sets none.
func DefaultLimits() Limits {
	return Limits{
		FileBytes:      10 << 20,
		Documents:      20_000,
		Nodes:          500_000,
		Depth:          200,
		AliasNodes:     100_000,
		RenderSeconds:  20,
		OutputBytes:    64 << 20,
		MemoryBytes:    400 << 20,
		KustomizeFiles: 400,
		TotalBytes:     160 << 20,
	}
}

// withDefaults fills in the zero fields.
func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	l.FileBytes = cmp.Or(l.FileBytes, d.FileBytes)
	l.Documents = cmp.Or(l.Documents, d.Documents)
	l.Nodes = cmp.Or(l.Nodes, d.Nodes)
	l.Depth = cmp.Or(l.Depth, d.Depth)
	l.AliasNodes = cmp.Or(l.AliasNodes, d.AliasNodes)
	l.RenderSeconds = cmp.Or(l.RenderSeconds, d.RenderSeconds)
	l.OutputBytes = cmp.Or(l.OutputBytes, d.OutputBytes)
	l.MemoryBytes = cmp.Or(l.MemoryBytes, d.MemoryBytes)
	l.KustomizeFiles = cmp.Or(l.KustomizeFiles, d.KustomizeFiles)
	l.TotalBytes = cmp.Or(l.TotalBytes, d.TotalBytes)
	return l
}
