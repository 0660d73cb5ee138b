package sessionstore

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitemigration"
)

const (
	// maxProbes bounds how often a range of keys is tried that could not be read at once, for each table.
	maxProbes = 1 << 15
	// reach is how far behind the last key that could be read, or before the first, more is looked for at least where nothing says
	// where a table ends; with each row that was read it is reachEach further.
	reach     = 1 << 12
	reachEach = 8
)

// span is a range of keys, both ends included; one whose ends have changed places is empty.
type span struct{ lo, hi int64 }

// salvage makes a new database of all that can be read of a damaged one and returns its path, once it has passed the check that the
// old one failed.
func (s *Store) salvage(ctx context.Context, from *sqlite.Conn, damage string, r *RepairReport) (path string, err error) {
	f, err := os.CreateTemp(s.dir, salvagedPrefix+"*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			_ = removeAll(f.Name(), f.Name()+logSuffix, f.Name()+indexSuffix) // the error says what counts
		}
	}()
	if err := f.Close(); err != nil {
		return "", err
	}
	into, err := sqlite.OpenConn(f.Name(), sqlite.OpenReadWrite)
	if err != nil {
		return "", err
	}
	fresh := &Store{dir: s.dir, path: f.Name(), observe: s.observe, now: s.now, lockWait: s.lockWait, payloads: s.payloads}
	found := RepairReport{Backup: r.Backup}
	err = fresh.fill(ctx, from, into, false, damage, &found)
	if errors.Is(err, errUndefined) {
		found = RepairReport{Backup: r.Backup}
		if logged(r.Backup) {
			found.broken("", "what was stored since octavo was last closed properly, which stands in the log of the file, could not be read")
		}
		err = s.withNewHead(ctx, r.Backup, func(from *sqlite.Conn) error { return fresh.fill(ctx, from, into, true, damage, &found) })
	}
	if err = errors.Join(err, into.Close()); err != nil {
		return "", err
	}
	*r = found
	return f.Name(), nil
}

// errUndefined says that a file does not tell where its sessions are.
var errUndefined = errors.New("the definition of its tables cannot be read")

