package grammar

import (
	"fmt"
	"strings"
	"testing"
)

func TestIPMasq(t *testing.T) {
	many := "nonMasqueradeCIDRs:\n" + strings.Repeat("- 10.0.0.0/8\n", 65)
	tests := []struct {
		name, text string
		list       ListState
		entries    string
		problems   string
	}{
		{"an explicit list", "nonMasqueradeCIDRs:\n  - 10.4.0.0/14\n  - 10.8.0.0/20\n", ListExplicit, "10.4.0.0/14 | 10.8.0.0/20", ""},
		{"JSON on one line", `{"nonMasqueradeCIDRs": ["10.4.0.0/14","10.8.0.0/20"]}`, ListExplicit, "10.4.0.0/14 | 10.8.0.0/20", ""},
		{"keys in any case", "NonMasqueradeCIDRs: [10.0.0.0/8]\n", ListExplicit, "10.0.0.0/8", ""},
		{"of two cases the one that sorts last", "nonMasqueradeCIDRs: [10.0.0.0/8]\nNonMasqueradeCIDRs: [172.16.0.0/12]\n", ListExplicit, "10.0.0.0/8", ""},
		{"a key twice", "nonMasqueradeCIDRs: [10.0.0.0/8]\nnonMasqueradeCIDRs: [172.16.0.0/12]\n", ListExplicit, "172.16.0.0/12", `duplicate@"nonMasqueradeCIDRs"`},
		{"no key", "resyncInterval: 60s\n", ListDefault, "", ""},
		{"empty text", "", ListDefault, "", ""},
		{"comments only", "# nothing\n", ListDefault, "", ""},
		{"an empty list", "nonMasqueradeCIDRs: []\n", ListExplicit, "", ""},
		{"null", "nonMasqueradeCIDRs:\nmasqLinkLocal: false\n", ListExplicit, "", ""},
		{"unknown keys", "foo: bar\nnonMasqueradeCIDRs: [10.0.0.0/8]\n", ListExplicit, "10.0.0.0/8", ""},
		{"unaligned", "nonMasqueradeCIDRs:\n- 10.1.2.3/8\n", ListExplicit, "10.0.0.0/8 (host bits)", `unaligned-prefix@"10.1.2.3/8"!`},
		{"bare", "nonMasqueradeCIDRs: ['10.0.0.1']\n", ListExplicit, "10.0.0.1/32 (bare)", `bare-address@"'10.0.0.1'"!`},
		{"malformed", "nonMasqueradeCIDRs: [10.0.0.0/8, 10.0.0.0-10.0.0.9]\n", ListExplicit, "10.0.0.0/8 | !10.0.0.0-10.0.0.9", `malformed-prefix@"10.0.0.0-10.0.0.9"!`},
		{"a number", "nonMasqueradeCIDRs: [10]\n", ListExplicit, "!10", `wrong-type@"10"!`},
		{"a null entry", "nonMasqueradeCIDRs: [~]\n", ListExplicit, "!", `malformed-prefix@"~"!`},
		{"no list", "nonMasqueradeCIDRs: 10.0.0.0/8\n", ListExplicit, "", `wrong-type@"10.0.0.0/8"!`},
		{"IPv6 is no problem by itself", "nonMasqueradeCIDRs: [fd00::/8]\n", ListExplicit, "fd00::/8", ""},
		{"a number as duration", "resyncInterval: 60\n", ListDefault, "", `wrong-type@"60"!`},
		{"a bad duration", "resyncInterval: 60sec\n", ListDefault, "", `bad-value@"60sec"!`},
		{"a word as boolean", "masqLinkLocal: \"true\"\n", ListDefault, "", `wrong-type@"\"true\""!`},
		{"no mapping", "- 10.0.0.0/8\n", ListDefault, "", `wrong-type@"- 10.0.0.0/8"!`},
		{"no YAML", "a: [\n", ListDefault, "", `syntax@"a: ["!`},
		{"a list that is not closed", "# one\nresyncInterval: 60s\nnonMasqueradeCIDRs:\n  - [10.0.0.0/8\n  - 10.4.0.0/14\n", ListDefault, "", `syntax@"- [10.0.0.0/8"!`},
		{"a key out of line", "nonMasqueradeCIDRs:\n  - 10.0.0.0/8\n cidrLimit: 8\nmasqLinkLocal: true\n", ListDefault, "", `syntax@"cidrLimit: 8"!`},
		{"a tab", "masqLinkLocal: true\nnonMasqueradeCIDRs:\n\t- 10.0.0.0/8\n", ListDefault, "", `syntax@"- 10.0.0.0/8"!`},
		{"too many", many, ListExplicit, strings.TrimSuffix(strings.Repeat("10.0.0.0/8 | ", 65), " | "), fmt.Sprintf("too-many@%q!", strings.TrimSuffix(many, "\n"))},
		{"a template for the list", "nonMasqueradeCIDRs: {{ toYaml .Values.cidrs }}\n", ListUnknown, "", `placeholder@"{{ toYaml .Values.cidrs }}"`},
		{"a template for an entry", "nonMasqueradeCIDRs:\n- ${POD_CIDR}\n- 10.0.0.0/8\n", ListUnknown, "?${POD_CIDR} | 10.0.0.0/8", `placeholder@"${POD_CIDR}"`},
		{"encrypted", "ENC[AES256_GCM,data:x]", ListUnknown, "", `placeholder@"ENC[AES256_GCM,data:x]"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := ParseIPMasq(tt.text)
			if c.List != tt.list {
				t.Errorf("list: got %s, want %s", c.List, tt.list)
			}
			if got := prefixes(c.Entries); got != tt.entries {
				t.Errorf("entries: got %s, want %s", got, tt.entries)
			}
			if got := problems(tt.text, c.Problems); got != tt.problems {
				t.Errorf("problems: got %s, want %s", got, tt.problems)
			}
		})
	}
}

func TestIPMasqPlaces(t *testing.T) {
	texts := map[string]string{
		"block":         "# über\nnonMasqueradeCIDRs:\n  - 10.4.0.0/14  # pods\n  - \"10.8.0.0/20\"\nresyncInterval: 60s\n",
		"flow":          "nonMasqueradeCIDRs: [10.4.0.0/14, \"10.8.0.0/20\" ] # é\nresyncInterval: 60s\n",
		"JSON":          `{"é": 1, "nonMasqueradeCIDRs": ["10.4.0.0/14","10.8.0.0/20"], "resyncInterval": "60s"}`,
		"CRLF":          "nonMasqueradeCIDRs:\r\n  - 10.4.0.0/14\r\n  - '10.8.0.0/20'\r\nresyncInterval: 60s\r\n",
		"indented JSON": "{\n  \"nonMasqueradeCIDRs\": [\n    \"10.4.0.0/14\",\n    \"10.8.0.0/20\"\n  ],\n  \"resyncInterval\": \"60s\"\n}\n",
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			c := ParseIPMasq(text)
			if len(c.Entries) != 2 {
				t.Fatalf("%d entries", len(c.Entries))
			}
			for i, want := range []string{"10.4.0.0/14", "10.8.0.0/20"} {
				e := c.Entries[i]
				if got := strings.Trim(text[e.Start:e.End], `"'`); got != want {
					t.Errorf("entry %d stands at %q, want %q", i, got, want)
				}
			}
			if got := strings.Trim(text[c.Key.Start:c.Key.End], `"`); got != "nonMasqueradeCIDRs" {
				t.Errorf("the key stands at %q", got)
			}
			list := text[c.ListRange.Start:c.ListRange.End]
			if strings.Contains(list, "[") != strings.HasSuffix(list, "]") || !strings.Contains(list, "10.8.0.0/20") || strings.Contains(list, "resync") {
				t.Errorf("the list stands at %q", list)
			}
			if r := c.ResyncInterval; strings.Trim(text[r.Start:r.End], `"`) != "60s" || c.Resync.Seconds() != 60 {
				t.Errorf("the interval stands at %q, %v", text[r.Start:r.End], c.Resync)
			}
		})
	}
}

