package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"octavo/sessionstore"
)

func TestRequestsComeBackAsTheyWereStored(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	create(t, s, "one")
	at := time.Date(2026, 11, 30, 12, 0, 0, int(5*time.Millisecond), time.UTC)
	full := request("full")
	full.Turn, full.Endpoint, full.Started, full.Finished, full.Seq = "t", "https://e", at, at.Add(time.Second), -2
	bare := sessionstore.Request{
		ID: "bare", Kind: sessionstore.RequestBackground, Outcome: sessionstore.OutcomeFailed,
		Error: strings.Repeat("é", sessionstore.MaxErrorText),
	}
	commit(t, s, "one", sessionstore.NoteStored, sessionstore.Change{Append: []sessionstore.NewEntry{{Kind: "k"}}})
	commit(t, s, "one", sessionstore.AssistantStored, sessionstore.Change{
		Append: []sessionstore.NewEntry{{Kind: "a"}, {Kind: "b"}}, Requests: []sessionstore.Request{full, bare},
	})
	full.Seq, bare.Error = 3, bare.Error[:sessionstore.MaxErrorText]
	got, err := s.Requests(ctx, "one", 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]sessionstore.Request{bare, full}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got, err := s.Requests(ctx, "one", 1); err != nil || len(got) != 1 || got[0].ID != "bare" {
		t.Errorf("the newest: %+v, %v", got, err)
	}
	totals, err := s.Totals(ctx, "one")
	want := sessionstore.Totals{
		Requests: 2, Input: 10, CacheRead: 20, CacheWrite: 30, Output: 40, Reasoning: 5,
		CostMicro: 1, CostPico: 600_000, Unreported: 1, Unpriced: 1,
	}
	if err != nil || totals != want {
		t.Errorf("totals %+v, %v", totals, err)
	}
	if _, err := s.Commit(ctx, "one", sessionstore.UsageStored, sessionstore.Change{Requests: []sessionstore.Request{request("new"), full}}); !errors.Is(err, sessionstore.ErrExists) {
		t.Errorf("same id again: %v", err)
	}
	if after, err := s.Totals(ctx, "one"); err != nil || after != want {
		t.Errorf("a refused change counts: %+v, %v", after, err)
	}
}

// Money is exact: whatever the rows and however they are grouped into commits,
// the sums are those of a big integer.
func TestTotalsAreTheSumsOfTheRows(t *testing.T) {
	ctx := context.Background()
	s := open(t, sessionstore.Options{})
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		id := fmt.Sprintf("s-%d", run)
		if err := s.CreateSession(ctx, sessionstore.Session{ID: id}); err != nil {
			t.Fatal(err)
		}
		count := rapid.Custom(func(t *rapid.T) *int64 {
			if rapid.Bool().Draw(t, "unreported") {
				return nil
			}
			return number(rapid.Int64Range(0, 1<<40).Draw(t, "count"))
		})
		pico := new(big.Int)
		var want sessionstore.Totals
		for range rapid.IntRange(0, 4).Draw(t, "commits") {
			var c sessionstore.Change
			for range rapid.IntRange(0, 4).Draw(t, "rows") {
				q := sessionstore.Request{
					ID: fmt.Sprint(want.Requests), Kind: sessionstore.RequestTurn, Outcome: sessionstore.OutcomeOK,
					Input: count.Draw(t, "input"), CacheRead: count.Draw(t, "read"), CacheWrite: count.Draw(t, "write"),
					Output: count.Draw(t, "output"), Reasoning: count.Draw(t, "reasoning"), CostMicro: count.Draw(t, "cost"),
				}
				if q.CostMicro != nil {
					q.CostPico = rapid.Int64Range(0, 999_999).Draw(t, "pico")
					pico.Add(pico, new(big.Int).Mul(big.NewInt(*q.CostMicro), big.NewInt(1_000_000)))
					pico.Add(pico, big.NewInt(q.CostPico))
				} else {
					want.Unpriced++
				}
				if q.Input == nil || q.Output == nil {
					want.Unreported++
				}
				for _, f := range []struct {
					sum *int64
					n   *int64
				}{{&want.Input, q.Input}, {&want.CacheRead, q.CacheRead}, {&want.CacheWrite, q.CacheWrite}, {&want.Output, q.Output}, {&want.Reasoning, q.Reasoning}} {
					if f.n != nil {
						*f.sum += *f.n
					}
				}
				want.Requests++
				c.Requests = append(c.Requests, q)
			}
			if _, err := s.Commit(ctx, id, sessionstore.UsageStored, c); err != nil {
				t.Fatal(err)
			}
		}
		micro, rest := new(big.Int).QuoRem(pico, big.NewInt(1_000_000), new(big.Int))
		want.CostMicro, want.CostPico = micro.Int64(), rest.Int64()
		if got, err := s.Totals(ctx, id); err != nil || got != want {
			t.Fatalf("totals %+v, want %+v, %v", got, want, err)
		}
	})
}

func TestTotalsStopAtTheTop(t *testing.T) {
	s := open(t, sessionstore.Options{})
	create(t, s, "one")
	for i := range 3 {
		q := request(fmt.Sprint(i))
		q.Input, q.CostMicro, q.CostPico = number(math.MaxInt64), number(math.MaxInt64), 999_999
		commit(t, s, "one", sessionstore.UsageStored, sessionstore.Change{Requests: []sessionstore.Request{q}})
	}
	got, err := s.Totals(context.Background(), "one")
	if err != nil || got.Input != math.MaxInt64 || got.CostMicro != math.MaxInt64 || got.CostPico < 0 || got.CostPico > 999_999 {
		t.Errorf("%+v, %v", got, err)
	}
}
