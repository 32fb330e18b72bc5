package lint

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// DraftPlan writes a plan file, as text, of what the tree at the paths declares,
// each range with the place that states it. What nothing states stands as a
// comment with "???" in it. A plan file that is there is not read: the same tree
// gives the same text.
func DraftPlan(ctx context.Context, paths []string, opts Options) (string, []finding.Gap, error) {
	opts.Plan = nil
	looks, gaps, err := look(ctx, paths, opts)
	if err != nil {
		return "", nil, err
	}
	d := draft{known: looks[0].known}
	plan := report.AddressPlan{Plan: cidrplan.Compute(d.known.Claims)}
	d.places = places(plan, looks[0].objects)
	d.ranges = plan.Ranges
	d.write()
	return d.String(), gaps, nil
}

// unknown marks what only a person can fill in.
const unknown = "???"

type draft struct {
	strings.Builder
	known  *facts.Facts
	ranges []cidrplan.Range
	places map[source.Ref]source.Location
}

func (d *draft) line(indent int, format string, args ...any) {
	d.WriteString(strings.Repeat(" ", indent) + fmt.Sprintf(format, args...) + "\n")
}

func (d *draft) write() {
	d.WriteString(`# The address plan of this repository, for vpnlint: which ranges pods, services, nodes and VPNs use.
# Drafted by "vpnlint plan init" from what the tree declares. Lines with ` + unknown + ` are what it could not find
# out: fill them in, or take them out where they do not apply.
version: 1
clusters:
`)
	clusters := slices.Clone(d.known.Clusters)
	if len(clusters) == 0 {
		clusters = []facts.Cluster{{Unit: "."}}
	}
	taken := map[string]bool{}
	for i := range clusters {
		d.cluster(&clusters[i], len(clusters) > 1, taken)
	}
}

func (d *draft) cluster(c *facts.Cluster, several bool, taken map[string]bool) {
	if c.Name == "" {
		base := path.Base(c.Unit)
		if base == "." || base == "/" || strings.HasPrefix(base, "..") {
			base = "cluster"
		}
		d.line(2, "- name: %s # %s nothing names it", scalar(unique(base, taken)), unknown)
	} else {
		d.line(2, "- name: %s", scalar(unique(c.Name, taken)))
	}
	switch {
	case !several: // all inputs
	case c.Unit != "." && c.Unit != "":
		d.line(4, "paths: [%s]", scalar(c.Unit+"/**"))
	default:
		d.line(4, `paths: ["*"] # %s which inputs belong to it: these are the files beside this one`, unknown)
	}
	var own []netip.Prefix
	own = append(own, d.list(c.Name, cidrplan.Pod, "pods")...)
	services := d.list(c.Name, cidrplan.Service, "services")
	own = append(own, services...)
	own = append(own, d.list(c.Name, cidrplan.Node, "nodes")...)
	d.hosts(c.Name, cidrplan.DNS, "dns", func(p netip.Prefix) bool {
		// The decoder refuses a resolver outside of every range.
		return p.Addr().IsLinkLocalUnicast() || len(services) == 0 || cidrplan.Contains(own, []netip.Prefix{p})
	})
	d.hosts(c.Name, cidrplan.API, "apiServer", func(netip.Prefix) bool { return true })
	d.masquerade(c)
	d.line(4, "# podForwarding: guaranteed # %s if nodes and CNI guarantee net.ipv4.ip_forward=1 in every new pod", unknown)
	d.line(4, "# internal: [] # %s private ranges beyond the cluster that expect pod addresses", unknown)
	d.vpns(c.Name)
	d.pools(c.Name)
}

// claims are those of one cluster and role that are stated, by owner.
func (d *draft) claims(cluster string, role cidrplan.Role) (stated, other []cidrplan.Claim) {
	for _, r := range d.ranges {
		if r.Cluster != cluster || r.Role != role {
			continue
		}
		for _, c := range r.Claims {
			switch {
			case c.Idiom != cidrplan.NoIdiom && c.Idiom != cidrplan.DefaultRoute:
			case c.Strength == cidrplan.Declared:
				stated = append(stated, c)
			default:
				other = append(other, c)
			}
		}
	}
	return stated, other
}

// list writes the ranges of a role and returns them. Without any it says what is
// known otherwise.
func (d *draft) list(cluster string, role cidrplan.Role, key string) []netip.Prefix {
	stated, other := d.claims(cluster, role)
	if len(stated) == 0 {
		said := "nothing states it"
		for _, c := range other {
			if c.Strength == cidrplan.Default {
				said = c.Prefix.String() + " is " + cmp.Or(c.Says, "a default") + ", which holds where nothing else is said"
				break
			}
			said = c.Prefix.String() + " is in use (" + d.at(c) + ")"
		}
		d.line(4, "# %s: [] # %s %s", key, unknown, comment(said))
		return nil
	}
	d.line(4, "%s:", key)
	return d.items(6, stated, func(c cidrplan.Claim) string { return c.Prefix.String() })
}

// items writes claims, each prefix once, with its places.
func (d *draft) items(indent int, claims []cidrplan.Claim, text func(cidrplan.Claim) string) []netip.Prefix {
	var order []netip.Prefix
	at := map[netip.Prefix][]string{}
	texts := map[netip.Prefix]string{}
	for _, c := range claims {
		if _, ok := at[c.Prefix]; !ok {
			order = append(order, c.Prefix)
			texts[c.Prefix] = text(c)
		}
		if where := d.at(c); !slices.Contains(at[c.Prefix], where) {
			at[c.Prefix] = append(at[c.Prefix], where)
		}
	}
	for _, p := range order {
		const most = 3
		where := at[p]
		if n := len(where); n > most {
			where = append(slices.Clone(where[:most]), "and "+strconv.Itoa(n-most)+" more")
		}
		d.line(indent, "- %s # %s", scalar(texts[p]), comment(strings.Join(where, "; ")))
	}
	return order
}

