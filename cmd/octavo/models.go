package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sahilm/fuzzy"
	"github.com/spf13/cobra"

	"octavo/app"
	"octavo/app/api"
	"octavo/app/settings"
	"octavo/ext/builtin"
	"octavo/ext/model"
	"octavo/pages/text"
	"octavo/render"
)

// search is the value of --list-models, which may be given without one; its words may follow as arguments.
type search struct {
	wanted bool
	words  string
}

// searchNothing is what the flag's parser sets when the flag has no value.
const searchNothing = "true"

func (s *search) String() string { return s.words }

// Type is what the usage takes for a flag that needs no value.
func (s *search) Type() string { return "bool" }

func (s *search) Set(words string) error {
	s.wanted = true
	if words != searchNothing {
		s.words = words
	}
	return nil
}

// everything is the search word that adds the models of providers that are not configured.
const everything = "all"

// listedModel is one line of --list-models. Its names are those of config.toml; what is not known is null (decision 19).
type listedModel struct {
	Type            string       `json:"type"` // "model"
	Provider        string       `json:"provider"`
	Model           string       `json:"model"` // the provider's own id
	Name            string       `json:"name,omitempty"`
	Configured      bool         `json:"configured"`          // config.toml lists the model
	Usable          bool         `json:"provider_configured"` // --model PROVIDER/MODEL finds its endpoint
	ContextTokens   *int         `json:"context_tokens"`
	MaxOutputTokens *int         `json:"max_output_tokens"`
	Reasons         *bool        `json:"reasons"`
	Efforts         []string     `json:"efforts"`
	Images          *bool        `json:"images"`
	Price           *model.Price `json:"price"` // microdollars for a million tokens
}

// listModels prints what is known of models (product.md 3.2). It asks no endpoint and opens no store.
func (p *process) listModels(c *cobra.Command, f *flags, args []string) error {
	if err := f.check(c); err != nil {
		return err
	}
	s, warnings, _, err := p.settings(c, f)
	for _, w := range warnings {
		fmt.Fprintln(p.stderr, "[config] "+text.Clean(w.String()))
	}
	if err != nil {
		return err
	}
	words := strings.Fields(strings.ToLower(f.listModels.words + " " + strings.Join(args, " ")))
	all := len(words) > 0 && words[0] == everything
	if all {
		words = words[1:]
	}
	catalogues := builtin.Catalogues(s.Home)
	var listed []listedModel
	for _, m := range app.ListModels(s, catalogues) {
		listed = append(listed, listedAs(m, true))
	}
	connected := len(s.Providers) > 0 || len(s.Unconfigured()) > 0
	if all || !connected {
		for _, m := range app.OtherModels(s, catalogues) {
			listed = append(listed, listedAs(m, false))
		}
	}
	listed = matching(listed, words)
	if f.mode == "json" {
		out := json.NewEncoder(p.stdout)
		for _, m := range listed {
			if err := out.Encode(m); err != nil {
				return err
			}
		}
		return nil
	}
	return p.showModels(s, listed, all, connected, words)
}

func (p *process) showModels(s *settings.Settings, listed []listedModel, all, connected bool, words []string) error {
	wider := strings.Join(append([]string{"octavo --list-models", everything}, words...), " ")
	switch {
	case len(listed) == 0 && !all && connected:
		fmt.Fprintln(p.stderr, "no model of a connected provider is found; "+text.CleanLine(wider)+" looks at every provider")
		return nil
	case len(listed) == 0:
		fmt.Fprintln(p.stderr, "no model is found")
		return nil
	}
	rows := make([][]string, 0, len(listed))
	for _, m := range listed {
		rows = append(rows, m.row())
	}
	_, err := fmt.Fprintln(p.stdout, render.HeadedTable([]string{"", "provider", "model", "context", "max out", "thinking", "images", "$/M in", "$/M out"},
		rows, p.renderOptions(s)))
	if err != nil {
		return err
	}
	legend := "* in config.toml   - its provider is not connected   ? not known"
	if !connected {
		legend += "\nno provider is connected: this is what the catalogue knows; octavo --login PROVIDER connects one, octavo help models says more"
	}
	fmt.Fprintln(p.stderr, legend)
	return nil
}

// listedAs is a model as --list-models tells it.
func listedAs(m api.ModelInfo, usable bool) listedModel {
	provider, id, _ := strings.Cut(m.ID, "/")
	l := listedModel{Type: "model", Provider: provider, Model: id, Name: m.Name, Configured: m.Configured, Usable: usable,
		Reasons: m.Reasons, Efforts: m.Efforts, Images: m.Images}
	if m.Context > 0 {
		l.ContextTokens = &m.Context
	}
	if m.MaxOutput > 0 {
		l.MaxOutputTokens = &m.MaxOutput
	}
	if c := m.Price; c != nil {
		l.Price = &model.Price{Input: c.Input, Output: c.Output, CacheRead: c.CacheRead, CacheWrite: c.CacheWrite}
	}
	return l
}

const unknown = "?"

func (m listedModel) row() []string {
	mark := ""
	switch {
	case m.Configured:
		mark = "*"
	case !m.Usable:
		mark = "-"
	}
	in, out := unknown, unknown
	if m.Price != nil {
		in, out = dollars(m.Price.Input), dollars(m.Price.Output)
	}
	return []string{mark, m.Provider, m.Model, count(m.ContextTokens), count(m.MaxOutputTokens), m.thinking(), yes(m.Images), in, out}
}

// thinking names the levels, or says whether it thinks where they are not known.
func (m listedModel) thinking() string {
	if m.Reasons != nil && *m.Reasons && len(m.Efforts) > 0 {
		return strings.Join(m.Efforts, " ")
	}
	return yes(m.Reasons)
}

func yes(b *bool) string {
	switch {
	case b == nil:
		return unknown
	case *b:
		return "yes"
	default:
		return "no"
	}
}

func count(n *int) string {
	if n == nil {
		return unknown
	}
	return text.Count(int64(*n))
}

// dollars writes microdollars as dollars, with every digit that counts: 2.5, 0.0028, free.
func dollars(micro int64) string {
	const dollar = 1_000_000
	if micro == 0 {
		return "free"
	}
	s := strconv.FormatInt(micro/dollar, 10)
	if part := micro % dollar; part != 0 {
		s += "." + strings.TrimRight(fmt.Sprintf("%06d", part), "0")
	}
	return s
}

// maxNear is how many models are shown for words that none has.
const maxNear = 20

// matching are the models with every word in their provider, id or name; when there are none, the nearest of those that have the
// letters of all words in that order, the nearest first.
func matching(listed []listedModel, words []string) []listedModel {
	if len(words) == 0 {
		return listed
	}
	var found []listedModel
	names := make([]string, len(listed))
	for i, m := range listed {
		names[i] = strings.ToLower(m.Provider + "/" + m.Model + " " + m.Name)
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(names[i], w) }) {
			found = append(found, m)
		}
	}
	if len(found) == 0 {
		near := fuzzy.Find(strings.Join(words, ""), names)
		for _, match := range near[:min(len(near), maxNear)] {
			found = append(found, listed[match.Index])
		}
	}
	return found
}
