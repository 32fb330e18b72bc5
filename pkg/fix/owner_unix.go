//go:build unix

package fix

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// names is the number of names that a file has, hard links among them.
func names(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink) //nolint:unconvert // it is narrower on other systems
	}
	return 1
}

// keepOwner gives a file to the owner and group of another one. The error is for
// owners that the process may not give files to.
func keepOwner(f *os.File, of fs.FileInfo) error {
	info, err := f.Stat()
	if err != nil {
		return plain(err)
	}
	now, ok := info.Sys().(*syscall.Stat_t)
	was, okWas := of.Sys().(*syscall.Stat_t)
	if !ok || !okWas || now.Uid == was.Uid && now.Gid == was.Gid {
		return nil
	}
	uid := int(was.Uid)
	if now.Uid == was.Uid {
		uid = -1 // who owns a file may give it to a group of their own
	}
	if err := f.Chown(uid, int(was.Gid)); err != nil {
		return fmt.Errorf("it belongs to user %d and group %d, which the new text could not be given to: %w; run vpnlint fix as its owner", was.Uid, was.Gid, plain(err))
	}
	return nil
}