// at is the place of a claim and the field that states it.
func (d *draft) at(c cidrplan.Claim) string {
	at, ok := d.places[c.At]
	if !ok || at.File == "" {
		return cmp.Or(c.Says, "by default")
	}
	return strings.TrimSpace(at.File + ":" + strconv.Itoa(max(at.Span.Start.Line, 1)) + " " + c.Says)
}

// hosts writes the addresses of a role; those that do not fit stand as comments.
func (d *draft) hosts(cluster string, role cidrplan.Role, key string, fits func(netip.Prefix) bool) {
	stated, _ := d.claims(cluster, role)
	var good, bad []cidrplan.Claim
	for _, c := range stated {
		if c.Prefix.IsSingleIP() && fits(c.Prefix) {
			good = append(good, c)
		} else {
			bad = append(bad, c)
		}
	}
	if len(good) > 0 {
		d.line(4, "%s:", key)
		d.items(6, good, func(c cidrplan.Claim) string { return c.Prefix.Addr().String() })
	} else {
		d.line(4, "# %s: [] # %s nothing states it", key, unknown)
	}
	for _, c := range bad {
		d.line(6, "# %s is stated, but it lies outside of the cluster's ranges: %s %s", c.Prefix.Addr(), comment(d.at(c)), unknown)
	}
}

func (d *draft) masquerade(c *facts.Cluster) {
	for i := range d.known.Agents {
		a := &d.known.Agents[i]
		if a.Cluster == c.Name && slices.Contains([]string{"ip-masq-agent", "gke-managed", "azure-v2", "cilium"}, a.Kind) {
			d.line(4, "masquerade: {agent: %s} # %s", a.Kind, comment(a.Object.String()))
			return
		}
	}
	said := "who rewrites pod addresses on the way out; none, if nothing does"
	if c.CNI != "" {
		said += "; the CNI in view is " + c.CNI
	}
	d.line(4, "# masquerade: {agent: none} # %s %s", unknown, comment(said))
}

// vpns writes a VPN for each owner of destinations.
func (d *draft) vpns(cluster string) {
	taken := map[string]bool{}
	for _, r := range d.ranges {
		if r.Cluster != cluster || r.Role != cidrplan.VPN {
			continue
		}
		var to []cidrplan.Claim
		full := false
		for _, c := range r.Claims {
			if c.Idiom == cidrplan.DefaultRoute {
				full = true
			} else if c.Idiom == cidrplan.NoIdiom && c.Strength == cidrplan.Declared {
				to = append(to, c)
			}
		}
		if len(to) == 0 && !full {
			continue
		}
		if len(taken) == 0 {
			d.line(4, "vpn:")
		}
		kind, name := carrier(r.Owner)
		d.line(6, "- name: %s", scalar(unique(cmp.Or(name, "vpn"), taken)))
		if kind != "" {
			d.line(8, "tunnel: {kind: %s, name: %s}", scalar(kind), scalar(name))
		}
		if full {
			d.line(8, "fullTunnel: true # a default route leads into it")
		}
		if len(to) > 0 {
			d.line(8, "destinations:")
			d.items(10, to, func(c cidrplan.Claim) string { return c.Prefix.String() })
		} else {
			d.line(8, "# destinations: [] # %s nothing states any besides the default route", unknown)
		}
		d.line(8, "# sourceAddress: node # %s which address the far side shall see: node or pod, with a reason", unknown)
	}
	if len(taken) == 0 {
		d.line(4, "# vpn: [] # %s no VPN with routes of the cluster's own was found", unknown)
	}
}

func (d *draft) pools(cluster string) {
	taken := map[string]bool{}
	for _, r := range d.ranges {
		if r.Cluster != cluster || r.Role != cidrplan.Pool {
			continue
		}
		for _, c := range r.Claims {
			if c.Strength != cidrplan.Declared || c.Idiom != cidrplan.NoIdiom || ofMesh(c.Prefix) {
				continue
			}
			if len(taken) == 0 {
				d.line(4, "clientPools:")
			}
			_, name := carrier(r.Owner)
			d.line(6, "- name: %s", scalar(unique(cmp.Or(name, "clients"), taken)))
			d.line(8, "range: %s # %s", scalar(c.Prefix.String()), comment(d.at(c)))
			d.line(8, "# routed: false # %s true, if the cluster's network has a route back to it", unknown)
		}
	}
	if len(taken) == 0 {
		d.line(4, "# clientPools: [] # %s no VPN server with a pool was found", unknown)
	}
}

// carrier splits the name of an owner: "Deployment edge/wg".
func carrier(owner string) (kind, name string) {
	kind, rest, ok := strings.Cut(owner, " ")
	if !ok {
		return "", owner
	}
	return kind, rest[strings.LastIndexByte(rest, '/')+1:]
}

// unique returns the name, with a number where it is taken.
func unique(name string, taken map[string]bool) string {
	out := name
	for i := 2; taken[out]; i++ {
		out = name + "-" + strconv.Itoa(i)
	}
	taken[out] = true
	return out
}

// scalar writes a string as YAML takes it for one, inside a flow list too.
func scalar(s string) string {
	plain, err := yaml.Marshal(s)
	text := strings.TrimSuffix(string(plain), "\n")
	if err != nil || strings.ContainsAny(text, "\n,[]{}#*") || strings.HasPrefix(text, "|") || strings.HasPrefix(text, ">") {
		return strconv.QuoteToASCII(s)
	}
	return text
}

// comment keeps a text of the user's in its line.
func comment(s string) string { return report.Plain(s) }
