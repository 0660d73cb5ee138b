package composition

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"octavo/ext"
)

const (
	// MaxTools is how many tools a composition offers a model.
	MaxTools = 256
	// MaxCommandName is how long the name of a command may be after its slash, in bytes.
	MaxCommandName = 64
)

// toolName is what every wire accepts as the name of a tool.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// claims are the names that are taken, each with the extension that has it.
type claims struct {
	extensions map[string]bool
	tools      map[string]string
	commands   map[string]string
}

func newClaims() claims {
	return claims{map[string]bool{}, map[string]string{}, map[string]string{}}
}

// name takes an extension's own name. It stays taken whatever becomes of the extension.
func (c claims) name(name string) error {
	if strings.TrimSpace(name) == "" {
		return errors.New("it has no name")
	}
	if c.extensions[name] {
		return errors.New("another extension before it has the same name")
	}
	c.extensions[name] = true
	return nil
}

// take takes the names that p contributes, all or none (plugins.md 2.5).
func (c claims) take(p part) error {
	mine := newClaims()
	for _, g := range p.gives {
		for _, t := range g.Tools {
			if err := checkTool(t); err != nil {
				return err
			}
			if err := free("tool", t.Name, c.tools, mine.tools); err != nil {
				return err
			}
			mine.tools[t.Name] = p.extension.Name
			if len(c.tools)+len(mine.tools) > MaxTools {
				return fmt.Errorf("with its tools there would be more than %d", MaxTools)
			}
		}
		for _, k := range g.Commands {
			if err := checkCommand(k); err != nil {
				return err
			}
			if err := free("command", k.Name, c.commands, mine.commands); err != nil {
				return err
			}
			mine.commands[k.Name] = p.extension.Name
		}
	}
	maps.Copy(c.tools, mine.tools)
	maps.Copy(c.commands, mine.commands)
	return nil
}

func free(kind, name string, taken, mine map[string]string) error {
	if owner, ok := taken[name]; ok {
		return fmt.Errorf("the %s %s is taken by %s", kind, name, owner)
	}
	if _, ok := mine[name]; ok {
		return fmt.Errorf("the %s %s is declared twice", kind, name)
	}
	return nil
}

func checkTool(t ext.Tool) error {
	if !toolName.MatchString(t.Name) {
		return fmt.Errorf("%.100q is no name for a tool: 1 to 64 of A-Z a-z 0-9 _ -", t.Name)
	}
	if t.Intent == nil || t.Invoke == nil {
		return fmt.Errorf("the tool %s lacks its intent or its function", t.Name)
	}
	return nil
}

func checkCommand(k ext.Command) error {
	word, slash := strings.CutPrefix(k.Name, "/")
	if !slash || word == "" || len(word) > MaxCommandName || !utf8.ValidString(word) || strings.ContainsFunc(word, unprintable) {
		return fmt.Errorf("%.100q is no name for a command: a slash and one printable word of at most %d bytes", k.Name, MaxCommandName)
	}
	if k.Run == nil {
		return fmt.Errorf("the command %s lacks its function", k.Name)
	}
	return nil
}

func unprintable(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }
