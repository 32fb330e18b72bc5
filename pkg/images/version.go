package images

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
)

// Version is what a tag tells of an image's version.
type Version struct {
	Major, Minor, Patch int
	// Known is false for latest, a digest, a branch, or no tag: the numbers are
	// then zero.
	Known bool
	// HasMinor is false for a tag such as "v3", which moves from minor version
	// to minor version.
	HasMinor bool
	// Text is the tag itself.
	Text string
}

var versionTag = regexp.MustCompile(`^(?:v|version-)?(\d{1,6})(?:\.(\d{1,6}))?(?:\.(\d{1,8}))?(?:$|[-+._])`)

// dateTag: 2024-01-31 or 20240131 is a build date, not a version.
var dateTag = regexp.MustCompile(`^(19|20)\d{2}(-\d{2}-\d{2}|\d{4})`)

// ParseVersion reads a tag: "v3.40.0", "3.40", "1.0.20210914-ls22". A tag that tells
// no version gives one that is not Known.
func ParseVersion(tag string) Version {
	v := Version{Text: tag}
	m := versionTag.FindStringSubmatch(tag)
	if m == nil || dateTag.MatchString(tag) {
		return v
	}
	v.Known = true
	v.Major = atoi(m[1])
	v.Minor, v.HasMinor = atoi(m[2]), m[2] != ""
	v.Patch = atoi(m[3])
	return v
}

// atoi reads digits that the expression bounds in number; "" is 0.
func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// AtLeast reports whether the version is major.minor or later. A tag of the
// major version alone decides only if another major version is asked for.
func (v Version) AtLeast(major, minor int) Known {
	switch {
	case !v.Known:
		return Unknown
	case v.Major != major:
		return yesNo(v.Major > major)
	case !v.HasMinor && minor > 0:
		return Unknown
	}
	return yesNo(v.Minor >= minor)
}

func yesNo(b bool) Known {
	if b {
		return Yes
	}
	return No
}

// UnmarshalJSON reads the version of a since or until entry, "3.39".
func (v *Version) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return fmt.Errorf("version: %w", err)
	}
	*v = ParseVersion(text)
	if !v.Known || !v.HasMinor {
		return fmt.Errorf("version %q is not MAJOR.MINOR", text)
	}
	return nil
}
