package keys

import "slices"

// Binding is an action with its keys.
type Binding struct {
	Action   Action
	Contexts []Context
	Keys     []string // canonical, see Normalise; the first is the one that hints show. None: unbound until keys.toml binds it
	About    string   // what it does
	Label    string   // the same in a word or two, for a footer
	Footer   Rank     // where in a footer; Hidden for none
	Repeat   bool     // it also acts while a key is held down: only what moves or edits does (ui.md 13)

	vim bool // only with vim = true
}

// Rank is the place of a hint in a footer. Lower ranks come first and stay longest.
type Rank uint8

const (
	Hidden     Rank = 0
	RankMove   Rank = 10
	RankMain   Rank = 20
	RankAction Rank = 30 // also of the actions of a page
	RankView   Rank = 40
	RankOut    Rank = 100 // the way out, of which a footer has one
)

// bindings are the defaults (ui.md 13, product.md 2.5). An action has one row. The same key may be there in two contexts: the inner
// one has it.
var bindings = [...]Binding{
	{Action: CursorUp, Contexts: drafts, Keys: []string{"up"}, About: "a row up; from the first, the prompt before", Repeat: true},
	{Action: CursorDown, Contexts: drafts, Keys: []string{"down"}, About: "a row down; from the last, the prompt after", Repeat: true},
	{Action: CursorLeft, Contexts: writing, Keys: []string{"left", "ctrl+b"}, About: "a character left", Repeat: true},
	{Action: CursorRight, Contexts: writing, Keys: []string{"right", "ctrl+f"}, About: "a character right", Repeat: true},
	{Action: CursorWordLeft, Contexts: words, Keys: []string{"alt+left", "ctrl+left", "alt+b"}, About: "a word left", Repeat: true},
	{Action: CursorWordRight, Contexts: words, Keys: []string{"alt+right", "ctrl+right", "alt+f"}, About: "a word right", Repeat: true},
	{Action: CursorLineStart, Contexts: lines, Keys: []string{"ctrl+a"}, About: "start of the line", Repeat: true},
	{Action: CursorLineEnd, Contexts: lines, Keys: []string{"ctrl+e"}, About: "end of the line", Repeat: true},
	{Action: FieldStart, Contexts: []Context{Area, Field, Search, Secret}, Keys: []string{"home"}, About: "start of the line, in a field", Repeat: true},
	{Action: FieldEnd, Contexts: []Context{Area, Field, Search, Secret}, Keys: []string{"end"}, About: "end of the line, in a field", Repeat: true},
	{Action: DocumentStart, Contexts: drafts, Keys: []string{"alt+home"}, About: "start of the text", Repeat: true},
	{Action: DocumentEnd, Contexts: drafts, Keys: []string{"alt+end"}, About: "end of the text", Repeat: true},
	{Action: EditorPageUp, Contexts: drafts, Keys: []string{"ctrl+pgup"}, About: "as many rows up as are seen", Repeat: true},
	{Action: EditorPageDown, Contexts: drafts, Keys: []string{"ctrl+pgdown"}, About: "as many rows down as are seen", Repeat: true},
	{Action: JumpForward, Contexts: drafts, Keys: []string{"ctrl+]"}, About: "to the next place of the character typed then"},
	{Action: JumpBackward, Contexts: drafts, Keys: []string{"ctrl+alt+]"}, About: "to the last place of the character typed then"},
	{Action: SelectLeft, Contexts: prose, Keys: []string{"shift+left"}, About: "select a character left", Repeat: true},
	{Action: SelectRight, Contexts: prose, Keys: []string{"shift+right"}, About: "select a character right", Repeat: true},
	{Action: SelectUp, Contexts: drafts, Keys: []string{"shift+up"}, About: "select a row up", Repeat: true},
	{Action: SelectDown, Contexts: drafts, Keys: []string{"shift+down"}, About: "select a row down", Repeat: true},
	{Action: SelectWordLeft, Contexts: prose, Keys: []string{"alt+shift+left", "ctrl+shift+left"}, About: "select a word left", Repeat: true},
	{Action: SelectWordRight, Contexts: prose, Keys: []string{"alt+shift+right", "ctrl+shift+right"}, About: "select a word right", Repeat: true},
	{Action: SelectLineStart, Contexts: prose, Keys: []string{"shift+home"}, About: "select to the start of the line", Repeat: true},
	{Action: SelectLineEnd, Contexts: prose, Keys: []string{"shift+end"}, About: "select to the end of the line", Repeat: true},
	{Action: SelectAll, Contexts: prose, Keys: []string{"alt+a", "ctrl+shift+a"}, About: "select everything"},
	{Action: DeleteCharBackward, Contexts: writing, Keys: []string{"backspace", "shift+backspace", "ctrl+h"}, About: "remove the character before", Repeat: true},
	{Action: DeleteCharForward, Contexts: writing, Keys: []string{"delete"}, About: "remove the character behind", Repeat: true},
	{Action: DeleteWordBackward, Contexts: words, Keys: []string{"ctrl+w", "alt+backspace", "ctrl+backspace"}, About: "cut the word before", Repeat: true},
	{Action: DeleteWordForward, Contexts: words, Keys: []string{"alt+d", "alt+delete", "ctrl+delete"}, About: "cut the word behind", Repeat: true},
	{Action: DeleteToLineStart, Contexts: writing, Keys: []string{"ctrl+u"}, About: "cut to the start of the line", Repeat: true},
	{Action: DeleteToLineEnd, Contexts: writing, Keys: []string{"ctrl+k"}, About: "cut to the end of the line", Repeat: true},
	{Action: Yank, Contexts: prose, Keys: []string{"ctrl+y"}, About: "put in what was cut last", Repeat: true},
	{Action: YankPop, Contexts: prose, Keys: []string{"alt+y"}, About: "then, what was cut before that", Repeat: true},
	{Action: Undo, Contexts: prose, Keys: []string{"ctrl+_", "ctrl+-"}, About: "undo", Repeat: true},
	{Action: Redo, Contexts: prose, Keys: []string{"alt+-", "ctrl+shift+-"}, About: "redo", Repeat: true},
	{Action: HistoryPrevious, Contexts: []Context{Composer}, Keys: []string{"ctrl+p"}, About: "the prompt before", Repeat: true},
	{Action: HistoryNext, Contexts: []Context{Composer}, Keys: []string{"ctrl+n"}, About: "the prompt after", Repeat: true},
	{Action: HistorySearch, Contexts: []Context{Chat}, Keys: []string{"ctrl+r"}, About: "search the prompts before"},

	{Action: NewLine, Contexts: drafts, Keys: []string{"shift+enter", "alt+enter", "ctrl+j"}, About: "a new line", Repeat: true},
	{Action: Submit, Contexts: []Context{Composer, Normal}, Keys: []string{"enter"}, About: "send; while octavo works, steer: the model reads it at its next step", Label: "send", Footer: RankMain},
	{Action: Complete, Contexts: []Context{Composer}, Keys: []string{"tab"}, About: "complete a path or a mention"},

	{Action: FollowUp, Contexts: []Context{Composer, Normal}, Keys: []string{"ctrl+s"}, About: "while octavo works, queue it for after the turn", Label: "queue", Footer: RankAction},
	{Action: Dequeue, Contexts: []Context{Composer, Normal}, Keys: []string{"alt+up"}, About: "take the newest queued message back into an empty draft", Label: "recall", Footer: RankAction},
	{Action: PasteImage, Contexts: []Context{Composer}, Keys: []string{"ctrl+v"}, About: "put in the image of the clipboard, or its text"},
	{Action: ExternalEditor, Contexts: prose, Keys: []string{"ctrl+g"}, About: "write in your own editor"},
	{Action: ThinkingCycle, Contexts: []Context{Chat}, Keys: []string{"shift+tab"}, About: "the next effort of the model"},
	{Action: ModelSelect, Contexts: []Context{Chat}, About: "choose a model"},
	{Action: ModelForward, Contexts: []Context{Chat}, About: "the next model"},
	{Action: ModelBackward, Contexts: []Context{Chat}, About: "the model before"},
	{Action: SessionNew, Contexts: []Context{Chat}, About: "begin a session"},
	{Action: SessionResume, Contexts: []Context{Chat}, About: "choose a session to go on with"},
	{Action: SessionFork, Contexts: []Context{Chat}, About: "fork this session"},
	{Action: Disclose, Contexts: []Context{Chat, Inspector}, Keys: []string{"ctrl+o"}, About: "show or hide reasoning, output and edits"},
	{Action: Interrupt, Contexts: []Context{Chat}, Keys: []string{"esc"}, About: "interrupt, then send what was queued first", Label: "interrupts", Footer: RankOut},
	{Action: Clear, Contexts: []Context{Chat}, Keys: []string{"ctrl+c"}, About: "empty the draft; when it is empty, abort the turn"},
	{Action: FocusTranscript, Contexts: []Context{Chat}, Keys: []string{"ctrl+t"}, About: "from the draft to the transcript and back"},
	{Action: Copy, Contexts: selected, Keys: []string{"alt+c", "ctrl+shift+c"}, About: "copy what is selected"},

	{Action: ChatPageUp, Contexts: []Context{Chat}, Keys: []string{"pgup"}, About: "a screen up", Repeat: true},
	{Action: ChatPageDown, Contexts: []Context{Chat}, Keys: []string{"pgdown"}, About: "a screen down; at the bottom, follow what comes", Repeat: true},
	{Action: ChatHalfPageUp, Contexts: []Context{Chat}, About: "half a screen up", Repeat: true},
	{Action: ChatHalfPageDown, Contexts: []Context{Chat}, About: "half a screen down", Repeat: true},
	{Action: ChatLineUp, Contexts: []Context{Chat}, About: "a row up", Repeat: true},
	{Action: ChatLineDown, Contexts: []Context{Chat}, About: "a row down", Repeat: true},
	{Action: ChatTop, Contexts: []Context{Chat}, Keys: []string{"home", "ctrl+home"}, About: "start of the transcript", Repeat: true},
	{Action: ChatBottom, Contexts: []Context{Chat}, Keys: []string{"end", "ctrl+end"}, About: "end of the transcript; follow what comes", Repeat: true},
	{Action: PreviousPrompt, Contexts: []Context{Chat}, Keys: []string{"ctrl+up", "ctrl+shift+up"}, About: "scroll to the prompt before", Repeat: true},
	{Action: NextPrompt, Contexts: []Context{Chat}, Keys: []string{"ctrl+down", "ctrl+shift+down"}, About: "scroll to the prompt after", Repeat: true},
	{Action: ChatSearch, Contexts: []Context{Chat}, Keys: []string{"f3", "ctrl+shift+f"}, About: "search the transcript"},
	{Action: FlipDiff, Contexts: []Context{Transcript, Reader}, Keys: []string{"t"}, About: "the diff side by side or in one column", Label: "flip diff", Footer: RankView},

	{Action: PopupUp, Contexts: []Context{Popup}, Keys: []string{"up", "ctrl+p"}, About: "suggestion above", Label: "choose", Footer: RankMove, Repeat: true},
	{Action: PopupDown, Contexts: []Context{Popup}, Keys: []string{"down", "ctrl+n"}, About: "suggestion below", Label: "choose", Footer: RankMove, Repeat: true},
	{Action: PopupAccept, Contexts: []Context{Popup}, Keys: []string{"enter"}, About: "take the suggestion and run it", Label: "run", Footer: RankMain},
	{Action: PopupInsert, Contexts: []Context{Popup}, Keys: []string{"tab"}, About: "put the suggestion into the draft", Label: "insert", Footer: RankAction},
	{Action: PopupClose, Contexts: []Context{Popup}, Keys: []string{"esc"}, About: "close the suggestions", Label: "close", Footer: RankOut},

	{Action: ListUp, Contexts: []Context{List, Transcript}, Keys: []string{"up", "ctrl+p", "k"}, About: "a row up", Label: "move", Footer: RankMove, Repeat: true},
	{Action: ListDown, Contexts: []Context{List, Transcript}, Keys: []string{"down", "ctrl+n", "j"}, About: "a row down", Label: "move", Footer: RankMove, Repeat: true},
	{Action: ListPageUp, Contexts: []Context{List, Popup}, Keys: []string{"pgup"}, About: "a screen up", Repeat: true},
	{Action: ListPageDown, Contexts: []Context{List, Popup}, Keys: []string{"pgdown"}, About: "a screen down", Repeat: true},
	{Action: ListTop, Contexts: []Context{List, Transcript}, Keys: []string{"home", "g"}, About: "first row", Repeat: true},
	{Action: ListBottom, Contexts: []Context{List, Transcript}, Keys: []string{"end", "G"}, About: "last row", Repeat: true},
	{Action: ListFold, Contexts: []Context{List, Transcript}, Keys: []string{"left"}, About: "fold"},
	{Action: ListUnfold, Contexts: []Context{List, Transcript}, Keys: []string{"right"}, About: "unfold"},
	{Action: ListChoose, Contexts: []Context{List, Transcript}, Keys: []string{"enter"}, About: "choose or open", Label: "open", Footer: RankMain},
	{Action: ListChooseHere, Contexts: []Context{List}, Keys: []string{"alt+enter", "shift+enter", "ctrl+j"}, About: "choose for this session only", Label: "this session only", Footer: RankMain},
	{Action: ListEdit, Contexts: []Context{List}, Keys: []string{"ctrl+e"}, About: "edit", Label: "edit", Footer: RankAction},
	{Action: ListRemove, Contexts: []Context{List}, Keys: []string{"ctrl+x"}, About: "remove or stop, after a question", Label: "remove", Footer: RankAction},
	{Action: ListRefresh, Contexts: []Context{List}, Keys: []string{"ctrl+r"}, About: "refresh or try again", Label: "refresh", Footer: RankAction},
	{Action: PageFilterOpen, Contexts: []Context{List}, Keys: []string{"/"}, About: "filter the rows", Label: "filter", Footer: RankView},
	{Action: PageFilterKeep, Contexts: []Context{PageFilter}, Keys: []string{"enter"}, About: "keep the filter and go back to the rows", Label: "keep", Footer: RankMain},
	{Action: PageFilterLeave, Contexts: []Context{PageFilter}, Keys: []string{"esc"}, About: "leave the filter", Label: "leave", Footer: RankOut},
	{Action: PageFilterClear, Contexts: []Context{Narrowed}, Keys: []string{"esc"}, About: "clear the filter", Label: "clears", Footer: RankOut},
	{Action: PageActions, Contexts: []Context{List}, Keys: []string{".", "ctrl+a"}, About: "menu of all actions", Label: "actions", Footer: RankView},
	{Action: PageDetail, Contexts: []Context{List, Detail}, Keys: []string{"tab"}, About: "from the rows to the detail and back", Label: "detail", Footer: RankView},
	{Action: ListBack, Contexts: []Context{List, Transcript}, Keys: []string{"esc"}, About: "back", Label: "back", Footer: RankOut},

	{Action: ReaderUp, Contexts: []Context{Reader}, Keys: []string{"up"}, About: "a row up", Label: "scroll", Footer: RankMove, Repeat: true},
	{Action: ReaderDown, Contexts: []Context{Reader}, Keys: []string{"down"}, About: "a row down", Label: "scroll", Footer: RankMove, Repeat: true},
	{Action: ReaderPageUp, Contexts: []Context{Reader}, Keys: []string{"pgup"}, About: "a screen up", Repeat: true},
	{Action: ReaderPageDown, Contexts: []Context{Reader}, Keys: []string{"pgdown"}, About: "a screen down", Repeat: true},
	{Action: ReaderTop, Contexts: []Context{Reader}, Keys: []string{"home"}, About: "start", Repeat: true},
	{Action: ReaderBottom, Contexts: []Context{Reader}, Keys: []string{"end"}, About: "end", Repeat: true},
	{Action: ReaderLeft, Contexts: []Context{Reader, Transcript}, Keys: []string{"shift+left"}, About: "long lines to the left", Repeat: true},
	{Action: ReaderRight, Contexts: []Context{Reader, Transcript}, Keys: []string{"shift+right"}, About: "long lines to the right", Repeat: true},
	{Action: ReaderSearch, Contexts: []Context{Reader, Transcript}, Keys: []string{"/"}, About: "search", Label: "search", Footer: RankView},
	{Action: ReaderBack, Contexts: []Context{Reader}, Keys: []string{"esc", "left"}, About: "back", Label: "back", Footer: RankOut},

	{Action: SearchNext, Contexts: []Context{Search}, Keys: []string{"enter", "down", "ctrl+n"}, About: "next place", Label: "next", Footer: RankMain},
	{Action: SearchPrevious, Contexts: []Context{Search}, Keys: []string{"up", "shift+enter", "ctrl+p"}, About: "place before", Label: "previous", Footer: RankMain},
	{Action: SearchClose, Contexts: []Context{Search}, Keys: []string{"esc"}, About: "close the search", Label: "close", Footer: RankOut},

	{Action: FormNext, Contexts: []Context{Form}, Keys: []string{"tab", "down"}, About: "next field", Label: "next field", Footer: RankMove, Repeat: true},
	{Action: FormPrevious, Contexts: []Context{Form}, Keys: []string{"shift+tab", "up"}, About: "field before", Repeat: true},
	{Action: FormAccept, Contexts: []Context{Form}, Keys: []string{"enter"}, About: "next field; on the last, submit", Label: "next", Footer: RankMain},
	{Action: FormSubmit, Contexts: []Context{Form}, Keys: []string{"ctrl+s"}, About: "submit", Label: "submit", Footer: RankMain},
	{Action: FormCancel, Contexts: []Context{Form}, Keys: []string{"esc"}, About: "cancel", Label: "cancel", Footer: RankOut},
	{Action: ChoicePrevious, Contexts: []Context{Choice}, Keys: []string{"left"}, About: "option before", Label: "choose", Footer: RankMove, Repeat: true},
	{Action: ChoiceNext, Contexts: []Context{Choice}, Keys: []string{"right"}, About: "next option", Label: "choose", Footer: RankMove, Repeat: true},

	{Action: ConfirmAccept, Contexts: []Context{Confirm}, Keys: []string{"enter"}, About: "do it", Label: "do it", Footer: RankMain},
	{Action: ConfirmDrop, Contexts: []Context{Confirm}, Keys: []string{"esc", "ctrl+c"}, About: "leave it", Label: "leave it", Footer: RankOut},
	{Action: ApprovalFocus, Contexts: []Context{Waiting, Approval}, Keys: []string{"ctrl+y"}, About: "to the approval that waits, and back without an answer"},
	{Action: ApprovalPrevious, Contexts: []Context{Approval}, Keys: []string{"up"}, About: "answer above", Label: "choose", Footer: RankMove, Repeat: true},
	{Action: ApprovalNext, Contexts: []Context{Approval}, Keys: []string{"down"}, About: "answer below", Label: "choose", Footer: RankMove, Repeat: true},
	{Action: ApprovalChoose, Contexts: []Context{Approval}, Keys: []string{"enter"}, About: "give the highlighted answer", Label: "confirm", Footer: RankMain},
	{Action: ApprovalDetail, Contexts: []Context{Approval}, Keys: []string{"tab"}, About: "see all of it", Label: "all of it", Footer: RankView},
	{Action: ApprovalReason, Contexts: []Context{Approval}, Keys: []string{"ctrl+e"}, About: "deny with a reason that the model reads", Label: "deny with a reason", Footer: RankAction},
	{Action: ApprovalDeny, Contexts: []Context{Approval}, Keys: []string{"esc", "ctrl+c"}, About: "deny", Label: "deny", Footer: RankOut},

	{Action: Cancel, Contexts: []Context{Global}, Keys: []string{"ctrl+c"}, About: "cancel"},
	{Action: Help, Contexts: []Context{Global}, Keys: []string{"f1", "?"}, About: "the keys that work here"},
	{Action: Mouse, Contexts: []Context{Global}, Keys: []string{"alt+m"}, About: "leave the mouse to the terminal, or take it back"},
	{Action: Repaint, Contexts: []Context{Global}, Keys: []string{"ctrl+l"}, About: "draw the screen anew"},
	{Action: Suspend, Contexts: []Context{Global}, Keys: []string{"ctrl+z"}, About: "back to the shell; fg returns"},
	{Action: Exit, Contexts: []Context{Global}, Keys: []string{"ctrl+d"}, About: "leave octavo when the draft is empty"},

	{Action: VimNormal, Contexts: []Context{Composer}, Keys: []string{"esc"}, About: "normal mode", vim: true},
	{Action: VimInsert, Contexts: []Context{Normal}, Keys: []string{"i"}, About: "write here", vim: true},
	{Action: VimAppend, Contexts: []Context{Normal}, Keys: []string{"a"}, About: "write behind the character", vim: true},
}

