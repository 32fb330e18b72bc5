package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/shell"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// sysctlWriter reads the commands of one container in order.
type sysctlWriter struct {
	r *forwardingReader
	c *containerView
	// files are the settings that the commands so far put into files, for
	// sysctl -p.
	files map[string][]setLine
	// asked: an earlier command of the scripts reads the sysctl, so that a
	// condition is about its value.
	asked bool
	// paths are the ways on which the commands so far write a value, by what they
	// write.
	paths map[string][][]shell.Fork
	// dir is the directory that the commands so far have gone to, "" unknown.
	dir string
	// remounted: an earlier command remounts /proc/sys, which SYS_ADMIN may.
	remounted bool
}

// setLine is a line of settings that a script puts into a file.
type setLine struct {
	set   sysctl
	value string
	by    command
}

func newSysctlWriter(r *forwardingReader, c *containerView) *sysctlWriter {
	return &sysctlWriter{r: r, c: c, files: map[string][]setLine{}, paths: map[string][][]shell.Fork{}}
}

func (w *sysctlWriter) command(cmd command, how string) {
	if reached, _ := cmd.reached(); reached == Absent || cmd.cmd == nil || cmd.cmd.OtherNetNS {
		return // what it writes is another namespace's
	}
	w.moves(cmd)
	if why, at := cmd.refused(); why.holds() {
		meant := slices.ContainsFunc(shell.Sysctls(cmd.cmd), func(s shell.Sysctl) bool { return s.Key != "" })
		if when := w.r.when(w.c, cmd.script.Kind); meant && when != "after" {
			w.r.unseen = append(w.r.unseen, unseenScript{container: w.c.c.Name, ref: at, why: why})
		}
		return
	}
	for _, set := range shell.Sysctls(w.placed(cmd.cmd)) {
		if set.Mount != "" && !w.c.nodeProc() {
			continue // no other /proc is there
		}
		switch of := sysctlWritten(set); {
		case set.File != "":
			w.load(cmd, how, set)
		case !set.KeyKnown:
			w.r.hidden(w.c, cmd.ref(), because("which setting "+cmd.says()+" writes is known at run time only", writeSetting), w.r.when(w.c, cmd.script.Kind))
		case of.knob != noKnob:
			value := set.Value
			if !set.Known && placeholder(value) == "" && !strings.Contains(value, "$") {
				value = "$" + value
			}
			forked := w.conditional(cmd, set.Key+"="+value)
			w.write(cmd, how, of, value, cmd.ref(), cmd.says(), !set.Ensured && !w.asked && forked, forked, set.Quiet)
		}
	}
	switch cmd.name() {
	case "kubectl":
		w.kubectl(cmd)
	case "mount", "umount":
		w.remounted = w.remounted || strings.Contains(strings.Join(cmd.args(), " "), "/proc")
	}
	w.remember(cmd)
	for _, name := range []string{"ip_forward", "forwarding", "src_valid_mark", "rp_filter", "disable_ipv6"} {
		w.asked = w.asked || strings.Contains(cmd.text(), name)
	}
}

// conditional: on some way through the script so far nothing writes the value.
func (w *sysctlWriter) conditional(cmd command, what string) bool {
	reached, open := cmd.reached()
	if reached == Present {
		return false
	}
	w.paths[what] = append(w.paths[what], open)
	return !shell.Covered(w.paths[what])
}

// moves follows cd, as far as the directory is written out.
func (w *sysctlWriter) moves(cmd command) {
	if args := cmd.cmd.Words; cmd.name() == "cd" && len(args) > 1 && args[1].Known && !cmd.conditional {
		if w.dir = args[1].Text; !path.IsAbs(w.dir) {
			w.dir = ""
		}
	}
}

// placed writes out the files that a command's output goes to.
func (w *sysctlWriter) placed(cmd *shell.Command) *shell.Command {
	if !strings.HasPrefix(w.dir, "/proc/sys") || len(cmd.Redirects) == 0 {
		return cmd
	}
	out := *cmd
	out.Redirects = slices.Clone(cmd.Redirects)
	for i := range out.Redirects {
		if to := &out.Redirects[i].Target; !path.IsAbs(to.Text) {
			to.Text = path.Join(w.dir, to.Text)
		}
	}
	return &out
}

// remember keeps what echo, printf, cat or tee put into a file:
// echo net.ipv4.ip_forward=1 >> /etc/sysctl.conf.
func (w *sysctlWriter) remember(cmd command) {
	var text string
	switch cmd.name() {
	case "echo", "printf":
		text = strings.ReplaceAll(strings.Join(cmd.args(), " "), `\n`, "\n")
	case "cat", "tee":
		text = input(cmd.cmd)
	case "sed":
		w.edits(cmd)
		return
	default:
		return
	}
	var targets []string
	for _, redirect := range cmd.cmd.Redirects {
		targets = append(targets, redirect.Target.Text)
	}
	if cmd.name() == "tee" {
		targets = append(targets, cmd.args()...)
	}
	for _, target := range targets {
		if base := path.Base(target); strings.HasPrefix(base, "sysctl") || strings.HasPrefix(path.Clean(target), "/etc/sysctl.d/") {
			for _, bad := range refusedSettings(text) {
				w.refused(cmd, cmd.ref(), bad.why)
			}
		}
		for _, a := range assignments(text) {
			target := path.Clean(target)
			w.files[target] = append(w.files[target], setLine{set: a.set, value: a.value, by: cmd})
		}
	}
}

