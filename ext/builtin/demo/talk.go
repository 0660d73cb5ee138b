package demo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"octavo/pages/text"
)

// tour is the long answer.
const tour = `# A long answer

This answer is Markdown. A full screen draws it; in plain lines and pipes you see the Markdown itself. It is written into the script, so it says the same every time.

## Text

A paragraph can be **bold**, *slanted*, ~~struck out~~ or ` + "`code`" + `. A full screen wraps it at its width, and wraps it again
when you make the window narrower. A link looks like this: [the CommonMark site](https://commonmark.org).

> A quotation stands apart from the text.
> It can have several lines.

## Lists

- Reads run together when they follow one another.
- Changes and commands run one at a time:
  - a change shows its difference,
  - a command shows its output when it has ended, in a conversation also while it runs.
- Every result is stored, so that nothing is lost when octavo ends.

1. Say what you want.
2. See what is done about it.
3. Say what you want next.

- [x] written
- [ ] read to the end

## A table

| Tool | What it does | Asks under ` + "`--safe-mode`" + ` |
|:-----|:-------------|:----:|
| ` + "`read`" + ` | shows a file, a folder or a picture | no |
| ` + "`search`" + ` | finds lines in files | no |
| ` + "`edit`" + ` | replaces exact text | yes |
| ` + "`write`" + ` | makes a file or replaces one | yes |
| ` + "`bash`" + ` | runs a command | yes |

## Code

` + "```go" + `
package main

import "fmt"

// main greets in three languages.
func main() {
	for _, word := range []string{"Hello", "Grüezi", "こんにちは"} {
		fmt.Printf("%s, octavo!\n", word)
	}
}
` + "```" + `

` + "```diff" + `
-	fmt.Println("before")
+	fmt.Println("after")
` + "```" + `

---

### The end

In a conversation you could have typed the next message while this came, or interrupted me.`

// showMarkdown writes the long answer.
func showMarkdown(t *turn) { t.end(tour, "No tool was called for this: it is all text of the script.") }

// describePictures answers a message with pictures and without words that mean anything.
func describePictures(t *turn) {
	var rows []string
	for _, p := range t.pictures[:min(len(t.pictures), maxBlockLines)] {
		row := "- " + code(p.Name)
		if p.Width > 0 && p.Height > 0 {
			row += fmt.Sprintf(", %d x %d pixels", p.Width, p.Height)
		}
		rows = append(rows, row)
	}
	t.end(fmt.Sprintf("With your message came %s:", text.Plural(len(t.pictures), "picture")), strings.Join(rows, "\n"),
		"A script sees nothing in a picture. A model would be sent it as you see it.")
}

// workItems are put on the work list when the person names none.
var workItems = []string{"See what octavo's demo can show", "Connect a model with octavo setup"}

// work makes a call of the tool work (plugins.md 4.3).
func work(op, title string) call {
	return newCall("work", struct {
		Op    string `json:"op"`
		Title string `json:"title,omitempty"`
	}{op, title})
}

// addWork adds items to the work list.
func addWork(t *turn) {
	spec, ok := t.tools["work"]
	if !ok {
		t.end("This octavo has no work list: no tool called `work` is offered in this session.", "Nothing was added.")
		return
	}
	if !takesWork(spec.Parameters) {
		t.end("The tool `work` of this octavo takes other arguments than this script knows.", "Nothing was added.")
		return
	}
	titles := workItems
	if t.quote != "" && len(t.quote) <= maxObject {
		titles = []string{t.quote}
	}
	var calls []call
	for _, title := range titles {
		calls = append(calls, work("create", title))
	}
	made, ok := t.do(fmt.Sprintf("I add %s.", text.Plural(len(titles), "work item")), calls...)
	if !ok {
		return
	}
	if i := slices.IndexFunc(made, func(r result) bool { return r.failed }); i >= 0 {
		t.end(made[i].why(), "So not all of them were added.")
		return
	}
	listed, ok := t.one("And this is the list.", work("list", ""))
	if !ok {
		return
	}
	if listed.failed {
		t.end(listed.why(), "The items were added all the same.")
		return
	}
	t.end(fmt.Sprintf("I added %s, and the list answered this:", text.Plural(len(titles), "work item")),
		block("", slices.Collect(strings.SplitSeq(text.CutBytes(listed.text, maxHeard), "\n"))),
		"They are yours now: `/work` shows them, and takes them away again.")
}

// takesWork reports whether a schema of work takes the calls of work: op with create and list, and title.
func takesWork(schema json.RawMessage) bool {
	var s struct {
		Properties map[string]struct {
			Enum []any `json:"enum"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return false
	}
	op, hasOp := s.Properties["op"]
	_, hasTitle := s.Properties["title"]
	return hasOp && hasTitle && slices.Contains(op.Enum, any("create")) && slices.Contains(op.Enum, any("list")) &&
		!slices.ContainsFunc(s.Required, func(name string) bool { return name != "op" })
}

// isConversation reports whether a message asks for the summary of a conversation, as a session does that is forked.
func isConversation(message string) bool {
	return strings.HasPrefix(message, "<conversation>\n") || strings.HasPrefix(message, "<summary-so-far>\n")
}

// maxOrders is how many of the person's messages a summary repeats, the newest.
const maxOrders = 10

// summarize answers what a model would be asked for a summary: a script can only repeat what the person said.
func summarize(t *turn) {
	var orders []string
	for line := range strings.Lines(t.message) {
		if order, ok := strings.CutPrefix(line, "user: "); ok && !strings.HasPrefix(order, "<") {
			orders = append(orders, "- "+code(order))
		}
	}
	if len(orders) == 0 {
		orders = []string{"- nothing"}
	}
	t.end("A script cannot write a summary. This is what the person said last:", strings.Join(orders[max(0, len(orders)-maxOrders):], "\n"),
		"What was found and done meanwhile stands in the conversation before this one.")
}
