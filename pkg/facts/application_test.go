package facts

import "testing"

// A script that starts a tunnel and then an application makes one container of
// both.
func TestApplicationBehindATunnel(t *testing.T) {
	for name, tc := range map[string]struct {
		image, script string
		want          bool
	}{
		"exec after wg-quick":             {"app", "wg-quick up wg0 && exec /usr/bin/app --port 80", true},
		"the last command":                {"app", "openvpn --config /vpn.conf --daemon; until ip link show tun0; do sleep 1; done; python3 main.py", true},
		"before the tunnel is taken down": {"app", "wg-quick up wg0; /usr/bin/backup; wg-quick down wg0", true},
		"in a VPN's own image":            {"masipcat/wireguard-go:1", "wg-quick up wg0; exec /app", true},
		"a tunnel in the foreground":      {"app", "openvpn --config /vpn.conf", false},
		"before the tunnel":               {"app", "/app-setup; exec openvpn --config /vpn.conf", false},
		"it sleeps":                       {"app", "wg-quick up wg0; sleep infinity", false},
		"it watches":                      {"app", "wg-quick up wg0; while true; do /check; sleep 9; done", false},
		"it waits":                        {"app", "wg-quick up wg0; /app & wait", false},
		"a proxy":                         {"app", "wg-quick up wg0; exec /usr/sbin/sockd -f /etc/sockd.conf", false},
		"a proxy by its image":            {"example.com/http-proxy", "wg-quick up wg0; exec /server", false},
		"perhaps":                         {"app", "wg-quick up wg0; [ -n \"$APP\" ] && exec /app", false},
		"no tunnel":                       {"app", "exec /app", false},
		"a tunnel in another network":     {"app", "wg-quick up wg0; ip netns exec other /app", false},
		"a script that lies in the image": {"app", "wg-quick up wg0; exec /entrypoint.sh", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := look(t, pod(`
      containers:
      - name: c
        image: `+tc.image+`
        securityContext: {privileged: true}
        command:
        - sh
        - -c
        - |
          `+tc.script), lab())
			if got := s.pods[0].pod.Containers[0].Combined; got != tc.want {
				t.Errorf("client and application: %v, want %v", got, tc.want)
			}
		})
	}
}
