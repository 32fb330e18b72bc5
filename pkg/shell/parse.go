package shell

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Limits that no script of a manifest reaches. They bound time and memory
// whatever the input is.
const (
	maxText     = 1 << 18 // bytes of one script
	maxNesting  = 400     // of brackets
	maxKeywords = 4000    // of if, while and the like that are open at once
	maxCommands = 10000
	maxSteps    = 200000
	maxDepth    = 12    // functions and scripts in scripts
	maxValue    = 16384 // bytes of one variable
	maxItems    = 64    // of a for loop that is unrolled
	maxPipe     = 8     // commands of a pipeline that are looked back through
)

// Parse reads a script of which nothing of the environment is known.
func Parse(text string) *Script { return ParseEnv(text, nil) }

// ParseEnv reads a script that starts with the given environment. Names that
// are not in it are unknown: the image may set them.
func ParseEnv(text string, env map[string]string) *Script {
	r := &reader{script: &Script{}}
	sh := newShell(env)
	if line, _, _ := strings.Cut(text, "\n"); strings.HasPrefix(line, "#!") {
		fields := strings.Fields(strings.TrimPrefix(line, "#!"))
		for i, f := range fields {
			if i > 0 && strings.HasPrefix(f, "-") && !strings.HasPrefix(f, "--") && strings.Contains(f, "e") {
				sh.errexit = true
			}
		}
	}
	e := &eval{r: r, sh: sh, text: text, at: place{exact: true}}
	e.script(context{last: true})
	return r.script
}

// ParseArgv reads an argument vector: a container's command followed by its
// args. It is one command, which is looked through as in a script: for
// ["sh", "-c", "..."] the commands of the script are returned, with Arg 2.
func ParseArgv(argv []string, env map[string]string) *Script {
	r := &reader{script: &Script{}}
	if len(argv) == 0 {
		return r.script
	}
	words := make([]Word, len(argv))
	for i, a := range argv {
		words[i] = Word{Text: a, Known: true, Arg: i, End: len(a)}
	}
	e := &eval{r: r, sh: newShell(env), argv: true}
	e.dispatch(&Command{Words: words}, nil, context{last: true})
	return r.script
}

// parseText parses with the variants of the shell language that scripts of
// images are written in. On an error it returns the statements before it, as
// the first variant reads them.
func parseText(text string) (stmts []*syntax.Stmt, errAt int, err error) {
	if len(text) > maxText {
		return nil, 0, fmt.Errorf("the script has %d bytes, more than %d", len(text), maxText)
	}
	if at, deep := tooDeep(text); deep {
		return nil, at, errors.New("the script is nested too deeply")
	}
	var first error
	for _, variant := range []syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX, syntax.LangMirBSDKorn} {
		stmts, err := parseVariant(text, variant)
		if err == nil {
			return stmts, 0, nil
		}
		if first == nil {
			first = err
		}
	}
	return beforeError(text), min(errorOffset(first), len(text)), first
}

// parseVariant keeps a panic of the parser, which is not ours, from ending the
// run: the input is hostile.
func parseVariant(text string, variant syntax.LangVariant) (stmts []*syntax.Stmt, err error) {
	defer func() {
		if p := recover(); p != nil {
			stmts, err = nil, fmt.Errorf("the shell parser failed: %v", p)
		}
	}()
	f, err := syntax.NewParser(syntax.Variant(variant)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, err
	}
	return f.Stmts, nil
}

// beforeError returns the complete statements that stand before the first
// error.
func beforeError(text string) (stmts []*syntax.Stmt) {
	defer func() {
		if recover() != nil {
			stmts = nil
		}
	}()
	for s, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(text)) {
		if err != nil {
			break
		}
		stmts = append(stmts, s)
	}
	return stmts
}

func errorOffset(err error) int {
	var p syntax.ParseError
	if errors.As(err, &p) {
		return int(p.Pos.Offset())
	}
	var l syntax.LangError
	if errors.As(err, &l) {
		return int(l.Pos.Offset())
	}
	return 0
}

// tooDeep bounds the nesting before a recursive parser meets it. It counts
// brackets and keywords in the raw text, comments and quotes included, so that
// the limits are far above what real scripts have.
func tooDeep(text string) (at int, deep bool) {
	brackets, keywords, backquotes := 0, 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '(' || c == '{' || c == '[':
			brackets++
		case c == ')' || c == '}' || c == ']':
			brackets = max(0, brackets-1)
		case c == '`':
			backquotes++
		case c == '!':
			keywords++
		case c == ';' || c == '\n':
			// "! ! ! cmd" nests on one line only.
		case c >= 'a' && c <= 'z' && (i == 0 || !isWordByte(text[i-1])):
			end := i
			for end < len(text) && text[end] >= 'a' && text[end] <= 'z' {
				end++
			}
			switch text[i:end] {
			case "if", "while", "until", "for", "case", "select", "function", "time", "coproc", "elif":
				keywords++
			case "fi", "done", "esac":
				keywords = max(0, keywords-1)
			}
			i = end - 1
		}
		if brackets > maxNesting || keywords > maxKeywords || backquotes > 2*maxKeywords {
			return i, true
		}
	}
	return 0, false
}

func isWordByte(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c == '/' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
