package frame_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"octavo/pages/text"
	"octavo/render"
	"octavo/themes"
	"octavo/ui/frame"
)

func terminal(t testing.TB, o themes.Options) *themes.Theme {
	t.Helper()
	src, err := themes.Load(themes.TerminalName)
	if err != nil {
		t.Fatal(err)
	}
	return themes.Resolve(src, themes.Unknown, o)
}

// tell writes a row with its runs in braces, as role[+on]:text.
func tell(r frame.Row) string {
	var b strings.Builder
	at := 0
	for _, x := range r.Runs {
		b.WriteString(r.Text[at:x.From] + "{" + string(x.Role))
		if x.On != "" {
			b.WriteString("+" + string(x.On))
		}
		b.WriteString(":" + r.Text[x.From:x.To] + "}")
		at = x.To
	}
	return b.String() + r.Text[at:]
}

func run(from, to int, role themes.Role) render.Run {
	return render.Run{From: from, To: to, Role: role}
}

func TestRows(t *testing.T) {
	link := frame.Row{Text: "see 世界 now", Role: themes.RoleText, Runs: []render.Run{run(4, 10, themes.RoleLink)}}
	key := frame.Plain("esc", themes.RoleKey)
	for name, c := range map[string]struct{ got, want string }{
		"join":           {tell(frame.Join(link, key)), "see {link:世界} now{key:esc}"},
		"join nothing":   {tell(frame.Join()), ""},
		"pad":            {tell(frame.Pad(link, 14)), "see {link:世界} now  "},
		"pad the other":  {tell(frame.Join(key, frame.Pad(link, 14))), "esc{text:see }{link:世界}{text: now  }"},
		"cut inside":     {tell(frame.Cut(link, 7, "…")), "see {link:世}…"},
		"cut before":     {tell(frame.Cut(link, 4, "…")), "see…"},
		"cut to nothing": {tell(frame.Cut(link, 0, "")), ""},
		"not cut":        {tell(frame.Cut(link, 12, "…")), "see {link:世界} now"},
		"fit":            {tell(frame.Fit(link, 6, "")), "see {link:世}"},
		"beside":         {tell(frame.Beside(link, 6, key, "…")), "see … {key:esc}"},
		"ends":           {tell(frame.Ends(link, key, 18, "…")), "see {link:世界} now   {key:esc}"},
		"ends are tight": {tell(frame.Ends(link, key, 10, "…")), "see …  {key:esc}"},
		"right wins":     {tell(frame.Ends(link, key, 3, "…")), "esc"},
		"nothing right":  {tell(frame.Ends(link, frame.Blank(), 13, "…")), "see {link:世界} now "},
		"skip":           {tell(frame.Skip(link, 4)), "{link:世界} now"},
		"skip half":      {tell(frame.Skip(frame.Row{Text: "1 abc", Gutter: 2, Runs: []render.Run{run(0, 1, "footer"), run(3, 5, "code")}}, 2)), "{footer:1} {code:c}"},
		"mark across":    {tell(frame.Mark(link, 2, 7, themes.RoleMatch)), "se{text+match:e }{link+match:世}{link:界} now"},
		"mark plain":     {tell(frame.Mark(frame.Plain("abc", "text"), 1, 2, themes.RoleMatch)), "a{text+match:b}c"},
		"mark behind":    {tell(frame.Mark(link, 10, 99, themes.RoleMatch)), "see {link:世界}{text+match: now}"},
		"mark nothing":   {tell(frame.Mark(link, 3, 3, themes.RoleMatch)), "see {link:世界} now"},
		"filled as a part": {tell(frame.Join(frame.Plain("> ", "text"), frame.Row{Text: "x=1", Role: "code", Fill: true, Runs: []render.Run{run(2, 3, "syntax.number")}})),
			"> {code:x=}{syntax.number+code:1}"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
}

func TestPaint(t *testing.T) {
	p := frame.NewPainter(terminal(t, themes.Options{}), colorprofile.ANSI)
	r := frame.Row{Text: "ok 世", Role: themes.RoleText, Runs: []render.Run{{From: 0, To: 2, Role: themes.RoleSuccess, Attr: render.Bold, Link: "https://a.test"}}}
	got := p.Row(r, 8)
	if ansi.Strip(got) != "ok 世   " {
		t.Errorf("%q", got)
	}
	for _, part := range []string{"\x1b]8;;https://a.test\x1b\\", "\x1b]8;;\x1b\\", "\x1b[1;32m"} {
		if !strings.Contains(got, part) {
			t.Errorf("%q lacks %q", got, part)
		}
	}
	bare := frame.NewPainter(terminal(t, themes.Options{NoColour: true}), colorprofile.ASCII).Row(frame.Mark(r, 0, 2, themes.RoleSelection), 8)
	if strings.Contains(bare, ";3") || !strings.Contains(bare, "\x1b[") {
		t.Errorf("without colour: %q", bare)
	}
	if plain := frame.NewPainter(terminal(t, themes.Options{}), colorprofile.ANSI).Row(frame.Plain("x", themes.RoleText), 2); plain != "x " {
		t.Errorf("the terminal's own text needs no codes: %q", plain)
	}
}

// TestEveryThemeOnEveryTerminal paints every role and leaves nothing switched on.
func TestEveryThemeOnEveryTerminal(t *testing.T) {
	for _, name := range themes.Builtin() {
		src, err := themes.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		th := themes.Resolve(src, themes.Dark, themes.Options{})
		for _, profile := range []colorprofile.Profile{colorprofile.ASCII, colorprofile.ANSI, colorprofile.ANSI256, colorprofile.TrueColor} {
			p := frame.NewPainter(th, profile)
			for _, role := range themes.Roles() {
				got := p.Row(frame.Row{Text: "x", Runs: []render.Run{{To: 1, Role: role, On: themes.RoleSelection}}}, 3)
				if ansi.Strip(got) != "x  " || !strings.HasPrefix(got[strings.LastIndex(got, "\x1b[")+1:], "[m") && strings.Contains(got, "\x1b") {
					t.Errorf("%s, %s, %v: %q", name, role, profile, got)
				}
				if profile < colorprofile.TrueColor && strings.Contains(got, ";2;") || profile < colorprofile.ANSI256 && strings.Contains(got, ";5;") {
					t.Errorf("%s, %s: too fine for %v: %q", name, role, profile, got)
				}
			}
		}
	}
}

// TestRowsKeepTheirPromises composes at random: widths are kept, runs stay in order, within the text and on whole characters.
func TestRowsKeepTheirPromises(t *testing.T) {
	row := rapid.Custom(func(t *rapid.T) frame.Row {
		s := text.CleanLine(rapid.StringOf(rapid.SampledFrom([]rune("ab é世界🐙́ "))).Draw(t, "text"))
		r := frame.Row{Text: s, Role: themes.Role(rapid.SampledFrom([]string{"", "text", "code"}).Draw(t, "role")), Fill: rapid.Bool().Draw(t, "fill")}
		var cuts []int
		for i := range s {
			cuts = append(cuts, i)
		}
		for i := 0; i+1 < len(cuts); i += 2 {
			if rapid.Bool().Draw(t, "run") {
				r.Runs = append(r.Runs, run(cuts[i], cuts[i+1], themes.RoleLink))
			}
		}
		return r
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := row.Draw(t, "a"), row.Draw(t, "b")
		n := rapid.IntRange(0, 12).Draw(t, "n")
		for what, r := range map[string]frame.Row{"join": frame.Join(a, b), "cut": frame.Cut(a, n, ""), "fit": frame.Fit(a, n, "…"), "beside": frame.Beside(a, n, b, ""),
			"skip": frame.Skip(a, n), "mark": frame.Mark(a, len(a.Text)-len(text.Cut(a.Text, n, "")), len(a.Text), themes.RoleMatch), "ends": frame.Ends(a, b, n, "…")} {
			at := 0
			for _, x := range r.Runs {
				if x.From < at || x.To <= x.From || x.To > len(r.Text) {
					t.Fatalf("%s: run %d..%d after %d in %q", what, x.From, x.To, at, r.Text)
				}
				at = x.To
			}
			w := text.Width(r.Text)
			if (what == "fit" || what == "ends") && w != n || what == "cut" && w > n {
				t.Fatalf("%s to %d: %q has %d", what, n, r.Text, w)
			}
		}
	})
}

func BenchmarkPaint(b *testing.B) {
	p := frame.NewPainter(terminal(b, themes.Options{}), colorprofile.TrueColor)
	r := frame.Join(frame.Plain("  12 ", themes.RoleMuted), frame.Plain("func main() { return }", themes.RoleCode), frame.Plain(" // a comment of some length", themes.RoleSyntaxComment))
	b.ReportAllocs()
	for b.Loop() {
		_ = p.Row(r, 120)
	}
}
