//go:build !race

package loader

import (
	"math"
	"syscall"
)

// limitMemory bounds the memory that this process can write to. Go's runtime
// ends the process when it gets no more.
func limitMemory(limit int64) error {
	if limit <= 0 || limit == math.MaxInt64 {
		return nil
	}
	n := uint64(limit)
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: n, Max: n})
}
