package openai

import "octavo/ext/model"

// maxRepeated is how long arguments may be, in bytes, to be looked at again with each delta that repeats a name without an id.
const maxRepeated = 64 << 10

// call is a tool call that is still being written.
type call struct {
	*model.Piece
	index  *int // the wire's number of it; nil when the server gives none
	wireID string
	name   string
}

// calls are the calls of one answer, in order of appearance.
type calls []*call

// find returns the call that a delta continues; nil when it begins a new one.
//
// The wire numbers calls, and gives id and name in the first delta only. Servers that copy it leave the number out, number
// every call 0, repeat id and name in each delta, or make up a new id for each. What is told apart here: another id together
// with a name is another call; without ids, a name after complete arguments is one; without number, id and name it is more of
// the last.
func (cs calls) find(x *callDelta) *call {
	if len(cs) == 0 {
		return nil
	}
	c := cs[len(cs)-1]
	switch {
	case x.Index != nil:
		if c = cs.numbered(*x.Index); c == nil {
			return nil
		}
	case x.ID != "":
		for i := range cs {
			if cs[i].wireID == x.ID {
				return cs[i]
			}
		}
	}
	if c.another(x) {
		return nil
	}
	return c
}

// numbered is the newest call with the wire's number n, or nil. The newest one counts where a server gives several calls the
// same number.
func (cs calls) numbered(n int) *call {
	for i := len(cs) - 1; i >= 0; i-- {
		if cs[i].index != nil && *cs[i].index == n {
			return cs[i]
		}
	}
	return nil
}

// another reports whether x begins a call of its own rather than continuing c, to which its number or place points.
func (c *call) another(x *callDelta) bool {
	switch {
	case x.Function.Name == "" || c.name == "":
		return false
	case x.ID != "" && c.wireID != "":
		return x.ID != c.wireID
	case x.Index == nil && x.Function.Name != c.name:
		return true
	default:
		return x.Function.Arguments != "" && c.Len() > 0 && c.Len() <= maxRepeated && c.Whole()
	}
}
