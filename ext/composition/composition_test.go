package composition_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"octavo/ext"
	"octavo/ext/composition"
	"octavo/ext/policy"
	"octavo/sessionstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func tool(name string) ext.Tool {
	return ext.Tool{Name: name, Intent: func(json.RawMessage) policy.Intent { return policy.Intent{Class: policy.Pure} },
		Invoke: func(*ext.Call, json.RawMessage) (ext.Output, error) { return ext.TextOutput(name), nil }}
}

func tools(names ...string) (list []ext.Tool) {
	for _, n := range names {
		list = append(list, tool(n))
	}
	return list
}

func command(name string) ext.Command {
	return ext.Command{Name: name, Run: func(*ext.CommandCall, map[string]string) (ext.Outcome, error) { return ext.Outcome{}, nil }}
}

// log is what happened, in order.
type log []string

func (l *log) add(format string, args ...any) { *l = append(*l, fmt.Sprintf(format, args...)) }

// preparing makes an extension that contributes c when it is prepared, and tells l of it.
func preparing(l *log, name string, c ext.Contribution, requires ...string) ext.Extension {
	return ext.Extension{Name: name, Requires: requires, Prepare: func(context.Context, ext.Prep) (*ext.Contribution, error) {
		l.add("prepare %s", name)
		c.Close = func() { l.add("close %s", name) }
		return &c, nil
	}}
}

