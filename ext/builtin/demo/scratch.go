package demo

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"octavo/ext/model"
)

const (
	// scratchName is what a scratch file is called when the person gives no name.
	scratchName = "octavo-demo.md"
	// maxNames is how many names are tried when some are taken: octavo-demo.md, octavo-demo-2.md and so on.
	maxNames = 20
	// maxNameBytes bounds the name that a person gives.
	maxNameBytes = 64
	// maxScratch is how many scratch files are removed at a time.
	maxScratch = 8
)

// counter begins the line of a scratch file that an edit changes.
const counter = "Edits so far: "

// scratchText is what a scratch file holds when it is made.
func scratchText(name string) string {
	return "# " + name + "\n\n" +
		"octavo's demo made this file to show how octavo writes and edits.\n" +
		"Nothing needs it: delete it whenever you like.\n\n" + counter + "0\n"
}

// addition is what an edit adds where the counter is gone.
const addition = "octavo's demo added this line."

// scratchNamed reports whether a scratch file may have a name: of plain characters, in the top folder, and of a kind that is part of
// no program.
func scratchNamed(name string) bool {
	kind := path.Ext(name)
	return len(name) <= maxNameBytes && len(name) > len(kind) && (kind == ".md" || kind == ".txt") &&
		!strings.ContainsFunc(name, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-')
		}) && strings.IndexByte(".-_", name[0]) < 0
}

// freeName is the first name after a wanted one that nothing in a folder has; false when that cannot be told.
func freeName(wanted string, l listing) (string, bool) {
	if !l.whole {
		return "", false
	}
	kind := path.Ext(wanted)
	for n := 1; n <= maxNames; n++ {
		name := wanted
		if n > 1 {
			name = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(wanted, kind), n, kind)
		}
		if !l.has(name) {
			return name, true
		}
	}
	return "", false
}

// scratch is a file that the script made in this conversation.
type scratch struct {
	name string
	hash string // of what the script last made of it; "" when others have had a part in it
}

// scratches are the files that the script made in some messages and has not removed since, the newest last. Only a call of the
// script's own counts, of a file that was not there before, and only when its result says that it was done.
func scratches(messages []model.Message) []scratch {
	var made []scratch
	calls := map[string]model.ToolCall{}
	for _, m := range messages {
		for _, c := range model.Calls(m.Parts) {
			if strings.HasPrefix(c.ID, idPrefix) {
				calls[c.ID] = c
			}
		}
		for _, p := range m.Parts {
			if p.Type != model.PartResult || p.Result == nil || p.Result.IsError {
				continue
			}
			if c, ok := calls[p.Result.ID]; ok && m.Role == model.RoleTool {
				made = follow(made, c, readResult(p.Result).text)
			}
		}
	}
	return made
}

// follow is what the files are after a call that went well.
func follow(made []scratch, c model.ToolCall, told string) []scratch {
	at := func(name string) int { return slices.IndexFunc(made, func(s scratch) bool { return s.name == name }) }
	switch c.Name {
	case "write":
		var a written
		if json.Unmarshal([]byte(c.Arguments), &a) != nil || !scratchNamed(a.Path) || a.Content != scratchText(a.Path) {
			return made
		}
		if hash := hashAfter(told, "created", a.Path); hash != "" {
			made = slices.DeleteFunc(made, func(s scratch) bool { return s.name == a.Path }) // the person removed it before
			return append(made, scratch{a.Path, hash})
		}
	case "edit":
		var a edited
		if json.Unmarshal([]byte(c.Arguments), &a) != nil {
			return made
		}
		hash, i := hashAfter(told, "ok modified=1", a.Path), at(a.Path)
		switch {
		case hash == "" || i < 0:
		case a.Hash == made[i].hash:
			made[i].hash = hash
		default:
			made[i].hash = ""
		}
	case "bash":
		var a ran
		if json.Unmarshal([]byte(c.Arguments), &a) != nil {
			return made
		}
		if names, ok := strings.CutPrefix(a.Command, removal); ok {
			gone := strings.Fields(names)
			made = slices.DeleteFunc(made, func(s scratch) bool { return slices.Contains(gone, s.name) })
		}
	}
	return made
}

// removal begins the command that removes scratch files. Their names need no quotes (scratchNamed).
const removal = "rm -- "

// hashAfter is the hash of a file as a change of it left it: the result begins with a head line, and the next names the file. It is
// "" when the result says something else.
func hashAfter(told, head, name string) string {
	first, rest, _ := strings.Cut(told, "\n")
	summary, _, _ := strings.Cut(rest, "\n")
	if first != head || !strings.HasPrefix(summary, name+" ") {
		return ""
	}
	return hashIn(summary)
}

// change is the edit of a file as it was read: the counter goes up, or where it is gone, a line is added after the last one that is
// in the file once. false when there is no such line.
func change(f reading) (old, new string, ok bool) {
	body := strings.Join(f.lines, "\n")
	for _, line := range slices.Backward(f.lines) {
		if strings.TrimSpace(line) == "" || len(line) > maxOld || strings.Count(body, line) != 1 {
			continue
		}
		if old == "" {
			old, new = line, line+"\n"+addition
		}
		if digits, found := strings.CutPrefix(line, counter); found {
			if n, err := strconv.Atoi(digits); err == nil && n >= 0 && n < maxEdits {
				return line, counter + strconv.Itoa(n+1), true
			}
		}
	}
	return old, new, old != ""
}

const (
	// maxOld is how long a line may be that an edit looks for, in bytes.
	maxOld = 500
	// maxEdits is where the counter of a scratch file stops.
	maxEdits = 1_000_000
)
