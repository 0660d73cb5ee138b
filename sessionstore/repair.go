package sessionstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
)

const (
	// aloneWait is how long Repair waits for other processes to let go of the database.
	aloneWait = time.Second
	// maxRuns is how many runs of missing entries one finding lists.
	maxRuns = 8
	// maxMarks is how many missing entries of one session are marked as lost. Where more are missing, a damaged number is more
	// likely than a session that long, and the gap stays one.
	maxMarks = 1 << 14

	salvagedPrefix = FileName + ".salvaged-" // begins the name of a new file until it is whole

	logSuffix   = "-wal" // what SQLite calls the write-ahead log of a file
	indexSuffix = "-shm" // and the index of that log
)

// Payloads is what those who store payloads know of them. The store only keeps them; Repair asks.
type Payloads struct {
	// Entry and Input say why the payload of a stored entry, or of a waiting input, is of no use; nil when it is what was stored. Each
	// may be nil itself: every payload is taken.
	Entry, Input func(kind string, payload []byte) error
	// Lost is what stands in the place of an entry that is lost; Entry must take it. Nil: nothing does, and the number is left out.
	Lost func() (kind string, payload []byte)
}

// RepairReport is what Repair found and did.
type RepairReport struct {
	// Backup is the database file as it was found, byte for byte; with -wal behind its name is its write-ahead log, if it had one.
	// Empty when nothing was found, and so nothing changed.
	Backup string
	// Damaged is that file instead where it was replaced by what could be read of it, and Backup is then empty.
	Damaged string

	Sessions, Entries, Blobs int64 // what there is now, deleted sessions included
	Findings                 []Finding
}

// Finding is one thing that was not as it should be.
type Finding struct {
	Session string // the session it is about; empty: the home
	Text    string // what was found and what became of it, one line
	Mended  bool   // false: something is lost, or only a person can mend it
}

// Broken says whether something is lost or stays wrong.
func (r RepairReport) Broken() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return !f.Mended })
}

func (r *RepairReport) mended(session, format string, args ...any) {
	r.Findings = append(r.Findings, Finding{session, fmt.Sprintf(format, args...), true})
}

func (r *RepairReport) broken(session, format string, args ...any) {
	r.Findings = append(r.Findings, Finding{session, fmt.Sprintf(format, args...), false})
}

// Repair checks a home that nobody has open and mends what can be mended (product.md 5, decision 7). It copies the database first,
// then checks the whole file, and what sessions, totals, blobs and their counts say of each other. What can be told from the rest is
// set right in one transaction. An entry that cannot be read, or is missing before another one, gives its place to one that says so
// (Options.Payloads), so that its session can go on; a waiting input that cannot be read is removed. A damaged file is replaced by a new one with all rows that can be read; it is never changed or
// removed, and stays where RepairReport.Damaged says.
//
// It takes the home for itself: while it runs, opening the home waits. *HeldError when a process has a session or the home open,
// this one included; ErrNotFound when the home has no database; *NewerError, *FullError, *UnwritableError as for Open; *CorruptError
// when nothing can be read. On an error the database is as it was, and a Backup that is reported is there.
func Repair(ctx context.Context, o Options) (RepairReport, error) {
	var r RepairReport
	s := &Store{now: o.Now, lockWait: o.LockWait, observe: o.Observe, payloads: o.Payloads}
	if s.now == nil {
		s.now = time.Now
	}
	if s.lockWait <= 0 {
		s.lockWait = DefaultLockWait
	}
	if s.observe == nil {
		s.observe = func(Point, Phase) {}
	}
	dir, err := filepath.Abs(o.Dir)
	if err == nil && o.Dir == "" {
		err = fmt.Errorf("no folder named: %w", ErrInvalid)
	}
	if err == nil {
		s.dir, s.path = dir, filepath.Join(dir, FileName)
		err = s.repair(ctx, &r)
	}
	if err != nil {
		return r, fmt.Errorf("repair home %s: %w", o.Dir, s.explain(ctx, err))
	}
	return r, nil
}

