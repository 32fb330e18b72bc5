package facts

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/source"
)

func itoa(n int) string { return strconv.Itoa(n) }

// host is a host that a text names.
type host struct {
	name       string
	says       string // the token as written
	start, end int    // of the token
	url        bool   // it has a scheme
	port       bool   // it has a port
	prefix     bool   // it is an address range
}

// hosts returns the hosts that a text names: of URLs, of host:port, dotted
// names and literal addresses. Single words are returned too; the caller
// decides whether they are hosts.
func hosts(text string) []host {
	var out []host
	for start := 0; start < len(text); {
		if separates(text[start]) {
			start++
			continue
		}
		end := start
		for end < len(text) && !separates(text[end]) {
			end++
		}
		if h, ok := parseHost(text[start:end]); ok {
			h.start, h.end = start, end
			out = append(out, h)
		}
		start = end
	}
	return out
}

func separates(b byte) bool {
	switch b {
	case ' ', '\t', '\n', '\r', '"', '\'', '`', ',', ';', '=', '(', ')', '{', '}', '<', '>', '|', '\\', '\x00':
		return true
	default:
		return false
	}
}

func parseHost(token string) (host, bool) {
	const maxToken = 512
	if len(token) > maxToken {
		return host{}, false
	}
	h := host{says: token}
	rest := token
	if i := strings.Index(rest, "://"); i >= 0 {
		h.url, rest = true, rest[i+3:]
	} else if strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "$") {
		return host{}, false // a path, a flag, a variable
	}
	if _, err := netip.ParsePrefix(rest); err == nil && !h.url {
		addr, _, _ := strings.Cut(rest, "/")
		h.name, h.prefix = addr, true
		return h, true
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		if !h.url && !strings.Contains(rest[:i], ":") && !strings.Contains(rest[:i], ".svc") {
			return host{}, false // a/b: an image, a file, a resource
		}
		rest = rest[:i]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	if addr, err := netip.ParseAddr(strings.Trim(rest, "[]")); err == nil {
		h.name = addr.String()
		return h, true
	}
	name, port, found := cutPort(rest)
	if found {
		h.port, rest = true, name
		if port == "" {
			h.port = false
		}
	}
	rest = strings.TrimSuffix(rest, ".")
	if addr, err := netip.ParseAddr(strings.Trim(rest, "[]")); err == nil {
		h.name = addr.String()
		return h, true
	}
	if !isHostName(rest) {
		return host{}, false
	}
	h.name = rest
	return h, true
}

// cutPort splits host:port; the port must be a number.
func cutPort(s string) (name, port string, found bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, "", false
	}
	if s[i+1:] != "" {
		if _, err := strconv.ParseUint(s[i+1:], 10, 16); err != nil {
			return s, "", false
		}
	}
	return s[:i], s[i+1:], true
}

// isHostName checks the letters of a DNS name, underscores included.
func isHostName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for _, label := range strings.Split(s, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
		for i := 0; i < len(label); i++ {
			b := label[i]
			if b != '-' && b != '_' && (b < '0' || b > '9') && (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') {
				return false
			}
		}
	}
	return true
}

// serviceIndex are the Services that a pod's names may mean.
type serviceIndex struct {
	names     map[string]bool // namespace/name
	addresses map[netip.Addr]bool
	services  []service // of the namespace, in the order of the input
	// byLabel are those of them that ask for a label first, so that a pod is held
	// only against the Services that one of its labels may meet.
	byLabel map[label][]int
}

type label struct{ key, value string }

type service struct {
	object    *source.Object
	namespace string
	address   netip.Addr // zero: none of its own
	selector  node
	ports     []servicePort
}

type servicePort struct{ target, says string }

// servicesNear reads the Services of the object's cluster. What is near depends
// on the object's unit and namespace only, which many pods share.
func (ix *index) servicesNear(near *source.Object) *serviceIndex {
	key := serviceView{near.Unit, normalNamespace(near.Namespace)}
	ix.mu.Lock()
	have := ix.services[key]
	ix.mu.Unlock()
	if have != nil {
		return have
	}
	out := ix.viewServices(near)
	ix.mu.Lock()
	ix.services[key] = out
	ix.mu.Unlock()
	return out
}

// serviceView is from where the Services are looked at.
type serviceView struct{ unit, namespace string }

func (ix *index) viewServices(near *source.Object) *serviceIndex {
	out := &serviceIndex{names: map[string]bool{}, addresses: map[netip.Addr]bool{}, byLabel: map[label][]int{}}
	for _, s := range ix.parsedServices() {
		if ix.apart != nil && ix.apart(near, s.object) {
			continue
		}
		out.names[s.namespace+"/"+s.object.Name] = true
		if s.address.IsValid() {
			out.addresses[s.address] = true
		}
		if s.namespace != normalNamespace(near.Namespace) {
			continue
		}
		if first, ok := firstLabel(s.selector); ok {
			out.byLabel[first] = append(out.byLabel[first], len(out.services))
		}
		out.services = append(out.services, s)
	}
	return out
}

func readServices(objects []*source.Object) []service {
	var out []service
	for _, o := range objects {
		spec := root(o).get("spec")
		s := service{object: o, namespace: normalNamespace(o.Namespace), selector: spec.get("selector")}
		if addr, err := netip.ParseAddr(spec.get("clusterIP").text()); err == nil {
			s.address = addr
		}
		for _, port := range spec.get("ports").items() {
			says, _ := port.get("port").scalar()
			target, is := port.get("targetPort").scalar()
			if !is {
				target = says
			}
			s.ports = append(s.ports, servicePort{target, says})
		}
		out = append(out, s)
	}
	return out
}

// firstLabel returns the label that a selector asks for first, false for a
// selector that selects nothing.
func firstLabel(selector node) (label, bool) {
	keys := selector.keys()
	if len(keys) == 0 {
		return label{}, false
	}
	value, is := selector.get(keys[0]).str()
	return label{keys[0], value}, is
}

// of returns the Services that select a pod, in the order of the input.
func (s *serviceIndex) of(p *podView) []service {
	var candidates []int
	for key, value := range p.pod.Labels {
		candidates = append(candidates, s.byLabel[label{key, value}]...)
	}
	slices.Sort(candidates)
	var out []service
	for _, i := range candidates {
		if equalitySelector(s.services[i].selector, p.pod.Labels) {
			out = append(out, s.services[i])
		}
	}
	return out
}

// selecting reports whether the Service of a name selects the pod itself.
func (s *serviceIndex) selecting(p *podView, name string) bool {
	for _, svc := range s.of(p) {
		if svc.object.Name == name {
			return true
		}
	}
	return false
}
