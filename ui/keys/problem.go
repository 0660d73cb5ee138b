package keys

import (
	"cmp"
	"fmt"
	"slices"
)

// Problem is a line of keys.toml, or a shortcut of an extension, that has no effect. It stops nothing: octavo keeps the keys it
// had.
type Problem struct {
	Source       string // the file as Parse was told, or the extension
	Line, Column int    // from 1, Column in bytes; 0 when no place is known
	Name         string // the action or the key that is meant; "" when the whole source is
	Text         string // what is wrong and what to do
}

// String is one line for a person.
func (p Problem) String() string {
	place := p.Source
	if p.Line > 0 {
		place = fmt.Sprintf("%s:%d:%d", place, p.Line, p.Column)
	}
	if p.Name == "" {
		return place + ": " + p.Text
	}
	return place + ": " + p.Name + " " + p.Text
}

// MaxProblems bounds the problems of one keys.toml; the last one says how many more there are.
const MaxProblems = 20

// bounded cuts a list of problems.
func bounded(all []Problem) []Problem {
	if len(all) <= MaxProblems {
		return all
	}
	rest := Problem{Source: all[0].Source, Text: fmt.Sprintf("%d more problems", len(all)-MaxProblems+1)}
	return append(all[:MaxProblems-1:MaxProblems-1], rest)
}

// inOrder sorts problems as their lines are in the file.
func inOrder(all []Problem) []Problem {
	slices.SortStableFunc(all, func(a, b Problem) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	return all
}
