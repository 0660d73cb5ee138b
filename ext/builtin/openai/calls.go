package openai

import (
	"encoding/json"
	"strings"
)

// maxRepeated is how long arguments may be, in bytes, to be looked at again with each delta that repeats a name without an id.
const maxRepeated = 64 << 10

// call is a tool call that is still being written.
type call struct {
	index     *int // the wire's number of it; nil when the server gives none
	wireID    string
	id        string // what octavo calls it: wireID, unless that is missing or taken
	name      string
	arguments strings.Builder
	announced bool
}

// whole reports whether the arguments are complete: nothing, or one JSON value.
func (c *call) whole() bool {
	return c.arguments.Len() == 0 || json.Valid([]byte(c.arguments.String()))
}

// calls are the calls of one answer, in order of appearance.
type calls []*call

// find returns the call that a delta continues, and its position; nil when it begins a new one.
//
// The wire numbers calls, and gives id and name in the first delta only. Servers that copy it leave the number out, number
// every call 0, repeat id and name in each delta, or make up a new id for each. What is told apart here: another id together
// with a name is another call; without ids, a name after complete arguments is one; without number, id and name it is more of
// the last.
func (cs calls) find(x *callDelta) (at int, c *call) {
	if len(cs) == 0 {
		return 0, nil
	}
	at = len(cs) - 1
	switch {
	case x.Index != nil:
		if at = cs.numbered(*x.Index); at < 0 {
			return 0, nil
		}
	case x.ID != "":
		for i := range cs {
			if cs[i].wireID == x.ID {
				return i, cs[i]
			}
		}
	}
	if c = cs[at]; c.another(x) {
		return 0, nil
	}
	return at, c
}

// numbered is the position of the newest call with the wire's number n, or -1. The newest one counts where a server gives
// several calls the same number.
func (cs calls) numbered(n int) int {
	for i := len(cs) - 1; i >= 0; i-- {
		if cs[i].index != nil && *cs[i].index == n {
			return i
		}
	}
	return -1
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
		return x.Function.Arguments != "" && c.arguments.Len() > 0 && c.arguments.Len() <= maxRepeated && c.whole()
	}
}

// taken reports whether a call other than the one at position at has this id.
func (cs calls) taken(id string, at int) bool {
	for i := range cs {
		if i != at && cs[i].id == id {
			return true
		}
	}
	return false
}

// whole reports whether the arguments of all calls are complete.
func (cs calls) whole() bool {
	for _, c := range cs {
		if !c.whole() {
			return false
		}
	}
	return true
}
