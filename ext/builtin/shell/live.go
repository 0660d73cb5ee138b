package shell

import (
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"octavo/pages/text"
)

const (
	// liveInterval is how long output is gathered before it is shown, so that a person sees it grow and a front end is not
	// called for every write.
	liveInterval = 50 * time.Millisecond
	// floodInterval takes its place while more comes than can be shown.
	floodInterval = 400 * time.Millisecond
	// maxPending is how many bytes one delta has at most; older ones are left out and counted.
	maxPending = 64 << 10
)

// live shows output while it comes. One goroutine calls progress, and ends with end.
type live struct {
	progress func(delta string)
	wake     chan struct{} // holds one
	quit     chan struct{}
	done     chan struct{}

	mu      sync.Mutex
	pending strings.Builder
	omitted int // bytes dropped before pending
}

func startLive(progress func(string)) *live {
	l := &live{progress: progress, wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
	go l.run()
	return l
}

// add is called with clean text.
func (l *live) add(s string) {
	if s == "" {
		return
	}
	l.mu.Lock()
	if l.pending.Len()+len(s) > maxPending {
		l.drop(s)
	} else {
		l.pending.WriteString(s)
	}
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// drop makes room for s by leaving out the older half and more, so that a flood is not copied for every write.
func (l *live) drop(s string) {
	all := l.pending.String() + s
	at := len(all) - maxPending/2
	for at < len(all) && !utf8.RuneStart(all[at]) {
		at++
	}
	if i := strings.IndexByte(all[at:], '\n'); 0 <= i && i < maxPending/4 {
		at += i + 1
	}
	l.omitted += at
	l.pending.Reset()
	l.pending.WriteString(all[at:])
}

// end shows what is left and waits.
func (l *live) end() {
	close(l.quit)
	<-l.done
}

func (l *live) run() {
	defer close(l.done)
	pause := time.NewTimer(0)
	defer pause.Stop()
	<-pause.C
	for {
		select {
		case <-l.wake:
		case <-l.quit:
			l.flush()
			return
		}
		// The first words are shown at once; those that follow wait.
		interval := liveInterval
		if l.flush() {
			interval = floodInterval
		}
		pause.Reset(interval)
		select {
		case <-pause.C:
		case <-l.quit:
			l.flush()
			return
		}
	}
}

// flush hands over what is pending and reports whether some was left out.
func (l *live) flush() bool {
	l.mu.Lock()
	delta, omitted := l.pending.String(), l.omitted
	l.pending.Reset()
	l.omitted = 0
	l.mu.Unlock()
	if omitted > 0 {
		delta = fmt.Sprintf("… %s left out …\n", text.Plural(omitted, "byte")) + delta
	}
	if delta != "" {
		l.progress(delta)
	}
	return omitted > 0
}
