package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"octavo/ext/model/modeltest"
	"octavo/pages/text"
	"octavo/sessionstore"
)

// fails runs octavo, which must end with a code and say something on stderr.
func (d *desk) fails(code int, want string, args ...string) outcome {
	d.t.Helper()
	o := d.run("", args...)
	if o.code != code || !strings.Contains(o.stderr, want) {
		d.t.Errorf("octavo %s: exit %d, want %d and %q:\n%s%s", strings.Join(args, " "), o.code, code, want, o.stdout, o.stderr)
	}
	return o
}

// screen runs octavo on a terminal of so many columns and answers what stood there, line by line.
func (d *desk) screen(columns uint16, args ...string) []string {
	d.t.Helper()
	cmd := d.command(args...)
	ours, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: columns})
	if err != nil {
		d.t.Fatal(err)
	}
	defer ours.Close()
	var all bytes.Buffer
	_, _ = io.Copy(&all, ours) // it ends with an error when the program does
	if err := cmd.Wait(); err != nil {
		d.t.Errorf("octavo %s: %v\n%s", strings.Join(args, " "), err, all.String())
	}
	return strings.Split(strings.TrimRight(strings.ReplaceAll(all.String(), "\r\n", "\n"), "\n"), "\n")
}

// ask runs octavo on a terminal and gives an answer once the question stands there. What is ahead is typed before octavo runs.
func (d *desk) ask(ahead, question, answer string, args ...string) (code int, said string) {
	d.t.Helper()
	ours, theirs, err := pty.Open()
	if err != nil {
		d.t.Fatal(err)
	}
	defer ours.Close()
	if err := pty.Setsize(ours, &pty.Winsize{Rows: 40, Cols: 120}); err != nil {
		d.t.Fatal(err)
	}
	if _, err := io.WriteString(ours, ahead); err != nil {
		d.t.Fatal(err)
	}
	cmd := d.command(args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = cmd.Start()
	theirs.Close()
	if err != nil {
		d.t.Fatal(err)
	}
	x := &talk{d: d, cmd: cmd, stdin: ours, done: make(chan error, 1)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(x, ours)
	}()
	go func() { x.done <- cmd.Wait() }()
	x.see(question)
	if _, err := io.WriteString(ours, answer); err != nil {
		d.t.Fatal(err)
	}
	code = x.end()
	<-read
	return code, x.all()
}

// ids are those of the home's sessions by what they are called.
func (d *desk) ids() map[string]string {
	d.t.Helper()
	found := map[string]string{}
	for _, flag := range []string{"--all", "--deleted"} {
		for _, l := range lines(d.t, d.ok("", "sessions", "list", "--mode", "json", flag)) {
			name, _ := l["name"].(string)
			if name == "" {
				name, _ = l["preview"].(string)
			}
			found[name] = l["id"].(string)
		}
	}
	return found
}

func TestSessionsAreNamedTaggedAndFound(t *testing.T) {
	d := newDesk(t, modeltest.Say("one"), modeltest.Say("two"), modeltest.Say("three")).connect()
	d.ok("", "-p", "mend the \x1b[31mgreeting")
	d.ok("", "-p", "-n", "parser rewrite", "write a parser")
	d.ok("", "-p", "third")
	ids := d.ids()
	first, parser := ids["mend the \x1b[31mgreeting"], ids["parser rewrite"]
	if first == "" {
		for name, id := range ids {
			if strings.HasPrefix(name, "mend the") {
				first = id
			}
		}
	}

	if out := d.ok("", "sessions", "rename", first, "  the greeting "); !strings.Contains(out, first+" is named the greeting") {
		t.Errorf("rename says %q", out)
	}
	d.ok("", "sessions", "rename", ids["third"], "a name")
	if out := d.ok("", "sessions", "rename", "a name", ""); !strings.Contains(out, ids["third"]+" (third) has no name now") {
		t.Errorf("rename says %q", out)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"tag", parser, "urgent", "+later", "go"}, "go later urgent\n"},
		{[]string{"tag", "parser rewrite", "-later", "go", "-none"}, "go urgent\n"},
		{[]string{"tag", "the greeting", "go"}, "go\n"},
		{[]string{"tag", parser}, "go urgent\n"},
	} {
		if out := d.ok("", append([]string{"sessions"}, c.args...)...); out != c.want {
			t.Errorf("%v: %q", c.args, out)
		}
	}
	if o := d.run("", "sessions", "tag", first[:18], "-go"); o.stdout != "" || !strings.Contains(o.stderr, "no tags") {
		t.Errorf("the last tag is gone: %+v", o)
	}

	list := func(args ...string) (called []string) {
		t.Helper()
		for _, l := range lines(t, d.ok("", append([]string{"sessions", "list", "--mode", "json"}, args...)...)) {
			if l["type"] != "session" {
				t.Errorf("a line without a type: %v", l)
			}
			called = append(called, fmt.Sprint(l["name"], l["tags"], l["preview"]))
		}
		return called
	}
	one := []string{"parser rewrite[go urgent]write a parser"}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--query", "PARSER"}, one}, {[]string{"--query", "urg"}, one}, {[]string{"--tag", "urgent"}, one}, {[]string{"--tag", "urg"}, nil},
		{[]string{"--query", parser}, one}, {[]string{"--query", "nothing"}, nil}, {[]string{"--deleted"}, nil},
		{[]string{"--here", "--limit", "1"}, []string{"<nil> <nil>third"}},
	} {
		if got := list(c.args...); !slices.Equal(got, c.want) {
			t.Errorf("list %v: %q, want %q", c.args, got, c.want)
		}
	}
	if got := list("--all"); len(got) != 3 {
		t.Errorf("all: %q", got)
	}
	if out := d.ok("", "sessions", "list"); strings.Contains(out, "\x1b") || !strings.Contains(out, "go urgent") || !strings.Contains(out, parser) || !strings.Contains(out, "  third  ") {
		t.Errorf("list:\n%s", out)
	}
	// Two with one name are told apart by their ids.
	if o := d.run("", "sessions", "rename", first, "parser rewrite"); o.code != 0 || !strings.Contains(o.stderr, "Other sessions have this name, too") {
		t.Errorf("a second one of the name: %+v", o)
	}
	if o := d.fails(1, "names several sessions", "sessions", "tag", "parser rewrite"); !strings.Contains(o.stderr, first) || !strings.Contains(o.stderr, parser) {
		t.Errorf("which ones: %s", o.stderr)
	}
}

