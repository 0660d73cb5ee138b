package models

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"octavo/ext"
	"octavo/ext/model"
)

// MaxName is the longest id or name of the refreshed catalogue that is believed, in bytes.
const MaxName = 256

var (
	errStrange = errors.New("not a model")
	errMute    = errors.New("it does not answer in words")
)

// entry is what the refreshed catalogue writes of a model, as far as octavo reads it. Dollars are for a million tokens.
type entry struct {
	Name      string `json:"name"`
	Reasoning *bool  `json:"reasoning"`
	// Options say how thinking is asked for. Their form is younger than the rest and still grows, so they are read apart.
	Options    json.RawMessage `json:"reasoning_options"`
	Modalities struct {
		Input  []string `json:"input"`
		Output []string `json:"output"`
	} `json:"modalities"`
	Cost struct {
		Input      *float64 `json:"input"`
		Output     *float64 `json:"output"`
		CacheRead  float64  `json:"cache_read"`
		CacheWrite float64  `json:"cache_write"`
	} `json:"cost"`
	Limit struct {
		Context float64 `json:"context"`
		Output  float64 `json:"output"`
	} `json:"limit"`
}

// fresh is a row of the refreshed catalogue.
type fresh struct {
	ext.CatalogueModel
	thinks *bool // nil where the catalogue does not say
}

// freshOf decodes an entry. switched says that its provider speaks Anthropic's wire. It fails with errStrange for what has not the
// form of a model, and with errMute for models of pictures or sound alone.
func freshOf(id string, raw []byte, switched bool) (fresh, error) {
	var e entry
	if len(raw) == 0 || raw[0] != '{' || id == "" || len(id) > MaxName || json.Unmarshal(raw, &e) != nil || len(e.Name) > MaxName {
		return fresh{}, errStrange
	}
	if len(e.Modalities.Output) > 0 && !slices.Contains(e.Modalities.Output, "text") {
		return fresh{}, errMute
	}
	f := fresh{thinks: e.Reasoning}
	f.ID, f.Name = id, e.Name
	f.Reasons = e.Reasoning != nil && *e.Reasoning
	f.Info = model.Info{ContextTokens: wholeTokens(e.Limit.Context), MaxOutputTokens: wholeTokens(e.Limit.Output), Price: e.price(id)}
	if w := f.Info.ContextTokens; w > 0 && f.Info.MaxOutputTokens >= w {
		f.Info.MaxOutputTokens = 0 // the window over again: the model has no limit of its own, and asking for all of it fails
	}
	if len(e.Modalities.Input) > 0 {
		images := slices.ContainsFunc(e.Modalities.Input, func(m string) bool { return m == "image" || strings.HasPrefix(m, "image/") })
		f.Info.Images = &images
	}
	switch {
	case f.Reasons:
		f.Info.Efforts = levels(effortsAmong(e.Options), switched)
	case f.thinks != nil:
		f.Info.Efforts = []string{off}
	}
	return f, nil
}

func wholeTokens(n float64) int {
	if !(n >= 0 && n <= maxTokens) {
		return 0
	}
	return int(n)
}

// effortsAmong are the levels among the options of an entry, none when they have another form.
func effortsAmong(options json.RawMessage) []string {
	var known []struct {
		Type   string    `json:"type"`
		Values []*string `json:"values"` // null stands for the provider's own choice
	}
	if json.Unmarshal(options, &known) != nil {
		return nil
	}
	var efforts []string
	for _, o := range known {
		for _, v := range o.Values {
			if o.Type == "effort" && v != nil {
				efforts = append(efforts, *v)
			}
		}
	}
	return efforts
}

// price is an entry's price, nil when it is not known. As in the embedded rows nothing for input and nothing for output is a price
// only where the model is called free: entries of subscriptions have zeros everywhere. For the same reason a cached price of nothing
// is none, and cached input is billed as input. What is said of long prompts and of sound is not read: a price has one step.
func (e *entry) price(id string) *model.Price {
	if e.Cost.Input == nil || e.Cost.Output == nil {
		return nil
	}
	var fields [4]int64
	for i, dollars := range [...]float64{*e.Cost.Input, *e.Cost.Output, e.Cost.CacheRead, e.Cost.CacheWrite} {
		var ok bool
		if fields[i], ok = microdollars(dollars); !ok {
			return nil
		}
	}
	p := &model.Price{Input: fields[0], Output: fields[1]}
	if p.Input == 0 && p.Output == 0 {
		if !markedFree(id) && !markedFree(e.Name) {
			return nil
		}
		return p
	}
	if fields[2] > 0 {
		p.CacheRead = &fields[2]
	}
	if fields[3] > 0 {
		p.CacheWrite = &fields[3]
	}
	return p
}

// over is a fresh row over the embedded row of the same model at a provider: what the fresh one leaves unknown is taken from the
// other. Levels are the embedded row's wherever both say that the model thinks, for they are kept for those who ask the provider.
func (f fresh) over(provider string) fresh {
	if provider == "" {
		return f
	}
	known, ok := rows().row(provider, f.ID)
	if !ok {
		return f
	}
	f.Name = cmp.Or(f.Name, known.Name)
	i := &f.Info
	i.ContextTokens = cmp.Or(i.ContextTokens, known.Info.ContextTokens)
	if i.MaxOutputTokens == 0 && (i.ContextTokens == 0 || known.Info.MaxOutputTokens <= i.ContextTokens) {
		i.MaxOutputTokens = known.Info.MaxOutputTokens
	}
	i.Images = cmp.Or(i.Images, known.Info.Images)
	i.Price = cmp.Or(i.Price, known.Info.Price)
	if f.thinks == nil {
		f.Reasons = known.Reasons
	}
	if f.thinks == nil || f.Reasons && known.Reasons && len(known.Info.Efforts) > 0 {
		i.Efforts = known.Info.Efforts
	}
	return f
}

// strictest is what may be relied on when several providers answer at one address, and nothing says which of them: the smallest
// limits and what all of them can do (plugins.md 8.7). A price counts when they agree on it; prices are never mixed.
func strictest(a, b fresh) fresh {
	x, y := &a.Info, b.Info
	x.ContextTokens = smallest(x.ContextTokens, y.ContextTokens)
	x.MaxOutputTokens = smallest(x.MaxOutputTokens, y.MaxOutputTokens)
	if x.Images == nil || y.Images != nil && !*y.Images {
		x.Images = cmp.Or(y.Images, x.Images)
	}
	var efforts []string
	for _, e := range x.Efforts {
		if slices.Contains(y.Efforts, e) {
			efforts = append(efforts, e)
		}
	}
	x.Efforts = efforts
	if !samePrice(x.Price, y.Price) {
		x.Price = nil
	}
	a.Reasons = a.Reasons && b.Reasons
	if a.thinks == nil || b.thinks == nil || *a.thinks != *b.thinks {
		a.thinks = nil
	}
	return a
}

// smallest is the smaller of two numbers of which 0 is unknown.
func smallest(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

func samePrice(a, b *model.Price) bool {
	if a == nil || b == nil {
		return a == b
	}
	same := func(x, y *int64) bool { return x == y || x != nil && y != nil && *x == *y }
	return a.Input == b.Input && a.Output == b.Output && same(a.CacheRead, b.CacheRead) && same(a.CacheWrite, b.CacheWrite)
}
