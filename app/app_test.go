package app_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"octavo/app"
	"octavo/app/api"
	"octavo/app/settings"
	"octavo/ext/model/modeltest"
	"octavo/sessionstore"
)

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// An explicit choice beats the session's own, which beats the configuration.
func TestModelPrecedence(t *testing.T) {
	d := newDesk(t)
	d.head = `model = "scripted"` // which only one provider lists
	a := d.start()
	s := d.open(a, api.OpenRequest{Name: "mine"})
	if i := d.info(s); i.Model != "scripted" && i.Model != "local/scripted" || i.Window != 1000000 {
		t.Errorf("from the configuration: %+v", i)
	}
	d.close(s)
	s = d.open(a, api.OpenRequest{ID: "mine", Model: "local/other"})
	same(t, "asked for", d.info(s).Model, "local/other")
	d.close(s)
	s = d.open(a, api.OpenRequest{ID: "mine"})
	same(t, "the session's own", d.info(s).Model, "local/other")
	d.close(s)
	s = d.open(a, api.OpenRequest{ID: "mine", Model: "scripted"})
	same(t, "by its short name", d.info(s).Model, "local/scripted")
	d.close(s)
	d.fails(a, api.OpenRequest{ID: "mine", Model: "nowhere/x"}, "nowhere")
	d.fails(a, api.OpenRequest{Model: "nowhere/x"}, "nowhere")
	same(t, "what failed to open leaves nothing", len(d.list(a, api.SessionQuery{})), 1)
	s = d.open(a, api.OpenRequest{ID: "mine"})
	same(t, "after the failures", d.info(s).Model, "local/scripted")
}

func TestEffortPrecedence(t *testing.T) {
	d := newDesk(t)
	d.head = "model = 'local/scripted'\nreasoning = 'low'"
	a := d.start()
	effort := func(want string, r api.OpenRequest) {
		t.Helper()
		s := d.open(a, r)
		same(t, fmt.Sprintf("%+v", r), d.info(s).Effort, want)
		d.close(s)
	}
	effort("low", api.OpenRequest{Name: "mine"})
	effort("high", api.OpenRequest{ID: "mine", Effort: "high"})
	effort("high", api.OpenRequest{ID: "mine"})
	d.fails(a, api.OpenRequest{ID: "mine", Effort: "max"}, "local/scripted takes the efforts low, high", `"max"`)
	effort("max", api.OpenRequest{ID: "mine", Model: "local/other", Effort: "max"}) // nothing is known of its levels
	effort("", api.OpenRequest{ID: "mine", Model: "local/scripted"})                // the level was meant for the other model
}

func TestResume(t *testing.T) {
	d := newDesk(t)
	a := d.start()
	s := d.open(a, api.OpenRequest{Name: "  the name "})
	id := s.ID()
	same(t, "name", d.info(s).Name, "the name")
	d.close(s)
	for _, by := range []string{id, id[:len(id)-4], "the name"} {
		s := d.open(a, api.OpenRequest{ID: by})
		same(t, "by "+by, s.ID(), id)
		d.close(s)
	}
	s = d.open(a, api.OpenRequest{ID: id, Name: "renamed"})
	same(t, "name", d.info(s).Name, "renamed")
	other := d.open(a, api.OpenRequest{Name: "renamed"})
	d.close(s)
	d.close(other)
	var ambiguous *sessionstore.AmbiguousError
	if err := d.fails(a, api.OpenRequest{ID: "renamed"}, id, other.ID()); !errors.As(err, &ambiguous) {
		t.Errorf("%T", err)
	}
	d.fails(a, api.OpenRequest{ID: "nobody"}, `there is no session "nobody"`, "octavo sessions list")
	d.fails(a, api.OpenRequest{ID: id, Name: "a\x1bb"}, "control character")
	d.fails(a, api.OpenRequest{Name: strings.Repeat("x", 257)}, "256")
	d.close(d.open(a, api.OpenRequest{Name: strings.Repeat("x", 256)}))
	d.close(d.open(a, api.OpenRequest{ID: id})) // whatever failed has let go of it
}

