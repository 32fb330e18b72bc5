package images

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func loaded(t *testing.T) *Catalog {
	t.Helper()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCatalogue holds the data against what its readers rely on.
func TestCatalogue(t *testing.T) {
	c := loaded(t)
	roles := []Role{Server, Client, Either, Mesh, Gateway, Proxy, UI, Operator, NodeMasquerade}
	kinds := []string{"wireguard", "openvpn", "ipsec", "mesh", "proxy", "other"}
	forms := []Form{Plain, Netmask, Network24, X24, Octets24, Interface}
	ids := map[string]bool{}
	repoOwner := map[string][]*Family{}
	for _, f := range c.families {
		t.Run(f.ID, func(t *testing.T) {
			if f.ID == "" || ids[f.ID] {
				t.Errorf("the id %q is empty or not unique", f.ID)
			}
			ids[f.ID] = true
			if f.Title == "" || len(f.Repos) == 0 {
				t.Error("no title or no repository")
			}
			if !slices.Contains(roles, f.Role) {
				t.Errorf("unknown role %q", f.Role)
			}
			if f.Role == Either && f.RoleRule == "" && f.ID != "boringtun" && f.ID != "strongswan-generic" {
				t.Error("nothing says what decides between client and server")
			}
			if len(f.Kinds) == 0 {
				t.Error("no kind")
			}
			for _, k := range f.Kinds {
				if !slices.Contains(kinds, k) {
					t.Errorf("unknown kind %q", k)
				}
			}
			if f.Confidence != High && f.Confidence != Medium && f.Confidence != Low {
				t.Errorf("unknown confidence %q", f.Confidence)
			}
			for _, d := range []Default{f.Defaults.EnablesForwarding, f.Defaults.Masquerades, f.Defaults.HasKillSwitch, f.Defaults.RewritesDNS, f.Defaults.CapturesDefaultRoute} {
				if d == "" {
					t.Error("a default is missing")
				}
			}
			for name := range f.When {
				if !slices.Contains([]string{"enablesForwarding", "masquerades", "hasKillSwitch", "rewritesDNS", "capturesDefaultRoute"}, name) {
					t.Errorf("when explains %q, which is no default", name)
				}
			}
			for _, p := range f.Defaults.DefaultClientPool {
				if _, err := netip.ParsePrefix(p); err != nil {
					t.Errorf("default pool: %v", err)
				}
			}
			for _, r := range append(slices.Clone(f.Repos), f.TagRegexRepos...) {
				if r != strings.ToLower(r) || strings.Contains(r, ":") || !slices.Contains(f.Repos, r) {
					t.Errorf("repository %q", r)
				}
			}
			for _, r := range f.Repos {
				repoOwner[r] = append(repoOwner[r], f)
			}
			for _, keys := range []Keys{f.Env, f.Settings, f.Values, f.Args, f.CRDFields} {
				for _, group := range keys.groups() {
					for _, k := range group {
						if n := strings.Count(k.Key, " "); (k.Key == "") == (k.KeyPrefix == "" && k.Fixed == "") || n > 0 {
							t.Errorf("key %+v has no name", k)
						}
						if !slices.Contains([]InMain{OwnTable, MainRoute, MainRule}, k.InMain) {
							t.Errorf("%s: unknown inMain %q", k.Key, k.InMain)
						}
						if !slices.Contains(forms, k.Form) {
							t.Errorf("%s: unknown form %q", k.Key, k.Form)
						}
						if strings.Trim(k.Sep, ",; ") != "" {
							t.Errorf("%s: unknown separator %q", k.Key, k.Sep)
						}
						if k.OnlyWhen != "" && k.OnlyWhen != "server" {
							t.Errorf("%s: unknown condition %q", k.Key, k.OnlyWhen)
						}
					}
				}
			}
		})
	}
	for r, owners := range repoOwner {
		plain := 0
		for _, f := range owners {
			if f.TagRegex == "" {
				plain++
			}
		}
		if plain > 1 {
			t.Errorf("%d families claim all tags of %s", plain, r)
		}
	}
	for _, l := range c.lookAlikes {
		if l.Why == "" || len(l.Repos) == 0 && l.Regex == "" {
			t.Errorf("look-alike %+v says nothing", l)
		}
		for _, r := range l.Repos {
			if len(repoOwner[r]) > 0 {
				t.Errorf("%s is a look-alike and %s", r, repoOwner[r][0].ID)
			}
		}
	}
	if len(c.families) != 59 || len(c.lookAlikes) != 17 {
		t.Errorf("%d families and %d look-alikes, want 59 and 17", len(c.families), len(c.lookAlikes))
	}
}

func TestDecodeRefuses(t *testing.T) {
	head := "schema: 1\ncompiled: x\n"
	for name, text := range map[string]string{
		"an unknown key":      head + "families: [{id: a, reops: [b]}]\n",
		"an unknown env key":  head + "families: [{id: a, env: {other: [{key: A, delimiter: x}]}}]\n",
		"a duplicate key":     head + "families: [{id: a, id: b}]\n",
		"a bad expression":    head + "families: [{id: a, regex: '('}]\n",
		"a bad default":       head + "families: [{id: a, defaults: {masquerades: perhaps}}]\n",
		"a bad version":       head + "families: [{id: a, env: {other: [{key: A, since: new}]}}]\n",
		"a bad sysctl":        head + "families: [{id: a, needs: {sysctls: [ip_forward]}}]\n",
		"a numeric default":   head + "families: [{id: a, env: {other: [{key: A, default: 1}]}}]\n",
		"another schema":      "schema: 2\n",
		"no YAML":             "a: [\n",
		"a bad look-alike":    head + "lookalikes: [{why: x, regex: '['}]\n",
		"a list for a family": head + "families: [[]]\n",
	} {
		if _, err := decode([]byte(text)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestMatch(t *testing.T) {
	c := loaded(t)
	tests := []struct {
		image, family string
		conf          Confidence
		by            Basis
	}{
		// Every row of FG C0.
		{"qmcgaw/gluetun:v3.40.0", "gluetun", High, ByRepository},
		{"ghcr.io/qdm12/gluetun:latest", "gluetun", High, ByRepository},
		{"docker.io/qmcgaw/gluetun@sha256:" + strings.Repeat("a", 64), "gluetun", High, ByRepository},
		{"lscr.io/linuxserver/wireguard:1.0.20210914-ls22", "linuxserver-wireguard", High, ByRepository},
		{"ghcr.io/wg-easy/wg-easy:14", "wg-easy-v14", High, ByRepository},
		{"ghcr.io/wg-easy/wg-easy:v9.1", "wg-easy-v14", High, ByRepository},
		{"ghcr.io/wg-easy/wg-easy:15.1.0", "wg-easy-v15", High, ByRepository},
		{"ghcr.io/wg-easy/wg-easy", "wg-easy-v15", High, ByRepository},
		{"ghcr.io/wg-easy/wg-easy@sha256:" + strings.Repeat("b", 64), "wg-easy-v15", Low, ByRepository},
		{"weejewel/wg-easy:latest", "wg-easy-v14", High, ByRepository},
		{"kylemanna/openvpn:2.4", "kylemanna-openvpn", High, ByRepository},
		{"jfelten/openvpn-docker:1.1.0", "stable-openvpn", High, ByRepository},
		{"ptlange/openvpn", "kube-openvpn", High, ByRepository},
		{"quay.io/plange/openvpn:latest", "kube-openvpn", High, ByRepository},
		{"d3vilh/openvpn-server", "d3vilh-openvpn", High, ByRepository},
		{"hwdsl2/openvpn-server", "hwdsl2-openvpn", High, ByRepository},
		{"hwdsl2/ipsec-vpn-server:debian", "hwdsl2-ipsec", High, ByRepository},
		{"dperson/openvpn-client", "dperson-openvpn-client", High, ByRepository},
		{"haugene/transmission-openvpn:5.3", "haugene-transmission-openvpn", High, ByRepository},
		{"binhex/arch-delugevpn", "binhex-vpn", High, ByRepository},
		{"binhex/arch-nzbgetvpn:1", "binhex-vpn", Low, ByName},
		{"dyonr/qbittorrentvpn", "dyonr-qbittorrentvpn", High, ByRepository},
		{"ghcr.io/bubuntux/nordlynx:2024-01-01", "nordlynx", High, ByRepository},
		{"bubuntux/nordvpn", "nordvpn", High, ByRepository},
		{"thrnz/docker-wireguard-pia", "wireguard-pia", High, ByRepository},
		{"jordanpotter/wireguard", "jordanpotter-wireguard", High, ByRepository},
		{"ghcr.io/masipcat/wireguard-go-docker:latest", "masipcat-wireguard-go", High, ByRepository},
		{"cmulk/wireguard-docker:buster", "cmulk-wireguard", High, ByRepository},
		{"ghcr.io/k8s-at-home/wireguard:v1.0.20210914", "k8s-at-home-wireguard", High, ByRepository},
		{"ghcr.io/wfg/openvpn-client", "wfg-openvpn-client", High, ByRepository},
		{"ghcr.io/tprasadtp/protonwire:7", "protonwire", High, ByRepository},
		{"ghcr.io/angelnu/pod-gateway:v1.10.0", "pod-gateway", High, ByRepository},
		{"tailscale/tailscale:v1.80.0", "tailscale", High, ByRepository},
		{"ghcr.io/tailscale/tailscale:stable", "tailscale", High, ByRepository},
		{"netbirdio/netbird:0.30.0-rootless", "netbird", High, ByRepository},
		{"zyclonite/zerotier:1.14", "zerotier", High, ByRepository},
		{"zyclonite/zerotier:router-1.14", "zerotier-router", High, ByRepository},
		{"zyclonite/zerotier:router", "zerotier-router", High, ByRepository},
		{"ghcr.io/firezone/gateway:1.4", "firezone-gateway", High, ByRepository},
		{"gravitl/netclient:v0.90.0", "netmaker-netclient", High, ByRepository},
		{"nebulaoss/nebula:1.9.5", "nebula", High, ByRepository},
		{"vimagick/strongswan", "strongswan-vimagick", High, ByRepository},
		{"acme/strongswan-gateway", "strongswan-generic", Low, ByName},
		{"vimagick/ocserv", "ocserv", High, ByRepository},
		{"tommylau/ocserv", "ocserv-generic", High, ByRepository},
		{"vimagick/openconnect", "openconnect-client", High, ByRepository},
		{"acme/openfortivpn:1.22", "openfortivpn", Low, ByName},
		{"amneziavpn/amneziawg-go:latest", "amneziawg", High, ByRepository},
		{"acme/docker-amneziawg", "amneziawg", Low, ByName},
		{"acme/amneziawg-web", "", "", ByNothing},
		{"ghcr.io/hotio/qbittorrent:release", "hotio", High, ByRepository},
		{"ghcr.io/hotio/sonarr", "hotio", Low, ByName},
		{"siomiz/softethervpn", "softether", High, ByRepository},
		{"jippi/pritunl", "pritunl", High, ByRepository},
		{"caomingjun/warp", "cloudflare-warp", High, ByRepository},
		{"quay.io/outline/shadowbox:stable", "shadowsocks", High, ByRepository},
		{"ghcr.io/jodevsa/wireguard-operator/agent:v2", "wireguard-operator", High, ByRepository},
		{"squat/kilo:0.6.0", "kilo", High, ByRepository},
		{"ghcr.io/bryopsida/wireguard:main", "bryopsida-wireguard", High, ByRepository},
		{"ghcr.io/denefoster/k8s-wireguard", "denefoster-k8s-wireguard", High, ByRepository},
		{"place1/wg-access-server", "wg-access-server", High, ByRepository},
		{"subspacecommunity/subspace", "subspace", High, ByRepository},
		{"ngoduykhanh/wireguard-ui", "wireguard-ui", High, ByRepository},
		{"ghcr.io/h44z/wg-portal:v2", "wg-portal", High, ByRepository},
		{"cloudflare/boringtun", "boringtun", High, ByRepository},
		{"registry.k8s.io/networking/ip-masq-agent:v2.12.0", "ip-masq-agent", High, ByRepository},
		{"gke.gcr.io/ip-masq-agent:v2", "ip-masq-agent", High, ByRepository},
		{"mcr.microsoft.com/aks/ip-masq-agent-v2:v0.1", "ip-masq-agent", High, ByRepository},
		// Mirrors, by the tail.
		{"myregistry.example.com/mirror/qmcgaw/gluetun:v3.39.1", "gluetun", Medium, ByMirror},
		{"harbor.example.com:5000/x/linuxserver/wireguard", "linuxserver-wireguard", Medium, ByMirror},
		{"123.dkr.ecr.eu-west-1.amazonaws.com/ghcr/wg-easy/wg-easy:14", "wg-easy-v14", Medium, ByMirror},
		{"proxy.local/zyclonite/zerotier:router", "zerotier-router", High, ByRepository},
		// Names alone.
		{"registry.example.com/infra/openvpn:2.6", "openvpn-generic", Low, ByName},
		{"acme/wireguard", "wireguard-generic", Low, ByName},
		{"acme/docker-openvpn-client", "openvpn-generic", Low, ByName},
		// Not VPNs, whatever is in their names.
		{"nginx:1.27", "", "", ByNothing},
		{"acme/vpn-portal:1", "", "", ByNothing},
		{"acme/gluetun", "", "", ByNothing},
		{"acme/my-wireguard-thing", "", "", ByNothing},
		{"acme/nebula-graph", "", "", ByNothing},
		{"linuxserver/qbittorrent", "", "", ByNothing},
		{"busybox", "", "", ByNothing},
		{"", "", "", ByNothing},
		{"{{ .Values.image }}", "", "", ByNothing},
		{"${REGISTRY}/qmcgaw/gluetun:${TAG}", "gluetun", High, ByRepository},
		{"Qmcgaw/Gluetun:V3", "gluetun", High, ByRepository},
		{"::::", "", "", ByNothing},
	}
	for _, tt := range tests {
		t.Run(tt.image, func(t *testing.T) {
			m := c.Match(tt.image, Hints{})
			got := ""
			if m.Family != nil {
				got = m.Family.ID
			}
			if got != tt.family || m.Confidence != tt.conf || m.By != tt.by || m.LookAlike != nil {
				t.Errorf("got %q (%s, by %s, look-alike %v), want %q (%s, by %s)", got, m.Confidence, m.By, m.LookAlike, tt.family, tt.conf, tt.by)
			}
		})
	}
}

// TestLookAlikes has every row of FG C0's list and of FG F.
func TestLookAlikes(t *testing.T) {
	c := loaded(t)
	for _, image := range []string{
		"tailscale/k8s-operator:v1.80.0", "tailscale/k8s-nameserver:stable", "ghcr.io/tailscale/k8s-proxy", "ghcr.io/tailscale/tsidp",
		"netbirdio/management", "netbirdio/signal", "netbirdio/relay", "netbirdio/dashboard", "netbirdio/kubernetes-operator",
		"headscale/headscale:0.23", "ghcr.io/juanfont/headscale", "ghcr.io/gurucomputing/headscale-ui", "ghcr.io/tale/headplane",
		"firezone/api", "firezone/web", "firezone/portal", "firezone/relay",
		"ghcr.io/angelnu/gateway-admision-controller:v3", "acme/gateway-admision-controller",
		"bryopsida/wg-kubectl", "ghcr.io/bryopsida/k8s-wireguard-mgr", "ghcr.io/jodevsa/wireguard-operator/manager:main",
		"twingate/connector:1", "mindflavor/prometheus-wireguard-exporter", "adinhodovic/tailscale-exporter", "kumina/openvpn-exporter",
		"ruimarinho/prometheus-openvpn-exporter", "acme/strongswan-exporter", "acme/ocserv_exporter",
		"ghcr.io/bjw-s-labs/gluetun-qb-port-sync", "snoringdragon/gluetun-qbittorrent-port-manager", "scuzza/gluetun-webui",
		"acme/qbit-gluetun-sync", "acme/gluetun-port-forward", "acme/port-forward-gluetun",
		"outlinewiki/outline:0.80", "lovelaze/nebula-sync", "icr.io/x/armada-master/vpn-client:v1",
		"haugene/transmission-openvpn-proxy", "d3vilh/openvpn-ui", "gravitl/netmaker", "giolekva/nebula-api",
		"mirror.example.com/dockerhub/tailscale/k8s-operator", "acme/openvpn-admin", "acme/wireguard-dashboard",
	} {
		t.Run(image, func(t *testing.T) {
			m := c.Match(image, Hints{})
			if m.LookAlike == nil || m.Family != nil {
				t.Errorf("got family %v, look-alike %v", m.Family, m.LookAlike)
			}
		})
	}
}

func TestHints(t *testing.T) {
	c := loaded(t)
	tests := []struct {
		name, image string
		hints       Hints
		family      string
	}{
		{"gluetun's own entrypoint", "registry.local/vpn:1", Hints{Command: []string{"/gluetun-entrypoint"}}, "gluetun"},
		{"behind an init", "registry.local/vpn:1", Hints{Command: []string{"tini", "--", "/gluetun-entrypoint"}}, "gluetun"},
		{"its health check is run by others", "registry.local/vpn:1", Hints{Command: []string{"/gluetun-entrypoint", "healthcheck"}}, ""},
		{"containerboot", "registry.local/ts:1", Hints{Command: []string{"/usr/local/bin/containerboot"}}, "tailscale"},
		{"two of its variables", "registry.local/vpn:1", Hints{EnvKeys: []string{"VPN_SERVICE_PROVIDER", "FIREWALL_OUTBOUND_SUBNETS"}}, "gluetun"},
		{"one of them and its usual name", "registry.local/vpn:1", Hints{ContainerName: "gluetun", EnvKeys: []string{"VPN_SERVICE_PROVIDER"}}, "gluetun"},
		{"one variable is not enough", "registry.local/app:1", Hints{EnvKeys: []string{"VPN_SERVICE_PROVIDER"}}, ""},
		{"a program with tailscale built in", "acme/golink", Hints{EnvKeys: []string{"TS_AUTHKEY", "TS_HOSTNAME"}}, ""},
		{"a name is not enough", "registry.local/app:1", Hints{ContainerName: "gluetun"}, ""},
		{"user and password are anyone's", "acme/app", Hints{EnvKeys: []string{"VPN_USER", "VPN_PASSWORD"}}, ""},
		{"the image's own name wins", "tailscale/tailscale", Hints{Command: []string{"/gluetun-entrypoint"}}, "tailscale"},
		{"also a look-alike's", "outlinewiki/outline", Hints{Command: []string{"/gluetun-entrypoint"}}, ""},
		{"a shell that mentions it", "acme/app", Hints{Command: []string{"sh", "-c", "/gluetun-entrypoint"}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := c.Match(tt.image, tt.hints)
			got := ""
			if m.Family != nil {
				got = m.Family.ID
			}
			if got != tt.family {
				t.Errorf("got %q, want %q", got, tt.family)
			}
			if m.By == ByCommand || m.By == ByEnv {
				if m.Confidence != Low || m.Version.Known {
					t.Errorf("a guess has confidence %s and version %+v", m.Confidence, m.Version)
				}
			}
		})
	}
}

func TestVersion(t *testing.T) {
	tests := []struct {
		tag                 string
		known               bool
		major, minor, patch int
	}{
		{"v3.40.0", true, 3, 40, 0},
		{"3.40", true, 3, 40, 0},
		{"v3", true, 3, 0, 0},
		{"1.0.20210914-ls22", true, 1, 0, 20210914},
		{"version-1.2.3", true, 1, 2, 3},
		{"0.30.0-rootless", true, 0, 30, 0},
		{"latest", false, 0, 0, 0},
		{"", false, 0, 0, 0},
		{"pr-123", false, 0, 0, 0},
		{"2024-01-31", false, 0, 0, 0},
		{"20240131", false, 0, 0, 0},
		{"14", true, 14, 0, 0},
		{"99999999999999999999", false, 0, 0, 0},
		{"3x", false, 0, 0, 0},
	}
	for _, tt := range tests {
		v := ParseVersion(tt.tag)
		if v.Known != tt.known || v.Major != tt.major || v.Minor != tt.minor || v.Patch != tt.patch {
			t.Errorf("%s: got %+v", tt.tag, v)
		}
	}
	for _, tt := range []struct {
		tag          string
		major, minor int
		want         Known
	}{
		{"v3.40.0", 3, 40, Yes}, {"v3.40.0", 3, 41, No}, {"v3.40.0", 3, 39, Yes}, {"v4.0", 3, 41, Yes}, {"v2.9", 3, 0, No},
		{"v3", 3, 41, Unknown}, {"v3", 3, 0, Yes}, {"v4", 3, 41, Yes}, {"latest", 3, 0, Unknown}, {"", 0, 0, Unknown},
	} {
		if got := ParseVersion(tt.tag).AtLeast(tt.major, tt.minor); got != tt.want {
			t.Errorf("%q at least %d.%d: got %s, want %s", tt.tag, tt.major, tt.minor, got, tt.want)
		}
	}
}

func TestKeys(t *testing.T) {
	c := loaded(t)
	key := func(family, name string) Key {
		t.Helper()
		k, ok := c.Family(family).Env.Find(name)
		if !ok {
			t.Fatalf("%s has no %s", family, name)
		}
		return k
	}
	for _, x := range []struct {
		name      string
		got, want Known
	}{
		{"gluetun reads FIREWALL up to 3.38", key("gluetun", "FIREWALL").Read(ParseVersion("v3.38.1")), Yes},
		{"and not from 3.39 on", key("gluetun", "FIREWALL").Read(ParseVersion("v3.39.0")), No},
		{"of latest nothing is known", key("gluetun", "FIREWALL").Read(ParseVersion("latest")), Unknown},
		{"DNS_SERVER came with 3.41", key("gluetun", "DNS_SERVER").Read(ParseVersion("v3.40.4")), No},
		{"the switch's default is on", key("gluetun", "FIREWALL").On("", false), Yes},
		{"off", key("gluetun", "FIREWALL").On("OFF", true), No},
		{"dperson: set but empty is on", key("dperson-openvpn-client", "FIREWALL").On("", true), Yes},
		{"dperson: not set is off", key("dperson-openvpn-client", "FIREWALL").On("", false), No},
		{"haugene's default is off", key("haugene-transmission-openvpn", "ENABLE_UFW").On("", false), No},
		{"wfg: any other word is off", key("wfg-openvpn-client", "KILL_SWITCH").On("perhaps", true), No},
		{"a conditional default is unknown", c.Family("kylemanna-openvpn").Defaults.Masquerades.Known(), Unknown},
		{"gluetun keeps replies", c.Family("gluetun").Defaults.KeepsReplies.Known(), Yes},
		{"nothing is said of linuxserver's", c.Family("linuxserver-wireguard").Defaults.KeepsReplies.Known(), Unknown},
	} {
		if x.got != x.want {
			t.Errorf("%s: got %s, want %s", x.name, x.got, x.want)
		}
	}
	if k := key("gluetun", "EXTRA_SUBNETS"); k.Key != "FIREWALL_OUTBOUND_SUBNETS" || k.Sep != "," {
		t.Errorf("the alias leads to %+v", k)
	}
	route := key("dperson-openvpn-client", "ROUTE_2")
	for name, want := range map[string]bool{"ROUTE": true, "ROUTE_2": true, "ROUTE6": false, "ROUTER": false, "": false} {
		if route.Is(name) != want {
			t.Errorf("%q belongs to ROUTE: %v", name, !want)
		}
	}
	if k := key("linuxserver-wireguard", "INTERNAL_SUBNET"); k.Form != Network24 || k.Default != "10.13.13.0" || k.OnlyWhen != "server" {
		t.Errorf("INTERNAL_SUBNET: %+v", k)
	}
	sysctls := c.Family("tailscale").Needs.Kernel.Sysctls
	if len(sysctls) != 2 || sysctls[0].Key != "net.ipv4.ip_forward" || sysctls[0].Value != "1" || sysctls[0].When == "" {
		t.Errorf("tailscale needs %+v", sysctls)
	}
	if !regexp.MustCompile(`^net\.`).MatchString(sysctls[1].Key) {
		t.Errorf("sysctl %q", sysctls[1].Key)
	}
}

func FuzzMatch(f *testing.F) {
	c, err := Load()
	if err != nil {
		f.Fatal(err)
	}
	f.Add("ghcr.io/wg-easy/wg-easy:14@sha256:x", "sh", "PEERS")
	f.Add("a:b/c@d:e", "", "")
	f.Add("${X}/{{ .y }}:{{ .z }}", "tini", "TS_ROUTES")
	f.Fuzz(func(t *testing.T, image, command, env string) {
		m := c.Match(image, Hints{Command: strings.Fields(command), EnvKeys: strings.Fields(env)})
		if m.Family != nil && m.LookAlike != nil {
			t.Fatal("both a VPN and none")
		}
		if (m.By == ByNothing) != (m.Family == nil && m.LookAlike == nil) {
			t.Fatalf("recognised by %q", m.By)
		}
		if m.Version.Known && m.Version.AtLeast(0, 0) != Yes {
			t.Fatal("a known version is at least 0.0")
		}
	})
}

// What is longer than any reference is taken apart as what is none: the library would
// look at megabytes for seconds before it refuses them.
func TestMatchOfALongText(t *testing.T) {
	t.Parallel()
	started := time.Now()
	m := loaded(t).Match(strings.Repeat("x", 40_000_000)+"/qmcgaw/gluetun:v3.40.0", Hints{})
	if m.Tag != "v3.40.0" || m.Digest != "" {
		t.Errorf("tag %q, digest %q", m.Tag, m.Digest)
	}
	if took := time.Since(started); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
}
