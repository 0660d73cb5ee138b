package markdown

import "strings"

// htmlEnd is where a block of HTML ends (CommonMark 4.6).
type htmlEnd uint8

const (
	htmlNone      htmlEnd = iota
	htmlScript            // at the end of script, pre, style or textarea
	htmlComment           // at -->
	htmlProcessed         // at ?>
	htmlDeclared          // at >
	htmlData              // at ]]>
	htmlBlank             // before an empty line
)

// htmlStart says what block of HTML a line begins.
func htmlStart(s string, inParagraph bool) htmlEnd {
	switch {
	case len(s) < 2:
		return htmlNone
	case strings.HasPrefix(s, "<!--"):
		return htmlComment
	case strings.HasPrefix(s, "<?"):
		return htmlProcessed
	case strings.HasPrefix(s, "<![CDATA["):
		return htmlData
	case len(s) > 2 && s[1] == '!' && isLetter(s[2]):
		return htmlDeclared
	}
	name := strings.TrimPrefix(s[1:], "/")
	end := 0
	for end < len(name) && (isLetter(name[end]) || isDigit(name[end])) {
		end++
	}
	name, rest := strings.ToLower(name[:min(end, longestTag+1)]), name[end:]
	opening := s[1] != '/'
	if ended := rest == "" || rest[0] == ' ' || rest[0] == '>'; ended && opening && isVerbatimTag(name) {
		return htmlScript
	} else if (ended || strings.HasPrefix(rest, "/>")) && isBlockTag(name) {
		return htmlBlank
	}
	if n := tagLength(s); !inParagraph && n > 0 && spaces(s[n:]) == len(s)-n && !(opening && isVerbatimTag(name)) {
		return htmlBlank
	}
	return htmlNone
}

// endedBy reports whether a block ends with this line.
func (e htmlEnd) endedBy(s string) bool {
	switch e {
	case htmlScript:
		s = strings.ToLower(s)
		return strings.Contains(s, "</script>") || strings.Contains(s, "</pre>") || strings.Contains(s, "</style>") ||
			strings.Contains(s, "</textarea>")
	case htmlComment:
		return strings.Contains(s, "-->")
	case htmlProcessed:
		return strings.Contains(s, "?>")
	case htmlDeclared:
		return strings.Contains(s, ">")
	case htmlData:
		return strings.Contains(s, "]]>")
	}
	return false
}

func isVerbatimTag(name string) bool {
	return name == "script" || name == "pre" || name == "style" || name == "textarea"
}

const longestTag = len("blockquote")

// isBlockTag reports whether a tag begins a block of HTML even in the middle of a paragraph (CommonMark 4.6, the sixth kind).
func isBlockTag(name string) bool {
	switch name {
	case "address", "article", "aside", "base", "basefont", "blockquote", "body", "caption", "center", "col", "colgroup", "dd",
		"details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frame", "frameset",
		"h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "iframe", "legend", "li", "link", "main", "menu",
		"menuitem", "nav", "noframes", "ol", "optgroup", "option", "p", "param", "search", "section", "summary", "table", "tbody",
		"td", "tfoot", "th", "thead", "title", "tr", "track", "ul":
		return true
	}
	return false
}

// tagLength is the length of the tag that s begins with, 0 for none: one that opens or closes an element (CommonMark 6.6).
func tagLength(s string) int {
	i := 1
	closing := i < len(s) && s[i] == '/'
	if closing {
		i++
	}
	if i == len(s) || !isLetter(s[i]) {
		return 0
	}
	for i < len(s) && (isLetter(s[i]) || isDigit(s[i]) || s[i] == '-') {
		i++
	}
	for {
		gap := blanks(s[i:])
		i += gap
		switch {
		case i == len(s):
			return 0
		case s[i] == '>':
			return i + 1
		case closing:
			return 0
		case s[i] == '/':
			if i+1 < len(s) && s[i+1] == '>' {
				return i + 2
			}
			return 0
		case gap == 0:
			return 0
		}
		n := attributeLength(s[i:])
		if n == 0 {
			return 0
		}
		i += n
	}
}

// attributeLength is the length of the attribute that s begins with, value included, 0 for none.
func attributeLength(s string) int {
	if !isLetter(s[0]) && s[0] != '_' && s[0] != ':' {
		return 0
	}
	i := 1
	for i < len(s) && (isLetter(s[i]) || isDigit(s[i]) || strings.IndexByte("_.:-", s[i]) >= 0) {
		i++
	}
	value := i + blanks(s[i:])
	if value == len(s) || s[value] != '=' {
		return i
	}
	value++
	value += blanks(s[value:])
	if value == len(s) {
		return 0
	}
	if quote := s[value]; quote == '"' || quote == '\'' {
		n := strings.IndexByte(s[value+1:], quote)
		if n < 0 {
			return 0
		}
		return value + 1 + n + 1
	}
	n := strings.IndexAny(s[value:], " \n\"'=<>`")
	if n < 0 {
		n = len(s) - value
	}
	if n == 0 {
		return 0
	}
	return value + n
}

// blanks counts the spaces and line feeds that s begins with.
func blanks(s string) int {
	n := 0
	for n < len(s) && (s[n] == ' ' || s[n] == '\n') {
		n++
	}
	return n
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isPunct(c byte) bool {
	return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
}
