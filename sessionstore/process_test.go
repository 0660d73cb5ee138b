package sessionstore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"octavo/sessionstore"
)

const writesPerProcess = 200

func playWriter(o order, s *sessionstore.Store) error {
	ctx := context.Background()
	for n := range o.Count {
		change := sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "text", Payload: fmt.Appendf(nil, "%d", n)}}}
		for _, session := range []string{fmt.Sprintf("own-%d", o.Start), "shared"} {
			if _, err := s.Commit(ctx, session, sessionstore.NoteStored, change); err != nil {
				return err
			}
			ack()
		}
	}
	return nil
}

// Two processes write to one home at the same time, to sessions of their own
// and to one they share: nothing is lost, mixed up or refused.
func TestTwoProcessesWriteOneHome(t *testing.T) {
	dir := t.TempDir()
	s := open(t, sessionstore.Options{Dir: dir})
	create(t, s, "shared")
	results := make(chan int, 2)
	for p := range 2 {
		create(t, s, fmt.Sprintf("own-%d", p))
		go func() {
			out, err := childCommand(t, order{Role: "write", Dir: dir, Start: p, Count: writesPerProcess}).CombinedOutput()
			if err != nil {
				t.Errorf("process %d: %v\n%s", p, err, out)
			}
			results <- strings.Count(string(out), "ack\n")
		}()
	}
	for range 2 {
		if got := <-results; got != 2*writesPerProcess {
			t.Errorf("%d writes acknowledged", got)
		}
	}
	for p := range 2 {
		list := entries(t, s, fmt.Sprintf("own-%d", p), sessionstore.Range{})
		for i, e := range list {
			if e.Seq != int64(i+1) || string(e.Payload) != fmt.Sprint(i) {
				t.Fatalf("process %d: entry %d is number %d, %s", p, i, e.Seq, e.Payload)
			}
		}
		if len(list) != writesPerProcess {
			t.Errorf("process %d: %d entries", p, len(list))
		}
	}
	if got := entries(t, s, "shared", sessionstore.Range{}); len(got) != 2*writesPerProcess || got[len(got)-1].Seq != 2*writesPerProcess {
		t.Errorf("shared: %d entries", len(got))
	}
}

