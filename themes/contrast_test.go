package themes_test

import (
	"math"
	"strings"
	"testing"

	"octavo/themes"
)

// colour reads one as a theme writes it.
func colour(t *testing.T, s string) themes.Colour {
	t.Helper()
	return themes.Resolve(parse(t, "[roles]", "text.foreground = '"+s+"'"), themes.Dark, themes.Options{}).Style(themes.RoleText).Foreground
}

func TestContrast(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64 // 0 where nobody knows
	}{
		{"#000000", "#ffffff", 21},
		{"#ffffff", "#000000", 21},
		{"#777777", "#ffffff", 4.48}, // the pair everybody knows: just not enough
		{"#767676", "#ffffff", 4.54},
		{"#123456", "#123456", 1},
		{"16", "231", 21},
		{"196", "#ff0000", 1},
		{"244", "#808080", 1},
		{"232", "#080808", 1},
		{"255", "#eeeeee", 1},
		{"67", "#5f87af", 1},
		{"default", "#ffffff", 0},
		{"#ffffff", "ansi:red", 0},
		{"15", "#000000", 0},
	} {
		got, ok := themes.Contrast(colour(t, c.a), colour(t, c.b))
		if math.Abs(got-c.want) > 0.01 && c.want > 0 || ok != (c.want > 0) {
			t.Errorf("%s and %s: %.3f, %v", c.a, c.b, got, ok)
		}
	}
}

func TestColours(t *testing.T) {
	for in, want := range map[string]string{
		"ansi:red": "ansi:red", "1": "ansi:red", "ansi:bright-black": "ansi:bright-black", "8": "ansi:bright-black", "15": "ansi:bright-white",
		"16": "16", "255": "255", "#A1b2C3": "#a1b2c3", "default": "default", "007": "ansi:white",
	} {
		c := colour(t, in)
		if c.String() != want || (c.Color() == nil) != c.IsDefault() {
			t.Errorf("%s is %s, %v", in, c, c.Color())
		}
		if r, g, b, ok := c.RGB(); ok && in != "16" {
			R, G, B, A := c.Color().RGBA()
			if R>>8 != uint32(r) || G>>8 != uint32(g) || B>>8 != uint32(b) || A != 0xffff {
				t.Errorf("%s is drawn as %v", in, c.Color())
			}
		}
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		name string
		file string
		want []string
	}{
		{"good", "[roles]\naccent.foreground = '#7cbeed'\n[metadata]\nterminal = 'dark'", nil},
		{"the terminal's own", "[roles]\naccent = {foreground = 3, background = 4}", nil},
		{"the example of ui.md 15", "[roles]\naccent.foreground = '#4e9bd4'", []string{
			"roles.accent: #4e9bd4 on a background that is light has a contrast of 2.6 and needs 4.5: give it another colour in [variants.light], or the role text a background",
		}},
		{"by background", "[metadata]\nterminal = 'light-dark'\n[roles]\naccent.foreground = '#4e9bd4'\n[variants.light.roles]\naccent.foreground = '#235c91'", nil},
		{"unknown", "[roles]\naccent.foreground = '#4e9bd4'\n[variants.light.roles]\naccent.foreground = '#235c91'", []string{
			"roles.accent: #4e9bd4 on a background that is unknown has a contrast of 2.6 and needs 4.5: give it another colour in [variants.unknown], or the role text a background",
		}},
		{"own ground", "[roles]\ntext = {foreground = '#d4dae1', background = '#141a22'}\nmuted.foreground = '#9ca4ae'\nerror.foreground = '#804040'\nborder.foreground = '#384048'", []string{
			"roles.border: #384048 on #141a22 has a contrast of 1.7 and needs 3.0: choose colours further apart",
			"roles.error: #804040 on #141a22 has a contrast of 2.3 and needs 4.5: choose colours further apart",
		}},
		{"a mark needs less", "[metadata]\nterminal = 'dark'\n[roles]\nborder.foreground = '#767676'\nmuted.foreground = '#767676'", []string{
			"roles.muted: #767676 on a background that is dark has a contrast of 3.7 and needs 4.5: give it another colour in [variants.dark], or the role text a background",
		}},
		{"dim", "[metadata]\nterminal = 'dark'\n[roles]\nmuted = {foreground = '#909090', dim = true}", []string{
			"roles.muted: #909090 made dim on a background that is dark has a contrast of 2.3 and needs 4.5: give it a colour in place of dim",
		}},
		{"text that nobody chose", "[metadata]\nterminal = 'light'\n[roles]\nselection.background = '#264f78'", []string{
			"roles.selection: default on #264f78 has a contrast of 1.2 and needs 4.5: choose colours further apart",
		}},
		{"inverse", "[metadata]\nterminal = 'dark'\n[roles]\nselection = {foreground = '#7cbeed', inverse = true}", nil},
	} {
		var got []string
		for _, w := range parse(t, c.file).Warnings() {
			got = append(got, w.String())
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s:\n got %s\nwant %s", c.name, strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
		}
	}
}
