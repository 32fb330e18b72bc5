package shell

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// show writes a command in one line: its words (an unknown one between angle
// brackets), then what else is true of it.
func show(c *Command) string {
	var b strings.Builder
	for i, w := range c.Words {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch {
		case !w.Known:
			b.WriteString("<" + w.Text + ">")
		case w.Text == "" || strings.ContainsAny(w.Text, " \n"):
			fmt.Fprintf(&b, "%q", w.Text)
		default:
			b.WriteString(w.Text)
		}
	}
	for _, r := range c.Redirects {
		fmt.Fprintf(&b, " %s%s", r.Op, r.Target.Text)
	}
	for _, f := range []struct {
		on   bool
		name string
	}{
		{c.Conditional, "if"}, {c.OrElse != nil, "or"}, {c.Loop, "loop"}, {c.LoopCondition, "until"}, {c.Awaited, "awaited"},
		{c.Tolerated, "tolerated"}, {c.Background, "&"}, {c.Substituted, "$()"}, {c.Exec, "exec"}, {c.OtherNetNS && !c.FirstNetNS, "netns"}, {c.FirstNetNS, "netns of 1"},
		{c.PipedFrom != nil, "|"},
	} {
		if f.on {
			b.WriteString(" #" + f.name)
		}
	}
	return b.String()
}

func showAll(s *Script) string {
	lines := make([]string, len(s.Commands))
	for i, c := range s.Commands {
		lines[i] = show(c)
	}
	return strings.Join(lines, "\n")
}

