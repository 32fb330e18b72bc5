package facts

import (
	"net/netip"
	"path"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/grammar"
)

// ocserv reads the configuration of an OpenConnect server: the clients' pool, and
// what they route. It translates nothing by itself; its image's start script, or
// the script that it runs for a client, may.
func (r *tunnelReader) ocserv() {
	t := r.t
	conf, found := r.ocservConf()
	if !found {
		r.missed(notInTree("its configuration", lintWithVPNConfig), t.ContainerRef, aspectMasquerade)
		return
	}
	t.Config = conf.file.Ref
	if conf.file.State == Unknown {
		r.missed(conf.file.Why, conf.file.Ref, aspectMasquerade)
		return
	}
	if conf.broken.Set() {
		// Then it does not start, and the rest of the file decides nothing.
		r.missed(because(strconv.Quote(clip(conf.broken.Text))+" is no setting", correctLine),
			conf.file.Ref.Within(conf.broken.Start, conf.broken.End), aspectPool, aspectMasquerade)
		return
	}
	t.Pool = append(t.Pool, r.ocservPool(conf)...)
	r.ocservRoutes(conf)
	if r.c.runsPlainly("ocserv") && len(conf.words["connect-script"]) == 0 && t.Masquerade.State == Unknown {
		t.Masquerade = Switch{State: Absent, Ref: t.ContainerRef, Why: "ocserv itself does not masquerade"}
	}
}

// ocservSettings are the lines of an ocserv.conf by their key.
type ocservSettings struct {
	file  mountedFile
	words map[string][]grammar.Word
	// broken is the first line that is neither a setting nor a section.
	broken grammar.Word
}

// ocservConf finds the configuration that the command names, else the one at the
// usual places.
func (r *tunnelReader) ocservConf() (ocservSettings, bool) {
	globs := r.globs("ocserv")
	for _, cmd := range r.c.commands() {
		if cmd.opaque || cmd.name() != "ocserv" {
			continue
		}
		for i, arg := range cmd.args() {
			if (arg == "-c" || arg == "--config") && i+1 < len(cmd.args()) {
				globs = []string{path.Clean(cmd.args()[i+1])}
			}
			if name, is := strings.CutPrefix(arg, "--config="); is {
				globs = []string{path.Clean(name)}
			}
		}
	}
	files := r.c.files(globs...)
	if len(files) == 0 {
		return ocservSettings{}, false
	}
	conf := ocservSettings{file: files[0], words: map[string][]grammar.Word{}}
	if len(conf.file.Text) > maxConfigBytes {
		return ocservSettings{}, false
	}
	for start := 0; start < len(conf.file.Text); {
		line, _, _ := strings.Cut(conf.file.Text[start:], "\n")
		if text := strings.TrimSpace(line); text != "" && text[0] != '#' {
			if key, v, is := keyValue(line, start); is {
				if v.Text == "" { // it stands where its line does
					whole := wordOf(line, start)
					v.Start, v.End = whole.Start, whole.End
				}
				if (key == "route" || key == "no-route") && strings.Contains(v.Text, ".") && !strings.Contains(v.Text, "/") && !conf.broken.Set() {
					conf.broken = v // it ends ocserv
				}
				conf.words[key] = append(conf.words[key], v)
			} else if text[0] != '[' && !conf.broken.Set() {
				conf.broken = wordOf(line, start)
			}
		}
		start += len(line) + 1
	}
	return conf, true
}

// ocservPool is ipv4-network, with its length or with ipv4-netmask, and
// ipv6-network.
func (r *tunnelReader) ocservPool(conf ocservSettings) []PrefixAt {
	var out []PrefixAt
	for _, w := range append(conf.words["ipv4-network"], conf.words["ipv6-network"]...) {
		at := conf.file.Ref.Within(w.Start, w.End)
		if mask := conf.words["ipv4-netmask"]; len(mask) > 0 && !strings.ContainsAny(w.Text, "/:") {
			if prefix, valid := grammar.ParseNetmask(w.Text, mask[0].Text); valid {
				out = append(out, PrefixAt{Prefix: prefix.Masked().String(), Text: w.Text, Ref: at})
			} else {
				bad := w
				if _, err := netip.ParseAddr(w.Text); err == nil {
					bad = mask[0]
				}
				r.noPool(conf, bad)
			}
			continue
		}
		if found, valid := prefixAt(grammar.ParsePrefix(w.Text, w.Start), at); valid {
			out = append(out, found)
		} else {
			r.noPool(conf, w)
		}
	}
	return out
}

// noPool notes an address or a mask of the pool that is none.
func (r *tunnelReader) noPool(conf ocservSettings, w grammar.Word) {
	why := filledInLater("the clients' network")
	if placeholder(w.Text) == "" {
		why = because(strconv.Quote(clip(w.Text))+" is no network and no netmask", correctIt)
	}
	r.missed(why, conf.file.Ref.Within(w.Start, w.End), aspectPool)
}

// ocservRoutes: clients route what the lines name, and everything where there is
// none.
func (r *tunnelReader) ocservRoutes(conf ocservSettings) {
	clients := &r.t.Clients
	clients.State = Present
	for _, w := range conf.words["route"] {
		at := conf.file.Ref.Within(w.Start, w.End)
		network, mask, _ := strings.Cut(w.Text, "/")
		switch found, valid := prefixAt(grammar.ParsePrefix(w.Text, w.Start), at); {
		case w.Text == "default":
			clients.Default = true
		case valid:
			clients.Routes = append(clients.Routes, found)
		default:
			prefix, dotted := grammar.ParseNetmask(network, mask)
			if !dotted {
				clients.State = Unknown
				r.notPushed(conf, w, "no network")
				continue
			}
			clients.Routes = append(clients.Routes, PrefixAt{Prefix: prefix.Masked().String(), Text: w.Text, Ref: at})
		}
	}
	clients.Default = clients.Default || len(conf.words["route"]) == 0
	if len(conf.words["no-route"]) > 0 {
		clients.State = Unknown // what is left of the routes is not worked out
	}
	for _, key := range []string{"dns", "ipv4-dns", "ipv6-dns"} {
		for _, w := range conf.words[key] {
			a, err := netip.ParseAddr(w.Text)
			if err != nil {
				r.notPushed(conf, w, "no address")
				continue
			}
			clients.Resolvers = append(clients.Resolvers, PrefixAt{
				Prefix: netip.PrefixFrom(a, a.BitLen()).String(), Text: w.Text, Ref: conf.file.Ref.Within(w.Start, w.End),
			})
		}
	}
}

// notPushed notes a route or a resolver for clients that is none.
func (r *tunnelReader) notPushed(conf ocservSettings, w grammar.Word, is string) {
	why := filledInLater("what clients get")
	if placeholder(w.Text) == "" {
		why = because(strconv.Quote(clip(w.Text))+" is "+is, correctIt)
	}
	r.missed(why, conf.file.Ref.Within(w.Start, w.End), aspectPushed)
}

// runsPlainly: a system without an application runs the program, and nothing that
// the container runs is hidden.
func (c *containerView) runsPlainly(program string) bool {
	if !bareImage(c.image.Repository) {
		return false
	}
	runs := false
	for _, cmd := range c.commands() {
		if cmd.opaque {
			return false
		}
		runs = runs || cmd.name() == program
	}
	return runs
}
