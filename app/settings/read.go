package settings

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"octavo/ext/model"
)

// contents is what one file says.
type contents struct {
	values    Layer
	providers map[string]Provider
	unknown   []Warning
	refused   []Warning // what a project cannot set
	errs      []error
}

// reader walks a document along the table of keys.
type reader struct {
	doc *document
	out contents
}

// read takes what the table of keys knows out of a document and collects everything that is wrong with the rest.
func read(doc *document) contents {
	r := reader{doc: doc}
	r.table(nil, "", doc.tree, func(row row, path []string, v any) {
		r.out.values.put(row.Name, doc.place(path), v)
	}, map[string]subtable{"providers": r.providers})
	return r.out
}

// subtable reads a table that stands below another.
type subtable func(path []string, v map[string]any)

// table reads one table: keys whose name is prefix and one part more go to set, the tables named in sub to their readers. Every
// other key is unknown.
func (r *reader) table(path []string, prefix string, t map[string]any, set func(row, []string, any), sub map[string]subtable) {
	known := map[string]row{}
	for _, row := range rows {
		if name, ok := row.below(prefix); ok {
			known[name] = row
		}
	}
	for _, name := range r.inOrder(path, t) {
		at := append(slices.Clone(path), name)
		if read, ok := sub[name]; ok {
			r.sub(at, t[name], read)
			continue
		}
		row, ok := known[name]
		if !ok {
			r.unknownKey(at, prefix, sub)
			continue
		}
		v, err := row.value(t[name])
		if err != nil {
			r.fail(at, err)
			continue
		}
		set(row, at, v)
	}
}

func (r *reader) sub(path []string, v any, read subtable) {
	if t, ok := v.(map[string]any); ok {
		read(path, t)
		return
	}
	r.fail(path, fmt.Errorf("must be a table, not %s", show(v)))
}

func (r *reader) providers(path []string, t map[string]any) {
	r.out.providers = map[string]Provider{}
	for _, name := range r.inOrder(path, t) {
		at := append(slices.Clone(path), name)
		if err := CheckProviderName(name); err != nil {
			r.fail(at, fmt.Errorf("has no usable name: %w", err))
			continue
		}
		r.sub(at, t[name], func(path []string, t map[string]any) { r.provider(name, path, t) })
	}
}

func (r *reader) provider(name string, path []string, t map[string]any) {
	p := Provider{Name: name, Wire: DefaultWire}
	failures := len(r.out.errs)
	r.table(path, "providers.NAME.", t, func(row row, _ []string, v any) {
		store(row.field(&p), v)
	}, map[string]subtable{"models": func(path []string, t map[string]any) {
		p.Models = r.models(path, t)
	}})
	if len(r.out.errs) == failures { // else the rules between keys would complain about keys already refused
		if err := p.check(); err != nil {
			r.fail(path, err)
		}
	}
	p.Endpoint = canonicalEndpoint(p.Endpoint)
	r.out.providers[name] = p
}

func (r *reader) models(path []string, t map[string]any) map[string]model.Info {
	models := map[string]model.Info{}
	for _, id := range r.inOrder(path, t) {
		at := append(slices.Clone(path), id)
		if err := CheckModelID(id); err != nil {
			r.fail(at, fmt.Errorf("has no usable name: %w", err))
			continue
		}
		r.sub(at, t[id], func(path []string, t map[string]any) {
			var info model.Info
			set := func(row row, _ []string, v any) { store(row.field(&info), v) }
			r.table(path, "providers.NAME.models.ID.", t, set, map[string]subtable{
				"price": func(path []string, t map[string]any) {
					r.table(path, "providers.NAME.models.ID.price.", t, set, nil)
					if t["input"] == nil || t["output"] == nil {
						r.fail(path, errors.New("needs both input and output; without them the price is unknown and the table is left out"))
					}
				},
			})
			models[id] = info
		})
	}
	return models
}

func (r *reader) fail(path []string, err error) {
	r.out.errs = append(r.out.errs, &Error{Place: r.doc.place(path), Key: dotted(path), Err: err})
}

func (r *reader) unknownKey(path []string, prefix string, sub map[string]subtable) {
	var names []string
	for _, row := range rows { // in the order of the table, so that a tie is always settled alike
		if name, ok := row.below(prefix); ok {
			names = append(names, name)
		}
	}
	for name := range sub { // one at most
		names = append(names, name)
	}
	name := path[len(path)-1]
	r.out.unknown = append(r.out.unknown, Warning{
		Place: r.doc.place(path), Key: dotted(path), Unknown: true,
		Text:       fmt.Sprintf("unknown key %s", dotted(path)),
		Suggestion: closest(name, names),
	})
}

// inOrder lists the keys of a table as they stand in the file.
func (r *reader) inOrder(path []string, t map[string]any) []string {
	names := slices.Sorted(maps.Keys(t))
	at := make(map[string]Place, len(names))
	for _, name := range names {
		at[name] = r.doc.place(append(slices.Clone(path), name))
	}
	slices.SortStableFunc(names, func(a, b string) int {
		pa, pb := at[a], at[b]
		return cmp.Or(pa.Line-pb.Line, pa.Column-pb.Column)
	})
	return names
}
