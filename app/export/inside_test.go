package export

// Bounds and words for the tests of the package.
const (
	MaxContents = maxContents
	MaxOpenDiff = maxOpenDiff
	MaxMarkdown = maxMarkdown
	MaxMarks    = maxMarks
	MaxKey      = maxKey
	MaxTitle    = maxTitle
	MaxHeading  = maxHeading
	Redacted    = redacted
)

var (
	Style  = style
	Opener = opener
)

// Document and its parts as types, for the test that holds docs/export.md against their fields.
var Documented = []any{totals{}, image{}}
