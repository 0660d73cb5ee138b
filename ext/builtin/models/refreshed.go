package models

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"octavo/ext"
	"octavo/ext/model"
	"octavo/pages/text"
)

const (
	// File is the refreshed catalogue's name in octavo's home (plugins.md 8.7). It is what models.dev gives out as api.json: an
	// object of providers, each with the object of its models.
	File = "models.json"
	// MaxFile is the largest refreshed catalogue that is read or downloaded, in bytes.
	MaxFile = 32 << 20
	// MaxModels is how many models a refreshed catalogue may list.
	MaxModels = 100_000
)

// RefreshedName is the refreshed catalogue's name.
const RefreshedName = "models.dev"

// refreshed is the catalogue of a home's file. The file is read once in a process, when a model of a provider that may be in it is
// first asked for, or all are listed. A file that cannot be used is no catalogue: Inspect says why.
func refreshed(home string) ext.Catalogue {
	behind := func(endpoint string) []*provider {
		host, path, ok := locate(endpoint)
		if !ok || !isPublic(host) {
			return nil
		}
		if d := documentOf(home); d != nil {
			return d.behind(host, path)
		}
		return nil
	}
	return ext.Catalogue{
		Name: RefreshedName,
		Provider: func(endpoint string) (string, bool) {
			if all := behind(endpoint); len(all) > 0 {
				return all[0].name, true
			}
			return "", false
		},
		Lookup: func(endpoint, modelID string) (model.Info, bool) {
			embedded, _ := providerAt(endpoint)
			return lookupAmong(behind(endpoint), embedded, modelID)
		},
		List: func() []ext.CatalogueModel {
			if d := documentOf(home); d != nil {
				list, _ := d.all()
				return slices.Clone(list)
			}
			return nil
		},
		Choices: func(string) (main, small string) { return "", "" }, // the data recommends none
	}
}

// documents are the homes' refreshed catalogues, each read once in a process: one home in octavo, more in tests.
var documents sync.Map // func() *document by home

// documentOf is a home's refreshed catalogue, nil when there is none that can be used.
func documentOf(home string) *document {
	if home == "" {
		return nil
	}
	load, ok := documents.Load(home)
	if !ok {
		load, _ = documents.LoadOrStore(home, sync.OnceValue(func() *document {
			d, _, err := read(home, MaxFile)
			if err != nil {
				return nil
			}
			return d
		}))
	}
	return load.(func() *document)()
}

