package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octavo/ext"
	"octavo/ext/builtin/files"
	"octavo/ext/policy"
)

func TestLookAround(t *testing.T) {
	r := open(t, policy.Controlled, everything()) // where what is not known to change nothing is asked about
	r.put("README.md", "# Beans\n\nCounts `beans`.\n")
	r.put("main.go", "package main\n")
	r.put("cmd/tool/x.go", "package x\n")
	r.put("grün.md", "")
	r.put("Makefile", "all:\n")
	r.put("ignored.log", "")
	r.put(".gitignore", "*.log\n")
	r.git()
	told := r.say("Look around, please")
	contains(t, told, "**Files** that git knows or would add: 6, of which ", "2 `.go`", "2 `.md`", "1 `.gitignore`", "1 without an ending", "8 entries", "2 folders: `.git/`, `cmd/`",
		"on branch `trunk`", "The first commit", "**`README.md`** has 3 lines", "# Beans\nCounts 'beans'.")
	if r.asked > 0 {
		t.Errorf("%d questions were asked about looking", r.asked)
	}

	r = open(t, policy.Controlled, everything())
	r.put("lib/deep/code.py", "import sys\n")
	told = r.say("look around")
	contains(t, told, "**Files** down to the fourth level: 1, of which 1 `.py`", "1 entry", "no `.git` in this folder", "**`lib/deep/code.py`** has 1 line", "import sys")
	if r.asked > 0 {
		t.Errorf("%d questions were asked about looking", r.asked)
	}

	r = open(t, policy.UnsafeHost, everything())
	contains(t, r.say("look around"), "down to the fourth level: none.", "it is empty", "no `.git`", "neither a README nor a source file")
	must(t, exec.Command("git", "-C", r.workspace, "init", "-q").Run())
	contains(t, r.say("look around"), "would add: none.", "it names no commits")

	r = open(t, policy.ControlledBashApproval, everything())
	r.put("main.go", "package main\n")
	r.git()
	r.person = "the person refused this call; ask before you try something similar"
	contains(t, r.say("look around"), "not counted. You refused the call", "not asked. You refused the call", "**`main.go`** has 1 line")

	if !strings.Contains(countEndings, "head -n "+strconv.Itoa(maxFiles)) || !strings.Contains(askGit, "-n "+strconv.Itoa(maxCommits)) {
		t.Error("the commands and the constants say different things")
	}
}

func TestReadAndSearch(t *testing.T) {
	r := open(t, policy.Controlled, everything())
	r.put("README", "first\n\n```\nsecond\n"+strings.Repeat("x", 5000)+"\n")
	r.put("docs/a.txt", "one bean\n")
	r.put("z.bin", "\x00\x01\x02\xff")
	contains(t, r.say("read the readme"), "**`README`** has 5 lines", "first\n'''\nsecond\n", "x…\n")
	contains(t, r.say("read docs/a.txt"), "one bean")
	r.put("blank", "\n\n")
	contains(t, r.say("cat blank"), "has 2 lines, and nothing stands")
	must(t, os.Remove(r.path("blank")))
	contains(t, r.say("open docs"), "**`docs`** is a folder: 1 entry")
	contains(t, r.say("read `z.bin`"), "is no text")
	contains(t, r.say("read nowhere.txt"), "not read. The call failed:", "does not exist")
	contains(t, r.say("read /etc/passwd"), "not read. octavo refused the call: `the policy controlled keeps")
	contains(t, r.say("search for bean"), "1 match in 1 file", "docs/a.txt:1")
	contains(t, r.say("search for `no such thing`"), "no match", "not in the files")
	contains(t, r.say("search"), `no match for "TODO"`)

	contains(t, r.say("two reads at once"), "**`README`** has 5 lines", "**`z.bin`** is no text", "in the order of the calls")
	if n := len(r.ran); !strings.HasPrefix(r.ran[n-2], "read ") || !strings.HasPrefix(r.ran[n-1], "read ") {
		t.Error(r.ran)
	}
	must(t, os.Remove(r.path("README")))
	contains(t, r.say("two reads at once"), "fewer than two")
	contains(t, r.say("read a file"), "neither a README nor a source file")
	if r.asked > 0 {
		t.Errorf("%d questions were asked about reading", r.asked)
	}
}

