package grammar

import (
	"strings"
	"testing"
)

func TestParsePrefixes(t *testing.T) {
	tests := []struct{ name, text, separators, want string }{
		{"comma", "10.0.0.0/8,172.16.0.0/12", ",", "10.0.0.0/8 | 172.16.0.0/12"},
		{"blanks around", " 10.0.0.0/8 , 172.16.0.0/12\n", ",", "10.0.0.0/8 | 172.16.0.0/12"},
		{"empty entries", ",10.0.0.0/8,,", ",", "10.0.0.0/8"},
		{"wrong separator", "10.0.0.0/8;172.16.0.0/12", ",", "!10.0.0.0/8;172.16.0.0/12"},
		{"either separator", "10.0.0.0/8;172.16.0.0/12,fd00::/8", ";,", "10.0.0.0/8 | 172.16.0.0/12 | fd00::/8"},
		{"white space", "10.0.0.0/8  172.16.0.0/12\n192.168.0.0/16", " ", "10.0.0.0/8 | 172.16.0.0/12 | 192.168.0.0/16"},
		{"a single value", "10.0.0.0/8", "", "10.0.0.0/8"},
		{"a comma in a single value", "10.0.0.0/8,172.16.0.0/12", "", "!10.0.0.0/8,172.16.0.0/12"},
		{"host bits", "10.1.2.3/8", ",", "10.0.0.0/8 (host bits)"},
		{"bare", "10.1.2.3", ",", "10.1.2.3/32 (bare)"},
		{"a range", "10.0.0.1-10.0.0.9", ",", "!10.0.0.1-10.0.0.9"},
		{"a zone", "fe80::1%eth0", ",", "!fe80::1%eth0"},
		{"placeholder", "$(POD_CIDR),10.0.0.0/8", ",", "?$(POD_CIDR) | 10.0.0.0/8"},
		{"nothing", "", ",", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ps := ParsePrefixes(tt.text, 100, tt.separators)
			if got := prefixes(ps); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			for _, p := range ps {
				if tt.text[p.Start-100:p.End-100] != p.Text {
					t.Errorf("%q stands at %q", p.Text, tt.text[p.Start-100:p.End-100])
				}
			}
		})
	}
}

func TestParseAddressRange(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.10-10.0.0.20":   "10.0.0.10-10.0.0.20",
		"10.0.0.10 - 10.0.0.20": "10.0.0.10-10.0.0.20",
		"fd00::1-fd00::9":       "fd00::1-fd00::9",
	} {
		if r, ok := ParseAddressRange(text); !ok || r.String() != want {
			t.Errorf("%s: got %v %v", text, r, ok)
		}
	}
	for _, text := range []string{"10.0.0.20-10.0.0.10", "10.0.0.1", "10.0.0.1-fd00::1", "a-b", "10.0.0.0/8-10.0.0.1", ""} {
		if r, ok := ParseAddressRange(text); ok {
			t.Errorf("%q is no range, got %v", text, r)
		}
	}
}

func TestParseNetmask(t *testing.T) {
	for _, tt := range []struct{ network, mask, want string }{
		{"10.8.0.0", "255.255.255.0", "10.8.0.0/24"},
		{"10.8.0.5", "255.255.0.0", "10.8.0.0/16"},
		{"0.0.0.0", "0.0.0.0", "0.0.0.0/0"},
		{"10.8.0.5", "255.255.255.255", "10.8.0.5/32"},
		{"10.8.0.0", "255.0.255.0", ""},
		{"10.8.0.0", "0.0.0.255", ""},
		{"10.8.0.0", "24", ""},
		{"fd00::", "255.0.0.0", ""},
		{"NETWORK", "NETMASK", ""},
	} {
		p, ok := ParseNetmask(tt.network, tt.mask)
		if got := p.String(); ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s %s: got %s %v, want %q", tt.network, tt.mask, got, ok, tt.want)
		}
	}
}

func TestParseEnvFile(t *testing.T) {
	text := `# settings
VXLAN_ID="42"
export VPN_LOCAL_CIDRS="10.0.0.0/8 192.168.0.0/16"   # local
declare -x OVPN_SERVER=192.168.255.0/24
declare -x OVPN_ROUTES=([0]="10.0.0.0/8" [1]="172.16.0.0/12")
declare -a LIST=(a 'b c'
  d)
  A=b c # d
URL=http://x/#y
E=
D=$OTHER
Q='it''s' x
M="two
lines"
no assignment
if [ "$X" = 1 ]; then
N.O=1
`
	var got []string
	for _, kv := range ParseEnvFile(text) {
		value := kv.Value.Text
		if kv.IsList {
			value = "(" + words(kv.List) + ")"
		} else if text[kv.Value.Start:kv.Value.End] != value && !strings.Contains(value, "its") {
			t.Errorf("%s: %q stands at %q", kv.Key, value, text[kv.Value.Start:kv.Value.End])
		}
		if !kv.Known {
			value += " ?"
		}
		got = append(got, kv.Key+"="+value)
	}
	want := []string{
		"VXLAN_ID=42", "VPN_LOCAL_CIDRS=10.0.0.0/8 192.168.0.0/16", "OVPN_SERVER=192.168.255.0/24",
		"OVPN_ROUTES=(10.0.0.0/8 | 172.16.0.0/12)", "LIST=(a | b c | d)", "A=b c", "URL=http://x/#y", "E=", "D=$OTHER ?", "Q=its", "M=two\nlines",
	}
	if strings.Join(got, ";") != strings.Join(want, ";") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
