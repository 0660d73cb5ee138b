package shell

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"octavo/ext"
	"octavo/ext/model"
	"octavo/ext/spawn"
	"octavo/pages"
	"octavo/pages/text"
)

// outcome is how a command ended.
type outcome struct {
	spawn.Result
	code    code // "" when it succeeded
	timeout time.Duration
}

// output makes the result. A model reads one line of facts, then for each stream with output a line in brackets and its text,
// or both streams together, in the order in which they arrived, when that is short enough.
//
// Streams are apart when they are cut so that a few lines of errors are not lost in the middle of much output.
func (o outcome) output(r *record, streams ...*stream) ext.Output {
	facts := o.facts()
	body, shown := o.body(r, r.limit-len(facts), streams)
	if body == "" {
		facts = strings.TrimSuffix(facts, "\n") + "\n(no output)\n"
	}
	out := ext.Output{
		Parts:   []model.Part{model.Text(strings.TrimSuffix(facts+body, "\n"))},
		Display: &pages.Display{Title: o.headline(), Text: text.Clean(shown)},
		IsError: o.code != "",
	}
	if o.Signal == 0 && o.code != timedOut && o.code != cancelled {
		out.ExitCode = &o.ExitCode
	}
	return out
}

// facts is what is to be known beside the output.
func (o outcome) facts() string {
	var b strings.Builder
	switch o.code {
	case timedOut:
		fmt.Fprintf(&b, "timeout: the command was ended after %s, with all it had started; give a larger timeout_ms (at most %d) if it needs more\n",
			text.Duration(o.timeout), MaxTimeout/time.Millisecond)
	case cancelled:
		fmt.Fprintf(&b, "cancelled: the command was ended after %s, with all it had started; what it had done by then is done\n", text.Duration(o.Duration))
	default:
		if o.code != "" {
			fmt.Fprintf(&b, "%s ", o.code)
		}
		fmt.Fprintf(&b, "%s duration=%s\n", o.status(), text.Duration(o.Duration))
		if o.Leftover > 0 {
			fmt.Fprintf(&b, "[%s that the command left running ended with it]\n", text.Plural(o.Leftover, "process"))
		}
	}
	if o.Cut {
		b.WriteString("[a process that could not be ended still holds the output; what it writes now is lost]\n")
	}
	return b.String()
}

func (o outcome) status() string {
	if o.Signal != 0 {
		return "signal=" + signalName(o.Signal)
	}
	// A shell reports the death of a command it ran as 128 and the signal's number.
	if name := unix.SignalName(syscall.Signal(o.ExitCode - 128)); name != "" {
		return fmt.Sprintf("exit_status=%d (%s)", o.ExitCode, name)
	}
	return fmt.Sprintf("exit_status=%d", o.ExitCode)
}

// headline is the same for a person.
func (o outcome) headline() string {
	after := text.Duration(o.Duration)
	switch {
	case o.code == timedOut:
		return "timed out after " + text.Duration(o.timeout)
	case o.code == cancelled:
		return "cancelled after " + after
	case o.Signal != 0:
		return "ended by " + signalName(o.Signal) + " after " + after
	}
	return fmt.Sprintf("exit %d, %s", o.ExitCode, after)
}

func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return fmt.Sprint(int(s))
}

// body is the output in at most budget bytes, for a model with its lines in brackets, and for a person without.
func (o outcome) body(r *record, budget int, all []*stream) (forModel, shown string) {
	var streams []*stream
	var names []string
	together := !r.over
	for _, s := range all {
		if s.total > 0 {
			streams = append(streams, s)
			names = append(names, s.complete())
			together = together && !s.kind.binary()
		}
	}
	if len(streams) == 0 {
		return "", ""
	}
	head := "[" + strings.Join(names, " ") + "]\n"
	if len(streams) > 1 {
		head = "[" + strings.Join(names, " ") + ", in the order they arrived]\n"
	}
	if together && len(head)+len(r.text) <= budget {
		for _, s := range streams {
			s.discard()
		}
		return head + string(r.text), string(r.text)
	}
	for _, s := range streams {
		s.store()
		budget -= len(s.incomplete()) + len("\n")
	}
	var a, b strings.Builder
	for i, n := range shares(budget, streams) {
		s := streams[i]
		head, part := s.incomplete(), ""
		if s.kind.binary() {
			fmt.Fprintf(&b, "(%s of binary output on %s)\n", text.Bytes(s.total), s.name)
		} else if t, whole := s.excerpt.text(n); whole {
			head, part = "["+s.complete()+"]\n", t
			s.discard()
		} else {
			part = t
		}
		if part != "" && !strings.HasSuffix(part, "\n") {
			part += "\n"
		}
		a.WriteString(head + part)
		b.WriteString(part)
	}
	return a.String(), b.String()
}

// shares divides budget: a stream that needs less than half of it gets what it needs, the other one the rest.
func shares(budget int, streams []*stream) []int {
	budget = max(0, budget)
	if len(streams) == 1 {
		return []int{budget}
	}
	need := func(s *stream) int {
		if s.kind.binary() {
			return 0
		}
		return int(min(s.excerpt.total, int64(budget)))
	}
	half := budget / 2
	first, second := need(streams[0]), need(streams[1])
	switch {
	case first <= half:
		return []int{first, budget - first}
	case second <= half:
		return []int{budget - second, second}
	}
	return []int{half, budget - half}
}

// complete says that all of the stream follows.
func (s *stream) complete() string {
	return fmt.Sprintf("complete_%s=%s", s.name, text.Plural(int(s.total), "byte"))
}

// incomplete says that not all of it follows, and where it is.
func (s *stream) incomplete() string {
	what, note := "truncated", ""
	if s.kind.binary() {
		what, note = "binary", ", not shown"
	}
	where := "full_output_path="
	switch {
	case s.keepErr != nil:
		where = fmt.Sprintf("the rest could not be kept: %v", s.keepErr)
	case s.file.cut:
		where = fmt.Sprintf("the first %s are in partial_output_path=%s", text.Bytes(s.file.size), s.file.path)
	default:
		where += s.file.path
	}
	return fmt.Sprintf("[%s_%s=%s%s, %s]\n", what, s.name, text.Plural(int(s.total), "byte"), note, where)
}
