package sessionstore

// Point names a commit: a moment at which something becomes a fact that
// survives the process. The kill test crosses every one of Points.
type Point string

// What a session commits, by Store.Commit (plugins.md 3.4).
const (
	InputAccepted    Point = "input accepted"     // a person's or sender's input is queued or appended
	TurnStarted      Point = "turn started"       // queued notes and the input are entries, the stage says model
	AssistantStored  Point = "assistant stored"   // one answer of the model
	ToolCallStored   Point = "tool call stored"   // before the tool runs
	ToolResultStored Point = "tool result stored" // after it ran
	Drained          Point = "drained"            // queued inputs became entries of a running turn
	TurnSettled      Point = "turn settled"       // the last of a turn
	UsageStored      Point = "usage stored"       // request rows without entries
	NoteStored       Point = "note stored"        // entries outside a turn: notes, warnings
	HistoryChanged   Point = "history changed"    // compaction, image fits and the like
	CallsRecovered   Point = "calls recovered"    // outcomes of calls that a crash left open
)

// What the store's other methods commit.
const (
	SessionCreated   Point = "session created"
	SessionChanged   Point = "session changed" // patched, deleted or restored
	SessionForked    Point = "session forked"
	SessionPurged    Point = "session purged"
	EpochStarted     Point = "epoch started"
	BlobStored       Point = "blob stored"
	BlobsSwept       Point = "blobs swept"
	PreferenceStored Point = "preference stored"
	PromptStored     Point = "prompt stored"
	LedgerMigrated   Point = "ledger migrated"
	LedgerWritten    Point = "ledger written"
)

// Phase says on which side of the commit an observer stands.
type Phase int

// The two sides of a commit: a process killed at BeforeCommit loses the change
// as a whole, one killed at AfterCommit keeps it as a whole.
const (
	BeforeCommit Phase = iota
	AfterCommit
)

func (p Phase) String() string {
	if p == BeforeCommit {
		return "before commit"
	}
	return "after commit"
}

// Points lists every commit point; those of Store.Commit come first.
func Points() []Point {
	return append(CommitPoints(), SessionCreated, SessionChanged, SessionForked, SessionPurged, EpochStarted,
		BlobStored, BlobsSwept, PreferenceStored, PromptStored, LedgerMigrated, LedgerWritten)
}

// CommitPoints lists the points that Store.Commit accepts.
func CommitPoints() []Point {
	return []Point{InputAccepted, TurnStarted, AssistantStored, ToolCallStored, ToolResultStored, Drained,
		TurnSettled, UsageStored, NoteStored, HistoryChanged, CallsRecovered}
}
