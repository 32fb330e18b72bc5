package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/rules"
)

// A user's rules are Rego of somebody else's. They have the contract of the
// built-in ones (contract.go), the same input, the same type checker and the
// same built-in functions, and live apart: packages vpnlint.user.NAME with
// METADATA and findings, helpers under vpnlint.user.lib. They see no data but
// their own, so that they can neither change nor lean on the built-in rules.

// UserRules are a user's rules, compiled. They are immutable and safe for
// concurrent use.
type UserRules struct {
	dir      string
	query    rego.PreparedEvalQuery
	byKey    map[string]rule
	metadata []finding.RuleMeta
}

const (
	userPackage = "vpnlint.user"
	// userLibrary holds what a user's rules share.
	userLibrary = "lib"

	userFindings = `out = {key: found | some key; found := data.vpnlint.user[key].findings}`

	// maxUserFile and maxUserFiles are far above any rules that people write.
	maxUserFile  = 1 << 20
	maxUserFiles = 1000
)

// userFamily is the family of a user's rule that belongs to none of vpnlint's.
const userFamily = "custom"

// userIDPattern is what a user's rule may be called; names of vpnlint's own are
// kept for it.
var userIDPattern = regexp.MustCompile(`^[A-Z]{2,12}[0-9]{1,5}$`)

// NewUserRules compiles the Rego files below files but the tests (_test.rego).
// dir is what its path is called in errors. files should not lead out of the
// directory (os.Root).
func NewUserRules(ctx context.Context, files fs.FS, dir string) (*UserRules, error) {
	modules, err := readUserModules(files, dir)
	if err != nil {
		return nil, err
	}
	u := &UserRules{dir: dir, byKey: map[string]rule{}}
	for _, name := range sortedKeys(modules) {
		if err := u.read(name, modules[name]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(u.byKey) == 0 {
		return nil, fmt.Errorf("%s: no rule in it: want Rego files with a package %s.NAME and METADATA", dir, userPackage)
	}
	compiler, err := Compiler(rules.FS())
	if err != nil {
		return nil, err
	}
	if compiler.Compile(modules); compiler.Failed() {
		return nil, &RegoError{doing: "compile the rules in " + dir, errs: compiler.Errors}
	}
	for _, name := range sortedKeys(compiler.Modules) {
		if err := onlyOwnData(compiler.Modules[name], compiler, dir); err != nil {
			return nil, err // it names file and line
		}
	}
	slices.SortFunc(u.metadata, func(a, b finding.RuleMeta) int { return strings.Compare(a.ID, b.ID) })
	u.query, err = rego.New(rego.Query(userFindings), rego.Compiler(compiler), rego.StrictBuiltinErrors(true)).PrepareForEval(ctx)
	if err != nil {
		return nil, fmt.Errorf("prepare the rules in %s: %w", dir, err)
	}
	return u, nil
}

// RegoError says what is wrong with the text of a user's rules, one error a
// line with the lines of Rego that show it below.
type RegoError struct {
	doing string
	errs  ast.Errors
}

// Error has several lines: each error begins with file:line, as editors read it.
func (e *RegoError) Error() string {
	text := e.doing + ":"
	said := map[string]bool{}
	for _, one := range e.errs {
		if one.Location != nil && one.Code == ast.ParseErr {
			// The parser says it again for what it then took the place to be.
			place := fmt.Sprintf("%s:%d:%d", one.Location.File, one.Location.Row, one.Location.Col)
			if said[place] {
				continue
			}
			said[place] = true
		}
		text += "\n" + strings.ReplaceAll(one.Error(), "\t", "    ")
	}
	return text
}

// Unwrap returns OPA's errors.
func (e *RegoError) Unwrap() error { return e.errs }

// readUserModules parses the Rego files. What is neither a file nor a directory
// is refused, and so is a link to a directory: rules behind it would silently
// not be part of the run.
func readUserModules(files fs.FS, dir string) (map[string]*ast.Module, error) {
	modules := map[string]*ast.Module{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		shown := path.Join(dir, name)
		if err != nil {
			return fmt.Errorf("%s: %w", shown, err)
		}
		if d.IsDir() {
			return nil
		}
		info, err := fs.Stat(files, name) // follows a link, as far as files does
		if err != nil && d.Type()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s: a link that leads nowhere inside %s: %w", shown, dir, err)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", shown, err)
		}
		rego := path.Ext(name) == ".rego"
		switch {
		case info.IsDir():
			return fmt.Errorf("%s: a link to a directory: rules behind it would not be read", shown)
		case !rego || strings.HasSuffix(name, "_test.rego"):
			return nil
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s: not a file", shown)
		case info.Size() > maxUserFile:
			return fmt.Errorf("%s: larger than %d bytes", shown, maxUserFile)
		case len(modules) == maxUserFiles:
			return fmt.Errorf("%s: more than %d Rego files", dir, maxUserFiles)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return fmt.Errorf("%s: %w", shown, err)
		}
		text = bytes.TrimPrefix(text, []byte("\ufeff")) // as editors on Windows write it
		if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
			return fmt.Errorf("%s: it is not UTF-8; save it as UTF-8", shown)
		}
		module, err := ast.ParseModuleWithOpts(shown, string(text), ast.ParserOptions{ProcessAnnotation: true})
		if err != nil {
			if errs := ast.Errors(nil); errors.As(err, &errs) {
				return &RegoError{doing: "read the rules in " + dir, errs: errs}
			}
			return fmt.Errorf("read the rules in %s: %w", dir, err)
		}
		modules[shown] = module
		return nil
	})
	return modules, err
}

