package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"octavo/app/api"
	"octavo/pages/text"
)

// What may be read into the first prompt, in bytes (product.md 1.1).
const (
	MaxGathered = 20 << 20 // stdin and all files together
	MaxFile     = 5 << 20  // one file
)

// GatherOptions is where prompts come from.
type GatherOptions struct {
	Args  []string  // positional arguments
	Stdin io.Reader // what is piped in; nil when stdin is a terminal or absent
	Dir   string    // what relative paths are relative to
	Home  string    // the person's home, for ~/; "" when there is none
}

// Gather makes prompts of a command line (product.md 1.1). What is piped in heads the first prompt, then come the files that @PATH
// arguments name, then its text: the first argument that is text. Each further text is a prompt of its own. Text files are inlined
// in <file> elements, PNG, JPEG, GIF and WebP pictures attached. It answers nothing when there is nothing to say.
//
// Up to MaxGathered bytes may be read, but what becomes text has to fit an input (api.MaxInput): more is an error that says so,
// because half a file would be worse than none. When ctx ends, reading does, and the error is ctx's cause.
func Gather(ctx context.Context, o GatherOptions) ([]api.Input, error) {
	var texts []string
	g := gathered{GatherOptions: o}
	if err := g.readStdin(ctx); err != nil {
		return nil, err
	}
	for _, arg := range o.Args {
		if path, ok := strings.CutPrefix(arg, "@"); ok && path != "" {
			if err := g.readFile(ctx, path); err != nil {
				return nil, err
			}
		} else if strings.TrimSpace(arg) != "" {
			texts = append(texts, arg)
		}
	}
	var first string
	if len(texts) > 0 {
		first, texts = texts[0], texts[1:]
	}
	var prompts []api.Input
	if in := g.input(first); in.Text != "" || len(in.Images) > 0 {
		prompts = append(prompts, in)
	}
	for _, t := range texts {
		prompts = append(prompts, api.Input{Kind: api.InputChat, Text: t})
	}
	for i, p := range prompts {
		if err := fits(p); err != nil {
			return nil, fmt.Errorf("prompt %d: %w", i+1, err)
		}
	}
	return prompts, nil
}

// fits says why an input would not be accepted.
func fits(in api.Input) error {
	switch {
	case len(in.Text) > api.MaxInput:
		return fmt.Errorf("it has %s with what was piped in and inlined, and at most %s fit; put long text into a file of the workspace "+
			"and name the file without @, so that the model reads what it needs of it", text.Bytes(int64(len(in.Text))), text.Bytes(api.MaxInput))
	case !utf8.ValidString(in.Text):
		return errors.New("it is not valid UTF-8")
	}
	return nil
}

// gathered is the first prompt as it comes together.
type gathered struct {
	GatherOptions
	total  int64    // bytes read
	blocks []string // what stands before the text
	names  []string // the same as a person would say it
	images []api.InputImage
}

const bom = "\ufeff"

func (g *gathered) readStdin(ctx context.Context) error {
	if g.Stdin == nil {
		return nil
	}
	b, err := until(ctx, g.Stdin, func() ([]byte, error) { return io.ReadAll(io.LimitReader(g.Stdin, MaxGathered+1)) })
	switch {
	case err != nil:
		return fmt.Errorf("read stdin: %w", err)
	case len(b) > MaxGathered:
		return fmt.Errorf("stdin has more than %s; pipe in less, or name a file of the workspace in the prompt", text.Bytes(MaxGathered))
	case !utf8.Valid(b):
		return errors.New("what is piped in is not UTF-8 text; a picture can be attached with @PATH")
	}
	g.total += int64(len(b))
	s := strings.TrimPrefix(string(b), bom)
	if strings.TrimSpace(s) == "" {
		return nil
	}
	g.blocks = append(g.blocks, s)
	g.names = append(g.names, "[stdin, "+text.Bytes(int64(len(s)))+"]")
	return nil
}

func (g *gathered) readFile(ctx context.Context, path string) error {
	b, err := readRegular(ctx, expand(path, g.Dir, g.Home), MaxFile)
	if err != nil {
		return fmt.Errorf("@%s: %w", path, err)
	}
	if g.total += int64(len(b)); g.total > MaxGathered {
		return fmt.Errorf("@%s: stdin and files have more than %s together; name large files without @ in the prompt", path, text.Bytes(MaxGathered))
	}
	if isPicture(b) {
		if len(g.images) == api.MaxInputImages {
			return fmt.Errorf("@%s: at most %d pictures can be attached to a prompt", path, api.MaxInputImages)
		}
		g.images = append(g.images, api.InputImage{Name: path, Data: b})
		g.names = append(g.names, "@"+path)
		return nil
	}
	s := strings.TrimPrefix(string(b), bom)
	switch {
	case !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0:
		return fmt.Errorf("@%s: neither UTF-8 text nor a PNG, JPEG, GIF or WebP picture", path)
	case s == "":
		return nil
	}
	g.blocks = append(g.blocks, element(path, s))
	g.names = append(g.names, "@"+path)
	return nil
}

var (
	escapeText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	escapeName = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\n", "&#10;", "\r", "&#13;", "\t", "&#9;")
)

// element frames a file so that nothing in it can look like the end of the frame.
func element(name, content string) string {
	return `<file name="` + escapeName.Replace(name) + "\">\n" + ended(escapeText.Replace(content)) + "</file>"
}

func (g *gathered) input(first string) api.Input {
	in := api.Input{Kind: api.InputChat, Images: g.images}
	blocks := g.blocks
	if first != "" {
		blocks = append(blocks, first)
	}
	for i, b := range blocks {
		if i > 0 {
			in.Text = strings.TrimRight(in.Text, "\n") + "\n\n"
		}
		in.Text += b
	}
	if len(g.names) > 0 {
		in.Display = strings.TrimSpace(strings.Join(g.names, " ") + "\n" + first)
	}
	return in
}
