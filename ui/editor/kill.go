package editor

// KillRing keeps what was killed, which is removed in order to be put somewhere else. The zero value is empty.
type KillRing struct {
	kills []fragment // newest last
	by    *Buffer    // killed the newest
}

// DeleteWordBackward and DeleteWordForward kill the selection, or else up to the start of the word before the cursor or the end of
// the one behind it. Kills that follow one another at once become one.
func (b *Buffer) DeleteWordBackward() bool { return b.killTo(b.wordBefore(b.cursor)) }
func (b *Buffer) DeleteWordForward() bool  { return b.killTo(b.wordAfter(b.cursor)) }

// DeleteToLineStart and DeleteToLineEnd kill the selection, or else up to the edge of the line; at the edge, the newline there.
func (b *Buffer) DeleteToLineStart() bool {
	if b.cursor.at == 0 {
		return b.killTo(b.previous(b.cursor))
	}
	return b.killTo(place{b.cursor.line, 0})
}

func (b *Buffer) DeleteToLineEnd() bool {
	if end := b.lineEnd(); b.cursor != end {
		return b.killTo(end)
	}
	return b.killTo(b.next(b.cursor))
}

// Yank puts the newest kill in the place of the selection or at the cursor, as one step. A chip whose number is in use gets
// another one. The errors are those of Attach.
func (b *Buffer) Yank() (bool, error) {
	from, to, _ := b.selected()
	return b.yank(from, to, 0)
}

// YankPop puts the kill before it in the place of what Yank or YankPop has just put there, and after the oldest the newest again.
// At any other time it does nothing.
func (b *Buffer) YankPop() (bool, error) {
	if b.last != yanked || len(b.kills.kills) < 2 {
		return false, nil
	}
	return b.yank(b.yankFrom, b.yankTo, (b.turn+1)%len(b.kills.kills))
}

// yank puts the nth newest kill in the place of from..to.
func (b *Buffer) yank(from, to place, n int) (bool, error) {
	all := b.kills.kills
	if len(all) == 0 {
		return false, nil
	}
	numbers := b.numbers
	f := b.adopt(from, to, all[len(all)-1-n])
	changed, err := b.replace(from, to, f, yanked)
	if err != nil {
		b.numbers = numbers
		return false, err
	}
	b.last = yanked // even where the same stood before
	b.yankFrom, b.yankTo, b.turn = from, from.after(f.text), n
	return changed, nil
}

// killTo kills the selection, or what lies between the cursor and p.
func (b *Buffer) killTo(p place) bool {
	if from, to, ok := b.selected(); ok {
		return b.kill(from, to, false)
	}
	if p.before(b.cursor) {
		return b.kill(p, b.cursor, true)
	}
	return b.kill(b.cursor, p, false)
}

// kill removes from..to and keeps it.
func (b *Buffer) kill(from, to place, backward bool) bool {
	f := b.cut(from, to)
	if f.empty() {
		return false
	}
	r := b.kills
	if n := len(r.kills); b.last == killed && r.by == b && n > 0 {
		if backward {
			f = join(f, r.kills[n-1])
		} else {
			f = join(r.kills[n-1], f)
		}
		r.kills = r.kills[:n-1]
	}
	r.add(f)
	r.by = b
	return b.apply(from, to, fragment{}, killed)
}

func (r *KillRing) add(f fragment) {
	r.kills = append(r.kills, f)
	drop := 0
	for drop < len(r.kills)-1 && (len(r.kills)-drop > MaxKills || weight(r.kills[drop:]) > MaxKillBytes) {
		drop++
	}
	clear(r.kills[:drop])
	r.kills = r.kills[drop:]
}

// weight is the memory that kills hold, in bytes.
func weight(kills []fragment) int {
	n := 0
	for _, k := range kills {
		n += len(k.text)
		for _, c := range k.chips {
			n += c.weight()
		}
	}
	return n
}
