package facts

import (
	"encoding/base64"
	"path"
	"sort"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// bundle is the data of a ConfigMap or Secret.
type bundle struct {
	object *source.Object
	keys   []string
	where  map[string]node
	coded  map[string]bool // base64
}

// bundle resolves a ConfigMap or Secret that the pod names. It is nil, with the
// reason, when its content cannot be seen.
func (p *podView) bundle(kind, name string) (*bundle, reason) {
	title := kind + " " + qualified(p.object.Namespace, name)
	o, found := p.ix.find(kind, p.object.Namespace, name, p.object)
	switch found {
	case Absent:
		if maker := p.ix.maker(name, p.object); kind == "Secret" && maker != nil {
			return nil, because(title+" is made in the cluster by "+maker.Kind+" "+qualified(maker.Namespace, maker.Name),
				"lint it together with a Secret of that name, which needs no keys in it")
		}
		if kind == "Secret" {
			return nil, notInTree(title, lintWithSecret)
		}
		return nil, notInTree(title, lintWithConfigMap)
	case Unknown:
		return nil, because("several objects in the tree are called "+title, "lint them one by one")
	}
	b := &bundle{object: o, where: map[string]node{}, coded: map[string]bool{}}
	add := func(field string, coded bool) {
		data := root(o).get(field)
		for _, key := range data.keys() {
			b.where[key], b.coded[key] = data.get(key), coded
		}
	}
	if kind == "Secret" {
		add("data", true)
		add("stringData", false) // wins, as the API server merges it
	} else {
		add("binaryData", true)
		add("data", false)
	}
	for key := range b.where {
		b.keys = append(b.keys, key)
	}
	sort.Strings(b.keys)
	return b, reason{}
}

// maker returns the object of the tree that makes a Secret of this name in the
// cluster, nil for none.
func (ix *index) maker(name string, near *source.Object) *source.Object {
	for _, kind := range []string{"SealedSecret", "ExternalSecret", "OnePasswordItem", "VaultStaticSecret", "BitwardenSecret"} {
		for _, o := range ix.byKind[kind] {
			if o.Name != name && root(o).get("spec", "target", "name").text() != name {
				continue
			}
			if normalNamespace(o.Namespace) == normalNamespace(near.Namespace) {
				return o
			}
		}
	}
	return nil
}

func (b *bundle) title() string {
	return b.object.Kind + " " + qualified(b.object.Namespace, b.object.Name)
}

func (b *bundle) has(key string) bool {
	_, has := b.where[key]
	return has
}

// value returns a key's content; for encoded data the decoded bytes, which is
// what offsets in the reference count.
func (b *bundle) value(key string) value {
	n := b.where[key]
	text, is := n.str()
	ref := b.object.Ref().Child(source.PointerTokens(n.ptr)...)
	if !is {
		if !n.exists() {
			return value{State: Present, Ref: ref}
		}
		return value{State: Unknown, Ref: ref, Why: because(b.title()+" key "+key+" is no string", quoteIt)}
	}
	if strings.HasPrefix(strings.TrimSpace(text), "ENC[") {
		return value{State: Unknown, Ref: ref, Why: because(b.title()+" is encrypted", "lint a decrypted copy, which needs no keys in it")}
	}
	if !b.coded[key] {
		v := value{State: Present, Text: text, Ref: ref}
		if name := placeholder(text); name != "" && !strings.Contains(text, "\n") {
			v.State, v.Why = Unknown, filledIn(name)
		}
		return v
	}
	raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return value{State: Unknown, Ref: ref, Why: because(b.title()+" key "+key+" is not base64", "encode it, or write it under stringData")}
	}
	return value{State: Present, Text: string(raw), Ref: ref}
}

