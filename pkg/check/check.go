// Package check runs the rules: it is the only place that knows OPA. Rules see
// facts and plan, never files; what they return is symbolic and is turned into
// findings with places here.
//
// A rule is a package vpnlint.rules.vpnNNN with METADATA and a set of findings.
// Nothing lists the rules: the engine asks for findings of every such package.
// See contract.go for what one finding holds.
package check

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/rules"
)

// Input is what one run of the rules looks at.
type Input struct {
	Facts *facts.Facts
	Plan  cidrplan.Plan
	// Objects are the objects that Facts and Plan refer to.
	Objects []*source.Object
}

// Engine holds the rules. It compiles those that an input can make speak, when
// the first such input comes. It is safe for concurrent use.
type Engine struct {
	texts    ruleTexts
	byKey    map[string]rule // "vpn101"
	metadata []finding.RuleMeta

	mu       sync.Mutex
	compiled map[string]bool // the rules that program evaluates
	program  program
}

// program is what is compiled of the rules.
type program struct {
	query   rego.PreparedEvalQuery // askedFindings
	modules map[string]*ast.Module // as they are parsed, by file
	words   words                  // of all of them
}

// rule is what the engine knows of a rule besides its Rego.
type rule struct {
	meta     finding.RuleMeta
	replaces []string
	file     string
	// needs are all to be met for the rule to say anything.
	needs     []need
	needsText []string
}

// New reads the built-in rules: strict, type-checked against the schema of
// their input, and without any built-in function whose result depends on
// anything but its arguments. It fails only when a rule is wrong.
func New(ctx context.Context) (*Engine, error) {
	return newEngine(ctx, rules.FS())
}

func newEngine(ctx context.Context, files fs.FS) (*Engine, error) {
	texts, err := readRules(files)
	if err != nil {
		return nil, err
	}
	if e, err := readIndex(files, texts); e != nil || err != nil {
		return e, err
	}
	return compileAll(ctx, files, texts)
}

// compileAll reads the rules with their METADATA, checks their types and
// compiles all of them.
func compileAll(ctx context.Context, files fs.FS, texts ruleTexts) (*Engine, error) {
	e := &Engine{texts: texts, byKey: map[string]rule{}, compiled: map[string]bool{}}
	modules, err := parseModules(texts, slices.Sorted(maps.Keys(texts)), ast.ParserOptions{ProcessAnnotation: true})
	if err != nil {
		return nil, err
	}
	compiler, err := Compiler(files)
	if err != nil {
		return nil, err
	}
	if err := e.readMetadata(modules); err != nil {
		return nil, err
	}
	if err := e.compile(ctx, compiler, modules); err != nil {
		return nil, err
	}
	for key := range e.byKey {
		e.compiled[key] = true
	}
	return e, nil
}

func (e *Engine) compile(ctx context.Context, compiler *ast.Compiler, modules map[string]*ast.Module) error {
	found := wordsOf(modules)
	if compiler.Compile(modules); compiler.Failed() {
		return fmt.Errorf("compile the rules: %w", compiler.Errors)
	}
	query, err := rego.New(
		rego.Query(askedFindings),
		rego.Compiler(compiler),
		// Without it a built-in that fails is an empty result: a rule that
		// silently never fires.
		rego.StrictBuiltinErrors(true),
	).PrepareForEval(ctx)
	if err != nil {
		return fmt.Errorf("prepare the rules: %w", err)
	}
	e.program = program{query, modules, found}
	return nil
}

// Compile compiles all rules now, not when an input first needs them.
func (e *Engine) Compile(ctx context.Context) error {
	_, err := e.prepare(ctx, slices.Sorted(maps.Keys(e.byKey)))
	return err
}

// prepare returns a program of at least the rules with these keys.
func (e *Engine) prepare(ctx context.Context, keys []string) (program, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.ContainsFunc(keys, func(key string) bool { return !e.compiled[key] }) {
		return e.program, nil
	}
	compiled := maps.Clone(e.compiled)
	for _, key := range keys {
		compiled[key] = true
	}
	var names []string
	for name := range e.texts {
		if path.Dir(name) == "lib" {
			names = append(names, name)
		}
	}
	for key := range compiled {
		names = append(names, e.byKey[key].file)
	}
	modules, err := parseModules(e.texts, names, ast.ParserOptions{})
	if err != nil {
		return program{}, err
	}
	// The index vouches for their types.
	compiler := ast.NewCompiler().WithStrict(true).WithCapabilities(capabilities()).WithSkipStages(ast.StageCheckTypes)
	if err := e.compile(ctx, compiler, modules); err != nil {
		return program{}, err
	}
	e.compiled = compiled
	return e.program, nil
}

// readRules reads all Rego files but the tests, and the schema of their input.
func readRules(files fs.FS) (ruleTexts, error) {
	texts := ruleTexts{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name != schemaName && (path.Ext(name) != ".rego" || strings.HasSuffix(name, "_test.rego")) {
			return err
		}
		text, err := fs.ReadFile(files, name)
		texts[name] = string(text)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the rules: %w", err)
	}
	return texts, nil
}

// parseModules parses the Rego files among names, several at once.
func parseModules(texts ruleTexts, names []string, opts ast.ParserOptions) (map[string]*ast.Module, error) {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return path.Ext(name) != ".rego" })
	slices.Sort(names)
	parsed := make([]*ast.Module, len(names))
	failed := make([]error, len(names))
	each(len(names), func(i int) {
		parsed[i], failed[i] = ast.ParseModuleWithOpts(names[i], texts[names[i]], opts)
	})
	modules := make(map[string]*ast.Module, len(names))
	for i, name := range names {
		if failed[i] != nil {
			return nil, fmt.Errorf("read the rules: %w", failed[i])
		}
		modules[name] = parsed[i]
	}
	return modules, nil
}