func TestSessionsAreDeletedRestoredAndPurged(t *testing.T) {
	d := newDesk(t, append(fix(), modeltest.Say("two").Usage(modeltest.Tokens{Prompt: 7, Completion: 1}), modeltest.Say("three"))...).connect()
	d.ok("", "-p", "-n", "one", "mend the greeting")
	d.ok("", "-p", "-n", "two", "hello")
	d.ok("", "-p", "-n", "three", "hello")
	ids := d.ids()
	spent := d.ok("", "usage", "--all", "--by", "model")

	out := d.ok("", "sessions", "delete", "one", ids["two"], "one")
	for _, name := range []string{"one", "two"} {
		if want := fmt.Sprintf("session %s (%s) is deleted; octavo sessions restore %s brings it back until ", ids[name], name, ids[name]); strings.Count(out, want) != 1 {
			t.Errorf("no %q in %q", want, out)
		}
	}
	if out := d.ok("", "sessions", "delete", "one"); !strings.Contains(out, "was deleted already") {
		t.Errorf("twice: %q", out)
	}
	if out := d.ok("", "sessions", "list"); strings.Contains(out, ids["one"]) || !strings.Contains(out, ids["three"]) {
		t.Errorf("list:\n%s", out)
	}
	trash := lines(t, d.ok("", "sessions", "list", "--deleted", "--json"))
	if len(trash) != 2 || trash[0]["id"] != ids["two"] || trash[0]["deleted"] == nil || trash[0]["purged_after"] == nil {
		t.Errorf("deleted: %v", trash)
	}
	if out := d.ok("", "sessions", "list", "--deleted"); !regexp.MustCompile(`id +until .*\n` + ids["two"] + ` +\d{4}-\d\d-\d\d  two`).MatchString(out) {
		t.Errorf("deleted:\n%s", out)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"session " + ids["one"] + " (one) is deleted; octavo sessions restore", []string{"rename", "one", "x"}},
		{"is deleted; octavo sessions restore", []string{"tag", "one", "x"}},
		{"session " + ids["three"] + " (three) is not deleted", []string{"restore", "three"}},
		{"octavo sessions delete " + ids["three"] + " does that", []string{"purge", "--yes", "three"}},
		{`there is no session "four"`, []string{"delete", "three", "four"}},
		{`there is no session "four"`, []string{"purge", "--yes", "one", "four"}},
		{"add --yes to remove them for good", []string{"purge", "one"}},
	} {
		d.fails(1, c.want, append([]string{"sessions"}, c.args...)...)
	}
	if out := d.ok("", "sessions", "restore", "two"); !strings.Contains(out, "octavo --resume "+ids["two"]+" goes on") {
		t.Errorf("restore: %q", out)
	}
	if out := d.ok("", "sessions", "list"); !strings.Contains(out, ids["two"]) {
		t.Errorf("list:\n%s", out)
	}

	// A question is asked, what was typed before it counts for nothing, and only a y agrees.
	for _, answer := range []string{"n\n", "\n", "yesterday\n"} {
		code, said := d.ask("y\n", "Remove 1 session for good? [y/N] ", answer, "sessions", "purge", "one")
		if code != 0 || !strings.Contains(said, "Nothing was removed.") || !strings.Contains(said, ids["one"]+"  one  ") || !strings.Contains(said, "What they used stays in octavo usage.") {
			t.Errorf("answer %q: exit %d\n%s", answer, code, said)
		}
	}
	if code, said := d.ask("", "[y/N] ", "y\n", "sessions", "purge", "--all"); code != 0 || !strings.Contains(said, "session "+ids["one"]+" (one) is removed for good") {
		t.Errorf("purge --all: exit %d\n%s", code, said)
	}
	if o := d.run("", "sessions", "purge", "--all", "--yes"); o.code != 0 || !strings.Contains(o.stderr, "no session is deleted") {
		t.Errorf("nothing to purge: %+v", o)
	}
	d.fails(1, "there is no session", "sessions", "inspect", ids["one"])
	if now := d.ok("", "usage", "--all", "--by", "model"); now != spent {
		t.Errorf("usage was\n%s\nand is\n%s", spent, now)
	}
	// Several at once are asked for on a terminal.
	if code, said := d.ask("y\n", "Delete these 2 sessions? [y/N] ", "n\n", "sessions", "delete", "two", "three"); code != 0 || !strings.Contains(said, "Nothing was deleted.") {
		t.Errorf("exit %d\n%s", code, said)
	}
	if code, _ := d.ask("", "[y/N] ", "\x03", "sessions", "delete", "two", "three"); code != 128+int(syscall.SIGINT) {
		t.Errorf("ctrl+c: exit %d", code)
	}
	if got := lines(t, d.ok("", "sessions", "delete", "--mode", "json", "--yes", "two", "three")); len(got) != 2 || got[1]["id"] != ids["three"] || got[1]["deleted"] == nil {
		t.Errorf("%v", got)
	}
	if got := lines(t, d.ok("", "sessions", "purge", "--mode", "json", "--yes", "two")); len(got) != 1 || got[0]["type"] != "purged" || got[0]["id"] != ids["two"] {
		t.Errorf("%v", got)
	}
}