func qualified(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// mount is a volume mount of a container with the files that it shows.
type mount struct {
	path  string // where it is mounted, clean
	ref   source.Ref
	files []mountedFile
	// opaque says why (further) files below path cannot be seen.
	opaque reason
	// volume and sub name what is mounted, to find the same files in another
	// container.
	volume, sub string
}

// mountedFile is a file that a container sees.
type mountedFile struct {
	Path  string
	Text  string
	State Known
	// Ref is the string: Ref.Within works on it. For an unknown file the mount.
	Ref source.Ref
	Why reason
}

// files returns the files that match any of the globs ("*" within a name, "**"
// across directories), by path. A place that may hold such a file but cannot be
// seen gives one entry with State Unknown.
func (c *containerView) files(globs ...string) []mountedFile {
	c.readMounts()
	var out []mountedFile
	seen := map[string]bool{}
	add := func(f mountedFile) {
		if !seen[f.Path] {
			seen[f.Path] = true
			out = append(out, f)
		}
	}
	for _, glob := range globs {
		for i, m := range c.mountList {
			for _, f := range m.files {
				if source.MatchGlob(glob, f.Path) && c.mountOf(f.Path) == i {
					add(f)
				}
			}
			if !m.opaque.holds() || !reachesBelow(glob, m.path) {
				continue
			}
			at := m.path
			if !strings.ContainsAny(glob, "*?[") {
				if at = glob; c.mountOf(glob) != i || hasFile(m.files, glob) {
					continue
				}
			}
			add(mountedFile{Path: at, State: Unknown, Ref: m.ref, Why: m.opaque})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	return out
}

// file returns the file at an absolute path. State Absent: no volume covers
// the path, so that the image itself decides.
func (c *containerView) file(name string) mountedFile {
	c.readMounts()
	name = path.Clean(name)
	i := c.mountOf(name)
	if i < 0 {
		return mountedFile{Path: name, State: Absent}
	}
	m := c.mountList[i]
	for _, f := range m.files {
		if f.Path == name {
			return f
		}
	}
	if m.opaque.holds() {
		return mountedFile{Path: name, State: Unknown, Ref: m.ref, Why: m.opaque}
	}
	return mountedFile{Path: name, State: Absent, Ref: m.ref}
}

func hasFile(files []mountedFile, name string) bool {
	for _, f := range files {
		if f.Path == name {
			return true
		}
	}
	return false
}

// mountOf returns the index of the mount that shows a path: the deepest one,
// the last of equals; -1 for none.
func (c *containerView) mountOf(name string) int {
	best := -1
	for i, m := range c.mountList {
		if (name == m.path || strings.HasPrefix(name, strings.TrimSuffix(m.path, "/")+"/")) &&
			(best < 0 || len(m.path) >= len(c.mountList[best].path)) {
			best = i
		}
	}
	return best
}

func (c *containerView) readMounts() {
	if c.mountsRead {
		return
	}
	c.mountsRead = true
	if c.spec.unseen() {
		c.mountList = append(c.mountList, mount{path: "/", ref: c.spec.ref(), opaque: unseen()})
	}
	volumes := map[string]node{}
	for _, v := range c.pod.spec.get("volumes").items() {
		volumes[v.get("name").text()] = v
	}
	for _, vm := range c.spec.get("volumeMounts").items() {
		at := vm.get("mountPath").text()
		if at == "" {
			continue
		}
		name := vm.get("name").text()
		m := mount{path: path.Clean("/" + at), ref: vm.ref(), volume: name, sub: vm.get("subPath").text()}
		volume, has := volumes[name]
		switch {
		case vm.get("subPathExpr").exists():
			m.opaque = because("the path inside volume "+name+" is known only at run time", noAdvice)
		case !has && c.pod.claims[name]:
			m.opaque = notInTree("volume claim "+name, lintFileInstead)
		case !has:
			m.opaque = because("volume "+name+" is not declared in the pod", noAdvice)
		default:
			c.showVolume(&m, volume)
		}
		c.mountList = append(c.mountList, m)
	}
}

// entry is a file of a volume, at a path relative to the volume's root.
type entry struct {
	name string
	value
}

func (c *containerView) showVolume(m *mount, volume node) {
	entries, opaque := c.pod.volumeEntries(volume)
	m.opaque = opaque
	sub := strings.Trim(path.Clean("/"+m.sub), "/")
	for _, e := range entries {
		var at string
		switch {
		case sub == "":
			at = path.Join(m.path, e.name)
		case e.name == sub:
			at, m.opaque = m.path, reason{}
		case strings.HasPrefix(e.name, sub+"/"):
			at = path.Join(m.path, strings.TrimPrefix(e.name, sub+"/"))
		default:
			continue
		}
		m.files = append(m.files, mountedFile{Path: at, Text: e.Text, State: e.State, Ref: e.Ref, Why: e.Why})
	}
}

// volumeEntries lists what a volume holds, and why that may not be all.
func (p *podView) volumeEntries(volume node) (entries []entry, opaque reason) {
	if cm := volume.get("configMap"); cm.exists() {
		return p.projectBundle("ConfigMap", cm.get("name").text(), cm.get("items"))
	}
	if secret := volume.get("secret"); secret.exists() {
		return p.projectBundle("Secret", secret.get("secretName").text(), secret.get("items"))
	}
	if api := volume.get("downwardAPI"); api.exists() {
		return p.projectDownward(api.get("items")), reason{}
	}
	if projected := volume.get("projected"); projected.exists() {
		var reasons []reason
		for _, s := range projected.get("sources").items() {
			var more []entry
			var why reason
			switch {
			case s.get("configMap").exists():
				more, why = p.projectBundle("ConfigMap", s.get("configMap", "name").text(), s.get("configMap", "items"))
			case s.get("secret").exists():
				more, why = p.projectBundle("Secret", s.get("secret", "name").text(), s.get("secret", "items"))
			case s.get("downwardAPI").exists():
				more = p.projectDownward(s.get("downwardAPI", "items"))
			case s.get("serviceAccountToken").exists(), s.get("clusterTrustBundle").exists(), s.get("podCertificate").exists():
				// Tokens and certificates: nothing that configures a tunnel.
			default:
				why = because("a source of projected volume "+volume.get("name").text()+" is not known to vpnlint", noAdvice)
			}
			entries = append(entries, more...)
			if why.holds() {
				reasons = append(reasons, why)
			}
		}
		return entries, allOf(reasons)
	}
	name := volume.get("name").text()
	for _, kind := range []struct {
		field string
		why   reason
	}{
		{"emptyDir", because("volume "+name+" starts empty and is filled at run time", lintFileInstead)},
		{"persistentVolumeClaim", notInTree("the content of volume claim "+volume.get("persistentVolumeClaim", "claimName").text(), lintFileInstead)},
		{"hostPath", notInTree("the node's "+volume.get("hostPath", "path").text(), lintFileInstead)},
	} {
		if volume.get(kind.field).exists() {
			return nil, kind.why
		}
	}
	return nil, notInTree("the content of volume "+name, lintFileInstead)
}

func (p *podView) projectBundle(kind, name string, items node) (entries []entry, opaque reason) {
	data, why := p.bundle(kind, name)
	if data == nil {
		// With a list of items the paths are known even so.
		for _, item := range items.items() {
			if at := item.get("path").text(); at != "" {
				entries = append(entries, entry{clean(at), value{State: Unknown, Ref: item.ref(), Why: why}})
			}
		}
		if len(entries) > 0 {
			return entries, reason{}
		}
		return nil, why
	}
	if !items.exists() {
		for _, key := range data.keys {
			entries = append(entries, entry{key, data.value(key)})
		}
		return entries, reason{}
	}
	for _, item := range items.items() {
		key, at := item.get("key").text(), item.get("path").text()
		if data.has(key) && at != "" {
			entries = append(entries, entry{clean(at), data.value(key)})
		}
	}
	return entries, reason{}
}

func (p *podView) projectDownward(items node) []entry {
	var entries []entry
	for _, item := range items.items() {
		if at := item.get("path").text(); at != "" {
			entries = append(entries, entry{clean(at), value{State: Unknown, Ref: item.ref(), Why: because("pod fields are known only at run time", noAdvice)}})
		}
	}
	return entries
}

func clean(name string) string { return strings.TrimPrefix(path.Clean("/"+name), "/") }

// reachesBelow reports whether some path at or below dir matches the glob.
func reachesBelow(glob, dir string) bool {
	g, d := source.GlobSegments(glob), source.GlobSegments(dir)
	for len(d) > 0 {
		if len(g) == 0 {
			return false
		}
		if g[0] == "**" {
			return true
		}
		if ok, err := path.Match(g[0], d[0]); err != nil || !ok {
			return false
		}
		g, d = g[1:], d[1:]
	}
	return true
}