func TestParse(t *testing.T) {
	tests := []struct {
		name, script string
		env          map[string]string
		want         string
	}{
		{
			name:   "a script without set -e tolerates all but its last command",
			script: "sysctl -w net.ipv4.ip_forward=1\nopenvpn --config /c",
			want:   "sysctl -w net.ipv4.ip_forward=1 #tolerated\nopenvpn --config /c",
		},
		{
			name:   "set -e ends the tolerance",
			script: "set -eu\nsysctl -w a=1\nopenvpn",
			want:   "set -eu\nsysctl -w a=1\nopenvpn",
		},
		{
			name:   "set -o errexit, and set +e takes it back",
			script: "set -o errexit\na\nset +e\nb\nc",
			want:   "set -o errexit\na\nset +e #tolerated\nb #tolerated\nc",
		},
		{
			name:   "the shebang's -e counts",
			script: "#!/bin/sh -e\na\nb",
			want:   "a\nb",
		},
		{
			name:   "|| true tolerates, || exit 1 does not",
			script: "set -e\na || true\nb || exit 1\nc || { echo no; exit 2; }\nd || :",
			want: "set -e\na #tolerated\ntrue #if #or\n" +
				"b\nexit 1 #if #or\n" +
				"c\necho no #if #or\nexit 2 #if #or\n" +
				"d #tolerated\n: #if #or",
		},
		{
			name:   "what follows an action && is not conditional, what follows a test is",
			script: "apk add iptables && sysctl -w a=1 && b\n[ -f /x ] && c",
			want: "apk add iptables #tolerated\nsysctl -w a=1 #tolerated\nb #tolerated\n" +
				"[ -f /x ] \nc #if",
		},
		{
			name:   "an if with an open test",
			script: "if [ -n \"$X\" ]; then a; elif grep -q y /z; then b; else c; fi; d",
			want:   "[ -n <$X> ] #tolerated\na #if #tolerated\ngrep -q y /z #if #tolerated\nb #if #tolerated\nc #if #tolerated\nd",
		},
		{
			name:   "an if with a decided test",
			script: "if [ \"$X\" = on ]; then a; else b; fi; [ -z \"$Y\" ] && c; [[ $X == off ]] || d",
			env:    map[string]string{"X": "on", "Y": ""},
			want:   "[ on = on ] #tolerated\na #tolerated\n[ -z \"\" ] #tolerated\nc #tolerated\n[[ on == off ]] #tolerated\nd",
		},
		{
			name:   "a value that differs between branches is unknown afterwards, an equal one is not",
			script: "A=1; B=1; if x; then A=2; B=1; fi; echo $A $B",
			want:   "x #tolerated\necho <$A> 1",
		},
		{
			name:   "a branch that ends the script brings no value",
			script: "A=1; if x; then A=2; exit 1; fi; echo $A",
			want:   "x #tolerated\nexit 1 #if #tolerated\necho 1",
		},
		{
			name:   "an early exit 0 makes the rest conditional, exit 1 does not",
			script: "if x; then exit 1; fi\na\nif y; then exit 0; fi\nb",
			want:   "x #tolerated\nexit 1 #if #tolerated\na #tolerated\ny #tolerated\nexit 0 #if #tolerated\nb #if",
		},
		{
			name:   "nothing runs after exec or exit",
			script: "exec openvpn --config /c\necho never",
			want:   "openvpn --config /c #exec",
		},
		{
			name:   "exec in a branch",
			script: "if [ \"$1\" = x ]; then exec a; fi; exec b",
			want:   "[ <$1> = x ] #tolerated\na #if #exec\nb #if #exec",
		},
		{
			name:   "exec with redirections only goes on",
			script: "exec >/log 2>&1\na",
			want:   "exec >/log #tolerated\na",
		},
		{
			name:   "waiting for a tunnel",
			script: "until ip link show tun0 >/dev/null 2>&1; do sleep 1; done; exec app",
			want:   "ip link show tun0 >/dev/null #loop #until #awaited #tolerated\nsleep 1 #if #loop #tolerated\napp #exec",
		},
		{
			name:   "watching a tunnel is the opposite",
			script: "while ip link show tun0; do sleep 60; done; exit 1",
			want:   "ip link show tun0 #loop #until #tolerated\nsleep 60 #if #loop #tolerated\nexit 1",
		},
		{
			name:   "while with negated tests",
			script: "while [ ! -d /sys/class/net/wg0 ]; do sleep 1; done; while ! wg show; do :; done; while [ -z \"$(wg show)\" ]; do :; done",
			want: "[ ! -d /sys/class/net/wg0 ] #loop #until #awaited #tolerated\nsleep 1 #if #loop #tolerated\n" +
				"wg show #loop #until #awaited #tolerated\n: #if #loop #tolerated\n" +
				"wg show #loop #until #awaited #tolerated #$()\n[ -z <$(wg show)> ] #loop #until #awaited #tolerated\n: #if #loop #tolerated",
		},
		{
			name:   "a loop that a break leaves",
			script: "for i in $(seq 1 30); do ping -c1 1.1.1.1 && break; sleep 1; done; app",
			want: "seq 1 30 #tolerated #$()\nping -c1 1.1.1.1 #loop #until #awaited #tolerated\nbreak #if #loop #tolerated\n" +
				"sleep 1 #if #loop #tolerated\napp",
		},
		{
			name:   "while true with a break inside of an if",
			script: "while true; do if curl -s http://localhost:9999; then break; fi; sleep 1; done; app",
			want: "true #loop #until #tolerated\ncurl -s http://localhost:9999 #loop #until #awaited #tolerated\n" +
				"break #if #loop #tolerated\nsleep 1 #if #loop #tolerated\napp",
		},
		{
			name:   "nothing is reached behind while true without a break",
			script: "a; while true; do sleep 60; done; never",
			want:   "a #tolerated\ntrue #loop #until #tolerated\nsleep 60 #loop #tolerated",
		},
		{
			name:   "a for loop over a short list is unrolled",
			script: "for n in 10.0.0.0/8 \"$X\"; do ip route add $n via $GW; done",
			env:    map[string]string{"X": "172.16.0.0/12", "GW": "169.254.1.1"},
			want: "ip route add 10.0.0.0/8 via 169.254.1.1 #loop #tolerated\n" +
				"ip route add 172.16.0.0/12 via 169.254.1.1 #loop #tolerated",
		},
		{
			name:   "a list out of a variable with another separator",
			script: "for n in ${NETS//,/ }; do ip rule add to $n; done",
			env:    map[string]string{"NETS": "10.0.0.0/8,10.1.0.0/16"},
			want:   "ip rule add to 10.0.0.0/8 #loop #tolerated\nip rule add to 10.1.0.0/16 #loop #tolerated",
		},
		{
			name:   "a for loop over something unknown may not run",
			script: "for n in $NETS; do ip rule add to $n; done",
			want:   "ip rule add to <$n> #if #loop #tolerated",
		},
		{
			name:   "functions are read where they are called, with their arguments",
			script: "fw() { sysctl -w \"$1=$2\"; }\nfw net.ipv4.ip_forward 1\nif x; then fw a 0; fi",
			want:   "sysctl -w net.ipv4.ip_forward=1 #tolerated\nx #tolerated\nsysctl -w a=0 #if",
		},
		{
			name:   "behind a word that may be several the positions are unknown",
			script: "f() { echo $1 $2 \"$3\"; }; f a $X b; f a \"$X\" b; set -- a \"$@\"; echo $1 $2",
			want:   "echo a <$2> <$3> #tolerated\necho a <$2> b #tolerated\nset -- a <$@> #tolerated\necho a <$2>",
		},
		{
			name:   "a function that is never called does nothing",
			script: "f() { sysctl -w a=1; }\nb",
			want:   "b",
		},
		{
			name:   "return leaves the function only",
			script: "f() { a; return 0; never; }\nf; b",
			want:   "a #tolerated\nreturn 0 #tolerated\nb",
		},
		{
			name:   "a case with a known word takes its branch",
			script: "case $MODE in server) a;; client|peer) b;; *) c;; esac; d",
			env:    map[string]string{"MODE": "peer"},
			want:   "b #tolerated\nd",
		},
		{
			name:   "a case with an unknown word may take any",
			script: "case $MODE in server) a;; *) c;; esac; d",
			want:   "a #if #tolerated\nc #if #tolerated\nd",
		},
		{
			name:   "defaults and other operators",
			script: "echo ${A:-x} ${B:-y} ${C:-z} ${D%/*} ${D##*.} ${A:+set} ${#A}",
			env:    map[string]string{"A": "1", "B": "", "D": "10.0.0.0/8"},
			want:   "echo 1 y <${C:-z}> 10.0.0.0 0/8 set <${#A}>",
		},
		{
			name:   "quotes and escapes",
			script: `echo 'a b' "c $X" d\ e "\$f" $'g\th' ""`,
			env:    map[string]string{"X": "1  2"},
			want:   "echo \"a b\" \"c 1  2\" \"d e\" $f g\th \"\"",
		},
		{
			name:   "an unquoted value splits into words",
			script: "iptables $ARGS",
			env:    map[string]string{"ARGS": "-t nat  -A POSTROUTING"},
			want:   "iptables -t nat -A POSTROUTING",
		},
		{
			name:   "arrays",
			script: "A=(10.0.0.0/8 172.16.0.0/12); A+=(x); for n in \"${A[@]}\"; do r $n; done; echo ${A[1]}",
			want:   "r 10.0.0.0/8 #loop #tolerated\nr 172.16.0.0/12 #loop #tolerated\nr x #loop #tolerated\necho 172.16.0.0/12",
		},
		{
			name:   "a command substitution is unknown and its commands run first",
			script: "GW=$(ip route show default | awk '{print $3}')\nip route add 10.0.0.0/8 via $GW",
			want: "ip route show default #tolerated #$()\nawk \"{print $3}\" #tolerated #$() #|\n" +
				"ip route add 10.0.0.0/8 via <$GW>",
		},
		{
			name:   "a file that is sourced may set anything",
			script: "A=1; . /config/env; echo $A",
			want:   ". /config/env #tolerated\necho <$A>",
		},
		{
			name:   "read makes a variable unknown",
			script: "A=1; read A; echo $A",
			want:   "read A #tolerated\necho <$A>",
		},
		{
			name:   "a loop's own variable is unknown inside and after",
			script: "N=0; while [ $N -lt 5 ]; do N=$((N+1)); echo $N; done; echo $N",
			want:   "[ <$N> -lt 5 ] #loop #until #tolerated\necho <$N> #if #loop #tolerated\necho <$N>",
		},
		{
			name:   "wrappers are looked through",
			script: "sudo -E env A=1 timeout -s KILL 10 nice -n 5 sysctl -w a=1; busybox sysctl -w b=1; nohup c; command -v x",
			want:   "sysctl -w a=1 #tolerated\nsysctl -w b=1 #tolerated\nc #tolerated\ncommand -v x",
		},
		{
			name:   "another network namespace is not the pod's",
			script: "nsenter -t 2 -n sysctl -w a=1; nsenter --target 1 --mount b; nsenter -t 1 -n ip netns exec vpn c; ip netns exec vpn d",
			want:   "sysctl -w a=1 #tolerated #netns\nb #tolerated\nc #tolerated #netns\nd #netns",
		},
		{
			name:   "that of process 1 may be the container's own",
			script: "nsenter -t 1 -n a; nsenter -nt 1 b; nsenter -t1 -n c; nsenter --target=1 --net d; nsenter --net=/proc/1/ns/net e",
			want:   "a #tolerated #netns of 1\nb #tolerated #netns of 1\nc #tolerated #netns of 1\nd #tolerated #netns of 1\ne #netns of 1",
		},
		{
			name:   "shells inside of shells",
			script: "sh -c 'a; bash -ec \"b; c\"' && su -c 'd' nobody; exec bash -c \"exec e\"",
			want:   "a #tolerated\nb #tolerated\nc #tolerated\nd #tolerated\ne #exec",
		},
		{
			name:   "an inner shell sees exported variables only",
			script: "export A=1; B=2; C=3 sh -c 'echo $A $B $C'",
			want:   "export <A=1> #tolerated\necho 1 <$B> 3",
		},
		{
			name:   "the arguments of sh -c",
			script: "sh -c 'sysctl -w $1=1' _ a.b",
			want:   "sysctl -w a.b=1",
		},
		{
			name:   "eval",
			script: "A=1; eval \"sysctl -w x=$A\"",
			want:   "sysctl -w x=1",
		},
		{
			name:   "a here-document for a shell is a script",
			script: "sh <<'EOF'\nsysctl -w a=1\nEOF\n",
			want:   "sysctl -w a=1",
		},
		{
			name:   "a script piped into a shell",
			script: "echo 'sysctl -w a=1; b' | sh; curl -s https://x | sh",
			want: "echo \"sysctl -w a=1; b\" #tolerated\nsysctl -w a=1 #tolerated\nb #tolerated\n" +
				"curl -s https://x #tolerated\nsh #|",
		},
		{
			name:   "background and subshell",
			script: "(A=1; a) & echo $A; b &",
			want:   "a #tolerated #&\necho <$A> #tolerated\nb #tolerated #&",
		},
		{
			name:   "a group's redirection holds for its commands",
			script: "{ echo 1; } > /proc/sys/net/ipv4/ip_forward",
			want:   "echo 1 >/proc/sys/net/ipv4/ip_forward",
		},
		{
			name:   "only standard output counts",
			script: "a 2>/dev/null >> /log",
			want:   "a >>/log",
		},
		{
			name:   "braces",
			script: "sysctl -w net.ipv{4,6}.conf.all.forwarding=1",
			want:   "sysctl -w net.ipv4.conf.all.forwarding=1 net.ipv6.conf.all.forwarding=1",
		},
		{
			name:   "what was read before a syntax error is kept",
			script: "a\nb\nif x; then",
			want:   "a #tolerated\nb",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := showAll(ParseEnv(tt.script, tt.env))
			want := strings.ReplaceAll(tt.want, " \n", "\n")
			if got != want {
				t.Errorf("script:\n%s\n got:\n%s\nwant:\n%s", tt.script, got, want)
			}
		})
	}
}