func (s *Store) repair(ctx context.Context, r *RepairReport) error {
	if _, err := os.Stat(s.path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("it has no %s: %w", FileName, ErrNotFound)
	}
	if err := ensureFile(s.path); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(s.dir, locksDir), homeMode); err != nil {
		return err
	}
	// Nobody opens the home while this is held.
	gate, err := s.waitLock(ctx, "open", "the home "+s.dir)
	if err != nil {
		return err
	}
	defer gate.free()
	lease, err := s.tryLock("home", "the home "+s.dir)
	if err != nil {
		return err
	}
	defer lease.free()
	if err := s.nobodyAtWork(); err != nil {
		return err
	}
	if err := s.tidy(); err != nil {
		return err
	}
	conn, err := sqlite.OpenConn(s.path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	fresh, err := s.work(ctx, conn, r)
	closing := conn.Close()
	if err == nil && fresh != "" {
		return s.swap(fresh, r)
	}
	err = errors.Join(err, closing)
	if r.Backup == "" || err == nil && len(r.Findings) > 0 || err != nil && logged(r.Backup) {
		return err
	}
	// Nothing was changed. Closing a file that has a log does that, whatever came before.
	needless := r.Backup
	r.Backup = ""
	return errors.Join(err, removeAll(needless, needless+logSuffix))
}

// logged says that a file has a log.
func logged(path string) bool {
	info, err := os.Stat(path + logSuffix)
	return err == nil && info.Size() > 0
}

