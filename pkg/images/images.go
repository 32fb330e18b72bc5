// Package images knows the VPN images of the field: which family an image
// reference belongs to, which version its tag tells, and what the image does by
// default. The knowledge is data (images.yaml), not code.
package images

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

//go:embed images.yaml
var data []byte

// asJSON is data in the form that every run decodes, for to parse the YAML costs
// a small run a tenth of its start. It is generated and counts only for the very
// text that it was made of.
//
//go:embed images.json
var asJSON []byte

// Known is a three-valued answer. Its values are spelled as the facts spell
// theirs.
type Known string

// The answers.
const (
	Yes     Known = "present"
	No      Known = "absent"
	Unknown Known = "unknown"
)

// Default is what an image does with nothing set.
type Default string

// The defaults. Conditional is explained in Family.When.
const (
	DefaultYes         Default = "true"
	DefaultNo          Default = "false"
	DefaultConditional Default = "conditional"
	DefaultUnknown     Default = "unknown"
)

// UnmarshalJSON reads true, false, "conditional" and "unknown"; anything else is an
// error.
func (d *Default) UnmarshalJSON(b []byte) error {
	switch v := Default(strings.Trim(string(b), `"`)); v {
	case DefaultYes, DefaultNo, DefaultConditional, DefaultUnknown:
		*d = v
		return nil
	}
	return fmt.Errorf("default %s is none of true, false, conditional, unknown", b)
}

// Known turns a default into an answer: conditional is unknown until its
// condition is looked at. The zero Default is unknown.
func (d Default) Known() Known {
	switch d {
	case DefaultYes:
		return Yes
	case DefaultNo:
		return No
	default:
		return Unknown
	}
}

// Role is what a container of an image is for.
type Role string

// The roles of images.
const (
	Server         Role = "server"
	Client         Role = "client"
	Either         Role = "either" // its configuration decides: Family.RoleRule
	Mesh           Role = "mesh"
	Gateway        Role = "gateway"
	Proxy          Role = "proxy" // an application proxy: no routes, no NAT
	UI             Role = "ui"
	Operator       Role = "operator"
	NodeMasquerade Role = "node-masquerade" // ip-masq-agent: not a VPN
)

// Confidence grades how well a statement about an image is known.
type Confidence string

// The grades. For a family: high = its entrypoint was read, medium =
// documentation or parts, low = hearsay. For a match: high = the repository
// itself, medium = a mirror of it, low = its name or a hint.
const (
	High   Confidence = "high"
	Medium Confidence = "medium"
	Low    Confidence = "low"
)

// Form is how a value has to be read when it is no plain prefix or list.
type Form string

// The forms.
const (
	// Plain: the value is what it says.
	Plain Form = ""
	// Netmask: a dotted mask that belongs to the key before it.
	Netmask Form = "netmask"
	// Network24: a network address of which the last octet is dropped, /24.
	Network24 Form = "network/24"
	// X24: an address with an x for the last octet, /24 (10.8.0.x).
	X24 Form = "x/24"
	// Octets24: the first three octets only, /24 (172.16.0).
	Octets24 Form = "octets/24"
	// Interface: the name of the interface that the image's masquerade rule is bound
	// to.
	Interface Form = "interface"
)

// InMain is how a list of ranges that an image keeps out of its tunnel depends
// on the main table of routes.
type InMain string

// How it does.
const (
	// OwnTable: not at all; a rule of its own comes before the tunnel's.
	OwnTable InMain = ""
	// MainRoute: each range is a route of the main table, where the longest
	// prefix wins over it.
	MainRoute InMain = "route"
	// MainRule: a rule for each range looks into the main table.
	MainRule InMain = "rule"
)

