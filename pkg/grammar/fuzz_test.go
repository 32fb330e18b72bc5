package grammar

import "testing"

// held checks what is promised of every range: it lies inside of the text.
func held(t *testing.T, text, what string, r Range) {
	t.Helper()
	if r.Start < 0 || r.Start > r.End || r.End > len(text) {
		t.Fatalf("%s [%d,%d) lies outside of %d bytes", what, r.Start, r.End, len(text))
	}
}

func heldPrefixes(t *testing.T, text, what string, ps []Prefix) {
	t.Helper()
	last := -1
	for _, p := range ps {
		held(t, text, what, p.Range)
		if p.Start < last {
			t.Fatalf("%s: %d comes after %d", what, p.Start, last)
		}
		last = p.Start
		if p.Valid && p.Prefix != p.Prefix.Masked() {
			t.Fatalf("%s: %v is not masked", what, p.Prefix)
		}
		if p.Valid && p.Unknown {
			t.Fatalf("%s: %q is both valid and unknown", what, p.Text)
		}
	}
}

func heldProblems(t *testing.T, text string, ps []Problem) {
	t.Helper()
	last := -1
	for _, p := range ps {
		held(t, text, "problem "+p.Says, p.Range)
		if p.Start < last {
			t.Fatalf("problems are not in order")
		}
		last = p.Start
		if p.Kind == Placeholder && p.Fatal {
			t.Fatalf("a placeholder is fatal: %s", p.Says)
		}
		if p.Says == "" || p.Kind == "" {
			t.Fatalf("a problem says nothing")
		}
	}
}

func FuzzPrefixes(f *testing.F) {
	f.Add("10.0.0.0/8, 192.168.0.0/16,,fd00::/8", ",")
	f.Add("10.0.0.0/8;1.1.1.1", ";,")
	f.Add(" a  b\tc\n", " ")
	f.Add("::ffff:1.2.3.4/96 10.1.2.3/8", "")
	f.Add("fe80::1%eth0", ",")
	f.Fuzz(func(t *testing.T, text, separators string) {
		ps := ParsePrefixes(text, 0, separators)
		heldPrefixes(t, text, "entry", ps)
		for _, p := range ps {
			if text[p.Start:p.End] != p.Text {
				t.Fatalf("entry %q stands at %q", p.Text, text[p.Start:p.End])
			}
		}
		ParseAddressRange(text)
		if p, ok := ParseNetmask(text, separators); ok && !p.IsValid() {
			t.Fatal("an invalid prefix is ok")
		}
		for _, kv := range ParseEnvFile(text) {
			held(t, text, "assignment", kv.Range)
			held(t, text, "value", kv.Value.Range)
			for _, w := range kv.List {
				held(t, text, "element", w.Range)
			}
		}
	})
}

func FuzzWireGuard(f *testing.F) {
	f.Add(wgClient)
	f.Add(wgServer)
	f.Add("[Interface]\r\nAddress = 10.0.0.1/24,fd00::1/64 # x\r\n[peer]\r\nallowedips=+10.0.0.0/8,-10.1.0.0/16\r\n")
	f.Add("PostUp = iptables # x\n[Interface\nPostUp = a#b\n[Peer]\n=\nAllowedIPs =\nEndpoint = [::1]:x")
	f.Add("[Interface]\nAddress = ${A},{{ .B }}\n{{- if x }}\n[Peer]\nPublicKey = <key>\nAllowedIPs = __NETS__")
	f.Fuzz(func(t *testing.T, text string) {
		c := ParseWireGuard(text)
		heldProblems(t, text, c.Problems)
		in := c.Interface
		held(t, text, "interface", in.Range)
		heldPrefixes(t, text, "address", in.Address)
		words := []Word{in.PrivateKey, in.MTU, in.Table, in.ListenPort, in.FwMark, in.SaveConfig}
		for _, list := range [][]Word{in.DNS, in.PreUp, in.PostUp, in.PreDown, in.PostDown} {
			words = append(words, list...)
		}
		last := -1
		for _, p := range c.Peers {
			held(t, text, "peer", p.Range)
			held(t, text, "header", p.Header)
			held(t, text, "key", p.AllowedIPsKey)
			heldPrefixes(t, text, "allowed", p.AllowedIPs)
			words = append(words, p.PublicKey, p.PresharedKey, p.Endpoint, p.PersistentKeepalive)
			if p.Start < last {
				t.Fatal("peers are not in order")
			}
			last = p.Start
		}
		for _, w := range words {
			held(t, text, "word", w.Range)
			if text[w.Start:w.End] != w.Text {
				t.Fatalf("word %q stands at %q", w.Text, text[w.Start:w.End])
			}
		}
	})
}

