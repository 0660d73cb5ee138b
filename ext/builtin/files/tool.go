package files

import (
	"encoding/json"
	"path/filepath"

	"octavo/ext"
	"octavo/ext/policy"
	"octavo/pages"
	"octavo/pages/text"
)

// arguments are what one tool is called with: each is about one path.
type arguments interface{ where() string }

// at resolves the path of a call that is about to run.
func (t *tools) at(path string) (place, error) {
	p, err := t.locate(path)
	if err != nil {
		return place{}, err
	}
	return p, t.admit(p)
}

// invoke makes a tool's Invoke of its own function: arguments are decoded, every error is one that the model is told, and
// whatever the function did about its bounds, no text is longer than the model is to see.
func invoke[A arguments](t *tools, run func(*ext.Call, A) (ext.Output, error)) func(*ext.Call, json.RawMessage) (ext.Output, error) {
	return func(c *ext.Call, raw json.RawMessage) (ext.Output, error) {
		var a A
		var out ext.Output
		err := decode(raw, &a)
		if err == nil {
			out, err = run(c, a)
		}
		if err != nil {
			told := refuseOS("finish the call", err).Error()
			return ext.Output{}, ext.Refused(text.CutBytes(told, t.MaxOutputBytes))
		}
		for i, p := range out.Parts {
			out.Parts[i].Text = text.CutBytes(p.Text, t.MaxOutputBytes)
		}
		return out, nil
	}
}

// intent makes a tool's Intent: a call is classified by where its path leads. A path that cannot be resolved leads nowhere
// known, and the call is refused.
func intent[A arguments](t *tools, verb string, inside, outside policy.Class) func(json.RawMessage) policy.Intent {
	return func(raw json.RawMessage) policy.Intent {
		var a A
		var p place
		err := decode(raw, &a)
		if err == nil {
			p, err = t.locate(a.where())
		}
		if err != nil {
			return policy.Intent{Class: policy.Unknown, Title: verb, Reason: err.Error()}
		}
		class := inside
		if !p.inside {
			class = outside
		}
		return policy.Intent{Class: class, Title: verb + " " + p.shown}
	}
}

// preview makes a tool's Preview: the change is planned, and not made. What is shown is what the call will do, or it will be
// refused.
func preview[A arguments](t *tools, verb string, planned func(A) plan) func(*ext.Call, json.RawMessage) (*pages.Display, error) {
	return func(c *ext.Call, raw json.RawMessage) (*pages.Display, error) {
		var a A
		if err := decode(raw, &a); err != nil {
			return nil, err
		}
		p, err := t.at(a.where())
		if err != nil {
			return nil, err
		}
		change, err := planned(a)(c, p)
		if err != nil {
			return nil, err
		}
		return t.previewed(c, a, verb, change)
	}
}

// describe makes a tool's Describe: the verb, then what object makes of the arguments.
func describe[A arguments](verb string, object func(A) string) func(json.RawMessage) string {
	return func(raw json.RawMessage) string {
		var a A
		if decode(raw, &a) != nil {
			return verb
		}
		return verb + " " + object(a)
	}
}

// named is a path as it was written, relative to the workspace where its text shows that it lies inside. It looks at no file.
func (t *tools) named(path string) string {
	abs, err := t.absolute(path)
	if err != nil {
		return printable(path)
	}
	abs = filepath.Clean(abs)
	if rel, ok := below(t.root, abs); ok {
		return printable(rel)
	}
	return printable(abs)
}
