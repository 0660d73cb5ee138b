// Package ext says what an extension is: one struct of optional parts that contributes tools, commands, context and model
// providers to sessions. It knows no session, no composition and no front end.
package ext

import (
	"context"

	"octavo/ext/model"
	"octavo/ext/policy"
	"octavo/sessionstore"
)

// Extension is a named set of typed plugins; a plugin kind is a field (design.md, decision 8). Only Name is needed. It
// activates in a session whole or not at all.
type Extension struct {
	Name        string   // not blank, unique; lower-case letters, digits and "-"
	Description string   // one line for a person
	Requires    []string // names of extensions that must be active too
	Required    bool     // cannot be switched off
	Source      string   // where it comes from, for a person; "built-in" for octavo's own

	// Ledger describes the tables it owns; nil when it stores nothing. Opened once per process, before any Prepare.
	Ledger *sessionstore.LedgerSpec
	// Static is what every session gets without preparation.
	Static Contribution
	// Prepare makes what one session gets. It must be bounded, and release what it holds before it returns an error. It runs
	// outside the session's goroutine.
	Prepare func(ctx context.Context, p Prep) (*Contribution, error)
	// Providers can turn a configured profile into a model that answers.
	Providers []Provider
	// Models are catalogues of what is known of models; the first that lists a model describes it.
	Models []Catalogue
}

// Prep is what an extension may know of the session it prepares for.
type Prep struct {
	Session   string // id
	Workspace string // absolute, symbolic links resolved
	Trusted   bool   // the person trusts the workspace's own configuration and instructions
	Policy    policy.Name
	Home      string // octavo's home, absolute
	Ledger    *sessionstore.Ledger
}

// Contribution is what one session gets from one extension. Its values are read-only once returned.
type Contribution struct {
	// Context is request-only text about the workspace; it follows all instructions (plugins.md 1.3).
	Context string
	// Instructions tell the model how to use what is contributed.
	Instructions string
	Tools        []Tool
	Commands     []Command
	// Warnings become notes of the session that a person sees once.
	Warnings []string
	// Close releases what Prepare holds; called once, nil when there is nothing.
	Close func()
}

// Provider makes models out of profiles of one wire.
type Provider struct {
	Wire string // the wire that Resolve speaks, for example "openai-chat"
	// Resolve does no I/O: a model that cannot answer fails when it is asked.
	Resolve func(p Profile, modelID string) (*model.Upstream, error)
}

// Profile is one configured endpoint.
type Profile struct {
	Name     string // the provider half of provider/model
	Label    string // for a person; Name when empty
	Wire     string
	Endpoint string // base URL, http or https, without a trailing slash
	// Key reads the API key when a request is made, so that it is held no longer than needed. A nil Key sends none.
	Key func() (string, error)
	// KeySource says where the key comes from, for a person, never the key itself.
	KeySource string
	Headers   map[string]string
	Models    map[string]model.Info // what configuration says of the models
}