// read takes a home's file apart, and says when it was downloaded.
func read(home string, most int64) (*document, time.Time, error) {
	name := filepath.Join(home, File)
	i, err := os.Stat(name) // before it is opened: opening a pipe waits for its writer
	if err != nil {
		return nil, time.Time{}, err
	}
	if !i.Mode().IsRegular() {
		return nil, i.ModTime(), fmt.Errorf("%s is not a file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, i.ModTime(), err
	}
	defer f.Close()
	raw, err := readAll(f, min(i.Size(), most), most)
	if err != nil {
		return nil, i.ModTime(), fmt.Errorf("%s: %w", name, err)
	}
	d, err := take(raw)
	if err != nil {
		return nil, i.ModTime(), fmt.Errorf("%s: %w", name, err)
	}
	return d, i.ModTime(), nil
}

// readAll reads to the end, which is probably after size bytes and may be after most at the latest.
func readAll(r io.Reader, size, most int64) ([]byte, error) {
	raw := make([]byte, 0, size+1)
	for {
		if len(raw) == cap(raw) {
			raw = slices.Grow(raw, 64<<10)
		}
		n, err := r.Read(raw[len(raw):cap(raw)])
		raw = raw[:len(raw)+n]
		switch {
		case int64(len(raw)) > most:
			return nil, tooLarge(most)
		case err == io.EOF:
			return raw, nil
		case err != nil:
			return nil, err
		}
	}
}

func tooLarge(most int64) error { return fmt.Errorf("it is larger than %s", text.Bytes(most)) }

type (
	// document is a refreshed catalogue of which the providers' fields are read and the models are not.
	document struct {
		providers []*provider // by name
		byHome    map[string][]*provider
		byHost    map[string][]*provider // those that the addresses do not know
		skipped   int                    // models of providers that cannot be named
		all       func() (list []ext.CatalogueModel, skipped int)
	}
	// provider is one of them. Where home is one of the embedded catalogue's, and this is the best of those that are the same, it is
	// listed by that name.
	provider struct {
		id, name, home, host, path string
		anthropic                  bool // it speaks Anthropic's wire
		models                     []member
		at                         func() map[string]int // where in models
	}
	// member is a model as it is written.
	member struct {
		id  string
		raw []byte
	}
)

// take makes a document of a file's bytes, which it keeps.
func take(raw []byte) (*document, error) {
	c := &cursor{b: raw}
	if c.here() == '<' {
		return nil, errors.New("it is a web page and not JSON")
	}
	d := &document{byHome: map[string][]*provider{}, byHost: map[string][]*provider{}}
	place := map[string]int{} // of a provider's id in d.providers
	models := 0
	err := c.object(func(id string) error {
		if c.here() != '{' {
			_, err := c.value()
			return err
		}
		p, api, err := takeProvider(c, id, &models)
		if err != nil {
			return err
		}
		if id == "" || len(id) > MaxName {
			d.skipped += len(p.models)
			return nil
		}
		host, path, _ := locate(api)
		home, byAddress := homeOf(id, api)
		p.home, p.path = home, path
		if !byAddress && isPublic(host) {
			p.host = host
		}
		if i, twice := place[id]; twice {
			d.providers[i] = p
			return nil
		}
		place[id] = len(d.providers)
		d.providers = append(d.providers, p)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case !c.end():
		return nil, c.expected("the end")
	}
	d.arrange()
	d.all = sync.OnceValues(d.list)
	return d, nil
}

func takeProvider(c *cursor, id string, models *int) (p *provider, api string, err error) {
	p = &provider{id: id, name: id}
	err = c.object(func(field string) error {
		if field == "models" {
			p.models = nil // of a field that is there twice the second counts
		}
		if field == "models" && c.here() == '{' {
			return c.object(func(id string) error {
				if *models++; *models > MaxModels {
					return fmt.Errorf("it lists more than %d models", MaxModels)
				}
				raw, err := c.value()
				p.models = append(p.models, member{id, raw})
				return err
			})
		}
		raw, err := c.value()
		switch field {
		case "api":
			api = word(raw)
		case "npm":
			p.anthropic = word(raw) == "@ai-sdk/anthropic"
		}
		return err
	})
	p.at = sync.OnceValue(func() map[string]int {
		at := make(map[string]int, len(p.models))
		for i, m := range p.models {
			at[m.id] = i
		}
		return at
	})
	return p, api, err
}

// word is a string of JSON, "" for anything else.
func word(raw []byte) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// arrange puts the providers where they are looked for, and names them as the embedded catalogue does.
func (d *document) arrange() {
	slices.SortFunc(d.providers, func(a, b *provider) int { return strings.Compare(a.id, b.id) })
	for _, p := range d.providers {
		if p.home != "" {
			d.byHome[p.home] = append(d.byHome[p.home], p)
		}
		if p.host != "" {
			d.byHost[p.host] = append(d.byHost[p.host], p)
		}
	}
	for home, same := range d.byHome {
		slices.SortStableFunc(same, func(a, b *provider) int { return cmp.Compare(a.distance(home), b.distance(home)) })
		same[0].name = home
	}
	slices.SortStableFunc(d.providers, func(a, b *provider) int { return strings.Compare(a.name, b.name) })
}

// distance is 0 for the provider that is called like the embedded catalogue's.
func (p *provider) distance(home string) int {
	if p.id == home || slices.Contains(renamed, rename{p.id, home}) {
		return 0
	}
	return 1
}

// behind are the providers that may answer at an address: those of its host whose own path is most like it. That is one, nearly
// always. Where it is not, the one that lists by the embedded catalogue's name is first.
func (d *document) behind(host, path string) []*provider {
	var all []*provider
	if home, ok := named(addresses, host, path); ok {
		all = d.byHome[home]
	} else if home, ok := named(elsewhere, host, path); ok {
		all = d.byHome[home]
	} else {
		all = d.byHost[host]
	}
	most := 0
	for _, p := range all {
		most = max(most, shared(p.path, path))
	}
	var behind []*provider
	for _, p := range all {
		if shared(p.path, path) == most {
			behind = append(behind, p)
		}
	}
	return behind
}

func (p *provider) row(modelID string) (fresh, bool) {
	i, ok := p.at()[modelID]
	if !ok {
		return fresh{}, false
	}
	f, err := freshOf(modelID, p.models[i].raw, p.anthropic)
	f.Provider = p.name
	return f, err == nil
}

// lookupAmong is what is known of a model that one of several providers serves. embedded is the embedded catalogue's name of them.
func lookupAmong(behind []*provider, embedded, modelID string) (model.Info, bool) {
	var found fresh
	listed, agreed := false, true
	for _, p := range behind {
		f, ok := p.row(modelID)
		switch {
		case !ok:
		case !listed:
			found, listed = f, true
		default:
			agreed = agreed && samePrice(found.Info.Price, f.Info.Price)
			found = strictest(found, f)
		}
	}
	if !listed {
		return model.Info{}, false
	}
	found = found.over(embedded)
	if !agreed {
		found.Info.Price = nil
	}
	return found.Info, true
}

// list decodes every model, and counts those that have not the form of one.
func (d *document) list() (list []ext.CatalogueModel, skipped int) {
	skipped = d.skipped
	seen := map[key]bool{}
	for _, p := range d.providers {
		for i, m := range p.models {
			if k := (key{p.name, m.id}); p.at()[m.id] != i || seen[k] {
				continue
			}
			f, err := freshOf(m.id, m.raw, p.anthropic)
			switch {
			case errors.Is(err, errMute):
				continue
			case err != nil:
				skipped++
				continue
			}
			seen[key{p.name, m.id}] = true
			f.Provider = p.name
			list = append(list, f.over(p.home).CatalogueModel)
		}
	}
	return list, skipped
}

// Refreshed is what there is to say of a home's refreshed catalogue.
type Refreshed struct {
	Path      string
	Fetched   time.Time // when it was downloaded; zero when there is none
	Providers int       // those with a model
	Models    int
	Skipped   int   // models that were not understood
	Err       error // why the file is not used
}

// Inspect reads a home's refreshed catalogue anew, and whole.
func Inspect(home string) Refreshed {
	r := Refreshed{Path: filepath.Join(home, File)}
	d, fetched, err := read(home, MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return r
	}
	r.Fetched, r.Err = fetched, err
	if err != nil {
		return r
	}
	list, skipped := d.all()
	r.Providers, r.Models, r.Skipped = countProviders(list), len(list), skipped
	if r.Models == 0 {
		r.Err = fmt.Errorf("%s: it lists no model", r.Path)
	}
	return r
}

func countProviders(list []ext.CatalogueModel) int {
	seen := map[string]bool{}
	for _, row := range list {
		seen[row.Provider] = true
	}
	return len(seen)
}