// schemaName is the schema of the rules' input among their files.
const schemaName = "schema/input.json"

// Compiler returns a compiler set up as the engine's, for tests of the rules.
// files must hold schema/input.json.
func Compiler(files fs.FS) (*ast.Compiler, error) {
	text, err := fs.ReadFile(files, schemaName)
	if err != nil {
		return nil, fmt.Errorf("schema of the rules' input: %w", err)
	}
	var schema any
	if err := util.Unmarshal(text, &schema); err != nil {
		return nil, fmt.Errorf("schema of the rules' input: %w", err)
	}
	set := ast.NewSchemaSet()
	// Under the root, else a module without a schemas annotation is not checked.
	set.Put(ast.SchemaRootRef, schema)
	return ast.NewCompiler().
		WithStrict(true).
		WithSchemas(set).
		WithUseTypeCheckAnnotations(true).
		WithCapabilities(capabilities()), nil
}

// capabilities are OPA's without everything that reaches outside or differs
// from run to run: network, clock, random numbers, environment.
func capabilities() *ast.Capabilities {
	c := ast.CapabilitiesForThisVersion()
	c.Builtins = slices.DeleteFunc(slices.Clone(c.Builtins), func(b *ast.Builtin) bool {
		return b.IsNondeterministic() || strings.HasPrefix(b.Name, "http.") || strings.HasPrefix(b.Name, "net.lookup")
	})
	c.AllowNet = []string{}
	return c
}

const rulesPackage = "vpnlint.rules"

func (e *Engine) readMetadata(modules map[string]*ast.Module) error {
	for _, name := range sortedKeys(modules) {
		key, ok := ruleKey(modules[name])
		if !ok {
			continue
		}
		if _, twice := e.byKey[key]; twice {
			return fmt.Errorf("%s: package %s.%s is already another file's", name, rulesPackage, key)
		}
		r, err := readRule(modules[name], key, validateMeta)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.file = name
		e.byKey[key] = r
		e.metadata = append(e.metadata, r.meta)
	}
	sort.Slice(e.metadata, func(i, j int) bool { return e.metadata[i].ID < e.metadata[j].ID })
	return nil
}

// ruleKey returns the last part of a rule's package.
func ruleKey(m *ast.Module) (string, bool) {
	dotted := strings.TrimPrefix(m.Package.Path.String(), "data.")
	key, ok := strings.CutPrefix(dotted, rulesPackage+".")
	return key, ok && !strings.Contains(key, ".")
}

// Rules returns the metadata of all rules, sorted by id.
func (e *Engine) Rules() []finding.RuleMeta { return slices.Clone(e.metadata) }

// Page returns a rule's generated documentation page in Markdown. The id may be
// in lower case.
func (e *Engine) Page(id string) (string, bool) {
	if _, ok := e.byKey[keyOf(id)]; !ok {
		return "", false
	}
	text, err := fs.ReadFile(rules.FS(), "docs/"+strings.ToUpper(id)+".md")
	return string(text), err == nil
}

// Run evaluates all rules and finds the places of what they say. The findings
// are in the order of rules, then places. A rule that fails, or that returns
// something that is no finding, is an error of the run: it must never look like
// a clean result.
func (e *Engine) Run(ctx context.Context, in Input) ([]finding.Finding, error) {
	doc := documentOf(in)
	if !e.user() {
		doc.Facts.Pods = withoutPlain(doc.Facts.Pods)
	}
	keys := e.speakers(doc)
	if len(keys) == 0 {
		return []finding.Finding{}, nil
	}
	p, err := e.prepare(ctx, keys)
	if err != nil {
		return nil, err
	}
	// From here on the facts belong to the judge, who lets go of what it is done
	// with: in is not used again, so that the rules have their memory.
	places := newPlacer(in)
	said, err := (&judge{program: p, byKey: e.byKey, keys: keys}).run(ctx, doc)
	if err != nil {
		return nil, err
	}
	return places.place(dropReplaced(said))
}

// user reports whether there are rules of the user, which may look at any pod.
func (e *Engine) user() bool {
	return slices.ContainsFunc(e.metadata, func(m finding.RuleMeta) bool { return m.User })
}

// withoutPlain leaves out the pods that no built-in rule looks at, which in most
// trees are nearly all.
func withoutPlain(pods []facts.Pod) []facts.Pod {
	n := 0
	for i := range pods {
		if !pods[i].Plain() {
			n++
		}
	}
	if n == len(pods) {
		return pods // thousands of gateways are not copied
	}
	out := make([]facts.Pod, 0, n)
	for i := range pods {
		if !pods[i].Plain() {
			out = append(out, pods[i])
		}
	}
	return out
}

// speakers returns the keys of the rules whose needs the input meets, sorted.
// Rules about the run itself are documented in Rego and decided elsewhere.
func (e *Engine) speakers(doc *document) []string {
	v := reflect.ValueOf(doc).Elem()
	var keys []string
	for key, r := range e.byKey {
		if r.meta.Family != toolFamily && !slices.ContainsFunc(r.needs, func(n need) bool { return !n.met(v) }) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// dropReplaced leaves out what a more specific rule says of the same pod.
func dropReplaced(said []statement) []statement {
	type claim struct{ rule, pod string }
	replaced := map[claim]bool{}
	for _, s := range said {
		for _, id := range s.rule.replaces {
			replaced[claim{id, s.Pod}] = true
		}
	}
	return slices.DeleteFunc(said, func(s statement) bool {
		return s.Pod != "" && replaced[claim{s.rule.meta.ID, s.Pod}]
	})
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
