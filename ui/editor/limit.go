package editor

import (
	"fmt"

	"octavo/pages/text"
)

const (
	// MaxText is how much a draft may hold, in bytes: what is typed, and for each chip its text or its label, whichever is longer.
	// So neither Text nor Display of a Submission has more.
	MaxText = 1 << 20
	// MaxChips is how many pasted texts, images and files a draft may hold together, and MaxImages how many images.
	MaxChips  = 64
	MaxImages = 8
	// MaxImageBytes is how much the images of a draft may have together.
	MaxImageBytes = 20 << 20
	// MaxInlinePaste and MaxInlineLines are up to how many bytes and lines a paste becomes text; a larger one becomes a chip.
	MaxInlinePaste = 2000
	MaxInlineLines = 20
	// MaxName is how much of a name a label shows, in cells.
	MaxName = 40
	// MaxUndo is how many steps can be undone and redone together, MaxUndoBytes how much text they may hold, and MaxUndoPayload
	// how much what was pasted or attached and is no longer in the draft (product.md 2.4). The oldest goes first. One step always
	// finds room: no draft has half as much.
	MaxUndo        = 64
	MaxUndoBytes   = 4 << 20
	MaxUndoPayload = 48 << 20
	// MaxKills is how many kills a ring keeps, and MaxKillBytes how much they may hold with the chips in them. The oldest goes first;
	// the newest always finds room.
	MaxKills     = 32
	MaxKillBytes = 32 << 20
	// MaxToken is how far before the cursor Token looks for the start of a word, in bytes.
	MaxToken = 4096
	// MaxHistory is how many prompts a History holds, MaxHistoryBytes how much text, and MaxMatches how many of them a search
	// answers.
	MaxHistory      = 10_000
	MaxHistoryBytes = 8 << 20
	MaxMatches      = 500
)

// maxRaw is how much may come in from outside before it is cleaned: colours and other controls take room and go.
const maxRaw = 4 * MaxText

// TextFullError says that the draft would hold more than MaxText.
type TextFullError struct {
	Bytes int // that it would have held
}

func (e *TextFullError) Error() string {
	return fmt.Sprintf("the prompt would have %s, and at most %s fit; save long text to a file and name the file in the prompt",
		text.Bytes(int64(e.Bytes)), text.Bytes(MaxText))
}

// ChipsFullError says that the draft would hold more chips than it may.
type ChipsFullError struct {
	Images bool // MaxImages was crossed, else MaxChips
}

func (e *ChipsFullError) Error() string {
	if e.Images {
		return fmt.Sprintf("a prompt takes at most %d images; remove one with backspace, or send the others with the next prompt", MaxImages)
	}
	return fmt.Sprintf("a prompt takes at most %d pasted texts, images and files; remove one with backspace, or send the others with the next prompt",
		MaxChips)
}

// ImagesTooLargeError says that the images of the draft would have more than MaxImageBytes.
type ImagesTooLargeError struct {
	Bytes int // that they would have together
}

func (e *ImagesTooLargeError) Error() string {
	return fmt.Sprintf("the images of the prompt would have %s, and at most %s fit; make them smaller, or send some with the next prompt",
		text.Bytes(int64(e.Bytes)), text.Bytes(MaxImageBytes))
}

// BadNameError says that the path of a file holds what cannot be shown, so that its chip would stand for another path.
type BadNameError struct {
	Path string
}

func (e *BadNameError) Error() string {
	return fmt.Sprintf("the path %s has characters that cannot be shown; rename the file, or attach a copy of it", text.CleanLine(text.Visible(e.Path)))
}

// fits says why with cannot take the place of from..to.
func (s *state) fits(from, to place, with fragment) error {
	out := s.cut(from, to)
	if size := s.size - out.size() + with.size(); size > MaxText {
		return &TextFullError{size}
	}
	if len(with.chips) == 0 {
		return nil
	}
	if len(s.chips)-len(out.chips)+len(with.chips) > MaxChips {
		return &ChipsFullError{}
	}
	had, hadBytes := images(s.chipsFrom(0, len(s.chips)))
	less, lessBytes := images(out.chips)
	more, moreBytes := images(with.chips)
	if more > 0 && had-less+more > MaxImages {
		return &ChipsFullError{Images: true}
	}
	if total := hadBytes - lessBytes + moreBytes; more > 0 && total > MaxImageBytes {
		return &ImagesTooLargeError{total}
	}
	return nil
}

// images counts them and their bytes.
func images(chips []*Chip) (n, bytes int) {
	for _, c := range chips {
		if c.Kind == ImageChip {
			n++
			bytes += len(c.Data)
		}
	}
	return n, bytes
}
