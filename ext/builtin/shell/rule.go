package shell

import (
	"slices"
	"strings"
)

// rule says which calls of one program are known to change nothing. Options that it does not list are not admitted, which also
// keeps out the abbreviations that GNU programs take.
type rule struct {
	short    string   // options of one letter without a value, in any combination
	valued   string   // of one letter with a value, in the same word or the next
	attached string   // of one letter with a value in the same word, or none
	long     []string // with two dashes; "name=" takes a value, which may be the next word, "name[=" only in the same
	digits   bool     // -5 is an option

	words    bool // operands are mere words, not paths, and may be known only when it runs
	patterns int  // so many leading operands are no paths, unless one of the options in patternBy stands for them
	most     int  // operands admitted at most; 0 for any number, -1 for none

	// check sees the operands, and the options as they were written, and has the last word.
	check func(options []string, operands []arg) bool
	// judge replaces all of the above.
	judge func(j *judge, args []arg) bool
}

// patternBy are options by which grep and its kin are given what they look for.
var patternBy = []string{"-e", "--regexp", "--files", "--type-list"}

// admit judges one call.
func (r rule) admit(j *judge, args []arg) bool {
	if r.judge != nil {
		return r.judge(j, args)
	}
	options, operands, ok := r.split(j, args)
	if !ok {
		return false
	}
	if r.most < 0 && len(operands) > 0 || r.most > 0 && len(operands) > r.most {
		return false
	}
	if r.check != nil && !r.check(options, operands) {
		return false
	}
	if r.words {
		return true
	}
	skip := r.patterns
	for _, o := range options {
		if slices.Contains(patternBy, o) {
			skip = 0
		}
	}
	for i, a := range operands {
		if i < skip {
			// A pattern that the shell expands, or that is only known later, may become more words than one.
			if !a.exact() && !a.loop {
				return false
			}
			continue
		}
		if !j.inside(a) {
			return false
		}
	}
	return true
}

// split tells options from operands. Every option comes back by itself, without its value. A value in a word of its own is
// judged as a path whatever it is: to another version of the program it may be an operand.
func (r rule) split(j *judge, args []arg) (options []string, operands []arg, ok bool) {
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		switch {
		case r.words && (a.dynamic || a.glob):
			if !j.isWord(a) {
				return nil, nil, false
			}
			operands = append(operands, a)
			continue
		case a.exact() && a.text == "--":
			for _, rest := range args {
				if rest.dynamic && !rest.loop && !(r.words && j.isWord(rest)) {
					return nil, nil, false
				}
			}
			return options, append(operands, args...), true
		case j.operand(a) || a.exact() && a.text == "-":
			operands = append(operands, a)
			continue
		case !a.exact():
			return nil, nil, false // it could become an option
		}
		read := r.cluster
		if strings.HasPrefix(a.text, "--") {
			read = r.name
		}
		found, next, ok := read(a.text)
		if !ok {
			return nil, nil, false
		}
		options = append(options, found...)
		if next {
			if len(args) == 0 || !args[0].exact() && !args[0].loop || !j.inside(args[0]) {
				return nil, nil, false
			}
			args = args[1:]
		}
	}
	return options, operands, true
}

// name reads an option of two dashes, and says whether its value is the next word.
func (r rule) name(word string) (options []string, next, ok bool) {
	name, _, joined := strings.Cut(word[2:], "=")
	options = []string{"--" + name}
	switch {
	case slices.Contains(r.long, name+"="):
		return options, !joined, true
	case slices.Contains(r.long, name+"[="):
		return options, false, true
	}
	return options, false, !joined && slices.Contains(r.long, name)
}

// cluster reads options of one letter that stand together, and says whether the value of the last is the next word.
func (r rule) cluster(word string) (options []string, next, ok bool) {
	word = word[1:]
	if r.digits && strings.Trim(word, "0123456789") == "" {
		return nil, false, true
	}
	for i := range len(word) {
		letter := word[i : i+1]
		options = append(options, "-"+letter)
		switch {
		case strings.Contains(r.short, letter):
		case strings.Contains(r.attached, letter):
			return options, false, true
		case strings.Contains(r.valued, letter):
			return options, i+1 == len(word), true
		default:
			return nil, false, false
		}
	}
	return options, false, true
}

// isWord reports whether a word tells nothing about what lies outside the workspace: as a pattern it lists names.
func (j *judge) isWord(a arg) bool { return !a.glob || j.inside(a) }