// edits: sed changes a line about forwarding in a file. What stands there
// afterwards is not read.
func (w *sysctlWriter) edits(cmd command) {
	args := cmd.args()
	inPlace := slices.ContainsFunc(args, func(a string) bool {
		return strings.HasPrefix(a, "--in-place") || strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "i")
	})
	if !inPlace {
		return
	}
	target := path.Clean(args[len(args)-1])
	for name, k := range map[string]knob{"ip_forward": forward4, "ipv4.conf.all.forwarding": forward4, "ipv6.conf.all.forwarding": forward6} {
		if strings.Contains(strings.ReplaceAll(cmd.text(), `\`, ""), name) {
			w.files[target] = append(w.files[target], setLine{set: sysctl{knob: k}, value: "$", by: cmd})
		}
	}
}

// input is what a command reads: a here-document, or what echo pipes into it.
func input(cmd *shell.Command) string {
	if cmd.HereDoc != "" || cmd.PipedFrom == nil {
		return cmd.HereDoc
	}
	var out []string
	for i, word := range cmd.PipedFrom.Words {
		if i > 0 {
			out = append(out, word.Text)
		}
	}
	return strings.ReplaceAll(strings.Join(out, " "), `\n`, "\n")
}

// load reads the settings of sysctl -p and --system: from files that the script
// wrote before, and from mounted ones.
func (w *sysctlWriter) load(cmd command, how string, set shell.Sysctl) {
	names := []string{path.Clean(set.File)}
	switch set.File {
	case "*":
		names = []string{"/etc/sysctl.conf", "/etc/sysctl.d"}
	case "-", "/dev/stdin":
		for _, a := range assignments(input(cmd.cmd)) {
			w.write(cmd, how, a.set, a.value, cmd.ref(), cmd.says(), !cmd.certain(), !cmd.certain(), set.Quiet)
		}
		return
	}
	if !set.KeyKnown {
		w.r.hidden(w.c, cmd.ref(), because("which file "+cmd.says()+" reads is known only at run time", noAdvice), w.r.when(w.c, cmd.script.Kind))
		return
	}
	for _, name := range names {
		for _, target := range sortedKeys(w.files) {
			if target != name && !strings.HasPrefix(target, name+"/") {
				continue
			}
			for _, f := range w.files[target] {
				w.write(cmd, how, f.set, f.value, f.by.ref(), f.by.says(), !cmd.certain() || !f.by.certain(), !cmd.certain(), set.Quiet)
			}
		}
		for _, f := range w.c.files(name, name+"/*.conf") {
			if f.State == Unknown {
				w.r.hidden(w.c, f.Ref, f.Why, w.r.when(w.c, cmd.script.Kind))
				continue
			}
			for _, bad := range refusedSettings(f.Text) {
				w.refused(cmd, f.Ref.Within(bad.start, bad.end), bad.why)
			}
			for _, a := range assignments(f.Text) {
				w.write(cmd, how, a.set, a.value, f.Ref.Within(a.start, a.end), clip(f.Text[a.start:a.end]), !cmd.certain(), !cmd.certain(), set.Quiet)
			}
		}
	}
}

// write records one write by a command: conditional, where the value may not hold
// behind it, and forked, where the command may not be tried.
func (w *sysctlWriter) write(cmd command, how string, set sysctl, value string, ref source.Ref, says string, conditional, forked, quiet bool) {
	can := w.c.canWrite()
	if can == Absent && w.remounted && w.c.mayUse("SYS_ADMIN") {
		can = Unknown
	}
	// A write that fails matters only where it is tried at all, however certain
	// the value would be after one that works.
	tried := conditional
	if can == Absent {
		tried = forked
	}
	w.r.write(set, value, timed{
		at: w.c.c.Order, maybe: conditional, forked: conditional, behindRefused: cmd.behindRefused(),
		ForwardEvidence: ForwardEvidence{
			How: how, Container: w.c.c.Name, Ref: ref, Says: says, Effective: can,
			When: w.r.when(w.c, cmd.script.Kind), Tolerant: cmd.tolerated || quiet, Conditional: tried,
		},
	})
}

// refused notes a line of settings that the kernel, or who reads it, refuses.
func (w *sysctlWriter) refused(cmd command, at source.Ref, why string) {
	if when := w.r.when(w.c, cmd.script.Kind); when != "after" {
		w.r.unseen = append(w.r.unseen, unseenScript{container: w.c.c.Name, ref: at, why: because(why, correctLine)})
	}
}

// kubectl: a command that writes in another pod's namespace is lost with that
// pod's next restart, and never acts on this one.
func (w *sysctlWriter) kubectl(cmd command) {
	args := cmd.args()
	if !containsWord(args, "exec") {
		return
	}
	for _, token := range strings.Fields(strings.Join(args, " ")) {
		token = strings.Trim(token, `"';`)
		name, value, _ := strings.Cut(token, "=")
		set := sysctlOf(name)
		if set.knob == noKnob || value == "0" {
			continue
		}
		w.r.add(set.knob, timed{at: w.c.c.Order, maybe: true, ForwardEvidence: ForwardEvidence{
			How: "kubectl-exec", Value: "1", Container: w.c.c.Name, Ref: cmd.ref(), Says: cmd.says(),
			Effective: Absent, When: "after", Tolerant: cmd.tolerated, Target: execTarget(args),
		}})
		return
	}
}

// execTarget is the pod or workload that a kubectl exec names, "" where that is
// known only at run time.
func execTarget(args []string) string {
	i := slices.Index(args, "exec") + 1
	for ; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--":
			return ""
		case strings.HasPrefix(arg, "-"):
			switch arg {
			case "-n", "--namespace", "-c", "--container", "--context", "--kubeconfig", "-s", "--server", "--cluster", "--user", "--pod-running-timeout":
				i++
			}
		case strings.ContainsAny(arg, "$`"):
			return ""
		default:
			return arg
		}
	}
	return ""
}
