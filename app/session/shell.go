package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"octavo/app/api"
	"octavo/ext"
	"octavo/ext/model"
	"octavo/pages/text"
	"octavo/sessionstore"
)

// shellTool is the tool that runs command lines.
const shellTool = "bash"

// Shell implements api.Session. It asks no policy: the person typed the command. What the configuration takes away from the session,
// such as allow_shell, it takes away here, too.
func (s *Session) Shell(ctx context.Context, r api.ShellRequest, progress func(string)) (_ api.ShellResult, err error) {
	defer s.hush(&err)
	switch {
	case strings.TrimSpace(r.Command) == "":
		return api.ShellResult{}, errors.New("the command is empty")
	case len(r.Command) > api.MaxShellCommand:
		return api.ShellResult{}, fmt.Errorf("the command has %d bytes, at most %d fit; put it into a file and run that", len(r.Command), api.MaxShellCommand)
	case !utf8.ValidString(r.Command):
		return api.ShellResult{}, errors.New("the command is not valid UTF-8")
	}
	tool, ok := s.o.Composition.Tool(shellTool)
	if !ok {
		return api.ShellResult{}, errors.New("this session runs no commands: a flag or the configuration took its shell away")
	}
	args, err := json.Marshal(map[string]string{"command": r.Command})
	if err != nil {
		return api.ShellResult{}, err
	}
	ctx, done, err := s.beginShell(ctx)
	if err != nil {
		return api.ShellResult{}, err
	}
	defer done()
	j := &job{call: model.ToolCall{ID: uuid.Must(uuid.NewV7()).String(), Name: shellTool, Arguments: string(args)}, tool: tool, args: args, title: r.Command}
	invoke(s.shellCall(ctx, j, progress), j)
	return s.keepShell(r, j)
}

// beginShell claims the session's one command of the person's. It ends with ctx and when the session closes.
func (s *Session) beginShell(ctx context.Context) (_ context.Context, done func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	doErr := s.do(ctx, func(a *actor) {
		switch {
		case a.closed:
			err = api.ErrClosed
		case a.shell != nil:
			err = errors.New("a command of yours runs already; wait for it or cancel it")
		default:
			a.shell = cancel
		}
	})
	if doErr != nil {
		err = doErr
	}
	if err != nil {
		cancel()
		return nil, nil, err
	}
	return ctx, func() {
		cancel()
		s.post(func(a *actor) {
			a.shell = nil
			a.leave()
		})
	}, nil
}

// shellCall is what the tool gets to work with. There is nobody to ask: the person is the one who runs it.
func (s *Session) shellCall(ctx context.Context, j *job, progress func(string)) *ext.Call {
	if progress == nil {
		progress = func(string) {}
	}
	return &ext.Call{Context: ctx, ID: j.call.ID, Session: s.id, Workspace: s.o.Row.Workspace,
		Progress: s.redactedProgress(j, progress), Ask: func(ext.Ask) ext.Answer { return ext.Answer{} },
		Redact: s.o.Redact.Stream}
}

// keepShell stores a command and its result as a model reads it. The caller gets what the command wrote, as a person is shown it.
func (s *Session) keepShell(r api.ShellRequest, j *job) (api.ShellResult, error) {
	if j.refusal != "" {
		return api.ShellResult{}, errors.New(j.refusal)
	}
	whole := s.o.Redact.Text(strings.ToValidUTF8(model.PlainText(j.out.Parts), "\uFFFD"))
	kept := text.HeadTail(whole, api.MaxShellRecord)
	wrote := whole
	if d := j.out.Display; d != nil {
		wrote = s.o.Redact.Text(strings.ToValidUTF8(d.Text, "\uFFFD"))
	}
	result := api.ShellResult{Output: text.HeadTail(wrote, api.MaxShellRecord), ExitCode: j.out.ExitCode, Cancelled: j.outcome == api.ResultCancelled}
	result.Truncated = result.Output != wrote
	rec := record{Parts: []model.Part{model.Text(kept)}, Call: &j.call, Title: s.o.Redact.Text(text.Clean(r.Command)), Outcome: j.outcome,
		Show: j.out.Display, Duration: j.took, ExitCode: j.out.ExitCode}
	if r.Exclude {
		rec.Origin = api.OriginExcluded
	}
	err := s.commitOr(func(a *actor) error {
		if err := a.commit(sessionstore.NoteStored, "", []entry{{api.EntryShell, rec}}, sessionstore.Change{}); err != nil {
			return err
		}
		result.Seq = a.state.Info.Entries
		return nil
	})
	return result, err
}
