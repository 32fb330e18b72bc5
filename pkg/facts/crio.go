package facts

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// This file reads CRI-O's default_sysctls, which reach every pod of the nodes
// that have the file (FG D1.5). They stand in the files that OpenShift's
// MachineConfig and Cluster API's kubeadm configurations write to machines.

// crioDir is where CRI-O looks for its configuration.
const crioDir = "/etc/crio/"

// isMachineFiles recognises objects that write CRI-O's configuration to machines.
func isMachineFiles(o *source.Object) bool {
	for _, f := range machineFiles(o) {
		if strings.HasPrefix(f.get("path").text(), crioDir) {
			return true
		}
	}
	return false
}

func machineFiles(o *source.Object) []node {
	spec := root(o).get("spec")
	switch groupOf(o) + " " + o.Kind {
	case "machineconfiguration.openshift.io MachineConfig":
		return spec.get("config", "storage", "files").items()
	case "bootstrap.cluster.x-k8s.io KubeadmConfigTemplate":
		return spec.get("template", "spec", "files").items()
	case "bootstrap.cluster.x-k8s.io KubeadmConfig":
		return spec.get("files").items()
	default:
		return nil
	}
}

// crio notes whether the machines of a configuration make their pods forward.
func (f *founded) crio(o *source.Object) {
	for _, file := range machineFiles(o) {
		if !strings.HasPrefix(file.get("path").text(), crioDir) {
			continue
		}
		text, at, known := machineFile(file)
		if !known {
			continue
		}
		var conf struct {
			Crio struct {
				Runtime struct {
					DefaultSysctls []string `toml:"default_sysctls"`
				} `toml:"runtime"`
			} `toml:"crio"`
		}
		if _, err := toml.Decode(text, &conf); err != nil {
			f.crioGap(o, file, text, at, err)
			continue
		}
		for _, line := range conf.Crio.Runtime.DefaultSysctls {
			name, value, _ := strings.Cut(line, "=")
			if on, says := forwards(strings.TrimSpace(name), strings.TrimSpace(value)); on {
				f.runtimes = append(f.runtimes, poolClaim{on: true, ref: at.ref(), says: says})
			}
		}
	}
}

// crioGap says where a file is no TOML, which CRI-O then does not start with.
func (f *founded) crioGap(o *source.Object, file node, text string, at node, err error) {
	var wrong toml.ParseError
	if placeholder(text) != "" || !errors.As(err, &wrong) {
		return
	}
	ref := at.ref()
	if written, is := at.str(); is && written == text {
		start := min(wrong.Position.Start, max(len(text)-1, 0))
		ref = at.part(start, min(start+max(wrong.Position.Len, 1), len(text)))
	}
	f.ix.gapAt(finding.Unresolved, o, ref, "what "+file.get("path").text()+" sets in the pods", because("it is no TOML: "+wrong.Message+"", "correct it"),
		"it may turn forwarding on: VPN101 does not count it", "VPN101")
}

// machineFile is the content of a file: a data URL of Ignition, or the text of a
// kubeadm configuration.
func machineFile(file node) (text string, at node, known bool) {
	if at = file.get("contents", "source"); at.exists() {
		kind, data, found := strings.Cut(strings.TrimPrefix(at.text(), "data:"), ",")
		if !found || !strings.HasPrefix(at.text(), "data:") || file.get("contents", "compression").text() != "" {
			return "", at, false
		}
		if strings.HasSuffix(kind, ";base64") {
			raw, err := base64.StdEncoding.DecodeString(data)
			return string(raw), at, err == nil
		}
		plain, err := url.PathUnescape(data)
		return plain, at, err == nil
	}
	at = file.get("content")
	text, known = at.str()
	if file.get("encoding").text() == "base64" {
		raw, err := base64.StdEncoding.DecodeString(text)
		return string(raw), at, err == nil
	}
	return text, at, known && file.get("encoding").text() == ""
}
