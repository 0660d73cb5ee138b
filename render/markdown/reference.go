package markdown

import (
	"html"
	"maps"
	"net/url"
	"strings"

	"octavo/pages/text"
)

// definitions are the links that a text defines, by label. The first of a label counts.
type definitions struct {
	links  map[string]string
	sealed bool // nothing is added any more
}

// copied is a copy that grows by itself.
func (d *definitions) copied() *definitions { return &definitions{links: maps.Clone(d.links)} }

func (d *definitions) add(label, to string) {
	if _, known := d.links[label]; known || d.sealed || len(d.links) >= maxDefinitions {
		return
	}
	if d.links == nil {
		d.links = map[string]string{}
	}
	d.links[label] = to
}

// define takes the link definitions off the start of a paragraph.
func (p *parser) define(s string) string {
	for strings.HasPrefix(s, "[") {
		label, to, n := parseDefinition(s)
		if n == 0 {
			break
		}
		p.definitions.add(label, to)
		s = s[n:]
	}
	return s
}

// parseDefinition reads [label]: address "title" at the start of a paragraph. n is the length of its lines, 0 where there is none.
// Footnotes, which look like it, stay text.
func parseDefinition(s string) (label, to string, n int) {
	label, i := parseLabel(s)
	if i == 0 || strings.HasPrefix(label, "^") || i == len(s) || s[i] != ':' {
		return "", "", 0
	}
	i++
	if i += blanks(s[i:]); i == len(s) {
		return "", "", 0
	}
	to, size := parseAddress(s[i:])
	if size == 0 {
		return "", "", 0
	}
	i += size
	end := lineEnd(s, i)
	gap := blanks(s[i:])
	if title := titleLength(s[i+gap:]); gap > 0 && title > 0 {
		if titled := lineEnd(s, i+gap+title); titled > 0 {
			end = titled
		}
	}
	if end == 0 {
		return "", "", 0
	}
	return label, to, end
}

// lineEnd is where the next line begins if nothing but spaces stands behind i, 0 otherwise.
func lineEnd(s string, i int) int {
	i += spaces(s[i:])
	switch {
	case i == len(s):
		return i
	case s[i] == '\n':
		return i + 1
	}
	return 0
}

// parseLabel reads [label]. label is in the form in which labels are compared; n is 0 where there is none.
func parseLabel(s string) (label string, n int) {
	for i := 1; i < len(s) && i <= maxLabel+1; i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			return "", 0
		case ']':
			label = folded(s[1:i])
			if label == "" {
				return "", 0
			}
			return label, i + 1
		}
	}
	return "", 0
}

// folded is a label in the form in which labels are compared.
func folded(label string) string {
	label = strings.Trim(label, " \n")
	for i := range len(label) {
		if c := label[i]; c >= 0x80 || c == '\n' || 'A' <= c && c <= 'Z' || c == ' ' && label[i+1] == ' ' {
			label = strings.ToLower(strings.ToUpper(strings.Join(strings.Fields(label), " ")))
			return strings.ReplaceAll(label, "ß", "ss")
		}
	}
	return label
}

// parseAddress reads where a link leads, in angle brackets or not. n is 0 where there is nothing of the kind.
func parseAddress(s string) (to string, n int) {
	if s == "" {
		return "", 0
	}
	if s[0] == '<' {
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case '\n', '<':
				return "", 0
			case '>':
				return s[1:i], i + 1
			}
		}
		return "", 0
	}
	const deepest = 32
	depth, i := 0, 0
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && isPunct(s[i+1]):
			i++
		case c == '(':
			if depth++; depth > deepest {
				return "", 0
			}
		case c == ')':
			if depth == 0 {
				return s[:i], i
			}
			depth--
		case c <= ' ':
			if depth > 0 {
				return "", 0
			}
			return s[:i], i
		}
	}
	if depth > 0 {
		return "", 0
	}
	return s, i
}

