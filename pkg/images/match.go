package images

import (
	"path"
	"strings"

	"github.com/distribution/reference"
)

// Hints are what else a container says about its image. They count only when
// the image's name says nothing, and only as strong signals: a wrong role is
// worse than none.
type Hints struct {
	ContainerName string
	// Command is the container's command, or its args where it has no command.
	Command []string
	// EnvKeys are names set on the container itself. Leave out what comes through
	// envFrom: a ConfigMap is often shared with the neighbours.
	EnvKeys []string
}

// Basis tells by what an image was recognised.
type Basis string

// The bases, the strongest first.
const (
	ByRepository Basis = "repository"
	ByMirror     Basis = "mirrored repository"
	ByName       Basis = "image name"
	ByCommand    Basis = "command"
	ByEnv        Basis = "environment"
	ByConfig     Basis = "configuration that is mounted"
	ByNothing    Basis = ""
)

// Match is what is known of one image. Family and LookAlike are never both set;
// both are nil for an image that is no VPN as far as its name goes.
type Match struct {
	Family     *Family
	LookAlike  *LookAlike
	Version    Version
	Confidence Confidence
	By         Basis
	// Repository is the path without registry, tag and digest, in lower case;
	// Tag and Digest are "" where the reference has none.
	Repository, Tag, Digest string
}

// Match recognises an image. A reference that does not parse (a template
// placeholder, upper case) is taken apart as well as it goes; it never fails.
func (c *Catalog) Match(image string, hints Hints) Match {
	m := split(image)
	m.Version = ParseVersion(m.Tag)
	best := m
	for _, l := range c.lookAlikes {
		if by, conf, _ := matchRepos(l.Repos, m.Repository); by != ByNothing {
			best.LookAlike, best.By, best.Confidence = l, by, conf
			return best
		}
	}
	if f, by, conf := c.byRepo(m); f != nil {
		best.Family, best.By, best.Confidence = f, by, conf
		return best
	}
	if m.Repository != "" {
		for _, l := range c.lookAlikes {
			if l.regex != nil && l.regex.MatchString(m.Repository) {
				best.LookAlike, best.By, best.Confidence = l, ByName, Low
				return best
			}
		}
		for _, f := range c.families {
			if f.regex != nil && f.regex.MatchString(m.Repository) {
				best.Family, best.By, best.Confidence = f, ByName, Low
				return best
			}
		}
	}
	if f, by := c.byHints(hints); f != nil {
		best.Family, best.By, best.Confidence = f, by, Low
		// The tag of a renamed image follows its new owner's numbers.
		best.Version = Version{Text: m.Tag}
	}
	return best
}

// byRepo picks among the families that list the repository: the longest tail,
// then the one whose tag expression matches, then one without an expression,
// then (no family claims the tag) the last one in the catalogue, with little
// confidence.
func (c *Catalog) byRepo(m Match) (*Family, Basis, Confidence) {
	var best, fallback *Family
	var bestBy, fallbackBy Basis
	var bestConf Confidence
	bestLength, bestTagged := 0, false
	for _, f := range c.families {
		by, conf, entry := matchRepos(f.Repos, m.Repository)
		if by == ByNothing {
			continue
		}
		applies, tagged := f.tagApplies(entry, m)
		if !applies {
			fallback, fallbackBy = f, by
			continue
		}
		if best == nil || len(entry) > bestLength || len(entry) == bestLength && tagged && !bestTagged {
			best, bestBy, bestConf, bestLength, bestTagged = f, by, conf, len(entry), tagged
		}
	}
	if best == nil && fallback != nil {
		return fallback, fallbackBy, Low
	}
	return best, bestBy, bestConf
}

// tagApplies tests the tag expression of a family for one of its repositories.
// An untagged reference means latest; a digest alone says nothing.
func (f *Family) tagApplies(entry string, m Match) (applies, tagged bool) {
	if f.tagRegex == nil {
		return true, false
	}
	if len(f.TagRegexRepos) > 0 {
		tested := false
		for _, r := range f.TagRegexRepos {
			tested = tested || r == entry
		}
		if !tested {
			return true, false
		}
	}
	tag := m.Tag
	if tag == "" {
		if m.Digest != "" {
			return false, false
		}
		tag = "latest"
	}
	return f.tagRegex.MatchString(tag), true
}

