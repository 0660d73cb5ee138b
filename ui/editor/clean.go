package editor

import (
	"strings"

	"octavo/pages/text"
)

// clean is text.Clean for what is going to be edited: tabs stay tabs, and every \r is a newline, because terminals paste newlines
// as \r and an empty line has to stay one.
func clean(s string) string {
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	if strings.IndexByte(s, '\t') < 0 {
		return text.Clean(s)
	}
	// A character that the cleaner leaves alone stands in for the tabs meanwhile. A text that has all of those that come into
	// question gets spaces.
	for stand := firstPrivate; stand < firstPrivate+standIns; stand++ {
		if !strings.ContainsRune(s, stand) {
			return strings.ReplaceAll(text.Clean(strings.ReplaceAll(s, "\t", string(stand))), string(stand), "\t")
		}
	}
	return text.Clean(s)
}

const (
	firstPrivate = '\ue000' // Unicode gives it no meaning
	standIns     = 16
)