func TestScratchFile(t *testing.T) {
	r := open(t, policy.UnsafeHost, everything())
	made := scratchText(scratchName)
	contains(t, r.say("make a scratch file"), "`octavo-demo.md`")
	r.holds(map[string]string{scratchName: made})
	contains(t, r.say("edit the file"), "-Edits so far: 0\n+Edits so far: 1\n")
	contains(t, r.say("edit it"), "-Edits so far: 1\n+Edits so far: 2\n")
	edited := strings.Replace(made, "far: 0", "far: 2", 1)
	r.holds(map[string]string{scratchName: edited})

	// The person takes part in it: the edit is of what is there, and the file is theirs now.
	r.put(scratchName, "mine\n\n")
	contains(t, r.say("clean up"), "`octavo-demo.md` I left alone: it is not as I left it", "Nothing was removed")
	contains(t, r.say("edit it"), "+octavo's demo added this line.")
	contains(t, r.say("clean up"), "I left alone", "Nothing was removed")
	r.holds(map[string]string{scratchName: "mine\n" + addition + "\n\n"})
	must(t, os.Remove(r.path(scratchName)))

	// Some beside each other, one under a name of the person's choice.
	contains(t, r.say("make a file"), "I made `octavo-demo.md`")
	contains(t, r.say("make a file"), "I made `octavo-demo-2.md`")
	contains(t, r.say("create notes.txt"), "I made `notes.txt`")
	contains(t, r.say("edit octavo-demo-2.md"), "+Edits so far: 1")
	contains(t, r.say("clean up"), "Removed: 3 scratch files")
	r.holds(map[string]string{})
	contains(t, r.say("clean up"), "no file in this conversation")
	for _, name := range []string{scratchName, "notes.txt"} { // of a conversation in which it was removed
		r.put(name, scratchText(name))
	}
	contains(t, r.say("clean up"), "no file in this conversation")
	contains(t, r.say("edit notes.txt"), "I did not make `notes.txt` in this conversation")
	r.holds(map[string]string{scratchName: made, "notes.txt": scratchText("notes.txt")})
}

// TestOthersFilesStay has files of the names that the script would use, which somebody else made.
func TestOthersFilesStay(t *testing.T) {
	r := open(t, policy.UnsafeHost, everything())
	theirs := map[string]string{"octavo-demo.md": scratchText("octavo-demo.md"), "OCTAVO-demo-2.md": "x", "a.go": "package a\n"}
	for name, content := range theirs {
		r.put(name, content)
	}
	must(t, os.Symlink("nowhere", r.path("octavo-demo-3.md")))
	must(t, os.Mkdir(r.path("octavo-demo-4.md"), 0o755))
	contains(t, r.say("read octavo-demo.md"), "has 6 lines")
	contains(t, r.say("clean up"), "no file in this conversation")
	contains(t, r.say("edit a.go"), "I did not make `a.go`")
	contains(t, r.say("make a.go"), "`a.go` is no name for a scratch file", "I made `octavo-demo-5.md`")
	contains(t, r.say("make ../x.md"), "is no name for a scratch file", "I made `octavo-demo-6.md`")
	contains(t, r.say("clean up"), "Removed: 2 scratch files")
	must(t, os.Remove(r.path("octavo-demo-3.md")))
	r.holds(theirs)

	// A scratch file whose place something else takes.
	r.say("make a file")
	must(t, os.Remove(r.path("octavo-demo-3.md")))
	must(t, os.Symlink("octavo-demo.md", r.path("octavo-demo-3.md")))
	contains(t, r.say("edit it"), "is not the text file any more")
	contains(t, r.say("clean up"), "Nothing was removed")
	must(t, os.Remove(r.path("octavo-demo-3.md")))
	contains(t, r.say("edit it"), "does not exist", "nothing to edit")
	contains(t, r.say("clean up"), "Nothing was removed")
	r.holds(theirs)

	// Too many names are taken.
	for n := 5; n <= maxNames; n++ {
		r.put(fmt.Sprintf("octavo-demo-%d.md", n), "")
	}
	r.put("octavo-demo-3.md", "")
	contains(t, r.say("make a file"), "no free name")
	must(t, os.Remove(r.path(fmt.Sprintf("octavo-demo-%d.md", maxNames))))
	contains(t, r.say("make a file"), fmt.Sprintf("I made `octavo-demo-%d.md`", maxNames))
}

// TestFreeNameNeedsAWholeList makes no file where the list of names is cut.
func TestFreeNameNeedsAWholeList(t *testing.T) {
	r := open(t, policy.UnsafeHost, []ext.Extension{files.New(files.Options{MaxOutputBytes: files.MinOutputBytes, AllowWrite: true})})
	contains(t, r.say("make a file"), "I made `octavo-demo.md`")
	for n := range 20 {
		r.put(strings.Repeat("x", 60)+strconv.Itoa(n), "")
	}
	contains(t, r.say("make a file"), "no free name like `octavo-demo.md`")
}

