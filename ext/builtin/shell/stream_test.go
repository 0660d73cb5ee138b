package shell

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// read feeds pieces to a stream and returns the text for the model and the text that was shown.
func read(limit int, pieces ...string) (forModel, shown string) {
	var b strings.Builder
	l := startLive(func(d string) { b.WriteString(d) })
	r := &record{limit: limit}
	s := newStream("stdout", r, l, &spills{base: "/nowhere"}, nil)
	for _, p := range pieces {
		if n, err := s.Write([]byte(p)); n != len(p) || err != nil {
			panic("a stream refused a write")
		}
	}
	s.end()
	l.end()
	forModel, _ = s.excerpt.text(limit)
	if !r.over && string(r.text) != forModel {
		panic(fmt.Sprintf("record and excerpt differ: %q %q", r.text, forModel))
	}
	return forModel, b.String()
}

func TestRedraws(t *testing.T) {
	long := strings.Repeat("x", maxRedrawn)
	for in, want := range map[string]string{
		"":                              "",
		"a\nb":                          "a\nb",
		"a\r\nb\r\n":                    "a\nb\n",
		"1%\r50%\r100%\n":               "100%\n",
		"1%\r50%\r":                     "50%",
		"\r\r\na\r\r\n":                 "\na\n",
		"working\r\x1b[Kdone\n":         "done\n",
		"N\bNA\bAM\bME\bE\n":            "NAME\n",
		"|\b/\b-\bok\n":                 "ok\n",
		"é\be\n":                        "e\n",
		"\b\b\ba\n":                     "a\n",
		"a\x00b\x00":                    "a\nb\n",
		"a\tb\t\tc\n":                   "a\tb\t\tc\n",
		"\x1b]0;title\x07text\n":        "text\n",
		long + "\rshort\n":              "short\n",
		long + "y\rshort\n":             long + "y\nshort\n",
		long + "y\r\nnext\n":            long + "y\nnext\n",
		"\x1b[3" + "1m" + "red\x1b[m\n": "red\n",
	} {
		for _, pieces := range [][]string{{in}, strings.Split(in, "")} {
			if got, _ := read(1<<20, pieces...); got != want {
				t.Errorf("%.60q in %d pieces gives %.60q, want %.60q", in, len(pieces), got, want)
			}
		}
	}
}

func FuzzStream(f *testing.F) {
	for _, s := range []string{"a\r\nb", "1%\r2%\r3%\n", "\x1b[31mred\x1b[0m\tx", "é\xc3\xa9\xff", "\x00\x00\x7fELF", "\x1b]8;;x\x1b\\link\n", "a\b\b\r\x1b[K"} {
		f.Add(s, 1)
	}
	f.Fuzz(func(t *testing.T, s string, size int) {
		whole, _ := read(1<<20, s)
		var pieces []string
		for rest, n := s, max(1, size%7); rest != ""; {
			k := min(n, len(rest))
			pieces, rest = append(pieces, rest[:k]), rest[k:]
		}
		cut, shown := read(1<<20, pieces...)
		if cut != whole {
			t.Errorf("%q read in pieces is %q, at once %q", s, cut, whole)
		}
		if !utf8.ValidString(whole) || !utf8.ValidString(shown) || strings.ContainsAny(whole+shown, "\x1b\r\x00\a\b") {
			t.Errorf("%q leaves %q and %q", s, whole, shown)
		}
	})
}

