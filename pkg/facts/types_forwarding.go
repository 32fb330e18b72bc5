package facts

import "github.com/vpnlint/vpnlint/pkg/source"

// Forwarding is what makes a pod's network namespace forward (FG D1).
type Forwarding struct {
	// Needed is Absent for pods that forward without the kernel's help: user
	// space data planes, proxies, pods that are no gateway.
	Needed    Known  `json:"needed"`
	NeededWhy string `json:"needed_why"`
	// IPv6Off: IPv6 is disabled in the pod; Unknown when something that cannot
	// be seen may do so.
	IPv6Off Known            `json:"ipv6_off"`
	IPv4    FamilyForwarding `json:"ipv4"`
	IPv6    FamilyForwarding `json:"ipv6"`
}

// FamilyForwarding is the evidence for one address family.
type FamilyForwarding struct {
	// State: Present when some evidence certainly turns it on before the VPN
	// container needs it; Absent when nothing does; Unknown when something that
	// cannot be seen (a script in a missing ConfigMap) might.
	State    Known             `json:"state"`
	Evidence []ForwardEvidence `json:"evidence"`
	// Carried: Absent where all that the gateway's tunnels carry is of the other
	// family, so that it does not matter whether this one is forwarded.
	Carried Known `json:"carried"`
	// TurnedOff: a CNI of the pod's cluster writes 0 into every new pod (FG D1.3).
	TurnedOff    Known      `json:"turned_off"`
	TurnedOffBy  string     `json:"turned_off_by"`
	TurnedOffRef source.Ref `json:"turned_off_ref"`
	// Field is the field by which the operator that makes the pod is told to turn it
	// on, "" for none, and FieldRef where it is written, else the object's spec.
	Field    string     `json:"field"`
	FieldRef source.Ref `json:"field_ref"`
}

// SysctlEvidence is the evidence for one setting of the pod's network
// namespace, with the same meaning of State. Evidence whose Value is "1" is for
// it.
type SysctlEvidence struct {
	State    Known             `json:"state"`
	Evidence []ForwardEvidence `json:"evidence"`
}

// ForwardEvidence is one attempt to set forwarding, or another sysctl.
type ForwardEvidence struct {
	// How: pod-sysctl | container-sysctl | script | hook | config-hook | image | host-network | node | cni | plan | kubectl-exec
	// (script: command/args or a mounted script; hook: lifecycle; config-hook:
	// PostUp of a WireGuard configuration or an env of the image that runs one;
	// container-sysctl: in a container's securityContext, which has no such field).
	How       string     `json:"how"`
	Value     string     `json:"value"` // "0" or "1"
	Container string     `json:"container"`
	Ref       source.Ref `json:"ref"`
	Says      string     `json:"says"` // "sysctl -w net.ipv4.ip_forward=1"
	// Effective: Absent when it certainly fails (an unprivileged container
	// cannot write /proc/sys, FG D3.1).
	Effective Known `json:"effective"`
	// When: before (the VPN container's start) | start (its own start) | after.
	When string `json:"when"`
	// Tolerant: a failure does not fail the script (|| true).
	Tolerant bool `json:"tolerant"`
	// Conditional: it is only reached under a condition of the script.
	Conditional bool `json:"conditional"`
	// Target is what a kubectl-exec names, as far as it is written out: "deploy/vpn".
	Target string `json:"target"`
}
