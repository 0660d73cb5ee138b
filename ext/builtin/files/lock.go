package files

import (
	"context"
	"sync"
)

// locks lets one call at a time change a file. Calls of every session of a process share it.
type locks struct {
	mu   sync.Mutex
	held map[string]*fileLock
}

type fileLock struct {
	turn  chan struct{} // holds one value while somebody has the lock
	users int           // that hold it or wait for it
}

// lock waits for its turn on the file at an absolute path. The error is the context's.
func (l *locks) lock(ctx context.Context, path string) (unlock func(), err error) {
	l.mu.Lock()
	if l.held == nil {
		l.held = make(map[string]*fileLock)
	}
	f := l.held[path]
	if f == nil {
		f = &fileLock{turn: make(chan struct{}, 1)}
		l.held[path] = f
	}
	f.users++
	l.mu.Unlock()

	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if f.users--; f.users == 0 {
			delete(l.held, path)
		}
	}
	select {
	case f.turn <- struct{}{}:
		return func() { <-f.turn; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
