package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"octavo/ext"
	"octavo/ext/model"
	"octavo/pages/text"
)

const (
	// Source is where the refreshed catalogue comes from.
	Source = "https://models.dev/api.json"
	// UpdateLimit is how long a download may take.
	UpdateLimit = 30 * time.Second
	// MaxRedirects is how many addresses may pass a download on.
	MaxRedirects = 5

	connectLimit = 10 * time.Second
)

// Change is what an update brought, compared with what was known before. The models are provider/model, in order.
type Change struct {
	Refreshed Refreshed
	New       []string
	Repriced  []string // with another price, or one where none was known
	Gone      []string
}

// CheckSource says what is wrong with an address to download from: it has to be https, or http on this machine, and holds no
// password.
func CheckSource(address string) error {
	_, err := source(address)
	return err
}

func source(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, errors.New("it is no URL")
	case u.User != nil:
		return nil, errors.New("it holds a user name or a password")
	case u.Hostname() == "":
		return nil, errors.New("it names no host")
	case u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname()):
		return u, nil
	}
	return nil, errors.New("only https is taken, and http on this machine")
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}

// Update downloads the catalogue into a home, the file being replaced as a whole or, on any failure, not at all. It asks nobody but
// the address and what that passes it on to, and ends within UpdateLimit.
func Update(ctx context.Context, home, address string) (Change, error) {
	return update(ctx, home, address, limits{MaxFile, UpdateLimit})
}

type limits struct {
	bytes int64
	time  time.Duration
}

func update(ctx context.Context, home, address string, l limits) (Change, error) {
	u, err := source(address)
	if err != nil {
		return Change{}, fmt.Errorf("nothing can be downloaded from there: %w", err)
	}
	raw, err := download(ctx, u, l)
	if err != nil {
		return Change{}, fmt.Errorf("download of %s: %w", shown(u), err)
	}
	c, err := compare(home, raw)
	if err != nil {
		return Change{}, fmt.Errorf("what %s sent is not a catalogue: %w", shown(u), err)
	}
	if err := write(c.Refreshed.Path, raw); err != nil {
		return Change{}, fmt.Errorf("the catalogue could not be written: %w", err)
	}
	return c, nil
}

// shown is an address without what may be secret in it.
func shown(u *url.URL) string { return u.Scheme + "://" + u.Host + u.Path }

func download(ctx context.Context, u *url.URL, l limits) ([]byte, error) {
	limited, cancel := context.WithTimeoutCause(ctx, l.time, fmt.Errorf("it took longer than %s", text.Duration(l.time)))
	defer cancel()
	raw, err := fetch(limited, u, l.bytes)
	if err != nil && limited.Err() != nil {
		return nil, context.Cause(limited)
	}
	return raw, err
}

func fetch(ctx context.Context, u *url.URL, most int64) ([]byte, error) {
	t := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: connectLimit}).DialContext,
		TLSHandshakeTimeout: connectLimit,
		ForceAttemptHTTP2:   true,
	}
	defer t.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, errors.New("it is no URL")
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "octavo")
	reply, err := (&http.Client{Transport: t, CheckRedirect: follow}).Do(request)
	if err != nil {
		if e := (*url.Error)(nil); errors.As(err, &e) {
			err = e.Err // it would repeat the whole address
		}
		return nil, err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answered %d %s", reply.StatusCode, http.StatusText(reply.StatusCode))
	}
	if reply.ContentLength > most {
		return nil, tooLarge(most)
	}
	raw, err := readAll(reply.Body, max(reply.ContentLength, 0), most)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it broke off")
	}
	return raw, err
}

// follow decides whether a download may go on elsewhere: never by another scheme.
func follow(r *http.Request, via []*http.Request) error {
	if len(via) > MaxRedirects {
		return fmt.Errorf("it was passed on more than %d times", MaxRedirects)
	}
	if _, err := source(r.URL.String()); err != nil {
		return fmt.Errorf("it passes on to %s: %w", shown(r.URL), err)
	}
	if first := via[0].URL.Scheme; r.URL.Scheme != first {
		return fmt.Errorf("it passes on from %s to %s", first, shown(r.URL))
	}
	return nil
}

// compare checks what was downloaded, and says what it would change.
func compare(home string, raw []byte) (Change, error) {
	d, err := take(raw)
	if err != nil {
		return Change{}, err
	}
	if !json.Valid(raw) {
		return Change{}, errors.New("it is damaged JSON")
	}
	list, skipped := d.all()
	if len(list) == 0 {
		return Change{}, errors.New("it lists no model")
	}
	c := Change{Refreshed: Refreshed{Path: filepath.Join(home, File), Fetched: time.Now(),
		Providers: countProviders(list), Models: len(list), Skipped: skipped}}
	var old []ext.CatalogueModel
	if d, _, err := read(home, MaxFile); err == nil {
		old, _ = d.all()
	}
	before, after := prices(old), prices(list)
	for name, price := range after {
		if was, there := before[name]; !there {
			c.New = append(c.New, name)
		} else if !samePrice(was, price) {
			c.Repriced = append(c.Repriced, name)
		}
	}
	for name := range before {
		if _, there := after[name]; !there {
			c.Gone = append(c.Gone, name)
		}
	}
	for _, names := range [...][]string{c.New, c.Repriced, c.Gone} {
		slices.Sort(names)
	}
	return c, nil
}

// prices are those of all models that are known with a refreshed catalogue of these rows.
func prices(list []ext.CatalogueModel) map[string]*model.Price {
	all := map[string]*model.Price{}
	for _, source := range [...][]ext.CatalogueModel{rows().list, list} { // the second is believed
		for _, row := range source {
			all[row.Provider+"/"+row.ID] = row.Info.Price
		}
	}
	return all
}

// write replaces a file by one of mode 0600 that is whole on the disk before it has the name.
func write(name string, raw []byte) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+File+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails, as it should, once it is renamed
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
