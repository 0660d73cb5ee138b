package composition_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"octavo/ext"
	"octavo/ext/composition"
)

func TestHangingPrepareIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		obedient := ext.Extension{Name: "obedient", Prepare: func(ctx context.Context, _ ext.Prep) (*ext.Contribution, error) {
			<-ctx.Done()
			l.add("obedient gives up")
			return nil, ctx.Err()
		}}
		release := make(chan struct{})
		deaf := ext.Extension{Name: "deaf", Prepare: func(context.Context, ext.Prep) (*ext.Contribution, error) {
			<-release
			return &ext.Contribution{Close: func() { l.add("close deaf") }}, nil
		}}
		start := time.Now()
		c := compose(t, composition.Selection{Extensions: []ext.Extension{preparing(&l, "a", ext.Contribution{}), obedient, deaf, preparing(&l, "b", ext.Contribution{})}})
		if took, want := time.Since(start), 2*composition.PrepareTime+composition.PrepareGrace; took != want {
			t.Errorf("it took %v, want %v", took, want)
		}
		same(t, "active", c.Active, []string{"a", "b"})
		same(t, "inactive", c.Inactive, []composition.Inactive{{Extension: "obedient", Reason: "it was not ready after 10s"}, {Extension: "deaf", Reason: "it was not ready after 10s"}})
		c.Close()
		close(release)
		synctest.Wait()
		same(t, "what happened", l, log{"prepare a", "obedient gives up", "prepare b", "close b", "close a", "close deaf"})
	})
}

func TestPrepareOnBothSidesOfItsTime(t *testing.T) {
	for _, x := range []struct {
		takes time.Duration
		ready bool
	}{{composition.PrepareTime - 1, true}, {composition.PrepareTime + composition.PrepareGrace + 1, false}} {
		synctest.Test(t, func(t *testing.T) {
			var l log
			slow := ext.Extension{Name: "slow", Prepare: func(context.Context, ext.Prep) (*ext.Contribution, error) {
				time.Sleep(x.takes)
				return &ext.Contribution{Close: func() { l.add("close slow") }}, nil
			}}
			c := compose(t, composition.Selection{Extensions: []ext.Extension{slow}})
			if got := len(c.Active) == 1; got != x.ready {
				t.Errorf("after %v: active %v", x.takes, got)
			}
			c.Close()
			time.Sleep(time.Second)
			synctest.Wait()
			same(t, "what happened", l, log{"close slow"})
		})
	}
}

func TestPrepareThatEndsItsGoroutine(t *testing.T) {
	gone := ext.Extension{Name: "gone", Prepare: func(context.Context, ext.Prep) (*ext.Contribution, error) {
		runtime.Goexit()
		return nil, nil
	}}
	c := compose(t, composition.Selection{Extensions: []ext.Extension{gone}})
	same(t, "inactive", c.Inactive, []composition.Inactive{{Extension: "gone", Reason: "its preparation ended without an answer"}})
}

func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		ctx, cancel := context.WithCancel(t.Context())
		release := make(chan struct{})
		during := ext.Extension{Name: "during", Prepare: func(context.Context, ext.Prep) (*ext.Contribution, error) {
			cancel()
			<-release
			return &ext.Contribution{Close: func() { l.add("close during") }}, nil
		}}
		start := time.Now()
		c, err := composition.Compose(ctx, composition.Selection{Extensions: []ext.Extension{
			preparing(&l, "a", ext.Contribution{}), preparing(&l, "b", ext.Contribution{}), during, preparing(&l, "never", ext.Contribution{})}})
		if c != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, %v", c, err)
		}
		if took := time.Since(start); took != composition.PrepareGrace {
			t.Errorf("it took %v", took)
		}
		same(t, "what happened", l, log{"prepare a", "prepare b", "close b", "close a"})
		close(release)
		synctest.Wait()
		same(t, "in the end", l[4:], log{"close during"})
	})
}

// The last preparation may succeed although nobody waits any more.
func TestCancelledAtTheLastMoment(t *testing.T) {
	var l log
	ctx, cancel := context.WithCancel(t.Context())
	last := ext.Extension{Name: "last", Prepare: func(context.Context, ext.Prep) (*ext.Contribution, error) {
		cancel()
		return &ext.Contribution{Close: func() { l.add("close last") }}, nil
	}}
	if c, err := composition.Compose(ctx, composition.Selection{Extensions: []ext.Extension{last}}); c != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", c, err)
	}
	same(t, "what happened", l, log{"close last"})
	if _, err := composition.Compose(ctx, composition.Selection{}); !errors.Is(err, context.Canceled) {
		t.Errorf("nothing to compose, cancelled: %v", err)
	}
}
