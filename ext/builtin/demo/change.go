package demo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"octavo/pages/text"
)

// makeFile makes a scratch file.
func makeFile(t *turn) {
	name, note, ok := t.create("First I look whether the name is free.")
	if !ok {
		return
	}
	t.end(note, fmt.Sprintf("I made %s with `write`; the call above shows what is in it.", code(name)),
		"Say \"edit the scratch file\" to see an edit, and \"clean up\" when you have seen enough.")
}

// create makes a scratch file of the name that the person gave, or of one that is free; begin is what is said first. note is what has
// to be said about the name. false ends the scene.
func (t *turn) create(begin string) (name, note string, ok bool) {
	wanted := scratchName
	switch {
	case t.object == "":
	case scratchNamed(t.object):
		wanted = t.object
	default:
		note = code(t.object) + " is no name for a scratch file: I make .md and .txt files in the top folder, with plain names."
	}
	listed, ok := t.one(begin, read(".", listLines))
	if !ok {
		return "", "", false
	}
	here, ok := listed.listing()
	if !ok {
		t.end(listed.why(), "Without seeing that the name is free I write nothing.")
		return "", "", false
	}
	if name, ok = freeName(wanted, here); !ok {
		t.end(fmt.Sprintf("I see no free name like %s: too much is in the top folder to tell, or all of them are taken.", code(wanted)),
			"I only make files that were not there before, so nothing was written.")
		return "", "", false
	}
	say := fmt.Sprintf("Nothing is called %s, so I make it.", code(name))
	if name != wanted {
		say = fmt.Sprintf("There is something called %s already, which I leave alone. I make %s.", code(wanted), code(name))
	}
	made, ok := t.one(say, write(name, scratchText(name)))
	if !ok {
		return "", "", false
	}
	if made.failed {
		t.end(made.why(), fmt.Sprintf("So I made no file called %s.", code(name)))
		return "", "", false
	}
	return name, note, true
}

// editFile edits a scratch file, and makes one when there is none.
func editFile(t *turn) {
	name, ok := t.scratch()
	if !ok {
		return
	}
	before, ok := t.one("I read "+code(name)+", so that I edit what is really there.", read(name, maxLines))
	if !ok {
		return
	}
	f, ok := before.reading()
	switch {
	case before.failed:
		t.end(before.why(), "So there was nothing to edit.")
		return
	case !ok || f.name != name:
		t.end(fmt.Sprintf("%s is not the text file any more that I made.", code(name)), "I edit nothing else, so nothing was changed.")
		return
	}
	old, changed, ok := change(f)
	if !ok {
		t.end(fmt.Sprintf("In %s there is no line that is there only once, and an edit has to name its place.", code(name)), "Nothing was changed.")
		return
	}
	made, ok := t.one("I change one line of it.", edit(name, old, changed, f.hash))
	if !ok {
		return
	}
	if made.failed {
		t.end(made.why(), fmt.Sprintf("So %s is as it was before.", code(name)))
		return
	}
	t.end(fmt.Sprintf("I edited %s, and this is the difference:", code(name)), difference(made),
		"The tool answered that, and it is in the file. \"clean up\" removes what I made.")
}

// scratch is the scratch file that the scene is about: the one that the person names, else the newest, else a new one. false ends the
// scene.
func (t *turn) scratch() (name string, ok bool) {
	own := scratches(t.before)
	named := func(s scratch) bool { return s.name == t.object }
	switch {
	case t.object != "" && slices.ContainsFunc(own, named):
		return t.object, true
	case t.object != "":
		t.end(fmt.Sprintf("I did not make %s in this conversation, and I edit only files that I made.", code(t.object)),
			"Nothing was changed. \"edit the scratch file\" works on one of mine.")
		return "", false
	case len(own) > 0:
		return own[len(own)-1].name, true
	}
	name, _, ok = t.create("There is no file of mine yet, so I make one first. I look whether the name is free.")
	return name, ok
}

// difference is the diff in a result of edit.
func difference(r result) string {
	_, diff, _ := strings.Cut(r.text, "\n@@")
	var lines []string
	for line := range strings.Lines(diff) {
		if len(lines) > maxLines {
			break
		}
		lines = append(lines, strings.TrimRight(line, "\n"))
	}
	if len(lines) < 2 {
		return block("", []string{r.text})
	}
	return block("diff", lines[1:])
}

