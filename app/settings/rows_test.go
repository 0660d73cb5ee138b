package settings

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTableIsWhole(t *testing.T) {
	envs, names := map[string]string{}, map[string]bool{}
	for _, r := range rows {
		if names[r.Name] {
			t.Errorf("%s is there twice", r.Name)
		}
		names[r.Name] = true
		if r.Env != "" && envs[r.Env] != "" {
			t.Errorf("%s: %s is taken by %s", r.Name, r.Env, envs[r.Env])
		}
		envs[r.Env] = r.Name
		if !strings.HasSuffix(r.Doc, ".") {
			t.Errorf("%s: doc %q is no sentence", r.Name, r.Doc)
		}
		if r.isHost() && r.Env == "" {
			t.Errorf("%s cannot be set by the environment", r.Name)
		}
		if !r.isHost() && (r.Env != "" || r.Project != Never) {
			t.Errorf("%s is a provider's and must be the person's alone", r.Name)
		}
		if r.Default != nil {
			if v, err := r.value(r.Default); err != nil || !cmp.Equal(v, r.Default) {
				t.Errorf("%s: default %v: %v", r.Name, r.Default, err)
			}
		}
	}
	keys := Keys()
	for i := range keys {
		if len(keys[i].Allowed) > 0 {
			keys[i].Allowed[0] = "changed"
		}
	}
	for _, r := range rows {
		if slices.Contains(r.Allowed, "changed") {
			t.Errorf("%s: Keys gives the table itself away", r.Name)
		}
	}
}
