package plain

import (
	"context"
	"strings"

	"octavo/app/api"
)

// bash is a command of the client's that runs.
type bash struct {
	id     []byte // of its request
	live   *liveOutput
	cancel context.CancelFunc
	cut    int64 // bytes of live output that were told of as left out
}

// output tells that there is live output; nil for a command that does not run.
func (b *bash) output() <-chan struct{} {
	if b == nil {
		return nil
	}
	return b.live.more
}

// shell runs a command line and answers with how it ended.
func (v *service) shell(_ context.Context, r request) *fault {
	command, f := r.fields.needText("command")
	if f != nil {
		return f
	}
	exclude, f := r.fields.flag("excludeFromContext")
	switch {
	case f != nil:
		return f
	case strings.TrimSpace(command) == "":
		return faultf(codeRequest, "command is blank")
	case len(command) > api.MaxShellCommand:
		return faultf(codeRequest, "command has %d bytes, at most %d fit; put it into a file and run that", len(command), api.MaxShellCommand)
	case v.bash != nil:
		return faultf(codeBusy, "a command runs already; wait for it, or send abort_bash")
	}
	r.fields = nil // it may be long until the answer
	ctx, cancel := context.WithCancel(v.outer)
	b := &bash{id: r.id, live: newLiveOutput(), cancel: cancel}
	v.bash = b
	session := v.session
	type ended struct {
		result api.ShellResult
		err    error
	}
	job(v, func() (got ended) {
		got.result, got.err = session.Shell(ctx, api.ShellRequest{Command: command, Exclude: exclude}, b.live.add)
		return got
	}, func(got ended) {
		v.tellOutput(true)
		v.bash = nil
		cancel()
		if got.err != nil {
			v.answer(r, nil, faultOf(got.err))
			return
		}
		v.answer(r, got.result, nil)
	})
	return nil
}

// tellOutput tells of live output; the last time, of all that was left out of it.
func (v *service) tellOutput(last bool) {
	s, cut := v.bash.live.take()
	if s != "" || cut != v.bash.cut && (last || v.bash.cut == 0) {
		v.bash.cut = cut
		v.out.put(bashUpdateRecord{Type: rpcBashUpdate, ID: v.bash.id, Delta: s, OmittedBytes: cut})
	}
}

// abortShell ends the command that runs. Its own answer tells of its end.
func (v *service) abortShell(context.Context, request) (any, *fault) {
	if v.bash == nil {
		return nil, faultf(codeIdle, "no command runs")
	}
	v.bash.cancel()
	return nil, nil
}
