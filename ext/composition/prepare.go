package composition

import (
	"context"
	"errors"
	"fmt"
	"time"

	"octavo/ext"
)

const (
	// PrepareTime bounds the preparation of one extension.
	PrepareTime = 10 * time.Second
	// PrepareGrace is how long an extension may take to give up when its time is over or nobody waits for it any more.
	PrepareGrace = time.Second
)

// prepare adds what the extension prepares. One that does not come back even in PrepareGrace is left behind, because nothing can
// make it: its goroutine then closes what it may still come to give.
func (p *part) prepare(ctx context.Context, s Selection) error {
	if p.extension.Prepare == nil {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, PrepareTime)
	defer cancel()
	given := make(chan prepared)
	behind := make(chan struct{})
	defer close(behind)
	prep := s.Prep
	prep.Ledger = s.Ledgers[p.extension.Name]
	go func() {
		o := prepared{err: errors.New("its preparation ended without an answer")}
		defer func() {
			select {
			case given <- o:
			case <-behind:
				o.close()
			}
		}()
		o = run(limited, p.extension, prep)
	}()
	o, back := await(limited, given)
	switch {
	case ctx.Err() != nil:
		o.close()
		return ctx.Err()
	case !back, o.err != nil && errors.Is(o.err, limited.Err()):
		return fmt.Errorf("it was not ready after %v", PrepareTime)
	case o.err != nil:
		return o.err
	}
	if o.contribution != nil {
		p.gives = append(p.gives, *o.contribution)
	}
	return nil
}

// prepared is what a preparation came to.
type prepared struct {
	contribution *ext.Contribution
	err          error
}

// close lets go of what was prepared for nobody.
func (o prepared) close() {
	if o.err == nil && o.contribution != nil && o.contribution.Close != nil {
		_ = guard(func() error { o.contribution.Close(); return nil }) // there is nobody to tell
	}
}

func run(ctx context.Context, e ext.Extension, prep ext.Prep) (o prepared) {
	o.err = guard(func() (err error) {
		o.contribution, err = e.Prepare(ctx, prep)
		return err
	})
	return o
}

// await waits for a preparation; back is false when it did not come.
func await(ctx context.Context, given <-chan prepared) (o prepared, back bool) {
	select {
	case o = <-given:
		return o, true
	case <-ctx.Done():
	}
	grace := time.NewTimer(PrepareGrace)
	defer grace.Stop()
	select {
	case o = <-given:
		return o, true
	case <-grace.C:
		return prepared{}, false
	}
}

// errPanic marks an error that was a panic in an extension.
var errPanic = errors.New("panic")

// guard turns a panic of f into its error.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errPanic, r)
		}
	}()
	return f()
}
