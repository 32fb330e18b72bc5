package grammar

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/suggest"
)

// openVPNOptions are the names of the options of OpenVPN 2.1 to 2.7, removed ones
// among them. Patched builds have more.
const openVPNOptions = `
allow-compression allow-deprecated-insecure-static-crypto allow-nonadmin allow-pull-fqdn allow-recursive-routing askpass auth auth-gen-token
auth-gen-token-secret auth-nocache auth-retry auth-token auth-token-user auth-user-pass auth-user-pass-optional auth-user-pass-verify auto-
proxy bcast-buffers bind bind-dev block-ipv6 block-outside-dns ca capath ccd-exclusive cd cert chroot cipher client client-cert-not-required
client-config-dir client-connect client-crresponse client-disconnect client-nat client-to-client comp-lzo comp-noadapt compat-mode compat-
names compress config connect-freq connect-freq-initial connect-retry connect-retry-max connect-timeout connection crl-verify cryptoapicert
daemon data-ciphers data-ciphers-fallback dev dev-node dev-type dh dhcp-internal dhcp-option dhcp-pre-release dhcp-release dhcp-renew
disable disable-dco disable-occ dns dns-updown down down-pre duplicate-cn ecdh-curve echo engine errors-to-stderr explicit-exit-notify
extra-certs fast-io float force-tls-key-material-export foreign-option fragment genkey gremlin group hand-window hash-size help http-proxy
http-proxy-fallback http-proxy-option http-proxy-override http-proxy-retry http-proxy-timeout http-proxy-user-pass ifconfig ifconfig-ipv6
ifconfig-ipv6-pool ifconfig-ipv6-push ifconfig-noexec ifconfig-nowarn ifconfig-pool ifconfig-pool-linear ifconfig-pool-persist ifconfig-push
ifconfig-push-constraint ignore-unknown-option inactive inetd ip-remote-hint ip-win32 ipchange iproute iroute iroute-ipv6 keepalive key key-
derivation key-direction key-method keying-material-exporter keysize learn-address link-mtu lladdr local log log-append lport machine-
readable-output management management-client management-client-auth management-client-group management-client-pf management-client-user
management-external-cert management-external-key management-forget-disconnect management-hold management-log-cache management-query-
passwords management-query-proxy management-query-remote management-signal management-up-down mark max-clients max-packet-size max-routes
max-routes-per-client memstats mktun mlock mode msg-channel mssfix mtu-disc mtu-dynamic mtu-test multihome mute mute-replay-warnings ncp-
ciphers ncp-disable nice nice-work no-iv no-name-remapping no-replay nobind ns-cert-type opt-verify override-username parameter passtos
pause-exit peer-fingerprint peer-id persist-key persist-local-ip persist-remote-ip persist-tun ping ping-exit ping-restart ping-timer-rem
pkcs11-cert-private pkcs11-id pkcs11-id-management pkcs11-pin-cache pkcs11-private-mode pkcs11-protected-authentication pkcs11-providers
pkcs12 plugin port port-share preresolve prng proto proto-force protocol-flags providers pull pull-filter push push-continuation push-peer-
info push-remove push-reset rcvbuf rdns-internal redirect-gateway redirect-private register-dns remap-usr1 remote remote-cert-eku remote-
cert-ku remote-cert-tls remote-ip-hint remote-random remote-random-hostname reneg-bytes reneg-pkts reneg-sec replay-persist replay-window
resolv-retry rmtun route route-delay route-gateway route-ipv6 route-ipv6-gateway route-method route-metric route-noexec route-nopull route-
pre-down route-table route-up rport script-security secret server server-bridge server-ipv6 server-poll-timeout service session-timeout
setcon setenv setenv-safe shaper show-adapters show-ciphers show-curves show-digests show-engines show-gateway show-groups show-net show-
net-up show-pkcs11-ids show-proxy-settings show-tls show-valid-subnets single-session sndbuf socket-flags socks-proxy socks-proxy-retry
stale-routes-check static-challenge status status-version suppress-timestamps syslog tap-sleep tcp-nodelay tcp-queue-limit test-crypto
threads tls-auth tls-cert-profile tls-cipher tls-ciphersuites tls-client tls-crypt tls-crypt-v2 tls-crypt-v2-max-age tls-crypt-v2-verify
tls-exit tls-export-cert tls-groups tls-remote tls-server tls-timeout tls-verify tls-version-max tls-version-min tmp-dir topology tran-
window tun-ipv6 tun-mtu tun-mtu-extra tun-mtu-max txqueuelen udp-mtu up up-delay up-restart use-prediction-resistance user username-as-
common-name verb verify-client-cert verify-hash verify-x509-name version vlan-accept vlan-pvid vlan-tagging win-sys windows-driver writepid
x509-track x509-username-field
`

