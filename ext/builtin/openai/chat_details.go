package openai

import (
	"bytes"
	"encoding/json"
	"strings"
)

// itemCost is what one item counts beside its bytes, so that MaxAnswer bounds what a flood of empty items takes, too.
const itemCost = 1 << 10

// details collects reasoning_details: typed items, some of them signed or encrypted, that OpenRouter wants back as they were
// before they were cut into deltas. The decoder bounds their size.
type details []*detail

// detail is one item. Its text grows; of every other field the newest value that says something stays.
type detail struct {
	index  string // how the wire tells items apart
	kind   string
	fields map[string]json.RawMessage
	grown  map[string]*strings.Builder
}

// growing are the fields that come in pieces.
var growing = [...]string{"text", "summary", "data"}

// add takes the items of one delta and returns what they cost. What is no list of objects is dropped: it could not be sent back.
func (ds *details) add(raw json.RawMessage) int {
	var items []map[string]json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return 0
	}
	before := len(*ds)
	for _, it := range items {
		if it == nil {
			continue
		}
		d := ds.open(string(it["index"]), plain(it["type"]))
		for name, value := range it {
			if !d.grow(name, value) && !bytes.Equal(value, []byte("null")) {
				d.fields[name] = value
			}
		}
	}
	return len(raw) + (len(*ds)-before)*itemCost
}

// open returns the item that a delta continues: the last one, when number and type agree and it has a number at all.
func (ds *details) open(index, kind string) *detail {
	if n := len(*ds); n > 0 && index != "" && (*ds)[n-1].index == index && (*ds)[n-1].kind == kind {
		return (*ds)[n-1]
	}
	d := &detail{index: index, kind: kind, fields: make(map[string]json.RawMessage), grown: make(map[string]*strings.Builder)}
	*ds = append(*ds, d)
	return d
}

// grow appends to a field that comes in pieces, and reports whether name is one.
func (d *detail) grow(name string, value json.RawMessage) bool {
	for _, g := range growing {
		if g != name {
			continue
		}
		var more string
		if json.Unmarshal(value, &more) != nil || bytes.Equal(value, []byte("null")) {
			return false
		}
		b := d.grown[name]
		if b == nil {
			b = new(strings.Builder)
			d.grown[name] = b
		}
		b.WriteString(more)
		return true
	}
	return false
}

// json is the list to send back; nil when there is none. Keys are sorted, so that it is the same each time.
func (ds details) json() json.RawMessage {
	if len(ds) == 0 {
		return nil
	}
	list := make([]map[string]any, len(ds))
	for i, d := range ds {
		list[i] = make(map[string]any, len(d.fields)+len(d.grown))
		for name, value := range d.fields {
			list[i][name] = value
		}
		for name, b := range d.grown {
			list[i][name] = b.String()
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(list) != nil {
		return nil // cannot be: the values were JSON when they came
	}
	return bytes.TrimSpace(b.Bytes())
}
