package shell

// Input is what a command reads from its standard input.
type Input struct {
	// File is a file by its name, "" for a text.
	File string
	// Text is a here-document or what is printed into a pipe; Known: all of it is
	// in view. A part that is not stands in it as written.
	Text  string
	Known bool
}

// StandardInput returns what a command reads from its standard input; false
// when that is nothing, or the output of a program.
func StandardInput(c *Command) (in Input, ok bool) {
	switch {
	case c.PipedFrom != nil:
		p := c.PipedFrom
		if p.Name() == "cat" && len(p.args()) == 1 && p.HereDoc == "" && p.args()[0].Text != "-" {
			return Input{File: p.args()[0].Text, Known: p.args()[0].Known}, true
		}
		if p.Name() == "cat" && p.Input.Text != "" {
			return Input{File: p.Input.Text, Known: p.Input.Known}, true
		}
		return printedInput(p)
	case c.Input.Text != "":
		return Input{File: c.Input.Text, Known: c.Input.Known}, true
	case c.HereDoc != "":
		return Input{Text: c.HereDoc, Known: c.HereDocKnown}, true
	default:
		return Input{}, false
	}
}

// printedInput returns what echo, printf or cat with a here-document writes.
func printedInput(c *Command) (in Input, ok bool) {
	args := c.args()
	switch c.Name() {
	case "echo":
		for len(args) > 0 && (args[0].Text == "-n" || args[0].Text == "-e" || args[0].Text == "-ne" || args[0].Text == "-en" || args[0].Text == "-E") {
			args = args[1:]
		}
	case "printf":
		if len(args) > 1 && (args[0].Text == "%s" || args[0].Text == `%s\n` || args[0].Text == "%b" || args[0].Text == `%b\n`) {
			args = args[1:]
		} else if len(args) != 1 {
			return Input{}, false
		}
	case "cat", "tee":
		if c.HereDoc == "" {
			if c.Name() == "tee" && c.PipedFrom != nil {
				return printedInput(c.PipedFrom)
			}
			return Input{}, false
		}
		return Input{Text: c.HereDoc, Known: c.HereDocKnown}, true
	default:
		return Input{}, false
	}
	text := ""
	for i, w := range args {
		if i > 0 {
			text += " "
		}
		text += w.Text
	}
	return Input{Text: lineEnds(text) + "\n", Known: known(args)}, true
}

// lineEnds puts in the line ends that echo and printf make of \n.
func lineEnds(text string) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (text[i+1] == 'n' || text[i+1] == 't') {
			if i++; text[i] == 'n' {
				out = append(out, '\n')
			} else {
				out = append(out, '\t')
			}
			continue
		}
		out = append(out, text[i])
	}
	return string(out)
}

// Writes returns the file that a command writes what it prints to, and whether
// it appends: cat > FILE <<EOF, echo ... >> FILE, ... | tee FILE.
func Writes(c *Command, file string) (in Input, appends, ok bool) {
	for _, r := range c.Redirects {
		if r.Target.Text == file {
			in, known := printedInput(c)
			if !known {
				in = Input{}
			}
			return in, r.Op == ">>", true
		}
	}
	switch args := c.args(); c.Name() {
	case "tee":
		to := false
		for _, a := range args {
			to, appends = to || a.Text == file, appends || a.Text == "-a" || a.Text == "--append"
		}
		if to {
			in, known := StandardInput(c)
			if !known || in.File != "" {
				in = Input{}
			}
			return in, appends, true
		}
	case "cp", "mv", "ln", "install", "sed", "envsubst", "wget", "curl":
		for _, a := range args {
			if a.Text == file && c.Name() != "envsubst" {
				return Input{}, true, true
			}
		}
	}
	return Input{}, false, false
}
