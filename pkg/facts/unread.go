package facts

import (
	"net/netip"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

const (
	masqName      = "ip-masq-agent" // of ConfigMap, DaemonSet and file (FG A1.1-A1.2)
	masqNamespace = "kube-system"
	// defaultResync is the upstream agent's (FG A1.4).
	defaultResync = time.Minute
)

// readResync notes an interval that is not the default, and the comment that
// says why: behind it, or on the lines above it.
func readResync(list *List, f mountedFile) {
	list.Resync = Setting{State: Absent, Value: "60s", Ref: list.Ref}
	conf := grammar.ParseIPMasq(f.Text)
	at := conf.ResyncInterval
	switch {
	case at.Unknown:
		list.Resync.State = Unknown
	case at.Set() && conf.Resync != defaultResync && len(conf.Refused()) == 0:
		list.Resync = Setting{State: Present, Value: at.Text, Ref: f.Ref.Within(at.Start, at.End)}
		list.ResyncReason = commentAt(f.Text, at.Start)
	}
}

// commentAt returns the YAML comment that belongs to the line of an offset: what
// stands behind it, else the comment lines directly above. Words for vpnlint
// itself are no reason.
func commentAt(text string, offset int) string {
	start := strings.LastIndexByte(text[:offset], '\n') + 1
	line, _, _ := strings.Cut(text[offset:], "\n")
	if _, comment, found := strings.Cut(line, " #"); found && isReason(comment) {
		return strings.TrimSpace(comment)
	}
	for start > 0 {
		above := strings.TrimSpace(text[strings.LastIndexByte(text[:start-1], '\n')+1 : start-1])
		comment, is := strings.CutPrefix(above, "#")
		if !is {
			break
		}
		if isReason(comment) {
			return strings.TrimSpace(comment)
		}
		start = strings.LastIndexByte(text[:start-1], '\n') + 1
	}
	return ""
}

func isReason(comment string) bool {
	comment = strings.TrimSpace(comment)
	return strings.ContainsFunc(comment, isLetter) && !strings.HasPrefix(comment, "vpnlint:")
}

func isLetter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7f
}

// autopilot: its nodes run no agent that can be configured (FG A2.7).
func autopilot(f *founded) bool {
	if f.Plan.Masquerade.Value == plannedAutopilot {
		return true
	}
	return f.gke != nil && root(f.gke).get("spec", "enableAutopilot").boolean() == Present
}

// unreadLists finds the ConfigMaps that are meant for an agent and that none
// reads: an agent is in view whose mounts do not show them where it looks, or no
// agent known would ever look at their keys.
func (r *agentReader) unreadLists() []UnreadList {
	var out []UnreadList
	for _, o := range r.ix.ofKind("", "ConfigMap") {
		if r.readBy[o.ID] {
			continue
		}
		key, listed := masqKey(o)
		if !listed {
			continue
		}
		f := r.cs.one(o)
		if r.cs.tied(o) {
			continue // which cluster's agents would read it is not known
		}
		u := UnreadList{Object: nameOf(o), Ref: key.ref()}
		if f != nil {
			u.Cluster = f.Name
		}
		if r.unread(&u, o, key, f) {
			out = append(out, u)
		}
	}
	slices.SortStableFunc(out, func(a, b UnreadList) int { return compareRefs(a.Ref, b.Ref) })
	return out
}

// masqKey returns the key of a ConfigMap whose text is an agent's
// configuration: it sets one of the agent's own fields.
func masqKey(o *source.Object) (node, bool) {
	data := root(o).get("data")
	for _, key := range data.keys() {
		text := data.get(key).text()
		if !strings.Contains(strings.ToLower(text), "nonmasqueradecidrs") {
			continue
		}
		if conf := grammar.ParseIPMasq(text); conf.List == grammar.ListExplicit {
			return data.get(key), true
		}
	}
	return node{}, false
}

