package sessionstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"octavo/sessionstore"
)

// childEnv makes the test binary play a second octavo: it holds an order.
const childEnv = "SESSIONSTORE_TEST_CHILD"

// order is what a child does, and where it dies.
type order struct {
	Role  string // a key of roles
	Dir   string
	Start int // number of its first turn or fact
	Count int
	Point sessionstore.Point // killed here,
	Phase sessionstore.Phase // on this side,
	Nth   int                // the nth time it comes by; 0: never
}

var roles = map[string]func(order, *sessionstore.Store) error{
	"turns": playTurns,
	"facts": playFacts,
	"write": playWriter,
	"hold":  playHolder,
}

func TestMain(m *testing.M) {
	if text := os.Getenv(childEnv); text != "" {
		if err := play(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func play(text string) error {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	left := o.Nth
	s, err := sessionstore.Open(context.Background(), sessionstore.Options{
		Dir: o.Dir, Now: childClock,
		Observe: func(p sessionstore.Point, phase sessionstore.Phase) {
			if p != o.Point || phase != o.Phase || o.Nth == 0 {
				return
			}
			if left--; left == 0 {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {} // SIGKILL needs a moment; nothing may happen in it
			}
		},
	})
	if err != nil {
		return err
	}
	if err := roles[o.Role](o, s); err != nil {
		return err
	}
	return s.Close()
}

// ack tells the parent that a step is durable. Standard output is a pipe: what
// was written arrives, however the process ends.
func ack() { _, _ = os.Stdout.WriteString("ack\n") }

// runChild runs an order to its end and returns how many steps were
// acknowledged. It fails the test unless the child died as ordered.
func runChild(t *testing.T, o order) (acks int) {
	t.Helper()
	out, err := childCommand(t, o).Output()
	var exit *exec.ExitError
	killed := errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
	if killed != (o.Nth > 0) || err != nil && !killed {
		if exit != nil {
			t.Fatalf("child %+v: %v\n%s", o, err, exit.Stderr)
		}
		t.Fatalf("child %+v: ended without being killed: %v", o, err)
	}
	return strings.Count(string(out), "ack\n")
}

func childCommand(t *testing.T, o order) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	return cmd
}
