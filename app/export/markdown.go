package export

import (
	"fmt"
	"strings"

	"octavo/app/api"
	"octavo/pages"
	"octavo/pages/text"
	"octavo/render"
)

// markdownPage writes a session as Markdown that reads well as it is, and in GitHub. What was said stands as it was written, as far
// as it cannot reach beyond itself (contained); pictures are named and not in it.
type markdownPage struct {
	*output
	session Session
	speaker string // of the newest heading
	model   string // named last
}

const (
	you    = "You"
	octavo = "octavo"
)

// paragraph writes s and sets it apart from what follows.
func (p *markdownPage) paragraph(s string) {
	if s != "" {
		p.WriteString(s)
		p.WriteString("\n\n")
	}
}

func (p *markdownPage) head() {
	p.paragraph("# " + inline(title(p.session.Info)))
	p.WriteString("| | |\n|---|---|\n")
	first, more := facts(p.session, p.hide.once != nil)
	for _, f := range append(first, more...) {
		fmt.Fprintf(p, "| %s | %s |\n", f.name, inline(f.value))
	}
	p.WriteByte('\n')
}

func (p *markdownPage) turn() { p.speaker = "" }

// says writes a heading when another one speaks.
func (p *markdownPage) says(who string) {
	if p.speaker != who {
		p.speaker = who
		p.paragraph("## " + who)
	}
}

func (p *markdownPage) prompt(e api.Entry) {
	who := you
	if e.Origin == steered {
		who += ", meanwhile"
	}
	p.speaker = "" // each prompt has a heading
	p.says(who)
	if e.Display == "" {
		p.paragraph(contained(said(e)))
	} else {
		p.paragraph(contained(e.Display))
		if full := said(e); full != e.Display {
			p.folded("What the model read", fenced(block(full), ""))
		}
	}
	p.pictures(e)
}

func (p *markdownPage) answer(e api.Entry) {
	p.says(octavo)
	if model := text.CleanLine(e.Model); model != "" && model != p.model {
		p.model = model
		p.paragraph("*" + inline(model) + "*")
	}
	// Texts that follow one another are one: apart, the second could go on with a list of the first.
	var texts []string
	for _, part := range e.Parts {
		switch {
		case part.Text == "":
		case part.Type == api.PartReasoning:
			p.paragraph(contained(strings.Join(texts, "\n\n")))
			texts = nil
			p.folded("Reasoning", contained(part.Text))
		default:
			texts = append(texts, part.Text)
		}
	}
	p.paragraph(contained(strings.Join(texts, "\n\n")))
	p.pictures(e)
	if e.Kind == api.EntryPartial {
		p.paragraph("*Interrupted here.*")
	}
}

// folded writes what is closed at first. The empty lines have its inside read as Markdown.
func (p *markdownPage) folded(name, inside string) {
	if inside != "" {
		p.paragraph("<details><summary>" + name + "</summary>\n\n" + inside + "\n\n</details>")
	}
}

func (p *markdownPage) ran(e api.Entry) {
	p.says(runBy(e))
	p.told(*e.Call, &e)
}

func (p *markdownPage) call(c api.Call, e *api.Entry) {
	p.says(octavo)
	p.told(c, e)
}

// told writes a call and what it gave.
func (p *markdownPage) told(c api.Call, e *api.Entry) {
	p.paragraph("### " + code(callTitle(c)) + " - " + inline(callState(e).word))
	if args, valid := indented(c.Arguments); valid {
		p.paragraph(fenced(clean(args), "json"))
	} else if c.Arguments != "" {
		p.paragraph(fenced(clean(args), ""))
	}
	if e == nil {
		return
	}
	if e.Result.Reason != "" {
		p.paragraph(quoted(contained(e.Result.Reason)))
	}
	out := programOutput(said(*e))
	p.display(e.Result.Display, callTitle(c), out)
	if out != "" && out != block(e.Result.Reason) {
		p.paragraph(fenced(out, ""))
	}
	p.pictures(*e)
}