func (r *agentReader) unread(u *UnreadList, o *source.Object, key node, f *founded) bool {
	near := r.nearest(o, f)
	name := path.Base(key.ptr)
	wellKnown := o.Name == masqName && normalNamespace(o.Namespace) == masqNamespace
	if len(near) == 0 {
		switch {
		case r.unplaced:
			return false
		case f != nil && autopilot(f) && wellKnown:
			u.Wrong, u.Why, u.Expected = "autopilot", "the nodes of an Autopilot cluster run no agent that reads it", root(f.gke).get("spec", "enableAutopilot").ref()
			return true
		case wellKnown && name != "config" && !strings.HasPrefix(name, "ip-masq"):
			u.Wrong, u.Why = "key", "no agent reads the key "+name+": ip-masq-agent reads config, Azure's reads ip-masq-agent"
			return true
		}
		return false
	}
	// An agent that reads another list, or several agents, leave it open whose
	// this one is.
	if len(near) > 1 || near[0].reads > 0 {
		return false
	}
	a := near[0]
	u.Agent, u.AgentNamespace, u.AgentContainer = a.pod.pod.Workload, a.pod.object.Namespace, a.container.c.Name
	return a.misses(u, o, name)
}

// nearest returns the agents of a cluster whose manifests are nearest to an
// object's: those of another overlay read other ConfigMaps.
func (r *agentReader) nearest(o *source.Object, f *founded) []runningAgent {
	var near []runningAgent
	best := -1
	for _, a := range r.running {
		rank := nearness(o.Unit, a.pod.object.Unit)
		if a.cluster != f || rank < best {
			continue
		}
		if rank > best {
			near, best = nil, rank
		}
		near = append(near, a)
	}
	return near
}

// misses says why the agent does not see the ConfigMap; false when it cannot be
// told.
func (a runningAgent) misses(u *UnreadList, o *source.Object, key string) bool {
	spec := a.pod.spec
	ours := normalNamespace(o.Namespace) == normalNamespace(a.pod.object.Namespace)
	mountedAt := map[string]node{}
	for _, m := range a.container.spec.get("volumeMounts").items() {
		mountedAt[m.get("name").text()] = m
	}
	var others []node // names of ConfigMaps that the agent does mount where it reads
	for _, v := range spec.get("volumes").items() {
		mount, mounted := mountedAt[v.get("name").text()]
		for _, cm := range configMapsOf(v) {
			name := cm.get("name")
			if placeholder(name.text()) != "" {
				return false
			}
			reads := mounted && readsBelow(mount)
			switch {
			case name.text() == o.Name && !ours:
				u.Wrong, u.Ref, u.Expected = "namespace", root(o).get("metadata", "namespace").ref(), name.ref()
				u.Why = u.Agent + " mounts the ConfigMap of this name in its own namespace " + normalNamespace(a.pod.object.Namespace)
				return true
			case name.text() == o.Name && !mounted:
				u.Wrong, u.Ref, u.Expected = "mount", a.container.c.Ref, v.ref()
				u.Why = "container " + a.container.c.Name + " does not mount the volume " + v.get("name").text() + " that holds it"
				return true
			case name.text() == o.Name && !reads:
				u.Wrong, u.Ref, u.Expected = "path", mount.get("mountPath").ref(), source.Ref{}
				u.Why = u.Agent + " mounts it at " + mount.get("mountPath").text() + " and reads " + a.where()
				return true
			case name.text() == o.Name && a.kind == agentUpstream && a.container.hasDirectory(masqConfig):
				u.Wrong, u.Ref, u.Expected = "directory", mount.get("mountPath").ref(), source.Ref{}
				u.Why = u.Agent + " mounts it as a directory at " + masqConfig + ", where it reads a file"
				return true
			case name.text() == o.Name:
				if found, state := a.pod.ix.find("ConfigMap", o.Namespace, o.Name, a.pod.object); state != Present || found.ID != o.ID {
					return false // another one of this name may be the agent's
				}
				u.Wrong, u.Expected = "key", cm.ref()
				u.Why = u.Agent + " does not find the key " + key + " at " + a.where() + ", where it reads" + itemsOf(cm)
				return true
			case reads:
				others = append(others, name)
			}
		}
	}
	switch {
	case len(others) > 0 && ours:
		u.Wrong, u.Ref, u.Expected = "name", root(o).get("metadata", "name").ref(), others[0].ref()
		u.Why = u.Agent + " mounts the ConfigMap " + others[0].text()
		return true
	case len(others) == 0 && ours && a.kind != agentCilium && !slices.ContainsFunc(spec.get("volumes").items(), mayHoldFiles):
		u.Wrong, u.Ref = "mount", a.container.c.Ref
		u.Why = u.Agent + " mounts no ConfigMap at " + a.where()
		return true
	}
	return false
}

