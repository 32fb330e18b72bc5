package check

import (
	"maps"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// podsRef is where the input holds the pods.
const podsRef = "input.facts.pods"

// closure returns the module of a file with those that it imports, directly or
// not.
func closure(modules map[string]*ast.Module, file string) map[string]*ast.Module {
	byPackage := map[string]string{}
	for name, m := range modules {
		if !strings.HasSuffix(name, "_test.rego") {
			byPackage[m.Package.Path.String()] = name
		}
	}
	out := map[string]*ast.Module{}
	var add func(name string)
	add = func(name string) {
		m := modules[name]
		if m == nil || out[name] != nil {
			return
		}
		out[name] = m
		for _, i := range m.Imports {
			add(byPackage[i.Path.String()])
		}
	}
	add(file)
	return out
}

// breadth is how many of the pods a finding of a rule rests on.
type breadth int

const (
	allPods breadth = iota
	onePod          // the pods may be judged in any parts
	noPod
)

// breadthOf reads it off the text of the rule in file. A rule judges one pod at a
// time when every body of its findings walks over the pods, or over a set of some
// of them, exactly once and as one of its own conditions, and comes to them in no
// other way.
func breadthOf(modules map[string]*ast.Module, file string) breadth {
	s := &podScopes{rules: map[string][]*ast.Rule{}, module: map[*ast.Rule]*ast.Module{}, touched: map[string]bool{}}
	for _, m := range closure(modules, file) {
		for _, r := range m.Rules {
			name := m.Package.Path.String() + "." + nameOf(r)
			s.rules[name] = append(s.rules[name], r)
			s.module[r] = m
		}
	}
	findings := modules[file].Package.Path.String() + ".findings"
	switch {
	case !s.touches(findings):
		return noPod
	case s.walks(findings, nil):
		return onePod
	default:
		return allPods
	}
}

// podScopes knows the rules of some modules by their full names.
type podScopes struct {
	rules   map[string][]*ast.Rule
	module  map[*ast.Rule]*ast.Module
	touched map[string]bool // known answers of touches
}

func nameOf(r *ast.Rule) string { return string(r.Head.Ref()[0].Value.(ast.Var)) }

// walks reports whether what the rules of this name are is one for one pod. A
// name in seen is being looked at.
func (s *podScopes) walks(name string, seen map[string]bool) bool {
	if len(s.rules[name]) == 0 || seen[name] {
		return false
	}
	seen = maps.Clone(seen)
	if seen == nil {
		seen = map[string]bool{}
	}
	seen[name] = true
	for _, r := range s.rules[name] {
		if r.Else != nil || len(r.Head.Args) > 0 || !s.walksOnce(r, seen) {
			return false
		}
	}
	return true
}

// walksOnce looks at one definition: a set whose body has the condition, or a
// comprehension in whose body it is.
func (s *podScopes) walksOnce(r *ast.Rule, seen map[string]bool) bool {
	body := r.Body
	if r.Head.DocKind() == ast.CompleteDoc {
		switch v := r.Head.Value.Value.(type) {
		case *ast.ArrayComprehension:
			body = v.Body
		case *ast.SetComprehension:
			body = v.Body
		default:
			return false
		}
	} else if r.Head.DocKind() != ast.PartialSetDoc {
		return false
	}
	walked := 0
	for _, e := range body {
		if of := s.walked(r, e); of == podsRef || of != "" && s.walks(of, seen) {
			walked++
		}
	}
	return walked == 1 && s.mentions(r) == 1
}

// walked returns what the condition "some x in y" walks over, "" if it is none.
func (s *podScopes) walked(in *ast.Rule, e *ast.Expr) string {
	decl, ok := e.Terms.(*ast.SomeDecl)
	if !ok || e.Negated || len(e.With) > 0 || len(decl.Symbols) != 1 {
		return ""
	}
	call, ok := decl.Symbols[0].Value.(ast.Call)
	if !ok {
		return ""
	}
	return s.resolve(in, call[len(call)-1])
}

// resolve returns the full name of what a term refers to, "" for anything else.
func (s *podScopes) resolve(in *ast.Rule, t *ast.Term) string {
	m := s.module[in]
	switch v := t.Value.(type) {
	case ast.Var:
		if v == ast.InputRootDocument.Value {
			return "input"
		}
		return m.Package.Path.String() + "." + string(v)
	case ast.Ref:
		head, ok := v[0].Value.(ast.Var)
		if !ok {
			return ""
		}
		for _, i := range m.Imports {
			if i.Name() == head && len(v) > 1 {
				rest, _ := v[1].Value.(ast.String)
				return i.Path.String() + "." + string(rest)
			}
		}
		if v[0].Equal(ast.InputRootDocument) || v[0].Equal(ast.DefaultRootDocument) {
			return v.ConstantPrefix().String()
		}
		return m.Package.Path.String() + "." + string(head)
	default:
		return ""
	}
}

// mentions counts the terms of a rule by which it comes to the pods.
func (s *podScopes) mentions(r *ast.Rule) int {
	n := 0
	ast.WalkTerms(r, func(t *ast.Term) bool {
		name := s.resolve(r, t)
		if name == "" {
			return false
		}
		if s.touches(name) {
			n++
		}
		ref, isRef := t.Value.(ast.Ref)
		if isRef { // its head is not counted again, what stands in its brackets is
			for _, part := range ref[1:] {
				if s.touches(s.resolve(r, part)) {
					n++
				}
			}
		}
		return isRef
	})
	return n
}

// touches reports whether what the name stands for rests on the pods, or may.
func (s *podScopes) touches(name string) bool {
	switch {
	case name == "input" || name == "input.facts" || name == podsRef || strings.HasPrefix(name, podsRef+".") || strings.HasPrefix(name, podsRef+"["):
		return true
	case strings.HasPrefix(name, "input") || name == "":
		return false
	}
	known, ok := s.touched[name]
	if ok {
		return known
	}
	s.touched[name] = false // a rule that comes back to itself adds nothing
	for _, r := range s.rules[name] {
		if s.mentions(r) > 0 {
			s.touched[name] = true
		}
	}
	return s.touched[name]
}
