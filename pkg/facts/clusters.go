package facts

import (
	"cmp"
	"net/netip"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// clusterSet is all clusters of a run, and who belongs to which.
//
// A declaration (kubeadm's configuration, a ContainerCluster, ...) founds a
// cluster in its directory. Declarations of different kinds in one directory
// whose names do not contradict each other are one cluster. Any other object
// belongs to the cluster with the longest common directory; when several are
// equally near it is not known to which.
type clusterSet struct {
	clusters []*Cluster // sorted by name

	ix      *index
	founded []*founded
	parts   map[source.ObjectID]*founded // what founded it or was named as part of it
	byUnit  map[string][]*founded        // the nearest, by directory
	told    map[string]bool              // ties that a gap has told
}

// founded is a cluster while it is being read.
type founded struct {
	*Cluster
	ix *index
	// claims are the ranges, with what a RangeAt cannot say.
	claims []cidrplan.Claim
	// pools, kubelets and runtimes: which of them make their pods forward.
	pools, kubelets []poolClaim
	runtimes        []poolClaim
	cnis            []cniClaim
	spoofs          []spoofingClaim
	ciliumChecks    []Switch
	gke             *source.Object // the ContainerCluster
	subnet          *source.Object // the subnetwork of its nodes
	// podsOfNodes: pods take addresses of the nodes' network.
	podsOfNodes bool
	// nativeRouting are destinations that Cilium never masquerades (FG A5.4).
	nativeRouting []netip.Prefix
	// k3s are the places that leave flannel to k3s itself.
	k3s []k3sFlannel
}

// poolClaim is a node pool or a kubelet configuration: does it make pods
// forward?
type poolClaim struct {
	on   bool
	ref  source.Ref
	says string
	// object declares the pool, nil where that is no object of its own.
	object *source.Object
}

// declaration is an object that declares a cluster or a part of one.
type declaration struct {
	obj *source.Object
	// class tells the kinds apart: two of one class are two clusters.
	class string
	// many: several of the class describe one cluster, a machine each, unless
	// their names differ.
	many bool
	// name as written; fallback is the name that applies without.
	name, fallback string
	// parts are the objects that it names as parts of the same cluster.
	parts []objectKey
	read  func(*founded, *source.Object)

	parent *declaration
	group  *founded
}

// isAnother reports whether two declarations cannot be of one cluster, whatever
// their names: kind and k3d make whole clusters on the machine that they run on,
// often the one that manages what stands beside it. Their nodes run kubeadm and
// k3s, which may be configured by files of their own.
func (d *declaration) isAnother(other *declaration) bool {
	if d.class == other.class {
		return false
	}
	for engine, inner := range map[string]string{"kind": "kubeadm", "k3d": "k3s"} {
		if d.class == engine && other.class != inner || other.class == engine && d.class != inner {
			return true
		}
	}
	return false
}

func readClusters(ix *index, opts Options) *clusterSet {
	cs := &clusterSet{ix: ix, parts: map[source.ObjectID]*founded{}, byUnit: map[string][]*founded{}, told: map[string]bool{}}
	cs.readPlan(opts)
	var decls []*declaration
	for _, o := range ix.objects {
		if d := declare(o); d != nil {
			decls = append(decls, d)
		}
	}
	adopt(decls)
	cs.found(decls)
	cs.foundNameless()
	for _, d := range decls {
		d.read(d.group, d.obj)
	}
	for _, o := range ix.objects {
		readClusterPart(cs, o)
		readKubelets(cs, o)
	}
	cs.finish()
	ix.apart = cs.apart
	return cs
}

// adopt connects the parts of a cluster with the declaration that names them.
func adopt(decls []*declaration) {
	byKey := map[objectKey][]*declaration{}
	for _, d := range decls {
		k := keyOf(d.obj.Kind, d.obj.Namespace, d.obj.Name)
		byKey[k] = append(byKey[k], d)
	}
	for _, d := range decls {
		for _, part := range d.parts {
			for _, p := range byKey[part] {
				better := p.parent == nil || nearness(p.obj.Unit, d.obj.Unit) > nearness(p.obj.Unit, p.parent.obj.Unit)
				if p.class != d.class && len(p.parts) == 0 && better {
					p.parent = d
				}
			}
		}
	}
}

// found groups the declarations of each directory to clusters.
func (cs *clusterSet) found(decls []*declaration) {
	byUnit := map[string][]*declaration{}
	var units []string
	for _, d := range decls {
		if planned := cs.parts[d.obj.ID]; planned != nil {
			d.parent, d.group = nil, planned
			continue
		}
		if d.parent != nil {
			continue
		}
		unit := path.Clean(d.obj.Unit)
		if byUnit[unit] == nil {
			units = append(units, unit)
		}
		byUnit[unit] = append(byUnit[unit], d)
	}
	slices.Sort(units)
	for _, unit := range units {
		cs.foundIn(unit, byUnit[unit])
	}
	for _, d := range decls {
		if d.parent != nil {
			d.group = d.parent.group
		}
		cs.parts[d.obj.ID] = d.group
	}
}

func (cs *clusterSet) foundIn(unit string, decls []*declaration) {
	type group struct {
		*founded
		decls []*declaration
	}
	var groups []*group
	join := func(g *group, d *declaration) {
		if g == nil {
			g = &group{founded: cs.add(unit, root(d.obj).ref())}
			groups = append(groups, g)
		}
		g.decls = append(g.decls, d)
		d.group = g.founded
		g.Name = cmp.Or(g.Name, d.name)
	}
	for _, d := range decls {
		if d.name == "" {
			continue
		}
		at := slices.IndexFunc(groups, func(g *group) bool {
			return g.Name == d.name && !slices.ContainsFunc(g.decls, d.isAnother)
		})
		if at < 0 {
			join(nil, d)
			continue
		}
		join(groups[at], d)
	}
	named := len(groups)
	for _, d := range decls {
		if d.name != "" {
			continue
		}
		// Without a name it may be any cluster of the directory: it is the one
		// there is, unless that has a declaration of this class already.
		candidates := groups
		if named > 1 {
			candidates = groups[named:]
		}
		at := slices.IndexFunc(candidates, func(g *group) bool {
			return !slices.ContainsFunc(g.decls, func(other *declaration) bool {
				return d.isAnother(other) || other.class == d.class && !d.many && !reflect.DeepEqual(other.obj.Tree, d.obj.Tree)
			})
		})
		if at < 0 {
			join(nil, d)
			continue
		}
		join(candidates[at], d)
	}
	for _, g := range groups {
		g.Name = cmp.Or(g.Name, g.decls[0].fallback)
	}
}

func (cs *clusterSet) add(unit string, ref source.Ref) *founded {
	f := &founded{Cluster: &Cluster{
		Unit: unit, Ref: ref, Ranges: []RangeAt{}, Plan: noPlan(),
		ForwardingOff: Switch{State: Absent}, ForwardingOn: Switch{State: Absent},
		SourceCheck: Switch{State: Absent}, SpoofingAllowed: Switch{State: Unknown},
	}, ix: cs.ix}
	cs.founded = append(cs.founded, f)
	return f
}

// foundNameless founds clusters for the objects that configure a cluster's
// network but whose cluster nothing declares: one for all of them, unless they
// speak of the same thing twice and so of several clusters.
func (cs *clusterSet) foundNameless() {
	byClass := map[string]int{}
	byUnit := map[string][]*source.Object{}
	var units []string
	none := !cs.anyImplicit()
	for _, o := range cs.ix.objects {
		class := networkClass(o)
		if class == "" || len(cs.nearest(o)) == 1 {
			continue
		}
		if class == weakClass && !none {
			continue
		}
		if class != weakClass {
			byClass[class]++
		}
		unit := path.Clean(o.Unit)
		if byUnit[unit] == nil {
			units = append(units, unit)
		}
		byUnit[unit] = append(byUnit[unit], o)
	}
	clear(cs.byUnit)
	if len(units) == 0 {
		return
	}
	slices.Sort(units)
	several := false
	for _, n := range byClass {
		several = several || n > 1
	}
	if none && !several {
		unit := units[0]
		for _, u := range units[1:] {
			unit = strings.Join(commonDirs(unit, u), "/")
		}
		first := byUnit[units[0]][0]
		cs.add(path.Clean(unit), root(first).ref())
		return
	}
	for _, unit := range units {
		if slices.ContainsFunc(byUnit[unit], func(o *source.Object) bool { return networkClass(o) != weakClass }) {
			cs.add(unit, root(byUnit[unit][0]).ref())
		}
	}
}

// nearest returns the clusters that are nearest to an object.
func (cs *clusterSet) nearest(o *source.Object) []*founded {
	if f := cs.parts[o.ID]; f != nil {
		return []*founded{f}
	}
	unit := path.Clean(o.Unit)
	if near, known := cs.byUnit[unit]; known {
		return near
	}
	var best []*founded
	bestRank := -1
	for _, f := range cs.founded {
		if f.Planned {
			continue // the plan names all that belongs to it
		}
		// The cluster of an enclosing directory is nearer than that of one beside.
		rank := 2 * len(commonDirs(unit, f.Unit))
		if encloses(f.Unit, unit) {
			rank++
		}
		if rank > bestRank {
			best, bestRank = nil, rank
		}
		if rank == bestRank {
			best = append(best, f)
		}
	}
	cs.byUnit[unit] = best
	return best
}

func encloses(dir, unit string) bool {
	return dir == "." || unit == dir || strings.HasPrefix(unit, strings.TrimSuffix(dir, "/")+"/")
}

// one returns the cluster of an object, nil when none is known.
func (cs *clusterSet) one(o *source.Object) *founded {
	if o == nil {
		return nil
	}
	if near := cs.nearest(o); len(near) == 1 {
		return near[0]
	}
	return nil
}

// of returns the cluster that an object belongs to: none when no cluster is in
// view, and none when several are equally near.
func (cs *clusterSet) of(o *source.Object) []*Cluster {
	if f := cs.one(o); f != nil {
		return []*Cluster{f.Cluster}
	}
	return nil
}

// name returns the name of an object's cluster for plans; false when several
// clusters are equally near.
func (cs *clusterSet) name(o *source.Object) (string, bool) {
	if f := cs.one(o); f != nil {
		return f.Name, true
	}
	return "", !cs.tied(o)
}

// named is name as rules see it.
func (cs *clusterSet) named(o *source.Object) (string, Known) {
	name, known := cs.name(o)
	return name, knownIf(known)
}

// apart reports that two objects certainly belong to different clusters.
func (cs *clusterSet) apart(a, b *source.Object) bool {
	x, y := cs.one(a), cs.one(b)
	return x != nil && y != nil && x != y
}

// tell records, once a tie, that an object's cluster is not known.
func (cs *clusterSet) tell(o *source.Object) {
	near := cs.nearest(o)
	if len(near) < 2 {
		return
	}
	var names []string
	for _, f := range near {
		names = append(names, f.title())
	}
	slices.Sort(names)
	const most = 5
	if n := len(names); n > most {
		names = append(names[:most], "and "+strconv.Itoa(n-most)+" more")
	}
	all := strings.Join(names, ", ")
	if cs.told[all] {
		return
	}
	cs.told[all] = true
	cs.ix.gapAt(finding.Unresolved, o, root(o).ref(),
		"the cluster that "+nameOf(o).String()+" runs in",
		because("these clusters are equally near by directory: "+all+"", "move their declarations next to what runs in them, or lint one cluster at a time"),
		"rules that need pod, service, node or VPN ranges stay silent for everything in this place",
		"VPN201", "VPN202", "VPN203", "VPN302", "VPN401")
}

func (f *founded) title() string {
	if f.Name == "" {
		return "the cluster without a name in " + f.Unit
	}
	return f.Name
}

// finish settles names, defaults and order.
func (cs *clusterSet) finish() {
	cs.nameApart()
	for _, f := range cs.founded {
		f.settle()
	}
	slices.SortStableFunc(cs.founded, func(a, b *founded) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range cs.founded {
		cs.clusters = append(cs.clusters, f.Cluster)
	}
}

// nameApart makes names unique: a name is the plan's key, and clusters of one
// name in two directories are two clusters all the same.
func (cs *clusterSet) nameApart() {
	count := map[string]int{}
	for _, f := range cs.founded {
		count[f.Name]++
	}
	taken := map[string]bool{}
	for name, n := range count {
		if n == 1 {
			taken[name] = true
		}
	}
	for _, f := range cs.founded { // they come first, and keep their names
		if f.Planned {
			taken[f.Name] = true
		}
	}
	for _, f := range cs.founded {
		if f.Planned || count[f.Name] == 1 {
			continue
		}
		base := strings.TrimSpace(f.Name + " (" + f.Unit + ")")
		name := base
		for i := 2; taken[name]; i++ {
			name = base + " #" + strconv.Itoa(i)
		}
		f.Name, taken[name] = name, true
	}
}

// claim adds a range.
func (f *founded) claim(c cidrplan.Claim) {
	c.Prefix = c.Prefix.Masked()
	f.claims = append(f.claims, c)
}

// settle drops the defaults that a declaration replaces, and sorts.
func (f *founded) settle() {
	f.dropWideFilters()
	type family struct {
		role  cidrplan.Role
		owner string
		v4    bool
	}
	declared := map[family]bool{}
	for _, c := range f.claims {
		if (c.Strength == cidrplan.Planned || c.Strength == cidrplan.Declared) && c.Idiom == cidrplan.NoIdiom {
			declared[family{c.Role, c.Owner, c.Prefix.Addr().Is4()}] = true
			// A declaration in one family is a choice for the other, too.
			declared[family{c.Role, c.Owner, !c.Prefix.Addr().Is4()}] = true
		}
	}
	f.claims = slices.DeleteFunc(f.claims, func(c cidrplan.Claim) bool {
		return c.Strength == cidrplan.Default && declared[family{c.Role, c.Owner, c.Prefix.Addr().Is4()}]
	})
	f.settleCNI()
	f.settleSourceCheck()
	if f.CNI == "aws" || f.podsOfNodes {
		f.dropPodsOfVPC()
	}
	slices.SortStableFunc(f.claims, func(a, b cidrplan.Claim) int {
		return cmp.Or(
			strings.Compare(string(a.Role), string(b.Role)),
			strings.Compare(string(a.Strength), string(b.Strength)),
			a.Prefix.Addr().Compare(b.Prefix.Addr()),
			cmp.Compare(a.Prefix.Bits(), b.Prefix.Bits()),
			compareRefs(a.At, b.At))
	})
	for i, c := range f.claims {
		f.claims[i].Cluster = f.Name
		if c.Idiom == cidrplan.NoIdiom {
			f.Ranges = append(f.Ranges, RangeAt{Role: c.Role, Prefix: c.Prefix.String(), Ref: c.At, Says: c.Says, Strength: c.Strength})
		}
	}
	f.settlePools()
}

// dropPodsOfVPC: with the AWS VPC CNI, and Azure's, pods take addresses of the
// nodes' network (FG A4); a pod range inside of it says so once more and overlaps nothing.
func (f *founded) dropPodsOfVPC() {
	nodes := f.prefixes(cidrplan.Node)
	f.claims = slices.DeleteFunc(f.claims, func(c cidrplan.Claim) bool {
		return c.Role == cidrplan.Pod && cidrplan.Overlaps(nodes, []netip.Prefix{c.Prefix})
	})
}

func compareRefs(a, b source.Ref) int {
	return cmp.Or(
		strings.Compare(string(a.Object), string(b.Object)),
		strings.Compare(a.Pointer, b.Pointer),
		cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
}

// prefixes returns the ranges of a role; evidence is no range.
func (f *founded) prefixes(role cidrplan.Role) []netip.Prefix {
	var out []netip.Prefix
	for _, c := range f.claims {
		if c.Role == role && c.Strength != cidrplan.Evidence && c.Idiom == cidrplan.NoIdiom {
			out = append(out, c.Prefix)
		}
	}
	return out
}

// ranges returns the declarations of a role's range.
func (f *founded) ranges(role cidrplan.Role) []RangeAt {
	out := []RangeAt{}
	for _, r := range f.Ranges {
		if r.Role == role && r.Strength != cidrplan.Evidence {
			out = append(out, r)
		}
	}
	return out
}
