// Package policy classifies what a tool call is about to do and decides whether it may: run, ask a person, or refuse. The host
// classifies, never the model (product.md 6, decision 12). It knows no tool, no session and no screen.
package policy

import (
	"fmt"
	"slices"
)

// Class is the kind of effect of one exact call.
type Class string

const (
	Pure           Class = "pure"             // nothing outside octavo
	WorkspaceRead  Class = "workspace_read"   // reads files below the workspace
	HostRead       Class = "host_read"        // reads files elsewhere
	WorkspaceWrite Class = "workspace_change" // changes files below the workspace
	HostWrite      Class = "host_change"      // changes files elsewhere
	HostProcess    Class = "host_process"     // runs a program
	Network        Class = "network"
	Delegation     Class = "delegation" // hands work to another agent
	Extension      Class = "extension"  // whatever an extension process does
	Unknown        Class = "unknown"    // cannot be told: refused under every policy
)

// Classes lists every class.
var Classes = []Class{Pure, WorkspaceRead, HostRead, WorkspaceWrite, HostWrite, HostProcess, Network, Delegation, Extension, Unknown}

// Intent is what one exact call would do.
type Intent struct {
	Class Class
	// Title is one line for a person: the verb and its object, for example "edit main.go".
	Title string
	// Detail is what an approval must show in full, for example a command of several lines; "" when Title says all.
	Detail string
	// ReadOnly marks a HostProcess known to change nothing.
	ReadOnly bool
	// Reason explains an Unknown class; it is given to the model.
	Reason string
}

// Name is a policy (product.md 4, effect_policy).
type Name string

const (
	UnsafeHost             Name = "unsafe_host"
	ControlledBashApproval Name = "controlled_bash_approval"
	Controlled             Name = "controlled"
)

// Names lists every policy, from the one that lets most run unasked to the one that lets least.
var Names = []Name{UnsafeHost, Controlled, ControlledBashApproval}

// Parse reads a policy's name.
func Parse(s string) (Name, error) {
	for _, n := range Names {
		if string(n) == s {
			return n, nil
		}
	}
	return "", fmt.Errorf("unknown policy %q: use unsafe_host, controlled_bash_approval or controlled", s)
}

// Stricter is the one of a and b that lets less run unasked. A name that is no policy counts as the strictest.
func Stricter(a, b Name) Name {
	if place(a) < place(b) {
		return b
	}
	return a
}

func place(n Name) int {
	if i := slices.Index(Names, n); i >= 0 {
		return i
	}
	return len(Names)
}

// WorkspaceOnly says whether file tools are kept inside the workspace under n.
func (n Name) WorkspaceOnly() bool { return n != UnsafeHost }

// Verdict is what may happen to a call.
type Verdict int

const (
	Refuse Verdict = iota // the zero value, so that a forgotten case refuses
	Ask
	Run
)

// Decision is a verdict with the reason that the model reads when it is Refuse.
type Decision struct {
	Verdict Verdict
	Reason  string
}

// Decide applies policy n to an intent (the table of product.md 6). A class or a policy that this package does not know refuses,
// for what nobody has thought of must not run.
func Decide(n Name, i Intent) Decision {
	switch {
	case i.Class == Unknown || !slices.Contains(Classes, i.Class):
		if i.Reason != "" {
			return refuse("%s", i.Reason)
		}
		return refuse("octavo cannot tell what this call would do")
	case !slices.Contains(Names, n):
		return refuse("octavo does not know the policy %q", n)
	case n == UnsafeHost:
		return Decision{Verdict: Run}
	}
	switch i.Class {
	case Pure, WorkspaceRead:
		return Decision{Verdict: Run}
	case WorkspaceWrite:
		return Decision{Verdict: Ask}
	case HostProcess:
		if n == Controlled && i.ReadOnly {
			return Decision{Verdict: Run}
		}
		return Decision{Verdict: Ask}
	case HostRead, HostWrite:
		return refuse("the policy %s keeps file access inside the workspace", n)
	default:
		return refuse("the policy %s does not allow %s calls", n, i.Class)
	}
}

func refuse(format string, args ...any) Decision {
	return Decision{Refuse, fmt.Sprintf(format, args...)}
}