// display shows what a result has for a person beyond the title of its call and its output.
func (p *markdownPage) display(d *pages.Display, title, out string) {
	if d == nil {
		return
	}
	if line := headline(d, title, out); line != "" {
		p.paragraph("*" + inline(line) + "*")
	}
	if d.Diff != nil {
		p.diff(*d.Diff)
	}
	if lines := programOutput(d.Text); !strings.Contains(out, lines) {
		p.paragraph(fenced(lines, ""))
	}
}

func (p *markdownPage) diff(d pages.Diff) {
	if words := changeWords(d); len(words) > 0 {
		p.paragraph(code(text.Visible(d.Path)) + ": " + strings.Join(words, ", "))
	}
	if len(d.Hunks) > 0 {
		// What nobody can see in a change is shown; what is in the file is for a person, not for patch.
		p.paragraph(fenced(strings.TrimSuffix(text.Visible(render.Unified(withoutReturns(d))), "\n"), "diff"))
	}
	if added, deleted := left(d); added+deleted > 0 {
		p.paragraph(fmt.Sprintf("*+%d −%d more not shown*", added, deleted))
	}
}

func (p *markdownPage) pictures(e api.Entry) {
	for _, i := range images(e) {
		line := fmt.Sprintf("![%s](%s)", inline(imageName(i)), address(i.SHA256))
		if size := imageSize(i); size != "" {
			line += " (" + inline(size) + ")"
		}
		p.paragraph(line)
	}
}

func (p *markdownPage) note(e api.Entry) {
	s := "**" + inline(noteName(e)) + ":** " + said(e)
	p.paragraph(quoted(contained(strings.TrimSpace(s))))
	p.pictures(e)
}

func (p *markdownPage) summary(e api.Entry) {
	p.says("What was before, in short")
	p.paragraph(contained(said(e)))
}

func (p *markdownPage) settled(e api.Entry) {
	s := *e.Settled
	line := "*" + inline(ending(s).word)
	if at := when(e.Time, p.session.Exported.Location()); at != "" {
		line += ", " + at
	}
	line += "*"
	for i, f := range s.Files {
		if i == 0 {
			line += "  \n"
		} else {
			line += ", "
		}
		line += code(text.CleanLine(f))
	}
	p.paragraph(line)
	if s.Error != "" {
		p.paragraph(quoted(contained(s.Error)))
	}
}

func (p *markdownPage) foot() {}

// inline writes a clean line as Markdown that shows it as it is.
func inline(line string) string {
	line = text.CleanLine(line)
	if !strings.ContainsAny(line, inlineMarks) {
		return line
	}
	var b strings.Builder
	for _, r := range line {
		if strings.ContainsRune(inlineMarks, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

const inlineMarks = "\\`*_[]<>|~&"

// address is a hash as the address of a picture. A foreign one could be anything.
func address(hash string) string {
	if hash == "" || strings.Trim(hash, base64Letters) != "" {
		return "#"
	}
	return hash
}

// code writes a clean line as code, whatever backquotes it has.
func code(line string) string {
	line = text.CleanLine(line)
	if strings.TrimSpace(line) == "" {
		return inline(line)
	}
	marks := strings.Repeat("`", longestRun(line, '`')+1)
	if strings.HasPrefix(line, "`") || strings.HasSuffix(line, "`") || strings.HasPrefix(line, " ") && strings.HasSuffix(line, " ") {
		line = " " + line + " "
	}
	return marks + line + marks
}

// fenced writes clean lines as a block of code, whose fence is longer than any run of backquotes in it.
func fenced(lines, language string) string {
	fence := strings.Repeat("`", max(3, longestRun(lines, '`')+1))
	return fence + language + "\n" + lines + "\n" + fence
}

func quoted(lines string) string {
	return "> " + strings.ReplaceAll(lines, "\n", "\n> ")
}

func longestRun(s string, c byte) int {
	run, longest := 0, 0
	for i := range len(s) {
		if s[i] != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
