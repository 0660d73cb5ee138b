package files

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// writable reports whether the file's own permission bits let us write it, which replacing it would not ask.
func writable(path string) bool { return unix.Access(path, unix.W_OK) == nil }

// keepOwner gives f the owner and group of the file that it is to replace, as far as the system allows: everything for root,
// a group of one's own for others.
func keepOwner(f *os.File, was fs.FileInfo) {
	st, ok := was.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	if f.Chown(int(st.Uid), int(st.Gid)) != nil {
		_ = f.Chown(-1, int(st.Gid))
	}
}

// hardLinks is how many names a file has.
func hardLinks(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}
