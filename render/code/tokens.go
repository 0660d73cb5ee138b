package code

import (
	"github.com/alecthomas/chroma/v2"

	"octavo/themes"
)

// span is a part of a text that has a role, in bytes.
type span struct {
	from, to int
	role     themes.Role
}

// roles say what the tokens of chroma are. A type that has no row is what its subcategory is (LiteralString), then what its category is
// (Literal); what has none of them, as names have, is ordinary text.
var roles = map[chroma.TokenType]themes.Role{
	chroma.Keyword:         themes.RoleSyntaxKeyword,
	chroma.KeywordConstant: themes.RoleSyntaxNumber,
	chroma.KeywordType:     themes.RoleSyntaxType,

	chroma.NameAttribute:     themes.RoleSyntaxType,
	chroma.NameClass:         themes.RoleSyntaxType,
	chroma.NameConstant:      themes.RoleSyntaxNumber,
	chroma.NameDecorator:     themes.RoleSyntaxFunction,
	chroma.NameEntity:        themes.RoleSyntaxNumber,
	chroma.NameException:     themes.RoleSyntaxType,
	chroma.NameKeyword:       themes.RoleSyntaxKeyword,
	chroma.NameLabel:         themes.RoleSyntaxType,
	chroma.NameOperator:      themes.RoleSyntaxOperator,
	chroma.NameProperty:      themes.RoleSyntaxType,
	chroma.NamePseudo:        themes.RoleSyntaxKeyword,
	chroma.NameTag:           themes.RoleSyntaxKeyword,
	chroma.NameBuiltin:       themes.RoleSyntaxFunction,
	chroma.NameBuiltinPseudo: themes.RoleSyntaxKeyword,
	chroma.NameVariable:      themes.RoleSyntaxType,
	chroma.NameFunction:      themes.RoleSyntaxFunction,

	chroma.Literal:               themes.RoleSyntaxString,
	chroma.LiteralDate:           themes.RoleSyntaxNumber,
	chroma.LiteralStringAtom:     themes.RoleSyntaxNumber,
	chroma.LiteralStringBoolean:  themes.RoleSyntaxNumber,
	chroma.LiteralStringInterpol: themes.RoleSyntaxOperator,
	chroma.LiteralStringName:     themes.RoleSyntaxKeyword,
	chroma.LiteralStringSymbol:   themes.RoleSyntaxNumber,
	chroma.LiteralNumber:         themes.RoleSyntaxNumber,

	chroma.Operator:         themes.RoleSyntaxOperator,
	chroma.OperatorReserved: themes.RoleSyntaxKeyword,
	chroma.OperatorWord:     themes.RoleSyntaxKeyword,
	chroma.Punctuation:      themes.RoleSyntaxOperator,
	chroma.TextPunctuation:  themes.RoleSyntaxOperator,

	chroma.Comment:            themes.RoleSyntaxComment,
	chroma.CommentPreproc:     themes.RoleSyntaxKeyword,
	chroma.CommentPreprocFile: themes.RoleSyntaxString,

	chroma.GenericDeleted:    themes.RoleDiffRemove,
	chroma.GenericEmph:       themes.RoleEmphasis,
	chroma.GenericError:      themes.RoleError,
	chroma.GenericHeading:    themes.RoleHeading,
	chroma.GenericInserted:   themes.RoleDiffAdd,
	chroma.GenericPrompt:     themes.RoleSyntaxOperator,
	chroma.GenericStrong:     themes.RoleStrong,
	chroma.GenericSubheading: themes.RoleHeading,
	chroma.GenericTraceback:  themes.RoleError,
	chroma.GenericUnderline:  themes.RoleLink,
}

func roleOf(t chroma.TokenType) themes.Role {
	for _, t := range [...]chroma.TokenType{t, t.SubCategory(), t.Category()} {
		if role, ok := roles[t]; ok {
			return role
		}
	}
	return ""
}

// tokenise gives the parts of a text that have a role. It is not ok when the lexer panicked, when what it gave is not the text, letter by
// letter, and when stop said so, which is asked after each token.
func tokenise(lexer chroma.Lexer, source string, stop func() bool) (spans []span, ok bool) {
	defer func() {
		if recover() != nil {
			spans, ok = nil, false
		}
	}()
	// A text is a whole one to a lexer when its last line ends.
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, source+"\n")
	if err != nil {
		return nil, false
	}
	at := 0
	for t := next(); t != chroma.EOF; t = next() {
		if stop() {
			return nil, false
		}
		if t.Value == "" {
			continue
		}
		from, to := at, at+len(t.Value)
		if at = to; to > len(source) {
			// Only the newline added stands there.
			if to = len(source); at > to+1 || t.Value[len(t.Value)-1] != '\n' {
				return nil, false
			}
		}
		if from > to || t.Value[:to-from] != source[from:to] {
			return nil, false
		}
		role := roleOf(t.Type)
		switch last := len(spans) - 1; {
		case role == "" || from == to:
		case last >= 0 && spans[last].to == from && spans[last].role == role:
			spans[last].to = to
		default:
			spans = append(spans, span{from, to, role})
		}
	}
	if at < len(source) {
		return nil, false
	}
	return spans, true
}
