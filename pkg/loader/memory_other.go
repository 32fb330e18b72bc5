//go:build !linux || race

package loader

// limitMemory does nothing: only Linux bounds what a process allocates in a way
// that Go's runtime respects, and the race detector needs more than any limit.
// A child process still protects its parent.
func limitMemory(int64) error { return nil }
