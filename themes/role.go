package themes

import (
	"slices"
	"strings"
)

// Role is what a piece of the screen is for. The list is closed, but for extension.<namespace>.<role> (ui.md 15).
type Role string

const (
	RoleText     Role = "text"
	RoleMuted    Role = "muted"
	RoleSubtle   Role = "subtle"
	RoleAccent   Role = "accent"
	RoleHeading  Role = "heading"
	RoleEmphasis Role = "emphasis"
	RoleStrong   Role = "strong"
	RoleLink     Role = "link"
	RoleCode     Role = "code"
	RoleQuote    Role = "quote"
	RoleBorder   Role = "border"
	RoleRule     Role = "rule"

	RoleSelection Role = "selection"
	RoleFocus     Role = "focus"
	RoleMatch     Role = "match"

	RoleSuccess Role = "success"
	RoleWarning Role = "warning"
	RoleError   Role = "error"

	RoleToneActive  Role = "tone.active"
	RoleToneWarning Role = "tone.warning"
	RoleToneMuted   Role = "tone.muted"

	RoleStateActive  Role = "state.active"
	RoleStateSuccess Role = "state.success"
	RoleStateWarning Role = "state.warning"
	RoleStateError   Role = "state.error"

	RolePrompt   Role = "prompt"
	RoleComposer Role = "composer"
	RoleHeader   Role = "header"
	RoleFooter   Role = "footer"
	RoleBadge    Role = "badge"
	RoleKey      Role = "key"

	RoleDiffAdd     Role = "diff.add"
	RoleDiffRemove  Role = "diff.remove"
	RoleDiffContext Role = "diff.context"
	RoleDiffHunk    Role = "diff.hunk"

	RoleSyntaxComment  Role = "syntax.comment"
	RoleSyntaxKeyword  Role = "syntax.keyword"
	RoleSyntaxFunction Role = "syntax.function"
	RoleSyntaxString   Role = "syntax.string"
	RoleSyntaxNumber   Role = "syntax.number"
	RoleSyntaxType     Role = "syntax.type"
	RoleSyntaxOperator Role = "syntax.operator"
)

// MaxRole bounds the name of an extension's role, in bytes (ui.md 15).
const MaxRole = 96

// roleRow is one closed role.
type roleRow struct {
	role   Role
	parent Role // gives what a theme leaves out; it stands further up in the table, and only text has none
	mark   bool // a line or a bar, which needs less contrast than words
	bare   bare // what it has without colour at least
	about  string
}

// bare is what sets a role apart where there is no colour.
type bare uint8

const (
	bareBold bare = 1 << iota
	bareDim
	bareItalic
	bareUnderline
	bareInverse
)

