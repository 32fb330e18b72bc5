package facts

import (
	"strings"

	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/shell"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// openVPNArgs returns the options on the command line as a configuration: each
// --option with its arguments is a line.
func (r *tunnelReader) openVPNArgs() []confText {
	var out []confText
	for _, c := range r.c.commands() {
		if c.opaque || c.script.Kind != scriptCommand && c.script.Kind != scriptFile {
			continue
		}
		if conf, has := optionsOf(c); has {
			out = append(out, conf)
		}
	}
	return out
}

// optionsOf writes a command's options as lines; places lead back to its words.
func optionsOf(c command) (confText, bool) {
	if c.name() != "openvpn" && !strings.HasPrefix(firstText(c.words), "--") {
		return confText{}, false
	}
	type piece struct {
		from, to int
		word     shell.Word
	}
	var b strings.Builder
	var pieces []piece
	started := false
	for _, w := range c.words {
		switch {
		case strings.HasPrefix(w.Text, "--"):
			if started {
				b.WriteByte('\n')
			}
			started = true
		case !started:
			continue
		default:
			b.WriteByte(' ')
		}
		from := b.Len()
		if strings.ContainsAny(w.Text, " \t\"'#;") && !strings.Contains(w.Text, `"`) {
			b.WriteString(`"` + w.Text + `"`)
		} else {
			b.WriteString(w.Text)
		}
		pieces = append(pieces, piece{from, b.Len(), w})
	}
	if !started {
		return confText{}, false
	}
	at := func(g grammar.Range) source.Ref {
		// An option of several words stands where its name does.
		for _, p := range pieces {
			if p.to > g.Start && p.from < g.End {
				return c.wordRef(p.word)
			}
		}
		return c.ref()
	}
	return confText{path: "command line", options: true, text: b.String(), whole: c.ref(), at: at}, true
}

func firstText(words []shell.Word) string {
	if len(words) == 0 {
		return ""
	}
	return words[0].Text
}