// where is the file, or the files, that the agent reads.
func (a runningAgent) where() string { return dialectOf(a.kind).files[0] }

// configMapsOf returns the ConfigMaps of a volume, projected ones too.
func configMapsOf(volume node) []node {
	var out []node
	if cm := volume.get("configMap"); cm.exists() {
		out = append(out, cm)
	}
	for _, s := range volume.get("projected", "sources").items() {
		if cm := s.get("configMap"); cm.exists() {
			out = append(out, cm)
		}
	}
	return out
}

// mayHoldFiles: a volume of another kind may bring the agent's file.
func mayHoldFiles(volume node) bool {
	switch {
	case volume.get("emptyDir").exists(), len(configMapsOf(volume)) > 0:
		return false
	case volume.get("hostPath").exists():
		return strings.HasPrefix(volume.get("hostPath", "path").text(), "/etc")
	}
	return true
}

// readsBelow: the mount lies on the way to the file that the agent reads.
func readsBelow(mount node) bool {
	at := path.Clean("/" + mount.get("mountPath").text())
	return at == masqConfig || strings.HasPrefix(masqConfig, strings.TrimSuffix(at, "/")+"/") || strings.HasPrefix(at, masqConfig+"/")
}

// itemsOf tells which keys a volume shows.
func itemsOf(cm node) string {
	var keys []string
	for _, item := range cm.get("items").items() {
		keys = append(keys, item.get("key").text()+" as "+item.get("path").text())
	}
	if len(keys) == 0 {
		return "; the volume shows every key under its own name"
	}
	return "; the volume shows " + strings.Join(keys, ", ")
}

// clusterResolver tells whether the pod's own settings lead to the cluster's
// resolver (FG D6.4). The field that decides is the policy, and hostNetwork
// where that makes ClusterFirst fall back to the node's resolver.
func clusterResolver(p *podView) Switch {
	policy := p.spec.get("dnsPolicy")
	out := Switch{State: Unknown, Ref: policy.ref()}
	if p.spec.get("hostNetwork").boolean() == Unknown {
		return out
	}
	servers := []string{}
	for _, n := range p.spec.get("dnsConfig", "nameservers").items() {
		text, is := n.str()
		if !is || placeholder(text) != "" {
			return out
		}
		if addr, err := netip.ParseAddr(text); err == nil && addr.IsLoopback() {
			return out // a resolver of the pod's own, which may know the cluster
		}
		servers = append(servers, text)
	}
	_, out.State = originalResolvers(p)
	name := policy.text()
	switch {
	case name == "None":
		out.State, p.pod.FirstResolver = resolversReach(servers, p.clusters)
		word := "name servers"
		if len(servers) == 1 {
			word = "name server"
		}
		out.Why = "dnsPolicy: None with the " + word + " " + clip(strings.Join(servers, ", "))
	case out.State == Absent:
		if len(servers) > 0 { // they come on top of the node's
			if reach := serversReach(servers, p.clusters); reach != Absent {
				out.State = reach
			}
		}
		out.Why = "dnsPolicy: " + name
		if name == "" || name == "ClusterFirst" {
			out.Why = "hostNetwork without dnsPolicy: ClusterFirstWithHostNet"
			if name == "" {
				out.Ref = p.spec.get("hostNetwork").ref()
			}
		}
	}
	return out
}
