package models

import (
	"math"
	"testing"

	"charm.land/catwalk/pkg/catwalk"
	"github.com/google/go-cmp/cmp"

	"octavo/ext/model"
)

// priced is a row with prices in dollars, in the order of its fields.
func priced(id string, in, out, first, second float64) catwalk.Model {
	return catwalk.Model{ID: id, CostPer1MIn: in, CostPer1MOut: out, CostPer1MInCached: first, CostPer1MOutCached: second}
}

func TestPriceOf(t *testing.T) {
	price := func(in, out int64, cached ...*int64) *model.Price {
		p := &model.Price{Input: in, Output: out}
		if len(cached) > 0 {
			p.CacheRead, p.CacheWrite = cached[0], cached[1]
		}
		return p
	}
	n := model.Count
	for name, c := range map[string]struct {
		row  catwalk.Model
		want *model.Price
	}{
		"write, then read":                      {priced("m", 5, 25, 6.25, 0.5), price(5_000_000, 25_000_000, n(500_000), n(6_250_000))},
		"read in the first":                     {priced("m", 5, 30, 0.5, 0), price(5_000_000, 30_000_000, n(500_000), nil)},
		"read in the second":                    {priced("m", 2, 8, 0, 0.5), price(2_000_000, 8_000_000, n(500_000), nil)},
		"read in both":                          {priced("m", 1.75, 14, 0.175, 0.175), price(1_750_000, 14_000_000, n(175_000), nil)},
		"the smaller of two reads":              {priced("m", 2, 8, 1, 0.5), price(2_000_000, 8_000_000, n(500_000), nil)},
		"cached input is billed as input":       {priced("m", 30, 180, 0, 0), price(30_000_000, 180_000_000)},
		"a write alone is no read":              {priced("m", 0.1875, 1.125, 0.23438, 0), price(187_500, 1_125_000, nil, n(234_380))},
		"a read at the price of input is one":   {priced("m", 1, 2, 1, 0), price(1_000_000, 2_000_000, n(1_000_000), nil)},
		"only the first field can be a write":   {priced("m", 1, 2, 0, 3), price(1_000_000, 2_000_000)},
		"one half costs nothing":                {priced("m", 0, 2, 0, 0), price(0, 2_000_000)},
		"nothing said is unknown":               {priced("glm-5.2", 0, 0, 0, 0), nil},
		"freedom is not free":                   {priced("freedom-2", 0, 0, 0, 0), nil},
		"marked free by a colon":                {priced("x/y:free", 0, 0, 0, 0), price(0, 0)},
		"marked free by a dash":                 {priced("y-free", 0, 0, 0, 0), price(0, 0)},
		"marked free by name":                   {catwalk.Model{ID: "y", Name: "Y (Free)"}, price(0, 0)},
		"marked free and with a price":          {priced("y-free", 1, 2, 0, 0), price(1_000_000, 2_000_000)},
		"a negative number spoils the row":      {priced("m", -1, 2, 0, 0), nil},
		"a negative cached one, too":            {priced("m", 1, 2, -0.1, 0), nil},
		"no number":                             {priced("m", math.NaN(), 2, 0, 0), nil},
		"binary fractions that are not the sum": {priced("m", 0.39999999999999997, 1.5999999999999999, 0, 0.09999999999999999), price(400_000, 1_600_000, n(100_000), nil)},
	} {
		if d := cmp.Diff(c.want, priceOf(c.row)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestMicrodollars(t *testing.T) {
	for dollars, want := range map[float64]int64{
		0: 0, 0.0000004: 0, 0.0000005: 1, 0.00000049999: 0, 1.0000005: 1_000_001, 1.0000015: 1_000_002,
		1.005: 1_005_000, 0.0028: 2800, 0.003625: 3625, 2.675: 2_675_000, 1e-300: 0, math.Copysign(0, -1): 0,
		0.9999995: 1_000_000, 8.999999499: 8_999_999, 999_999: 999_999_000_000, 1_000_000: maxPrice,
	} {
		if got, ok := microdollars(dollars); !ok || got != want {
			t.Errorf("%v dollars are %d (%v), want %d", dollars, got, ok, want)
		}
	}
	for _, dollars := range []float64{-0.0000001, -1, 1_000_000.1, 1e300, math.Inf(1), math.Inf(-1), math.NaN()} {
		if got, ok := microdollars(dollars); ok {
			t.Errorf("%v dollars are believed to be %d", dollars, got)
		}
	}
}

// Whatever number a row has, it becomes the whole number of microdollars that is nearest, or none.
func FuzzMicrodollars(f *testing.F) {
	for _, v := range []float64{0, 0.39999999999999997, 1.0000005, 1e6, -1, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, dollars float64) {
		got, ok := microdollars(dollars)
		if ok != (dollars >= 0 && dollars <= maxPrice/1e6) {
			t.Fatalf("%v: %v", dollars, ok)
		}
		// A float64 is within 2^-53 of itself: 1e-4 microdollars at the largest price.
		if ok && (got < 0 || got > maxPrice || math.Abs(float64(got)-dollars*1e6) > 0.5+1e-3) {
			t.Fatalf("%v dollars are %d", dollars, got)
		}
	})
}
