package settings

import (
	"strings"
	"unicode/utf8"
)

// Spellings are all spellings of keys that are replaced wherever they stand.
func Spellings(keys ...string) []string {
	var all []string
	for _, key := range keys {
		if len(key) >= MinRedacted && len(key) <= MaxKey && utf8.ValidString(key) && !strings.Contains(redacted, key) {
			all = append(all, spellings(key)...)
		}
	}
	return all
}