// withNewHead has use read a copy of a damaged file whose first page, and whatever else defines its tables, is that of a new file.
// The tables of the first version of the schema are where they are in every file: they were the first to be made. What later
// versions and extensions have made is not found.
func (s *Store) withNewHead(ctx context.Context, damaged string, use func(from *sqlite.Conn) error) (err error) {
	head, err := s.newHead(ctx)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(s.dir, salvagedPrefix+"*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeAll(f.Name(), f.Name()+"-journal")) }()
	err = copyFile(f, damaged)
	if info, statErr := f.Stat(); err == nil {
		if err = statErr; err == nil {
			// The file format says where a first page tells how many pages there are, and which of them are free.
			binary.BigEndian.PutUint32(head[1][28:], uint32(info.Size()/headPage))
			clear(head[1][32:40])
		}
	}
	for number, content := range head {
		if err == nil {
			_, err = f.WriteAt(content, (number-1)*headPage)
		}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	from, err := sqlite.OpenConn(f.Name(), sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	from.SetInterrupt(ctx.Done())
	err = use(from)
	_ = from.Close() // a copy of a damaged file, which goes
	return err
}

// headPage is the size of a page in every file of octavo's, in bytes.
const headPage = 4096

// newHead makes a file of the first version of the schema and returns its pages that define tables, by number.
func (s *Store) newHead(ctx context.Context) (head map[int64][]byte, err error) {
	f, err := os.CreateTemp(s.dir, salvagedPrefix+"*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, removeAll(f.Name(), f.Name()+"-journal")) }()
	if err := f.Close(); err != nil {
		return nil, err
	}
	conn, err := sqlite.OpenConn(f.Name(), sqlite.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	head = map[int64][]byte{}
	first := schema
	first.Migrations = schema.Migrations[:1]
	err = sqlitemigration.Migrate(ctx, conn, first)
	if err == nil {
		err = query(conn, "SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'", func(stmt *sqlite.Stmt) error {
			head[stmt.ColumnInt64(0)] = make([]byte, headPage)
			return nil
		})
	}
	if err = errors.Join(err, conn.Close()); err != nil {
		return nil, err
	}
	whole, err := os.ReadFile(f.Name())
	for number, content := range head {
		copy(content, whole[min(int64(len(whole)), (number-1)*headPage):])
	}
	return head, err
}

// fill makes s, which is empty, of what can be read of from. Where no session can be, it is errUndefined, and nothing is made; again
// says that from has a new head already, and the file is of no use then.
func (s *Store) fill(ctx context.Context, from, into *sqlite.Conn, again bool, damage string, r *RepairReport) error {
	if err := s.prepareFile(ctx, into, 0); err != nil {
		return err
	}
	// The tables behind a virtual one are written like any other, and so is the sequence of session numbers.
	if err := into.SetDefensive(false); err != nil {
		return err
	}
	into.SetInterrupt(ctx.Done())
	useless := func(why string) error {
		return &CorruptError{Path: filepath.Join(s.dir, FileName), Detail: damage + ", and " + why, Backups: s.backups()}
	}
	err := s.transact(ctx, into, SessionChanged, func(conn *sqlite.Conn) error {
		v := salvage{store: s, from: from, into: conn, copied: map[string]int64{}, lost: map[string][]span{}, entries: map[int64]int64{}}
		if err := v.copyAll(again); err != nil {
			return err
		}
		if v.copied["session"]+v.copied["entry"] == 0 && len(v.lost["session"])+len(v.lost["entry"]) > 0 {
			if again {
				return useless("no session in it can be read")
			}
			return errUndefined
		}
		v.tell(damage, r)
		if len(v.lost["total"]) > 0 { // nothing to tell of: usage rows have it all
			m := s.mending(conn, &RepairReport{})
			if err := errors.Join(m.listSessions(), m.totals()); err != nil {
				return err
			}
		}
		return s.mend(conn, r)
	})
	if err != nil {
		return err
	}
	left, err := findDamage(into, wholeFile)
	if err == nil && left != "" {
		err = useless("what was read of it makes no sound database: " + left)
	}
	return err
}

// swap puts a new database in the place of the damaged one, which nobody has open, and the copy of that one beside it: among the
// backups it would be taken for one.
func (s *Store) swap(fresh string, r *RepairReport) error {
	r.Damaged = s.path + ".damaged-" + strings.TrimSuffix(filepath.Base(r.Backup), ".db")
	for _, suffix := range []string{logSuffix, ""} {
		if err := os.Rename(r.Backup+suffix, r.Damaged+suffix); err != nil && !(suffix != "" && errors.Is(err, fs.ErrNotExist)) {
			return errors.Join(err, os.Remove(fresh))
		}
	}
	r.Backup = ""
	// A log that is left would be taken for the new file's. What it held was read, and is in the copy.
	if err := removeAll(s.path+logSuffix, s.path+indexSuffix); err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	if err := os.Rename(fresh, s.path); err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	return syncFolder(s.dir)
}

// syncFolder makes what was renamed in a folder survive a power cut.
func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// salvage copies rows from a damaged database into a new one.
type salvage struct {
	store   *Store // the new one
	from    *sqlite.Conn
	into    *sqlite.Conn
	made    []object          // what the damaged file says it holds
	copied  map[string]int64  // rows by table
	lost    map[string][]span // keys that could not be read by table; everything for a table that cannot be read by keys
	entries map[int64]int64   // how many entries sessions have, by number
	newest  int64             // highest session number known
}

// object is a table, index, trigger or view of the damaged file.
type object struct{ kind, name, sql string }

func (o object) virtual() bool {
	return strings.HasPrefix(strings.ToUpper(o.sql), "CREATE VIRTUAL TABLE")
}

// table is how one is copied.
type table struct {
	name    string
	columns []string
	order   []string // the columns of its key
	numbers bool     // the first of them is an integer
	entries bool     // which is an entryKey
	shadow  bool     // it is behind a virtual table, which made rows of its own
}

// unique says that no two rows share a number.
func (t table) unique() bool { return t.numbers && len(t.order) == 1 }

// everything is the range of all keys that octavo gives.
var everything = span{0, math.MaxInt64}

// copyAll copies octavo's own tables and then those of extensions, each as far as it can be read.
func (v *salvage) copyAll(again bool) error {
	// So that a definition that cannot be read does not hide the others, damage is met before it is taken for content, and not every
	// one of many small reads looks after the file.
	for _, sql := range []string{"PRAGMA writable_schema = ON", "PRAGMA cell_size_check = ON", "BEGIN"} {
		if err := transient(v.from, sql); err != nil && !unreadable(err) {
			return err
		}
	}
	defined, err := v.read("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'", func(stmt *sqlite.Stmt) error {
		v.made = append(v.made, object{stmt.ColumnText(0), stmt.ColumnText(1), stmt.ColumnText(2)})
		return nil
	})
	if err != nil {
		return err
	}
	defined = defined && !again
	older := false
	_, err = v.read("PRAGMA user_version", func(stmt *sqlite.Stmt) error {
		older = stmt.ColumnInt(0) < len(schema.Migrations)
		return nil
	})
	if err != nil {
		return err
	}
	var own []string
	err = query(v.into, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name <> 'session'", func(stmt *sqlite.Stmt) error {
		own = append(own, stmt.ColumnText(0)) // sessions come first: they say how far their entries go
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range own {
		there := slices.ContainsFunc(v.made, func(o object) bool { return o.kind == "table" && o.name == name })
		switch {
		case there:
			err = v.copyTable(name)
		case !older || !defined:
			v.lost[name] = []span{everything}
		}
		if err == nil && name == "session" {
			err = v.learn()
		}
		if err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
	}
	if err := v.refer(); err != nil {
		return err
	}
	return v.extensions(own, defined)
}

// read runs a query on the damaged file. It is whole unless the file kept it from its end; errors of row are returned.
func (v *salvage) read(sql string, row func(*sqlite.Stmt) error, args ...any) (whole bool, err error) {
	var own error
	err = query(v.from, sql, func(stmt *sqlite.Stmt) error {
		own = row(stmt)
		return own
	}, args...)
	switch {
	case own != nil:
		return false, own
	case sqlite.ErrCode(err).ToPrimary() == sqlite.ResultInterrupt:
		return false, err
	}
	return err == nil, nil
}

// describe says how a table of the new file is copied.
func (v *salvage) describe(name string) (table, error) {
	t := table{name: name, entries: name == "entry" || name == "blob_reference"}
	var rowid bool
	err := query(v.into, "SELECT type, wr FROM pragma_table_list(?) WHERE schema = 'main'", func(stmt *sqlite.Stmt) error {
		t.shadow, rowid = stmt.ColumnText(0) == "shadow", !stmt.ColumnBool(1)
		return nil
	}, name)
	if err != nil {
		return t, err
	}
	there := map[string]bool{}
	_, err = v.read("SELECT name FROM pragma_table_info(?)", func(stmt *sqlite.Stmt) error {
		there[stmt.ColumnText(0)] = true
		return nil
	}, name)
	if err != nil {
		return t, err
	}
	var integer bool // the first column of the key
	err = query(v.into, "SELECT name, type FROM pragma_table_info(?) ORDER BY pk = 0, pk", func(stmt *sqlite.Stmt) error {
		if there[stmt.ColumnText(0)] {
			if len(t.columns) == 0 {
				integer = strings.EqualFold(stmt.ColumnText(1), "INTEGER")
			}
			t.columns = append(t.columns, stmt.ColumnText(0))
		}
		return nil
	}, name)
	if err != nil {
		return t, err
	}
	err = query(v.into, "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", func(stmt *sqlite.Stmt) error {
		t.order = append(t.order, stmt.ColumnText(0))
		return nil
	}, name)
	t.numbers = integer && len(t.order) > 0
	if rowid && !(t.numbers && len(t.order) == 1) { // its rows are in the order of a number that is no column
		t.columns, t.order, t.numbers = append([]string{"rowid"}, t.columns...), []string{"rowid"}, true
	}
	return t, err
}

func quoted(columns []string, suffix string) string {
	var b strings.Builder
	for i, c := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(`"` + strings.ReplaceAll(c, `"`, `""`) + `"` + suffix)
	}
	return b.String()
}

// copyTable copies the rows that can be read.
func (v *salvage) copyTable(name string) error {
	t, err := v.describe(name)
	if err != nil {
		return err
	}
	unsure := false
	for ranges := []span{everything}; len(ranges) > 0; ranges = ranges[1:] {
		rest, err := v.copyEnds(t, ranges[0])
		switch {
		case err != nil:
			return err
		case rest.lo > rest.hi:
			continue
		case !t.numbers:
			v.lost[name] = []span{everything}
			return nil
		}
		near, beyond := v.bounded(t, rest)
		lost, err := v.search(t, near)
		if err != nil {
			return err
		}
		v.lost[name] = append(v.lost[name], lost...)
		switch {
		case beyond.lo > beyond.hi:
		case slices.ContainsFunc(lost, func(x span) bool { return x.hi+1 == beyond.lo || x.lo-1 == beyond.hi }):
			unsure = true // the damage goes on, nobody knows how far
		default:
			ranges = append(ranges, beyond)
		}
	}
	if v.lost[name] = joined(v.lost[name]); unsure {
		v.lost[name] = []span{everything}
	}
	return nil
}

// search copies what it finds in ranges that cannot be read at once, and returns what is lost of them.
func (v *salvage) search(t table, queue []span) (lost []span, err error) {
	for probes := 0; len(queue) > 0; probes++ {
		x, err := v.copyEnds(t, queue[0])
		if err != nil {
			return nil, err
		}
		queue = queue[1:]
		switch {
		case x.lo > x.hi:
		case x.lo == x.hi, probes >= maxProbes:
			lost = append(lost, x)
		default: // wide parts first, so that what is sound between two damaged places is found early
			mid := x.lo + (x.hi-x.lo)/2
			queue = append(queue, span{x.lo, mid}, span{mid + 1, x.hi})
		}
	}
	return lost, nil
}

// joined sorts spans and makes one of those that touch.
func joined(list []span) []span {
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	var out []span
	for _, x := range list {
		if n := len(out); n > 0 && x.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, x.hi)
		} else {
			out = append(out, x)
		}
	}
	return out
}

// bounded says where rows are looked for between two places that cannot be read. An end of a table that cannot be read is endless: of
// that, what is near comes first, and what is beyond when the damage has an end before. Where keys are those of entries, sessions say
// which there can be.
func (v *salvage) bounded(t table, x span) (near []span, beyond span) {
	none := span{1, 0}
	if !t.entries {
		far := reach + reachEach*v.copied[t.name]
		switch {
		case x.hi == everything.hi && x.lo < x.hi-far:
			return []span{{x.lo, x.lo + far}}, span{x.lo + far + 1, x.hi}
		case x.lo == everything.lo && x.hi > far:
			return []span{{x.hi - far, x.hi}}, span{x.lo, x.hi - far - 1}
		}
		return []span{x}, none
	}
	for number := max(1, x.lo>>seqBits); number <= min(v.newest, x.hi>>seqBits); number++ {
		most, known := v.entries[number]
		if !known {
			most = reach
		}
		s := span{max(x.lo, entryKey(number, 1)), min(x.hi, entryKey(number, min(most, MaxEntries)))}
		if s.lo <= s.hi {
			near = append(near, s)
		}
	}
	return near, none
}

// copyEnds copies the rows of a range from its beginning and, where that does not get through, from its end. It returns what
// neither reached.
func (v *salvage) copyEnds(t table, x span) (rest span, err error) {
	verb := "INSERT OR IGNORE"
	if t.shadow || t.name == "home" { // which are not empty
		verb = "INSERT OR REPLACE"
	}
	insert := verb + " INTO " + quoted([]string{t.name}, "") + " (" + quoted(t.columns, "") + ") VALUES (?" + strings.Repeat(", ?", len(t.columns)-1) + ")"
	choose := "SELECT " + quoted(t.columns, "") + " FROM " + quoted([]string{t.name}, "")
	var args []any
	if t.numbers {
		choose += " WHERE " + quoted(t.order[:1], "") + " BETWEEN ? AND ?"
		args = []any{x.lo, x.hi}
	}
	key := slices.Index(t.columns, t.order[0])
	step := int64(b2i(t.unique()))
	rest = x
	for _, d := range []struct {
		order string
		end   *int64
		step  int64
	}{{"", &rest.lo, step}, {" DESC", &rest.hi, -step}} {
		whole, err := v.read(choose+" ORDER BY "+quoted(t.order, d.order), func(stmt *sqlite.Stmt) error {
			if t.numbers {
				*d.end = stmt.ColumnInt64(key) + d.step
			}
			copied, err := v.insert(insert, stmt)
			switch {
			case copied:
				v.copied[t.name]++
			case t.unique(): // not a row that was read before
				v.lost[t.name] = append(v.lost[t.name], span{stmt.ColumnInt64(key), stmt.ColumnInt64(key)})
			}
			return err
		}, args...)
		if err != nil || whole {
			return span{1, 0}, err
		}
	}
	return rest, nil
}

// insert copies one row, unless the new table has it or forbids it.
func (v *salvage) insert(sql string, row *sqlite.Stmt) (copied bool, err error) {
	args := make([]any, row.ColumnCount())
	for i := range args {
		switch row.ColumnType(i) {
		case sqlite.TypeInteger:
			args[i] = row.ColumnInt64(i)
		case sqlite.TypeFloat:
			args[i] = row.ColumnFloat(i)
		case sqlite.TypeText:
			args[i] = row.ColumnText(i)
		case sqlite.TypeBlob:
			args[i] = columnBytes(row, i)
		}
	}
	err = exec(v.into, sql, args...)
	if sqlite.ErrCode(err).ToPrimary() == sqlite.ResultConstraint {
		return false, nil
	}
	return err == nil && v.into.Changes() > 0, err
}

// learn finds out which sessions there are: from their rows, from an index where rows are lost, and from the sequence of their
// numbers, which goes on where it was.
func (v *salvage) learn() error {
	if v.lost["session"] != nil {
		for _, order := range []string{"", " DESC"} {
			_, err := v.read("SELECT number, id, updated FROM session INDEXED BY session_updated ORDER BY updated"+order+", id"+order, func(stmt *sqlite.Stmt) error {
				return exec(v.into, `INSERT OR IGNORE INTO session (number, id, name, workspace, model, effort, policy, parent, parent_seq, created, updated)
					VALUES (?1, ?2, '', '', '', '', '', '', 0, ?3, ?3)`, stmt.ColumnInt64(0), stmt.ColumnText(1), stmt.ColumnInt64(2))
			})
			if err != nil {
				return err
			}
		}
	}
	err := query(v.into, "SELECT number, entries, model || workspace <> '' FROM session", func(stmt *sqlite.Stmt) error {
		number := stmt.ColumnInt64(0)
		if v.newest = max(v.newest, number); stmt.ColumnBool(2) {
			v.entries[number] = stmt.ColumnInt64(1)
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = v.read("SELECT seq FROM sqlite_sequence WHERE name = 'session'", func(stmt *sqlite.Stmt) error {
		v.newest = max(v.newest, stmt.ColumnInt64(0))
		return nil
	})
	if err != nil {
		return err
	}
	if err := exec(v.into, "DELETE FROM sqlite_sequence WHERE name = 'session'"); err != nil {
		return err
	}
	return exec(v.into, "INSERT INTO sqlite_sequence (name, seq) VALUES ('session', ?)", v.newest)
}

// refer looks for references to blobs in the entries themselves where the list of references is lost: a blob that nothing refers to
// would be swept away. It takes every hash of a blob that is there for a reference, whatever the entry means by it.
func (v *salvage) refer() error {
	hash := regexp.MustCompile("[0-9a-f]{64,}")
	for _, x := range v.lost["blob_reference"] {
		type reference struct {
			entry int64
			hash  string
		}
		var found []reference
		err := query(v.into, "SELECT key, payload FROM entry WHERE key BETWEEN ? AND ?", func(stmt *sqlite.Stmt) error {
			for _, h := range hash.FindAll(columnBytes(stmt, 1), -1) {
				if len(h) != hashLength {
					continue
				}
				if _, err := os.Lstat(v.store.blobPath(string(h))); err == nil {
					found = append(found, reference{stmt.ColumnInt64(0), string(h)})
				}
			}
			return nil
		}, x.lo, x.hi)
		if err != nil {
			return err
		}
		for _, r := range found {
			if err := exec(v.into, "INSERT OR IGNORE INTO blob_reference (entry, hash) VALUES (?, ?)", r.entry, r.hash); err != nil {
				return err
			}
		}
	}
	return nil
}

// extensions makes the tables of extensions and copies their rows. Where it is not known for sure what there was and which migrations
// have run, extensions begin anew: a migration that runs a second time would fail, and with it octavo.
func (v *salvage) extensions(own []string, defined bool) error {
	if !defined || v.lost["ledger"] != nil || v.lost["ledger_migration"] != nil {
		v.lost["ledger"] = []span{everything}
		for _, name := range []string{"ledger", "ledger_migration"} {
			if err := exec(v.into, "DELETE FROM "+name); err != nil {
				return err
			}
		}
		return nil
	}
	v.made = slices.DeleteFunc(v.made, func(o object) bool { return o.kind == "table" && slices.Contains(own, o.name) })
	plain := func(o object) bool { return o.kind == "table" && !o.virtual() }
	kind := func(kind string) func(object) bool { return func(o object) bool { return o.kind == kind } }
	for _, step := range []struct {
		of func(object) bool
		do func(object) error
	}{
		// A virtual table makes the tables behind it. What an index or a trigger does with rows was done when they were stored.
		{object.virtual, v.create}, {plain, v.create}, {plain, func(o object) error { return v.copyTable(o.name) }}, {object.virtual, v.settle},
		{kind("index"), v.create}, {kind("view"), v.create}, {kind("trigger"), v.create},
	} {
		for _, o := range v.made {
			if !step.of(o) {
				continue
			}
			if err := step.do(o); err != nil {
				return fmt.Errorf("%s %s: %w", o.kind, o.name, err)
			}
		}
	}
	return nil
}

// create makes what the damaged file had, unless it is there.
func (v *salvage) create(o object) error {
	known := false
	err := query(v.into, "SELECT 1 FROM sqlite_schema WHERE type = ? AND name = ?", func(*sqlite.Stmt) error { known = true; return nil }, o.kind, o.name)
	if err != nil || known {
		return err
	}
	return transient(v.into, o.sql)
}

// settle sees to it that a virtual table agrees with the tables behind it: as copied, else with its index made again, else empty.
func (v *salvage) settle(o object) error {
	name := quoted([]string{o.name}, "")
	for _, attempt := range [][]string{nil, {"INSERT INTO " + name + " (" + name + ") VALUES ('rebuild')"}, {"DROP TABLE " + name, o.sql}} {
		for _, sql := range attempt {
			if err := transient(v.into, sql); err != nil && !unreadable(err) {
				return err
			}
		}
		if found, err := findDamage(v.into, "PRAGMA integrity_check("+name+")"); err != nil || found == "" {
			return err
		}
		v.lost[o.name] = []span{everything}
	}
	return nil
}

// contents says what the rows of a table are to a person. What can be told from other rows is not here: that is mended.
var contents = map[string]string{
	"session": "names, workspaces and models of sessions", "input": "waiting inputs", "request": "usage of sessions", "spent": "usage of removed sessions", "tag": "tags", "prompt": "remembered prompts",
	"preference": "preferences", "ledger": "what extensions had stored", "home": "the home's own id",
}

// derived are the tables whose losses are found again by mend.
var derived = []string{"blob", "blob_reference", "entry", "ledger_migration", "total"}

// tell reports what became of the damaged file.
func (v *salvage) tell(damage string, r *RepairReport) {
	var rows int64
	for _, n := range v.copied {
		rows += n
	}
	r.mended("", "the database file was damaged (%s); %d rows of it could be read and make a new one", damage, rows)
	for _, name := range slices.Sorted(maps.Keys(v.lost)) {
		if len(v.lost[name]) == 0 || slices.Contains(derived, name) {
			continue
		}
		what := cmp.Or(contents[name], "rows of table "+name)
		var most int64
		for _, x := range v.lost[name] {
			if most += x.hi - x.lo + 1; x == everything {
				most = 0
				break
			}
		}
		if most > 0 {
			r.broken("", "%s: up to %d could not be read", what, most)
		} else {
			r.broken("", "%s: some or all of it could not be read", what)
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