// Killed by someone else at no particular moment, a process has stored all it
// acknowledged and at most the one commit it was about to acknowledge.
func TestKilledAnywhereKeepsTheAcknowledged(t *testing.T) {
	dir := t.TempDir()
	s := open(t, sessionstore.Options{Dir: dir})
	create(t, s, "own-0")
	create(t, s, "shared")
	times := 30
	if testing.Short() {
		times = 5
	}
	var stored int
	for n := range times {
		cmd := childCommand(t, order{Role: "write", Dir: dir, Count: 1 << 30})
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		read := bufio.NewReader(out)
		acks := 0
		for ; acks <= n; acks++ {
			if line, err := read.ReadString('\n'); err != nil || line != "ack\n" {
				t.Fatal(line, err)
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		rest, err := io.ReadAll(read) // what it wrote until it died
		if err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		acks += strings.Count(string(rest), "ack\n")
		own, shared := entries(t, s, "own-0", sessionstore.Range{}), entries(t, s, "shared", sessionstore.Range{})
		now := len(own) + len(shared)
		if got := now - stored; got != acks && got != acks+1 {
			t.Fatalf("kill %d: %d acknowledged, %d stored", n, acks, got)
		}
		for _, list := range [][]sessionstore.Entry{own, shared} {
			if count := len(list); count > 0 && list[count-1].Seq != int64(count) {
				t.Fatalf("kill %d: the numbers have gaps", n)
			}
		}
		stored = now
	}
	if err := s.Check(context.Background()); err != nil {
		t.Error(err)
	}
}

// A process killed while it makes the home leaves one that opens.
func TestKilledWhileOpeningLeavesAHome(t *testing.T) {
	times := 20
	if testing.Short() {
		times = 4
	}
	for n := range times {
		dir := t.TempDir()
		cmd := childCommand(t, order{Role: "hold", Dir: dir})
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Duration(n) * 2 * time.Millisecond) // any moment will do
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait() // it was killed
		create(t, open(t, sessionstore.Options{Dir: dir}), "one")
	}
}

// Many processes may be the first.
func TestManyOpenOneNewHome(t *testing.T) {
	dir := t.TempDir()
	const openers = 8
	homes := make(chan string, openers)
	for range openers {
		go func() {
			s, err := sessionstore.Open(context.Background(), sessionstore.Options{Dir: dir})
			if err != nil {
				t.Error(err)
				homes <- ""
				homes <- ""
				return
			}
			homes <- s.HomeID()
			if err := s.SetPreference(context.Background(), "k", "v"); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			homes <- ""
		}()
	}
	ids := map[string]bool{}
	for range 2 * openers {
		ids[<-homes] = true
	}
	if len(ids) != 2 {
		t.Errorf("home ids %v", ids)
	}
}

// While another process writes, a write waits: until the context ends, until
// its patience ends, or until it gets its turn.
func TestAWriteWaitsForAnotherProcess(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	patient := open(t, sessionstore.Options{Dir: dir})
	hasty := open(t, sessionstore.Options{Dir: dir, LockWait: time.Millisecond})
	create(t, patient, "one")
	conn, err := sqlite.OpenConn(file(dir), sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := sqlitex.ExecuteTransient(conn, "BEGIN IMMEDIATE", nil); err != nil {
		t.Fatal(err)
	}
	note := sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "k"}}}
	_, err = hasty.Commit(ctx, "one", sessionstore.NoteStored, note)
	var busy *sessionstore.BusyError
	if !errors.As(err, &busy) {
		t.Fatalf("hasty: %v", err)
	}
	says(t, err, "another process", file(dir), "Try again")
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if _, err := patient.Commit(short, "one", sessionstore.NoteStored, note); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled: %v", err)
	}
	if got := entries(t, patient, "one", sessionstore.Range{}); len(got) != 0 { // reading does not wait
		t.Errorf("written: %+v", got)
	}
	done := make(chan error)
	go func() {
		_, err := patient.Commit(ctx, "one", sessionstore.NoteStored, note)
		done <- err
	}()
	if err := sqlitex.ExecuteTransient(conn, "COMMIT", nil); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("patient: %v", err)
	}
}

func playHolder(_ order, s *sessionstore.Store) error {
	if _, err := s.LockSession(context.Background(), "one"); err != nil {
		return err
	}
	if _, ok, err := s.HomeLease(); err != nil || !ok {
		return fmt.Errorf("lease: %v, %w", ok, err)
	}
	ack()
	_, err := io.Copy(io.Discard, os.Stdin) // until killed, or the parent is gone
	return err
}

// The second octavo is told which process has the session; a killed one leaves
// neither the session nor the lease behind.
func TestLocksNameTheirHolderAndDieWithIt(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	cmd := childCommand(t, order{Role: "hold", Dir: s.Dir()})
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil { // open as long as this process lives
		t.Fatal(err)
	}
	before := time.Now().Add(-time.Second)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	end := func() {
		if !ended {
			ended = true
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	defer end()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ack\n" {
		t.Fatal(line, err)
	}

	_, err = s.LockSession(ctx, "one")
	var held *sessionstore.HeldError
	if !errors.As(err, &held) {
		t.Fatalf("second opener: %v", err)
	}
	if held.PID != cmd.Process.Pid || held.Command != filepath.Base(os.Args[0]) || held.Since.Before(before) || held.Since.After(time.Now()) {
		t.Errorf("holder: %+v", held)
	}
	want := fmt.Sprintf("session one is open in process %d (%s, since %s); close it there, or start a new session here",
		held.PID, held.Command, held.Since.Local().Format("15:04"))
	if err.Error() != want && held.Since.Local().Day() == time.Now().Day() {
		t.Errorf("message:\n%s\nwant:\n%s", err, want)
	}
	if _, ok, err := s.HomeLease(); ok || err != nil {
		t.Errorf("lease: %v, %v", ok, err)
	}

	end()
	l, err := s.LockSession(ctx, "one")
	if err != nil {
		t.Fatalf("after the kill: %v", err)
	}
	lease, ok, err := s.HomeLease()
	if err != nil || !ok {
		t.Fatalf("lease after the kill: %v, %v", ok, err)
	}
	for range 2 { // releasing twice is allowed
		if err := errors.Join(l.Release(), lease.Release()); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(s.Dir(), "locks")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
