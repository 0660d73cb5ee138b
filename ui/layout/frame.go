package layout

// MetaWidth is from where on the metadata of a picker's row stands beside its label (ui.md 8).
const MetaWidth = 112

// PickerParts is a picker or a list screen of the host. Its rows begin at the left edge with the cursor bar.
type PickerParts struct {
	Size    Size
	Message Rect // the only part of a Small screen
	Title   Rect
	Purpose Rect // one sentence
	Filter  Rect
	List    Rect
	Prompt  Rect // blank unless something is asked
	Footer  Rect // or a question

	MetaBeside bool // metadata of a row is beside its label, otherwise below it
}

// Picker lays out a list with a live filter (ui.md 8). Where rows are few it leaves out blank ones and the purpose.
func Picker(width, height int, purpose bool) PickerParts {
	p := PickerParts{Size: Classify(width, height), MetaBeside: width >= MetaWidth}
	switch p.Size {
	case None:
		return PickerParts{}
	case Small:
		return PickerParts{Size: Small, Message: message(width)}
	}
	blank := 0
	if height >= FullHeight {
		blank = 1
	}
	at := rows{1, 0, width - 1}
	p.Title = at.take(1)
	if purpose && blank > 0 {
		p.Purpose = at.take(1)
	}
	at.y += blank
	p.Filter = at.take(1)
	at.y += blank
	p.List = Rect{0, at.y, width, height - at.y - 1 - blank}
	at.y += p.List.H
	p.Prompt = at.take(blank)
	p.Footer = at.take(1)
	return p
}

// FrameParts is a screen of one body that scrolls.
type FrameParts struct {
	Size    Size
	Message Rect // the only part of a Small screen
	Title   Rect
	Body    Rect
	Footer  Rect
}

// Reader lays out text that takes the screen: a detail, a report, a diff, the transcript of a worker (ui.md 4 and 7). Prose takes
// BodyWidth columns of its body at most.
func Reader(width, height int) FrameParts {
	p := FrameParts{Size: Classify(width, height)}
	switch p.Size {
	case None:
		return p
	case Small:
		p.Message = message(width)
		return p
	}
	blank := 0
	if height >= FullHeight {
		blank = 1
	}
	p.Title = Rect{1, 0, width - 1, 1}
	p.Body = Rect{Padding(width), 1 + blank, inner(width), height - 2 - 2*blank}
	p.Footer = Rect{1, height - 1, width - 1, 1}
	return p
}

// Form lays out a form, whose labels and fields are in its body (ui.md 9).
func Form(width, height int) FrameParts {
	p := Reader(width, height)
	p.Body.W = min(p.Body.W, BodyWidth)
	return p
}

// PanelParts is a panel that is docked in the chat: an approval, or one field that an extension asks for. The rule below it is the
// composer's.
type PanelParts struct {
	Rule    Rect
	Heading Rect // who asks
	Body    Rect // what is asked, then its detail
	Choices Rect // the answers, or the field; scrolls when there are more
	Hints   Rect
}

// PanelRows is how many rows a panel wants: a rule, a heading and hints, and a blank row before each part behind the heading.
func PanelRows(body, choices int) int {
	return 3 + max(0, body) + max(0, choices) + gaps(body, choices)
}

// gaps are the blank rows of a panel.
func gaps(body, choices int) int {
	n := 1
	if body > 0 {
		n++
	}
	if choices > 0 {
		n++
	}
	return n
}

// Panel divides a panel (ui.md 10). Where rows are few, who asks comes first, then one answer, then the first line of what is asked,
// then the other answers; blank rows go first.
func Panel(r Rect, body, choices int) PanelParts {
	if r.Empty() {
		return PanelParts{}
	}
	var (
		left    = r.H
		heading = give(&left, 1)
		answers = give(&left, min(choices, 1))
		asked   = give(&left, min(body, 1))
	)
	answers += give(&left, choices-answers)
	hints := give(&left, 1)
	rule := give(&left, 1)
	asked += give(&left, body-asked)
	blank := 0
	if left >= gaps(body, choices) {
		blank = 1
	}
	var (
		p  PanelParts
		at = rows{r.X, r.Y, r.W}
	)
	p.Rule = at.take(rule)
	p.Heading = at.take(heading)
	for _, part := range []struct {
		rect *Rect
		h    int
	}{{&p.Body, asked}, {&p.Choices, answers}, {&p.Hints, hints}} {
		if part.h > 0 {
			at.y += blank
			*part.rect = at.take(part.h)
		}
	}
	return p
}
