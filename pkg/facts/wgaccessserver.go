package facts

import (
	"path"
	"strconv"

	"github.com/vpnlint/vpnlint/pkg/grammar"
)

// wgAccessServer reads wg-access-server, which masquerades unless told otherwise
// (FG C0 42).
func (r *tunnelReader) wgAccessServer() {
	r.natUnless(map[string]bool{"WG_IPV4_NAT_ENABLED": false, "WG_VPN_DISABLE_IPTABLES": true})
	f := r.wgAccessServerFile()
	switch f.State {
	case Absent:
	case Present:
		docs, broken := grammar.ParseDocuments(f.Text)
		if len(broken) > 0 {
			f.Ref = f.Ref.Within(broken[0].Start, broken[0].End)
		}
		if len(broken) > 0 || len(docs) != 1 {
			r.wgAccessServerUnseen(because("its reader refuses "+path.Base(f.Path)+", which is not one YAML document", correctLine), f)
			return
		}
		r.wgAccessServerConfig(docs[0], f)
	default:
		r.wgAccessServerUnseen(f.Why, f)
	}
}

// wgAccessServerFile is the configuration file, whose settings come before the
// variables.
func (r *tunnelReader) wgAccessServerFile() mountedFile {
	name := "/config.yaml" // the image's WG_CONFIG
	if v := r.c.env("WG_CONFIG"); v.State == Present {
		name = v.Text
	} else if r.namesEnv("WG_CONFIG") {
		return mountedFile{State: Unknown, Ref: v.Ref, Why: v.Why}
	}
	argv, _ := r.c.argv()
	for i := range argv {
		if i > 0 && argv[i-1].Text == "--config" {
			name = argv[i].Text
		}
	}
	return r.c.file(name)
}

// wgAccessServerUnseen: the file may set another pool and other translation.
func (r *tunnelReader) wgAccessServerUnseen(why reason, f mountedFile) {
	t := r.t
	t.Pool, t.Masquerade.State, t.Clients.State = nil, Unknown, Unknown
	r.missed(why, f.Ref, aspectMasquerade)
}

func (r *tunnelReader) wgAccessServerConfig(doc *grammar.Document, f mountedFile) {
	t := r.t
	config, _ := doc.Value.(map[string]any)
	vpn, _ := config["vpn"].(map[string]any)
	for _, key := range []string{"cidr", "cidrv6"} {
		text, is := vpn[key].(string)
		if !is {
			continue
		}
		t.Pool = poolsOfOther(t.Pool, key == "cidrv6")
		place, _ := doc.Place("vpn", key)
		if at, valid := prefixAt(grammar.ParsePrefix(text, 0), f.Ref.Within(place.Start, place.End)); valid {
			t.Pool = append(t.Pool, at)
		}
	}
	for _, nat := range []struct {
		key string
		off bool
	}{{"nat44", false}, {"disableIPTables", true}} {
		if on, is := vpn[nat.key].(bool); is && on == nat.off {
			place, _ := doc.Place("vpn", nat.key)
			t.Masquerade = Switch{State: Absent, Ref: f.Ref.Within(place.Start, place.End), Why: nat.key + ": " + strconv.FormatBool(on)}
		}
	}
	if _, other := vpn["allowedIPs"]; other {
		t.Clients.State = Unknown
	}
}

// poolsOfOther leaves the pools of one family out.
func poolsOfOther(list []PrefixAt, ipv6 bool) []PrefixAt {
	var out []PrefixAt
	for _, at := range list {
		for _, p := range prefixesAt([]PrefixAt{at}) {
			if p.Addr().Is6() != ipv6 {
				out = append(out, at)
			}
		}
	}
	return out
}

// natUnless reads variables that turn masquerading off by one of their values.
func (r *tunnelReader) natUnless(off map[string]bool) {
	for _, k := range r.family.Env.NAT {
		value, knows := off[k.Key]
		v := r.c.env(k.Key)
		if !knows || v.State != Present {
			continue
		}
		if value && isOn(v.Text) || !value && isOff(v.Text) {
			r.t.Masquerade = Switch{State: Absent, Ref: v.Ref, Why: k.Key + "=" + clip(v.Text)}
		}
	}
}
