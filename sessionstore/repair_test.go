package sessionstore_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"octavo/sessionstore"
)

const pageSize = 4096

// content is what a home holds of what cannot be told from the rest.
type content struct {
	entries map[string][]string // "seq kind payload" by session
	totals  map[string]sessionstore.Totals
	tags    map[string][]string
	prompts []string
	blobs   map[string]string // text by hash
}

// fill makes a home with a little of everything, closes it and returns what is in it. The first session has n entries.
func fill(t *testing.T, dir string, n int) content {
	t.Helper()
	ctx := context.Background()
	s, err := sessionstore.Open(ctx, sessionstore.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	notes := openLedger(t, s, sessionstore.LedgerSpec{Extension: "notes", Schema: []sessionstore.Migration{schemaStep("t", `
		CREATE TABLE x_notes_plain (session TEXT, note TEXT);
		CREATE INDEX x_notes_plain_session ON x_notes_plain (session);
		CREATE VIRTUAL TABLE x_notes_words USING fts5(note);
		CREATE VIEW x_notes_all AS SELECT note FROM x_notes_plain;`)}})
	blob := put(t, s, "a picture")
	blobs := map[string]string{blob: "a picture"}
	for i, id := range []string{"one", "two", "three"} {
		create(t, s, id)
		tags := []string{"t" + id}
		if err := s.PatchSession(ctx, id, sessionstore.SessionPatch{Tags: &tags}); err != nil {
			t.Fatal(err)
		}
		for seq := range max(3, n/(1+9*i)) {
			e := sessionstore.NewEntry{Kind: "text", Payload: fmt.Appendf(nil, `{"n":%d,"text":"%s"}`, seq, strings.Repeat("x", 20+seq*37%900))}
			if seq%40 == 7 { // does not fit a page
				e.Payload = fmt.Appendf(nil, `{"long":"%s"}`, strings.Repeat("y", 3*pageSize))
			}
			if seq%10 == 3 {
				hash := put(t, s, fmt.Sprint(id, seq))
				blobs[hash] = fmt.Sprint(id, seq)
				e.Blobs = []string{hash, blob}
				e.Payload = fmt.Appendf(nil, `{"picture":"%s","shared":"%s"}`, hash, blob)
			}
			commit(t, s, id, sessionstore.NoteStored, sessionstore.Change{Append: []sessionstore.NewEntry{e},
				Requests: []sessionstore.Request{request(fmt.Sprint("r", seq))}})
			if err := write(notes, "INSERT INTO x_notes_plain VALUES (?, ?)", id, fmt.Sprint("note ", seq)); err != nil {
				t.Fatal(err)
			}
			if err := write(notes, "INSERT INTO x_notes_words VALUES (?)", fmt.Sprint("word", seq)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.AddPrompt(ctx, "/w", "prompt of "+id); err != nil {
			t.Fatal(err)
		}
	}
	commit(t, s, "two", sessionstore.InputAccepted, sessionstore.Change{Enqueue: []sessionstore.Input{{ID: "i", Kind: "chat", Payload: []byte("{}")}},
		Stage: &sessionstore.StageChange{Stage: sessionstore.StageTool, Turn: "u"}})
	if err := s.Fork(ctx, "one", 3, sessionstore.Session{ID: "fork"}); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteSession(ctx, "three"); err != nil {
		t.Fatal(err)
	}
	if err := s.SetPreference(ctx, "k", "v"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c := readHome(t, dir)
	c.blobs = blobs
	return c
}

// readHome opens a home, which must be sound, and reads what it holds.
func readHome(t *testing.T, dir string) content {
	t.Helper()
	ctx := context.Background()
	s, err := sessionstore.Open(ctx, sessionstore.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Check(ctx); err != nil {
		t.Fatal(err)
	}
	c := content{entries: map[string][]string{}, totals: map[string]sessionstore.Totals{}, tags: map[string][]string{}}
	for _, deleted := range []bool{false, true} {
		list, err := s.Sessions(ctx, sessionstore.Filter{Deleted: deleted})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range list {
			for _, e := range entries(t, s, v.ID, sessionstore.Range{}) {
				c.entries[v.ID] = append(c.entries[v.ID], fmt.Sprint(e.Seq, e.Kind, string(e.Payload)))
			}
			if c.totals[v.ID], err = s.Totals(ctx, v.ID); err != nil {
				t.Fatal(err)
			}
			c.tags[v.ID] = v.Tags
		}
	}
	if c.prompts, err = s.Prompts(ctx, "", 0); err != nil {
		t.Fatal(err)
	}
	return c
}

func repair(t *testing.T, dir string) sessionstore.RepairReport {
	t.Helper()
	r, err := sessionstore.Repair(context.Background(), sessionstore.Options{Dir: dir})
	if err != nil {
		t.Fatalf("%v\n%+v", err, r)
	}
	return r
}

func texts(r sessionstore.RepairReport) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%v %s: %s\n", f.Mended, f.Session, f.Text)
	}
	return b.String()
}

func TestRepairLeavesASoundHomeAsItIs(t *testing.T) {
	dir := t.TempDir()
	before := fill(t, dir, 30)
	r := repair(t, dir)
	if len(r.Findings) > 0 || r.Broken() || r.Damaged != "" || r.Backup != "" || r.Sessions != 4 || r.Entries != 30+3+3+3 || r.Blobs != int64(len(before.blobs)) {
		t.Errorf("%+v", r)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "backups")); err != nil || len(left) > 0 {
		t.Errorf("a copy of what was not changed is left: %v, %v", left, err)
	}
	after := readHome(t, dir)
	after.blobs = before.blobs
	if d := cmp.Diff(before, after, cmp.AllowUnexported(content{})); d != "" {
		t.Error(d)
	}
}

// What the rest of the database tells is set right, and a second repair finds nothing; what nothing tells is told each time.
func TestRepairMendsWhatTheRestTells(t *testing.T) {
	gone := hashOf([]byte("one3"))
	for _, c := range []struct {
		what, script string
		remove       string // a blob whose file goes
		garble       string // a blob whose file changes
		want         []string
	}{
		{"too many entries said", "UPDATE session SET entries = 40 WHERE id = 'one'", "", "",
			[]string{"false one: entries 31 to 40 are lost; it ends with entry 30 now"}},
		{"too few entries said", "UPDATE session SET entries = 2 WHERE id = 'one'", "", "",
			[]string{"true one: it said that it had 2 entries, and has 30"}},
		{"entries are missing", "DELETE FROM entry WHERE key IN (1 << 32 | 2, 1 << 32 | 5, 1 << 32 | 6, 1 << 32 | 7)", "", "",
			[]string{"false one: entries 2, 5 to 7 are lost; octavo --fork one@1 goes on from before"}},
		{"many entries are missing", "DELETE FROM entry WHERE key >> 32 = 1 AND key % 2 = 1 AND key <> 1 << 32 | 1", "", "",
			[]string{"false one: entries 3, 5, 7, 9, 11, 13, 15, 17, others are lost; octavo --fork one@2 goes on from before"}},
		{"the first entry is missing", "DELETE FROM entry WHERE key = 1 << 32 | 1", "", "", []string{"false one: entry 1 is lost\n"}},
		{"totals", "UPDATE total SET requests = 7, cost_micro = 3 WHERE session = 1; DELETE FROM total WHERE session = 2", "", "",
			[]string{"true one: its totals said 7 requests and 3 microdollars, its usage rows say 30 and 48", "true two: its totals said 0 requests"}},
		{"orphans", "INSERT INTO tag VALUES (99, 'a'); INSERT INTO input VALUES (9, 99, 'i', 'k', 0, x''); INSERT INTO total SELECT 99, requests, 1, 1, 1, 1, 1, 1, 1, 1, 1 FROM total WHERE session = 1", "", "",
			[]string{"true : tags of sessions that do not exist were removed: 1", "waiting inputs of sessions", "totals of sessions"}},
		{"a session without its row", "DELETE FROM session WHERE id = 'two'", "", "",
			[]string{"true recovered-2: a session without name", "true recovered-2: it said that it had 0 entries, and has 3"}},
		{"usage without a session", "UPDATE request SET session = 77 WHERE key = 1", "", "",
			[]string{"true recovered-77: a session", "true one: its totals said 30", "true recovered-77: its totals said 0"}},
		{"a stage that cannot be", "UPDATE session SET stage = 'dancing' WHERE id = 'one'; UPDATE session SET turn = '' WHERE id = 'two'; UPDATE session SET turn = 'x' WHERE id = 'fork'", "", "",
			[]string{`true one: its turn was "" in stage "dancing"`, `true two: its turn was "" in stage "tool", which cannot be; it is interrupted now`, `true fork: its turn was "x" in stage "idle"`}},
		{"counts of blobs", "UPDATE blob SET refs = refs + 1, size = 3 WHERE hash = '" + gone + "'", "", "",
			[]string{"true : attachments that did not know how many entries refer to them: 1", "true : attachment " + gone + " said that it has 3 bytes, and has 4"}},
		{"a blob without its row", "DELETE FROM blob WHERE hash = '" + gone + "'", "", "", []string{"true : attachments that were not listed: 1"}},
		{"a reference of no entry", "INSERT INTO blob_reference VALUES (99 << 32 | 1, '" + gone + "')", "", "", []string{"true : references to attachments of entries that do not exist"}},
		{"a blob's file is gone", "", gone, "", []string{"false one: attachment " + gone + " of entry 4 is lost: its file is gone"}},
		{"a blob's file is another", "", "", gone, []string{"false one: attachment " + gone + " of entry 4 is lost: its file "}},
		{"neither row nor file", "DELETE FROM blob WHERE hash = '" + gone + "'", gone, "", []string{"true : attachments that were not listed: 1", "false one: attachment " + gone}},
		{"a file that nobody misses", "INSERT INTO blob VALUES ('" + strings.Repeat("ab", 32) + "', 1, 0, 0)", "", "", []string{"true : attachment abab"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, dir, 30)
			if err := sqlScript(file(dir), c.script); err != nil {
				t.Fatal(err)
			}
			blob := func(hash string) string { return filepath.Join(dir, "blobs", hash[:2], hash) }
			if c.remove != "" {
				if err := os.Remove(blob(c.remove)); err != nil {
					t.Fatal(err)
				}
			}
			if c.garble != "" {
				if err := os.WriteFile(blob(c.garble), []byte("no"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			found, err := os.ReadFile(file(dir))
			if err != nil {
				t.Fatal(err)
			}
			first := repair(t, dir)
			if backup, err := os.ReadFile(first.Backup); err != nil || !bytes.Equal(backup, found) || filepath.Dir(first.Backup) != filepath.Join(dir, "backups") {
				t.Errorf("backup %s of %d bytes, %v", first.Backup, len(backup), err)
			}
			for _, want := range c.want {
				if !strings.Contains(texts(first), want) {
					t.Errorf("no %q in\n%s", want, texts(first))
				}
			}
			if len(first.Findings) != len(c.want) || first.Damaged != "" {
				t.Errorf("%d findings, want %d:\n%s", len(first.Findings), len(c.want), texts(first))
			}
			readHome(t, dir)
			second := repair(t, dir)
			for _, f := range second.Findings {
				if f.Mended || !strings.Contains(texts(first), f.Text) {
					t.Errorf("found again: %+v", f)
				}
			}
			if broken := strings.Contains(c.what, "missing") || strings.Contains(c.what, "file is") || strings.Contains(c.what, "nor file"); broken != second.Broken() {
				t.Errorf("second repair: broken %v", second.Broken())
			}
		})
	}
}

func TestRepairWantsTheHomeForItself(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	try := func() error {
		t.Helper()
		before, _ := os.ReadFile(file(dir))
		_, err := sessionstore.Repair(ctx, sessionstore.Options{Dir: dir})
		if after, _ := os.ReadFile(file(dir)); !bytes.Equal(before, after) {
			t.Error("the file was changed")
		}
		return err
	}
	if err := try(); !errors.Is(err, sessionstore.ErrNotFound) {
		t.Errorf("no database: %v", err)
	}
	if made, _ := os.ReadDir(dir); len(made) > 0 {
		t.Errorf("made: %v", made)
	}
	if _, err := sessionstore.Repair(ctx, sessionstore.Options{}); !errors.Is(err, sessionstore.ErrInvalid) {
		t.Errorf("no home named: %v", err)
	}

	var held *sessionstore.HeldError
	s := open(t, sessionstore.Options{Dir: dir})
	create(t, s, "one")
	if err := try(); !errors.As(err, &held) || held.What != "the home "+dir {
		t.Errorf("a home that is open: %v", err)
	}
	lock, err := s.LockSession(ctx, "one")
	if err != nil {
		t.Fatal(err)
	}
	lease, _, err := s.HomeLease()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := try(); !errors.As(err, &held) || held.What != "the home "+dir || held.PID != os.Getpid() {
		t.Errorf("the lease: %v", err)
	}
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	if err := try(); !errors.As(err, &held) || held.What != "session one" || held.PID != os.Getpid() {
		t.Errorf("an open session: %v", err)
	} else {
		says(t, err, "close it there, then repair again")
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := sessionstore.Repair(over, sessionstore.Options{Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := try(); err != nil {
		t.Errorf("at last: %v", err)
	}
	if err := sqlScript(file(dir), "PRAGMA user_version = 1000"); err != nil {
		t.Fatal(err)
	}
	var newer *sessionstore.NewerError
	if err := try(); !errors.As(err, &newer) {
		t.Errorf("a newer file: %v", err)
	}
	var corrupt *sessionstore.CorruptError
	if err := errors.Join(os.Remove(file(dir)), sqlScript(file(dir), "PRAGMA application_id = 7; CREATE TABLE t (a);")); err != nil {
		t.Fatal(err)
	}
	if err := try(); !errors.As(err, &corrupt) || !strings.Contains(corrupt.Detail, "another program") {
		t.Errorf("another program's: %v", err)
	}
	for _, content := range []string{"SQLite format 3", strings.Repeat("no database ", 10_000)} {
		if err := os.WriteFile(file(dir), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := try(); !errors.As(err, &corrupt) {
			t.Errorf("no database: %v", err)
		} else {
			says(t, err, "no session in it can be read", "Nothing was changed", filepath.Join(dir, "backups"))
		}
		for _, pattern := range []string{"*salvaged*", "*damaged*"} {
			if left, err := filepath.Glob(filepath.Join(dir, pattern)); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		}
	}
	if left, err := os.ReadDir(filepath.Join(dir, "backups")); err != nil || len(left) > 0 {
		t.Errorf("copies of what was not changed are left: %v, %v", left, err)
	}
}

// page is one of the database's, as SQLite's own statistics know it.
type page struct {
	no    int
	name  string // of the table or index
	kind  string
	cells int
}

func pages(t *testing.T, dir string) (list []page) {
	t.Helper()
	conn, err := sqlite.OpenConn(file(dir), sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = sqlitex.ExecuteTransient(conn, "SELECT pageno, name, pagetype, ncell FROM dbstat ORDER BY path", &sqlitex.ExecOptions{
		ResultFunc: func(stmt *sqlite.Stmt) error {
			list = append(list, page{stmt.ColumnInt(0), stmt.ColumnText(1), stmt.ColumnText(2), stmt.ColumnInt(3)})
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// damage overwrites pages.
func damage(t *testing.T, dir string, with []byte, numbers ...int) {
	t.Helper()
	f, err := os.OpenFile(file(dir), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, no := range numbers {
		if _, err := f.WriteAt(with, int64(no-1)*pageSize); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// part checks that what is left is a part of what was there, and returns how many entries are lost.
func part(t *testing.T, before, after content) (lost int) {
	t.Helper()
	for id, list := range before.entries {
		if _, there := after.entries[id]; !there {
			continue // its row is lost, which is told otherwise
		}
		for _, e := range list {
			if !slices.Contains(after.entries[id], e) {
				lost++
			}
		}
		for _, e := range after.entries[id] {
			if !slices.Contains(list, e) {
				t.Errorf("session %s has an entry that it never had: %.60s", id, e)
			}
		}
	}
	return lost
}

// Each kind of page is damaged in turn. Of tables exactly what stood on the page is lost, of indexes nothing.
func TestRepairKeepsWhatStandsOnOtherPages(t *testing.T) {
	source := t.TempDir()
	before := fill(t, source, 400)
	all := pages(t, source)
	// pick finds the middle ones of a kind.
	pick := func(name, kind string, n int) (no []int, cells int) {
		t.Helper()
		fits := slices.DeleteFunc(slices.Clone(all), func(p page) bool { return p.name != name || p.kind != kind })
		if len(fits) < n {
			t.Fatalf("%s has %d pages of kind %s", name, len(fits), kind)
		}
		for i := range n {
			p := fits[(2*i+1)*len(fits)/(2*n)]
			no, cells = append(no, p.no), cells+p.cells
		}
		return no, cells
	}
	for _, c := range []struct {
		name, kind string
		pages      int
		lost       bool   // as many entries as the pages had
		want       string // of what is found; empty: only that the file was damaged
	}{
		{"entry", "leaf", 1, true, "false one: entr"},
		{"entry", "leaf", 3, true, "false one: entries "},
		{"entry", "overflow", 1, false, "false one: entry "},
		{"request", "leaf", 2, false, "false : usage of sessions: up to "},
		{"blob_reference", "leaf", 1, false, ""},
		{"blob", "leaf", 1, false, "true : attachments that were not listed: "},
		{"session", "leaf", 1, false, "false : names, workspaces and models of sessions"},
		{"session_updated", "leaf", 1, false, ""},
		{"request_session", "leaf", 1, false, ""},
		{"x_notes_plain", "leaf", 2, false, "false : rows of table x_notes_plain: "},
		{"x_notes_plain_session", "leaf", 1, false, ""},
	} {
		t.Run(fmt.Sprint(c.name, " ", c.kind, " ", c.pages), func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
				t.Fatal(err)
			}
			no, cells := pick(c.name, c.kind, c.pages)
			damage(t, dir, bytes.Repeat([]byte{0xff}, pageSize), no...)
			damaged, err := os.ReadFile(file(dir))
			if err != nil {
				t.Fatal(err)
			}
			r := repair(t, dir)
			if !strings.Contains(texts(r), "true : the database file was damaged (") || !strings.Contains(texts(r), c.want) || r.Broken() != strings.HasPrefix(c.want, "false") {
				t.Errorf("found:\n%s", texts(r))
			}
			if kept, err := os.ReadFile(r.Damaged); err != nil || !bytes.Equal(kept, damaged) || r.Backup != "" || filepath.Dir(r.Damaged) != dir {
				t.Errorf("the damaged file is kept as %q with %d bytes: %v", r.Damaged, len(kept), err)
			}
			after := readHome(t, dir)
			switch lost := part(t, before, after); {
			case c.lost && lost != cells:
				t.Errorf("%d entries are lost, %d stood there", lost, cells)
			case c.kind == "overflow" && lost != 1, !c.lost && c.kind == "leaf" && lost != 0:
				t.Errorf("%d entries are lost", lost)
			}
			if c.name != "request" && c.name != "session" {
				if d := cmp.Diff(before.totals, after.totals); d != "" {
					t.Errorf("totals: %s", d)
				}
			}
			if !slices.Equal(after.prompts, before.prompts) {
				t.Errorf("prompts %v", after.prompts)
			}
			sound(t, dir, before)
			if r := repair(t, dir); r.Damaged != "" || slices.ContainsFunc(r.Findings, func(f sessionstore.Finding) bool { return f.Mended }) {
				t.Errorf("second repair:\n%s", texts(r))
			}
		})
	}
}

// Both ends of a table are damaged, and nothing says how far it goes: what stands between is found, however much it is.
func TestRepairFindsWhatStandsBetweenDamagedEnds(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s, err := sessionstore.Open(ctx, sessionstore.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	create(t, s, "one")
	const many = 20_000
	spec := sessionstore.LedgerSpec{Extension: "many", Schema: []sessionstore.Migration{schemaStep("t", "CREATE TABLE x_many_row (n INTEGER PRIMARY KEY, t TEXT)")}}
	if err := write(openLedger(t, s, spec), `WITH RECURSIVE r (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < ?)
		INSERT INTO x_many_row SELECT n, 'row ' || n FROM r`, many); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	leaves := slices.DeleteFunc(pages(t, dir), func(p page) bool { return p.name != "x_many_row" || p.kind != "leaf" })
	lost := 0
	for _, i := range []int{0, len(leaves) / 2, len(leaves) - 1} {
		damage(t, dir, make([]byte, pageSize), leaves[i].no)
		lost += leaves[i].cells
	}
	// A repair that was killed left what it had begun.
	if err := os.WriteFile(filepath.Join(dir, sessionstore.FileName+".salvaged-1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := repair(t, dir)
	if want := "false : rows of table x_many_row: some or all of it could not be read"; !strings.Contains(texts(r), want) {
		t.Errorf("no %q in\n%s", want, texts(r))
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*salvaged*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	s = open(t, sessionstore.Options{Dir: dir})
	if n := count(t, openLedger(t, s, spec), "SELECT count(*) FROM x_many_row"); n != int64(many-lost) {
		t.Errorf("%d of %d rows are there, %d stood on damaged pages", n, many, lost)
	}
}

// sound uses a home: extensions come back, blobs outlive a sweep, sessions take entries and get new numbers.
func sound(t *testing.T, dir string, before content) {
	t.Helper()
	ctx, c := context.Background(), newClock()
	c.now = c.now.AddDate(10, 0, 0)
	s := open(t, sessionstore.Options{Dir: dir, Now: c.Now})
	notes := openLedger(t, s, sessionstore.LedgerSpec{Extension: "notes", Schema: []sessionstore.Migration{schemaStep("t", "nonsense")}})
	if n := count(t, notes, "SELECT count(*) FROM x_notes_words WHERE x_notes_words MATCH 'word2'"); n != 3 {
		t.Errorf("the words are found %d times", n)
	}
	if n := count(t, notes, "SELECT count(*) FROM x_notes_all"); n == 0 {
		t.Error("the view is empty")
	}
	if _, err := s.SweepBlobs(ctx); err != nil {
		t.Error(err)
	}
	for hash, text := range before.blobs {
		id, seq := strings.TrimRight(text, "0123456789"), strings.TrimLeft(text, "abcdefghijklmnopqrstuvwxyz")
		n, _ := strconv.ParseInt(seq, 10, 64) // "a picture" has none, and is in many
		e, err := s.Entries(ctx, id, sessionstore.Range{After: n, Before: n + 2})
		if kept := seq == "" || err == nil && len(e) == 1; kept && !has(t, s, hash, text) {
			t.Errorf("blob %s is gone", text)
		}
	}
	commit(t, s, "one", sessionstore.NoteStored, sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "k"}}})
	if err := s.PurgeSession(ctx, "fork"); err != nil {
		t.Error(err)
	}
	create(t, s, "new")
	commit(t, s, "new", sessionstore.NoteStored, sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "k"}}})
	if v, ok, err := s.Preference(ctx, "k"); v != "v" || !ok || err != nil {
		t.Errorf("preference %q, %v", v, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A file whose first pages are gone does not even say that it is a database. What the first version of the schema had is where it
// always is.
func TestRepairReadsAFileWithoutItsHead(t *testing.T) {
	for what, harm := range map[string]func(t *testing.T, dir string){
		"no header":     func(t *testing.T, dir string) { damage(t, dir, bytes.Repeat([]byte{'x'}, 100), 1) },
		"no first page": func(t *testing.T, dir string) { damage(t, dir, make([]byte, pageSize), 1) },
		"no definitions": func(t *testing.T, dir string) {
			for _, p := range pages(t, dir) {
				if p.name == "sqlite_schema" {
					damage(t, dir, make([]byte, pageSize), p.no)
				}
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			before := fill(t, dir, 100)
			harm(t, dir)
			r := repair(t, dir)
			for _, want := range []string{"false : tags: some or all", "false : what extensions had stored: some or all", "false : usage of removed sessions"} {
				if !strings.Contains(texts(r), want) {
					t.Errorf("no %q in\n%s", want, texts(r))
				}
			}
			after := readHome(t, dir)
			if d := cmp.Diff(before.entries, after.entries); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(before.totals, after.totals); d != "" {
				t.Error(d)
			}
			if !slices.Equal(before.prompts, after.prompts) {
				t.Errorf("prompts %v", after.prompts)
			}
			s := open(t, sessionstore.Options{Dir: dir})
			openLedger(t, s, sessionstore.LedgerSpec{Extension: "notes", Schema: []sessionstore.Migration{schemaStep("t", "CREATE TABLE x_notes_plain (a)")}})
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if r := repair(t, dir); len(r.Findings) > 0 {
				t.Errorf("second repair:\n%s", texts(r))
			}
		})
	}
}

// Whatever is damaged, either a sound home with a part of what was there takes its place and the damaged file is kept, or nothing is
// changed.
func TestRepairNeverMakesThingsUp(t *testing.T) {
	source := t.TempDir()
	before := fill(t, source, 200)
	info, err := os.Stat(file(source))
	if err != nil {
		t.Fatal(err)
	}
	times := 40
	if testing.Short() || raceDetector {
		times = 5
	}
	for seed := range times {
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
			t.Fatal(err)
		}
		garbage := make([]byte, []int{16, 100, pageSize, 5 * pageSize}[random.IntN(4)])
		if random.IntN(3) > 0 {
			for i := range garbage {
				garbage[i] = byte(random.Uint32())
			}
		}
		for range 1 + random.IntN(3) {
			damage(t, dir, garbage, 1+random.IntN(int(info.Size()/pageSize)))
		}
		if random.IntN(5) == 0 {
			if err := os.Truncate(file(dir), info.Size()/5*(1+random.Int64N(4))); err != nil {
				t.Fatal(err)
			}
		}
		damaged, err := os.ReadFile(file(dir))
		if err != nil {
			t.Fatal(err)
		}
		r, err := sessionstore.Repair(context.Background(), sessionstore.Options{Dir: dir})
		var corrupt *sessionstore.CorruptError
		switch {
		case errors.As(err, &corrupt):
			if after, err := os.ReadFile(file(dir)); err != nil || !bytes.Equal(damaged, after) {
				t.Errorf("seed %d: the file was changed, %v", seed, err)
			}
			continue
		case err != nil:
			t.Errorf("seed %d: %v", seed, err)
			continue
		case r.Damaged == "":
			continue // what was hit holds nothing, or bytes that could be others
		}
		if kept, err := os.ReadFile(r.Damaged); err != nil || !bytes.Equal(kept, damaged) {
			t.Errorf("seed %d: the damaged file was not kept, %v", seed, err)
		}
		after := readHome(t, dir)
		lost := 0
		for _, list := range before.entries {
			lost += len(list)
		}
		for _, list := range after.entries {
			lost -= len(list)
		}
		if lost > 0 && !r.Broken() {
			t.Errorf("seed %d: %d entries are lost and nothing is said of it:\n%s", seed, lost, texts(r))
		}
		if left, err := filepath.Glob(filepath.Join(dir, "*salvaged*")); err != nil || len(left) > 0 {
			t.Errorf("seed %d: left behind: %v, %v", seed, left, err)
		}
	}
}

// A process that was killed leaves a log. What stands in it counts, in a damaged file, too, and the copy has it as it was.
func TestRepairReadsTheLog(t *testing.T) {
	source, dir := t.TempDir(), t.TempDir()
	before := fill(t, source, 100)
	s := open(t, sessionstore.Options{Dir: source})
	commit(t, s, "one", sessionstore.NoteStored, sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "text", Payload: []byte("late")}}})
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(file(dir) + "-wal")
	if err != nil || len(log) == 0 {
		t.Fatalf("no log: %v", err)
	}
	var leaf int
	for _, p := range pages(t, source) {
		if p.name == "request_session" && p.kind == "leaf" && leaf == 0 {
			leaf = p.no
		}
	}
	damage(t, dir, make([]byte, pageSize), leaf)
	r := repair(t, dir)
	if kept, err := os.ReadFile(r.Damaged + "-wal"); err != nil || !bytes.Equal(kept, log) {
		t.Errorf("the log is not kept: %v", err)
	}
	if _, err := os.Stat(file(dir) + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old log lies beside the new file: %v", err)
	}
	after := readHome(t, dir)
	if got := after.entries["one"]; len(got) != 101 || got[100] != "101textlate" {
		t.Errorf("%d entries", len(got))
	}
	if lost := part(t, before, content{entries: map[string][]string{"one": after.entries["one"][:100], "two": after.entries["two"]}}); lost > 0 {
		t.Errorf("%d lost", lost)
	}
}

// TestRepairMarksWhatCannotBeRead: what a payload means is asked of whoever stored it, and word of a loss keeps the numbers whole.
func TestRepairMarksWhatCannotBeRead(t *testing.T) {
	check := func(_ string, payload []byte) error {
		if !json.Valid(payload) {
			return errors.New("not JSON")
		}
		return nil
	}
	payloads := sessionstore.Payloads{Entry: check, Input: check, Lost: func() (string, []byte) { return "lost", []byte("{}") }}
	const most = 1 << 14 // entries of a session that are marked
	far := func(missing int) string {
		return fmt.Sprintf("INSERT INTO entry SELECT 1 << 32 | %d, kind, turn, time, payload FROM entry WHERE key = 1 << 32 | 30", 30+missing+1)
	}
	for _, c := range []struct {
		what, script string
		payloads     sessionstore.Payloads
		want         []string // of what is found
		marks        int
		lasts        bool // the loss is told each time
	}{
		// Entries 4 and 14 of session one refer to attachments.
		{"entries", "UPDATE entry SET payload = x'7b' WHERE key IN (1 << 32 | 4, 1 << 32 | 30, 2 << 32 | 1)", payloads,
			[]string{"false one: entries 4, 30 could not be read and are marked as lost", "false two: entry 1 could not be read and is marked as lost"}, 3, false},
		{"a gap", "DELETE FROM entry WHERE key IN (1 << 32 | 1, 1 << 32 | 14, 1 << 32 | 15); UPDATE entry SET payload = x'7b' WHERE key = 1 << 32 | 16", payloads,
			[]string{"false one: entries 1, 14 to 16 could not be read and are marked as lost"}, 4, false},
		{"the end", "DELETE FROM entry WHERE key >> 32 = 1 AND key > 1 << 32 | 28", payloads, []string{"false one: entries 29 to 30 are lost; it ends with entry 28 now"}, 0, false},
		{"an input", "UPDATE input SET payload = x'7b'", payloads, []string{"false two: waiting input i could not be read and was removed"}, 0, false},
		{"nobody says what stands there", "UPDATE entry SET payload = x'7b' WHERE key = 1 << 32 | 4", sessionstore.Payloads{Entry: check},
			[]string{"false one: entry 4 is lost; octavo --fork one@3 goes on from before"}, 0, true},
		{"as many as are marked", far(most), payloads, []string{"true one: it said that it had 30 entries", "false one: entries 31 to 16414 could not be read and are marked as lost"}, most, false},
		{"too many", far(most + 1), payloads, []string{"true one: it said that it had 30 entries", "false one: entries 31 to 16415 are lost; octavo --fork one@30 goes on from before"}, 0, true},
	} {
		t.Run(c.what, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, dir, 30)
			if err := sqlScript(file(dir), c.script); err != nil {
				t.Fatal(err)
			}
			o := sessionstore.Options{Dir: dir, Payloads: c.payloads}
			first, err := sessionstore.Repair(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(texts(first), want) {
					t.Errorf("no %q in\n%s", want, texts(first))
				}
			}
			if len(first.Findings) != len(c.want) || first.Backup == "" {
				t.Errorf("%d findings, want %d:\n%s", len(first.Findings), len(c.want), texts(first))
			}
			marks := 0
			for _, list := range readHome(t, dir).entries {
				for i, e := range list {
					if !c.lasts && !strings.HasPrefix(e, fmt.Sprint(i+1)) {
						t.Fatalf("place %d has %.40q", i+1, e)
					}
					if strings.HasSuffix(e, "lost{}") {
						marks++
					}
				}
			}
			if marks != c.marks {
				t.Errorf("%d marks, want %d", marks, c.marks)
			}
			if second, err := sessionstore.Repair(context.Background(), o); err != nil || second.Broken() != c.lasts {
				t.Errorf("second: %v\n%s", err, texts(second))
			}
		})
	}
}