func compose(t *testing.T, s composition.Selection) *composition.Composition {
	t.Helper()
	c, err := composition.Compose(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func toolNames(c *composition.Composition) []string {
	names := []string{}
	for _, t := range c.Tools {
		names = append(names, t.Name)
	}
	return names
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func TestOrder(t *testing.T) {
	var l log
	first := preparing(&l, "first", ext.Contribution{Tools: tools("prepared"), Commands: []ext.Command{command("/p")}, Instructions: "prepared first", Context: "ctx first",
		Warnings: []string{"mind this"}})
	first.Static = ext.Contribution{Tools: tools("static"), Commands: []ext.Command{command("/s")}, Instructions: "static first", Context: " \n"}
	second := preparing(&l, "second", ext.Contribution{Tools: tools("second"), Instructions: "\t", Context: "ctx second"})
	c := compose(t, composition.Selection{Extensions: []ext.Extension{first, {Name: "bare"}, second}})

	same(t, "requested", c.Requested, []string{"first", "bare", "second"})
	same(t, "active", c.Active, []string{"first", "bare", "second"})
	same(t, "tools, static before prepared", toolNames(c), []string{"static", "prepared", "second"})
	same(t, "instructions without the blank", c.Instructions, []composition.Labelled{{Extension: "first", Text: "static first"}, {Extension: "first", Text: "prepared first"}})
	same(t, "contexts without the blank", c.Contexts, []composition.Labelled{{Extension: "first", Text: "ctx first"}, {Extension: "second", Text: "ctx second"}})
	same(t, "warnings", c.Warnings, []composition.Labelled{{Extension: "first", Text: "mind this"}})
	if len(c.Commands) != 2 || c.Commands[0].Name != "/s" || c.Commands[1].Name != "/p" || c.Commands[1].Extension != "first" {
		t.Errorf("commands %+v", c.Commands)
	}
	if found, ok := c.Tool("second"); !ok || found.Extension != "second" {
		t.Errorf("the tool second is %+v, %v", found, ok)
	}
	if _, ok := c.Tool("third"); ok {
		t.Error("found a tool that there is not")
	}
	c.Close()
	c.Close()
	same(t, "what happened", l, log{"prepare first", "prepare second", "close second", "close first"})
}

func TestPrepareGetsItsOwnLedger(t *testing.T) {
	mine, other := new(sessionstore.Ledger), new(sessionstore.Ledger)
	var got ext.Prep
	e := ext.Extension{Name: "mine", Prepare: func(_ context.Context, p ext.Prep) (*ext.Contribution, error) { got = p; return nil, nil }}
	c := compose(t, composition.Selection{Extensions: []ext.Extension{e}, Ledgers: map[string]*sessionstore.Ledger{"mine": mine, "other": other},
		Prep: ext.Prep{Session: "s", Workspace: "/w", Trusted: true, Home: "/h"}})
	defer c.Close()
	if want := (ext.Prep{Session: "s", Workspace: "/w", Trusted: true, Home: "/h", Ledger: mine}); got != want {
		t.Errorf("prepared with %+v, want %+v", got, want)
	}
	same(t, "active", c.Active, []string{"mine"})
}

func TestCollisionTakesTheLaterOutWhole(t *testing.T) {
	var l log
	given := func(c ext.Contribution) ext.Contribution {
		c.Instructions, c.Context, c.Warnings = "never", "never", []string{"never"}
		return c
	}
	for _, x := range []struct {
		name   string
		loses  ext.Contribution
		static ext.Contribution
		reason string
	}{
		{"tool", given(ext.Contribution{Tools: tools("own", "taken")}), ext.Contribution{}, "the tool taken is taken by winner"},
		{"command", given(ext.Contribution{Tools: tools("own"), Commands: []ext.Command{command("/taken")}}), ext.Contribution{}, "the command /taken is taken by winner"},
		{"twice", given(ext.Contribution{Tools: tools("own")}), ext.Contribution{Tools: tools("own")}, "the tool own is declared twice"},
		{"command twice", given(ext.Contribution{Commands: []ext.Command{command("/own"), command("/own")}}), ext.Contribution{}, "the command /own is declared twice"},
		{"no function", given(ext.Contribution{Tools: []ext.Tool{{Name: "own"}}}), ext.Contribution{}, "the tool own lacks its intent or its function"},
		{"no run", given(ext.Contribution{Commands: []ext.Command{{Name: "/own"}}}), ext.Contribution{}, "the command /own lacks its function"},
	} {
		t.Run(x.name, func(t *testing.T) {
			l = nil
			loser := preparing(&l, "loser", x.loses)
			loser.Static = x.static
			// A later extension may have the name that the loser wanted: nothing of the loser stays.
			c := compose(t, composition.Selection{Extensions: []ext.Extension{
				preparing(&l, "winner", ext.Contribution{Tools: tools("taken"), Commands: []ext.Command{command("/taken")}}),
				loser,
				preparing(&l, "heir", ext.Contribution{Tools: tools("own"), Commands: []ext.Command{command("/own")}}),
			}})
			same(t, "active", c.Active, []string{"winner", "heir"})
			same(t, "inactive", c.Inactive, []composition.Inactive{{Extension: "loser", Reason: x.reason}})
			same(t, "tools", toolNames(c), []string{"taken", "own"})
			if c.Instructions != nil || c.Contexts != nil || c.Warnings != nil {
				t.Errorf("of the loser there is left: %v %v %v", c.Instructions, c.Contexts, c.Warnings)
			}
			c.Close()
			same(t, "what happened", l, log{"prepare winner", "prepare loser", "close loser", "prepare heir", "close heir", "close winner"})
		})
	}
}

func TestExtensionNames(t *testing.T) {
	var l log
	c := compose(t, composition.Selection{Extensions: []ext.Extension{
		preparing(&l, "x", ext.Contribution{}), preparing(&l, "x", ext.Contribution{Tools: tools("t")}), preparing(&l, " ", ext.Contribution{})}})
	c.Close()
	same(t, "active", c.Active, []string{"x"})
	same(t, "inactive", c.Inactive, []composition.Inactive{{Extension: "x", Reason: "another extension before it has the same name"}, {Extension: " ", Reason: "it has no name"}})
	same(t, "what happened", l, log{"prepare x", "close x"})
}

func TestRequirements(t *testing.T) {
	var l log
	failing := ext.Extension{Name: "broken", Prepare: func(context.Context, ext.Prep) (*ext.Contribution, error) { return nil, errors.New("no socket") }}
	c := compose(t, composition.Selection{Extensions: []ext.Extension{
		preparing(&l, "late", ext.Contribution{}, "base"), // a requirement may come later in the order
		preparing(&l, "one", ext.Contribution{}, "base", "broken"),
		preparing(&l, "two", ext.Contribution{}, "one"),
		preparing(&l, "ring-a", ext.Contribution{}, "ring-b"),
		preparing(&l, "ring-b", ext.Contribution{}, "ring-a"),
		preparing(&l, "lost-a", ext.Contribution{}, "lost-b"),
		preparing(&l, "lost-b", ext.Contribution{}, "lost-a", "nowhere"),
		failing,
		preparing(&l, "base", ext.Contribution{}),
		preparing(&l, "self", ext.Contribution{}, "self"),
	}})
	same(t, "active", c.Active, []string{"late", "ring-a", "ring-b", "base", "self"})
	same(t, "inactive, in the order of the request", c.Inactive, []composition.Inactive{
		{Extension: "one", Reason: "requires broken, which is not active"},
		{Extension: "two", Reason: "requires one, which is not active"},
		{Extension: "lost-a", Reason: "requires lost-b, which is not active"},
		{Extension: "lost-b", Reason: "requires nowhere, which is not active"},
		{Extension: "broken", Reason: "no socket"}})
	l = slices.DeleteFunc(l, func(s string) bool { return strings.HasPrefix(s, "prepare") })
	same(t, "closed at once, in reverse", l, log{"close lost-b", "close lost-a", "close two", "close one"})
	l = nil
	c.Close()
	same(t, "closed at the end", l, log{"close self", "close base", "close ring-b", "close ring-a", "close late"})
}

func TestRequiredMustRun(t *testing.T) {
	var l log
	must := ext.Extension{Name: "must", Required: true, Prepare: func(context.Context, ext.Prep) (*ext.Contribution, error) { return nil, errors.New("no disk") }}
	s := composition.Selection{Extensions: []ext.Extension{preparing(&l, "a", ext.Contribution{Tools: tools("t")}), must, preparing(&l, "b", ext.Contribution{})},
		Only: []string{"lost with must"}} // the reason for which it is lost must be told, not that it is lost
	c, err := composition.Compose(t.Context(), s)
	if err == nil || !strings.Contains(err.Error(), "must is required and cannot run: no disk") || c != nil {
		t.Errorf("got %v, %v", c, err)
	}
	same(t, "what happened", l, log{"prepare a", "prepare b", "close b", "close a"})

	l = nil
	dependent := preparing(&l, "dependent", ext.Contribution{}, "nowhere")
	dependent.Required = true
	s = composition.Selection{Extensions: []ext.Extension{dependent, preparing(&l, "b", ext.Contribution{})}}
	if _, err := composition.Compose(t.Context(), s); err == nil || !strings.Contains(err.Error(), "requires nowhere") {
		t.Errorf("got %v", err)
	}
	same(t, "what happened", l, log{"prepare dependent", "prepare b", "close dependent", "close b"})
}

func TestPanicsAreContained(t *testing.T) {
	var l log
	boom := ext.Extension{Name: "boom", Prepare: func(context.Context, ext.Prep) (*ext.Contribution, error) { panic("at the start") }}
	badEnd := ext.Extension{Name: "bad end", Prepare: func(context.Context, ext.Prep) (*ext.Contribution, error) {
		return &ext.Contribution{Close: func() { panic("at the end") }}, nil
	}}
	c := compose(t, composition.Selection{Extensions: []ext.Extension{preparing(&l, "a", ext.Contribution{}), boom, badEnd, preparing(&l, "b", ext.Contribution{})}})
	same(t, "inactive", c.Inactive, []composition.Inactive{{Extension: "boom", Reason: "panic: at the start"}})
	c.Close()
	same(t, "what happened", l, log{"prepare a", "prepare b", "close b", "close a"})
	same(t, "warnings", c.Warnings, []composition.Labelled{{Extension: "bad end", Text: "closing: panic: at the end"}})
}

func TestOnlyAndExclude(t *testing.T) {
	var l log
	extensions := []ext.Extension{preparing(&l, "a", ext.Contribution{Tools: tools("one", "two", "three")})}
	for _, x := range []struct {
		only, exclude, want []string
	}{
		{nil, nil, []string{"one", "two", "three"}},
		{[]string{}, nil, []string{}},
		{[]string{"three", "one"}, nil, []string{"one", "three"}},
		{nil, []string{"two"}, []string{"one", "three"}},
		{[]string{"one", "two"}, []string{"two"}, []string{"one"}},
		{[]string{"one", "one"}, []string{"two", "two"}, []string{"one"}},
	} {
		c := compose(t, composition.Selection{Extensions: extensions, Only: x.only, Exclude: x.exclude})
		same(t, fmt.Sprintf("only %v without %v", x.only, x.exclude), toolNames(c), x.want)
		c.Close()
	}
	for _, s := range []composition.Selection{{Extensions: extensions, Only: []string{"four"}}, {Extensions: extensions, Exclude: []string{"four"}}} {
		l = nil
		_, err := composition.Compose(t.Context(), s)
		if err == nil || !strings.Contains(err.Error(), `there is no tool "four"; the tools are one, two, three`) {
			t.Errorf("got %v", err)
		}
		same(t, "what happened", l, log{"prepare a", "close a"})
	}
}

func TestNameBounds(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	for name, ok := range map[string]bool{
		"a": true, "A-z_09": true, long(64): true,
		"": false, long(65): false, "a b": false, "a.b": false, "é": false, "a\n": false, "a/b": false,
	} {
		c := compose(t, composition.Selection{Extensions: []ext.Extension{{Name: "x", Static: ext.Contribution{Tools: tools(name)}}}})
		if active := len(c.Active) == 1; active != ok {
			t.Errorf("a tool named %q: active %v, %v", name, active, c.Inactive)
		}
		c.Close()
	}
	for name, ok := range map[string]bool{
		"/a": true, "/skill:name": true, "/größe": true, "/a/b": true, "/" + long(composition.MaxCommandName): true,
		"": false, "/": false, "a": false, "/a b": false, "/a\t": false, "/a\u00a0b": false, "/a\u3000b": false, "/a\x1b[31m": false, "/a\u202eb": false,
		"/a\xff": false, "/" + long(composition.MaxCommandName+1): false, "/" + strings.Repeat("é", composition.MaxCommandName/2) + "x": false,
	} {
		c := compose(t, composition.Selection{Extensions: []ext.Extension{{Name: "x", Static: ext.Contribution{Commands: []ext.Command{command(name)}}}}})
		if active := len(c.Active) == 1; active != ok {
			t.Errorf("a command named %q: active %v, %v", name, active, c.Inactive)
		}
		c.Close()
	}
}

func TestMaxTools(t *testing.T) {
	many := func(prefix string, n int) (list []ext.Tool) {
		for i := range n {
			list = append(list, tool(fmt.Sprint(prefix, i)))
		}
		return list
	}
	whole := ext.Extension{Name: "whole", Static: ext.Contribution{Tools: many("w", composition.MaxTools)}}
	over := ext.Extension{Name: "over", Static: ext.Contribution{Tools: many("o", composition.MaxTools+1)}}
	more := ext.Extension{Name: "more", Static: ext.Contribution{Tools: many("m", 1)}}
	c := compose(t, composition.Selection{Extensions: []ext.Extension{over, whole, more, {Name: "none"}}})
	same(t, "active", c.Active, []string{"whole", "none"})
	if len(c.Tools) != composition.MaxTools || len(c.Inactive) != 2 || !strings.Contains(c.Inactive[1].Reason, "more than 256") {
		t.Errorf("%d tools, inactive %v", len(c.Tools), c.Inactive)
	}
}
