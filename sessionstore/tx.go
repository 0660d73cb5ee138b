package sessionstore

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
)

// Tx is a transaction handed to an extension's function, for as long as that
// runs and on its goroutine only.
//
// Arguments are nil, bool, int, int32, int64, uint32, float64, string, []byte,
// *int64 (nil is NULL) and time.Time (Unix milliseconds; zero is 0).
type Tx struct {
	conn   *sqlite.Conn // nil once the function has returned
	guard  *guard       // of the connection; nil where it never writes
	active []string     // queries whose rows are being read
}

var errTxOver = errors.New("the transaction is over")

// Exec runs one statement that returns no rows of interest.
func (tx *Tx) Exec(query string, args ...any) error {
	return tx.Query(query, nil, args...)
}

// Query runs one statement and calls row for each row. An error of row ends
// it. The Row is valid only during the call; row may use the transaction.
func (tx *Tx) Query(query string, row func(*Row) error, args ...any) error {
	if tx.conn == nil {
		return errTxOver
	}
	stmt, done, err := tx.prepare(query)
	if err != nil {
		return forbidden(err)
	}
	defer done()
	var each func(*sqlite.Stmt) error
	if row != nil {
		each = func(stmt *sqlite.Stmt) error { return row(&Row{stmt}) }
	}
	return forbidden(run(stmt, each, args))
}

// forbidden names what the guard refused.
func forbidden(err error) error {
	if sqlite.ErrCode(err) == sqlite.ResultAuth {
		return fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	return err
}

// prepare uses the connection's cache, unless the cached statement is at work
// further up the stack: a recursive walk would pull its rows away.
func (tx *Tx) prepare(query string) (stmt *sqlite.Stmt, done func(), err error) {
	for _, q := range tx.active {
		if q != query {
			continue
		}
		stmt, _, err := tx.prepareNew(query)
		if err != nil {
			return nil, nil, err
		}
		return stmt, func() { _ = stmt.Finalize() }, nil // it repeats the error of the last step
	}
	tx.announce()
	if stmt, err = tx.conn.Prepare(query); err != nil {
		return nil, nil, err
	}
	tx.active = append(tx.active, query)
	return stmt, func() { tx.active = tx.active[:len(tx.active)-1] }, nil
}

func (tx *Tx) prepareNew(query string) (stmt *sqlite.Stmt, trailing int, err error) {
	tx.announce()
	return tx.conn.PrepareTransient(query)
}

func (tx *Tx) announce() {
	if tx.guard != nil {
		tx.guard.next()
	}
}

// Script runs several statements separated by ';', without arguments: for
// schema migrations.
func (tx *Tx) Script(script string) error {
	if tx.conn == nil {
		return errTxOver
	}
	for rest := strings.TrimSpace(script); rest != ""; {
		stmt, trailing, err := tx.prepareNew(rest)
		if err != nil {
			return forbidden(err)
		}
		rest = strings.TrimSpace(rest[len(rest)-trailing:])
		err = run(stmt, nil, nil)
		_ = stmt.Finalize() // it repeats the error of the last step
		// MISUSE is the answer to the empty statement that a last comment is.
		if err != nil && sqlite.ErrCode(err) != sqlite.ResultMisuse {
			return err
		}
	}
	return nil
}

// Changes is the number of rows the last INSERT, UPDATE or DELETE touched.
func (tx *Tx) Changes() int {
	if tx.conn == nil {
		return 0
	}
	return tx.conn.Changes()
}

// Row is one row of a Query. Columns count from 0; a column that is NULL or not
// there reads as the zero value.
type Row struct{ stmt *sqlite.Stmt }

// IsNull says whether a column is NULL.
func (r *Row) IsNull(col int) bool { return r.stmt.ColumnIsNull(col) }

// Int64 reads an integer.
func (r *Row) Int64(col int) int64 { return r.stmt.ColumnInt64(col) }

// Bool reads an integer as truth.
func (r *Row) Bool(col int) bool { return r.stmt.ColumnBool(col) }

// Float64 reads a number.
func (r *Row) Float64(col int) float64 { return r.stmt.ColumnFloat(col) }

// Text reads a string.
func (r *Row) Text(col int) string { return r.stmt.ColumnText(col) }

// Bytes reads a blob; the slice is the caller's.
func (r *Row) Bytes(col int) []byte { return columnBytes(r.stmt, col) }

// Time reads what a time.Time argument stored, in UTC.
func (r *Row) Time(col int) time.Time { return fromMillis(r.stmt.ColumnInt64(col)) }