func TestRefusedChanges(t *testing.T) {
	r := open(t, policy.ControlledBashApproval, everything())
	r.say("make a file")
	r.person = "the person refused this call: not `today`, please"
	contains(t, r.say("make a file"), "You refused the call with the words `not 'today', please`", "I made no file called `octavo-demo-2.md`")
	contains(t, r.say("edit it"), "You refused the call", "is as it was before")
	contains(t, r.say("clean up"), "You refused the call", "what is still there")
	r.holds(map[string]string{scratchName: scratchText(scratchName)})
	r.person = ext.OptionOnce
	contains(t, r.say("edit it"), "+Edits so far: 1")
	contains(t, r.say("clean up"), "Removed: 1 scratch file")
	r.holds(map[string]string{})
}

func TestCommands(t *testing.T) {
	r := open(t, policy.UnsafeHost, everything())
	contains(t, r.say("run `echo one; echo two > x`"), "exit_status=0", "one\n")
	r.holds(map[string]string{"x": "two\n"})
	contains(t, r.say("run `exit 3`"), "exit_status=3", "printed nothing")
	contains(t, r.say("run `seq 1 100; printf '\\033[31m\\140'`"), "1\n2\n", "(and 91 more lines)")
	contains(t, r.say("what if I run `touch y`?"), "Hello from bash.")
	contains(t, r.say("show a failing command"), "nonzero_exit exit_status=", "no-such-file-of-octavos-demo", "A failed call ends nothing")
	r.holds(map[string]string{"x": "two\n"})

	r = open(t, policy.Controlled, everything())
	r.say("run a command")
	r.say("show a failing command")
	if r.asked > 0 {
		t.Error("octavo asks about the commands that are to be harmless")
	}
}

func TestApproval(t *testing.T) {
	for _, name := range []policy.Name{policy.Controlled, policy.ControlledBashApproval} {
		r := open(t, name, everything())
		contains(t, r.say("show an approval"), "It ran.")
		for _, c := range []struct{ person, told string }{
			{"the person refused this call; ask before you try something similar", "You refused the call. It did not run"},
			{"the person refused this call: too risky", "with the words `too risky`"},
			{"the policy controlled asks a person before this call and nobody is there to answer; do without it", "nobody is there to answer"},
			{"not run: the turn was interrupted first", "interrupted first"},
		} {
			r.person = c.person
			contains(t, r.say("show an approval"), c.told, "A refused call is no error")
		}
		if r.asked != 5 {
			t.Errorf("under %s octavo asked %d times, want 5", name, r.asked)
		}
	}
}

// TestLiveOutput interrupts the command as soon as it has printed something, as a person can.
func TestLiveOutput(t *testing.T) {
	r := open(t, policy.UnsafeHost, everything())
	ctx, interrupt := context.WithCancel(t.Context())
	r.ctx, r.progress = ctx, func(delta string) {
		if strings.Contains(delta, "step 1 of 5") {
			interrupt()
		}
	}
	contains(t, r.say("show live output"), "You interrupted the call. What it had done by then is done.")
}

// TestWorkItems has a work list, which the script knows only by what plugins.md says of its tool.
func TestWorkItems(t *testing.T) {
	r := open(t, policy.UnsafeHost, everything())
	contains(t, r.say("add work items"), "has no work list")
	var items []string
	tool := ext.Tool{Name: "work",
		Parameters: json.RawMessage(`{"type":"object","properties":{"op":{"type":"string","enum":["list","get","create"]},"title":{"type":"string"}},"required":["op"],"additionalProperties":false}`),
		Intent:     func(json.RawMessage) policy.Intent { return policy.Intent{Class: policy.Pure} },
		Invoke: func(_ *ext.Call, raw json.RawMessage) (ext.Output, error) {
			var a struct{ Op, Title string }
			if err := json.Unmarshal(raw, &a); err != nil {
				return ext.Output{}, err
			}
			if a.Op == "create" {
				items = append(items, a.Title)
			}
			return ext.TextOutput(strings.Join(items, "\n")), nil
		}}
	r.offer(tool)
	contains(t, r.say("add work items"), "I added 2 work items", workItems[0]+"\n"+workItems[1])
	contains(t, r.say(`add a work item "Count the beans"`), "I added 1 work item", "Count the beans")
	if d := cmp.Diff(append(append([]string{}, workItems...), "Count the beans"), items); d != "" {
		t.Errorf("items (-want +got):\n%s", d)
	}
	r.withhold("work")
	tool.Parameters = json.RawMessage(`{"type":"object","properties":{"action":{"type":"string"}}}`)
	r.offer(tool)
	contains(t, r.say("add work items"), "takes other arguments")
}
