package files

import (
	"bytes"
	"net/http"
	"strings"
)

// magics are beginnings of files that net/http does not know, for saying what a binary file is.
var magics = []struct{ begin, kind string }{
	{"\x7fELF", "ELF program or library"},
	{"MZ", "Windows program or library"},
	{"\xcf\xfa\xed\xfe", "Mach-O program or library"},
	{"\xca\xfe\xba\xbe", "Java class or universal Mach-O"},
	{"\x00asm", "WebAssembly module"},
	{"SQLite format 3\x00", "SQLite database"},
	{"\x28\xb5\x2f\xfd", "Zstandard archive"},
	{"\xfd7zXZ\x00", "xz archive"},
	{"BZh", "bzip2 archive"},
	{"7z\xbc\xaf\x27\x1c", "7-Zip archive"},
	{"!<arch>\n", "archive of object files"},
	{"\xff\xfe\x00\x00", "UTF-32 text"},
}

// binaryKind says what a binary file seems to be, by its first bytes.
func binaryKind(data []byte) string {
	for _, m := range magics {
		if bytes.HasPrefix(data, []byte(m.begin)) {
			return m.kind
		}
	}
	kind, _, _ := strings.Cut(http.DetectContentType(data), ";")
	if kind == "application/octet-stream" || strings.HasPrefix(kind, "text/") {
		return "unknown kind"
	}
	return kind
}
