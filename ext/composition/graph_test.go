package composition_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"octavo/ext"
	"octavo/ext/composition"
)

// TestAnyGraph is the promise of Compose over whatever selection: whole extensions or nothing of them, requirements met, and every
// one that was prepared closed exactly once, what is active in reverse order.
func TestAnyGraph(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var prepared, closed []string
		names := []string{"a", "b", "c", "d", "e", "f"}
		var s composition.Selection
		for i := range rapid.IntRange(0, 7).Draw(r, "extensions") {
			name := rapid.SampledFrom(names).Draw(r, "name")
			id := fmt.Sprint(i, name)
			given := ext.Contribution{
				Tools: tools(rapid.SliceOfN(rapid.SampledFrom([]string{"t1", "t2", "t3", "t4", "t5", "t6"}), 0, 2).Draw(r, "tools")...),
				Close: func() {
					closed = append(closed, id)
					if len(closed)%2 == 0 {
						panic("closing")
					}
				},
			}
			for _, n := range rapid.SliceOfN(rapid.SampledFrom([]string{"/c1", "/c2", "/c3", "/c4"}), 0, 1).Draw(r, "commands") {
				given.Commands = append(given.Commands, command(n))
			}
			how := rapid.IntRange(0, 9).Draw(r, "how")
			e := ext.Extension{Name: name, Required: rapid.IntRange(0, 9).Draw(r, "required") == 0,
				Requires: rapid.SliceOfN(rapid.SampledFrom(append(names, "nowhere")), 0, 2).Draw(r, "requires")}
			e.Prepare = func(context.Context, ext.Prep) (*ext.Contribution, error) {
				switch how {
				case 0:
					return nil, errors.New("failed")
				case 1:
					panic("preparing")
				case 2:
					return nil, nil
				}
				prepared = append(prepared, id)
				return &given, nil
			}
			s.Extensions = append(s.Extensions, e)
		}
		if rapid.IntRange(0, 4).Draw(r, "narrow") == 0 {
			s.Only = []string{"t1"}
		}
		c, err := composition.Compose(t.Context(), s)
		if err == nil {
			examine(r, s, c, prepared, closed)
			before := len(closed)
			c.Close()
			c.Close()
			var active []string
			for _, id := range prepared {
				if slices.Contains(closed[before:], id) {
					active = append(active, id)
				}
			}
			slices.Reverse(active)
			if !slices.Equal(closed[before:], active) {
				r.Fatalf("closed %v at the end, want %v", closed[before:], active)
			}
		} else if c != nil {
			r.Fatalf("an error and a composition: %v", err)
		}
		slices.Sort(prepared)
		slices.Sort(closed)
		if !slices.Equal(prepared, closed) {
			r.Fatalf("prepared %v, closed %v (error %v)", prepared, closed, err)
		}
	})
}

func examine(r *rapid.T, s composition.Selection, c *composition.Composition, prepared, closed []string) {
	if len(c.Active)+len(c.Inactive) != len(s.Extensions) || len(c.Requested) != len(s.Extensions) {
		r.Fatalf("%d requested, active %v, inactive %v", len(s.Extensions), c.Active, c.Inactive)
	}
	at := -1
	for _, name := range c.Active {
		i := slices.IndexFunc(s.Extensions, func(e ext.Extension) bool { return e.Name == name })
		if i <= at {
			r.Fatalf("active %v is not in the order of the request", c.Active)
		}
		at = i
		for _, need := range s.Extensions[i].Requires {
			if !slices.Contains(c.Active, need) {
				r.Fatalf("%s is active without %s", name, need)
			}
		}
		id := fmt.Sprint(i, name)
		if slices.Contains(closed, id) {
			r.Fatalf("%s is active and closed", id)
		}
	}
	for _, id := range prepared {
		i := int(id[0] - '0')
		first := slices.IndexFunc(s.Extensions, func(e ext.Extension) bool { return e.Name == id[1:] }) == i
		if active := first && slices.Contains(c.Active, id[1:]); active == slices.Contains(closed, id) {
			r.Fatalf("%s: active %v, closed %v", id, active, !active)
		}
	}
	seen := map[string]bool{}
	for _, t := range c.Tools {
		if seen[t.Name] || !slices.Contains(c.Active, t.Extension) {
			r.Fatalf("tool %s of %s: twice, or of an inactive extension", t.Name, t.Extension)
		}
		seen[t.Name] = true
	}
	for _, i := range c.Inactive {
		if i.Reason == "" {
			r.Fatalf("%s is inactive for no reason", i.Extension)
		}
	}
	for _, e := range s.Extensions {
		if e.Required && !slices.Contains(c.Active, e.Name) {
			r.Fatalf("%s is required and not active", e.Name)
		}
	}
}