// Key is one environment variable, setting, value or flag.
type Key struct {
	Key string `json:"key"`
	// KeyPrefix stands for the name itself and all names that begin with it and
	// an underscore, or with it alone when it ends in one (ROUTE, ROUTE_2).
	KeyPrefix string `json:"keyPrefix"`
	// Fixed is a port that is always listened on, "500/udp"; Key is then empty.
	Fixed   string   `json:"fixed"`
	Aliases []string `json:"aliases"`
	// Sep holds the characters that separate a list; "" is a single value.
	Sep         string `json:"sep"`
	Default     string `json:"-"`
	DefaultNote string `json:"defaultNote"`
	// ChartDefault and RootlessDefault are what the usual chart and a -rootless
	// tag set instead of Default.
	ChartDefault    string   `json:"chartDefault"`
	RootlessDefault string   `json:"rootlessDefault"`
	Form            Form     `json:"form"`
	Values          []string `json:"values"`
	OffValues       []string `json:"offValues"`
	OnValues        []string `json:"onValues"`
	// OnWhenPresent: set at all, even to "", means on.
	OnWhenPresent bool `json:"onWhenPresent"`
	// InMain: how a list of ranges is kept out of the tunnel.
	InMain InMain `json:"inMain"`
	// SepFrom is the variable that names another separator than Sep.
	SepFrom string `json:"sepFrom"`
	// OnlyWhen: "server" for a key that counts on a server only.
	OnlyWhen string `json:"onlyWhen"`
	// Since and Until bound the versions that read the key, both included.
	Since Version `json:"since"`
	Until Version `json:"until"`
	// Rejects are values that the image refuses, ConflictsWith addresses that
	// the list must not hold.
	Rejects       []string `json:"rejects"`
	ConflictsWith []string `json:"conflictsWith"`
	// CanonicalRequired: prefixes with host bits are refused.
	CanonicalRequired bool `json:"canonicalRequired"`
	// LengthRequired: an address without a length is refused.
	LengthRequired bool `json:"lengthRequired"`
	Deprecated     bool `json:"deprecated"`
	// Flag is the command line's spelling.
	Flag string `json:"flag"`
	// Parse says in words what to look for in a value that is itself a command
	// line.
	Parse string `json:"parse"`
	Note  string `json:"note"`
}

// UnmarshalJSON also takes booleans for the default, as charts have them.
func (k *Key) UnmarshalJSON(b []byte) error {
	type plain Key
	v := struct {
		*plain
		Default any `json:"default"`
	}{plain: (*plain)(k)}
	if err := strict(b, &v); err != nil {
		return err
	}
	switch d := v.Default.(type) {
	case nil:
	case string:
		k.Default = d
	case bool:
		k.Default = fmt.Sprint(d)
	default:
		return fmt.Errorf("key %s: default is neither text nor boolean", k.Key)
	}
	return nil
}

// Is reports whether name is the key, one of its aliases, or one of its series.
func (k Key) Is(name string) bool {
	if name == "" {
		return false
	}
	if name == k.Key {
		return true
	}
	for _, a := range k.Aliases {
		if name == a {
			return true
		}
	}
	if p := k.KeyPrefix; p != "" {
		if strings.HasSuffix(p, "_") {
			return strings.HasPrefix(name, p)
		}
		return name == p || strings.HasPrefix(name, p+"_")
	}
	return false
}

// Read reports whether an image of this version reads the key.
func (k Key) Read(v Version) Known {
	if k.Since.Known {
		if a := v.AtLeast(k.Since.Major, k.Since.Minor); a != Yes {
			return a
		}
	}
	if k.Until.Known {
		switch v.AtLeast(k.Until.Major, k.Until.Minor+1) {
		case Yes:
			return No
		case Unknown:
			return Unknown
		}
	}
	return Yes
}

// On reports whether a value turns the switch on. set is false for a variable
// that is not there: the default then counts.
func (k Key) On(value string, set bool) Known {
	if k.OnWhenPresent {
		if set && !contains(k.OffValues, value) {
			return Yes
		}
		return No
	}
	if !set {
		if k.Default == "" {
			if len(k.OnValues) > 0 {
				return No
			}
			return Unknown
		}
		value = k.Default
	}
	switch {
	case len(k.OnValues) > 0:
		if contains(k.OnValues, value) {
			return Yes
		}
		return No
	case len(k.OffValues) > 0:
		if contains(k.OffValues, value) {
			return No
		}
		return Yes
	}
	return Unknown
}

func contains(list []string, value string) bool {
	for _, v := range list {
		if strings.EqualFold(v, value) {
			return true
		}
	}
	return false
}

