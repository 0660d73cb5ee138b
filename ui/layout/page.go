package layout

// Arrangement says where the detail of a page is.
type Arrangement uint8

const (
	Alone  Arrangement = iota // nowhere: Enter opens it as a reader
	Beside                    // at the right of the list
	Below
)

// Where the detail of a page finds room (ui.md 4).
const (
	BesideWidth  = 96
	BesideHeight = 14
	DividerWidth = 3
	MinDetail    = 4 // rows below a list

	minList = 3 // rows above a detail
)

// PageParts is a page. Rows begin at the left edge of the screen with the cursor bar; all other parts one column to the right.
type PageParts struct {
	Size    Size
	Message Rect // the only part of a Small screen
	Title   Rect
	Filter  Rect // blank until the filter opens, so that the list does not move
	List    Rect
	Divider Rect // three columns, or one row
	Detail  Rect
	Prompt  Rect // blank unless something is asked
	Footer  Rect

	Arrangement Arrangement
}

// Page lays out a page (ui.md 4). rows are those of the list with its sections, detailRows those of the detail of the highlighted
// row where it stands below the list; hasDetail is whether any row has one.
func Page(width, height, rows, detailRows int, hasDetail bool) PageParts {
	p := PageParts{Size: Classify(width, height)}
	switch p.Size {
	case None:
		return p
	case Small:
		p.Message = message(width)
		return p
	}
	p.Title = Rect{1, 0, width - 1, 1}
	p.Filter = Rect{1, 1, width - 1, 1}
	p.Prompt = Rect{1, height - 2, width - 1, 1}
	p.Footer = Rect{1, height - 1, width - 1, 1}
	p.List = Rect{0, 2, width, height - 4}
	if hasDetail {
		p.split(height, rows, detailRows)
	}
	return p
}

// split makes room for the detail where there is any.
func (p *PageParts) split(height, rows, detailRows int) {
	body := p.List
	if body.W >= BesideWidth && height >= BesideHeight {
		p.Arrangement = Beside
		p.List.W = body.W / 2
		p.Divider = Rect{p.List.W, body.Y, DividerWidth, body.H}
		p.Detail = Rect{p.List.W + DividerWidth, body.Y, body.W - p.List.W - DividerWidth, body.H}
		return
	}
	list := min(rows, max(minList, body.H*2/5, body.H-1-detailRows))
	if list < 1 || body.H-list-1 < MinDetail {
		return
	}
	p.Arrangement = Below
	p.List.H = list
	p.Divider = Rect{1, body.Y + list, body.W - 2, 1}
	p.Detail = Rect{1, body.Y + list + 1, body.W - 2, body.H - list - 1}
}
