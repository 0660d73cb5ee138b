package model

import "strconv"

// Tokens is a count as a server writes it. Anything but a whole number from 0 up is unreported: usage never spoils an answer.
type Tokens struct{ N *int64 }

// UnmarshalJSON never fails.
func (t *Tokens) UnmarshalJSON(b []byte) error {
	t.N = nil
	if f, err := strconv.ParseFloat(string(b), 64); err == nil && f >= 0 && f < 1<<53 && f == float64(int64(f)) {
		t.N = Count(int64(f))
	}
	return nil
}

// Fresh is what of whole is in none of the parts; unreported when whole is, or when the parts are more than the whole.
func Fresh(whole *int64, parts ...*int64) *int64 {
	if whole == nil {
		return nil
	}
	fresh := *whole
	for _, p := range parts {
		if p != nil {
			fresh -= *p
		}
	}
	if fresh < 0 {
		return nil
	}
	return &fresh
}
