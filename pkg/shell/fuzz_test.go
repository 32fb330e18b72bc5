package shell

import (
	"strings"
	"testing"
)

// seeds are scripts as they stand in manifests, and what breaks readers.
var seeds = []string{
	"set -e\nsysctl -w net.ipv4.ip_forward=1\nexec openvpn --config /etc/openvpn/openvpn.conf\n",
	"#!/bin/sh -e\nf() { ip rule add to \"$1\" lookup main pref ${2:-100}; }\nfor n in 10.0.0.0/8 172.16.0.0/12; do f $n; done\n",
	"until ip link show tun0 >/dev/null 2>&1; do sleep 1; done; exec \"$@\"",
	"cat > /etc/wireguard/wg0.conf <<EOF\n[Interface]\nAddress = ${ADDRESS}\nEOF\nwg-quick up wg0",
	"iptables -t nat -C POSTROUTING -o eth0 -j MASQUERADE 2>/dev/null || iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE",
	"sh -ec 'bash -c \"echo 1 | tee /proc/sys/net/ipv4/ip_forward\"'",
	"f() { f; f; }; f",
	"f() { while f; do g; done; }; g() { f || g; }; g",
	"X=1; while true; do X=$X$X; done",
	"X=aaaaaaaaaaaaaaaa; X=$X$X$X$X; X=$X$X$X$X; X=$X$X$X$X; X=$X$X$X$X; X=$X$X$X$X; echo $X",
	"case $1 in start) exec a;; stop|'x') exit 0;; *) b;; esac; c",
	"[[ -d /sys/class/net/wg0 && ( $A == b* || -z $(wg show) ) ]] && echo ${A[@]} ${A[1]} ${!A} ${A:1:2} ${A//a/b} ${A%/*}",
	"env -i X=1 timeout -k 5 10 nsenter -t 1 -n -- sudo -u root sysctl -p /etc/sysctl.d/1.conf",
	"echo {a,b}{c,d}{1..100000000} $((1+2)) <(x) `y`",
	"a & b | c |& d; ! e; { f; } > g; (h) >> i; coproc j; time k",
	"if a; then b; elif c; then d; else e; fi; for ((i=0;i<3;i++)); do x; done; select y in a b; do z; done",
	"eval 'a=1; sysctl -w b=$a'; . ./env; source x; set -- a b c; shift; echo $1 $@ \"$*\"",
	"bash <<'EOF'\nsysctl -w x=1\nEOF\n",
	"if", "$(", "`", "<<", "<<E", "\x00", "{{ .Values.x }}", "a\\\nb", "\"\\", "()", "f() g", "export A=1 B", "declare -x A=(1 2)",
	strings.Repeat("(", 300), strings.Repeat("$(", 150), strings.Repeat("if a; then ", 200), strings.Repeat("! ", 100) + "a",
}

func FuzzShell(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		env := map[string]string{"A": "x y", "B": "", "NET": "10.0.0.0/8"}
		checkScript(t, ParseEnv(text, env), []string{text})
		argv := []string{"sh", "-c", text}
		checkScript(t, ParseArgv(argv, env), argv)
	})
}

// checkScript holds a script against what is promised for any input.
func checkScript(t *testing.T, s *Script, texts []string) {
	t.Helper()
	inside := func(what string, arg, start, end int) {
		t.Helper()
		if arg < 0 || arg >= len(texts) || start < 0 || start > end || end > len(texts[arg]) {
			t.Fatalf("%s [%d,%d) of element %d lies outside", what, start, end, arg)
		}
	}
	if len(s.Commands) > maxCommands {
		t.Fatalf("%d commands", len(s.Commands))
	}
	seen := map[*Command]bool{}
	for _, c := range s.Commands {
		if seen[c] {
			t.Fatal("a command is reported twice")
		}
		seen[c] = true
		inside("command", c.Arg, c.Start, c.End)
		for _, w := range c.Words {
			inside("word", w.Arg, w.Start, w.End)
		}
		for _, r := range c.Redirects {
			inside("redirect", r.Target.Arg, r.Target.Start, r.Target.End)
		}
		for _, x := range Sysctls(c) {
			inside("sysctl", x.Word.Arg, x.Word.Start, x.Word.End)
		}
		if r, ok := IPTables(c); ok {
			inside("source", r.Source.Arg, r.Source.Start, r.Source.End)
		}
		NFTRules(c)
		IPRule(c)
		IPRoute(c)
		WaitsFor(c)
		TalksToNetwork(c)
	}
	if s.ErrAt < 0 || s.ErrAt > len(texts[len(texts)-1]) {
		t.Fatalf("error offset %d lies outside", s.ErrAt)
	}
}
