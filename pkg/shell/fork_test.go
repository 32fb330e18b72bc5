package shell

import (
	"strings"
	"testing"
)

// The forms in which scripts choose: whether some run of x is certain in them.
func TestCovered(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		want         bool
	}{
		{"a command", "x", true},
		{"one side of if", "if [ -n \"$A\" ]; then x; fi", false},
		{"both sides of if", "if [ -n \"$A\" ]; then x; else x; fi", true},
		{"the other side does something else", "if [ -n \"$A\" ]; then x; else y; fi", false},
		{"elif without else", "if t1; then x; elif t2; then x; fi", false},
		{"elif and else", "if t1; then x; elif t2; then x; else x; fi", true},
		{"if within if", "if t1; then if t2; then x; else x; fi; else x; fi", true},
		{"a hole in the inner if", "if t1; then if t2; then x; fi; else x; fi", false},
		{"a known test", "A=1; if [ \"$A\" = 1 ]; then x; fi", true},
		{"a case with a default", "case $A in a) x;; *) x;; esac", true},
		{"a case without a default", "case $A in a) x;; b) x;; esac", false},
		{"one pattern of a case", "case $A in a) x;; *) y;; esac", false},
		{"a case that falls through", "case $A in a) y;& b) x;; *) x;; esac", true},
		{"a case that falls through past it", "case $A in a) y;& b) z;; *) x;; esac", false},
		{"a case that goes on testing", "case $A in a) y;;& *) x;; esac", true},
		{"a case that goes on testing for something else", "case $A in a) y;;& b) x;; esac", false},
		{"a case that falls and goes on testing", "case $A in a) y;& b) z;;& *) x;; esac", true},
		{"a case of something known", "A=b; case $A in a) y;; b) x;; esac", true},
		{"behind a test", "[ -n \"$A\" ] && x", false},
		{"both sides of && and ||", "[ -n \"$A\" ] && x || x", false},
		{"behind an action", "y && x", true},
		{"behind the failure of an action", "y || x", false},
		{"behind what ends in failure", "y || exit 1; x", true},
		{"a loop over what is known", "for i in 1 2; do x; done", true},
		{"a loop over what is not", "for i in $(cat f); do x; done", false},
		{"a loop without end", "while true; do x; sleep 1; done", true},
		{"a loop under a condition", "while t1; do x; done", false},
		{"until", "until t1; do x; done", false},
		{"behind a loop that waits", "until t1; do sleep 1; done; x", true},
		{"behind while read", "cat f | while read a; do x; done", false},
		{"an early end on one side", "if t1; then exit 0; fi; x", false},
		{"an early end that does the same", "if t1; then x; exit 0; fi; x", true},
		{"an early end in a case", "case $A in a) x; exit 0;; *) ;; esac; x", true},
		{"an early end in a case that does not", "case $A in a) exit 0;; *) ;; esac; x", false},
		{"a failure on one side", "if t1; then echo no; exit 1; fi; x", true},
		{"a function on both sides", "f() { x; }; if t1; then f; else f; fi", true},
		{"a function on one side", "f() { x; }; if t1; then f; fi", false},
		{"return from a function", "f() { t1 || return 0; x; }; f", false},
		{"break in a loop", "for i in 1 2 3; do [ -e /a ] && break; x; done", false},
		{"two choices are not one", "if t1; then x; fi; if t2; then y; else x; fi", false},
		{"a subshell", "( if t1; then x; else x; fi )", true},
		{"a shell of its own on one side", "if t1; then sh -c 'x'; else bash -c 'x'; fi", true},
		{"select", "select a in 1 2; do x; done", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := Parse(tt.script)
			if s.Err != nil {
				t.Fatal(s.Err)
			}
			var paths [][]Fork
			for _, c := range s.Commands {
				if c.Name() == "x" {
					paths = append(paths, c.Forks)
					if c.Conditional != (len(c.Forks) > 0) {
						t.Errorf("conditional %v with %d forks", c.Conditional, len(c.Forks))
					}
				}
			}
			if len(paths) == 0 {
				t.Fatal("x is nowhere")
			}
			if got := Covered(paths); got != tt.want {
				t.Errorf("covered %v, want %v", got, tt.want)
			}
		})
	}
}

// What a test of several commands says on either way.
func TestChoiceOfAList(t *testing.T) {
	for _, tt := range []struct {
		script string
		on     int
		also   int
	}{
		{"if a -x && b; then x; fi", 0, 0}, // an action in front decides nothing
		{"if test -f /a && test -f /b; then x; fi", 0, 1},
		{"if test -f /a && test -f /b && test -f /c; then x; fi", 0, 2},
		{"if test -f /a || test -f /b; then x; fi", 1, 1},
		{"if ! { test -f /a && test -f /b; }; then x; fi", 1, 1},
	} {
		s := Parse(tt.script)
		f := s.Commands[len(s.Commands)-1].Forks
		if len(f) != 1 || f[0].Test == nil || f[0].AllOn != tt.on || len(f[0].Also) != tt.also {
			t.Errorf("%s: %+v", tt.script, f)
		}
	}
	s := Parse("if test -f /a && test -f /b || test -f /c; then x; fi")
	if f := s.Commands[len(s.Commands)-1].Forks; len(f) != 1 || f[0].Test != nil {
		t.Errorf("&& with ||: %+v", f)
	}
}

func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		script string
		want   bool
	}{
		{"iptables -t nat -C POSTROUTING -o eth0 -j MASQUERADE || iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE", true},
		{"iptables -C FORWARD -j ACCEPT || iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE", false},
		{"iptables-save | grep -q MASQUERADE || iptables -t nat -A POSTROUTING -j MASQUERADE", true},
		{"iptables -t nat -S | grep -q MASQUERADE || iptables -t nat -A POSTROUTING -j MASQUERADE", true},
		{"ip6tables-save | grep -q MASQUERADE || iptables -t nat -A POSTROUTING -j MASQUERADE", false},
		{"ip route | grep -q 10.0.0.0/8 || ip route add 10.0.0.0/8 via 10.1.1.1", true},
		{"ip route show | grep -q 10.0.0.0/8 || ip rule add to 10.0.0.0/8 lookup main", false},
		{"ip rule | grep -q 10.0.0.0/8 || ip rule add to 10.0.0.0/8 lookup main", true},
		{"nft list table ip nat || nft add table ip nat", true},
		{"nft list ruleset | grep -q masquerade || nft add rule ip nat postrouting masquerade", true},
		{"ip link show wg0 || ip route add 10.0.0.0/8 via 10.1.1.1", false},
		{"test -f /x || iptables -t nat -A POSTROUTING -j MASQUERADE", false},
	} {
		s := Parse(tt.script)
		c := s.Commands[len(s.Commands)-1]
		if len(c.Forks) != 1 {
			t.Fatalf("%s: forks %+v", tt.script, c.Forks)
		}
		if got := Answers(c, c.Forks[0].Test); got != tt.want {
			t.Errorf("%s: %v", tt.script, got)
		}
	}
}

// A script of many early ends takes no more room than its length.
func TestForksAreBounded(t *testing.T) {
	s := Parse(strings.Repeat("[ -n \"$A\" ] && exit 0\n", 1500) + "x\n")
	last := s.Commands[len(s.Commands)-1]
	if n := len(last.Forks); n > maxForks+1 || Covered([][]Fork{last.Forks}) {
		t.Errorf("%d forks", n)
	}
}
