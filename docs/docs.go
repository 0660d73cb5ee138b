// Package docs carries octavo's own documents, so that the program can show them anywhere. It knows nothing of the program.
package docs

import (
	"embed"
	"slices"
)

//go:embed *.md
var files embed.FS

// Topic is a document that octavo help shows.
type Topic struct {
	Name  string
	About string // one line
	file  string
}

var topics = []Topic{
	{"models", "providers, choosing a model, the catalogue, the demo", "models.md"},
	{"keys", "where API keys come from, and where they never are", "keys.md"},
	{"money", "what requests cost, limits, what spends without being asked", "money.md"},
	{"sessions", "going on, forking, exporting, deleting, repairing", "sessions.md"},
	{"policy", "which calls run, ask or are refused", "policy.md"},
	{"keyboard", "every key of the full screen, and keys.toml to change them", "keyboard.md"},
	{"themes", "built-in themes, writing your own, roles and glyphs", "themes.md"},
	{"configuration", "every key of config.toml", "configuration.md"},
	{"json", "the events of --mode json", "json.md"},
	{"rpc", "driving octavo from another program: --mode rpc", "rpc.md"},
	{"export", "the format of exported sessions", "export.md"},
}

// Topics lists them. The slice is the caller's.
func Topics() []Topic { return slices.Clone(topics) }

// Text is the document of a topic in Markdown; "" when there is none of the name.
func Text(topic string) string {
	for _, t := range topics {
		if t.Name == topic {
			b, err := files.ReadFile(t.file)
			if err != nil {
				panic("docs: " + err.Error()) // the table names a file that was not there at build time; a test reads them all
			}
			return string(b)
		}
	}
	return ""
}
