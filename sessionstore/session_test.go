package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"octavo/sessionstore"
)

// clock is a settable time.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func newClock() *clock { return &clock{time.Date(2026, 11, 30, 12, 0, 0, 123456789, time.UTC)} }

func (c *clock) step(d time.Duration) { c.now = c.now.Add(d) }

func ids(list []sessionstore.Session) (out []string) {
	for _, s := range list {
		out = append(out, s.ID)
	}
	return out
}

func TestSessionComesBackAsItWasStored(t *testing.T) {
	ctx, c := context.Background(), newClock()
	dir := t.TempDir()
	s := open(t, sessionstore.Options{Dir: dir, Now: c.Now})
	in := sessionstore.Session{
		ID: "a", Name: "näme", Workspace: "/w\xff", Model: "m", Effort: "high", Policy: "controlled",
		Preview: "  first\n\tline \x00 of text  ",
	}
	if err := s.CreateSession(ctx, in); err != nil {
		t.Fatal(err)
	}
	want := in
	want.Created = c.now.Truncate(time.Millisecond)
	want.Updated, want.Stage, want.Preview = want.Created, sessionstore.StageIdle, "first line of text"

	c.step(time.Hour)
	for epoch := range int64(2) {
		if got, err := s.NextEpoch(ctx, "a"); err != nil || got != epoch+1 {
			t.Fatalf("epoch %d, %v", got, err)
		}
	}
	want.Epoch = 2
	name, effort := "renamed", ""
	if err := s.PatchSession(ctx, "a", sessionstore.SessionPatch{Name: &name, Effort: &effort}); err != nil {
		t.Fatal(err)
	}
	want.Name, want.Effort = name, effort

	reopened := open(t, sessionstore.Options{Dir: dir})
	got, err := reopened.Session(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if reopened.HomeID() == "" || reopened.HomeID() != s.HomeID() {
		t.Errorf("home ids %q and %q", s.HomeID(), reopened.HomeID())
	}
	if err := s.CreateSession(ctx, in); !errors.Is(err, sessionstore.ErrExists) {
		t.Errorf("second creation: %v", err)
	}
}

func TestSessionFieldsHaveBounds(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	for i, c := range []struct {
		session sessionstore.Session
		ok      bool
	}{
		{sessionstore.Session{ID: strings.Repeat("a", sessionstore.MaxID)}, true},
		{sessionstore.Session{ID: strings.Repeat("a", sessionstore.MaxID+1)}, false},
		{sessionstore.Session{ID: ""}, false},
		{sessionstore.Session{ID: "../../etc/passwd"}, false},
		{sessionstore.Session{ID: ".hidden"}, false},
		{sessionstore.Session{ID: "a b"}, false},
		{sessionstore.Session{ID: "name-fits", Name: strings.Repeat("n", sessionstore.MaxName)}, true},
		{sessionstore.Session{ID: "name-long", Name: strings.Repeat("n", sessionstore.MaxName+1)}, false},
		{sessionstore.Session{ID: "escape", Name: "a\x1b[31m"}, false},
		{sessionstore.Session{ID: "newline", Model: "a\nb"}, false},
		{sessionstore.Session{ID: "no-utf8", Policy: "\xff"}, false},
		{sessionstore.Session{ID: "path-fits", Workspace: strings.Repeat("/", sessionstore.MaxPath)}, true},
		{sessionstore.Session{ID: "path-long", Workspace: strings.Repeat("/", sessionstore.MaxPath+1)}, false},
		{sessionstore.Session{ID: "path-nul", Workspace: "/a\x00b"}, false},
	} {
		err := s.CreateSession(ctx, c.session)
		if c.ok && err != nil || !c.ok && !errors.Is(err, sessionstore.ErrInvalid) {
			t.Errorf("case %d: %v", i, err)
		}
	}
	for i, c := range []struct {
		text string
		want string
	}{
		{strings.Repeat("x", sessionstore.MaxPreview), strings.Repeat("x", sessionstore.MaxPreview)},
		{strings.Repeat("x", sessionstore.MaxPreview+1), strings.Repeat("x", sessionstore.MaxPreview)},
		{strings.Repeat("x", sessionstore.MaxPreview-1) + "é", strings.Repeat("x", sessionstore.MaxPreview-1)},
		{"a\xffb", "a\uFFFDb"},
	} {
		id := fmt.Sprintf("preview-%d", i)
		if err := s.CreateSession(ctx, sessionstore.Session{ID: id, Preview: c.text}); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Session(ctx, id); err != nil || got.Preview != c.want {
			t.Errorf("preview of %d bytes: %q, %v", len(c.text), got.Preview, err)
		}
	}
	long := strings.Repeat("n", sessionstore.MaxName+1)
	create(t, s, "patched")
	if err := s.PatchSession(ctx, "patched", sessionstore.SessionPatch{Name: &long}); !errors.Is(err, sessionstore.ErrInvalid) {
		t.Errorf("long name: %v", err)
	}
}

func TestSessionsAreListedNewestFirst(t *testing.T) {
	ctx, c := context.Background(), newClock()
	s := open(t, sessionstore.Options{Now: c.Now})
	for i, v := range []sessionstore.Session{
		{ID: "alpha-1", Workspace: "/one", Name: "50% done"},
		{ID: "alpha-2", Workspace: "/two", Preview: "Fix the_parser"},
		{ID: "beta-1", Workspace: "/one", Name: "alpha-1x"},
		{ID: "beta-2", Workspace: "/one"},
	} {
		if i != 3 { // the last two share their time
			c.step(time.Minute)
		}
		if err := s.CreateSession(ctx, v); err != nil {
			t.Fatal(err)
		}
	}
	c.step(time.Minute)
	commit(t, s, "alpha-1", sessionstore.NoteStored, sessionstore.Change{}) // activity moves it up

	for _, q := range []struct {
		filter sessionstore.Filter
		want   string
	}{
		{sessionstore.Filter{}, "alpha-1 beta-2 beta-1 alpha-2"},
		{sessionstore.Filter{Limit: 2}, "alpha-1 beta-2"},
		{sessionstore.Filter{Workspace: "/one"}, "alpha-1 beta-2 beta-1"},
		{sessionstore.Filter{Query: "ALPHA"}, "alpha-1 beta-1 alpha-2"},
		{sessionstore.Filter{Query: "lpha-2"}, ""}, // ids match from their beginning
		{sessionstore.Filter{Query: "0%"}, "alpha-1"},
		{sessionstore.Filter{Query: "e_p"}, "alpha-2"},
		{sessionstore.Filter{Query: `\`}, ""},
		{sessionstore.Filter{Query: "/two"}, "alpha-2"},
		{sessionstore.Filter{Deleted: true}, ""},
	} {
		list, err := s.Sessions(ctx, q.filter)
		if got := strings.Join(ids(list), " "); err != nil || got != q.want {
			t.Errorf("%+v: %s, %v", q.filter, got, err)
		}
	}
	var paged []string
	for f := (sessionstore.Filter{Limit: 1}); ; {
		list, err := s.Sessions(ctx, f)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 {
			break
		}
		paged = append(paged, list[0].ID)
		f.Before = list[0].Cursor()
	}
	if got := strings.Join(paged, " "); got != "alpha-1 beta-2 beta-1 alpha-2" {
		t.Errorf("page by page: %s", got)
	}
	if v, err := s.Latest(ctx, "/two"); err != nil || v.ID != "alpha-2" {
		t.Errorf("latest: %s, %v", v.ID, err)
	}
	if _, err := s.Latest(ctx, "/three"); !errors.Is(err, sessionstore.ErrNotFound) {
		t.Errorf("latest of nothing: %v", err)
	}
}

func TestResolveFindsWhatAPersonMeans(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	for _, v := range []sessionstore.Session{
		{ID: "abc"}, {ID: "abcd"}, {ID: "xyz-1", Name: "abcd"}, {ID: "xyz-2", Name: "twice"}, {ID: "q", Name: "twice"}, {ID: "gone-1"},
	} {
		if err := s.CreateSession(ctx, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.DeleteSession(ctx, "gone-1"); err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[string]string{
		"abc": "abc", "abcd": "abcd", "xyz-1": "xyz-1", "xyz-2": "xyz-2", "q": "q",
		"a": "ambiguous", "xyz": "ambiguous", "twice": "ambiguous",
		"": "none", "gone": "none", "gone-1": "none", "%": "none", "abc~": "none", "a'b": "none",
	} {
		v, err := s.Resolve(ctx, prefix)
		var several *sessionstore.AmbiguousError
		got := v.ID
		switch {
		case errors.As(err, &several):
			got = "ambiguous"
			if len(several.Candidates) != 2 || !strings.Contains(err.Error(), several.Candidates[1].ID) {
				t.Errorf("%q: %v", prefix, err)
			}
		case errors.Is(err, sessionstore.ErrNotFound):
			got = "none"
		case err != nil:
			t.Errorf("%q: %v", prefix, err)
		}
		if got != want {
			t.Errorf("%q resolves to %s, want %s", prefix, got, want)
		}
	}
}

func TestDeletingCanBeUndoneUntilPurged(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	create(t, s, "a")
	commit(t, s, "a", sessionstore.NoteStored, sessionstore.Change{
		Append:  []sessionstore.NewEntry{{Kind: "k", Payload: []byte("kept")}},
		Enqueue: []sessionstore.Input{{ID: "i", Kind: "chat"}}, Requests: []sessionstore.Request{request("r")},
	})
	for range 2 { // again changes nothing
		if err := s.DeleteSession(ctx, "a"); err != nil {
			t.Fatal(err)
		}
	}
	refused := []error{
		func() error { _, err := s.Session(ctx, "a"); return err }(),
		func() error { _, err := s.NextEpoch(ctx, "a"); return err }(),
		s.PatchSession(ctx, "a", sessionstore.SessionPatch{}),
		s.Fork(ctx, "a", 1, sessionstore.Session{ID: "b"}),
		func() error {
			_, err := s.Commit(ctx, "a", sessionstore.NoteStored, sessionstore.Change{})
			return err
		}(),
	}
	for i, err := range refused {
		if !errors.Is(err, sessionstore.ErrDeleted) || !errors.Is(err, sessionstore.ErrNotFound) {
			t.Errorf("use %d of a deleted session: %v", i, err)
		}
	}
	trash, err := s.Sessions(ctx, sessionstore.Filter{Deleted: true})
	if err != nil || len(trash) != 1 || trash[0].Deleted.IsZero() {
		t.Errorf("trash: %+v, %v", trash, err)
	}
	if err := s.RestoreSession(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, s, "a", sessionstore.Range{}); len(got) != 1 || string(got[0].Payload) != "kept" {
		t.Errorf("restored: %+v", got)
	}

	if err := s.PurgeSession(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"restore": s.RestoreSession(ctx, "a"), "delete": s.DeleteSession(ctx, "a"), "purge": s.PurgeSession(ctx, "a"),
	} {
		if !errors.Is(err, sessionstore.ErrNotFound) || errors.Is(err, sessionstore.ErrDeleted) {
			t.Errorf("%s after the purge: %v", what, err)
		}
	}
	// A session that reuses the id, and inside the file the number, starts empty.
	create(t, s, "a")
	totals, err := s.Totals(ctx, "a")
	if inputs, e := s.Inputs(ctx, "a"); err != nil || e != nil || len(inputs) != 0 || totals != (sessionstore.Totals{}) {
		t.Errorf("reused id: %+v, %+v, %v, %v", inputs, totals, err, e)
	}
	if got := entries(t, s, "a", sessionstore.Range{}); len(got) != 0 {
		t.Errorf("reused id: %+v", got)
	}
}

// Whatever a person types is searched for literally.
func FuzzQueryFindsItsOwnName(f *testing.F) {
	for _, seed := range []string{"a", "%", "_", `\`, `\%`, "50%_", "é", "'; DROP TABLE session; --", `\\__%%`} {
		f.Add(seed)
	}
	s := open(f, sessionstore.Options{})
	create(f, s, "other")
	create(f, s, "a")
	f.Fuzz(func(t *testing.T, text string) {
		ctx := context.Background()
		if err := s.PatchSession(ctx, "a", sessionstore.SessionPatch{Name: &text}); errors.Is(err, sessionstore.ErrInvalid) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		list, err := s.Sessions(ctx, sessionstore.Filter{Query: text})
		if err != nil || !strings.Contains(strings.Join(ids(list), " ")+" ", "a ") {
			t.Errorf("query %q: %v, %v", text, ids(list), err)
		}
		if _, err := s.Resolve(ctx, text); err != nil && !errors.Is(err, sessionstore.ErrNotFound) {
			t.Errorf("resolve %q: %v", text, err)
		}
	})
}

// A preview is one clean line, whatever the first text was.
func FuzzPreviewIsOneLine(f *testing.F) {
	for _, seed := range []string{"", "a", "a\nb", "\x1b[31mred", strings.Repeat("é", 200), "\xff\xfe", strings.Repeat(" ", 20_000) + "x", "\u0085\u2028", strings.Repeat("x", sessionstore.MaxPreview-1) + " y"} {
		f.Add(seed)
	}
	s := open(f, sessionstore.Options{})
	n := 0
	f.Fuzz(func(t *testing.T, text string) {
		n++
		id := fmt.Sprintf("s-%d", n)
		create(t, s, id)
		commit(t, s, id, sessionstore.InputAccepted, sessionstore.Change{Preview: text})
		v, err := s.Session(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		if p := v.Preview; len(p) > sessionstore.MaxPreview || !utf8.ValidString(p) || strings.ContainsFunc(p, unicode.IsControl) || p != strings.TrimSpace(p) {
			t.Errorf("preview %q of %q", p, text)
		}
	})
}
