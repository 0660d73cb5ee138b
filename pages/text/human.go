package text

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Plural counts things in words, by the regular rules of English: 1 file, 2 files, 0 matches, 3 entries.
func Plural(n int, one string) string {
	word := one
	if n != 1 && one != "" {
		last := one[len(one)-1]
		switch {
		case last == 'y' && len(one) > 1 && !strings.ContainsRune("aeiou", rune(one[len(one)-2])):
			word = one[:len(one)-1] + "ies"
		case strings.ContainsRune("sxz", rune(last)), strings.HasSuffix(one, "ch"), strings.HasSuffix(one, "sh"):
			word = one + "es"
		default:
			word = one + "s"
		}
	}
	return strconv.Itoa(n) + " " + word
}

// Duration writes a length of time as a person would say it while it passes: 40ms, 0.4s, 12s, 3m05s, 1h02m, 2d03h. What is less
// than the last unit shown is cut off; a negative length is none.
func Duration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Millisecond:
		return "0s"
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%d.%ds", d/time.Second, d%time.Second/(100*time.Millisecond))
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < day:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd%02dh", d/day, d%day/time.Hour)
}

// Bytes writes a size in binary units: 512 B, 1.5 KiB, 12 KiB, 3.2 MiB. Fractions are cut off, so that it never says more than
// there is.
func Bytes(n int64) string {
	if n < 0 {
		return "0 B"
	}
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	unit := int64(1024)
	name := 0
	for ; name < len("KMGTPE")-1 && n/unit >= 1024; name++ {
		unit *= 1024
	}
	return scaled(n, unit, 10) + " " + "KMGTPE"[name:name+1] + "iB"
}

// Count writes a number short: 950, 1.2K, 12.8K, 340K, 31M. Fractions are cut off.
func Count(n int64) string {
	if n < 0 {
		if n == -n { // the one number without a positive
			n++
		}
		return "-" + Count(-n)
	}
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	unit := int64(1000)
	name := 0
	for ; name < len("KMBT")-1 && n/unit >= 1000; name++ {
		unit *= 1000
	}
	return scaled(n, unit, 100) + "KMBT"[name:name+1]
}

// scaled writes n in a unit, with a tenth that is not 0 while there are fewer than whole units.
func scaled(n, unit, whole int64) string {
	units, tenth := n/unit, n%unit/(unit/10)
	// unit/10 is rounded down for powers of 1024, which could make eleven tenths.
	if tenth = min(tenth, 9); units < whole && tenth > 0 {
		return fmt.Sprintf("%d.%d", units, tenth)
	}
	return strconv.FormatInt(units, 10)
}

// Money writes an amount in millionths of a dollar: $0.62, $12.40, and below a cent $0.0004. What would round to nothing is
// <$0.0001.
func Money(micro int64) string {
	const dollar, cent, hundredth = 1_000_000, 10_000, 100
	if micro < 0 {
		if micro == -micro { // the one number without a positive
			micro++
		}
		return "-" + Money(-micro)
	}
	switch small := rounded(micro, hundredth); {
	case micro == 0:
		return "$0.00"
	case small == 0:
		return "<$0.0001"
	case small < cent/hundredth:
		return fmt.Sprintf("$0.%04d", small)
	}
	cents := rounded(micro, cent)
	return fmt.Sprintf("$%d.%02d", cents/(dollar/cent), cents%(dollar/cent))
}

// rounded is n in units, half a unit rounded up.
func rounded(n, unit int64) int64 {
	if n%unit >= unit/2 {
		return n/unit + 1
	}
	return n / unit
}
