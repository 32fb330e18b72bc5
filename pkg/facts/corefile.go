package facts

import (
	"net/netip"
	"path"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// knownHost is a name to which the cluster's resolver gives an address of its
// own configuration.
type knownHost struct {
	name string // lower case, without the final dot
	addr netip.Addr
	ref  source.Ref // the address
}

// readKnownHosts reads the hosts plugin of CoreDNS: its entries in the Corefile,
// and those of a file that stands in the same ConfigMap.
func readKnownHosts(o *source.Object) []knownHost {
	data := root(o).get("data")
	var out []knownHost
	for _, key := range data.keys() {
		if key != "Corefile" && !strings.HasSuffix(key, ".server") && !strings.HasSuffix(key, ".override") {
			continue
		}
		text, is := data.get(key).str()
		if !is {
			continue
		}
		inline, files := hostsBlocks(text)
		for _, block := range inline {
			out = append(out, hostLines(data.get(key), text, block[0], block[1])...)
		}
		for _, file := range files {
			if entries, is := data.get(path.Base(file)).str(); is {
				out = append(out, hostLines(data.get(path.Base(file)), entries, 0, len(entries))...)
			}
		}
	}
	return out
}

// hostsBlocks finds the blocks of the hosts plugin and the files that it names.
// A block has no blocks inside.
func hostsBlocks(text string) (blocks [][2]int, files []string) {
	start := -1
	for at := 0; at < len(text); {
		end := at + strings.IndexByte(text[at:]+"\n", '\n')
		line, _, _ := strings.Cut(text[at:end], "#")
		fields := strings.Fields(line)
		switch {
		case start >= 0 && len(fields) > 0 && fields[0] == "}":
			blocks = append(blocks, [2]int{start, at})
			start = -1
		case start < 0 && len(fields) > 0 && fields[0] == "hosts":
			if len(fields) > 1 && fields[1] != "{" {
				files = append(files, fields[1])
			}
			if fields[len(fields)-1] == "{" {
				start = min(end+1, len(text))
			}
		}
		at = end + 1
	}
	return blocks, files
}

// hostLines reads lines of the form of /etc/hosts between two offsets of a
// string; options of the plugin do not begin with an address.
func hostLines(n node, text string, from, to int) []knownHost {
	var out []knownHost
	for at := from; at < to; {
		end := at + strings.IndexByte(text[at:to]+"\n", '\n')
		line, _, _ := strings.Cut(text[at:end], "#")
		fields := strings.Fields(line)
		if len(fields) > 1 {
			if addr, err := netip.ParseAddr(fields[0]); err == nil {
				lead := at + strings.Index(line, fields[0])
				for _, name := range fields[1:] {
					out = append(out, knownHost{hostKey(name), addr.Unmap().WithZone(""), n.part(lead, lead+len(fields[0]))})
				}
			}
		}
		at = end + 1
	}
	return out
}

func hostKey(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// isCoreDNSConfig recognises the ConfigMaps that CoreDNS reads.
func isCoreDNSConfig(o *source.Object) bool {
	return strings.HasPrefix(o.Name, "coredns") || root(o).get("data", "Corefile").exists()
}
