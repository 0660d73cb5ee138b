package textdiff

import "bytes"

// blockBytes is how much is compared at a time before looking for the very byte that differs.
const blockBytes = 4096

// commonPrefix is the length of what both texts begin with.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i+blockBytes <= n && bytes.Equal(a[i:i+blockBytes], b[i:i+blockBytes]) {
		i += blockBytes
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// commonSuffix is the length of what both texts end with.
func commonSuffix(a, b []byte) int {
	n := min(len(a), len(b))
	a, b = a[len(a)-n:], b[len(b)-n:]
	i := n
	for i >= blockBytes && bytes.Equal(a[i-blockBytes:i], b[i-blockBytes:i]) {
		i -= blockBytes
	}
	for i > 0 && a[i-1] == b[i-1] {
		i--
	}
	return n - i
}

// countLines counts lines; what follows the last \n is one as well.
func countLines(s []byte) int {
	n := bytes.Count(s, []byte{'\n'})
	if len(s) > 0 && s[len(s)-1] != '\n' {
		n++
	}
	return n
}

// splitLines splits off the first limit lines, each with its \n, of which the last of the text may have none.
func splitLines(s []byte, limit int) [][]byte {
	var lines [][]byte
	for len(s) > 0 && len(lines) < limit {
		end := bytes.IndexByte(s, '\n') + 1
		if end == 0 {
			end = len(s)
		}
		lines = append(lines, s[:end])
		s = s[end:]
	}
	return lines
}
