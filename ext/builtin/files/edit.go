package files

import (
	"context"
	"encoding/json"
	"fmt"

	"octavo/ext"
	"octavo/ext/policy"
	"octavo/pages/text"
)

const (
	// maxEdits is how many replacements one call may ask for.
	maxEdits = 100
	// maxOldBytes bounds the text that is looked for.
	maxOldBytes = 1 << 20
)

const editSchema = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "minLength": 1, "description": "File to edit: relative to the workspace, absolute, ~/ or file://."},
    "old": {"type": "string", "minLength": 1, "description": "Exact text to replace, white space included; it must be in the file exactly once. Write line endings as \\n whatever the file uses."},
    "new": {"type": "string", "description": "Text to put there."},
    "edits": {
      "type": "array",
      "minItems": 1,
      "maxItems": 100,
      "description": "Several replacements instead of old and new. Each old is looked for in the file as it is now; they must not overlap. All are applied or none.",
      "items": {
        "type": "object",
        "properties": {
          "old": {"type": "string", "minLength": 1, "description": "Exact text to replace; in the file exactly once."},
          "new": {"type": "string", "description": "Text to put there."}
        },
        "required": ["old", "new"],
        "additionalProperties": false
      }
    },
    "expected_hash": {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$", "description": "Refuse unless the file has this hash (from read, edit or write)."}
  },
  "required": ["path"],
  "additionalProperties": false
}`

type editArgs struct {
	Path         string  `json:"path"`
	Old          *string `json:"old"`
	New          *string `json:"new"`
	Edits        []pair  `json:"edits"`
	ExpectedHash string  `json:"expected_hash"`
}

type pair struct {
	Old *string `json:"old"`
	New *string `json:"new"`
}

func (a editArgs) where() string { return a.Path }

// replacements are the changes that a call asks for, in one form.
func (a editArgs) replacements() ([]replacement, error) {
	pairs := a.Edits
	one := a.Old != nil || a.New != nil
	if one {
		if len(a.Edits) > 0 {
			return nil, refuse(badArguments, "give either old and new or edits, not both")
		}
		pairs = []pair{{a.Old, a.New}}
	}
	if len(pairs) == 0 {
		return nil, refuse(badArguments, "give old and new, or edits")
	}
	if len(pairs) > maxEdits {
		return nil, refuse(badArguments, "%d edits are too many; at most %d are taken in one call", len(pairs), maxEdits)
	}
	var all []replacement
	for i, p := range pairs {
		label := ""
		if !one {
			label = fmt.Sprintf("edits[%d]: ", i)
		}
		if p.Old == nil || p.New == nil {
			return nil, refuse(badArguments, "%sgive both old and new", label)
		}
		if len(*p.Old) > maxOldBytes {
			return nil, refuse(tooLarge, "%sold has %s; at most %s can be looked for", label, text.Bytes(int64(len(*p.Old))), text.Bytes(maxOldBytes))
		}
		all = append(all, replacement{*p.Old, *p.New, label})
	}
	return all, nil
}

func (t *tools) editTool() ext.Tool {
	return ext.Tool{
		Name: "edit",
		Description: "Replace exact text in a file. old must be in the file exactly once. Several changes of one file go into one call as edits. " +
			"Encoding, line endings and permissions are kept. The result shows a diff and the new hash.",
		Parameters: json.RawMessage(editSchema),
		Intent:     intent[editArgs](t, "edit", policy.WorkspaceWrite, policy.HostWrite),
		Preview:    preview(t, "edit", t.planEdit),
		Invoke:     invoke(t, t.edit),
		Describe:   describe("edit", func(a editArgs) string { return t.named(a.Path) }),
	}
}

func (t *tools) edit(c *ext.Call, a editArgs) (ext.Output, error) {
	done, err := t.apply(c, a, t.planEdit(a))
	if err != nil {
		return ext.Output{}, err
	}
	head := "ok modified=1"
	if done.none() {
		head = "ok modified=0"
	}
	return t.result(done, head, "edited", true), nil
}

// planEdit makes the change of an edit. A file that the session never read may be edited: that old is in it exactly once is
// proof enough that the model knows what it changes.
func (t *tools) planEdit(a editArgs) plan {
	return func(ctx context.Context, p place) (*change, error) {
		replacements, err := a.replacements()
		if err != nil {
			return nil, err
		}
		f, err := load(ctx, p)
		if err != nil {
			return nil, err
		}
		if err := t.guard(ctx, p, f, a.ExpectedHash, true); err != nil {
			return nil, err
		}
		body, e, err := editable(f.data)
		if err != nil {
			return nil, refuse(invalidUTF8, "%s cannot be edited as text: %v. Use bash with a program that knows its format", p.shown, err)
		}
		edited, err := splice(body, replacements)
		if err != nil {
			return nil, err
		}
		data, err := e.encode(edited)
		if err != nil {
			return nil, refuse(invalidUTF8, "%s is %s, which is kept, and %v; use another character", p.shown, e, err)
		}
		return newChange(p, f, data, e)
	}
}