// removeAll removes files that need not be there.
func removeAll(paths ...string) error {
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// work mends the database, or returns the path of a new one that is to take its place.
func (s *Store) work(ctx context.Context, conn *sqlite.Conn, r *RepairReport) (fresh string, err error) {
	conn.SetInterrupt(ctx.Done())
	if err := s.beAlone(conn); err != nil {
		return "", err
	}
	if r.Backup, err = s.copyAway(); err != nil {
		return "", err
	}
	damage, err := s.damage(conn)
	switch {
	case err != nil:
		return "", err
	case damage == "":
		return "", s.mendFile(ctx, conn, r)
	}
	return s.salvage(ctx, conn, damage, r)
}

// tidy removes what a repair that was killed had begun.
func (s *Store) tidy() error {
	names, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, d := range names {
		if strings.HasPrefix(d.Name(), salvagedPrefix) {
			if err := os.Remove(filepath.Join(s.dir, d.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// nobodyAtWork refuses when a session is open anywhere: its turn would go on over what is mended.
func (s *Store) nobodyAtWork() error {
	names, err := os.ReadDir(filepath.Join(s.dir, locksDir))
	if err != nil {
		return err
	}
	for _, d := range names {
		id, isSession := strings.CutPrefix(d.Name(), sessionLockPrefix)
		id, isLock := strings.CutSuffix(id, lockSuffix)
		if !isSession || !isLock {
			continue
		}
		held, err := s.holder(id)
		if err != nil {
			return err
		}
		if held != nil {
			held.Next = "close it there, then repair again"
			return held
		}
	}
	return nil
}

// beAlone takes the database for this connection alone. In this mode SQLite does not share the file even while nothing is read, so
// that every other open connection stands in the way, also one of this process.
func (s *Store) beAlone(conn *sqlite.Conn) error {
	conn.SetBusyTimeout(aloneWait)
	if err := pragma(conn, "locking_mode = EXCLUSIVE"); err != nil {
		return err
	}
	err := transient(conn, "SELECT count(*) FROM sqlite_schema")
	if sqlite.ErrCode(err).ToPrimary() == sqlite.ResultBusy {
		return &HeldError{What: "the home " + s.dir, Next: "end every octavo that uses it, then repair again"}
	}
	return nil // what else is wrong is what this is about
}

// copyAway copies the database and its log as they are. Backup would have SQLite read it, which a damaged file does not survive, and
// only a copy from before the last connection closes has a log that still is one. Closing the file that is read here takes SQLite's
// locks on it away; the gate keeps other processes out.
func (s *Store) copyAway() (path string, err error) {
	if err := os.MkdirAll(s.backups(), homeMode); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(s.backups(), s.now().UTC().Format("20060102-150405-*.db"))
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			_ = removeAll(f.Name(), f.Name()+logSuffix) // the error says what counts
		}
	}()
	if err := errors.Join(copyFile(f, s.path), f.Close()); err != nil {
		return "", err
	}
	if _, err := os.Stat(s.path + logSuffix); err != nil {
		return f.Name(), nil // it was closed properly
	}
	log, err := os.OpenFile(f.Name()+logSuffix, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
	if err != nil {
		return "", err
	}
	return f.Name(), errors.Join(copyFile(log, s.path+logSuffix), log.Close())
}

// copyFile fills a new file with another's content and waits for the disk.
func copyFile(into *os.File, path string) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	if _, err := io.Copy(into, from); err != nil {
		return err
	}
	return into.Sync()
}

// damage reads the whole file and says what is wrong with it as a file, "" when nothing is.
func (s *Store) damage(conn *sqlite.Conn) (string, error) {
	if _, err := s.inspect(conn); err != nil {
		if !unreadable(err) {
			return "", err
		}
		return reason(err), nil
	}
	return findDamage(conn, wholeFile)
}

// wholeFile is the check of a whole file; it stops at the first thing it finds.
const wholeFile = "PRAGMA integrity_check(1)"

// findDamage says what a check finds, "" when that is nothing.
func findDamage(conn *sqlite.Conn, check string) (found string, err error) {
	stmt, _, err := conn.PrepareTransient(check)
	if err == nil {
		err = run(stmt, func(stmt *sqlite.Stmt) error {
			if line := stmt.ColumnText(0); line != "ok" && found == "" {
				found = line
			}
			return nil
		}, nil)
		_ = stmt.Finalize() // it repeats the error of the last step
	}
	if unreadable(err) {
		return reason(err), nil
	}
	// What SQLite says has a headline of its own and then one line for each thing.
	return strings.Join(strings.Fields(strings.TrimPrefix(found, "*** in database main ***")), " "), err
}

// unreadable says that an error is about what the file holds, not about how it is used.
func unreadable(err error) bool {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultCorrupt, sqlite.ResultNotADB, sqlite.ResultIOErr, sqlite.ResultTooBig:
		return true
	}
	return false
}

// mendFile mends a file that is whole.
func (s *Store) mendFile(ctx context.Context, conn *sqlite.Conn, r *RepairReport) error {
	if err := s.prepareFile(ctx, conn, 0); err != nil {
		return err
	}
	conn.SetInterrupt(ctx.Done())
	return s.transact(ctx, conn, SessionChanged, func(conn *sqlite.Conn) error { return s.mend(conn, r) })
}

// mend sets right what the rest of the database tells, and reports what nothing tells any more.
func (s *Store) mend(conn *sqlite.Conn, r *RepairReport) error {
	m := s.mending(conn, r)
	for _, step := range []func() error{
		m.adopt, m.payloads, m.sessions, m.totals, m.orphans, m.references, m.blobs,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// mending is one pass over a database.
type mending struct {
	store  *Store
	conn   *sqlite.Conn
	report *RepairReport
	names  map[int64]string // ids of sessions by number
	marked map[int64][]span // entries that were marked as lost by session number
}

func (s *Store) mending(conn *sqlite.Conn, r *RepairReport) *mending {
	return &mending{store: s, conn: conn, report: r, names: map[int64]string{}, marked: map[int64][]span{}}
}

// adopt makes sessions for entries and requests that have none: what was said and what was paid for must not lie where nobody sees it.
func (m *mending) adopt() error {
	if err := m.listSessions(); err != nil {
		return err
	}
	found := map[int64]bool{}
	if err := m.eachNumber(func(number int64) { found[number] = true }); err != nil {
		return err
	}
	err := query(m.conn, "SELECT DISTINCT session FROM request", func(stmt *sqlite.Stmt) error {
		found[stmt.ColumnInt64(0)] = true
		return nil
	})
	if err != nil {
		return err
	}
	for _, number := range slices.Sorted(maps.Keys(found)) {
		if _, known := m.names[number]; known {
			continue
		}
		id := fmt.Sprintf("recovered-%d", number)
		var first, last int64
		err := query(m.conn, "SELECT coalesce(min(time), ?1), coalesce(max(time), ?1) FROM entry WHERE key BETWEEN ?2 AND ?3", func(stmt *sqlite.Stmt) error {
			first, last = stmt.ColumnInt64(0), stmt.ColumnInt64(1)
			return nil
		}, m.store.now(), entryKey(number, 0), entryKey(number, MaxEntries))
		if err != nil {
			return err
		}
		err = exec(m.conn, `INSERT INTO session (number, id, name, workspace, model, effort, policy, parent, parent_seq, created, updated)
			VALUES (?, ?, '', '', '', '', '', '', 0, ?, ?)`, number, id, first, last)
		if err != nil {
			return unique(err, "session "+id)
		}
		m.names[number] = id
		m.report.mended(id, "a session without name, workspace and model was made for entries or usage that belonged to none")
	}
	return nil
}

func (m *mending) listSessions() error {
	return query(m.conn, "SELECT number, id FROM session", func(stmt *sqlite.Stmt) error {
		m.names[stmt.ColumnInt64(0)] = stmt.ColumnText(1)
		return nil
	})
}

// eachNumber calls fn for each session number that has entries, with one seek for each.
func (m *mending) eachNumber(fn func(number int64)) error {
	for at, more := int64(0), true; more; {
		more = false
		err := query(m.conn, "SELECT key FROM entry WHERE key >= ? ORDER BY key LIMIT 1", func(stmt *sqlite.Stmt) error {
			number := stmt.ColumnInt64(0) >> seqBits
			fn(number)
			at, more = entryKey(number+1, 0), true
			return nil
		}, at)
		if err != nil {
			return err
		}
	}
	return nil
}

// payloads looks into what entries and waiting inputs hold. A page that another one continues on may be overwritten without the file
// being any less sound to SQLite.
func (m *mending) payloads() error {
	p := m.store.payloads
	entries, err := m.refused("SELECT key, kind, payload FROM entry ORDER BY key", p.Entry)
	if err != nil {
		return err
	}
	for _, key := range entries {
		if err := m.mark(key); err != nil {
			return err
		}
	}
	inputs, err := m.refused("SELECT key, kind, payload FROM input ORDER BY key", p.Input)
	if err != nil {
		return err
	}
	for _, key := range inputs {
		err := query(m.conn, "SELECT session, id FROM input WHERE key = ?", func(stmt *sqlite.Stmt) error {
			m.report.broken(m.names[stmt.ColumnInt64(0)], "waiting input %s could not be read and was removed", cut(stmt.ColumnText(1), MaxID))
			return nil
		}, key)
		if err == nil {
			err = exec(m.conn, "DELETE FROM input WHERE key = ?", key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// refused lists the keys of the rows whose payload is of no use.
func (m *mending) refused(sql string, check func(kind string, payload []byte) error) (keys []int64, err error) {
	if check == nil {
		return nil, nil
	}
	err = query(m.conn, sql, func(stmt *sqlite.Stmt) error {
		if check(stmt.ColumnText(1), columnBytes(stmt, 2)) != nil {
			keys = append(keys, stmt.ColumnInt64(0))
		}
		return nil
	})
	return keys, err
}

// mark puts word of the loss in the place of an entry that is of no use; its turn and its time are kept.
func (m *mending) mark(key int64) error {
	if err := m.unreference(key, key); err != nil {
		return err
	}
	if m.store.payloads.Lost == nil {
		return exec(m.conn, "DELETE FROM entry WHERE key = ?", key)
	}
	number, seq := key>>seqBits, key&MaxEntries
	m.marked[number] = append(m.marked[number], span{seq, seq})
	kind, payload := m.store.payloads.Lost()
	return exec(m.conn, "UPDATE entry SET kind = ?, payload = ? WHERE key = ?", kind, payload, key)
}

// unreference takes away what a range of entries, by key, refers to.
func (m *mending) unreference(first, last int64) error {
	for _, sql := range []string{
		`UPDATE blob SET refs = refs - held.n
			FROM (SELECT hash, count(*) AS n FROM blob_reference WHERE entry BETWEEN ?1 AND ?2 GROUP BY hash) AS held
			WHERE blob.hash = held.hash`,
		"DELETE FROM blob_reference WHERE entry BETWEEN ?1 AND ?2",
	} {
		if err := exec(m.conn, sql, first, last); err != nil {
			return err
		}
	}
	return nil
}

// bridge marks the entries of a gap as lost. They are as old as the entry before, and of its turn where that goes on after them.
func (m *mending) bridge(number int64, gap span) error {
	var turns []string
	var at int64
	err := query(m.conn, "SELECT turn, time FROM entry WHERE key IN (?, ?) ORDER BY key", func(stmt *sqlite.Stmt) error {
		if turns = append(turns, stmt.ColumnText(0)); len(turns) == 1 {
			at = stmt.ColumnInt64(1)
		}
		return nil
	}, entryKey(number, gap.lo-1), entryKey(number, gap.hi+1))
	if err != nil {
		return err
	}
	if err := m.unreference(entryKey(number, gap.lo), entryKey(number, gap.hi)); err != nil {
		return err
	}
	turn := ""
	if len(turns) == 2 && turns[0] == turns[1] {
		turn = turns[0]
	}
	kind, payload := m.store.payloads.Lost()
	for seq := gap.lo; seq <= gap.hi; seq++ {
		err := exec(m.conn, "INSERT INTO entry (key, kind, turn, time, payload) VALUES (?, ?, ?, ?, ?)", entryKey(number, seq), kind, turn, at, payload)
		if err != nil {
			return err
		}
	}
	m.marked[number] = append(m.marked[number], gap)
	return nil
}

// stored is what a session's row says of its entries and its turn, and what there is.
type stored struct {
	number, said, count, highest int64
	stage                        Stage
	turn                         string
}

// sessions compares each session's row with its entries.
func (m *mending) sessions() error {
	var rows []stored
	err := query(m.conn, "SELECT number, entries, stage, turn FROM session ORDER BY number", func(stmt *sqlite.Stmt) error {
		rows = append(rows, stored{number: stmt.ColumnInt64(0), said: stmt.ColumnInt64(1), stage: Stage(stmt.ColumnText(2)), turn: stmt.ColumnText(3)})
		return nil
	})
	if err != nil {
		return err
	}
	m.report.Sessions = int64(len(rows))
	for _, v := range rows {
		if err := m.entries(v); err != nil {
			return err
		}
		if err := m.stage(v); err != nil {
			return err
		}
	}
	return nil
}

func (m *mending) entries(v stored) error {
	id := m.names[v.number]
	err := query(m.conn, "SELECT count(*), coalesce(max(key), 0) FROM entry WHERE key BETWEEN ? AND ?", func(stmt *sqlite.Stmt) error {
		v.count, v.highest = stmt.ColumnInt64(0), stmt.ColumnInt64(1)&MaxEntries
		return nil
	}, entryKey(v.number, 1), entryKey(v.number, MaxEntries))
	if err != nil {
		return err
	}
	m.report.Entries += v.count
	switch {
	case v.highest < v.said:
		names, verb := entryRuns([]span{{v.highest + 1, v.said}})
		m.report.broken(id, "%s %s lost; it ends with entry %d now", names, verb, v.highest)
	case v.highest > v.said:
		m.report.mended(id, "it said that it had %d entries, and has %d", v.said, v.highest)
	}
	if v.highest != v.said {
		if err := exec(m.conn, "UPDATE session SET entries = ? WHERE number = ?", v.highest, v.number); err != nil {
			return err
		}
	}
	if v.count < v.highest {
		if err := m.missing(v); err != nil {
			return err
		}
	}
	if runs := joined(m.marked[v.number]); len(runs) > 0 {
		names, verb := entryRuns(runs)
		m.report.broken(id, "%s could not be read and %s marked as lost", names, verb)
	}
	return nil
}

// missing closes the gaps in a session's numbers, or tells of them.
func (m *mending) missing(v stored) error {
	gaps, err := m.gaps(v.number)
	if err != nil {
		return err
	}
	if m.store.payloads.Lost != nil && v.highest-v.count <= maxMarks {
		for _, gap := range gaps {
			if err := m.bridge(v.number, gap); err != nil {
				return err
			}
		}
		m.report.Entries += v.highest - v.count
		return nil
	}
	id := m.names[v.number]
	names, verb := entryRuns(gaps)
	if gaps[0].lo == 1 {
		m.report.broken(id, "%s %s lost", names, verb)
	} else {
		m.report.broken(id, "%s %s lost; octavo --fork %s@%d goes on from before", names, verb, id, gaps[0].lo-1)
	}
	return nil
}

// gaps are the runs of numbers that a session's entries leave out.
func (m *mending) gaps(number int64) (gaps []span, err error) {
	next := int64(1)
	err = query(m.conn, "SELECT key FROM entry WHERE key BETWEEN ? AND ? ORDER BY key", func(stmt *sqlite.Stmt) error {
		seq := stmt.ColumnInt64(0) & MaxEntries
		if seq > next {
			gaps = append(gaps, span{next, seq - 1})
		}
		next = seq + 1
		return nil
	}, entryKey(number, 1), entryKey(number, MaxEntries))
	return gaps, err
}

// entryRuns names runs of entries as the subject of a sentence, and its verb.
func entryRuns(runs []span) (subject, verb string) {
	var names []string
	for _, g := range runs[:min(len(runs), maxRuns)] {
		if g.lo == g.hi {
			names = append(names, fmt.Sprint(g.lo))
		} else {
			names = append(names, fmt.Sprintf("%d to %d", g.lo, g.hi))
		}
	}
	if len(runs) > maxRuns {
		names = append(names, "others")
	}
	if len(runs) == 1 && runs[0].lo == runs[0].hi {
		return "entry " + names[0], "is"
	}
	return "entries " + strings.Join(names, ", "), "are"
}

// stage makes a session's stage one that a restart can go on from.
func (m *mending) stage(v stored) error {
	stage, turn := v.stage, v.turn
	switch {
	case !stage.valid(), turn == "" && (stage == StageModel || stage == StageTool):
		stage, turn = StageInterrupted, ""
	case stage == StageIdle, stage == StageInterrupted:
		turn = ""
	}
	if stage == v.stage && turn == v.turn {
		return nil
	}
	m.report.mended(m.names[v.number], "its turn was %q in stage %q, which cannot be; it is %s now", cut(v.turn, MaxID), cut(string(v.stage), MaxName), stage)
	return exec(m.conn, "UPDATE session SET stage = ?, turn = ? WHERE number = ?", string(stage), turn, v.number)
}

// totals adds the usage rows up again.
func (m *mending) totals() error {
	sums := map[int64]*Totals{}
	err := query(m.conn, `SELECT id, turn, kind, seq, provider, model, endpoint, started, finished, outcome, status, error,
		input, cache_read, cache_write, output, reasoning, cost_micro, cost_pico, session FROM request ORDER BY key`, func(stmt *sqlite.Stmt) error {
		number := stmt.ColumnInt64(19)
		if sums[number] == nil {
			sums[number] = &Totals{}
		}
		sums[number].add(scanRequest(stmt))
		return nil
	})
	if err != nil {
		return err
	}
	for _, number := range slices.Sorted(maps.Keys(m.names)) {
		said, err := readTotals(m.conn, number)
		if err != nil {
			return err
		}
		var sum Totals
		if sums[number] != nil {
			sum = *sums[number]
		}
		if said == sum {
			continue
		}
		m.report.mended(m.names[number], "its totals said %d requests and %d microdollars, its usage rows say %d and %d", said.Requests, said.CostMicro, sum.Requests, sum.CostMicro)
		if err := writeTotals(m.conn, number, sum); err != nil {
			return err
		}
	}
	return nil
}

func writeTotals(conn *sqlite.Conn, number int64, t Totals) error {
	return exec(conn, "INSERT OR REPLACE INTO total (session, "+totalColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		number, t.Requests, t.Input, t.CacheRead, t.CacheWrite, t.Output, t.Reasoning,
		t.CostMicro, t.CostPico, t.Unreported, t.Unpriced)
}

// orphans removes what belongs to sessions that do not exist.
func (m *mending) orphans() error {
	for _, x := range []struct{ table, what string }{
		{"input", "waiting inputs"}, {"tag", "tags"}, {"total", "totals"},
	} {
		if err := exec(m.conn, "DELETE FROM "+x.table+" WHERE session NOT IN (SELECT number FROM session)"); err != nil {
			return err
		}
		if n := m.conn.Changes(); n > 0 {
			m.report.mended("", "%s of sessions that do not exist were removed: %d", x.what, n)
		}
	}
	return nil
}

// references compares what entries refer to with the blobs that are known, and the blobs' counts with the references.
func (m *mending) references() error {
	if err := exec(m.conn, "DELETE FROM blob_reference WHERE entry NOT IN (SELECT key FROM entry)"); err != nil {
		return err
	}
	if n := m.conn.Changes(); n > 0 {
		m.report.mended("", "references to attachments of entries that do not exist were removed: %d", n)
	}
	counts := map[string]int64{}
	err := query(m.conn, "SELECT hash, count(*) FROM blob_reference GROUP BY hash", func(stmt *sqlite.Stmt) error {
		counts[stmt.ColumnText(0)] = stmt.ColumnInt64(1)
		return nil
	})
	if err != nil {
		return err
	}
	type wrong struct {
		hash   string
		counts int64
	}
	var list []wrong
	err = query(m.conn, "SELECT hash, refs FROM blob ORDER BY hash", func(stmt *sqlite.Stmt) error {
		hash := stmt.ColumnText(0)
		if stmt.ColumnInt64(1) != counts[hash] {
			list = append(list, wrong{hash, counts[hash]})
		}
		delete(counts, hash)
		return nil
	})
	if err != nil {
		return err
	}
	for _, w := range list {
		if err := exec(m.conn, "UPDATE blob SET refs = ? WHERE hash = ?", w.counts, w.hash); err != nil {
			return err
		}
	}
	if len(list) > 0 {
		m.report.mended("", "attachments that did not know how many entries refer to them: %d", len(list))
	}
	for hash, refs := range counts { // those without a row; with one they are looked at like the others
		if err := exec(m.conn, "INSERT INTO blob (hash, size, refs, put) VALUES (?, 0, ?, ?)", hash, refs, m.store.now()); err != nil {
			return err
		}
	}
	if len(counts) > 0 {
		m.report.mended("", "attachments that were not listed: %d", len(counts))
	}
	return nil
}

// blobs reads every blob's file.
func (m *mending) blobs() error {
	type row struct {
		hash       string
		size, refs int64
	}
	var rows []row
	err := query(m.conn, "SELECT hash, size, refs FROM blob ORDER BY hash", func(stmt *sqlite.Stmt) error {
		rows = append(rows, row{stmt.ColumnText(0), stmt.ColumnInt64(1), stmt.ColumnInt64(2)})
		return nil
	})
	if err != nil {
		return err
	}
	lost := map[string]string{}
	for _, b := range rows {
		size, why := m.read(b.hash)
		switch {
		case why == "" && size == b.size:
			m.report.Blobs++
		case why == "":
			m.report.Blobs++
			if err := exec(m.conn, "UPDATE blob SET size = ? WHERE hash = ?", size, b.hash); err != nil {
				return err
			}
			if b.size != 0 { // else it was only just listed
				m.report.mended("", "attachment %.64s said that it has %d bytes, and has %d", b.hash, b.size, size)
			}
		case b.refs == 0:
			if err := exec(m.conn, "DELETE FROM blob WHERE hash = ?", b.hash); err != nil {
				return err
			}
			m.report.mended("", "attachment %.64s, which no entry refers to, was taken off the list: %s", b.hash, why)
		default:
			lost[b.hash] = why
		}
	}
	if len(lost) == 0 {
		return nil
	}
	return query(m.conn, "SELECT entry, hash FROM blob_reference ORDER BY entry, hash", func(stmt *sqlite.Stmt) error {
		key, hash := stmt.ColumnInt64(0), stmt.ColumnText(1)
		if why, is := lost[hash]; is {
			m.report.broken(m.names[key>>seqBits], "attachment %.64s of entry %d is lost: %s", hash, key&MaxEntries, why)
		}
		return nil
	})
}

// read says how long a blob is, or why it cannot be had.
func (m *mending) read(hash string) (size int64, why string) {
	if !isHash(hash) {
		return 0, "its name is none"
	}
	data, err := readFile(m.store.blobPath(hash), MaxBlob)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, "its file is gone"
	case err != nil:
		return 0, reason(err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != hash {
		return 0, "its file " + m.store.blobPath(hash) + " holds something else"
	}
	return int64(len(data)), ""
}
