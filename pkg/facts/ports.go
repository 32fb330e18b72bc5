package facts

import (
	"strings"

	"github.com/vpnlint/vpnlint/pkg/grammar"
)

// tunnelPorts returns the transport ports of the pod's tunnels as "51820/UDP",
// as far as the manifests tell them; empty when they do not.
func tunnelPorts(p *podView) map[string]bool {
	out := map[string]bool{}
	for _, c := range p.containers {
		if c.c.DataPlane {
			c.transportFromEnv(out)
			c.transportFromFiles(out)
		}
	}
	return out
}

// transportFromEnv reads gluetun's and similar variables.
func (c *containerView) transportFromEnv(out map[string]bool) {
	for key, protocol := range map[string]string{
		"WIREGUARD_ENDPOINT_PORT": "UDP", "VPN_ENDPOINT_PORT": "ANY", "OPENVPN_ENDPOINT_PORT": "ANY", "OPENVPN_PORT": "ANY",
		"WIREGUARD_PORT": "UDP",
	} {
		if v := c.env(key); v.State == Present && isNumber(v.Text) {
			out[v.Text+"/"+protocol] = true
		}
	}
}

func (c *containerView) transportFromFiles(out map[string]bool) {
	for _, f := range c.files("/**/*.conf", "/**/*.ovpn") {
		if f.State != Present || len(f.Text) > maxConfigBytes {
			continue
		}
		if strings.Contains(f.Text, "[Peer]") {
			for _, peer := range grammar.ParseWireGuard(f.Text).Peers {
				if _, port, found := cutPort(peer.Endpoint.Text); found && port != "" {
					out[port+"/UDP"] = true
				}
			}
			continue
		}
		conf := grammar.ParseOpenVPN(f.Text)
		protocol := openVPNProtocol(conf.Proto().Text)
		for _, remote := range conf.Remotes() {
			port, over := remote.Port.Text, protocol
			if port == "" {
				port = conf.Port().Text
			}
			if port == "" {
				port = "1194"
			}
			if remote.Proto.Text != "" {
				over = openVPNProtocol(remote.Proto.Text)
			}
			if isNumber(port) {
				out[port+"/"+over] = true
			}
		}
	}
}

// openVPNProtocol: UDP is OpenVPN's default.
func openVPNProtocol(text string) string {
	if strings.HasPrefix(text, "tcp") {
		return "TCP"
	}
	return "UDP"
}
