package settings

import (
	"context"
	"sync"
	"time"
)

// fetches are the keys that a command or the keyring has, by id. One that was got is kept for the life of the process, for getting
// it may ask a person for a passphrase; a failure is not kept. The zero value is ready, and safe for concurrent use.
type fetches struct {
	commandTime, keyringTime time.Duration                              // KeyCommandTimeout and KeyringTimeout when 0
	ask                      func(service, user string) (string, error) // the keyring's; nil is the library's

	mu sync.Mutex
	by map[string]*fetch
}

// fetch is one key that was got or is being got.
type fetch struct {
	done chan struct{} // closed when key and err are there
	key  string
	err  error
}

// get answers the key kept under id, or what read says, which runs once however many wait for it. The wait ends with ctx, read does
// not: who comes later waits for it too. An error of read is told to all who wait, and the next one reads anew.
func (f *fetches) get(ctx context.Context, id string, read func() (string, error)) (string, error) {
	one := f.begin(id, read)
	select {
	case <-one.done:
		return one.key, one.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (f *fetches) begin(id string, read func() (string, error)) *fetch {
	f.mu.Lock()
	defer f.mu.Unlock()
	one, ok := f.by[id]
	if !ok {
		one = &fetch{done: make(chan struct{})}
		if f.by == nil {
			f.by = map[string]*fetch{}
		}
		f.by[id] = one
		go f.run(id, one, read)
	}
	return one
}

func (f *fetches) run(id string, one *fetch, read func() (string, error)) {
	one.key, one.err = read()
	if one.err != nil {
		f.mu.Lock()
		delete(f.by, id)
		f.mu.Unlock()
	}
	close(one.done)
}
