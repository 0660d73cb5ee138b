package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"octavo/app"
	"octavo/app/settings"
	"octavo/ext"
	"octavo/ext/builtin/models"
	"octavo/pages/text"
	"octavo/sessionstore"
)

// finding is one thing octavo doctor looked at.
type finding struct {
	state string // ok, note or FAIL
	what  string
	found string
	next  string // what to type, when something should be done
}

const (
	stateOK   = "ok"
	stateNote = "note"
	stateFail = "FAIL"
)

func newDoctor(p *process, f *flags) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "check what octavo needs: programs, store, configuration, models",
		Long:  "Checks what octavo needs and says what to type next. It starts no agent and no extension. --offline asks no endpoint.",
		Args:  noArguments,
		RunE:  func(c *cobra.Command, _ []string) error { return p.doctor(c.Context(), c, f) },
	}
}

func (p *process) doctor(ctx context.Context, c *cobra.Command, f *flags) error {
	s, findings := p.examineSettings(c, f)
	if s != nil {
		findings = append(findings, examineStore(ctx, s.Home))
		findings = append(findings, examineAuth(s)...)
		findings = append(findings, examineModels(ctx, s)...)
		if r := models.Inspect(s.Home); r.Err != nil {
			findings = append(findings, finding{stateNote, "catalogue", r.Err.Error(), "octavo catalog update replaces it"})
		}
	}
	findings = append(findings, examinePrograms()...)
	if s != nil && s.ShellPath != "" {
		findings = append(findings, examineShell(s.ShellPath))
	}
	failed := 0
	width := 0
	for _, x := range findings {
		width = max(width, text.Width(x.what))
		if x.state == stateFail {
			failed++
		}
	}
	for _, x := range findings {
		fmt.Fprintf(p.stdout, "%-4s  %s  %s\n", x.state, text.Pad(x.what, width), indentRest(text.Clean(x.found), 8+width))
		if x.next != "" {
			fmt.Fprintf(p.stdout, "%s-> %s\n", strings.Repeat(" ", 8+width), indentRest(text.Clean(x.next), 11+width))
		}
	}
	if failed > 0 {
		return fmt.Errorf("%s found; the lines with -> say what to do", text.Plural(failed, "problem"))
	}
	return nil
}

func indentRest(s string, by int) string {
	return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n"+strings.Repeat(" ", by))
}

func (p *process) examineSettings(c *cobra.Command, f *flags) (*settings.Settings, []finding) {
	s, warnings, _, err := p.settings(c, f)
	if err != nil {
		return nil, []finding{{stateFail, "configuration", err.Error(), "mend the file, or move it aside and run octavo setup"}}
	}
	x := finding{stateOK, "configuration", filepath.Join(s.Home, settings.ConfigFile), ""}
	if _, err := os.Stat(x.found); errors.Is(err, os.ErrNotExist) {
		x.found += " (not there: built-in values)"
	}
	findings := []finding{x}
	for _, w := range warnings {
		findings = append(findings, finding{stateNote, "configuration", w.String(), ""})
	}
	return s, findings
}

func examineStore(ctx context.Context, home string) finding {
	const what = "store"
	if _, err := os.Stat(home); errors.Is(err, os.ErrNotExist) {
		return finding{stateOK, what, home + " (made when the first session starts)", ""}
	}
	store, err := sessionstore.Open(ctx, sessionstore.Options{Dir: home})
	if err != nil {
		return finding{stateFail, what, err.Error(), "octavo can store nothing before this is mended"}
	}
	err = store.Check(ctx)
	if err = errors.Join(err, store.Close()); err != nil {
		return finding{stateFail, what, err.Error(), "octavo sessions repair mends what can be mended, and keeps a copy"}
	}
	return finding{stateOK, what, home, ""}
}

func examineAuth(s *settings.Settings) []finding {
	var findings []finding
	for _, problem := range s.KeyProblems() {
		findings = append(findings, finding{stateFail, "keys", problem.Error(), "mend it; octavo --login PROVIDER stores a key anew"})
	}
	if findings == nil {
		findings = []finding{{stateOK, "keys", fmt.Sprintf("read from %s and the environment when they are needed", settings.AuthFile), ""}}
	}
	return findings
}

