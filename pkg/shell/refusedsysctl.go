package shell

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/suggest"
)

// forwardingNames are the settings of the kernel that gateways and tunnels need; *
// stands for an interface.
var forwardingNames = []string{
	"net.ipv4.ip_forward", "net.ipv4.conf.*.forwarding", "net.ipv4.conf.*.rp_filter", "net.ipv4.conf.*.src_valid_mark",
	"net.ipv6.conf.*.forwarding", "net.ipv6.conf.*.disable_ipv6",
}

// sysctlOptions are the long options of sysctl.
var sysctlOptions = words("--all --deprecated --dry-run --binary --ignore --names --values --load --quiet --system --pattern --write --help --version")

// MisspeltSysctl returns the setting that a name most likely means of which the
// kernel has none, "" for a name that it may have.
func MisspeltSysctl(key string) string {
	parts := strings.Split(key, ".")
	const whole = 5 // net.ipv4.conf.all.forwarding
	middle := "*"
	if len(parts) == whole {
		middle, parts[3] = parts[3], "*"
	}
	name := strings.Join(parts, ".")
	if strings.Count(key, "*") > 0 || slices.Contains(forwardingNames, name) {
		return ""
	}
	for _, have := range forwardingNames {
		const slips = 2
		if n := suggest.Distance(name, have); n <= slips {
			return strings.Replace(have, "*", middle, 1)
		}
	}
	return ""
}

// refusedSysctl says what sysctl refuses, and which file of /proc/sys a command
// writes to is none.
func refusedSysctl(c *Command) *Refusal {
	if c.Name() == "sysctl" {
		writes := false
		for _, w := range c.args() {
			switch {
			case w.Text == "-w" || w.Text == "--write":
				writes = true
			case w.Text == "--quiet":
			case w.Known && strings.HasPrefix(w.Text, "--") && near(w.Text, sysctlOptions) != "" && !slices.Contains(sysctlOptions, w.Text):
				return refuse(w, "sysctl has no such option", near(w.Text, sysctlOptions))
			case strings.HasPrefix(w.Text, "-"):
				if strings.ContainsAny(w.Text, "pefraAN") || w.Text == "-n" {
					return nil // it loads, reads, or passes over what is not there
				}
			case !w.Known:
			case w.Text == "=":
				return refuse(w, "sysctl takes a name and its value as one word: name=value", "")
			case writes && !strings.Contains(w.Text, "="):
				return refuse(w, "a value belongs to it: name=value", "")
			}
		}
	}
	for _, s := range Sysctls(c) {
		switch {
		case !s.KeyKnown || s.Key == "" || s.File != "" || !s.Word.Known || s.Mount != "":
		case MisspeltSysctl(s.Key) != "":
			return refuse(s.Word, "the kernel has no setting "+s.Key, MisspeltSysctl(s.Key))
		case s.Known && MeansForwarding(s.Key) && !TakenByKernel(s.Value):
			return refuse(s.Word, strconv.Quote(s.Value)+" is no number, and "+s.Key+" takes one", "")
		}
	}
	return nil
}

// MeansForwarding reports whether a setting is one of those that gateways and tunnels
// need, each of which takes a number.
func MeansForwarding(key string) bool {
	parts := strings.Split(key, ".")
	const whole = 5
	if len(parts) == whole {
		parts[3] = "*"
	}
	return slices.Contains(forwardingNames, strings.Join(parts, "."))
}

// TakenByKernel reports whether a value is a number, as settings of one number want it;
// what stands behind a blank is passed over.
func TakenByKernel(value string) bool {
	number, _, _ := strings.Cut(strings.Trim(strings.TrimSpace(value), `"'`), " ")
	_, err := strconv.ParseInt(number, 0, 32)
	return err == nil
}
