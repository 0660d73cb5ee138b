package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"octavo/sessionstore"
)

// A person's words are durable before they are acknowledged, a tool call
// before it runs.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "octavo-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	s, err := sessionstore.Open(ctx, sessionstore.Options{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	if err := s.CreateSession(ctx, sessionstore.Session{ID: "s1", Workspace: "/work"}); err != nil {
		log.Fatal(err)
	}
	lock, err := s.LockSession(ctx, "s1")
	if err != nil {
		log.Fatal(err)
	}
	defer lock.Release()

	steps := []struct {
		point  sessionstore.Point
		change sessionstore.Change
	}{
		{sessionstore.TurnStarted, sessionstore.Change{
			Append:  []sessionstore.NewEntry{{Kind: "user", Turn: "t1", Payload: []byte("list the files")}},
			Stage:   &sessionstore.StageChange{Stage: sessionstore.StageModel, Turn: "t1"},
			Preview: "list the files",
		}},
		{sessionstore.ToolCallStored, sessionstore.Change{
			Append: []sessionstore.NewEntry{{Kind: "call", Turn: "t1", Payload: []byte("ls")}},
			Stage:  &sessionstore.StageChange{Stage: sessionstore.StageTool, Turn: "t1"},
		}},
	}
	for _, step := range steps {
		receipt, err := s.Commit(ctx, "s1", step.point, step.change)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(step.point, receipt.Last)
	}

	_, err = s.LockSession(ctx, "s1")
	var held *sessionstore.HeldError
	fmt.Println(errors.As(err, &held), held.PID == os.Getpid())

	// Output:
	// turn started 1
	// tool call stored 2
	// true true
}
