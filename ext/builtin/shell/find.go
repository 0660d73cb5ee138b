package shell

import (
	"slices"
	"strings"
)

// The parts of an expression of find that only look. Not among them: -exec, -ok, -delete and the likes of -fprint, and what
// follows symbolic links.
var (
	findPlain = strings.Fields("-P ! -not -a -and -o -or ( ) , -print -print0 -ls -prune -quit -true -false -empty -depth -daystart " +
		"-xdev -mount -nouser -nogroup -readable -writable -executable -noleaf -warn -nowarn")
	findWorded = strings.Fields("-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -maxdepth -mindepth " +
		"-size -mtime -mmin -atime -amin -ctime -cmin -perm -user -group -uid -gid -links -inum -printf -newermt")
	findPaths = strings.Fields("-newer -anewer -cnewer -samefile")
)

// finds judges a call of find: paths, then an expression, of which every part is known.
func finds(j *judge, args []arg) bool {
	expression := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !expression && j.operand(a) && a.text != "" && !(a.exact() && strings.Contains("!(),", a.text)) {
			if !j.inside(a) {
				return false
			}
			continue
		}
		expression = true
		if !a.exact() {
			return false
		}
		value := slices.Contains(findWorded, a.text)
		path := slices.Contains(findPaths, a.text)
		if !value && !path {
			if !slices.Contains(findPlain, a.text) {
				return false
			}
			continue
		}
		if i++; i >= len(args) || !args[i].exact() || path && !j.inside(args[i]) {
			return false
		}
	}
	return true
}
