package plain

import (
	"context"
	"fmt"
	"strings"
	"time"

	"octavo/app/api"
	"octavo/pages/text"
)

// What a line begins with that is a command of the person's own (product.md 2.2, "Shell escape").
const (
	escapeShell  = "!"
	escapeUnread = "!!" // no model reads it
)

// shellHint is what plain mode adds to the list of commands.
const shellHint = "!COMMAND runs a command of your own, which the model reads with your next input; !!COMMAND keeps it from the model."

// shell is a command of the person's that runs.
type shell struct {
	live    *liveOutput
	open    string // the start of a line of output
	cancel  context.CancelFunc
	done    chan shellEnd
	began   time.Time
	exclude bool
}

type shellEnd struct {
	result api.ShellResult
	err    error
}

// output tells that there is live output, ended that the command has ended; both are nil while none runs.
func (s *shell) output() <-chan struct{} {
	if s == nil {
		return nil
	}
	return s.live.more
}

func (s *shell) ended() <-chan shellEnd {
	if s == nil {
		return nil
	}
	return s.done
}

// escape runs what stands behind the mark of an input. At a terminal that waits for what follows: in something pasted a line that
// begins with an exclamation mark is no command.
func (v *conversation) escape(ctx context.Context, input string, at time.Time) {
	if v.o.Flush == nil {
		v.runShell(ctx, input)
		return
	}
	v.gather(ctx, input, at)
	v.paste.escape = true
}

func (v *conversation) runShell(ctx context.Context, input string) {
	command, exclude := strings.CutPrefix(input, escapeUnread)
	command = strings.TrimSpace(strings.TrimPrefix(command, escapeShell))
	if command == "" {
		v.log.say(wordError, "type a command behind the mark, such as !git status")
		return
	}
	if v.o.Echo == nil || !v.o.Terminal {
		v.log.shellHead(command)
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &shell{live: newLiveOutput(), cancel: cancel, done: make(chan shellEnd, 1), began: v.o.Now(), exclude: exclude}
	v.shell = s
	v.attention.put(cancel)
	session := v.session
	go func() {
		result, err := session.Shell(ctx, api.ShellRequest{Command: command, Exclude: exclude}, s.live.add)
		s.done <- shellEnd{result, err}
	}()
}

// shellSays shows whole lines of what the command wrote meanwhile.
func (v *conversation) shellSays() {
	s := v.shell
	more, _ := s.live.take()
	s.open += more
	if end := strings.LastIndexByte(s.open, '\n') + 1; end > 0 {
		v.log.output(s.open[:end])
		s.open = s.open[end:]
	}
}

// shellEnded shows the rest and how the command ended.
func (v *conversation) shellEnded(e shellEnd) {
	v.shellSays()
	s := v.shell
	v.dropShell()
	v.log.output(s.open)
	if _, omitted := s.live.take(); omitted > 0 {
		v.log.drawn("… " + text.Bytes(omitted) + " more were not shown")
	}
	if e.err != nil {
		v.log.fail(wordError, e.err)
		return
	}
	v.shown = e.result.Seq
	v.log.shellTail(e.result.Cancelled, e.result.ExitCode, v.o.Now().Sub(s.began), s.exclude)
}

func (v *conversation) dropShell() {
	v.attention.put(nil)
	v.shell.cancel()
	v.shell = nil
}

// shellHead begins a command of the person's.
func (l *log) shellHead(command string) {
	l.write(l.look.Palette.Strong.Paint("$") + " " + strings.ReplaceAll(strings.Trim(text.Clean(command), "\n"), "\n", "\n  ") + "\n")
}

// output shows lines of what a command wrote.
func (l *log) output(s string) {
	if s = strings.TrimSuffix(text.Clean(text.LastOverwrites(s)), "\n"); s != "" {
		l.drawn(s)
	}
}

// shellTail says how a command of the person's ended.
func (l *log) shellTail(cancelled bool, code *int, took time.Duration, excluded bool) {
	line := "ended without an exit code"
	switch {
	case cancelled:
		line = "cancelled"
	case code != nil:
		line = fmt.Sprintf("exit %d", *code)
	}
	if took >= time.Millisecond {
		line += ", " + text.Duration(took)
	}
	if excluded {
		line += "; no model reads it"
	}
	l.say(wordShell, line)
}

// shellOutput is what a stored command of the person's wrote, in at most api.MaxShellRecord bytes; for a model its result says more.
func shellOutput(e api.Entry) string {
	if d := e.Result.Display; d != nil {
		return text.HeadTail(d.Text, api.MaxShellRecord)
	}
	return joined(e.Parts, api.PartText)
}

// ran shows a stored command of the person's: its line, the end of its output and how it ended.
func (l *log) ran(e api.Entry) {
	l.shellHead(e.Call.Title)
	if out := shellOutput(e); out != "" {
		l.tail(out, maxOutputShown)
	}
	l.shellTail(e.Result.Outcome == api.ResultCancelled, e.Result.ExitCode, e.Result.Duration, e.Origin == api.OriginExcluded)
}
