//go:build crashpoints

package main

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"octavo/sessionstore"
)

// observe kills this process with SIGKILL at the commit named by OCTAVO_CRASH_AT, "POINT/PHASE/N": the Nth crossing of that point
// on that side. Only a build with the tag crashpoints, which the tests make, has it.
func observe() func(sessionstore.Point, sessionstore.Phase) {
	parts := strings.Split(os.Getenv("OCTAVO_CRASH_AT"), "/")
	if len(parts) != 3 {
		return nil
	}
	n, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil {
		return nil
	}
	var crossed atomic.Int64
	return func(p sessionstore.Point, phase sessionstore.Phase) {
		if string(p) == parts[0] && phase.String() == parts[1] && crossed.Add(1) == n {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the signal needs a moment
		}
	}
}
