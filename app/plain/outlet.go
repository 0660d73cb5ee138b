package plain

import (
	"io"
	"sync/atomic"
	"time"
)

// outlet writes to what may not be read for a long time: the pipe of a pager, a terminal that was halted with ctrl+s. A goroutine
// of its own does the writing, so that a person can leave although a write is stuck.
type outlet struct {
	dst     io.Writer
	writes  chan []byte
	wrote   chan written // holds one, so that a write nobody waits for any more ends the goroutine all the same
	writing atomic.Bool
	left    chan struct{} // closed by abandon
	done    chan struct{}
}

type written struct {
	n   int
	err error
}

func newOutlet(dst io.Writer) *outlet {
	o := &outlet{dst: dst, writes: make(chan []byte), wrote: make(chan written, 1), left: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(o.done)
		for p := range o.writes {
			n, err := o.dst.Write(p)
			o.wrote <- written{n, err}
		}
	}()
	return o
}

// Write waits until p is written or the outlet is abandoned, when it fails with ErrInterrupted. It is called by one goroutine at a
// time, and p must not change after that error.
func (o *outlet) Write(p []byte) (int, error) {
	select {
	case <-o.left:
		return 0, ErrInterrupted
	default:
	}
	o.writing.Store(true)
	defer o.writing.Store(false)
	o.writes <- p // it waits for this: the write before has been answered
	select {
	case w := <-o.wrote:
		return w.n, w.err
	case <-o.left:
		return 0, ErrInterrupted
	}
}

// stuck reports whether a write is under way.
func (o *outlet) stuck() bool { return o.writing.Load() }

// abandon has every write fail from now on, also one that is under way. It may be called once, by any goroutine.
func (o *outlet) abandon() { close(o.left) }

// close ends the goroutine after the last Write. It waits for it unless that sits in an abandoned write that nothing can end.
func (o *outlet) close() {
	close(o.writes)
	select {
	case <-o.left:
		d, ok := o.dst.(interface{ SetWriteDeadline(time.Time) error })
		if ok && d.SetWriteDeadline(time.Unix(1, 0)) == nil {
			<-o.done
			_ = d.SetWriteDeadline(time.Time{})
		}
	default:
		<-o.done
	}
}