// Keys are the keys of one source, grouped by what they decide.
type Keys struct {
	PodRoutes    []Key    `json:"podRoutes"`    // what the pod itself sends into the tunnel
	ClientRoutes []Key    `json:"clientRoutes"` // what remote clients send; never the pod's traffic
	LocalExempt  []Key    `json:"localExempt"`  // kept out of the tunnel
	Advertised   []Key    `json:"advertised"`   // announced to a mesh
	ClientPool   []Key    `json:"clientPool"`
	DNS          []Key    `json:"dns"`
	KillSwitch   []Key    `json:"killSwitch"`
	Ports        []Key    `json:"ports"`
	NAT          []Key    `json:"nat"`
	Mode         []Key    `json:"mode"`
	ForwardsTo   []Key    `json:"forwardsTo"` // a single destination behind the tunnel
	Policy       []Key    `json:"policy"`
	Other        []Key    `json:"other"`
	Required     []string `json:"required"`
	Ignored      []string `json:"ignored"` // names with * that this version does not read
}

// Find returns the first key of a name, or of the pattern or alias that it fits;
// false for a name that the image is not known to read.
func (k Keys) Find(name string) (Key, bool) {
	for _, group := range k.groups() {
		for _, key := range group {
			if key.Is(name) {
				return key, true
			}
		}
	}
	return Key{}, false
}

func (k Keys) groups() [][]Key {
	return [][]Key{k.PodRoutes, k.ClientRoutes, k.LocalExempt, k.Advertised, k.ClientPool, k.DNS, k.KillSwitch, k.Ports,
		k.NAT, k.Mode, k.ForwardsTo, k.Policy, k.Other}
}

// Sysctl is a kernel setting that an image needs in its pod.
type Sysctl struct {
	Key, Value string
	// When says in words when it is needed, "" for always.
	When string
}

var sysctlText = regexp.MustCompile(`^([a-z0-9_.]+)=(\S+?)(?: \((.+)\))?$`)

// UnmarshalJSON reads "KEY=VALUE (when)", where "(when)" may be missing.
func (s *Sysctl) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return fmt.Errorf("sysctl: %w", err)
	}
	m := sysctlText.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("sysctl %q is not KEY=VALUE (when)", text)
	}
	*s = Sysctl{Key: m[1], Value: m[2], When: m[3]}
	return nil
}

// Needs is what an image must be given.
type Needs struct {
	Capabilities         []string `json:"capabilities"`
	OptionalCapabilities []string `json:"optionalCapabilities"`
	Devices              []string `json:"devices"`
	Sysctls              []Sysctl `json:"sysctls"`
	// HostPaths are those of the node that its documentation asks for.
	HostPaths   []string `json:"hostPaths"`
	Privileged  bool     `json:"privileged"`
	HostNetwork bool     `json:"hostNetwork"`
	// FileCapabilities: its programs carry capabilities of their own, so that
	// they work for another user than 0 where escalation is allowed.
	FileCapabilities bool `json:"fileCapabilities"`
	// Userspace and Kernel replace the above for an image with two modes.
	Userspace *Needs `json:"userspace"`
	Kernel    *Needs `json:"kernel"`
	Note      string `json:"note"`
}

// Defaults is what an image does with nothing set.
type Defaults struct {
	EnablesForwarding    Default  `json:"enablesForwarding"`
	Masquerades          Default  `json:"masquerades"`
	HasKillSwitch        Default  `json:"hasKillSwitch"`
	RewritesDNS          Default  `json:"rewritesDNS"`
	CapturesDefaultRoute Default  `json:"capturesDefaultRoute"`
	KeepsReplies         Default  `json:"keepsReplies"`
	DefaultClientPool    []string `json:"defaultClientPool"`
	// MasqueradesOut is the interface that the image's own rule names, where no
	// variable does.
	MasqueradesOut string `json:"masqueradesOut"`
	// Opaque: the real configuration lives in a database or volume; nothing may
	// be inferred from what is absent.
	Opaque bool `json:"opaque"`
}

// FamilyHints are signals for images under another name.
type FamilyHints struct {
	ContainerNames []string `json:"containerNames"`
	Commands       []string `json:"commands"`
	EnvKeys        []string `json:"envKeys"`
}

