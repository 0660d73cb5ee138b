package editor

// Submission is a draft as it is sent.
type Submission struct {
	Text     string  // pasted texts in their places, files as their paths, images as their labels; at most MaxText bytes
	Display  string  // what a transcript shows: Value
	Attached []*Chip // images and files, in the order of the text; not to be changed
}

// Submission gives the draft as it is sent, and leaves it as it is; Take empties it.
func (b *Buffer) Submission() Submission {
	f := b.whole()
	out := Submission{Text: f.paid(), Display: f.labelled()}
	for _, c := range f.chips {
		if c.Kind != TextChip {
			out.Attached = append(out.Attached, c)
		}
	}
	return out
}
