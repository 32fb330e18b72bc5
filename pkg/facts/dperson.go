package facts

import (
	"strings"

	"github.com/vpnlint/vpnlint/pkg/images"
)

// dperson's start script always asks for the default route, keeps replies, and
// has options for all the rest (FG C4).
func (r *tunnelReader) dperson() {
	t := r.t
	t.Side = "client"
	options := r.getopts("cfamoRrvVp")
	for _, o := range options {
		switch o.flag {
		case 'r', 'R':
			k := images.Key{KeyPrefix: "ROUTE", InMain: images.MainRoute}
			if t.Bypass.State == Absent {
				t.Bypass.Ref = o.at.Ref
			}
			if o.at.State == Unknown {
				t.Bypass.State = Unknown
				r.missed(o.at.Why.of("-"+string(o.flag)+": "), o.at.Ref, aspectBypass)
				continue
			}
			r.exemptionList(k, "-"+string(o.flag), o.at)
		case 'f':
			t.KillSwitch = Switch{State: Present, Ref: o.at.Ref, Why: "-f"}
		case 'd':
			t.Resolver.Rewrites, t.Resolver.Ref, t.Resolver.Why = Present, o.at.Ref, "-d"
		case 'D':
			t.Routes = Routes{State: Unknown, Ref: o.at.Ref}
		}
	}
	if t.Resolver.Rewrites != Present {
		switch dns := r.c.env("DNS"); {
		case dns.State == Present && r.namesEnv("DNS"):
			t.Resolver.Rewrites, t.Resolver.Ref, t.Resolver.Why = Present, dns.Ref, "DNS"
		case dns.State == Absent:
			t.Resolver.Rewrites, t.Resolver.Why = Absent, "neither DNS nor -d"
		default:
			r.missed(dns.Why.of("DNS: "), dns.Ref, aspectResolver)
		}
	}
	if v := r.c.env("DEFAULT_GATEWAY"); v.State == Present && isOff(v.Text) {
		t.Routes = Routes{State: Unknown, Ref: v.Ref}
	}
	if t.KillSwitch.State == Absent {
		if f := r.c.file("/vpn/.firewall"); f.State == Unknown {
			t.KillSwitch.State = Unknown
			r.missed(f.Why.of("the file .firewall turns the kill switch on, and "), f.Ref, aspectKillSwitch)
		} else if f.Path != "" && f.State == Present {
			t.KillSwitch = Switch{State: Present, Ref: f.Ref, Why: "/vpn/.firewall"}
		}
	}
	t.Masquerade = Switch{State: t.KillSwitch.State, Ref: t.KillSwitch.Ref, Why: "with the firewall"}
	r.openVPN("/vpn/*.conf", "/vpn/*.ovpn")
}

// option is a flag of a getopts command line.
type option struct {
	flag byte
	at   value
}

// getopts reads the container's arguments as getopts would; withValue are the
// flags that take one.
func (r *tunnelReader) getopts(withValue string) []option {
	words, _ := r.c.argv()
	var out []option
	for i := 0; i < len(words); i++ {
		text := words[i].Text
		if len(text) < 2 || text[0] != '-' || text[1] == '-' {
			continue
		}
		for j := 1; j < len(text); j++ {
			if strings.IndexByte(withValue, text[j]) < 0 {
				if strings.IndexByte(text[1:j], text[j]) >= 0 { // said before, in the same word
					continue
				}
				out = append(out, option{text[j], words[i].value})
				continue
			}
			v := words[i].value
			switch {
			case j+1 < len(text):
				v.Text, v.Moved = strings.TrimSpace(text[j+1:]), true
			case i+1 < len(words):
				i++
				v = words[i].value
			default:
				v.Text, v.Moved = "", true
			}
			out = append(out, option{text[j], v})
			break
		}
	}
	return out
}
