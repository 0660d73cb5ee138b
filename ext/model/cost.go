package model

import "math/bits"

// picoPerMicro is how many picodollars make a microdollar.
const picoPerMicro = 1_000_000

// Cost is an exact sum of money: Micro microdollars and 0 <= Pico < 1,000,000 picodollars (decision 19). Unknown is a nil
// *Cost, never a zero one.
type Cost struct {
	Micro int64 `json:"micro"`
	Pico  int64 `json:"pico,omitempty"`
}

// Add returns c + d. The remainders are carried, so that many small costs add up exactly.
func (c Cost) Add(d Cost) Cost {
	pico := c.Pico + d.Pico
	return Cost{Micro: c.Micro + d.Micro + pico/picoPerMicro, Pico: pico % picoPerMicro}
}

// Cost says what u costs at p. It is nil, unknown, when there is no price, when a count that has a price was not reported,
// or when a number makes no sense (negative, or a sum beyond int64 microdollars). A count whose price is zero is not needed:
// a free model is free whatever it reports.
//
// Cache counts that were not reported are none: what a provider does not set apart is in Input already. Cached tokens without
// a price of their own cost what input costs.
func (p *Price) Cost(u Usage) *Cost {
	if p == nil {
		return nil
	}
	none := Count(0)
	if u.CacheRead == nil {
		u.CacheRead = none
	}
	if u.CacheWrite == nil {
		u.CacheWrite = none
	}
	read, write := p.Input, p.Input
	if p.CacheRead != nil {
		read = *p.CacheRead
	}
	if p.CacheWrite != nil {
		write = *p.CacheWrite
	}
	// A price of n microdollars for a million tokens is n picodollars for one. Sums are kept in 128 bits.
	var hi, lo uint64
	for _, item := range [...]struct {
		count *int64
		price int64
	}{{u.Input, p.Input}, {u.CacheRead, read}, {u.CacheWrite, write}, {u.Output, p.Output}} {
		if item.price == 0 {
			continue
		}
		if item.price < 0 || item.count == nil || *item.count < 0 {
			return nil
		}
		h, l := bits.Mul64(uint64(*item.count), uint64(item.price))
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi, carry = bits.Add64(hi, h, carry)
		if carry != 0 {
			return nil
		}
	}
	if hi >= picoPerMicro/2 { // the quotient would not fit int64
		return nil
	}
	micro, pico := bits.Div64(hi, lo, picoPerMicro)
	return &Cost{Micro: int64(micro), Pico: int64(pico)}
}
