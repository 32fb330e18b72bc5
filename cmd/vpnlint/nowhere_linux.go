package main

import (
	"os"
	"syscall"
)

// isNowhere reports whether a standard stream was closed when the program started.
// A shell opens the null device for writing only.
func isNowhere(f *os.File) bool {
	null, err := os.Stat(os.DevNull)
	if err != nil {
		return false
	}
	if at, err := f.Stat(); err != nil || !os.SameFile(at, null) {
		return false
	}
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_GETFL, 0)
	return errno == 0 && flags&syscall.O_ACCMODE == syscall.O_RDWR
}