// read takes a module in: a rule, or a helper of rules.
func (u *UserRules) read(name string, module *ast.Module) error {
	dotted := strings.TrimPrefix(module.Package.Path.String(), "data.")
	key, ok := strings.CutPrefix(dotted, userPackage+".")
	if !ok {
		return fmt.Errorf("package %s: a user's rules live in packages %s.NAME, and what they share in %s.%s", dotted, userPackage, userPackage, userLibrary)
	}
	for _, a := range module.Annotations {
		if len(a.Schemas) > 0 {
			return errors.New("METADATA schemas: the schema of the input is vpnlint's own")
		}
	}
	hasFindings := slices.ContainsFunc(module.Rules, func(r *ast.Rule) bool {
		return len(r.Head.Ref()) > 0 && r.Head.Ref()[0].Equal(ast.VarTerm("findings"))
	})
	if key == userLibrary || strings.HasPrefix(key, userLibrary+".") {
		if hasFindings {
			return fmt.Errorf("package %s: findings of a helper are never asked for: give the rule a package %s.NAME", dotted, userPackage)
		}
		return nil
	}
	switch _, twice := u.byKey[key]; {
	case strings.Contains(key, "."):
		return fmt.Errorf("package %s: want %s.NAME for a rule, and %s.%s for what rules share", dotted, userPackage, userPackage, userLibrary)
	case !hasFindings:
		return fmt.Errorf("package %s has no findings: what rules share lives in %s.%s", dotted, userPackage, userLibrary)
	case twice:
		return fmt.Errorf("package %s is already another file's", dotted)
	}
	r, err := readRule(module, key, validateUserMeta)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(r.replaces, func(id string) bool { return !userIDPattern.MatchString(id) || strings.HasPrefix(id, "VPN") }) {
		return errors.New("METADATA custom.replaces: only rules of your own can be replaced; suppress the others, with a reason")
	}
	r.meta.User, r.file = true, name
	u.byKey[key] = r
	u.metadata = append(u.metadata, r.meta)
	return nil
}

func validateUserMeta(m finding.RuleMeta, key string) error {
	switch {
	case strings.HasPrefix(m.ID, "VPN"):
		return fmt.Errorf("METADATA custom.id %s: ids with VPN are vpnlint's own", m.ID)
	case !userIDPattern.MatchString(m.ID):
		return fmt.Errorf("METADATA custom.id %q: want two to twelve capitals and a number, such as ACME001", m.ID)
	case m.Family != userFamily && !slices.Contains(families[1:], m.Family):
		return fmt.Errorf("METADATA custom.family %q: want %s or %s", m.Family, strings.Join(families[1:], ", "), userFamily)
	}
	return validateAny(m, key)
}

// onlyOwnData refuses a module that looks at data of others: what is not there
// is undefined, and a rule over it would silently never fire.
func onlyOwnData(module *ast.Module, compiler *ast.Compiler, dir string) error {
	var err error
	ast.WalkRefs(module, func(ref ast.Ref) bool {
		if err != nil || !ref[0].Equal(ast.DefaultRootDocument) {
			return err != nil
		}
		for i, part := range []string{"vpnlint", "user"} {
			if len(ref) <= i+1 || !ref[i+1].Equal(ast.StringTerm(part)) {
				err = fmt.Errorf("%s: %s: a user's rules see input and data.%s, nothing else", ref[0].Location, ref, userPackage)
				return true
			}
		}
		// To OPA it would be undefined: a rule that never speaks.
		if len(compiler.GetRules(ref)) == 0 {
			err = fmt.Errorf("%s: nothing in %s defines %s", ref[0].Location, dir, ref)
		}
		return err != nil
	})
	return err
}

// Rules returns the metadata of the rules, sorted by id.
func (u *UserRules) Rules() []finding.RuleMeta { return slices.Clone(u.metadata) }

// Page returns a rule's documentation in Markdown, made of its METADATA.
func (u *UserRules) Page(id string) (string, bool) {
	r, ok := u.byKey[keyOf(id)]
	if !ok {
		return "", false
	}
	text := PageHead(r.meta) + "\n"
	if len(r.meta.Verify) > 0 || r.meta.NoVerify != "" {
		text += PageVerify(r.meta, nil) + "\n"
	}
	text += PageSuppress(r.meta)
	if sources := PageSources(r.meta); len(r.meta.Sources) > 0 {
		text += "\n" + sources
	}
	return text, true
}

// Dir is what the directory of the rules is called in messages.
func (u *UserRules) Dir() string { return u.dir }

// Run evaluates the rules over an input, as Engine.Run does. A rule that fails
// while it runs is an error that names it, never a finding less.
func (u *UserRules) Run(ctx context.Context, in Input) ([]finding.Finding, error) {
	value, err := inputValue(documentOf(in), nil)
	if err != nil {
		return nil, err
	}
	said, err := evaluate(ctx, u.query, value, u.byKey)
	if err != nil {
		return nil, err
	}
	return newPlacer(in).place(dropReplaced(said))
}
