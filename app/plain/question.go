package plain

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"octavo/app/api"
	"octavo/pages/text"
	"octavo/render"
)

// question is a question as it is put on the terminal.
type question struct {
	api.Ask
	keys []string // what to type for each option
}

func newQuestion(a api.Ask) *question {
	q := &question{Ask: a}
	used := map[string]bool{}
	for i, o := range a.Options {
		key := strconv.Itoa(i + 1)
		if letter := o.ID[:min(1, len(o.ID))]; q.lettered() && letter >= "a" && letter <= "z" && !used[letter] {
			key = letter
		}
		used[key] = true
		q.keys = append(q.keys, key)
	}
	return q
}

// lettered reports whether the options are known ones, which are typed by their first letter.
func (q *question) lettered() bool { return q.Kind == api.AskApproval || q.Kind == api.AskConfirm }

// head is the line that says who asks what.
func (q *question) head() string {
	title := q.Title
	if title == "" {
		title = string(q.Kind)
	}
	switch {
	case q.Source == "":
		return title
	case q.Kind == api.AskApproval:
		return q.Source + " wants to " + title
	}
	return q.Source + ": " + title
}

// show says what is asked. It is shown whole, with marks for what cannot be seen: nobody can approve what was left out.
func (q *question) show(l *log) {
	l.say(wordNeedsInput, text.Visible(q.head()))
	l.block(text.Visible(q.Body))
	if d := q.Display; d != nil {
		if d.Diff != nil {
			l.drawn(render.WholeDiff(*d.Diff, l.inset()))
		}
		l.block(text.Visible(d.Text))
	}
}

// offer says how to answer. It ends the question with one write, so that whoever sees it can answer at once.
func (q *question) offer(l *log) {
	var lines []string
	for i, o := range q.Options {
		s := q.keys[i] + ") " + text.CleanLine(o.Label)
		if o.ID == api.OptionDeny && q.Kind == api.AskApproval {
			s += "  (" + q.keys[i] + " REASON tells the model why)"
		}
		lines = append(lines, s)
	}
	switch q.Kind {
	case api.AskSecret:
		lines = append(lines, "(what you type is not shown and not stored; an empty line cancels)")
	case api.AskText:
		lines = append(lines, "(an empty line cancels)")
	case api.AskChoice:
		lines = append(lines, "c) cancel")
	}
	l.drawn(strings.Join(lines, "\n"))
}

// again says what would be an answer.
func (q *question) again(l *log) {
	keys := q.keys
	if q.Kind == api.AskChoice {
		keys = append(keys[:len(keys):len(keys)], "c")
	}
	words := ""
	if q.lettered() {
		var ids []string
		for _, o := range q.Options {
			ids = append(ids, text.CleanLine(o.ID))
		}
		words = " (or the word: " + strings.Join(ids, ", ") + ")"
	}
	l.say(wordNeedsInput, "that is no answer; type "+strings.Join(keys, " or ")+words)
}

// spoken are words that people use instead of an option's: yes allows once, no denies.
var spoken = [][2]string{{"yes", api.OptionOnce}, {"yes", api.OptionAllow}, {"no", api.OptionDeny}}

// meant is the option that a word names, -1 for none: its key, and of a known option also the word itself, the one that people use
// for it, or the beginning of either that fits no other option, in any case.
func (q *question) meant(word string) int {
	if word == "" || !q.lettered() {
		return slices.Index(q.keys, word)
	}
	word = strings.ToLower(word)
	if i := slices.Index(q.keys, word); i >= 0 {
		return i
	}
	found := -1
	for i, o := range q.Options {
		names := []string{o.ID}
		for _, s := range spoken {
			if s[1] == o.ID {
				names = append(names, s[0])
			}
		}
		if !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, word) }) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// answer reads a line. Only what was asked for is an answer: nothing is accepted by accident, and an answer that allows something
// names its option alone. Only a denial may go on, with its reason.
func (q *question) answer(l string) (api.Answer, bool) {
	if q.Kind == api.AskSecret {
		return api.Answer{Text: l}, true
	}
	l = strings.TrimSpace(l)
	if q.Kind == api.AskText {
		return api.Answer{Text: l}, true
	}
	word, reason := l, ""
	if i := strings.IndexFunc(l, unicode.IsSpace); i >= 0 {
		word, reason = l[:i], strings.TrimSpace(l[i:])
	}
	if i := q.meant(word); i >= 0 {
		o := q.Options[i]
		if reason == "" || o.ID == api.OptionDeny && q.Kind == api.AskApproval {
			return api.Answer{Option: o.ID, Text: reason}, true
		}
	}
	return api.Answer{}, q.Kind == api.AskChoice && l == "c"
}