// vimKeys are what vim = true adds to actions beside their own keys: movement in the composer and in readers, nowhere else
// (ui.md 13). keys.toml does not change them.
var vimKeys = [...]struct {
	context Context
	key     string
	action  Action
}{
	{Normal, "h", CursorLeft}, {Normal, "left", CursorLeft},
	{Normal, "l", CursorRight}, {Normal, "right", CursorRight},
	{Normal, "k", CursorUp}, {Normal, "up", CursorUp},
	{Normal, "j", CursorDown}, {Normal, "down", CursorDown},
	{Normal, "b", CursorWordLeft}, {Normal, "w", CursorWordRight},
	{Normal, "0", CursorLineStart}, {Normal, "$", CursorLineEnd},
	{Normal, "g", DocumentStart}, {Normal, "G", DocumentEnd},
	{Reader, "k", ReaderUp}, {Reader, "j", ReaderDown},
	{Reader, "ctrl+b", ReaderPageUp}, {Reader, "ctrl+f", ReaderPageDown},
	{Reader, "g", ReaderTop}, {Reader, "G", ReaderBottom},
}

// Actions lists the actions of octavo in the order of the documents. The slice is the caller's.
func Actions() []Action {
	all := make([]Action, len(bindings))
	for i, b := range bindings {
		all[i] = b.Action
	}
	return all
}

// clone is a copy that shares nothing with the table.
func (b Binding) clone() Binding {
	b.Contexts, b.Keys = slices.Clone(b.Contexts), slices.Clone(b.Keys)
	return b
}

// PageKey reports whether a page may give a character to an action of its own. Those that it may not are octavo's on every page;
// all others it has before octavo (ui.md 4).
func PageKey(key string) bool {
	switch key {
	case "/", "?", ".", " ", "space", "tab", "\t":
		return false
	}
	return true
}
