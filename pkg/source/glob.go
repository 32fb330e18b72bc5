package source

import (
	"path"
	"strings"
)

// MatchGlob reports whether a slash path matches a glob, in which ** stands for
// any number of directories and everything else is path.Match's. Leading
// slashes count on neither side; a malformed glob matches nothing.
func MatchGlob(glob, name string) bool {
	g, n := GlobSegments(glob), GlobSegments(name)
	// The last ** met, and how much of the name it has taken: to go back to
	// earlier ones could find nothing more.
	star, taken := -1, 0
	i, j := 0, 0
	for j < len(n) {
		if i < len(g) && g[i] == "**" {
			star, taken = i, j
			i++
			continue
		}
		if i < len(g) {
			if ok, err := path.Match(g[i], n[j]); err == nil && ok {
				i++
				j++
				continue
			}
		}
		if star < 0 {
			return false
		}
		taken++
		i, j = star+1, taken
	}
	for i < len(g) && g[i] == "**" {
		i++
	}
	return i == len(g)
}

// GlobSegments returns the parts between the slashes of a path or glob.
func GlobSegments(p string) []string {
	p = strings.Trim(path.Clean("/"+p), "/")
	if p == "" {
		return nil
	}
	return strings.Split(p, "/")
}

// GlobRoot returns the longest path, without a leading slash, in which lies all
// that a glob can match: the segments before the first wildcard, "" for all
// paths. Of a glob without a wildcard that is the glob itself.
func GlobRoot(glob string) string {
	segments := GlobSegments(glob)
	for i, s := range segments {
		if strings.ContainsAny(s, `*?[\`) {
			segments = segments[:i]
			break
		}
	}
	return strings.Join(segments, "/")
}