func TestOffsetsPointAtTheText(t *testing.T) {
	script := "set -e\nsh -ec 'sysctl -w net.ipv4.ip_forward=1; ls' ; X=\"/proc/sys\"\necho 1 > $X/net/ipv4/ip_forward\n"
	s := Parse(script)
	var got []string
	for _, c := range s.Commands {
		got = append(got, script[c.Start:c.End])
		for _, x := range Sysctls(c) {
			got = append(got, "-> "+script[x.Word.Start:x.Word.End])
		}
	}
	want := []string{
		"set -e", "sysctl -w net.ipv4.ip_forward=1", "-> net.ipv4.ip_forward=1", "ls",
		"echo 1 > $X/net/ipv4/ip_forward", "-> $X/net/ipv4/ip_forward",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestHereDocument(t *testing.T) {
	s := ParseEnv("cat > /etc/wireguard/wg0.conf <<EOF\nAddress = $ADDR\nDNS = $DNS\nEOF\ncat <<'EOF' | tee /x\n$ADDR\nEOF\n",
		map[string]string{"ADDR": "10.8.0.1/24"})
	if len(s.Commands) != 3 {
		t.Fatalf("%d commands, want 3", len(s.Commands))
	}
	c := s.Commands[0]
	if c.HereDoc != "Address = 10.8.0.1/24\nDNS = $DNS\n" || c.HereDocKnown {
		t.Errorf("here-document %q known=%v", c.HereDoc, c.HereDocKnown)
	}
	if c := s.Commands[1]; c.HereDoc != "$ADDR\n" || !c.HereDocKnown {
		t.Errorf("quoted here-document %q known=%v", c.HereDoc, c.HereDocKnown)
	}
}

func TestParseArgv(t *testing.T) {
	tests := []struct {
		name string
		argv []string
		want string // Arg:text of each command
	}{
		{"a plain program", []string{"openvpn", "--config", "/c"}, "0:openvpn"},
		{"sh -c", []string{"/bin/sh", "-ec", "a\nsysctl -w x=1"}, "2:a,2:sysctl -w x=1"},
		{"a wrapper", []string{"tini", "--", "sh", "-c", "exec a $0", "b"}, "4:exec a $0"},
		{"nothing", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, c := range ParseArgv(tt.argv, nil).Commands {
				got = append(got, fmt.Sprintf("%d:%s", c.Arg, tt.argv[c.Arg][c.Start:c.End]))
			}
			if s := strings.Join(got, ","); s != tt.want {
				t.Errorf("got %q, want %q", s, tt.want)
			}
		})
	}
}

// TestHostileScripts holds time and size in bounds.
func TestHostileScripts(t *testing.T) {
	tests := map[string]string{
		"deep parentheses":      strings.Repeat("(", 1<<19),
		"deep substitutions":    strings.Repeat("$(", 1<<18),
		"deep ifs":              strings.Repeat("if a; then ", 1<<16),
		"deep ifs on one line":  strings.Repeat("if ", 1<<17),
		"negations":             strings.Repeat("! ", 1<<18) + "a",
		"a long and-or list":    strings.Repeat("a && ", 1<<16) + "a",
		"a long pipeline":       strings.Repeat("a | ", 1<<16) + "a",
		"many commands":         strings.Repeat("a;", 1<<19),
		"fork bomb":             ":(){ :|:& };:",
		"mutual recursion":      "f() { g; g; }; g() { f; f; }; f",
		"doubling":              "X=aaaa; " + strings.Repeat("X=$X$X; ", 200) + "echo $X",
		"doubling by replacing": "X=aaaa; " + strings.Repeat("X=${X//a/aaaaaaaaaaaaaaaa}; ", 200) + "echo $X",
		"nested loops":          strings.Repeat("for i in 1 2 3 4 5 6 7 8 9; do ", 12) + "a; " + strings.Repeat("done; ", 12),
		"nested whiles":         strings.Repeat("while x; do A=1; ", 1000) + "a; " + strings.Repeat("done; ", 1000),
		"braces":                "echo " + strings.Repeat("{a,b}", 3) + strings.Repeat("{a,{b,{c,d}}}", 100),
		"backquotes":            strings.Repeat("`\\", 1<<17),
		"here-documents":        strings.Repeat("cat <<E\n", 1<<16),
		"too long":              strings.Repeat("a", maxText+1),
	}
	for name, script := range tests {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			s := Parse(script)
			checkScript(t, s, []string{script})
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}
