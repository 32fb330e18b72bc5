// Package suggest guesses what a misspelt word means.
package suggest

import "strings"

// Nearest returns the word that a misspelt one most likely means, "" when none
// is near. Case, dashes and underscores do not count.
func Nearest(wrong string, words []string) string {
	const longest = 64 // what is longer is no misspelling, and costs its square
	if len(wrong) > longest {
		return ""
	}
	best, distance := "", len(wrong)
	for _, w := range words {
		if n := edits(plain(wrong), plain(w)); n < distance {
			best, distance = w, n
		}
	}
	if best != "" && distance <= max(1, len(best)/3) {
		return best
	}
	const beginning = 3
	for _, w := range words { // warn, dest
		if short := plain(wrong); len(short) >= beginning && strings.HasPrefix(plain(w), short) {
			return w
		}
	}
	return ""
}

// Distance counts the insertions, deletions, replacements and swaps of neighbours
// that turn one word into another, as they are written.
func Distance(a, b string) int { return edits(a, b) }

func plain(s string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(s))
}

// edits counts the insertions, deletions, replacements and swaps of neighbours
// that turn a into b.
func edits(a, b string) int {
	var before []int // row i-2
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
