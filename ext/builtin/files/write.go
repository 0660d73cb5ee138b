package files

import (
	"context"
	"encoding/json"
	"strings"

	"octavo/ext"
	"octavo/ext/policy"
)

const writeSchema = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "minLength": 1, "description": "File to create or replace: relative to the workspace, absolute, ~/ or file://. Missing directories are made."},
    "content": {"type": "string", "description": "The whole content. Write line endings as \\n; a file that has CRLF keeps it."},
    "expected_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "Refuse unless the file exists and has this hash (from read, edit or write)."}
  },
  "required": ["path", "content"],
  "additionalProperties": false
}`

type writeArgs struct {
	Path         string  `json:"path"`
	Content      *string `json:"content"`
	ExpectedHash string  `json:"expected_hash"`
}

func (a writeArgs) where() string { return a.Path }

func (t *tools) writeTool() ext.Tool {
	return ext.Tool{
		Name: "write",
		Description: "Create a file, or replace the whole of one that you have read in this session. To change a part of a file use edit. " +
			"Encoding, line endings and permissions of an existing file are kept.",
		Parameters: json.RawMessage(writeSchema),
		Intent:     intent[writeArgs](t, "write", policy.WorkspaceWrite, policy.HostWrite),
		Preview:    preview(t, "write", t.planWrite),
		Invoke:     invoke(t, t.write),
		Describe:   describe("write", func(a writeArgs) string { return t.named(a.Path) }),
	}
}

func (t *tools) write(c *ext.Call, a writeArgs) (ext.Output, error) {
	done, err := t.apply(c, a, t.planWrite(a))
	if err != nil {
		return ext.Output{}, err
	}
	if done.was == nil {
		// The model has just written every line of a new file: only the person is shown them.
		return t.result(done, "created", "created", false), nil
	}
	return t.result(done, "replaced", "replaced", true), nil
}

// planWrite makes the change of a write. An existing file is replaced only when the session has read it as it is now.
func (t *tools) planWrite(a writeArgs) plan {
	return func(ctx context.Context, p place) (*change, error) {
		if a.Content == nil {
			return nil, refuse(badArguments, "give the content; an empty one makes an empty file")
		}
		was, err := current(ctx, p)
		if err != nil {
			return nil, err
		}
		if was == nil {
			if a.ExpectedHash != "" {
				return nil, refuse(staleFile, "%s does not exist, so it has not the expected hash; leave expected_hash out to create it", p.shown)
			}
			return newChange(p, nil, []byte(*a.Content), utf8Plain)
		}
		data, e, err := likeBefore(p, was, *a.Content)
		if err != nil {
			return nil, err
		}
		c, err := newChange(p, was, data, e)
		if err != nil {
			return nil, err
		}
		if c.none() && a.ExpectedHash == "" {
			return c, nil // nothing can be lost
		}
		if err := t.guard(ctx, p, was, a.ExpectedHash, false); err != nil {
			return nil, err
		}
		return c, nil
	}
}

// likeBefore writes content down the way the file was: in its encoding, and with CRLF when it had nothing else and content
// does not say otherwise. What replaces a file that is no text, or damaged, is UTF-8.
func likeBefore(p place, was *content, content string) ([]byte, encoding, error) {
	body, e, err := editable(was.data)
	if err != nil {
		return []byte(content), utf8Plain, nil
	}
	ending, alone := endings(body)
	if alone && ending == crlf && !strings.Contains(content, crlf) {
		content = withEnding(content, crlf)
	}
	data, err := e.encode(content)
	if err != nil {
		return nil, e, refuse(invalidUTF8, "%s is %s, which is kept, and %v; use another character, or remove the file first to write it anew as UTF-8",
			p.shown, e, err)
	}
	return data, e, nil
}
