package shell

import (
	"strings"
	"testing"
)

func TestNFTRules(t *testing.T) {
	const opaque = "opaque"
	for _, tt := range []struct{ name, script, want string }{
		{"on the command line", "nft add rule ip nat post oifname eth0 masquerade", "add rule ip nat post masquerade"},
		{"a table in braces", "nft -f - <<EOF\ntable inet nat {\n  chain post {\n    type nat hook postrouting priority 100; policy accept;\n    ip saddr 10.8.0.0/24 oifname \"eth0\" masquerade # out\n  }\n}\nEOF",
			"add chain inet nat post ; add chain inet nat post accept; add rule inet nat post masquerade"},
		{"statements", "nft -f - <<EOF\nadd table ip nat\nadd chain ip nat post { type nat hook postrouting priority 100 ; }\nadd rule ip nat post ip saddr { 10.8.0.0/24, 10.9.0.0/24 } masquerade\nEOF",
			"add table ip nat  ; add chain ip nat post ; add rule ip nat post masquerade"},
		{"a variable that is known", "IF=eth0\nnft --file=/dev/stdin <<EOF\nadd rule ip nat post oifname $IF masquerade\nEOF", "add rule ip nat post masquerade"},
		{"a variable that is not", "nft -f - <<EOF\nadd rule ip nat post oifname $IF masquerade\nEOF", opaque},
		{"a variable of nft's own", "nft -f - <<'EOF'\ndefine pool = 10.8.0.0/24\nadd rule ip nat post ip saddr $pool masquerade\nEOF", "add rule ip nat post masquerade ?"},
		{"a set is no rule", "nft -f - <<EOF\ntable ip f {\n set s { type ipv4_addr\n elements = { 10.0.0.1 }\n }\n chain c { ip daddr @s drop\n }\n}\nEOF", "add rule ip f c drop"},
		{"a file", "nft -f /etc/nftables.conf", opaque},
		{"another file", "nft -f - <<EOF\ninclude \"/etc/more.nft\"\nEOF", opaque},
		{"a brace too few", "nft -f - <<EOF\ntable ip nat {\n chain post {\n masquerade\n }\nEOF", opaque},
		{"a brace too many", "nft -f - <<EOF\n}\nEOF", opaque},
		{"standard input that is not in view", "nft -f -", opaque},
	} {
		t.Run(tt.name, func(t *testing.T) {
			commands := Parse(tt.script).Commands
			rules, ok := NFTRules(commands[len(commands)-1])
			var got []string
			for _, r := range rules {
				if r.Opaque {
					got = append(got, opaque)
					continue
				}
				line := strings.Join([]string{r.Op, r.Object, r.Family, r.Table, r.Chain, r.Verdict}, " ")
				if !r.Known {
					line += " ?"
				}
				got = append(got, line)
			}
			if !ok || strings.Join(got, "; ") != tt.want {
				t.Errorf("%q, want %q", strings.Join(got, "; "), tt.want)
			}
		})
	}
}
