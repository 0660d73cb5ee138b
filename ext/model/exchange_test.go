package model

import (
	"fmt"
	"testing"
)

func TestListModelsReadsWhatServersSend(t *testing.T) {
	for body, want := range map[string]string{
		`{"object":"list","data":[{"id":"z"},{"id":"a","owned_by":"x"}]}`: "[a z] true",
		`[{"id":"t"}]`:     "[t] true",
		`{"data":null}`:    "[] true",
		`{"data":{"x":1}}`: "[] false",
		`nonsense`:         "[] false",
	} {
		got, err := readModels([]byte(body))
		if s := fmt.Sprint(got, err == nil); s != want {
			t.Errorf("%s: %s, want %s", body, s, want)
		}
	}
}
