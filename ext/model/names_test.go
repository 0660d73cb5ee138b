package model_test

import (
	"regexp"
	"strings"
	"testing"

	"octavo/ext/model"
)

func TestSafeName(t *testing.T) {
	for _, s := range []string{"a", "call_1-B", strings.Repeat("x", 64)} {
		if got := model.SafeName(s, 64); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
	strict := regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	seen := map[string]string{}
	for _, s := range []string{"", ":", "a.b", "a:b", "a b", "ä", "\xff", strings.Repeat("x", 65), strings.Repeat("x", 66), strings.Repeat("x", 64) + "y"} {
		got := model.SafeName(s, 64)
		if other, taken := seen[got]; taken || !strict.MatchString(got) {
			t.Errorf("%q became %q, as did %q", s, got, other)
		}
		seen[got] = s
	}
}

// Ids of a conversation become different ones, and a result finds the newest call of its id.
func TestCallIDs(t *testing.T) {
	ids := model.CallIDs{Max: 64}
	a, b, c := ids.Call("call_0"), ids.Call("call_0"), ids.Call("call_0_2")
	if a != "call_0" || b != "call_0_2" || c != "call_0_2_2" {
		t.Errorf("%q %q %q", a, b, c)
	}
	if got := ids.Result("call_0"); got != b {
		t.Errorf("the result of the second call went to %q", got)
	}
	if got := ids.Result("call:9"); got != model.SafeName("call:9", 64) {
		t.Errorf("a result without a call has the id %q", got)
	}
	if d := ids.Call("call_0"); d != "call_0_3" {
		t.Errorf("the third call is %q", d)
	}
	long := strings.Repeat("x", 64)
	if a, b := ids.Call(long), ids.Call(long); a == b || len(b) > 64 {
		t.Errorf("%q %q", a, b)
	}

	// Some servers give every call the same id; a long conversation with one of them must not take the square of its length.
	const calls = 1000
	if n := testing.AllocsPerRun(1, func() {
		same := model.CallIDs{Max: 64}
		for range calls {
			same.Call("c")
		}
	}); n > 10*calls {
		t.Errorf("%v allocations for %d calls of one id", n, calls)
	}
}