// matchRepos compares a repository with a list of them and returns the longest
// entry that it equals or ends in.
func matchRepos(repos []string, repository string) (by Basis, conf Confidence, entry string) {
	for _, r := range repos {
		if r == repository {
			return ByRepository, High, r
		}
		// A single component ("ip-masq-agent") is too little to recognise the
		// tail of a mirror's path by.
		if strings.Contains(r, "/") && strings.HasSuffix(repository, "/"+r) && len(r) > len(entry) {
			by, conf, entry = ByMirror, Medium, r
		}
	}
	return by, conf, entry
}

// byHints looks for the family's own entrypoint, for two of its own variables,
// or for one of them in a container of its name.
func (c *Catalog) byHints(h Hints) (*Family, Basis) {
	for _, f := range c.families {
		for _, want := range f.Hints.Commands {
			if len(h.Command) > 0 && runs(h.Command, want) {
				return f, ByCommand
			}
		}
	}
	keys := map[string]bool{}
	for _, k := range h.EnvKeys {
		keys[k] = true
	}
	var found *Family
	most := 1
	for _, f := range c.families {
		n := 0
		for _, k := range f.Hints.EnvKeys {
			if keys[k] {
				n++
			}
		}
		if n == 1 && contains(f.Hints.ContainerNames, h.ContainerName) {
			n++
		}
		if n > most {
			found, most = f, n
		}
	}
	if found == nil {
		return nil, ByNothing
	}
	return found, ByEnv
}

// runs reports whether a command starts the program: as its first word, or
// after an init or a shell's exec.
func runs(command []string, program string) bool {
	for i, w := range command {
		if w == program || !strings.Contains(program, "/") && path.Base(w) == program {
			// gluetun's own entrypoint is also its health check client.
			return i+1 >= len(command) || command[i+1] != "healthcheck"
		}
		switch path.Base(w) {
		case "tini", "dumb-init", "--", "-g", "-s", "exec":
		default:
			return false
		}
	}
	return false
}

// maxReference is longer than any reference that a registry takes: a name of 255
// bytes, a tag of 128 and a digest. The library needs seconds for a text of
// megabytes before it refuses it.
const maxReference = 1 << 10

// split takes a reference apart.
func split(image string) Match {
	image = strings.TrimSpace(image)
	if len(image) > maxReference {
		return splitLoosely(image)
	}
	if named, err := reference.ParseNormalizedNamed(image); err == nil {
		m := Match{Repository: familiar(reference.Path(named))}
		if t, ok := named.(reference.Tagged); ok {
			m.Tag = t.Tag()
		}
		if d, ok := named.(reference.Digested); ok {
			m.Digest = d.Digest().String()
		}
		return m
	}
	return splitLoosely(image)
}

// splitLoosely takes apart what is no reference, such as one with a placeholder.
func splitLoosely(image string) Match {
	var m Match
	rest := image
	if name, digest, ok := strings.Cut(rest, "@"); ok {
		rest, m.Digest = name, digest
	}
	// A colon before the last slash belongs to the registry's port.
	if i := strings.LastIndexByte(rest, ':'); i >= 0 && !strings.Contains(rest[i:], "/") {
		rest, m.Tag = rest[:i], rest[i+1:]
	}
	first, tail, ok := strings.Cut(rest, "/")
	if ok && (strings.ContainsAny(first, ".:{$") || first == "localhost") {
		rest = tail
	}
	m.Repository = familiar(strings.ToLower(strings.Trim(rest, "/")))
	if strings.ContainsAny(m.Tag, "{$") {
		m.Tag = ""
		m.Digest = "unknown"
	}
	return m
}

// familiar drops the name space of Docker Hub's official images.
func familiar(repository string) string { return strings.TrimPrefix(repository, "library/") }
