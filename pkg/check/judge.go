package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/vpnlint/vpnlint/pkg/facts"
)

// askedFindings collects the findings of the rules whose keys the input names
// beside what the rules read; their schema does not know that field.
const askedFindings = `out = {key: found | some key in object.get(input, "` + asked + `", []); found := data.vpnlint.rules[key].findings}`

const asked = "asked"

func askedTerm() *ast.Term { return ast.StringTerm(asked) }
func factsTerm() *ast.Term { return ast.StringTerm("facts") }
func podsTerm() *ast.Term  { return ast.StringTerm("pods") }

// judge is one evaluation of the rules with these keys.
type judge struct {
	program
	byKey map[string]rule
	keys  []string
	// part is how many pods are judged together by the rules that look at one pod
	// at a time; 0 is podsTogether.
	part int
}

// podsTogether bounds the memory that judging takes, and its time: what a rule
// reads of some pods stays near the processor for the next rule. Fewer pods are
// not worth a part of their own.
const podsTogether = 100

// run judges the pods of doc in parts, several parts at once, by the rules whose
// findings rest on one pod; the others see all pods or none. It lets go of the
// pods that are judged.
func (j *judge) run(ctx context.Context, doc *document) ([]statement, error) {
	part := cmp.Or(j.part, podsTogether)
	if len(doc.Facts.Pods) <= part {
		return j.together(ctx, doc, j.words, j.keys)
	}
	keys, read := j.byBreadth()
	all, err := j.together(ctx, doc, read[allPods], keys[allPods])
	if err != nil {
		return nil, err
	}
	parts := slices.Collect(slices.Chunk(slices.Clone(doc.Facts.Pods), part)) // what is let go of is its own
	doc.Facts.Pods = nil
	none, err := j.together(ctx, doc, read[noPod], keys[noPod])
	if err != nil {
		return nil, err
	}
	rest, err := inputValue(doc, read[onePod])
	if err != nil {
		return nil, err
	}
	if len(keys[onePod]) == 0 {
		parts = nil
	}
	said := make([][]statement, len(parts))
	failed := make([]error, len(parts))
	each(len(parts), func(i int) {
		said[i], failed[i] = j.of(ctx, rest, parts[i], read[onePod], keys[onePod])
	})
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return slices.Concat(all, none, slices.Concat(said...)), nil
}

// byBreadth sorts the rules by how many pods they look at, and gathers the words
// of each sort.
func (j *judge) byBreadth() (map[breadth][]string, map[breadth]words) {
	keys, read := map[breadth][]string{}, map[breadth]words{}
	for _, key := range j.keys {
		file := j.byKey[key].file
		of := breadthOf(j.modules, file)
		keys[of] = append(keys[of], key)
		if read[of] == nil {
			read[of] = words{}
		}
		maps.Copy(read[of], wordsOf(closure(j.modules, file)))
	}
	return keys, read
}

// together evaluates rules over all that doc holds.
func (j *judge) together(ctx context.Context, doc *document, read words, keys []string) ([]statement, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	root, err := inputValue(doc, read)
	if err != nil {
		return nil, err
	}
	return j.ask(ctx, root, keys)
}

// of evaluates rules over some pods and the rest of the input.
func (j *judge) of(ctx context.Context, rest ast.Object, pods []facts.Pod, read words, keys []string) ([]statement, error) {
	list, err := newTermBuilder(read).of(reflect.ValueOf(pods))
	if err != nil {
		return nil, err
	}
	clear(pods)
	known, err := objectOf(rest.Get(factsTerm()))
	if err != nil {
		return nil, err
	}
	return j.ask(ctx, with(rest, factsTerm(), ast.NewTerm(with(known, podsTerm(), list))), keys)
}

func (j *judge) ask(ctx context.Context, input ast.Object, keys []string) ([]statement, error) {
	names := make([]*ast.Term, len(keys))
	for i, key := range keys {
		names[i] = ast.StringTerm(key)
	}
	return evaluate(ctx, j.query, with(input, askedTerm(), ast.ArrayTerm(names...)), j.byKey)
}

// with returns an object that differs from o in one entry and shares all others.
func with(o ast.Object, key, value *ast.Term) ast.Object {
	out := ast.NewObject()
	o.Foreach(out.Insert)
	out.Insert(key, value)
	return out
}

// each calls do for 0 to n-1, as many at once as there are processors.
func each(n int, do func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}

// evaluate runs a query for the findings of all rules in byKey.
func evaluate(ctx context.Context, query rego.PreparedEvalQuery, input ast.Value, byKey map[string]rule) ([]statement, error) {
	results, err := query.Eval(ctx, rego.EvalParsedInput(input), rego.EvalGenerateJSON(asTerm))
	if err == nil {
		// The engine is told of the context's end in its own time.
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("run the rules: %w", err)
	}
	if err := ctx.Err(); err != nil { // OPA notices a cancelled context only if it takes long
		return nil, fmt.Errorf("run the rules: %w", err)
	}
	if len(results) != 1 {
		return nil, errors.New("run the rules: no result")
	}
	out, ok := results[0].Bindings["out"].(*ast.Term)
	if !ok {
		return nil, errors.New("run the rules: unexpected result")
	}
	byRule, ok := out.Value.(ast.Object)
	if !ok {
		return nil, errors.New("run the rules: unexpected result")
	}
	return decode(byRule, byKey)
}

// asTerm leaves a result as it is: thousands of findings are decoded one at a
// time.
func asTerm(t *ast.Term, _ *rego.EvalContext) (any, error) { return t, nil }

// decode checks what the rules returned against the contract.
func decode(byRule ast.Object, byKey map[string]rule) ([]statement, error) {
	var said []statement
	for _, key := range byRule.Keys() { // sorted
		name, _ := key.Value.(ast.String)
		r, ok := byKey[string(name)]
		if !ok {
			return nil, fmt.Errorf("package %s has findings but no METADATA", key)
		}
		found, ok := byRule.Get(key).Value.(ast.Set)
		if !ok {
			return nil, fmt.Errorf("%s: findings are no set", r.meta.ID)
		}
		for _, f := range found.Slice() { // sorted
			s, err := decodeStatement(&r, f.Value)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.meta.ID, err)
			}
			said = append(said, s)
		}
	}
	return said, nil
}
