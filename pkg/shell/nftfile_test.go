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
			"add chain inet nat post  @postrouting; add chain inet nat post accept @postrouting; add rule inet nat post masquerade @postrouting"},
		{"statements", "nft -f - <<EOF\nadd table ip nat\nadd chain ip nat post { type nat hook postrouting priority 100 ; }\nadd rule ip nat post ip saddr { 10.8.0.0/24, 10.9.0.0/24 } masquerade\nEOF",
			"add table ip nat  ; add chain ip nat post  @postrouting; add rule ip nat post masquerade"},
		{"a variable that is known", "IF=eth0\nnft --file=/dev/stdin <<EOF\nadd rule ip nat post oifname $IF masquerade\nEOF", "add rule ip nat post masquerade"},
		{"a variable that is not", "nft -f - <<EOF\nadd rule ip nat post oifname $IF masquerade\nEOF", "add rule ip nat post masquerade ?"},
		{"rules in a variable that is not known", "nft -f - <<EOF\n$RULES\nEOF", opaque + " -"},
		{"a variable of nft's own", "nft -f - <<'EOF'\ndefine pool = 10.8.0.0/24\nadd rule ip nat post ip saddr $pool masquerade\nEOF", "add rule ip nat post masquerade"},
		{"a variable of another file", "nft -f - <<'EOF'\nadd rule ip nat post ip saddr $pool masquerade\nEOF", "add rule ip nat post masquerade ?"},
		{"several statements on the command line", "nft 'add table ip nat; add chain ip nat post { type nat hook postrouting priority 100; }; add rule ip nat post masquerade'",
			"add table ip nat  ; add chain ip nat post  @postrouting; add rule ip nat post masquerade"},
		{"echo into it", "echo 'add rule ip nat post masquerade' | nft -f -", "add rule ip nat post masquerade"},
		{"printf into it", "printf 'table ip nat {\\n chain post {\\n masquerade\\n }\\n}\\n' | nft -f /dev/stdin", "add rule ip nat post masquerade"},
		{"cat a here-document into it", "cat <<EOF | nft -f -\nadd rule ip nat post masquerade\nEOF", "add rule ip nat post masquerade"},
		{"a file of a pipe", "cat /etc/nat.nft | nft -f -", opaque + " /etc/nat.nft"},
		{"a file of a redirection", "nft -f - < /etc/nat.nft", opaque + " /etc/nat.nft"},
		{"what a program prints", "generate | nft -f -", opaque + " -"},
		{"a set is no rule", "nft -f - <<EOF\ntable ip f {\n set s { type ipv4_addr\n elements = { 10.0.0.1 }\n }\n chain c { ip daddr @s drop\n }\n}\nEOF", "add rule ip f c drop"},
		{"a file", "nft -f /etc/nftables.conf", opaque + " /etc/nftables.conf"},
		{"a file in one word", "nft --file=/etc/nftables.conf", opaque + " /etc/nftables.conf"},
		{"a chain's hook and policy", "nft -f - <<EOF\ntable inet f {\n chain out {\n type filter hook output priority 0; policy drop;\n oifname wg0 accept\n }\n}\nEOF",
			"add chain inet f out  @output; add chain inet f out drop @output; add rule inet f out accept @output"},
		{"another file", "nft -f - <<EOF\ninclude \"/etc/more.nft\"\nEOF", opaque + " -"},
		{"a brace too few", "nft -f - <<EOF\ntable ip nat {\n chain post {\n masquerade\n }\nEOF", opaque + " -"},
		{"a brace too many", "nft -f - <<EOF\n}\nEOF", opaque + " -"},
		{"standard input that is not in view", "nft -f -", opaque + " -"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			commands := Parse(tt.script).Commands
			rules, ok := NFTRules(commands[len(commands)-1])
			var got []string
			for _, r := range rules {
				if r.Opaque {
					got = append(got, strings.TrimSpace(opaque+" "+r.File.Text))
					continue
				}
				line := strings.Join([]string{r.Op, r.Object, r.Family, r.Table, r.Chain, r.Verdict}, " ")
				if r.Hook != "" {
					line += " @" + r.Hook
				}
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

func TestNFTMatches(t *testing.T) {
	for _, tt := range []struct{ rule, want string }{
		{"oifname != wg0 drop", "out !wg0"},
		{"oifname != { \"lo\", \"wg0\" } reject", "out !lo,wg0"},
		{"meta oifname \"eth0\" masquerade", "out eth0"},
		{"ip saddr 10.8.0.0/24 oif eth0 counter masquerade", "out eth0 from 10.8.0.0/24"},
		{"ip daddr != { 10.0.0.0/8, 192.168.0.0/16 } drop", "to !10.0.0.0/8,192.168.0.0/16"},
		{"ip daddr @local drop", "to ?@local"},
		{"oifname != wg0 meta mark != 0xca6c fib daddr type != local counter packets 0 bytes 0 reject with icmp port-unreachable", "out !wg0"},
		{"counter log prefix \"out \" drop", ""},
		{"meta l4proto tcp drop", "part"},
		{"tcp dport 53 drop", "part"},
		{"ct state invalid drop", "part"},
		{"skuid 1000 drop", "part"},
		{"ip protocol udp drop", "part"},
		{"socket cgroupv2 level 2 drop", "unclear"},
		{"jump killswitch", "unclear"},
	} {
		text := "table inet f {\n chain c {\n" + tt.rule + "\n}\n}\n"
		rules, broken, _ := NFTFile(&Command{}, text)
		if broken >= 0 || len(rules) != 1 {
			t.Fatalf("%s: %d rules, %d", tt.rule, len(rules), broken)
		}
		m := rules[0].Matches()
		var got []string
		for _, f := range []struct {
			name string
			m    Match
		}{{"out", m.Out}, {"from", m.Source}, {"to", m.Destination}} {
			if f.m.Set {
				text := f.m.Text
				if !f.m.Known {
					text = "?" + text
				}
				if f.m.Negate {
					text = "!" + text
				}
				got = append(got, f.name+" "+text)
			}
		}
		if m.Part {
			got = append(got, "part")
		}
		if m.Unclear {
			got = append(got, "unclear")
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.rule, strings.Join(got, " "), tt.want)
		}
	}
}

func TestWrites(t *testing.T) {
	for _, tt := range []struct{ script, want string }{
		{"cat > /tmp/r <<EOF\na\nEOF", "a\n"},
		{"cat <<EOF > /tmp/r\na $X\nEOF", "?a $X\n"},
		{"cat <<'EOF' | tee /tmp/r\na\nEOF", "a\n"},
		{"echo a b >> /tmp/r", "+a b\n"},
		{"printf 'a\\nb\\n' > /tmp/r", "a\nb\n\n"},
		{"echo a | tee -a /tmp/r", "+a\n"},
		{"generate > /tmp/r", "?"},
		{"cp /etc/r /tmp/r", "+?"},
		{"sed -i s/a/b/ /tmp/r", "+?"},
		{"echo a > /tmp/other", "no"},
		{"cat /tmp/r", "no"},
	} {
		got := "no"
		for _, c := range Parse(tt.script).Commands {
			if in, appends, ok := Writes(c, "/tmp/r"); ok {
				got = in.Text
				if !in.Known {
					got = "?" + got
				}
				if appends {
					got = "+" + got
				}
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.script, got, tt.want)
		}
	}
}
