package loader

import (
	"fmt"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// applyOperations applies a JSON 6902 patch to a marked tree. The library's own
// way to do so forgets who wrote what.
func (m *marks) applyOperations(root *yaml.Node, p *kustPatch) error {
	ops, _ := p.tree.([]any)
	for i, o := range ops {
		op := asMap(o)
		pointer, _ := op["path"].(string)
		from, _ := op["from"].(string)
		at := "/" + strconv.Itoa(i)
		var err error
		switch verb, _ := op["op"].(string); verb {
		case "test":
		case "add":
			err = m.addNode(root, pointer, m.plant(op["value"], p.origin, at+"/value", false))
		case "replace":
			value := m.plant(op["value"], p.origin, at+"/value", false)
			if n := nodeAt(root, source.PointerTokens(pointer)); n != nil {
				*n = *value // in place, so that what it overwrites is remembered
			} else {
				err = m.addNode(root, pointer, value) // the library allows it
			}
		case "remove":
			_, err = removeNode(root, pointer)
		case "move":
			var n *yaml.Node
			if n, err = removeNode(root, from); err == nil {
				err = m.addNode(root, pointer, m.reached(n, p, at+"/from", "moved here by this patch"))
			}
		case "copy":
			n := nodeAt(root, source.PointerTokens(from))
			if n == nil {
				return fmt.Errorf("nothing at %s", from)
			}
			err = m.addNode(root, pointer, m.reached(kyaml.CopyYNode(n), p, at+"/from", "copied here by this patch"))
		default:
			err = fmt.Errorf("unknown operation %q", verb)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reached gives the scalars below n marks which say what brought them there.
func (m *marks) reached(n *yaml.Node, p *kustPatch, pointer, says string) *yaml.Node {
	note := m.add(writer{origin: p.origin, at: pointer})
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode && n.Line != 0 {
			text := m.list[n.Line].text
			n.Line = m.add(writer{text: text, pieces: []fragment{{0, len(text), n.Line, 0}}, note: note, remark: says})
			m.seen[n] = n.Line
		}
		for i, c := range n.Content {
			if n.Kind != yaml.MappingNode || i%2 == 1 {
				walk(c)
			}
		}
	}
	walk(n)
	return n
}

func (m *marks) addNode(root *yaml.Node, pointer string, n *yaml.Node) error {
	tokens := source.PointerTokens(pointer)
	if len(tokens) == 0 {
		*root = *n
		return nil
	}
	last := tokens[len(tokens)-1]
	holder := nodeAt(root, tokens[:len(tokens)-1])
	switch {
	case holder == nil || holder.Kind == yaml.ScalarNode:
		return fmt.Errorf("nothing holds %s", pointer)
	case holder.Kind == yaml.MappingNode:
		if old := entryNode(holder, last); old != nil {
			*old = *n
			return nil
		}
		holder.Content = append(holder.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: last}, n)
		return nil
	}
	i := len(holder.Content)
	if last != "-" {
		var err error
		if i, err = strconv.Atoi(last); err != nil || i < 0 || i > len(holder.Content) {
			return fmt.Errorf("no place %s", pointer)
		}
	}
	holder.Content = slices.Insert(holder.Content, i, n)
	return nil
}

func removeNode(root *yaml.Node, pointer string) (*yaml.Node, error) {
	tokens := source.PointerTokens(pointer)
	if len(tokens) > 0 {
		last := tokens[len(tokens)-1]
		holder := nodeAt(root, tokens[:len(tokens)-1])
		if n := entryNode(holder, last); n != nil {
			i, size := slices.Index(holder.Content, n), 1
			if holder.Kind == yaml.MappingNode {
				i, size = i-1, 2
			}
			holder.Content = slices.Delete(holder.Content, i, i+size)
			return n, nil
		}
	}
	return nil, fmt.Errorf("nothing at %s", pointer)
}
