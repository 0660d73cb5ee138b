package layout

const (
	// BodyWidth bounds the prose of a transcript, in columns.
	BodyWidth = 100
	// MaxComposer bounds the rows of the composer.
	MaxComposer = 6
	// MaxPending bounds the rows of the status region, of which the second tells what is queued.
	MaxPending = 2
	// MarkerWidth is what stands before the text of a draft, a block or a row: a marker and a space.
	MarkerWidth = 2

	// The glance margin (ui.md 5).
	MinMargin     = 16
	MaxMargin     = 32
	MarginGap     = 2
	MaxGlanceRows = 12 // below its title

	readable = 3 // rows of the transcript that a popup leaves
)

// Facts is what the layout of the chat depends on. Rows are what is wanted; what there is room for is in the answer.
type Facts struct {
	Width, Height int
	Composer      int  // rows of the draft at ComposerWidth
	Popup         int  // rows of suggestions; they take the place of the footer
	Approval      int  // rows of the panel, see PanelRows
	Notice        bool // one is shown
	Pending       int  // 0, 1 where what is queued finds room beside the status, 2 where it needs a row
	// Glance is whether the margin is wanted. It changes the width of wide blocks, so leave it on once a glance has had rows: a change
	// of a glance must not wrap the transcript anew (ui.md 5).
	Glance bool
}

// ChatParts is the main screen, from top to bottom. Blank rows between are in none of them.
type ChatParts struct {
	Size       Size
	Message    Rect // the only part of a Small screen
	Header     Rect
	Transcript Rect // as wide as Wide; prose takes Body columns of it
	Margin     Rect // the glance
	Notice     Rect
	Status     Rect
	Approval   Rect // its lower rule is the composer's upper one
	RuleAbove  Rect
	Composer   Rect // with the marker
	Draft      Rect // the composer without it
	RuleBelow  Rect
	Popup      Rect // either this
	Footer     Rect // or this

	Body int // columns of prose, the two of markers included
	Wide int // columns that code, tables and diffs may take
}

// ComposerWidth is the width of a draft, by which its rows are counted.
func ComposerWidth(width int) int { return max(1, inner(width)-MarkerWidth) }

// margin is the width of the glance margin that a screen has room for; 0 for none.
func margin(width int) int {
	room := inner(width) - BodyWidth - MarginGap
	if room < MinMargin {
		return 0
	}
	return min(room, MaxMargin)
}

// Chat lays out the conversation (ui.md 2).
func Chat(f Facts) ChatParts {
	p := ChatParts{Size: Classify(f.Width, f.Height)}
	switch p.Size {
	case None:
		return p
	case Small:
		p.Message = message(f.Width)
		return p
	}
	p.columns(f)
	h := p.heights(f)
	at := rows{Padding(f.Width), 0, inner(f.Width)}
	p.Header = at.take(1)
	at.y += h.blank
	p.Transcript = at.take(h.transcript)
	if !p.Transcript.Empty() {
		p.Transcript.W = p.Wide
		if side := p.side(f); side > 0 {
			p.Margin = Rect{at.x + at.w - side, p.Transcript.Y, side, min(h.transcript, 1+MaxGlanceRows)}
		}
	}
	at.y += h.blank
	p.Notice = at.take(h.notice)
	p.Status = at.take(h.status)
	p.Approval = at.take(h.approval)
	p.RuleAbove = at.take(1)
	p.Composer = at.take(h.composer)
	p.Draft = Rect{p.Composer.X + MarkerWidth, p.Composer.Y, p.Composer.W - MarkerWidth, p.Composer.H}
	p.RuleBelow = at.take(1)
	if f.Popup > 0 {
		p.Popup = at.take(h.bottom)
	} else {
		p.Footer = at.take(h.bottom)
	}
	return p
}

// side is the width of the margin that is shown.
func (p *ChatParts) side(f Facts) int {
	if !f.Glance {
		return 0
	}
	return margin(f.Width)
}

func (p *ChatParts) columns(f Facts) {
	p.Wide = inner(f.Width)
	if side := p.side(f); side > 0 {
		p.Wide -= side + MarginGap
	}
	p.Body = min(p.Wide, BodyWidth)
}

// heights are the rows of each part.
type heights struct {
	blank, transcript, notice, status, approval, composer, bottom int
}

// always is the rows that every chat has: header, status, two rules, and one each of the composer and what is below it.
const always = 6

// heights hands out the rows, the most needed first: an approval has to be seen before it can be answered. Neither a notice nor what
// is queued moves the composer (ui.md 11): they come after all that is below them, and the transcript gives up the rows.
func (p *ChatParts) heights(f Facts) heights {
	var (
		h      = heights{status: 1, composer: 1, bottom: 1}
		left   = f.Height - always
		floor  = 1 // rows of the transcript that suggestions leave
		blanks = 0
	)
	if p.Size == Full {
		floor = readable
	}
	if f.Height >= FullHeight {
		blanks = 2
	}
	if p.Size == Full || f.Approval <= 0 {
		h.transcript = give(&left, 1)
	}
	h.approval = give(&left, f.Approval)
	h.composer += give(&left, min(f.Composer, MaxComposer, (f.Height-always-2)/2)-1)
	h.bottom += give(&left, min(f.Popup-1, left-(floor-1)-blanks))
	if f.Notice {
		h.notice = give(&left, 1)
	}
	h.status += give(&left, min(f.Pending, MaxPending)-1)
	if f.Approval > 0 { // what it is about is worth more than air
		h.transcript += give(&left, floor-h.transcript)
	}
	if blanks > 0 && left >= blanks {
		h.blank = 1
		left -= blanks
	}
	h.transcript += left
	return h
}
