package loader

import (
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// Each text has its limits, but there can be any number of texts. A budget holds
// down what one run has in memory at a time. Which of its charts and files come
// too late for it depends on their order alone, never on the workers. A nil
// budget holds down nothing.
type budget struct {
	limits Limits
	// parsing are the YAML values of the large texts that are being parsed.
	parsing *semaphore.Weighted
	kept    atomic.Int64 // values whose nodes are kept
	taken   atomic.Int64 // bytes of what has been loaded, see weigh
}

func newBudget(limits Limits) *budget {
	return &budget{limits: limits, parsing: semaphore.NewWeighted(int64(limits.Nodes))}
}

const (
	// largeText is from how many bytes on a text waits for others to be parsed: a
	// parser's nodes take some 200 bytes each.
	largeText = 50_000
	// keptNodes are the values of one run whose nodes are kept for their places.
	// The documents beyond are parsed again when somebody asks for a place in them.
	keptNodes = 100_000
)

// enter waits until a text may be parsed; leave ends that.
func (b *budget) enter(ctx context.Context, text string) (leave func(), err error) {
	if b == nil || len(text) < largeText {
		return func() {}, nil
	}
	n := int64(min(nodesOf(text), b.limits.Nodes))
	if err := b.parsing.Acquire(ctx, n); err != nil {
		return nil, err
	}
	return func() { b.parsing.Release(n) }, nil
}

// keeps reports whether the nodes of a document of so many values are to be kept.
func (b *budget) keeps(values int) bool {
	return b == nil || b.kept.Add(int64(values)) <= keptNodes
}

// take notes that a job's outcome is in memory, and reports whether there is
// room for it.
func (b *budget) take(bytes int64) bool { return b.taken.Add(bytes) <= b.limits.TotalBytes }

// refused is the gap of an input for which there is no room.
func (b *budget) refused(shown string) finding.Gap {
	return finding.Gap{
		Kind: finding.Unreadable, File: shown, Line: 1, What: "it was not checked",
		Why: fmt.Sprintf("the inputs before it take about as much memory as the limit of %d bytes allows; lint fewer paths at once, or raise --limit-total-bytes",
			b.limits.TotalBytes),
		Consequence: "whatever it declares is missing from this report",
	}
}

// weigh estimates the bytes of memory that an outcome takes: its objects, those of
// sets that are the same once, and the texts that their places point into.
func (o outcome) weigh() int64 {
	var n int64
	for _, f := range o.files {
		n += int64(len(f.Text()))
	}
	add := func(objects []*source.Object) {
		for _, o := range objects {
			n += weighValue(o.Tree)
		}
	}
	if o.sets == nil {
		add(o.objects)
	}
	for i, s := range o.sets {
		if s.same == i {
			add(s.objects)
		}
	}
	return n
}

// weighValue estimates the bytes of a decoded value, by what Go needs for it.
func weighValue(v any) int64 {
	const member, item, header = 48, 16, 48
	switch v := v.(type) {
	case map[string]any:
		n := int64(header)
		for k, x := range v {
			n += member + int64(len(k)) + weighValue(x)
		}
		return n
	case []any:
		n := int64(header)
		for _, x := range v {
			n += item + weighValue(x)
		}
		return n
	case string:
		return item + int64(len(v))
	}
	return 8
}