// examineModels asks every endpoint at once.
func examineModels(ctx context.Context, s *settings.Settings) []finding {
	profiles := slices.Concat(s.Profiles(), s.Unconfigured())
	findings := make([]finding, len(profiles))
	var asked sync.WaitGroup
	for i, profile := range profiles {
		asked.Go(func() { findings[i] = examineProvider(ctx, s, profile) })
	}
	asked.Wait()
	return append(findings, examineChoice(ctx, s))
}

// examineChoice looks at the model that a new session runs on.
func examineChoice(ctx context.Context, s *settings.Settings) finding {
	const what = "model"
	if s.Model != "" {
		if _, _, err := s.ResolveModel(s.Model); err != nil {
			return finding{stateFail, what, err.Error(), "octavo setup --help, or model = \"provider/model\" in " + settings.ConfigFile}
		}
		return finding{stateOK, what, s.Model, ""}
	}
	switch id, why, err := app.Discover(ctx, s); {
	case err != nil:
		return finding{stateFail, what, err.Error(), "correct models in " + settings.ConfigFile}
	case id != "":
		return finding{stateOK, what, id + ", because nobody chose one and " + why, ""}
	default:
		first, rest, _ := strings.Cut(s.NoModel(), "\n")
		return finding{stateFail, what, strings.TrimSuffix(first, "."), rest}
	}
}

func examineProvider(ctx context.Context, s *settings.Settings, profile ext.Profile) finding {
	what := "provider " + profile.Name
	// One that is configured and not used by default may be down without anything being wrong.
	bad, next := stateNote, "only sessions with --model "+profile.Name+"/MODEL need it"
	if chosen, _, err := s.ResolveModel(s.Model); err == nil && chosen.Name == profile.Name {
		bad, next = stateFail, "start the server, or choose another model: octavo setup --help"
	}
	key := s.KeyState(profile.Name)
	if !s.Offline { // what a command or the keyring takes is not part of the time that the endpoint has
		key = s.CheckKey(ctx, profile.Name)
	}
	if key.Err != nil {
		return finding{bad, what, s.Redactor().Redact(key.Err.Error()), next}
	}
	from := "no key is needed"
	if !key.NoAuth {
		from = "key from " + key.Source
	}
	if s.Offline {
		return finding{stateNote, what, fmt.Sprintf("%s, %s; not asked (--offline)", profile.Endpoint, from), ""}
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	models, err := probe(ctx, profile)
	if err != nil {
		return finding{bad, what, s.Redactor().Redact(err.Error()), next}
	}
	found := fmt.Sprintf("%s, %s, %s", profile.Endpoint, from, text.Plural(len(models), "model"))
	if provider, id, ok := strings.Cut(s.Model, "/"); ok && provider == profile.Name && len(models) > 0 && !slices.Contains(models, id) {
		return finding{stateNote, what, found, fmt.Sprintf("it does not list %s, the default model; it may answer all the same", id)}
	}
	return finding{stateOK, what, found, ""}
}

// programs are what octavo uses when it is there.
var programs = []struct{ name, lack string }{
	{"git", "search does not honour .gitignore without it: apt-get install git"},
	{"rg", "search is slower without it: apt-get install ripgrep"},
	{"bash", "commands run in sh without it: apt-get install bash"},
}

func examineShell(path string) finding {
	if _, err := exec.LookPath(path); err != nil {
		return finding{stateFail, "shell_path", err.Error(), "correct or remove shell_path; no command can run before"}
	}
	return finding{stateOK, "shell_path", path, ""}
}

func examinePrograms() []finding {
	var findings []finding
	for _, x := range programs {
		if path, err := exec.LookPath(x.name); err == nil {
			findings = append(findings, finding{stateOK, x.name, path, ""})
		} else {
			findings = append(findings, finding{stateNote, x.name, "not found", x.lack})
		}
	}
	return findings
}