func TestExcerptKeepsBothEnds(t *testing.T) {
	mark := regexp.MustCompile(`… (\d+) bytes?(?: \((\d+) lines?\))? left out …\n`)
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(leftOutBytes+10, 600).Draw(t, "limit")
		budget := rapid.IntRange(leftOutBytes, limit).Draw(t, "budget")
		e := excerpt{limit: limit}
		var all strings.Builder
		for _, p := range rapid.SliceOf(rapid.StringOfN(rapid.RuneFrom([]rune("abé日\n")), 0, 200, -1)).Draw(t, "pieces") {
			e.add(p)
			all.WriteString(p)
		}
		want := all.String()
		got, whole := e.text(budget)
		if whole != (len(want) <= budget) || whole && got != want {
			t.Fatalf("%d bytes in %d: whole is %v", len(want), budget, whole)
		}
		if whole {
			return
		}
		if len(got) > budget || !utf8.ValidString(got) {
			t.Fatalf("%d bytes, the budget is %d", len(got), budget)
		}
		at := mark.FindStringSubmatchIndex(got)
		if at == nil {
			t.Fatalf("no mark in %q", got)
		}
		first, last := got[:at[0]], got[at[1]:]
		if !strings.HasPrefix(want, first) {
			first = strings.TrimSuffix(first, "\n") // the one that puts the mark on a line of its own
		}
		missing, _ := strconv.Atoi(got[at[2]:at[3]])
		lines := 0
		if at[4] >= 0 {
			lines, _ = strconv.Atoi(got[at[4]:at[5]])
		}
		if !strings.HasPrefix(want, first) || !strings.HasSuffix(want, last) || len(e.tail) > 3*limit {
			t.Fatalf("%q is no excerpt of %q", got, want)
		}
		sum := len(first) + missing + len(last)
		if sum == len(want)+1 && strings.HasSuffix(first, "\n") {
			first, sum = first[:len(first)-1], sum-1 // that newline again, where the text has one too
		}
		if sum != len(want) {
			t.Fatalf("%d + %d + %d bytes of %d", len(first), missing, len(last), len(want))
		}
		if n := strings.Count(want, "\n") - strings.Count(first, "\n") - strings.Count(last, "\n"); lines != n {
			t.Fatalf("%d lines are missing, says %d", n, lines)
		}
	})
}

func TestLiveBounds(t *testing.T) {
	for name, c := range map[string]struct {
		bytes   int
		omitted bool
	}{"at the bound": {maxPending, false}, "above": {maxPending + 1, true}, "far above": {10 * maxPending, true}} {
		var deltas []string
		hold, held := make(chan struct{}), make(chan struct{})
		l := startLive(func(d string) {
			if len(deltas) == 0 {
				close(held)
				<-hold // the front end is slow: the rest has to wait
			}
			deltas = append(deltas, d)
		})
		l.add("first\n")
		<-held
		for n := c.bytes; n > 0; n -= min(n, 1000) {
			l.add(strings.Repeat("é", min(n, 1000)/2) + strings.Repeat("x", min(n, 1000)%2))
		}
		close(hold)
		l.end()
		rest := strings.Join(deltas[1:], "")
		left := 0
		if m := regexp.MustCompile(`^… (\d+) bytes left out …\n`).FindStringSubmatch(rest); m != nil {
			left, _ = strconv.Atoi(m[1])
			rest = rest[len(m[0]):]
		}
		if deltas[0] != "first\n" || len(rest) > maxPending || !utf8.ValidString(rest) || left+len(rest) != c.bytes || (left > 0) != c.omitted {
			t.Errorf("%s: %d bytes shown, %d left out, of %d", name, len(rest), left, c.bytes)
		}
	}
}

func TestSniffer(t *testing.T) {
	for in, want := range map[string]bool{
		"":                              false,
		"plain text\n":                  false,
		strings.Repeat("日本語", 100):      false,
		strings.Repeat("name\x00", 100): false,
		strings.Repeat("\x00", 100):     true,
		"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00":                            true,
		strings.Repeat("caf\xe9 ", 2) + strings.Repeat("text ", 4):               false,
		strings.Repeat("a", sniffedBytes) + strings.Repeat("\xff", sniffedBytes): false,
		strings.Repeat("x", 9) + "\x01":                                          false, // one in ten is not more than one in ten
		strings.Repeat("x", 8) + "\x01":                                          true,
	} {
		for _, size := range []int{1, len(in) + 1} {
			var s sniffer
			for rest := in; rest != ""; {
				n := min(size, len(rest))
				s.see([]byte(rest[:n]))
				rest = rest[n:]
			}
			if s.binary() != want {
				t.Errorf("%.20q in pieces of %d: %v, want %v", in, size, !want, want)
			}
		}
	}
}
