package themes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"octavo/themes"
)

// folder is a folder of theme files that a test writes.
type folder struct {
	*themes.Folder
	t *testing.T
}

func newFolder(t *testing.T) folder {
	return folder{&themes.Folder{Dir: t.TempDir()}, t}
}

func (f folder) file(name string) string { return filepath.Join(f.Dir, name) }

// write writes a file that was there a while ago.
func (f folder) write(name, text string, age time.Duration) {
	f.t.Helper()
	if err := os.WriteFile(f.file(name), []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
	at := time.Now().Add(-age)
	if err := os.Chtimes(f.file(name), at, at); err != nil {
		f.t.Fatal(err)
	}
}

func (f folder) changed(want ...string) {
	f.t.Helper()
	if got := f.Changed(); !slices.Equal(got, want) {
		f.t.Errorf("changed are %v, not %v", got, want)
	}
}

func TestFolderNames(t *testing.T) {
	f := newFolder(t)
	for _, name := range []string{"harbour.toml", "a.b.toml", "notes.txt", ".#harbour.toml", "light.toml", "my theme.toml"} {
		f.write(name, "", 0)
	}
	if err := os.Mkdir(f.file("folder.toml"), 0o755); err != nil {
		t.Fatal(err)
	}
	names, problems := f.Names()
	if want := []string{"a.b", "harbour"}; !slices.Equal(names, want) {
		t.Errorf("themes are %v", names)
	}
	want := []string{
		f.file("light.toml") + ": the name light is octavo's own: give the file another one",
		f.file("my theme.toml") + `: the name "my theme" cannot be a theme's: use 1 to 64 letters, digits, - _ and dots, beginning with a letter or digit`,
	}
	var got []string
	for _, p := range problems {
		got = append(got, p.Error())
	}
	if !slices.Equal(got, want) {
		t.Errorf("problems are %q", got)
	}
	nowhere := themes.Folder{Dir: f.file("nothing")}
	if names, problems := nowhere.Names(); names != nil || problems != nil {
		t.Errorf("a folder that is not there has %v, %v", names, problems)
	}
	if names, problems := (&themes.Folder{Dir: f.file("notes.txt")}).Names(); names != nil || len(problems) != 1 {
		t.Errorf("a file has %v, %v", names, problems)
	}
}

func TestMaxFiles(t *testing.T) {
	f := newFolder(t)
	for i := range themes.MaxFiles {
		f.write(fmt.Sprintf("t%03d.toml", i), "", 0)
	}
	if names, problems := f.Names(); len(names) != themes.MaxFiles || problems != nil {
		t.Errorf("%d names, %v", len(names), problems)
	}
	f.write("t999.toml", "", 0)
	if names, problems := f.Names(); len(names) != themes.MaxFiles || len(problems) != 1 || !strings.Contains(problems[0].Error(), "after t255") {
		t.Errorf("%d names, %v", len(names), problems)
	}
}

func TestFolderLoad(t *testing.T) {
	f := newFolder(t)
	f.write("harbour.toml", "[metadata]\nname = 'Harbour'", 0)
	f.write("broken.toml", "[roles]\naccent.bold = 1", 0)
	f.write("large.toml", strings.Repeat("#", themes.MaxFile+2), 0)
	if err := syscall.Mkfifo(f.file("pipe.toml"), 0o644); err != nil {
		t.Fatal(err)
	}
	if src, err := f.Load("harbour"); err != nil || src.Title() != "Harbour" || src.Name() != "harbour" {
		t.Error(err)
	}
	for name, want := range map[string]string{
		"broken":  f.file("broken.toml") + ":2:1: roles.accent.bold must be true or false",
		"large":   f.file("large.toml") + ": is larger than 256 KiB",
		"pipe":    f.file("pipe.toml") + ": is not a file",
		"nothing": f.file("nothing.toml") + ": open: no such file or directory",
		"../x":    filepath.Join(filepath.Dir(f.Dir), "x.toml") + `: the name "../x" cannot be a theme's: use 1 to 64 letters, digits, - _ and dots, beginning with a letter or digit`,
	} {
		if _, err := f.Load(name); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", name, err, want)
		}
	}
}

// TestChanged writes files as editors do, and one within the same moment and of the same size, which only its bytes tell.
func TestChanged(t *testing.T) {
	f := newFolder(t)
	f.write("harbour.toml", "# one", time.Hour)
	f.write("other.toml", "# one", time.Hour)
	f.changed() // says what the rest compares with
	f.changed()

	f.write("harbour.toml", "# two", time.Minute)
	f.changed("harbour")
	f.changed()

	f.write("harbour.toml", "# two", time.Second) // touched, and not changed
	f.changed()
	now, err := os.Stat(f.file("harbour.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.file("harbour.toml"), []byte("# 333"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(f.file("harbour.toml"), now.ModTime(), now.ModTime()); err != nil {
		t.Fatal(err)
	}
	f.changed("harbour")

	f.write("new.toml", "# four", time.Hour)
	if err := os.Rename(f.file("new.toml"), f.file("harbour.toml")); err != nil {
		t.Fatal(err)
	}
	f.write("third.toml", "", time.Hour)
	if err := os.Remove(f.file("other.toml")); err != nil {
		t.Fatal(err)
	}
	f.changed("harbour", "other", "third")

	if err := os.RemoveAll(f.Dir); err != nil {
		t.Fatal(err)
	}
	f.changed("harbour", "third")
	f.changed()
	if err := os.Mkdir(f.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f.write("harbour.toml", "# one", time.Hour)
	f.changed("harbour")
}

func TestFind(t *testing.T) {
	global, project := newFolder(t), newFolder(t)
	title := func(s string) string { return "[metadata]\nname = '" + s + "'" }
	global.write("harbour.toml", title("Global"), 0)
	global.write("vellum.toml", title("My vellum"), 0)
	global.write("light.toml", title("Not this"), 0)
	project.write("harbour.toml", title("Project"), 0)
	project.write("broken.toml", "[", 0)
	project.write("zebra.toml", "", 0)

	for name, want := range map[string]string{
		"harbour": "Project", "vellum": "My vellum", "light": "Vellum", "terminal": "Terminal", "auto": "Auto", "inkwell": "Inkwell", "zebra": "zebra",
	} {
		if src, err := themes.Find(name, global.Folder, project.Folder); err != nil || src.Title() != want {
			t.Errorf("%s is %v, %v", name, src, err)
		}
	}
	if src, err := themes.Find("harbour", project.Folder, global.Folder); err != nil || src.Title() != "Global" {
		t.Errorf("the later folder does not win: %v", err)
	}
	if _, err := themes.Find("broken", global.Folder, project.Folder); err == nil || !strings.Contains(err.Error(), "broken.toml:1:") {
		t.Errorf("a broken file is %v", err)
	}
	_, err := themes.Find("harbor", global.Folder, project.Folder)
	if want := `there is no theme "harbor"; did you mean harbour? Use auto, terminal, inkwell, lamplight, vellum, galley, etching, broken, harbour or zebra`; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

func BenchmarkChanged(b *testing.B) {
	f := themes.Folder{Dir: b.TempDir()}
	for i := range 10 {
		name := filepath.Join(f.Dir, fmt.Sprintf("t%d.toml", i))
		if err := os.WriteFile(name, themes.File(themes.DarkTheme), 0o644); err != nil {
			b.Fatal(err)
		}
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(name, old, old); err != nil {
			b.Fatal(err)
		}
	}
	f.Changed()
	for b.Loop() {
		if c := f.Changed(); c != nil {
			b.Fatal(c)
		}
	}
}
