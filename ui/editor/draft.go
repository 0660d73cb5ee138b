package editor

// Draft is a draft put aside, with its cursor, its chips and what can be undone: one of another session, or one that history has
// taken the place of. The zero value is an empty one. It can be put back once.
type Draft struct{ state state }

// Take moves the draft out of the buffer, which is empty after it.
func (b *Buffer) Take() Draft {
	d := Draft{b.state}
	b.state = newState(b.width)
	return d
}

// Put makes a draft that was put aside the one of the buffer, in place of the one there.
func (b *Buffer) Put(d Draft) {
	if d.state.lines == nil {
		d.state = newState(b.width)
	}
	b.state = d.state
	b.last = other
}

// Empty reports whether nothing was composed.
func (d Draft) Empty() bool { return d.state.bytes == 0 }

// Value is the text, with the label of each chip in its place.
func (d Draft) Value() string {
	if d.Empty() {
		return ""
	}
	return d.state.whole().labelled()
}