// cleanUp removes the scratch files of this conversation that nobody else has changed.
func cleanUp(t *turn) {
	own := scratches(t.before)
	if len(own) == 0 {
		t.end("I have made no file in this conversation that is still mine.", "I remove nothing else, so nothing was done.")
		return
	}
	own = own[max(0, len(own)-maxScratch):]
	var names []string
	var looks []call
	for _, s := range own {
		names, looks = append(names, code(s.name)), append(looks, read(s.name, 1))
	}
	seen, ok := t.do(fmt.Sprintf("In this conversation I made %s. I look whether that is as I left it.", strings.Join(names, ", ")), looks...)
	if !ok {
		return
	}
	var mine, told []string
	for i, s := range own {
		switch f, ok := seen[i].reading(); {
		case ok && f.name == s.name && f.hash == s.hash:
			mine = append(mine, s.name)
		case seen[i].failed:
			told = append(told, fmt.Sprintf("%s I left alone. %s", code(s.name), seen[i].why()))
		default:
			told = append(told, fmt.Sprintf("%s I left alone: it is not as I left it, so it is yours now.", code(s.name)))
		}
	}
	if len(mine) == 0 {
		t.end(strings.Join(told, "\n"), "Nothing was removed.")
		return
	}
	gone, ok := t.one(fmt.Sprintf("I remove exactly this: %s.", code(strings.Join(mine, " "))), bash(removal+strings.Join(mine, " ")))
	if !ok {
		return
	}
	if gone.failed {
		t.end(strings.Join(told, "\n"), gone.why(), "Look at the result above for what is still there.")
		return
	}
	t.end(strings.Join(told, "\n"), fmt.Sprintf("Removed: %s.", text.Plural(len(mine), "scratch file")), "Nothing else was touched.")
}

// harmless is the command that is run when the person names none: it changes nothing.
const harmless = `echo "Hello from bash."; uname -sr; date`

// runCommand runs the command that the person orders.
func runCommand(t *turn) {
	say := "I run what you said."
	if t.object == "" {
		say = "I heard no order to run a command of yours, so I run a harmless one."
	}
	r, ok := t.one(say, bash(cmp.Or(t.object, harmless)))
	if !ok {
		return
	}
	t.end(append(outcome(r), "To run one of your own, say \"run\" and the command in backticks, in one line.")...)
}

// outcome says how a command ended and what it printed.
func outcome(r result) []string {
	if !r.ran() {
		return []string{r.why()}
	}
	status, output := r.command()
	if len(output) == 0 {
		return []string{fmt.Sprintf("The tool says %s, and the command printed nothing.", code(status))}
	}
	return []string{fmt.Sprintf("The tool says %s, and the command printed this:", code(status)), block("", output)}
}

// failing is a command that fails and changes nothing.
const failing = "ls no-such-file-of-octavos-demo"

// failCommand shows a command that fails.
func failCommand(t *turn) {
	r, ok := t.one("I look for a file that is not there.", bash(failing))
	if !ok {
		return
	}
	t.end(append(outcome(r), "A failed call ends nothing: a model reads why it failed and goes on, as I do by telling you.")...)
}

// slow is a command that prints for five seconds.
const slow = `for i in 1 2 3 4 5; do echo "step $i of 5"; sleep 1; done`

// showLive shows output while it comes.
func showLive(t *turn) {
	r, ok := t.one("I run a command that takes five seconds. In a conversation you see its output while it comes: all of it on a "+
		"full screen, its newest line now and then in plain lines. ctrl+c interrupts it, and on a full screen so does esc.", bash(slow))
	if !ok {
		return
	}
	t.end(append(outcome(r), "What you saw of it meanwhile came from the command itself.")...)
}

// asking is a command that octavo asks about under every policy that asks at all: it does nothing, but sleep is not among the
// programs that are known to.
const asking = `sleep 0.2; echo "This command ran."`

// showApproval makes a call that is asked about.
func showApproval(t *turn) {
	r, ok := t.one("Under `--safe-mode` octavo asks before every command and every change of a file. I make a call that would be asked about: "+
		"allow it or refuse it, both are fine.", bash(asking))
	if !ok {
		return
	}
	if !r.ran() {
		t.end(r.why(), "A refused call is no error: the turn goes on, and whoever made the call is told. Say it again to try the other answer.")
		return
	}
	t.end("It ran. If you were asked, you allowed it; if you were not, this session asks about nothing, or you allowed this call for the session.",
		"To be asked before every command, start octavo with `--safe-mode`.")
}