// titleLength is the length of the title that s begins with, 0 for none.
func titleLength(s string) int {
	if s == "" {
		return 0
	}
	end := s[0]
	switch end {
	case '"', '\'':
	case '(':
		end = ')'
	default:
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case end:
			return i + 1
		case '(':
			if end == ')' {
				return 0
			}
		}
	}
	return 0
}

// unescape is what a text says once its backslashes and references, such as &amp;, are taken for what they mean. It may not be
// clean.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 && strings.IndexByte(s, '&') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && isPunct(s[i+1]):
			i++
		case s[i] == '&':
			if means, n := parseEntity(s[i:]); n > 0 {
				b.WriteString(means)
				i += n - 1
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// parseEntity reads &name; &#number; or &#xnumber;. n is 0 where there is none.
func parseEntity(s string) (means string, n int) {
	const longest = 33 // of a name, with & and ;
	end := strings.IndexByte(s[:min(len(s), longest)], ';')
	if end < 2 {
		return "", 0
	}
	name := s[1:end]
	if digits, ok := strings.CutPrefix(name, "#"); ok {
		most, allowed := 7, "0123456789"
		if digits != "" && digits[0]|0x20 == 'x' {
			digits, most, allowed = digits[1:], 6, "0123456789abcdefABCDEF"
		}
		if digits == "" || len(digits) > most || strings.Trim(digits, allowed) != "" {
			return "", 0
		}
	} else {
		for i := range len(name) {
			if !isLetter(name[i]) && !isDigit(name[i]) {
				return "", 0
			}
		}
	}
	// The library also knows names without a semicolon, of which it leaves the rest.
	means = html.UnescapeString(s[:end+1])
	if means == s[:end+1] || strings.HasSuffix(means, ";") && len(means) > 1 {
		return "", 0
	}
	return means, end + 1
}

// target is where a link leads.
type target struct {
	link  string // as a terminal may follow it, "" where it may not
	shown string // what a reader is told: the host, or an address that cannot be followed
}

// follow says where an address leads: into the web or to a mailbox, else nowhere.
func follow(address string) target {
	address = strings.Trim(address, " \n")
	scheme, rest, found := strings.Cut(address, ":")
	switch scheme = strings.ToLower(scheme); {
	case !found:
	case scheme == "mailto":
		if link := scheme + ":" + encoded(rest); len(link) <= maxLink {
			box, _, _ := strings.Cut(rest, "?")
			return target{link: link, shown: text.CleanLine(box)}
		}
	case scheme == "http", scheme == "https":
		link := scheme + ":" + encoded(rest)
		if u, err := url.Parse(link); err == nil && u.Hostname() != "" && len(link) <= maxLink {
			return target{link: link, shown: text.CleanLine(u.Hostname())}
		}
	}
	return target{shown: text.CleanLine(address)}
}

// encoded writes everything that an address may not have as %XX, so that it is printable ASCII.
func encoded(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// names reports whether a reader of a link's text is told the host by it: as a whole, not as a part of another.
func names(shown, host string) bool {
	host = strings.TrimPrefix(strings.ToLower(host), "www.")
	shown = strings.ToLower(shown)
	if host == "" {
		return true
	}
	for from := 0; ; {
		at := strings.Index(shown[from:], host)
		if at < 0 {
			return false
		}
		at += from
		before := strings.TrimSuffix(shown[:at], "www.")
		after := shown[at+len(host):]
		if !endsInHost(before) && !beginsInHost(after) {
			return true
		}
		from = at + 1
	}
}

func endsInHost(s string) bool {
	return s != "" && (isLetter(s[len(s)-1]) || isDigit(s[len(s)-1]) || strings.IndexByte("-._@", s[len(s)-1]) >= 0 || s[len(s)-1] >= 0x80)
}

// beginsInHost is about what follows a host: a dot at the end of a sentence is none of it.
func beginsInHost(s string) bool {
	if s = strings.TrimPrefix(s, "."); s == "" {
		return false
	}
	return isLetter(s[0]) || isDigit(s[0]) || s[0] == '-' || s[0] == '@' || s[0] >= 0x80
}
