package keys

// Context is where the keyboard goes, or a state that changes what a key there does. A screen gives Match the contexts that hold,
// innermost first, and nothing of what lies beneath an overlay: [Popup, Composer, Chat, Global] while suggestions are open,
// [Filter, List, Global] in a picker, [Confirm] alone while a question is asked.
type Context uint8

const (
	Global     Context = iota // everywhere; the last of every list but that of a question
	Chat                      // the conversation, whatever has focus in it
	Composer                  // the draft has focus
	Popup                     // suggestions are open below the draft
	Normal                    // the draft in vim's normal mode, in the place of Composer
	Transcript                // a block of the transcript has focus, in the place of Composer
	Waiting                   // an approval waits and has no focus; before all others
	Approval                  // an approval has focus
	List                      // rows of a page, a picker or a screen of the host
	Narrowed                  // a filter has text; before Filter, PageFilter and List
	PageFilter                // the filter of a page, which opens and closes; before Filter
	Filter                    // the field of a filter has focus; before List
	Detail                    // the pane beside or below a list has focus; before Reader
	Reader                    // text to scroll: a detail, a report, a diff
	Inspector                 // the transcript of a worker; before Reader
	Search                    // the field of a search in a text has focus
	Form                      // a form, with its field before it
	Field                     // a field of one line has focus
	Area                      // a field of several lines has focus
	Secret                    // a masked field has focus
	Choice                    // a field with options, or one that is on or off, has focus
	Confirm                   // a question in the footer, alone
	contextCount
)

// contextRow is what the rules need to know of a context.
type contextRow struct {
	title string // a heading
	where string // goes on after a key
	text  bool   // characters belong to its text and go no further
	typed bool   // a text field is nearly always before it, so that a character of its own would seldom arrive
	list  bool   // arrows move in it, whatever anybody binds
}

var contextRows = [contextCount]contextRow{
	Global:     {title: "Everywhere", where: "everywhere"},
	Chat:       {title: "Chat", where: "in the chat", typed: true},
	Composer:   {title: "Composer", where: "in the composer", text: true},
	Popup:      {title: "Suggestions", where: "in suggestions", text: true, list: true},
	Normal:     {title: "Composer, normal mode", where: "in normal mode"},
	Transcript: {title: "Transcript", where: "in the transcript", list: true},
	Waiting:    {title: "While an approval waits", where: "while an approval waits"},
	Approval:   {title: "Approval", where: "in an approval", list: true},
	List:       {title: "Lists and pages", where: "in lists", list: true},
	Narrowed:   {title: "Filtered lists", where: "in a filtered list"},
	PageFilter: {title: "Filter of a page", where: "in the filter of a page"},
	Filter:     {title: "Filter", where: "in a filter", text: true},
	Detail:     {title: "Detail", where: "in a detail"},
	Reader:     {title: "Reader", where: "in a reader"},
	Inspector:  {title: "Transcript of a worker", where: "in the transcript of a worker"},
	Search:     {title: "Search", where: "in a search", text: true},
	Form:       {title: "Form", where: "in a form", typed: true},
	Field:      {title: "Text field", where: "in a text field", text: true},
	Area:       {title: "Text area", where: "in a text area", text: true},
	Secret:     {title: "Secret field", where: "in a secret field", text: true},
	Choice:     {title: "Options", where: "in options", list: true},
	Confirm:    {title: "Question", where: "in a question"},
}

// String is a heading for people.
func (c Context) String() string {
	if c < contextCount {
		return contextRows[c].title
	}
	return "unknown"
}

// Contexts lists them all, in the order of the documents. The slice is the caller's.
func Contexts() []Context {
	all := make([]Context, contextCount)
	for i := range all {
		all[i] = Context(i)
	}
	return all
}

// Shared lists of contexts in the table.
var (
	writing  = []Context{Composer, Area, Field, Filter, Search, Secret}
	words    = []Context{Composer, Area, Field, Filter, Search} // in a secret a word would be told apart
	prose    = []Context{Composer, Area, Field}
	drafts   = []Context{Composer, Area}
	lines    = []Context{Composer, Area, Field, Secret}
	selected = []Context{Chat, List, Reader, Area, Field}
)
