package sessionstore

import (
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"
)

// guard decides, while a statement of an extension is prepared, whether it may
// be: SQLite calls it with every table the statement would touch, also through
// triggers and views. It is changed only with the pen taken.
type guard struct {
	on       bool     // an extension's code is running; else it is ours
	owner    string   // prefix of the extension that ran last; empty: none since the store itself
	prefixes []string // of all extensions ever opened in this home

	// shape is how the statement being prepared changes a table, if it does.
	shape sqlite.OpType
}

// next must be called before a statement is prepared.
func (g *guard) next() { g.shape = 0 }

// owns says whether a name belongs to the running extension: no other's prefix
// fits it better. SQLite does not tell names apart by case.
func (g *guard) owns(name string) bool {
	name = strings.ToLower(name)
	if g.owner == "" || !strings.HasPrefix(name, g.owner) {
		return false
	}
	return !slices.ContainsFunc(g.prefixes, func(p string) bool {
		return len(p) > len(g.owner) && strings.HasPrefix(name, p)
	})
}

// readablePragmas tell about the schema and change nothing when they are given
// a table's name or nothing.
var readablePragmas = []string{
	"data_version", "foreign_key_list", "index_info", "index_list", "index_xinfo",
	"page_size", "table_info", "table_list", "table_xinfo",
}

// Authorize implements sqlite.Authorizer.
func (g *guard) Authorize(a sqlite.Action) sqlite.AuthResult {
	if !g.on || g.allows(a) {
		return sqlite.AuthResultOK
	}
	return sqlite.AuthResultDeny
}

func (g *guard) allows(a sqlite.Action) bool {
	switch a.Type() {
	case sqlite.OpSelect, sqlite.OpRead, sqlite.OpFunction, sqlite.OpRecursive:
		return true
	}
	if g.writesSchema(a) {
		return true
	}
	if db := a.Database(); db != "" && db != "main" {
		return false
	}
	switch a.Type() {
	case sqlite.OpInsert, sqlite.OpUpdate, sqlite.OpDelete:
		return g.owns(a.Table())
	case sqlite.OpCreateTable, sqlite.OpDropTable, sqlite.OpAlterTable:
		g.shape = a.Type()
		return g.owns(a.Table())
	case sqlite.OpCreateIndex, sqlite.OpDropIndex:
		return g.owns(a.Table()) && (g.owns(a.Index()) || strings.HasPrefix(a.Index(), "sqlite_autoindex_"))
	case sqlite.OpReindex:
		return g.owns(a.Index())
	case sqlite.OpCreateTrigger, sqlite.OpDropTrigger:
		return g.owns(a.Table()) && g.owns(a.Trigger())
	case sqlite.OpCreateView, sqlite.OpDropView:
		return g.owns(a.View())
	case sqlite.OpCreateVTable, sqlite.OpDropVTable:
		return g.owns(a.Table()) && strings.EqualFold(a.Module(), "fts5")
	case sqlite.OpPragma:
		return slices.Contains(readablePragmas, strings.ToLower(a.Pragma()))
	}
	// Transactions and savepoints are ours; attached and temporary databases,
	// ANALYZE and the rest would reach beyond the extension's tables.
	return false
}

// writesSchema says whether an action is what SQLite itself does to its own
// tables on behalf of a statement; it refuses statements that name the schema
// tables. ALTER TABLE ... RENAME TO does not show the name it makes, only that
// it rewrites names, so an ALTER TABLE may rewrite definitions alone.
func (g *guard) writesSchema(a sqlite.Action) bool {
	switch a.Table() {
	case "sqlite_master", "sqlite_temp_master":
		switch a.Type() {
		case sqlite.OpUpdate:
			return g.shape != sqlite.OpAlterTable || a.Column() == "sql"
		case sqlite.OpInsert, sqlite.OpDelete:
			return a.Table() == "sqlite_master"
		}
	case "sqlite_sequence":
		return a.Type() == sqlite.OpDelete && g.shape == sqlite.OpDropTable
	}
	return false
}

// authorizeReader is the guard of connections that only read.
func authorizeReader(a sqlite.Action) sqlite.AuthResult {
	switch a.Type() {
	case sqlite.OpSelect, sqlite.OpRead, sqlite.OpFunction, sqlite.OpRecursive, sqlite.OpTransaction:
		return sqlite.AuthResultOK
	case sqlite.OpPragma:
		if slices.Contains(readablePragmas, strings.ToLower(a.Pragma())) {
			return sqlite.AuthResultOK
		}
	}
	return sqlite.AuthResultDeny
}
