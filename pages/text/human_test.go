package text_test

import (
	"math"
	"testing"
	"time"

	"octavo/pages/text"
)

func check[T any](t *testing.T, name string, f func(T) string, tests []row[T]) {
	t.Helper()
	for _, test := range tests {
		if got := f(test.in); got != test.want {
			t.Errorf("%s(%v) = %q, want %q", name, test.in, got, test.want)
		}
	}
}

type row[T any] struct {
	in   T
	want string
}

func TestPlural(t *testing.T) {
	for _, test := range []struct {
		n    int
		one  string
		want string
	}{
		{0, "file", "0 files"}, {1, "file", "1 file"}, {2, "file", "2 files"}, {-1, "file", "-1 files"}, {2, "entry", "2 entries"},
		{2, "day", "2 days"}, {3, "match", "3 matches"}, {3, "process", "3 processes"}, {3, "box", "3 boxes"}, {1, "match", "1 match"},
		{2, "", "2 "}, {2, "y", "2 ys"},
	} {
		if got := text.Plural(test.n, test.one); got != test.want {
			t.Errorf("Plural(%d, %q) = %q, want %q", test.n, test.one, got, test.want)
		}
	}
}

func TestDuration(t *testing.T) {
	check(t, "Duration", text.Duration, []row[time.Duration]{
		{-time.Second, "0s"}, {0, "0s"}, {time.Millisecond - 1, "0s"}, {40 * time.Millisecond, "40ms"},
		{100 * time.Millisecond, "0.1s"}, {499 * time.Millisecond, "0.4s"}, {9990 * time.Millisecond, "9.9s"}, {10 * time.Second, "10s"},
		{59999 * time.Millisecond, "59s"}, {time.Minute, "1m00s"}, {185 * time.Second, "3m05s"}, {time.Hour - 1, "59m59s"},
		{62 * time.Minute, "1h02m"}, {24*time.Hour - 1, "23h59m"}, {51 * time.Hour, "2d03h"}, {math.MaxInt64, "106751d23h"},
	})
}

func TestBytes(t *testing.T) {
	check(t, "Bytes", text.Bytes, []row[int64]{
		{-1, "0 B"}, {0, "0 B"}, {1023, "1023 B"}, {1024, "1 KiB"}, {1536, "1.5 KiB"}, {2047, "1.9 KiB"}, {12 << 10, "12 KiB"},
		{10<<10 - 1, "9.9 KiB"}, {1<<20 - 1, "1023 KiB"}, {1 << 20, "1 MiB"}, {3<<20 + 300<<10, "3.2 MiB"}, {32 << 20, "32 MiB"},
		{5 << 30, "5 GiB"}, {math.MaxInt64, "7.9 EiB"},
	})
}

func TestCount(t *testing.T) {
	check(t, "Count", text.Count, []row[int64]{
		{0, "0"}, {999, "999"}, {1000, "1K"}, {1049, "1K"}, {1250, "1.2K"}, {12_800, "12.8K"}, {99_999, "99.9K"}, {128_400, "128K"},
		{999_999, "999K"}, {1_000_000, "1M"}, {31_000_000, "31M"}, {2_500_000_000, "2.5B"}, {-12_800, "-12.8K"},
		{math.MaxInt64, "9223372T"}, {math.MinInt64, "-9223372T"},
	})
}

func TestMoney(t *testing.T) {
	check(t, "Money", text.Money, []row[int64]{
		{0, "$0.00"}, {1, "<$0.0001"}, {49, "<$0.0001"}, {50, "$0.0001"}, {400, "$0.0004"}, {9_949, "$0.0099"}, {9_950, "$0.01"},
		{10_000, "$0.01"}, {620_000, "$0.62"}, {994_999, "$0.99"}, {995_000, "$1.00"}, {12_400_000, "$12.40"},
		{1_234_567_890, "$1234.57"}, {-620_000, "-$0.62"}, {math.MaxInt64, "$9223372036854.78"}, {math.MinInt64, "-$9223372036854.78"},
	})
}
