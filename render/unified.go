package render

import (
	"fmt"
	"strings"

	"octavo/pages"
)

// Unified is the text of a diff as git apply and patch take it. Nothing is cleaned, because that would change what it does: it is
// for files and programs, not for a screen. Of a Cut diff it gives what there is, which cannot be applied. A diff without a
// change is an empty string.
func Unified(d pages.Diff) string {
	path := strings.TrimLeft(d.Path, "/")
	old, new := patchName("a/"+path), patchName("b/"+path)
	var b strings.Builder
	if len(d.Hunks) == 0 {
		// Only a git header can say that an empty file comes or goes.
		switch {
		case d.New:
			fmt.Fprintf(&b, "diff --git %s %s\nnew file mode 100644\n", old, new)
		case d.Removed:
			fmt.Fprintf(&b, "diff --git %s %s\ndeleted file mode 100644\n", old, new)
		}
		return b.String()
	}
	switch {
	case d.New:
		old = "/dev/null"
	case d.Removed:
		new = "/dev/null"
	}
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", endName(old), endName(new))
	for _, h := range d.Hunks {
		fmt.Fprintf(&b, "@@ -%s +%s @@\n", patchRange(h.OldStart, h.OldLines), patchRange(h.NewStart, h.NewLines))
		for _, l := range h.Lines {
			// A text from outside could bring lines, and with them files, of its own.
			line, _, _ := strings.Cut(l.Text, "\n")
			b.WriteString(patchSign(l.Op))
			b.WriteString(line)
			b.WriteByte('\n')
			if l.NoEOL {
				b.WriteString("\\ No newline at end of file\n")
			}
		}
	}
	return b.String()
}

func patchRange(start, lines int) string {
	if lines == 1 {
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, lines)
}

func patchSign(op pages.LineOp) string {
	switch op {
	case pages.LineAdded, pages.LineDeleted:
		return string(op)
	}
	return string(pages.LineSame)
}

// patchName quotes a name as git does where it has a control character, a quote or a backslash.
func patchName(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '"' || r == '\\' }) {
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(name) {
		switch {
		case c == '"', c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ', c == 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// endName ends an unquoted name with a space with a tab, without which patch takes its second word for a date.
func endName(name string) string {
	if !strings.HasPrefix(name, `"`) && strings.Contains(name, " ") {
		return name + "\t"
	}
	return name
}
