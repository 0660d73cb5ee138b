package claude

// Marks tell the provider up to where to keep a request (plugins.md 8.2): the last tool and the last instruction for an hour, the last
// thing the user said for five minutes. The provider looks for a kept beginning at most lookback blocks before a mark; where the newest
// answer and its results are more than that, what the user said before it is marked, too, or nothing of the conversation would be
// found. That makes at most maxMarks, which is as many as the provider takes.
const (
	maxMarks = 4
	lookback = 20
)

type cacheControl struct {
	Type string `json:"type"`
	TTL  string `json:"ttl"`
}

var (
	forAnHour      = &cacheControl{Type: "ephemeral", TTL: "1h"}
	forFiveMinutes = &cacheControl{Type: "ephemeral", TTL: "5m"}
)

// mark sets the marks. Marks of a longer time stand before those of a shorter one, which the provider wants.
func (r *request) mark() {
	if n := len(r.Tools); n > 0 {
		r.Tools[n-1].Cache = forAnHour
	}
	if n := len(r.System); n > 0 {
		r.System[n-1].Cache = forAnHour
	}
	n := len(r.Messages)
	if n == 0 || r.Messages[n-1].Role != "user" {
		return // an answer that is to be continued was kept when it was asked for
	}
	r.Messages[n-1].mark()
	if n < 3 || len(r.Messages[n-1].Content)+len(r.Messages[n-2].Content) <= lookback {
		return
	}
	r.Messages[n-3].mark()
}

// mark marks the message's last block.
func (m *message) mark() {
	if b, ok := m.Content[len(m.Content)-1].(*block); ok {
		b.Cache = forFiveMinutes
	}
}