// misspelt reports names that are no option of any version and close to one: "Unrecognized
// option" ends OpenVPN. Another name may be a patched build's.
func (r *ovpnReader) misspelt() {
	var known, spared []string
	for i := range r.conf.Directives {
		if d := &r.conf.Directives[i]; d.Name.Text == "ignore-unknown-option" {
			for _, a := range d.Args {
				spared = append(spared, a.Text)
			}
		}
	}
	for i := range r.conf.Directives {
		d := &r.conf.Directives[i]
		name := d.Name.Text
		if d.Name.Unknown || !optionName.MatchString(name) || slices.Contains(spared, name) {
			continue
		}
		if known == nil {
			known = strings.Fields(openVPNOptions)
		}
		if _, is := slices.BinarySearch(known, name); is {
			continue
		}
		near := suggest.Nearest(name, known)
		if near != "" && strings.Trim(name, "0123456789") != strings.Trim(near, "0123456789") { // tls-crypt-v3 is to come
			r.problem(d.Name.Range, UnknownKey, true, "there is no option %s (the nearest is %s)", shorten(name), near)
		}
	}
}

// values reports arguments that OpenVPN refuses, of options that say what becomes of
// packets.
func (r *ovpnReader) values(d Directive) {
	bad := func(w Word, says string) {
		if w.Set() && !w.Unknown && !replaced.MatchString(w.Text) {
			r.problem(w.Range, BadValue, true, "%s %q is %s", d.Name.Text, shorten(w.Text), says)
		}
	}
	first := d.Arg(0)
	switch d.Name.Text {
	case "redirect-gateway", "redirect-private":
		for _, a := range d.Args {
			switch a.Text {
			case "def1", "local", "autolocal", "bypass-dhcp", "bypass-dns", "block-local", "ipv6", "!ipv4":
			default:
				bad(a, "no flag of it")
			}
		}
	case "topology":
		if !slices.Contains([]string{"net30", "p2p", "subnet"}, first.Text) {
			bad(first, "none of net30, p2p and subnet")
		}
	case "mode":
		if first.Text != "p2p" && first.Text != "server" {
			bad(first, "neither p2p nor server")
		}
	case "dev-type":
		if !slices.Contains([]string{"tun", "tap", "null"}, first.Text) {
			bad(first, "neither tun nor tap")
		}
	case "server":
		if d.Arg(2).Text != "nopool" {
			bad(d.Arg(2), "not nopool, the only word there")
		}
	case "keepalive":
		ping, err1 := strconv.Atoi(first.Text)
		restart, err2 := strconv.Atoi(d.Arg(1).Text)
		if err1 == nil && err2 == nil && restart < 2*ping {
			bad(d.Arg(1), "less than twice the first number")
		}
	case "pull-filter":
		if !slices.Contains([]string{"accept", "ignore", "reject"}, first.Text) {
			bad(first, "none of accept, ignore and reject")
		}
	case "proto":
		if !openVPNProtocol(first.Text) {
			bad(first, "no protocol of OpenVPN's")
		}
	case "remote":
		if wrongPort(d.Arg(1).Text) {
			bad(d.Arg(1), "no port")
		}
		if !openVPNProtocol(d.Arg(2).Text) {
			bad(d.Arg(2), "no protocol of OpenVPN's")
		}
	case "port", "lport", "rport":
		if wrongPort(first.Text) {
			bad(first, "no port")
		}
	case "tun-mtu", "link-mtu":
		if n, err := strconv.Atoi(first.Text); err != nil || n < 0 || n > 65535 {
			bad(first, "no size of a packet")
		}
	}
}

// openVPNProtocol reports whether a text is a protocol of any version.
func openVPNProtocol(text string) bool {
	name := strings.TrimSuffix(strings.TrimSuffix(text, "-server"), "-client")
	family := strings.TrimRight(name, "46")
	return len(name)-len(family) <= 1 && (family == "tcp" || family == "udp" && name == text)
}

// wrongPort: a number that is none. A name is looked up.
func wrongPort(text string) bool {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return false
	}
	n, err := strconv.Atoi(text)
	return err != nil || n > 65535
}
