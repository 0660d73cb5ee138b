package export

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// The parts of GitHub's Markdown that models write: tables, struck text, boxes of task lists. goldmark has them in a package whose
// start costs half a millisecond, at every start of the program.

// prioritized gives a parser its place: a smaller number comes first. goldmark's own stand at 100 to 1000.
func prioritized(p any, at int) util.PrioritizedValue { return util.Prioritized(p, at) }

// strikes reads ~struck~ and ~~struck~~.
type strikes struct{}

func (strikes) Trigger() []byte { return []byte{'~'} }

func (s strikes) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	d := parser.ScanDelimiter(line, before, 1, s)
	if d == nil || d.OriginalLength > 2 || before == '~' {
		return nil
	}
	d.Segment = segment.WithStop(segment.Start + d.OriginalLength)
	block.Advance(d.OriginalLength)
	pc.PushDelimiter(d)
	return d
}

func (strikes) IsDelimiter(c byte) bool { return c == '~' }

func (strikes) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char && opener.OriginalLength == closer.OriginalLength
}

func (strikes) OnMatch(int) ast.Node { return extast.NewStrikethrough() }

// boxes reads [ ] and [x] at the start of an item of a list.
type boxes struct{}

func (boxes) Trigger() []byte { return []byte{'['} }

func (boxes) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	item, ok := parent.Parent().(*ast.ListItem)
	if !ok || item.FirstChild() != parent || parent.HasChildren() {
		return nil
	}
	line, _ := block.PeekLine()
	if len(line) < 4 || line[2] != ']' || !util.IsSpace(line[3]) || bytes.IndexByte([]byte(" xX"), line[1]) < 0 {
		return nil
	}
	block.Advance(3)
	return extast.NewTaskCheckBox(line[1] != ' ')
}

// tables finds a table in a paragraph: a row, a line of dashes with as many cells, and rows to the end of the paragraph.
type tables struct{}

func (tables) Transform(p *ast.Paragraph, reader text.Reader, _ parser.Context) {
	source, lines := reader.Source(), p.Lines()
	for i := 1; i < lines.Len(); i++ {
		aligned := alignments(source, lines.At(i))
		if aligned == nil {
			continue
		}
		head := cells(source, lines.At(i-1))
		if len(head) != len(aligned) {
			continue
		}
		table := extast.NewTable()
		table.AppendChild(table, extast.NewTableHeader(row(head, aligned)))
		for j := i + 1; j < lines.Len(); j++ {
			table.AppendChild(table, row(cells(source, lines.At(j)), aligned))
		}
		p.Parent().InsertAfter(p.Parent(), p, table)
		if i == 1 {
			p.Parent().RemoveChild(p.Parent(), p)
		} else {
			lines.SetSliced(0, i-1)
		}
		return
	}
}

// row makes a row. Cells beyond the columns go, and missing ones are not made up: their number could be the square of the text.
func row(found []text.Segment, aligned []extast.Alignment) *extast.TableRow {
	r := extast.NewTableRow(aligned)
	for i, segment := range found {
		if i == len(aligned) {
			break
		}
		cell := extast.NewTableCell()
		cell.Alignment = aligned[i]
		cell.Lines().Append(segment)
		r.AppendChild(r, cell)
	}
	return r
}

// cells splits a line at its bars, except at one with a backslash before it.
func cells(source []byte, line text.Segment) []text.Segment {
	line = line.TrimLeftSpace(source)
	line = line.TrimRightSpace(source)
	from, to := line.Start, line.Stop
	if from < to && source[from] == '|' {
		from++
	}
	var all []text.Segment
	for at := from; at < to; at++ {
		switch source[at] {
		case '\\':
			at++
		case '|':
			all = append(all, trimmed(source, from, at))
			from = at + 1
		}
	}
	if from < to {
		all = append(all, trimmed(source, from, to))
	}
	return all
}

func trimmed(source []byte, from, to int) text.Segment {
	for from < to && util.IsSpace(source[from]) {
		from++
	}
	for from < to && util.IsSpace(source[to-1]) {
		to--
	}
	return text.NewSegment(from, to)
}

// alignments reads the line under the head of a table; nil when it is none.
func alignments(source []byte, line text.Segment) []extast.Alignment {
	if len(bytes.Trim(line.Value(source), " \t\r\n|:-")) > 0 {
		return nil
	}
	var all []extast.Alignment
	for _, c := range cells(source, line) {
		mark := c.Value(source)
		left, right := bytes.HasPrefix(mark, []byte(":")), bytes.HasSuffix(mark, []byte(":"))
		if dashes := bytes.Trim(mark, ":"); len(dashes) == 0 || len(bytes.Trim(dashes, "-")) > 0 || len(mark)-len(dashes) > 2 {
			return nil
		}
		switch {
		case left && right:
			all = append(all, extast.AlignCenter)
		case left:
			all = append(all, extast.AlignLeft)
		case right:
			all = append(all, extast.AlignRight)
		default:
			all = append(all, extast.AlignNone)
		}
	}
	return all
}
