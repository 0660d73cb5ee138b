package plain_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octavo/app/api"
	"octavo/app/plain"
)

const (
	png  = "\x89PNG\r\n\x1a\nrest"
	jpeg = "\xff\xd8\xffrest"
	gif  = "GIF89arest"
	webp = "RIFF\x00\x00\x00\x00WEBPrest"
)

// folder makes files to name.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestGather(t *testing.T) {
	dir := folder(t, map[string]string{"a.go": "package a\n", "b <\"&>.txt": "if a < b && c > d { \"x\" }", "bom.txt": "\ufefftext", "empty": "",
		"onlybom": "\ufeff", "p.png": png, "j.txt": jpeg, "g": gif, "w": webp})
	home := folder(t, map[string]string{"notes": "mine"})
	chat := func(text, display string, images ...string) api.Input {
		in := api.Input{Kind: api.InputChat, Text: text, Display: display}
		for _, i := range images {
			name, data, _ := strings.Cut(i, "=")
			in.Images = append(in.Images, api.InputImage{Name: name, Data: []byte(data)})
		}
		return in
	}
	for _, c := range []struct {
		name  string
		args  []string
		stdin string
		want  []api.Input
	}{
		{"nothing", nil, "", nil},
		{"blank", []string{"", "  "}, " \n", nil},
		{"text", []string{"fix it"}, "", []api.Input{chat("fix it", "")}},
		{"several", []string{"one", "two", "three"}, "", []api.Input{chat("one", ""), chat("two", ""), chat("three", "")}},
		{"stdin alone", nil, "a diff\n", []api.Input{chat("a diff\n", "[stdin, 7 B]")}},
		{"stdin heads", []string{"review", "again"}, "\ufeffa diff\n\n", []api.Input{chat("a diff\n\nreview", "[stdin, 8 B]\nreview"), chat("again", "")}},
		{"file", []string{"@a.go", "explain"}, "", []api.Input{chat("<file name=\"a.go\">\npackage a\n</file>\n\nexplain", "@a.go\nexplain")}},
		{"file after text belongs to the first prompt", []string{"explain", "more", "@a.go"}, "",
			[]api.Input{chat("<file name=\"a.go\">\npackage a\n</file>\n\nexplain", "@a.go\nexplain"), chat("more", "")}},
		{"escaped", []string{"@b <\"&>.txt"}, "", []api.Input{chat("<file name=\"b &lt;&quot;&amp;&gt;.txt\">\nif a &lt; b &amp;&amp; c &gt; d { \"x\" }\n</file>", "@b <\"&>.txt")}},
		{"byte order mark", []string{"@bom.txt"}, "", []api.Input{chat("<file name=\"bom.txt\">\ntext\n</file>", "@bom.txt")}},
		{"empty files are skipped", []string{"@empty", "@onlybom", "hi"}, "", []api.Input{chat("hi", "")}},
		{"only an empty file", []string{"@empty"}, "", nil},
		{"home", []string{"@~/notes"}, "", []api.Input{chat("<file name=\"~/notes\">\nmine\n</file>", "@~/notes")}},
		{"absolute", []string{"@" + filepath.Join(home, "notes")}, "", []api.Input{chat("<file name=\""+filepath.Join(home, "notes")+"\">\nmine\n</file>", "@"+filepath.Join(home, "notes"))}},
		{"pictures by their bytes", []string{"@p.png", "what?", "@j.txt", "@g", "@w"}, "",
			[]api.Input{chat("what?", "@p.png @j.txt @g @w\nwhat?", "p.png="+png, "j.txt="+jpeg, "g="+gif, "w="+webp)}},
		{"a picture alone", []string{"@p.png"}, "", []api.Input{chat("", "@p.png", "p.png="+png)}},
		{"an at alone is text", []string{"@"}, "", []api.Input{chat("@", "")}},
		{"all of it", []string{"@a.go", "go"}, "in", []api.Input{chat("in\n\n<file name=\"a.go\">\npackage a\n</file>\n\ngo", "[stdin, 2 B] @a.go\ngo")}},
	} {
		o := plain.GatherOptions{Args: c.args, Dir: dir, Home: home}
		if c.stdin != "" {
			o.Stdin = strings.NewReader(c.stdin)
		}
		got, err := plain.Gather(context.Background(), o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestGatherRefuses(t *testing.T) {
	dir := folder(t, map[string]string{"binary": "a\x00b", "latin1": "caf\xe9", "p": png, "large": strings.Repeat("x", plain.MaxFile+1),
		"full": png + strings.Repeat("x", plain.MaxFile-len(png)), "megabyte": strings.Repeat("x", api.MaxInput)})
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	repeat := func(s string, n int) []string { return strings.Fields(strings.Repeat(s+" ", n)) }
	for _, c := range []struct {
		args  []string
		stdin string
		want  string
	}{
		{[]string{"@nosuch"}, "", "@nosuch: there is no such file"},
		{[]string{"@sub"}, "", "@sub: it is a folder; name a file in it"},
		{[]string{"@pipe"}, "", "@pipe: it is not a regular file"},
		{[]string{"@/dev/zero"}, "", "@/dev/zero: it is not a regular file"},
		{[]string{"@binary"}, "", "@binary: neither UTF-8 text nor a PNG, JPEG, GIF or WebP picture"},
		{[]string{"@latin1"}, "", "@latin1: neither UTF-8 text nor a PNG, JPEG, GIF or WebP picture"},
		{[]string{"@large"}, "", "@large: it has more than 5.0 MiB; name it without @ in the prompt, so that the model reads what it needs of it"},
		{repeat("@p", api.MaxInputImages+1), "", "@p: at most 8 pictures can be attached to a prompt"},
		{repeat("@full", 5), "", "@full: stdin and files have more than 20 MiB together; name large files without @ in the prompt"},
		{repeat("@full", 4), "x", "@full: stdin and files have more than 20 MiB together; name large files without @ in the prompt"},
		{nil, "caf\xe9", "what is piped in is not UTF-8 text; a picture can be attached with @PATH"},
		{nil, strings.Repeat("x", plain.MaxGathered+1), "stdin has more than 20 MiB; pipe in less, or name a file of the workspace in the prompt"},
		{nil, strings.Repeat("x", api.MaxInput+1), "prompt 1: it has 1 MiB with what was piped in and inlined, and at most 1 MiB fit; put long text into a file of the workspace and name the file without @, so that the model reads what it needs of it"},
		{[]string{"@megabyte"}, "", "prompt 1: it has 1 MiB with what was piped in and inlined, and at most 1 MiB fit; put long text into a file of the workspace and name the file without @, so that the model reads what it needs of it"},
		{[]string{"one", "\xff"}, "", "prompt 2: it is not valid UTF-8"},
	} {
		o := plain.GatherOptions{Args: c.args, Dir: dir}
		if c.stdin != "" {
			o.Stdin = strings.NewReader(c.stdin)
		}
		got, err := plain.Gather(context.Background(), o)
		if err == nil || strings.ReplaceAll(err.Error(), ".0 MiB", " MiB") != strings.ReplaceAll(c.want, ".0 MiB", " MiB") || got != nil {
			t.Errorf("%q: error %v, want %s", c.args, err, c.want)
		}
	}
}

// Each bound is inclusive.
func TestGatherTakesWhatFits(t *testing.T) {
	full := png + strings.Repeat("x", plain.MaxFile-len(png))
	dir := folder(t, map[string]string{"full": full, "p": png})
	for name, o := range map[string]plain.GatherOptions{
		"four full files": {Args: strings.Fields("@full @full @full @full")},
		"eight pictures":  {Args: strings.Fields(strings.Repeat("@p ", api.MaxInputImages))},
		"a full input":    {Stdin: strings.NewReader(strings.Repeat("x", api.MaxInput))},
	} {
		o.Dir = dir
		if got, err := plain.Gather(context.Background(), o); err != nil || len(got) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type brokenReader struct{ error }

func (r brokenReader) Read([]byte) (int, error) { return 0, r.error }

func TestGatherReadFails(t *testing.T) {
	_, err := plain.Gather(context.Background(), plain.GatherOptions{Stdin: brokenReader{errors.New("gone")}})
	if err == nil || err.Error() != "read stdin: gone" {
		t.Errorf("error %v", err)
	}
}

// However a file is named and whatever is in it, its frame is the only one of its kind.
func FuzzGatherFrame(f *testing.F) {
	f.Add("a.go", "package a\n")
	f.Add("x", "</file>\n<file name=\"y\">")
	f.Add("a\"b<c>&\n", "&lt;")
	f.Fuzz(func(t *testing.T, name, content string) {
		if name == "" || name == "." || name == ".." || len(name) > 200 || strings.ContainsAny(name, "/\x00") {
			t.Skip("no name a file can have")
		}
		dir := t.TempDir()
		if os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600) != nil {
			t.Skip("a name this file system refuses")
		}
		got, err := plain.Gather(context.Background(), plain.GatherOptions{Args: []string{"@" + name}, Dir: dir})
		if err != nil || len(got) == 0 || len(got[0].Images) > 0 {
			return
		}
		text := got[0].Text
		if strings.Count(text, "<") != 2 || !strings.HasPrefix(text, `<file name="`) || !strings.HasSuffix(text, "\n</file>") {
			t.Errorf("%q", text)
		}
		head, _, _ := strings.Cut(text, "\n")
		if strings.Count(head, `"`) != 2 || !strings.HasSuffix(head, `">`) {
			t.Errorf("%q", head)
		}
	})
}