// Family is a group of images with one behaviour.
type Family struct {
	ID            string      `json:"id"`
	Title         string      `json:"title"`
	Repos         []string    `json:"repos"`
	Registries    []string    `json:"registries"`
	Regex         string      `json:"regex"`
	TagRegex      string      `json:"tagRegex"`
	TagRegexRepos []string    `json:"tagRegexRepos"`
	Hints         FamilyHints `json:"hints"`
	Role          Role        `json:"role"`
	RoleRule      string      `json:"roleRule"`
	// Kinds are wireguard, openvpn, ipsec, mesh, proxy or other; the default
	// first.
	Kinds []string `json:"kinds"`
	Needs Needs    `json:"needs"`
	Env   Keys     `json:"env"`
	// Settings are those of SettingsFile, Values of the usual chart, Args of the
	// command line, CRDFields of custom resources.
	Settings           Keys                `json:"settings"`
	SettingsFile       string              `json:"settingsFile"`
	Values             Keys                `json:"values"`
	Args               Keys                `json:"args"`
	CRDFields          Keys                `json:"crdFields"`
	CRDs               []string            `json:"crds"`
	ConfigFiles        map[string][]string `json:"configFiles"` // globs by grammar: wg, openvpn, strongswan, nebula
	ConfigPlaceholders []string            `json:"configPlaceholders"`
	Defaults           Defaults            `json:"defaults"`
	// When explains the conditional defaults, by their name.
	When map[string]string `json:"when"`
	// Invalid are combinations that the image refuses, in words.
	Invalid    []string          `json:"invalid"`
	TagNotes   map[string]string `json:"tagNotes"`
	Notes      []string          `json:"notes"`
	Confidence Confidence        `json:"confidence"`

	regex, tagRegex *regexp.Regexp
}

// LookAlike is a group of images that look like a VPN's data plane and are
// none.
type LookAlike struct {
	Repos []string `json:"repos"`
	Regex string   `json:"regex"`
	Why   string   `json:"why"`

	regex *regexp.Regexp
}

// Catalog is the knowledge about images. It is immutable and safe for
// concurrent use.
type Catalog struct {
	families   []*Family
	lookAlikes []*LookAlike
}

// catalogFile is images.yaml.
type catalogFile struct {
	Schema     int          `json:"schema"`
	Compiled   string       `json:"compiled"`
	Families   []*Family    `json:"families"`
	LookAlikes []*LookAlike `json:"lookalikes"`
}

// generatedFile is images.json.
type generatedFile[T any] struct {
	Digest    string `json:"digest"` // of images.yaml
	Catalogue T      `json:"catalogue"`
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Load decodes the embedded catalogue. Callers keep the result.
func Load() (*Catalog, error) { return load(data, asJSON) }

// load decodes a catalogue, from its generated form where that is of this text.
func load(text, generated []byte) (*Catalog, error) {
	var file generatedFile[catalogFile]
	if err := strict(generated, &file); err != nil || file.Digest != digest(text) {
		return decode(text)
	}
	return compile(file.Catalogue)
}

// generate returns images.json for a catalogue.
func generate(text []byte) ([]byte, error) {
	b, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, fmt.Errorf("read image catalogue: %w", err)
	}
	out, err := json.MarshalIndent(generatedFile[json.RawMessage]{Digest: digest(text), Catalogue: b}, "", " ")
	if err != nil {
		return nil, fmt.Errorf("write image catalogue: %w", err)
	}
	return append(out, '\n'), nil
}

// decode reads a catalogue strictly: an unknown key is an error.
func decode(text []byte) (*Catalog, error) {
	b, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, fmt.Errorf("read image catalogue: %w", err)
	}
	var file catalogFile
	if err := strict(b, &file); err != nil {
		return nil, fmt.Errorf("decode image catalogue: %w", err)
	}
	return compile(file)
}

// compile checks a catalogue and compiles its expressions.
func compile(file catalogFile) (*Catalog, error) {
	if file.Schema != 1 {
		return nil, fmt.Errorf("decode image catalogue: schema %d is not 1", file.Schema)
	}
	var errs []error
	expression := func(owner, expr string) *regexp.Regexp {
		if expr == "" {
			return nil
		}
		re, err := regexp.Compile(expr)
		if err != nil {
			errs = append(errs, fmt.Errorf("image catalogue: %s: %w", owner, err))
		}
		return re
	}
	for _, f := range file.Families {
		f.regex, f.tagRegex = expression(f.ID, f.Regex), expression(f.ID, f.TagRegex)
	}
	for _, l := range file.LookAlikes {
		l.regex = expression(l.Why, l.Regex)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &Catalog{families: file.Families, lookAlikes: file.LookAlikes}, nil
}

func strict(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}

// Family returns the family of an id, nil if there is none.
func (c *Catalog) Family(id string) *Family {
	for _, f := range c.families {
		if f.ID == id {
			return f
		}
	}
	return nil
}
