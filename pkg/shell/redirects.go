package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// hereDoc is the here-document of a statement.
type hereDoc struct {
	text  string
	known bool
	at    place
	// file is set instead for < FILE.
	file *Word
}

// redirects expands the redirections of a statement: those of standard output
// and the here-document.
func (e *eval) redirects(s *syntax.Stmt, ctx context) ([]Redirect, *hereDoc) {
	out := ctx.redirects[:len(ctx.redirects):len(ctx.redirects)]
	var doc *hereDoc
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			doc = e.hereDocument(r, ctx)
		case syntax.WordHdoc:
			w := e.one(r.Word, ctx)
			doc = &hereDoc{text: w.Text + "\n", known: w.Known, at: place{start: w.Start, end: w.End, arg: e.at.arg}}
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.RdrInOut:
			target := e.one(r.Word, ctx)
			if r.N != nil && r.N.Value != "1" {
				continue
			}
			op := ">"
			if r.Op == syntax.AppOut || r.Op == syntax.AppAll {
				op = ">>"
			}
			out = append(out, Redirect{Op: op, Target: target})
		case syntax.RdrIn:
			w := e.one(r.Word, ctx)
			doc = &hereDoc{file: &w}
		default:
			if r.Word != nil {
				e.one(r.Word, ctx)
			}
		}
	}
	return out, doc
}

func (e *eval) hereDocument(r *syntax.Redirect, ctx context) *hereDoc {
	doc := &hereDoc{known: true, at: place{arg: e.at.arg}}
	if r.Hdoc == nil {
		return doc
	}
	quoted := false
	for _, p := range r.Word.Parts {
		if l, ok := p.(*syntax.Lit); !ok || strings.Contains(l.Value, "\\") {
			quoted = true
		}
	}
	if quoted {
		for _, p := range r.Hdoc.Parts {
			if l, ok := p.(*syntax.Lit); ok {
				doc.text += l.Value
			}
		}
	} else {
		var b strings.Builder
		for _, p := range e.pieces(r.Hdoc.Parts, true, ctx) {
			b.WriteString(p.text)
			doc.known = doc.known && p.known
		}
		doc.text = b.String()
	}
	start, end := e.local(r.Hdoc)
	from, to := e.at.of(start, end)
	doc.at.start, doc.at.end = from, to
	// The node may leave out the last line break.
	if e.at.exact && doc.text != "" && strings.HasPrefix(e.text[start:], doc.text) {
		doc.at.exact, doc.at.base = true, from
	}
	return doc
}
