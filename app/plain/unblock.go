package plain

import (
	"context"
	"time"
)

// until does a read that may never end, and answers the cause of ctx's end when that comes first. The read is then ended as well
// where src, what it reads from, allows it; where nothing can, its goroutine stays until the read ends by itself and holds nothing
// but what it reads.
func until[T any](ctx context.Context, src any, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := read()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		unblock(src, func() { <-done })
		var none T
		return none, context.Cause(ctx)
	}
}

// unblock ends the Read of src that is under way, has it waited for, and leaves src as it was. Where src cannot do that, such as a
// terminal, it does nothing.
func unblock(src any, wait func()) {
	d, ok := src.(interface{ SetReadDeadline(time.Time) error })
	if ok && d.SetReadDeadline(time.Unix(1, 0)) == nil {
		wait()
		_ = d.SetReadDeadline(time.Time{})
	}
}