// roles are the closed roles in the order of ui.md 15. The first is what everything else inherits from.
var roles = [...]roleRow{
	{role: RoleText, about: "ordinary words; its background is painted under the whole screen"},
	{role: RoleMuted, parent: RoleText, bare: bareDim, about: "words that can wait"},
	{role: RoleSubtle, parent: RoleMuted, bare: bareDim, about: "words that nearly vanish"},
	{role: RoleAccent, parent: RoleText, about: "the one colour that leads the eye"},
	{role: RoleHeading, parent: RoleAccent, bare: bareBold, about: "titles and headings"},
	{role: RoleEmphasis, parent: RoleText, bare: bareItalic, about: "emphasis in prose"},
	{role: RoleStrong, parent: RoleText, bare: bareBold, about: "strong emphasis in prose"},
	{role: RoleLink, parent: RoleAccent, bare: bareUnderline, about: "addresses and references"},
	{role: RoleCode, parent: RoleText, about: "code within prose, and code without a language"},
	{role: RoleQuote, parent: RoleMuted, bare: bareDim, about: "quoted prose"},
	{role: RoleBorder, parent: RoleSubtle, mark: true, bare: bareDim, about: "frames of panels and tables"},
	{role: RoleRule, parent: RoleBorder, mark: true, bare: bareDim, about: "lines between regions"},

	{role: RoleSelection, parent: RoleText, bare: bareInverse, about: "selected text and rows"},
	{role: RoleFocus, parent: RoleAccent, mark: true, bare: bareBold, about: "the bar at the highlighted row"},
	{role: RoleMatch, parent: RoleAccent, bare: bareBold | bareUnderline, about: "what a filter or search hit"},

	{role: RoleSuccess, parent: RoleText, about: "it went well"},
	{role: RoleWarning, parent: RoleText, about: "look at this"},
	{role: RoleError, parent: RoleText, bare: bareBold, about: "it failed"},

	{role: RoleToneActive, parent: RoleAccent, about: "glyph and badge of an active row of a page"},
	{role: RoleToneWarning, parent: RoleWarning, about: "glyph and badge of a row that needs care"},
	{role: RoleToneMuted, parent: RoleMuted, bare: bareDim, about: "glyph, badge and text of a settled row"},

	{role: RoleStateActive, parent: RoleAccent, about: "glyph of what runs"},
	{role: RoleStateSuccess, parent: RoleSuccess, about: "glyph of what succeeded"},
	{role: RoleStateWarning, parent: RoleWarning, about: "glyph of what was cancelled or degraded"},
	{role: RoleStateError, parent: RoleError, bare: bareBold, about: "glyph of what failed"},

	{role: RolePrompt, parent: RoleAccent, bare: bareBold, about: "what you said, and its chevron"},
	{role: RoleComposer, parent: RoleText, about: "what you are typing"},
	{role: RoleHeader, parent: RoleMuted, bare: bareDim, about: "the line at the top"},
	{role: RoleFooter, parent: RoleMuted, bare: bareDim, about: "the line at the bottom, hints included"},
	{role: RoleBadge, parent: RoleMuted, bare: bareDim, about: "badges, ids and counts"},
	{role: RoleKey, parent: RoleText, about: "the keys in hints"},

	{role: RoleDiffAdd, parent: RoleSuccess, bare: bareBold, about: "lines that are new"},
	{role: RoleDiffRemove, parent: RoleError, about: "lines that go"},
	{role: RoleDiffContext, parent: RoleText, about: "lines that stay"},
	{role: RoleDiffHunk, parent: RoleMuted, bare: bareDim, about: "headings of hunks, line numbers"},

	{role: RoleSyntaxComment, parent: RoleMuted, bare: bareDim, about: "comments in code"},
	{role: RoleSyntaxKeyword, parent: RoleAccent, about: "keywords"},
	{role: RoleSyntaxFunction, parent: RoleText, about: "names of functions"},
	{role: RoleSyntaxString, parent: RoleSuccess, about: "strings"},
	{role: RoleSyntaxNumber, parent: RoleWarning, about: "numbers and constants"},
	{role: RoleSyntaxType, parent: RoleCode, about: "names of types"},
	{role: RoleSyntaxOperator, parent: RoleText, about: "operators and punctuation"},
}

// Roles lists the closed roles in the order of the documents. The slice is the caller's.
func Roles() []Role {
	all := make([]Role, len(roles))
	for i, row := range roles {
		all[i] = row.role
	}
	return all
}

// Parent is the role that gives what a theme leaves out of r: "" for text, text for the roles of extensions.
func (r Role) Parent() Role {
	if i, ok := roleIndex()[r]; ok {
		return roles[i].parent
	}
	return RoleText
}

// isExtension reports whether r can be a role of an extension: extension, a namespace and one part or more, joined with dots,
// each of a-z 0-9 - _.
func (r Role) isExtension() bool {
	rest, ok := strings.CutPrefix(string(r), "extension.")
	if !ok || len(r) > MaxRole {
		return false
	}
	parts := strings.Split(rest, ".")
	return len(parts) >= 2 && !slices.ContainsFunc(parts, func(part string) bool {
		return part == "" || strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789-_") != ""
	})
}
