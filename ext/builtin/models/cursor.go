package models

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// cursor walks through a JSON document without decoding it: of some thousand models in the refreshed catalogue a session needs one.
// What it skips it only takes apart at quotes and brackets; whoever decodes a value checks it.
type cursor struct {
	b  []byte
	at int
}

// object calls member with the name of each member of the object that begins here; member has to take the value, with object or
// value. Its error ends the walk.
func (c *cursor) object(member func(name string) error) error {
	if !c.take('{') {
		return c.expected("an object")
	}
	if c.take('}') {
		return nil
	}
	for {
		name, err := c.name()
		if err != nil {
			return err
		}
		if !c.take(':') {
			return c.expected("a colon")
		}
		if err := member(name); err != nil {
			return err
		}
		if c.take('}') {
			return nil
		}
		if !c.take(',') {
			return c.expected("a comma or the end of an object")
		}
	}
}

// value takes the value that begins here.
func (c *cursor) value() ([]byte, error) {
	c.space()
	begin, depth := c.at, 0
	for c.at < len(c.b) {
		switch c.b[c.at] {
		case '"':
			if !c.text() {
				return nil, c.expected("the end of a string")
			}
		case '{', '[':
			depth++
			c.at++
		case '}', ']':
			if depth == 0 {
				return nil, c.expected("a value")
			}
			depth--
			c.at++
		default:
			if depth == 0 {
				return c.word()
			}
			c.at++
			continue
		}
		if depth == 0 {
			return c.b[begin:c.at], nil
		}
	}
	return nil, c.expected("the end of a value")
}

// word takes a number, true, false or null.
func (c *cursor) word() ([]byte, error) {
	begin := c.at
	for c.at < len(c.b) && strings.IndexByte(",]} \t\r\n", c.b[c.at]) < 0 {
		c.at++
	}
	if c.at == begin {
		return nil, c.expected("a value")
	}
	return c.b[begin:c.at], nil
}

// name takes a string that names a member.
func (c *cursor) name() (string, error) {
	c.space()
	begin := c.at
	if c.at >= len(c.b) || c.b[c.at] != '"' || !c.text() {
		return "", c.expected("the name of a member")
	}
	raw := c.b[begin:c.at]
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw[1 : len(raw)-1]), nil
	}
	var name string
	if err := json.Unmarshal(raw, &name); err != nil {
		return "", c.expected("the name of a member")
	}
	return name, nil
}

// text takes the string whose opening quote is here, and reports whether it has an end.
func (c *cursor) text() bool {
	for from := c.at + 1; ; {
		i := bytes.IndexByte(c.b[from:], '"')
		if i < 0 {
			c.at = len(c.b)
			return false
		}
		end := from + i
		escaped := false
		for at := end - 1; at >= from && c.b[at] == '\\'; at-- {
			escaped = !escaped
		}
		from = end + 1
		if !escaped {
			c.at = from
			return true
		}
	}
}

// end reports whether nothing follows.
func (c *cursor) end() bool {
	c.space()
	return c.at == len(c.b)
}

// here is the next byte that counts, 0 at the end.
func (c *cursor) here() byte {
	if c.end() {
		return 0
	}
	return c.b[c.at]
}

func (c *cursor) take(b byte) bool {
	if c.here() != b {
		return false
	}
	c.at++
	return true
}

func (c *cursor) space() {
	for c.at < len(c.b) {
		switch c.b[c.at] {
		case ' ', '\t', '\r', '\n':
			c.at++
		default:
			return
		}
	}
}

func (c *cursor) expected(what string) error {
	if c.at >= len(c.b) {
		return fmt.Errorf("it breaks off after %d bytes, where %s was expected", len(c.b), what)
	}
	return fmt.Errorf("byte %d: %s was expected", c.at+1, what)
}
