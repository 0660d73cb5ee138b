package plain

import (
	"errors"
	"strings"

	"octavo/app/api"
)

// composer makes inputs of lines: one of each, except that a line ending in \ goes on with the next, and that the lines between a
// """ and the next, each alone on its line, belong together.
type composer struct {
	text  strings.Builder
	open  bool // something was typed that is not finished
	block bool // between """ and """
}

const fence = `"""`

var errLongInput = errors.New("the input is longer than 1 MiB and was dropped; put long text into a file and name the file")

// add takes the next line. done says that input is complete; block, that it stood between fences and so is no command.
func (c *composer) add(l string) (input string, block, done bool, err error) {
	if l == fence {
		if !c.block {
			c.open, c.block = true, true
			return "", true, false, nil
		}
		input = strings.TrimSuffix(c.text.String(), "\n")
		c.drop()
		return input, true, true, nil
	}
	more := c.block
	if !c.block {
		l, more = strings.CutSuffix(l, `\`)
	}
	if c.text.Len()+len(l) >= api.MaxInput {
		c.drop()
		return "", false, false, errLongInput
	}
	c.text.WriteString(l)
	if more {
		c.open = true
		c.text.WriteByte('\n')
		return "", c.block, false, nil
	}
	input = c.text.String()
	c.drop()
	return input, false, true, nil
}

// drop forgets what is unfinished. It reports whether there was any.
func (c *composer) drop() bool {
	was := c.open
	*c = composer{}
	return was
}