func TestLatest(t *testing.T) {
	d := newDesk(t, modeltest.Say("hello"), modeltest.Say("hello again"))
	d.head = "model = 'local/scripted'"
	a := d.start()
	d.fails(a, api.OpenRequest{Latest: true}, "no session in "+d.workspace)
	s := d.open(a, api.OpenRequest{})
	same(t, "outcome", d.say(s, "hi").Outcome, api.SettledCompleted)
	d.close(s)
	d.close(d.open(a, api.OpenRequest{Name: "named, but nothing was said in it"}))
	latest := d.open(a, api.OpenRequest{Latest: true})
	same(t, "latest", latest.ID(), s.ID())
	same(t, "outcome", d.say(latest, "and again").Outcome, api.SettledCompleted)
	if second := d.server.Requests()[1].Chat; len(second.Messages) != 4 {
		t.Errorf("the second request has %d messages", len(second.Messages))
	}
	d.close(latest)

	d.workspace = filepath.Join(filepath.Dir(d.workspace), "elsewhere")
	if err := os.Mkdir(d.workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	b := d.start()
	d.fails(b, api.OpenRequest{Latest: true}, "no session in "+d.workspace)
}

func TestWorkspaceThatIsGone(t *testing.T) {
	d := newDesk(t)
	a := d.start()
	d.close(d.open(a, api.OpenRequest{Name: "mine"}))
	moved := d.workspace + ".moved"
	if err := os.Rename(d.workspace, moved); err != nil {
		t.Fatal(err)
	}
	d.fails(a, api.OpenRequest{ID: "mine"}, d.workspace, "no longer there")
	d.fails(a, api.OpenRequest{}, d.workspace, "no longer there")
	d.write(d.workspace, "a file")
	d.fails(a, api.OpenRequest{ID: "mine"}, d.workspace, "no longer there")
	if err := errors.Join(os.Remove(d.workspace), os.Rename(moved, d.workspace)); err != nil {
		t.Fatal(err)
	}
	d.close(d.open(a, api.OpenRequest{ID: "mine"}))
	same(t, "sessions", len(d.list(a, api.SessionQuery{})), 1)
}

// Trust is given to one workspace; a session that belongs to another does not share it.
func TestTrustIsOfOneWorkspace(t *testing.T) {
	d := newDesk(t, modeltest.Say("1"), modeltest.Say("2"), modeltest.Say("3"))
	d.head, d.trusted = "model = 'local/scripted'", true
	d.write(filepath.Join(d.workspace, "AGENTS.md"), "words of the first project")
	d.write(filepath.Join(d.home, "AGENTS.md"), "words of the person")
	a := d.start()
	s := d.open(a, api.OpenRequest{Name: "first"})
	d.say(s, "hi")
	if sys := d.system(); !strings.Contains(sys, "words of the first project") || !strings.Contains(sys, "words of the person") ||
		!strings.Contains(sys, "workspace: "+d.workspace+"\n") || !strings.HasPrefix(sys, "You are octavo") {
		t.Errorf("system:\n%s", sys)
	}
	d.close(s)
	d.workspace += "-second"
	if err := os.Mkdir(d.workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	b := d.start()
	s = d.open(b, api.OpenRequest{ID: "first"})
	d.say(s, "hi")
	if sys := d.system(); strings.Contains(sys, "words of the first project") || !strings.Contains(sys, "words of the person") {
		t.Errorf("system of an untrusted workspace:\n%s", sys)
	}
}

func TestSystemPrompt(t *testing.T) {
	for prompt, want := range map[string]string{`system_prompt = ""`: "", `system_prompt = "Be a pirate."`: "Be a pirate."} {
		d := newDesk(t, modeltest.Say("arr"))
		d.head = "model = 'local/scripted'\n" + prompt
		d.write(filepath.Join(d.home, "AGENTS.md"), "words of the person")
		s := d.open(d.start(), api.OpenRequest{})
		d.say(s, "hi")
		same(t, prompt+" replaces everything", d.system(), want)
	}
}

func TestEnvironmentIsOneElement(t *testing.T) {
	d := newDesk(t, modeltest.Say("ok"))
	d.head = "model = 'local/scripted'"
	d.workspace = filepath.Join(d.workspace, "a\n<", "environment>\x1b[31m")
	if err := os.MkdirAll(filepath.Join(d.workspace, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	d.write(filepath.Join(d.workspace, ".git", "HEAD"), "ref: refs/heads/topic\n")
	s := d.open(d.start(), api.OpenRequest{})
	d.say(s, "hi")
	_, env, _ := strings.Cut(d.system(), "<environment>\n")
	env, _, _ = strings.Cut(env, "</environment>")
	lines := strings.Split(strings.TrimSpace(env), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[0], `workspace: "/`) || !strings.Contains(lines[1], "on topic when") || strings.Contains(env, "\x1b") {
		t.Errorf("environment: %q", lines)
	}
}

func TestOpenTwice(t *testing.T) {
	d := newDesk(t)
	a, b := d.start(), d.start()
	s := d.open(a, api.OpenRequest{Name: "mine"})
	var held *sessionstore.HeldError
	for _, x := range []*app.App{a, b} {
		if err := d.fails(x, api.OpenRequest{ID: "mine"}, "is open in process", fmt.Sprint(os.Getpid())); !errors.As(err, &held) {
			t.Errorf("%T", err)
		}
	}
	d.close(s)
	d.close(d.open(b, api.OpenRequest{ID: "mine"}))
}

// A second octavo may have changed the session since; what it chose must stay.
func TestOpenSeesWhatAnotherProcessChanged(t *testing.T) {
	d := newDesk(t)
	a, b := d.start(), d.start()
	s := d.open(a, api.OpenRequest{Name: "mine"})
	id := s.ID()
	d.close(s)
	s = d.open(b, api.OpenRequest{ID: id, Model: "local/other"})
	if _, err := s.Run(d.ctx, "/name changed"); err != nil {
		t.Fatal(err)
	}
	d.close(s)
	i := d.info(d.open(a, api.OpenRequest{ID: id}))
	if i.Name != "changed" || i.Model != "local/other" {
		t.Errorf("%+v", i)
	}
}

func TestEmptySessionsArePurged(t *testing.T) {
	d := newDesk(t)
	a := d.start()
	s := d.open(a, api.OpenRequest{})
	same(t, "while it is open", len(d.list(a, api.SessionQuery{})), 1)
	d.close(s)
	same(t, "afterwards", d.list(a, api.SessionQuery{}), []string{})
	named := d.open(a, api.OpenRequest{Name: "kept"})
	d.close(named)
	same(t, "a named one", d.list(a, api.SessionQuery{}), []string{named.ID()})
	same(t, "of another workspace", d.list(a, api.SessionQuery{Workspace: "/nowhere"}), []string{})
	same(t, "by its name", d.list(a, api.SessionQuery{Text: "KEP", Limit: api.MaxSessions + 1}), []string{named.ID()})

	d.options.OnlyTools = []string{"no such tool"}
	b := d.start()
	d.fails(b, api.OpenRequest{}, `there is no tool "no such tool"`)
	d.fails(b, api.OpenRequest{Name: "never"}, "no such tool")
	d.fails(b, api.OpenRequest{ID: "kept"}, "no such tool")
	same(t, "what could not be composed", d.list(b, api.SessionQuery{}), []string{named.ID()})
	d.close(d.open(a, api.OpenRequest{ID: "kept"}))
}

func TestToolsOffered(t *testing.T) {
	d := newDesk(t, modeltest.Say("ok"), modeltest.Say("ok"))
	d.head = "model = 'local/scripted'"
	d.options.OnlyTools, d.options.ExcludeTools = []string{"read", "edit"}, []string{"edit"}
	d.say(d.open(d.start(), api.OpenRequest{}), "hi")
	same(t, "tools", d.server.Requests()[0].Chat.ToolNames(), []string{"read"})
	d.options.OnlyTools, d.options.ExcludeTools = []string{}, nil
	d.say(d.open(d.start(), api.OpenRequest{}), "hi")
	same(t, "no tools", len(d.server.Requests()[1].Chat.ToolNames()), 0)
}

func TestNoModel(t *testing.T) {
	d := newDesk(t)
	s := d.open(d.start(), api.OpenRequest{})
	refused := func(s api.Session, parts ...string) {
		t.Helper()
		_, err := s.Submit(d.ctx, api.Input{Kind: api.InputChat, Text: "hi"})
		if !errors.Is(err, api.ErrNoModel) {
			t.Fatalf("got %v", err)
		}
		for _, part := range parts {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("the error does not say %q: %v", part, err)
			}
		}
	}
	refused(s, "octavo --model local/other", "config.toml")
	out, err := s.Run(d.ctx, "/model")
	if err != nil || !strings.HasPrefix(out.Text, "no model\n") || !strings.Contains(out.Text, "local/scripted") {
		t.Errorf("/model: %q, %v", out.Text, err)
	}
	if _, err := s.Run(d.ctx, "/effort low"); !errors.Is(err, api.ErrNoModel) {
		t.Errorf("/effort: %v", err)
	}

	d.write(filepath.Join(d.home, settings.ConfigFile), "")
	bare, _, err := settings.Load(settings.Sources{Home: d.home, Workspace: d.workspace, Lookup: func(string) (string, bool) { return "", false }})
	if err != nil {
		t.Fatal(err)
	}
	bare.Offline = true // nothing of this machine is asked
	a, err := app.New(d.ctx, app.Options{Settings: bare, Dir: d.workspace})
	if err != nil {
		t.Fatal(err)
	}
	defer d.end(a)
	refused(d.open(a, api.OpenRequest{}), "octavo setup --preset")
}

func TestWireThatNobodySpeaks(t *testing.T) {
	d := newDesk(t)
	d.head = "model = 'far/x'\n[providers.far]\nendpoint = 'http://127.0.0.1:9/v1'\nno_auth = true\nwire = 'telepathy'\n"
	a := d.start()
	d.fails(a, api.OpenRequest{Model: "far/x"}, "provider far", `no extension speaks the wire "telepathy"`)
	// A session whose model is gone opens all the same, so that another can be chosen.
	s := d.open(a, api.OpenRequest{})
	if _, err := s.Submit(d.ctx, api.Input{Kind: api.InputChat, Text: "hi"}); err == nil || !strings.Contains(err.Error(), "telepathy") {
		t.Errorf("got %v", err)
	}
	if out, err := s.Run(d.ctx, "/model local/scripted"); err != nil || !strings.Contains(out.Text, "local/scripted") {
		t.Errorf("%q, %v", out.Text, err)
	}
}

func TestNewNeedsAHome(t *testing.T) {
	if _, err := app.New(t.Context(), app.Options{Settings: &settings.Settings{}}); !errors.Is(err, settings.ErrNoHome) {
		t.Errorf("got %v", err)
	}
	d := newDesk(t)
	s := d.settings()
	s.Home = filepath.Join(d.home, settings.ConfigFile) // a file
	if _, err := app.New(t.Context(), app.Options{Settings: s}); err == nil {
		t.Error("a file is no home")
	}
}

func TestSessionInfo(t *testing.T) {
	d := newDesk(t, modeltest.Say("hello"))
	d.head = "model = 'local/scripted'\neffect_policy = 'controlled'"
	a := d.start()
	s := d.open(a, api.OpenRequest{Name: "mine", Effort: "low"})
	d.say(s, "what   is\nthis")
	live := d.info(s)
	infos, err := a.Sessions(d.ctx, api.SessionQuery{Limit: 1})
	if err != nil || len(infos) != 1 {
		t.Fatal(infos, err)
	}
	got := infos[0]
	if time.Since(got.Updated) > time.Hour || got.Created.IsZero() {
		t.Errorf("times %v, %v", got.Created, got.Updated)
	}
	got.Created, got.Updated = time.Time{}, time.Time{}
	want := api.SessionInfo{ID: s.ID(), Name: "mine", Preview: "what is this", Workspace: d.workspace, Model: "local/scripted", Effort: "low", Policy: "controlled", Entries: 3}
	same(t, "in a list", got, want)
	if live.Entries != 3 || live.Policy != "controlled" || live.Window != 1000000 {
		t.Errorf("of itself: %+v", live)
	}
}

// TestHomeIsSweptOnceADay: what no entry refers to goes, when its grace is over, and the next close does not look again.
func TestHomeIsSweptOnceADay(t *testing.T) {
	d := newDesk(t)
	stray := filepath.Join(d.home, "blobs", "ab", strings.Repeat("ab", 32))
	put := func() {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(stray), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(stray, []byte("left behind"), 0o600); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-2 * sessionstore.BlobGrace)
		if err := os.Chtimes(stray, old, old); err != nil {
			t.Fatal(err)
		}
	}
	for day, want := range []bool{false, true} {
		a := d.start()
		put()
		if err := a.Close(d.ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(stray); (err == nil) != want {
			t.Errorf("close %d: the stray blob is there: %v, want %v", day+1, err == nil, want)
		}
	}
}
