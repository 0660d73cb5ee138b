package sessionstore

import "zombiezen.com/go/sqlite/sqlitemigration"

// schema is every version of the core tables, oldest first; a released script
// is never edited. Times are Unix milliseconds, 0 for "not".
//
// entry.key is the session's number in the upper and the entry's number in the
// lower 32 bits: one B-tree holds a session's entries side by side in order, an
// append touches one leaf, a tail is one seek, and no second index is kept.
// session.number is AUTOINCREMENT, so that a purged session's is not given away
// again; it also makes the sequence table that ledgers may not create.
//
// spent is what purged sessions have used: money does not become unspent with
// the conversation that it bought. quarter is the quarter of an hour that a
// request began in, counted since 1970: every time zone's days are made of whole
// ones.
var schema = sqlitemigration.Schema{
	AppID: 0x6f637476, // "octv"
	Migrations: []string{`
CREATE TABLE home (
	key   TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
	number     INTEGER PRIMARY KEY AUTOINCREMENT,
	id         TEXT    NOT NULL UNIQUE,
	name       TEXT    NOT NULL,
	workspace  TEXT    NOT NULL,
	model      TEXT    NOT NULL,
	effort     TEXT    NOT NULL,
	policy     TEXT    NOT NULL,
	parent     TEXT    NOT NULL,
	parent_seq INTEGER NOT NULL,
	created    INTEGER NOT NULL,
	updated    INTEGER NOT NULL,
	deleted    INTEGER NOT NULL DEFAULT 0,
	entries    INTEGER NOT NULL DEFAULT 0,
	stage      TEXT    NOT NULL DEFAULT 'idle',
	turn       TEXT    NOT NULL DEFAULT '',
	epoch      INTEGER NOT NULL DEFAULT 0,
	preview    TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX session_updated ON session (updated, id);

CREATE TABLE entry (
	key     INTEGER PRIMARY KEY,
	kind    TEXT    NOT NULL,
	turn    TEXT    NOT NULL,
	time    INTEGER NOT NULL,
	payload BLOB    NOT NULL
) STRICT;

CREATE TABLE input (
	key     INTEGER PRIMARY KEY,
	session INTEGER NOT NULL,
	id      TEXT    NOT NULL,
	kind    TEXT    NOT NULL,
	time    INTEGER NOT NULL,
	payload BLOB    NOT NULL,
	UNIQUE (session, id)
) STRICT;

CREATE TABLE request (
	key         INTEGER PRIMARY KEY,
	session     INTEGER NOT NULL,
	id          TEXT    NOT NULL,
	turn        TEXT    NOT NULL,
	kind        TEXT    NOT NULL,
	seq         INTEGER NOT NULL,
	provider    TEXT    NOT NULL,
	model       TEXT    NOT NULL,
	endpoint    TEXT    NOT NULL,
	started     INTEGER NOT NULL,
	finished    INTEGER NOT NULL,
	outcome     TEXT    NOT NULL,
	status      INTEGER NOT NULL,
	error       TEXT    NOT NULL,
	input       INTEGER,
	cache_read  INTEGER,
	cache_write INTEGER,
	output      INTEGER,
	reasoning   INTEGER,
	cost_micro  INTEGER,
	cost_pico   INTEGER NOT NULL,
	UNIQUE (session, id)
) STRICT;
CREATE INDEX request_session ON request (session);

CREATE TABLE total (
	session     INTEGER PRIMARY KEY,
	requests    INTEGER NOT NULL,
	input       INTEGER NOT NULL,
	cache_read  INTEGER NOT NULL,
	cache_write INTEGER NOT NULL,
	output      INTEGER NOT NULL,
	reasoning   INTEGER NOT NULL,
	cost_micro  INTEGER NOT NULL,
	cost_pico   INTEGER NOT NULL,
	unreported  INTEGER NOT NULL,
	unpriced    INTEGER NOT NULL
) STRICT;

CREATE TABLE blob (
	hash TEXT    PRIMARY KEY,
	size INTEGER NOT NULL,
	refs INTEGER NOT NULL,
	put  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_unreferenced ON blob (put) WHERE refs = 0;

CREATE TABLE blob_reference (
	entry INTEGER NOT NULL,
	hash  TEXT    NOT NULL,
	PRIMARY KEY (entry, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE preference (
	key   TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE prompt (
	key       INTEGER PRIMARY KEY,
	workspace TEXT    NOT NULL,
	text      TEXT    NOT NULL,
	time      INTEGER NOT NULL
) STRICT;
CREATE INDEX prompt_workspace ON prompt (workspace);

CREATE TABLE ledger (
	extension TEXT PRIMARY KEY,
	created   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE ledger_migration (
	extension TEXT    NOT NULL,
	kind      TEXT    NOT NULL,
	name      TEXT    NOT NULL,
	applied   INTEGER NOT NULL,
	PRIMARY KEY (extension, kind, name)
) STRICT, WITHOUT ROWID;
`, `
ALTER TABLE session ADD COLUMN title TEXT NOT NULL DEFAULT '';
ALTER TABLE session ADD COLUMN private INTEGER NOT NULL DEFAULT 0;

CREATE TABLE tag (
	session INTEGER NOT NULL,
	tag     TEXT    NOT NULL,
	PRIMARY KEY (session, tag)
) STRICT, WITHOUT ROWID;

CREATE TABLE spent (
	quarter     INTEGER NOT NULL,
	session     TEXT    NOT NULL,
	provider    TEXT    NOT NULL,
	model       TEXT    NOT NULL,
	kind        TEXT    NOT NULL,
	requests    INTEGER NOT NULL,
	input       INTEGER NOT NULL,
	cache_read  INTEGER NOT NULL,
	cache_write INTEGER NOT NULL,
	output      INTEGER NOT NULL,
	reasoning   INTEGER NOT NULL,
	cost_micro  INTEGER NOT NULL,
	cost_pico   INTEGER NOT NULL,
	unreported  INTEGER NOT NULL,
	unpriced    INTEGER NOT NULL,
	PRIMARY KEY (quarter, session, provider, model, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX request_started ON request (started);
`},
}
