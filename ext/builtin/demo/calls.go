package demo

import (
	"bytes"
	"encoding/json"
	"strings"
)

// call is one that a scene makes. The arguments are named as ext/builtin/files and ext/builtin/shell name them, and written in the
// order in which they are best read while they stream.
type call struct{ tool, arguments string }

func read(path string, limit int) call {
	return newCall("read", struct {
		Path  string `json:"path"`
		Limit int    `json:"limit"`
	}{path, limit})
}

func search(query, glob, mode string, most int) call {
	return newCall("search", struct {
		Query      string `json:"query"`
		Glob       string `json:"glob,omitempty"`
		Mode       string `json:"mode"`
		MaxResults int    `json:"max_results"`
	}{query, glob, mode, most})
}

func write(path, content string) call {
	return newCall("write", written{path, content})
}

// written are the arguments of write, which scratch.go reads again.
type written struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func edit(path, old, new, hash string) call {
	return newCall("edit", edited{path, old, new, hash})
}

// edited are the arguments of edit, which scratch.go reads again.
type edited struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
	Hash string `json:"expected_hash"`
}

func bash(command string) call {
	return newCall("bash", ran{command})
}

// ran are the arguments of bash, which scratch.go reads again.
type ran struct {
	Command string `json:"command"`
}

// newCall writes arguments without the escapes that JSON in a web page would need.
func newCall(tool string, arguments any) call {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(arguments) // strings and numbers: there is nothing that JSON cannot write
	return call{tool, strings.TrimSpace(b.String())}
}