// What is open elsewhere is named, and left alone where that matters.
func TestSessionsThatAreOpen(t *testing.T) {
	d := newDesk(t, modeltest.Say("one"), modeltest.Say("two")).connect()
	d.ok("", "-p", "-n", "one", "hello")
	d.ok("", "-p", "-n", "two", "hello")
	id := d.ids()["one"]
	x := d.talk("--resume", "one")
	x.see(">")
	holder := fmt.Sprintf("in process %d (octavo, since ", x.cmd.Process.Pid)
	d.fails(1, holder, "sessions", "delete", "two", "one")
	if out := d.ok("", "sessions", "list", "--deleted"); out != "" {
		t.Errorf("half was done: %s", out)
	}
	d.fails(1, "session "+id+" is open "+holder, "sessions", "repair")
	if o := d.run("", "sessions", "rename", "one", "uno"); o.code != 0 || !strings.Contains(o.stderr, "It is open "+holder) || !strings.Contains(o.stderr, "/name changes it there at once") {
		t.Errorf("rename: %+v", o)
	}
	if out := d.ok("", "sessions", "inspect", "uno"); !strings.Contains(out, "open "+holder) {
		t.Errorf("inspect:\n%s", out)
	}
	if got := lines(t, d.ok("", "sessions", "inspect", "uno", "--mode", "json")); got[0]["holder"] != float64(x.cmd.Process.Pid) {
		t.Errorf("inspect: %v", got[0])
	}
	x.say("/quit")
	x.end()
	if out := d.ok("", "sessions", "inspect", "uno"); !strings.Contains(out, "state       idle\n") {
		t.Errorf("inspect:\n%s", out)
	}
	d.ok("", "sessions", "delete", "uno")
}

