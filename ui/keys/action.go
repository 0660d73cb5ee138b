package keys

import "strings"

// Action is what a key does, by the name that keys.toml has for it. The list is closed, but for the shortcuts of extensions. What
// each one does is said in the table.
type Action string

const (
	CursorUp           Action = "editor.cursorUp"
	CursorDown         Action = "editor.cursorDown"
	CursorLeft         Action = "editor.cursorLeft"
	CursorRight        Action = "editor.cursorRight"
	CursorWordLeft     Action = "editor.cursorWordLeft"
	CursorWordRight    Action = "editor.cursorWordRight"
	CursorLineStart    Action = "editor.cursorLineStart"
	CursorLineEnd      Action = "editor.cursorLineEnd"
	FieldStart         Action = "editor.fieldStart"
	FieldEnd           Action = "editor.fieldEnd"
	DocumentStart      Action = "editor.documentStart"
	DocumentEnd        Action = "editor.documentEnd"
	EditorPageUp       Action = "editor.pageUp"
	EditorPageDown     Action = "editor.pageDown"
	JumpForward        Action = "editor.jumpForward"
	JumpBackward       Action = "editor.jumpBackward"
	SelectLeft         Action = "editor.selectLeft"
	SelectRight        Action = "editor.selectRight"
	SelectUp           Action = "editor.selectUp"
	SelectDown         Action = "editor.selectDown"
	SelectWordLeft     Action = "editor.selectWordLeft"
	SelectWordRight    Action = "editor.selectWordRight"
	SelectLineStart    Action = "editor.selectLineStart"
	SelectLineEnd      Action = "editor.selectLineEnd"
	SelectAll          Action = "editor.selectAll"
	DeleteCharBackward Action = "editor.deleteCharBackward"
	DeleteCharForward  Action = "editor.deleteCharForward"
	DeleteWordBackward Action = "editor.deleteWordBackward"
	DeleteWordForward  Action = "editor.deleteWordForward"
	DeleteToLineStart  Action = "editor.deleteToLineStart"
	DeleteToLineEnd    Action = "editor.deleteToLineEnd"
	Yank               Action = "editor.yank"
	YankPop            Action = "editor.yankPop"
	Undo               Action = "editor.undo"
	Redo               Action = "editor.redo"
	HistoryPrevious    Action = "editor.historyPrevious"
	HistoryNext        Action = "editor.historyNext"
	HistorySearch      Action = "editor.historySearch"

	NewLine  Action = "input.newLine"
	Submit   Action = "input.submit"
	Complete Action = "input.tab"

	FollowUp        Action = "app.message.followUp"
	Dequeue         Action = "app.message.dequeue"
	PasteImage      Action = "app.clipboard.pasteImage"
	ExternalEditor  Action = "app.editor.external"
	ThinkingCycle   Action = "app.thinking.cycle"
	ModelSelect     Action = "app.model.select"
	ModelForward    Action = "app.model.cycleForward"
	ModelBackward   Action = "app.model.cycleBackward"
	SessionNew      Action = "app.session.new"
	SessionResume   Action = "app.session.resume"
	SessionFork     Action = "app.session.fork"
	Disclose        Action = "app.tools.expand"
	Interrupt       Action = "app.interrupt"
	Clear           Action = "app.clear"
	Cancel          Action = "app.cancel"
	Exit            Action = "app.exit"
	Suspend         Action = "app.suspend"
	Repaint         Action = "app.repaint"
	Help            Action = "app.help"
	Mouse           Action = "app.mouse.toggle"
	Copy            Action = "app.copy"
	FocusTranscript Action = "chat.transcript"

	ChatPageUp       Action = "chat.pageUp"
	ChatPageDown     Action = "chat.pageDown"
	ChatHalfPageUp   Action = "chat.halfPageUp"
	ChatHalfPageDown Action = "chat.halfPageDown"
	ChatLineUp       Action = "chat.lineUp"
	ChatLineDown     Action = "chat.lineDown"
	ChatTop          Action = "chat.top"
	ChatBottom       Action = "chat.bottom"
	PreviousPrompt   Action = "chat.previousPrompt"
	NextPrompt       Action = "chat.nextPrompt"
	ChatSearch       Action = "chat.search"
	FlipDiff         Action = "chat.flipDiff"

	PopupUp     Action = "popup.up"
	PopupDown   Action = "popup.down"
	PopupAccept Action = "popup.accept"
	PopupInsert Action = "popup.insert"
	PopupClose  Action = "popup.close"

	ListUp         Action = "list.up"
	ListDown       Action = "list.down"
	ListPageUp     Action = "list.pageUp"
	ListPageDown   Action = "list.pageDown"
	ListTop        Action = "list.top"
	ListBottom     Action = "list.bottom"
	ListFold       Action = "list.fold"
	ListUnfold     Action = "list.unfold"
	ListChoose     Action = "list.choose"
	ListChooseHere Action = "list.chooseHere"
	ListEdit       Action = "list.edit"
	ListRemove     Action = "list.remove"
	ListRefresh    Action = "list.refresh"
	ListBack       Action = "list.back"

	PageFilterOpen  Action = "page.filter"
	PageFilterKeep  Action = "page.filterKeep"
	PageFilterLeave Action = "page.filterLeave"
	PageFilterClear Action = "page.filterClear"
	PageActions     Action = "page.actions"
	PageDetail      Action = "page.detail"

	ReaderUp       Action = "reader.up"
	ReaderDown     Action = "reader.down"
	ReaderPageUp   Action = "reader.pageUp"
	ReaderPageDown Action = "reader.pageDown"
	ReaderTop      Action = "reader.top"
	ReaderBottom   Action = "reader.bottom"
	ReaderLeft     Action = "reader.left"
	ReaderRight    Action = "reader.right"
	ReaderSearch   Action = "reader.search"
	ReaderBack     Action = "reader.back"

	SearchNext     Action = "search.next"
	SearchPrevious Action = "search.previous"
	SearchClose    Action = "search.close"

	FormNext       Action = "form.next"
	FormPrevious   Action = "form.previous"
	FormAccept     Action = "form.accept"
	FormSubmit     Action = "form.submit"
	FormCancel     Action = "form.cancel"
	ChoiceNext     Action = "choice.next"
	ChoicePrevious Action = "choice.previous"

	ConfirmAccept    Action = "confirm.accept"
	ConfirmDrop      Action = "confirm.drop"
	ApprovalFocus    Action = "approval.focus"
	ApprovalChoose   Action = "approval.choose"
	ApprovalPrevious Action = "approval.previous"
	ApprovalNext     Action = "approval.next"
	ApprovalDetail   Action = "approval.detail"
	ApprovalReason   Action = "approval.reason"
	ApprovalDeny     Action = "approval.deny"

	VimNormal Action = "vim.normal"
	VimInsert Action = "vim.insert"
	VimAppend Action = "vim.append"
)

// shortcutPrefix begins the action of an extension's shortcut: extension.<extension>.<shortcut>.
const shortcutPrefix = "extension."

func shortcutAction(extension, shortcut string) Action {
	return Action(shortcutPrefix + extension + "." + shortcut)
}

// Shortcut takes the action of an extension's shortcut apart; ok is false for an action of octavo's own.
func (a Action) Shortcut() (extension, shortcut string, ok bool) {
	rest, ok := strings.CutPrefix(string(a), shortcutPrefix)
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ".") // the name of an extension has no dot (wire.md)
}