func FuzzOpenVPN(f *testing.F) {
	f.Add(ovpnServer)
	f.Add(ovpnClient)
	f.Add("push \"route 10.0.0.0 255.0.0.0\"\npush 'a \\\"b'\npush a b\n<connection>\nremote a\n</connection>\n<ca>\nx\n</ca>\n--dev tun\n\"")
	f.Add("<connection>\n<ca>\n</connection>\n<x")
	f.Add("push \"\\\"a\\\" b\"\npush \"\"\nroute\nserver\nserver-ipv6\n#\n;\\")
	f.Fuzz(func(t *testing.T, text string) {
		c := ParseOpenVPN(text)
		heldProblems(t, text, c.Problems)
		last := -1
		for _, d := range c.Directives {
			if d.Start < last {
				t.Fatal("directives are not in order")
			}
			last = d.Start
			heldDirective(t, text, d)
		}
		for _, r := range append(c.Routes(), c.PushedRoutes()...) {
			held(t, text, "route", r.Range)
			heldPrefixes(t, text, "route", []Prefix{r.Prefix})
		}
		if p, ok := c.Server(); ok {
			heldPrefixes(t, text, "server", []Prefix{p})
		}
		if p, ok := c.ServerIPv6(); ok {
			heldPrefixes(t, text, "server-ipv6", []Prefix{p})
		}
		for _, d := range c.DNS() {
			held(t, text, "dns", d.Range)
		}
		for _, r := range c.Remotes() {
			held(t, text, "remote", r.Range)
		}
		c.RedirectGateway()
		c.PushedRedirectGateway()
		c.Pulls("route 10.0.0.0 255.0.0.0")
		c.UpScripts()
	})
}

func heldDirective(t *testing.T, text string, d Directive) {
	t.Helper()
	held(t, text, "directive", d.Range)
	held(t, text, "name", d.Name.Range)
	held(t, text, "block", d.Inline.Range)
	for _, a := range d.Args {
		held(t, text, "argument", a.Range)
	}
	if d.Pushed != nil {
		heldDirective(t, text, *d.Pushed)
	}
}

func FuzzIPMasq(f *testing.F) {
	f.Add("nonMasqueradeCIDRs:\n  - 10.0.0.0/8\n  - \"172.16.0.0/12\"\nresyncInterval: 60s\nmasqLinkLocal: true\n")
	f.Add(`{"NonMasqueradeCIDRs": ["10.0.0.0/8", "192.168.0.0/16"], "ResyncInterval": "5s"}`)
	f.Add("nonMasqueradeCIDRs: []\n")
	f.Add("nonMasqueradeCIDRs: [10.0.0.0/8, # x\n 1, ~, {a: b}, &x y, *x]\ncidrLimit: 2\n")
	f.Add("a: &a [1]\nnonMasqueradeCIDRs: *a\n<<: {x: y}\n? [a]\n: b\n")
	f.Add("\ufeffnonMasqueradeCIDRs: ['10.0.0.0/8''', \"1\\\"\"]\r\n")
	f.Add("nonMasqueradeCIDRs:\n- |\n  10.0.0.0/8\n- >-\n  a\n  b\n- !!str 1\n")
	f.Add("nonMasqueradeCIDRs: {{ toYaml .Values.x }}\nresyncInterval: 5\n")
	f.Fuzz(func(t *testing.T, text string) {
		c := ParseIPMasq(text)
		heldProblems(t, text, c.Problems)
		heldPrefixes(t, text, "entry", c.Entries)
		for _, r := range []Range{c.Key, c.ListRange, c.MasqLinkLocal.Range, c.MasqLinkLocalIPv6.Range, c.ResyncInterval.Range, c.CIDRLimitRange} {
			held(t, text, "key", r)
		}
		c.IPv6Entries()
		c.Refused()
	})
}
