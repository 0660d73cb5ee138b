//go:build !unix

package files

import (
	"io/fs"
	"os"
)

func writable(path string) bool {
	info, err := os.Stat(path)
	return err != nil || info.Mode().Perm()&0o200 != 0
}

func keepOwner(*os.File, fs.FileInfo) {}

func hardLinks(fs.FileInfo) uint64 { return 1 }
