package facts

import "github.com/vpnlint/vpnlint/pkg/source"

// Stage is when a container runs in the life of its pod (FG D5.1).
type Stage string

// The stages. NativeSidecar is an init container with restartPolicy Always.
const (
	Init          Stage = "init"
	NativeSidecar Stage = "sidecar"
	Main          Stage = "main"
)

// Container is one container of a pod, init containers included, with what decides
// about the network: its image, its privileges and its place in the start order.
type Container struct {
	Name  string     `json:"name"`
	Ref   source.Ref `json:"ref"`
	Stage Stage      `json:"stage"`
	// Order is the start order over all containers of the pod, from 0.
	Order    int        `json:"order"`
	Image    string     `json:"image"`
	ImageRef source.Ref `json:"image_ref"`
	// Family is the id of the VPN image family, "" for none or a look-alike.
	Family      string `json:"family"`
	FamilyTitle string `json:"family_title"`
	// Version is the image's version, "" when the tag does not tell.
	Version string `json:"version"`
	// DataPlane: it carries packets of a VPN.
	DataPlane bool `json:"data_plane"`
	// Application: neither VPN, nor helper, nor an init container that ends.
	Application  bool     `json:"application"`
	Privileged   Known    `json:"privileged"`
	Capabilities []string `json:"capabilities"` // added and not dropped again, upper case, without CAP_
	Dropped      []string `json:"dropped"`      // dropped, in the same form
	// SecurityRef is the container's securityContext, else the container.
	SecurityRef source.Ref `json:"security_ref"`
	// NonRoot: Present when it certainly does not run as user 0 (runAsUser or
	// runAsNonRoot, of the container before the pod's); Unknown when only the
	// image decides.
	NonRoot Setting `json:"non_root"`
	// Unmasked: procMount Unmasked, so that /proc/sys is writable.
	Unmasked bool `json:"unmasked"`
	// TunDevice: /dev/net/tun is mounted, or a device plugin is asked for it.
	TunDevice bool `json:"tun_device"`
	// Combined: one image is VPN and application (FG C0, "client+app").
	Combined bool `json:"combined"`
	// NeedsAdmin: its image needs NET_ADMIN as it is set up here; Unknown where
	// that was not read from the image.
	NeedsAdmin Known `json:"needs_admin"`
	// MakesTun: its image makes /dev/net/tun itself when it is not there.
	MakesTun bool `json:"makes_tun"`
	// TunUnmade: Present where its own command certainly starts the VPN without what
	// makes the device.
	TunUnmade Switch `json:"tun_unmade"`
	// UsesNetwork: an init container whose script talks to the network.
	UsesNetwork Known `json:"uses_network"`
	// OwnCommand: the manifest replaces the image's own program.
	OwnCommand bool `json:"own_command"`
	// NeedsPrivilege: Absent when everything that the container does works with
	// capabilities alone. Unknown for containers that carry no VPN.
	NeedsPrivilege Switch `json:"needs_privilege"`
	// Modules are what lets it load kernel modules: SYS_MODULE, /lib/modules of
	// the node; empty where the image asks for that (FG C0, Needs).
	Modules   []NamedRef `json:"modules"`
	Listeners []Listener `json:"listeners"`
}

// Listener is a port on which a container listens in the pod's namespace.
type Listener struct {
	Port     int    `json:"port"`
	Protocol string `json:"protocol"` // TCP | UDP | SCTP
	// Source: declared (ports of the manifest) | image (what is known of the
	// image). A port that the manifest declares for a VPN image whose listeners
	// are known, and that is none of them, is not listed: it is another
	// container's.
	Source string     `json:"source"`
	Ref    source.Ref `json:"ref"`
	Says   string     `json:"says"` // "Gluetun's control server (:8000)"
	// Loopback: only processes of the pod reach it.
	Loopback Known `json:"loopback"`
	// Used: something else than the declaration says that the container listens
	// there: its image, a probe, an argument or a variable. A declared port alone
	// is only documentation.
	Used bool `json:"used"`
}
