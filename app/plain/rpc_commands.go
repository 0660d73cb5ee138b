package plain

import (
	"context"
	"fmt"
)

// verb is how a command is carried out: exactly one of now, begin, read, change and no is set.
type verb struct {
	name string
	// now answers at once.
	now func(*service, context.Context, request) (any, *fault)
	// begin starts what is answered when it is done; a fault is answered at once.
	begin func(*service, context.Context, request) *fault
	// read answers from what is stored, beside the loop and in the order of the requests.
	read func(*reader, context.Context, request) (any, *fault)
	// change waits until nothing runs; check looks at its request before, where there is something to look at.
	change func(*service, context.Context, request) (any, *fault)
	check  func(request) *fault
	// no says why octavo does not have it.
	no string
}

// verbs is every command (product.md 1.5). docs/rpc.md describes each; a test keeps the two together.
var verbs = [...]verb{
	{name: "prompt", begin: (*service).prompt},
	{name: "steer", now: (*service).steer},
	{name: "follow_up", now: (*service).followUp},
	{name: "abort", now: (*service).interrupt},
	{name: "abort_retry", now: (*service).abortRetry},
	{name: "answer", now: (*service).settleAsk},

	{name: "bash", begin: (*service).shell},
	{name: "abort_bash", now: (*service).abortShell},

	{name: "get_state", read: (*reader).state},
	{name: "get_messages", read: (*reader).messages},
	{name: "get_commands", read: (*reader).commands},
	{name: "get_available_models", read: (*reader).models},
	{name: "get_available_thinking_levels", read: (*reader).levels},
	{name: "get_session_stats", read: (*reader).stats},
	{name: "get_entries", read: (*reader).entries},
	{name: "get_tree", read: (*reader).tree},
	{name: "get_last_assistant_text", read: (*reader).lastText},

	{name: "set_model", now: (*service).setModel},
	{name: "cycle_model", now: (*service).cycleModel},
	{name: "set_thinking_level", now: (*service).setLevel},
	{name: "cycle_thinking_level", now: (*service).cycleLevel},
	{name: "set_steering_mode", now: (*service).setSteering},
	{name: "set_follow_up_mode", now: (*service).setFollowUp},
	{name: "set_auto_retry", now: (*service).setRetry},
	{name: "set_session_name", now: (*service).rename},

	{name: "new_session", change: (*service).newSession},
	{name: "switch_session", change: (*service).switchSession, check: checkSwitch},
	{name: "reload", change: (*service).reload},

	{name: "compact", no: "octavo does not compact a session in place: send /fork summary as a prompt, and go to the session that it " +
		"names with switch_session"},
	{name: "set_auto_compaction", no: "octavo never compacts by itself: when a run settles with context_full, send /fork summary as a prompt"},
	{name: "export_html", no: "octavo sessions export ID --format html writes the session"},
	{name: "fork", no: "send /fork as a prompt, with the number of the last entry to copy, and go to the session that it names with switch_session"},
	{name: "clone", no: "send /fork as a prompt: it copies the whole session, and names the copy for switch_session"},
	{name: "get_fork_messages", no: "get_entries lists the entries, and /fork ENTRY as a prompt copies up to any of them"},
}

// serve carries a request out.
func (v *service) serve(ctx context.Context, r request) {
	k := findVerb(r.command)
	switch {
	case k == nil:
		v.answer(r, nil, faultf(codeUnknown, "there is no command %q", r.shownCommand()))
	case k.no != "":
		v.answer(r, nil, &fault{codeNotAvailable, k.no})
	case k.now != nil:
		data, f := k.now(v, ctx, r)
		v.answer(r, data, f)
	case k.begin != nil:
		if f := k.begin(v, ctx, r); f != nil {
			v.answer(r, nil, f)
		}
	case k.read != nil:
		v.reads = v.wait(v.reads, r)
	default:
		if k.check != nil {
			if f := k.check(r); f != nil {
				v.answer(r, nil, f)
				return
			}
		}
		v.changes = v.wait(v.changes, r)
	}
}

func findVerb(name string) *verb {
	for i := range verbs {
		if verbs[i].name == name {
			return &verbs[i]
		}
	}
	return nil
}

// wait has r wait with others, unless those are too many. Of its fields it keeps those that a command that waits may need.
func (v *service) wait(others []request, r request) []request {
	if len(others) >= MaxWaiting {
		v.answer(r, nil, faultf(codeQueueFull, "%d commands like it wait already; read their answers first", MaxWaiting))
		return others
	}
	kept := fields{}
	for _, name := range []string{"since", "limit", "sessionId", "sessionPath"} {
		if raw := r.fields[name]; len(raw) > maxKeptField {
			v.answer(r, nil, faultf(codeRequest, "%s has more than %d bytes", name, maxKeptField))
			return others
		} else if raw != nil {
			kept[name] = raw
		}
	}
	r.fields = kept
	return append(others, r)
}

// maxKeptField bounds a field of a request that waits, in bytes as it is written.
const maxKeptField = 4 << 10

// readOn begins the next read, once the one before has ended and the client has room for an answer.
func (v *service) readOn() {
	if v.reading || len(v.reads) == 0 || !v.out.room(eventRoom) {
		return
	}
	r := v.reads[0]
	v.reads, v.reading = v.reads[1:], true
	from := *v.reader
	from.shelling, from.manner = v.bash != nil, v.manner
	type read struct {
		data  any
		fault *fault
		reader
	}
	job(v, func() (got read) {
		got.data, got.fault = findVerb(r.command).read(&from, v.outer, r)
		got.reader = from
		return got
	}, func(got read) {
		v.reading, v.reader.tally = false, got.tally
		v.answer(r, got.data, got.fault)
	})
}

// change carries out a change of session. The error is why there is no session any more.
func (v *service) change(ctx context.Context, r request) error {
	data, f := findVerb(r.command).change(v, ctx, r)
	v.answer(r, data, f)
	if v.lost != nil {
		return fmt.Errorf("%s: %w", r.command, v.lost)
	}
	return nil
}