func TestIPMasqFlags(t *testing.T) {
	c := ParseIPMasq("masqLinkLocal: yes\nmasqLinkLocalIPv6: false\ncidrLimit: 1\nnonMasqueradeCIDRs: [10.0.0.0/8, fd00::/8]\n")
	if !c.MasqLinkLocal.Set || !c.MasqLinkLocal.Value || !c.MasqLinkLocalIPv6.Set || c.MasqLinkLocalIPv6.Value {
		t.Errorf("flags %+v %+v", c.MasqLinkLocal, c.MasqLinkLocalIPv6)
	}
	if c.CIDRLimit != 1 || len(c.Refused()) != 1 || c.Refused()[0].Kind != TooMany {
		t.Errorf("limit %d, refused %v", c.CIDRLimit, c.Refused())
	}
	if v6 := c.IPv6Entries(); len(v6) != 1 || v6[0].Text != "fd00::/8" {
		t.Errorf("IPv6 entries %v", v6)
	}
	if c := ParseIPMasq("nonMasqueradeCIDRs: []\n"); !c.Empty || c.Blank {
		t.Errorf("an empty list: empty %v, blank %v", c.Empty, c.Blank)
	}
	if c := ParseIPMasq("# x\n"); c.Empty || !c.Blank {
		t.Errorf("no text: empty %v, blank %v", c.Empty, c.Blank)
	}
}
