package fix

import (
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// moveWrite takes the writes that must fail out of their scripts and hooks and has
// an init container do them: one that stays behind ends a hook of wg-quick, or a
// script with set -e, and the tunnel with it.
func moveWrite(c *sight) []candidate {
	pod := c.Pod()
	if pod == nil {
		pod = c.podOfWrite()
	}
	if pod == nil {
		return c.none(whyNoPod)
	}
	var edits []finding.Edit
	for _, e := range slices.Concat(pod.Forwarding.IPv4.Evidence, pod.Forwarding.IPv6.Evidence) {
		if e.Effective != facts.Absent || e.Value != "1" || e.How != "script" && e.How != "hook" && e.How != "config-hook" {
			continue
		}
		edit, ok := c.withoutWrite(e)
		if !ok {
			return c.none("the write that fails cannot be taken out of its script: " + e.Says)
		}
		edits = append(edits, edit)
	}
	init, ok := c.initEdit(pod)
	if !ok || len(edits) == 0 {
		return nil
	}
	return []candidate{{Title: "write the sysctl in a privileged init container instead", Edits: append(edits, init)}}
}

// podOfWrite is the pod whose refused write stands where the finding points, in a
// configuration of its own.
func (c *sight) podOfWrite() *facts.Pod {
	for i := range c.Reading.Facts.Pods {
		p := &c.Reading.Facts.Pods[i]
		for _, e := range p.Forwarding.IPv4.Evidence {
			if e.Ref.Object == c.Finding.ObjectID && e.Effective == facts.Absent && c.Locate(e.Ref).Primary == c.Finding.Primary {
				return p
			}
		}
	}
	return nil
}

// withoutWrite is the edit that takes a write out of a text: a command with the
// separator behind it, or a hook's whole line.
func (c *sight) withoutWrite(e facts.ForwardEvidence) (finding.Edit, bool) {
	text, _ := descend(c.object(e.Ref.Object), e.Ref.Pointer).(string)
	at := strings.Index(text, e.Says)
	if e.Conditional || at < 0 || strings.Count(text, e.Says) != 1 {
		return finding.Edit{}, false
	}
	end := at + len(e.Says)
	begin := strings.LastIndexByte(text[:at], '\n') + 1
	rest, _, _ := strings.Cut(text[end:], "\n")
	lead := strings.TrimSpace(text[begin:at])
	hook := e.How == "config-hook" && strings.Contains(text, "[Interface]")
	switch after := strings.TrimLeft(rest, " "); {
	case hook && strings.TrimSpace(rest) == "" && strings.HasPrefix(strings.ToLower(strings.ReplaceAll(lead, " ", "")), "postup=") && strings.Count(lead, "=") == 1 && strings.HasSuffix(lead, "="):
		return c.withoutLine(e.Ref, begin, end)
	case !startsCommand(lead) && !(hook && strings.HasSuffix(lead, "=")):
		return finding.Edit{}, false
	case strings.HasPrefix(after, ";") && !strings.HasPrefix(after, ";;"), strings.HasPrefix(after, "&&"):
		end += len(rest) - len(after) + 1
		if after[0] == '&' {
			end++
		}
		end += len(text[end:]) - len(strings.TrimLeft(text[end:], " "))
		if strings.TrimSpace(text[end:]) == "" {
			return finding.Edit{}, false
		}
		f, s, ok := c.exact(source.Ref{Object: e.Ref.Object, Pointer: e.Ref.Pointer, Start: at, End: end}, text[at:end])
		if !ok {
			return finding.Edit{}, false
		}
		return replace(f, s.start, s.end, ""), true
	}
	return finding.Edit{}, false
}

// startsCommand: what follows is a command of its own.
func startsCommand(lead string) bool {
	return lead == "" || strings.HasSuffix(lead, ";") && !strings.HasSuffix(lead, ";;") || strings.HasSuffix(lead, "&&")
}

// withoutLine removes the line of a block scalar that is the bytes [begin, to) of
// its value.
func (c *sight) withoutLine(r source.Ref, begin, to int) (finding.Edit, bool) {
	text, _ := descend(c.object(r.Object), r.Pointer).(string)
	from := begin + len(text[begin:to]) - len(strings.TrimLeft(text[begin:to], " "))
	f, s, ok := c.exact(source.Ref{Object: r.Object, Pointer: r.Pointer, Start: from, End: to}, text[from:to])
	if !ok {
		return finding.Edit{}, false
	}
	start := lineStart(f.Text(), s.start)
	if start == 0 || strings.TrimSpace(f.Text()[start:s.start]) != "" || strings.TrimSpace(f.Text()[s.end:lineEnd(f.Text(), s.end)]) != "" {
		return finding.Edit{}, false
	}
	return replace(f, lineEnd(f.Text(), lineStart(f.Text(), start-1)), lineEnd(f.Text(), s.end), ""), true
}