func TestSessionsInspect(t *testing.T) {
	d := newDesk(t, append(fix(), modeltest.Say("a"), modeltest.Say("b"))...).connect()
	d.ok("", "-p", "-n", "root", "mend the greeting")
	root := d.ids()["root"]
	d.ok("", "-p", "--fork", root+"@2", "-n", "left", "another way")
	d.ok("", "-p", "--fork", "left", "-n", "leaf", "and on")
	ids := d.ids()
	d.ok("", "sessions", "delete", "leaf")
	d.ok("", "sessions", "tag", "left", "try")

	out := d.ok("", "sessions", "inspect", "left")
	for _, want := range []string{
		"id           " + ids["left"] + "\n", "name         left\n", "began with   mend the greeting\n", "tags         try\n", "workspace    " + d.repo + "\n",
		"model        local/scripted\n", "state        idle\n", "forked from  " + root + "@2\n",
		"Usage, by model\n", "local/scripted         1",
		"\n  " + root + "  root\n", "\n*   @2 " + ids["left"] + "  left\n", ids["leaf"] + " (deleted)  leaf\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "Entries") {
		t.Errorf("entries were not asked for:\n%s", out)
	}
	out = d.ok("", "sessions", "inspect", "root", "--entries")
	_, entries, _ := strings.Cut(out, "\nEntries\n")
	for i, want := range []string{
		`user       mend the greeting`, `assistant  Let me look. [[]calls read]`, `call       read `, `result     read .* - ok`, `assistant  [[]calls edit]`, `call       edit `,
		`result     edit .* - ok`, `assistant  [[]calls bash]`, `call       bash .*check.sh`, `result     bash .* - ok`, `assistant  Mended the greeting; check.sh says PASS.`, `settled    completed`,
	} {
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^ *%d  \d{4}-\d\d-\d\d \d\d:\d\d  %s`, i+1, want)).MatchString(entries) {
			t.Errorf("no entry %d with %q in\n%s", i+1, want, entries)
		}
	}
	kinds := map[string]int{}
	var seqs []string
	for _, l := range lines(t, d.ok("", "sessions", "inspect", "leaf", "--entries", "--mode", "json")) {
		kinds[l["type"].(string)]++
		switch l["type"] {
		case "session":
			if l["id"] != ids["leaf"] || l["parent"] != ids["left"] || l["deleted"] == nil || !strings.HasPrefix(l["state"].(string), "deleted: octavo sessions restore ") {
				t.Errorf("%v", l)
			}
		case "fork":
			if (l["self"] == true) != (l["id"] == ids["leaf"]) || (l["deleted"] == true) != (l["id"] == ids["leaf"]) {
				t.Errorf("%v", l)
			}
		case "entry":
			seqs = append(seqs, fmt.Sprint(l["seq"]))
		}
	}
	if kinds["session"] != 1 || kinds["usage"] != 1 || kinds["fork"] != 3 || kinds["entry"] < 6 || seqs[0] != "1" {
		t.Errorf("%v, entries %v", kinds, seqs)
	}
	// The oldest ancestor may be gone for good.
	d.ok("", "sessions", "delete", "root")
	d.ok("", "sessions", "purge", "--yes", root)
	if out := d.ok("", "sessions", "inspect", "left"); !strings.Contains(out, root+" is no longer stored; @2 of it:\n*") {
		t.Errorf("inspect:\n%s", out)
	}
}

func TestSessionsInspectTellsWhatACrashLeft(t *testing.T) {
	d := newDesk(t, fix()...).connect()
	d.binary, d.env = built.crashing, []string{"OCTAVO_CRASH_AT=tool call stored/after commit/1"}
	if o := d.run("", "-p", "-n", "cut", "mend the greeting"); o.code != -1 {
		t.Fatalf("it was not killed: %+v", o)
	}
	d.binary, d.env = built.octavo, nil
	id := d.ids()["cut"]
	if out := d.ok("", "sessions", "inspect", "cut"); !strings.Contains(out, "interrupted, octavo ended in the middle of a turn: octavo --resume "+id+" goes on") {
		t.Errorf("inspect:\n%s", out)
	}
	// Repair leaves to the session what the session can tell best.
	if out := d.ok("", "sessions", "repair"); !strings.Contains(out, "nothing is wrong") {
		t.Errorf("repair:\n%s", out)
	}
}

func TestSessionsFitTheScreen(t *testing.T) {
	long := strings.Repeat("wide 宽 ", 60)
	d := newDesk(t, modeltest.Say(long), modeltest.Say("x"), modeltest.Say("y")).connect()
	d.ok("", "-p", "-n", strings.Repeat("long name ", 12), long)
	d.ok("", "-p", "--fork", "long name "+strings.TrimRight(strings.Repeat("long name ", 11), " "), "-n", "two", long)
	d.ok("", "sessions", "tag", "two", "urgent")
	id := d.ids()["two"]
	for _, columns := range []uint16{60, 120} {
		for _, args := range [][]string{{"list"}, {"inspect", "two", "--entries"}, {"inspect", strings.TrimRight(strings.Repeat("long name ", 12), " "), "--entries"}} {
			shown := d.screen(columns, append([]string{"sessions"}, args...)...)
			for _, line := range shown {
				if w := text.Width(line); w > int(columns) {
					t.Errorf("%v at %d columns: %d cells: %q", args, columns, w, line)
				}
			}
			all := strings.Join(shown, "\n")
			if args[0] == "list" && (!strings.Contains(all, id[:idStart]+"  ") || strings.Contains(all, id) || !strings.Contains(all, "urgent")) {
				t.Errorf("list at %d columns:\n%s", columns, all)
			}
			if args[0] == "inspect" && (!strings.Contains(all, id) || !strings.Contains(all, "Entries")) {
				t.Errorf("%v at %d columns:\n%s", args, columns, all)
			}
		}
	}
	d.ok("", "sessions", "inspect", id[:idStart])
}

// A long session is told entry by entry: it never stands in memory.
func TestSessionsInspectStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("it stores 100,000 entries")
	}
	d := newDesk(t, modeltest.Say("one")).connect()
	d.ok("", "-p", "hello")
	before := d.stored()
	store, err := sessionstore.Open(d.ctx, sessionstore.Options{Dir: d.home})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	const many = 100_000
	user := before.payloads[slices.Index(before.kinds, "user")]
	payload := []byte(strings.Replace(user, `"hello"`, `"hello `+strings.Repeat("world ", 200)+`"`, 1))
	if len(payload) < 1200 {
		t.Fatalf("the payload is %s", payload)
	}
	for stored := before.row.Entries; stored < many; {
		var c sessionstore.Change
		for range min(sessionstore.MaxAppend, many-stored) {
			c.Append = append(c.Append, sessionstore.NewEntry{Kind: "user", Payload: payload})
		}
		r, err := store.Commit(d.ctx, before.row.ID, sessionstore.NoteStored, c)
		if err != nil {
			t.Fatal(err)
		}
		stored = r.Last
	}
	cmd := d.command("sessions", "inspect", before.row.ID, "--entries")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	shown, last := 0, ""
	for scan := bufio.NewScanner(out); scan.Scan(); last = scan.Text() {
		if strings.Contains(scan.Text(), "  user       hello") {
			shown++
		}
		if shown == many-1000 { // the rest does not fit the pipe: it is still at work
			const most = 100 << 20 // of 120 MiB of entries, which would be more than twice that in memory
			if size := peak(t, cmd.Process.Pid); size > most {
				t.Errorf("%s in memory", text.Bytes(size))
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if shown < many-10 || !strings.HasPrefix(last, "100000  ") {
		t.Errorf("%d lines, the last %.30q", shown, last)
	}
}

// peak is the most memory that a running process had; 0 where nothing tells.
func peak(t *testing.T, pid int) (bytes int64) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscanf(after, "%d kB", &bytes); err != nil {
		t.Fatal(err)
	}
	return bytes << 10
}

// A reader that has seen enough is no failure, and ends no work that is half done.
func TestSessionsWithoutAReader(t *testing.T) {
	d := newDesk(t, modeltest.Say("one"), modeltest.Say("two")).connect()
	d.ok("", "-p", "-n", "one", "hello")
	d.ok("", "-p", "-n", "two", "hello")
	for _, args := range [][]string{{"list"}, {"inspect", "one", "--entries"}, {"inspect", "one", "--mode", "json"}, {"export", "one"}, {"delete", "one", "two"}} {
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := reader.Close(); err != nil {
			t.Fatal(err)
		}
		cmd := d.command(append([]string{"sessions"}, args...)...)
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = writer, &errs
		if err := cmd.Run(); err != nil || errs.Len() > 0 {
			t.Errorf("%v: %v, %s", args, err, errs.String())
		}
		writer.Close()
	}
	if got := lines(t, d.ok("", "sessions", "list", "--deleted", "--json")); len(got) != 2 {
		t.Errorf("deleted: %v", got)
	}
}

func TestSessionsExport(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	d := newDesk(t, modeltest.Say("The key is "+secret), modeltest.Say("x")).connect()
	d.ok("", "-p", "-n", "talk", "hello "+secret)
	id := d.ids()["talk"]
	file := func(name string) string {
		t.Helper()
		info, err := os.Stat(filepath.Join(d.repo, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		return d.read(name)
	}
	var doc map[string]any
	if out := d.ok("", "sessions", "export", "talk"); json.Unmarshal([]byte(out), &doc) != nil || strings.Contains(out, secret) {
		t.Errorf("a pipe gets JSON without secrets:\n%s", out)
	}
	if out := d.ok("", "sessions", "export", "talk", "--format", "markdown", "--include-secrets"); !strings.Contains(out, secret) || !strings.Contains(out, "hello") {
		t.Errorf("everything:\n%s", out)
	}
	if out := d.ok("", "sessions", "export", "talk", "-o", "talk.html"); !strings.Contains(out, "session "+id+" (talk) is exported to talk.html, ") {
		t.Errorf("it says %q", out)
	}
	if page := file("talk.html"); !strings.Contains(page, "<html") || strings.Contains(page, secret) {
		t.Errorf("the page:\n%.300s", page)
	}
	d.fails(1, "--force replaces it", "sessions", "export", "talk", "--output", "talk.html")
	d.ok("", "sessions", "export", "talk", "--output", "talk.html", "--format", "json", "--force")
	if page := file("talk.html"); !strings.HasPrefix(page, "{") {
		t.Errorf("--format stands above the ending:\n%.300s", page)
	}
	shown := d.screen(120, "sessions", "export", "talk", "--format", "markdown")
	name := "octavo-" + id[:idStart] + ".md"
	if !strings.Contains(strings.Join(shown, "\n"), "exported to "+name) || !strings.Contains(file(name), "hello") {
		t.Errorf("on a terminal it is written to %s: %q", name, shown)
	}
	if got := lines(t, d.ok("", "sessions", "export", "talk", "--mode", "json", "-o", "a.json")); got[0]["type"] != "export" || got[0]["path"] != "a.json" || got[0]["id"] != id {
		t.Errorf("%v", got)
	}
	d.fails(2, "the ending of --output", "sessions", "export", "talk", "-o", "talk.pdf")
	d.fails(2, "--format", "sessions", "export", "talk", "--format", "pdf")
	d.fails(2, "share no standard output", "sessions", "export", "talk", "-o", "-", "--mode", "json")
	d.ok("", "sessions", "delete", "talk")
	if out := d.ok("", "sessions", "export", id, "--format", "markdown", "-o", "-"); !strings.Contains(out, "hello") {
		t.Errorf("a deleted one:\n%s", out)
	}
}

func TestSessionsRepair(t *testing.T) {
	d := newDesk(t, fix()...).connect()
	if o := d.run("", "sessions", "repair"); o.code != 0 || !strings.Contains(o.stderr, "nothing is stored in") {
		t.Errorf("before anything: %+v", o)
	}
	d.ok("", "-p", "-n", "one", "mend the greeting")
	id := d.ids()["one"]
	if out := d.ok("", "sessions", "repair"); out != "checked 1 session, 12 entries, 0 attachments\nnothing is wrong\n" {
		t.Errorf("a sound home: %q", out)
	}

	db := filepath.Join(d.home, sessionstore.FileName)
	change := func(sql string) {
		t.Helper()
		conn, err := sqlite.OpenConn(db, sqlite.OpenReadWrite)
		if err != nil {
			t.Fatal(err)
		}
		if err := sqlitex.ExecuteScript(conn, sql, nil); err != nil {
			t.Fatal(err)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	change("UPDATE session SET entries = 3; UPDATE total SET requests = 99;")
	if out := d.ok("", "sessions", "repair"); !strings.Contains(out, "mended  session "+id+": it said that it had 3 entries, and has 12\n") ||
		!strings.Contains(out, "mended  session "+id+": its totals said 99 requests") || !strings.Contains(out, "the database as it was found is copied to "+filepath.Join(d.home, "backups")) {
		t.Errorf("repair:\n%s", out)
	}
	change("UPDATE entry SET payload = x'7b' WHERE kind = 'result'")
	o := d.fails(1, "not everything could be mended", "sessions", "repair", "one")
	if want := "LOST    session " + id + ": entries 4, 7, 10 could not be read and are marked as lost\n"; !strings.Contains(o.stdout, want) {
		t.Errorf("repair:\n%s", o.stdout)
	}
	if out := d.ok("", "sessions", "repair", "one"); !strings.Contains(out, "nothing is wrong") {
		t.Errorf("what was marked is read:\n%s", out)
	}
	d.fails(1, "there is no session", "sessions", "repair", "two")

	// Damage the page of the entries with the program closed.
	content, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(content, []byte(`"mend the greeting"`)) / 4096 * 4096
	copy(content[at:], bytes.Repeat([]byte{0xa5}, 4096))
	if err := os.WriteFile(db, content, 0o600); err != nil {
		t.Fatal(err)
	}
	got := d.run("", "sessions", "repair", "--mode", "json")
	all := lines(t, got.stdout)
	last := all[len(all)-2] // after it comes the error
	damaged, _ := last["damaged"].(string)
	if got.code != 1 || last["type"] != "repair" || last["broken"] != true || filepath.Dir(damaged) != d.home {
		t.Errorf("exit %d:\n%s%s", got.code, got.stdout, got.stderr)
	}
	if kept, err := os.ReadFile(damaged); err != nil || !bytes.Equal(kept, content) {
		t.Errorf("the damaged file is not kept: %v", err)
	}
	if out := d.ok("", "sessions", "list"); !strings.Contains(out, id) {
		t.Errorf("list:\n%s", out)
	}
	d.ok("", "sessions", "inspect", id, "--mode", "json")
}

// TestSessionsRepairAfterADamagedPayload overwrites the last page of one long entry, which SQLite reads as if nothing had happened.
func TestSessionsRepairAfterADamagedPayload(t *testing.T) {
	d := newDesk(t, append(fix(), modeltest.Say("It is.").Usage(modeltest.Tokens{Prompt: 10, Completion: 2}), modeltest.Say("Still."), modeltest.Say("Forked."))...).connect()
	d.ok("mend the greeting "+strings.Repeat("word ", 3000)+"overflowing", "-p", "-n", "one", "-")
	d.ok("", "-p", "--resume", "one", "is it?")
	id := d.ids()["one"]
	db := filepath.Join(d.home, sessionstore.FileName)
	content, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(content, []byte("word overflowing"))
	if at < 0 {
		t.Fatal("the entry is not found")
	}
	at = at / 4096 * 4096
	copy(content[at:], bytes.Repeat([]byte{0xa5, 7}, 2048))
	if err := os.WriteFile(db, content, 0o600); err != nil {
		t.Fatal(err)
	}
	d.fails(1, "read entry 1: ", "-p", "--resume", "one", "still?")
	o := d.fails(1, "not everything could be mended", "sessions", "repair")
	if want := "LOST    session " + id + ": entry 1 could not be read and is marked as lost\n"; !strings.Contains(o.stdout, want) || !strings.Contains(o.stdout, "the damaged database is kept as ") {
		t.Errorf("no %q in\n%s", want, o.stdout)
	}
	if out := d.ok("", "sessions", "repair"); !strings.Contains(out, "nothing is wrong") {
		t.Errorf("again:\n%s", out)
	}
	if out := d.ok("", "-p", "--resume", "one", "still?"); !strings.Contains(out, "Still.") {
		t.Errorf("resume: %q", out)
	}
	if out := d.ok("", "-p", "--fork", "one", "and there?"); !strings.Contains(out, "Forked.") {
		t.Errorf("fork: %q", out)
	}
	const word = "[an entry was lost here: it could not be read]"
	for _, args := range [][]string{{"sessions", "inspect", id, "--entries"}, {"sessions", "export", id, "-o", "-"}, {"sessions", "export", id, "--format", "json", "-o", "-"}} {
		if out := d.ok("", args...); !strings.Contains(out, word) {
			t.Errorf("%q says nothing of the loss:\n%s", args, out)
		}
	}
	for _, r := range d.server.Requests()[5:] {
		if !strings.Contains(string(r.Body), word) {
			t.Error("the model is not told of the loss")
		}
	}
}

func TestSessionsComplete(t *testing.T) {
	d := newDesk(t, modeltest.Say("one"), modeltest.Say("two")).connect()
	complete := func(args ...string) string {
		t.Helper()
		out := d.ok("", append([]string{"__complete", "sessions"}, args...)...)
		words, _, _ := strings.Cut(out, ":") // of the directive
		return words
	}
	if out := complete("inspect", ""); out != "" {
		t.Errorf("of nothing: %q", out)
	}
	if _, err := os.Stat(filepath.Join(d.home, sessionstore.FileName)); err == nil {
		t.Error("completing made a store")
	}
	d.ok("", "-p", "-n", "one", "hello")
	d.ok("", "-p", "-n", "two", "hello")
	ids := d.ids()
	d.ok("", "sessions", "tag", "one", "urgent")
	d.ok("", "sessions", "delete", "two")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"inspect", ""}, ids["one"] + "\tone\n" + ids["two"] + "\ttwo\none\t" + ids["one"] + "\ntwo\t" + ids["two"] + "\n"},
		{[]string{"rename", "o"}, "one\t" + ids["one"] + "\n"},
		{[]string{"rename", "one", ""}, ""},
		{[]string{"restore", ids["two"][:9]}, ids["two"] + "\ttwo\n"},
		{[]string{"delete", "one", "o"}, ""},
		{[]string{"tag", "one", "u"}, "urgent\n"},
		{[]string{"tag", "one", "+"}, "+urgent\n"},
		{[]string{"export", "one", "--format", ""}, "json\nhtml\nmarkdown\n"},
	} {
		if got := complete(c.args...); got != c.want && !(c.args[0] == "inspect" && len(got) == len(c.want)) {
			t.Errorf("%v: %q, want %q", c.args, got, c.want)
		}
	}
}

func TestSessionsCommandLine(t *testing.T) {
	d := newDesk(t).connect()
	for _, c := range []struct {
		want string
		args []string
	}{
		{"takes one session", []string{"inspect"}},
		{"takes one session", []string{"inspect", "a", "b"}},
		{"a session and its new name", []string{"rename", "a"}},
		{"takes sessions", []string{"delete"}},
		{"takes deleted sessions or --all", []string{"purge"}},
		{"takes deleted sessions or --all", []string{"purge", "--all", "a"}},
		{"--limit is 1 to 500, not 501", []string{"list", "--limit", "501"}},
		{"--limit is 1 to 500, not 0", []string{"list", "--limit", "0"}},
		{"exclude each other", []string{"list", "--limit", "3", "--all"}},
		{`--mode is json, not "xml"`, []string{"list", "--mode", "xml"}},
		{`--mode is json, not "xml"`, []string{"repair", "--mode", "xml"}},
		{`takes no "lst"`, []string{"lst"}},
		{"at most one session", []string{"repair", "a", "b"}},
	} {
		d.fails(2, c.want, append([]string{"sessions"}, c.args...)...)
	}
	for _, args := range [][]string{{"inspect", "x"}, {"rename", "x", "y"}, {"tag", "x"}, {"export", "x"}, {"delete", "x"}, {"restore", "x"}, {"purge", "x"}} {
		d.fails(1, `there is no session "x"`, append([]string{"sessions"}, args...)...)
	}
	if _, err := os.Stat(filepath.Join(d.home, sessionstore.FileName)); err == nil {
		t.Error("looking made a store")
	}
	d.ok("", "sessions", "list", "--limit", "500")
	if got := lines(t, d.run("", "sessions", "inspect", "x", "--mode", "json").stdout); len(got) != 1 || got[0]["type"] != "error" {
		t.Errorf("an error in JSON: %v", got)
	}
	for _, name := range []string{"list", "inspect", "rename", "tag", "export", "delete", "restore", "purge", "repair"} {
		if out := d.ok("", "sessions", name, "--help"); !strings.Contains(out, "\n  octavo sessions "+name) {
			t.Errorf("no example in\n%s", out)
		}
	}
}

func TestRetagged(t *testing.T) {
	for _, c := range []struct{ tags, changes, want string }{
		{"", "a b a", "a b"}, {"a b", "-a", "b"}, {"b", "+a +b", "a b"}, {"a", "-b", "a"}, {"a", "-a +a", "a"}, {"", "x-y x+y", "x+y x-y"},
	} {
		got, err := retagged(strings.Fields(c.tags), strings.Fields(c.changes))
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%q with %q: %q, %v", c.tags, c.changes, got, err)
		}
	}
	for _, bad := range []string{"", "-", "+", "--x", "++x", "-+x", "--mode"} {
		if _, err := retagged(nil, []string{bad}); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
