package shell

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

const (
	// maxJudged is how long a command may be, in bytes, to be judged at all. What a person would have to scroll through is
	// asked about; and the parser's depth, which nesting decides, stays harmless.
	maxJudged = 4 << 10
	// maxMatches is how many files a pattern of names may stand for.
	maxMatches = 1000
)

// readOnly reports whether a command, run by bash in dir, is known to change nothing and to read only below workspace. Both are
// absolute, symbolic links resolved. No is the answer to everything that is not understood whole: other syntax, other
// programs, other options than the tables of rules.go have, and every word whose value depends on more than this text.
//
// It trusts the programs on PATH and the person's configuration of them, but not a git repository's (repository.go). A symbolic
// link that leads out of the workspace is found where a path is named, or matched by a pattern; links that a program meets by
// itself are not followed by the options that are allowed.
func readOnly(command, dir, workspace string) bool {
	if len(command) > maxJudged || !within(workspace, dir) || strings.ContainsFunc(command, odd) {
		return false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil || len(file.Stmts) == 0 {
		return false
	}
	j := &judge{dir: dir, workspace: workspace, loops: map[string]bool{}, repositories: map[string]bool{}}
	j.enter(file.Stmts[0])
	return j.stmts(file.Stmts)
}

// odd are the characters that this parser and a shell need not read alike: the one skips carriage returns and NULs, say, that the
// other keeps.
func odd(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == utf8.RuneError }

// judge walks over one command.
type judge struct {
	dir       string // where relative names begin
	workspace string
	first     *syntax.CallExpr // a cd at the very start, which dir has followed; any other is not understood
	loops     map[string]bool  // variables of the for loops around
	// repositories has, by directory, whether git only looks there.
	repositories map[string]bool
}

// enter follows "cd directory" when that comes before all else.
func (j *judge) enter(s *syntax.Stmt) {
	for {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok || b.Op != syntax.AndStmt || len(s.Redirs) > 0 {
			break
		}
		s = b.X
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) != 2 || len(call.Assigns) > 0 {
		return
	}
	name, ok := j.word(call.Args[0])
	to, ok2 := j.word(call.Args[1])
	if !ok || !ok2 || name.text != "cd" {
		return
	}
	dir, ok := j.directory(to)
	if !ok {
		return
	}
	j.dir, j.first = dir, call
}

// directory follows a word that names a directory inside the workspace.
func (j *judge) directory(a arg) (dir string, ok bool) {
	if !a.exact() || a.text == "" || a.text[0] == '-' || !j.inside(a) {
		return "", false
	}
	if dir = a.text; !filepath.IsAbs(dir) {
		dir = filepath.Join(j.dir, dir)
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", false
	}
	info, err := os.Stat(dir)
	return dir, err == nil && info.IsDir()
}

func (j *judge) stmts(all []*syntax.Stmt) bool {
	for _, s := range all {
		if !j.stmt(s) {
			return false
		}
	}
	return true
}

func (j *judge) stmt(s *syntax.Stmt) bool {
	if s.Background || s.Coprocess || s.Disown {
		return false
	}
	for _, r := range s.Redirs {
		if !j.redirect(r) {
			return false
		}
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return j.call(c)
	case *syntax.BinaryCmd:
		return j.stmt(c.X) && j.stmt(c.Y)
	case *syntax.Subshell:
		return j.stmts(c.Stmts)
	case *syntax.Block:
		return j.stmts(c.Stmts)
	case *syntax.TimeClause:
		return c.Stmt != nil && j.stmt(c.Stmt)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			if !j.stmts(c.Cond) || !j.stmts(c.Then) {
				return false
			}
		}
		return true
	case *syntax.ForClause:
		return j.loop(c)
	}
	return false
}

// redirect admits what writes nowhere.
func (j *judge) redirect(r *syntax.Redirect) bool {
	if r.N != nil && strings.Trim(r.N.Value, "0123456789") != "" {
		return false // {name}>file sets a variable
	}
	if r.Hdoc != nil {
		for _, p := range r.Hdoc.Parts {
			if _, ok := p.(*syntax.Lit); !ok {
				return false
			}
		}
		return true
	}
	to, ok := j.word(r.Word)
	if !ok || !to.exact() {
		return false
	}
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll:
		return to.text == os.DevNull
	case syntax.DplOut, syntax.DplIn:
		return to.text != "" && strings.Trim(to.text, "0123456789") == ""
	case syntax.RdrIn:
		return to.text == os.DevNull || j.inside(to)
	case syntax.WordHdoc:
		return true
	}
	return false
}

// loopName is what the variable of a loop may be called: in lower case, no program takes orders from it.
var loopName = regexp.MustCompile(`^[a-z][a-z0-9]{0,15}$`)

// loop admits "for name in words", with words that could stand as operands themselves.
func (j *judge) loop(c *syntax.ForClause) bool {
	over, ok := c.Loop.(*syntax.WordIter)
	if !ok || c.Select || !over.InPos.IsValid() || !loopName.MatchString(over.Name.Value) {
		return false
	}
	for _, w := range over.Items {
		a, ok := j.word(w)
		if !ok || a.dynamic || !j.operand(a) || !j.inside(a) {
			return false
		}
	}
	outer := j.loops[over.Name.Value]
	j.loops[over.Name.Value] = true
	defer func() { j.loops[over.Name.Value] = outer }()
	return j.stmts(c.Do)
}

func (j *judge) call(c *syntax.CallExpr) bool {
	if len(c.Assigns) > 0 || len(c.Args) == 0 {
		return false // a variable may be one that the shell or a program obeys
	}
	if c == j.first {
		return true
	}
	args := make([]arg, len(c.Args))
	for i, w := range c.Args {
		var ok bool
		if args[i], ok = j.word(w); !ok {
			return false
		}
	}
	if !args[0].exact() {
		return false
	}
	r, known := rules[args[0].text]
	return known && r.admit(j, args[1:])
}
