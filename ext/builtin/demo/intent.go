package demo

import (
	"fmt"
	"strings"

	"octavo/pages/text"
)

// intent is one thing that a person can ask for. A message means the intent that it begins to order: its first word that is not
// polite is one of verbs, and it names an object. Otherwise it means the intent with the phrase of most words that all occur in it, in
// any order; of equally long ones the one that begins first, and then the one that stands first in the table.
type intent struct {
	name    string
	example string // a message that means it
	shows   string // what happens, for the list of all
	verbs   []string
	object  func(heard) string // nil: it has none
	phrases []string
	scene   func(*turn)
}

// intents are all that can be asked for, in the order of the list that a person sees.
func intents() []intent {
	return []intent{
		{name: "look around", example: "look around", shows: "lists the workspace, counts its files, reads the README and asks git for the latest commits",
			phrases: []string{"look around", "look", "around", "explore", "explain", "describe", "overview", "summarize", "tour", "list files", "codebase",
				"repository", "repo", "what here", "what's here", "what this", "what project", "what code"},
			scene: lookAround},
		{name: "read a file", example: "read README.md", shows: "reads a file that you name",
			verbs: []string{"read", "open", "cat", "show", "view", "print", "look"}, object: heard.file,
			phrases: []string{"read", "open", "read file", "readme"},
			scene:   readFile},
		{name: "search", example: "search for TODO", shows: "finds a word in the files",
			verbs: []string{"search", "find", "grep"}, object: heard.subject,
			phrases: []string{"search", "find", "grep", "look for", "where"},
			scene:   searchWord},
		{name: "two reads at once", example: "show two reads in parallel", shows: "makes two calls in one answer, which run together",
			phrases: []string{"parallel", "two reads", "same time", "at once", "together"},
			scene:   readTwo},
		{name: "make a file", example: "make a scratch file", shows: "makes `" + scratchName + "`, or a .md or .txt file of the name you give",
			verbs: []string{"make", "create", "write", "add"}, object: heard.path,
			phrases: []string{"make file", "create file", "write file", "new file", "add file", "scratch", "scratch file"},
			scene:   makeFile},
		{name: "edit it", example: "edit the scratch file", shows: "reads the file, edits what is really there and shows the difference",
			verbs: []string{"edit", "change", "modify"}, object: heard.path,
			phrases: []string{"edit", "edit file", "change file", "change it", "modify", "difference", "diff", "append"},
			scene:   editFile},
		{name: "clean up", example: "clean up", shows: "removes the scratch files that I made in this conversation, and nothing else",
			phrases: []string{"clean up", "cleanup", "clean", "tidy", "delete", "remove", "delete file", "delete files", "remove file", "remove files"},
			scene:   cleanUp},
		{name: "run a command", example: "run `git status`", shows: "runs the command that stands after \"run\"",
			verbs: []string{"run", "execute"}, object: heard.command,
			phrases: []string{"run", "run command", "command", "shell", "bash", "terminal"},
			scene:   runCommand},
		{name: "a failing command", example: "show a failing command", shows: "runs a command that fails, so that you see how that looks",
			phrases: []string{"failure", "failing command", "failed command", "command fails", "show failing", "run failing command", "show error"},
			scene:   failCommand},
		{name: "live output", example: "show live output", shows: "runs a command for five seconds; ctrl+c interrupts it, on a full screen also esc",
			phrases: []string{"live", "live output", "progress", "slow", "slow command", "long command", "run slow command", "interrupt"},
			scene:   showLive},
		{name: "an approval", example: "show an approval", shows: "makes a call that octavo asks you about under `--safe-mode`",
			phrases: []string{"approval", "approvals", "approve", "permission", "safe mode", "safe-mode", "ask me", "ask first"},
			scene:   showApproval},
		{name: "a long answer", example: "show a long answer", shows: "writes headings, a table, code and lists",
			phrases: []string{"long answer", "long text", "markdown", "table", "headings", "render", "rendering", "formatting"},
			scene:   showMarkdown},
		{name: "work items", example: "add work items", shows: "puts two items on the work list, in an octavo that has one",
			phrases: []string{"work item", "work items", "work list", "todo", "todos", "to-do", "todo list", "task list", "tasks"},
			scene:   addWork},
	}
}

// meant is the intent of what a person said, with its object.
func (h heard) meant(all []intent) (found intent, object string, ok bool) {
	for _, i := range all {
		if i.object != nil && h.begins(i.verbs) {
			if object = i.object(h); object != "" {
				return i, object, true
			}
		}
	}
	most, first := 0, 0
	for _, i := range all {
		for _, phrase := range i.phrases {
			if n, at := h.fits(phrase); n > most || n > 0 && n == most && at < first {
				found, most, first = i, n, at
			}
		}
	}
	if most > 0 && found.object != nil {
		object = found.object(h)
	}
	return found, object, most > 0
}

// fits is how many words a phrase has and where the first of them stands, when all of them occur; 0 when one does not.
func (h heard) fits(phrase string) (n, at int) {
	words := strings.Fields(phrase)
	at = len(h.words)
	for _, w := range words {
		i := h.index(w)
		if i < 0 {
			return 0, 0
		}
		at = min(at, i)
	}
	return len(words), at
}

// play leaves the answer in t.reply and gives the name of the scene; "" when it is none of the table.
func (t *turn) play() string {
	switch not := t.not(); {
	case t.over:
		t.end("Nothing was said since my last answer, and a script has no thoughts of its own. Say what you want to see next.")
	case !t.asked:
		t.end("There is nothing to answer: nobody has said anything yet.", help())
	case len(t.tools) == 0 && isConversation(t.message):
		summarize(t)
	case t.long:
		t.end(fmt.Sprintf("That was more than %s in one paragraph, and the rules of a script make no sense of so much.", text.Bytes(maxHeard)),
			undone)
	default:
		i, object, ok := t.meant(intents())
		switch {
		case ok && not != "":
			t.end(fmt.Sprintf("There is a %q in what you said, and a script cannot tell what it turns around.", not), undone)
		case ok:
			t.object = object
			i.scene(t)
			return i.name
		case len(t.pictures) > 0:
			describePictures(t)
		default:
			t.end(help())
		}
	}
	return ""
}

// undone ends an answer to what the script does not dare to act on.
const undone = "Nothing was done. Say \"help\" to see what I can show."

// connect says how a model is connected.
const connect = "For a model that does real work, leave with `/quit` and run `octavo setup`, or `octavo --login PROVIDER`."

// help is what can be asked for, and what answers.
func help() string {
	var b strings.Builder
	b.WriteString("Say what you want to see, in words like these:\n\n")
	for _, i := range intents() {
		fmt.Fprintf(&b, "- \"%s\": %s\n", i.example, i.shows)
	}
	b.WriteString("\nI am a script inside octavo and no model: I follow these words and understand nothing else, but the calls I make are real. ")
	b.WriteString(connect)
	return b.String()
}
