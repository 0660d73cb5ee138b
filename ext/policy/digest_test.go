package policy_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"octavo/ext/policy"
)

func TestDigestIgnoresWhiteSpaceAndKeyOrder(t *testing.T) {
	for _, same := range [][]string{
		{`{"a":1,"b":[true,null,"x y"]}`, " {\n\t\"b\" : [ true , null,\"x y\" ],\r\n\"a\":1 } \n"},
		{`{"a":{"x":1,"y":{"p":1,"q":2}},"b":2}`, `{"b":2,"a":{"y":{"q":2,"p":1},"x":1}}`},
		{`[{"a":1,"b":2}]`, `[{"b":2,"a":1}]`},
		{`{}`, ` { } `}, {`[]`, `[ ]`}, {`{"a":[],"b":{}}`, `{ "b":{ }, "a":[ ] }`},
		{`{"é":1,"a\"}":2}`, `{"a\"}":2,"é":1}`},
		{`"x"`, "\t\"x\""}, {`1`, ` 1 `}, {`null`, "null\n"},
	} {
		for _, s := range same[1:] {
			if policy.Digest("t", []byte(same[0])) != policy.Digest("t", []byte(s)) {
				t.Errorf("%s and %s are the same call", same[0], s)
			}
		}
	}
}

func TestDigestTellsEverythingElseApart(t *testing.T) {
	type call struct{ tool, args string }
	calls := []call{
		{"t", `{"n":1}`}, {"t", `{"n":1.0}`}, {"t", `{"n":1e0}`}, {"t", `{"n":1E0}`}, {"t", `{"n":"1"}`}, {"t", `{"n":-0}`}, {"t", `{"n":0}`},
		{"t", `{"n":9007199254740992}`}, {"t", `{"n":9007199254740993}`}, {"t", `{"n":123456789012345678901234567890}`},
		{"t", `{"n":123456789012345678901234567891}`}, {"t", `{"n":1e400}`}, {"t", `{"n":1e401}`},
		// Of two members with one key the last counts, for some readers; so each of them and their order matter.
		{"t", `{"n":1,"n":2}`}, {"t", `{"n":2,"n":1}`}, {"t", `{"n":2}`}, {"t", `{"n":2,"n":2}`},
		{"t", `{"n":1,"N":2}`}, {"t", `{"N":2,"n":1}`}, {"t", `{"n":1,"\u006e":2}`}, {"t", `{"\u006e":2,"n":1}`},
		{"t", `{"k":1,"` + "\u212a" + `":2}`}, {"t", `{"` + "\u212a" + `":2,"k":1}`}, // the Kelvin sign
		// What follows the value is part of the call.
		{"t", `{"n":1} ` + "\u00a0"}, {"t", `{"n":1}}`}, {"t", `{"n":1}]`}, {"t", `{"n":1}{}`}, {"t", `{"n":1} x`}, {"t", `{"n":1},`}, {"t", "{\"n\":1}\x00"},
		// Strings as they are written.
		{"t", `{"s":"a b"}`}, {"t", `{"s":"a  b"}`}, {"t", `{"s":"A"}`}, {"t", `{"s":"\u0041"}`}, {"t", `{"s":"<"}`}, {"t", `{"s":"\u003c"}`},
		{"t", "{\"s\":\"\xff\"}"}, {"t", "{\"s\":\"\xfe\"}"}, {"t", "{\"s\":\"\ufffd\"}"}, {"t", `{"s":"\ud800"}`}, {"t", `{"s":"\ud801"}`},
		{"t", "{\"s\":\"\u2028\"}"}, {"t", `{"s":"\u2028"}`},
		// Order within a list, and structure.
		{"t", `[1,2]`}, {"t", `[2,1]`}, {"t", `[12]`}, {"t", `[[1],2]`}, {"t", `[[1,2]]`}, {"t", `[]`}, {"t", `{}`}, {"t", `{"":null}`}, {"t", `null`},
		{"t", `{"a":{"b":1},"c":2}`}, {"t", `{"a":{"b":1,"c":2}}`}, {"t", `{"a,b":1}`}, {"t", `{"a":"b\",\"c\":\"d"}`}, {"t", `{"a":"b","c":"d"}`},
		// What is no JSON at all.
		{"t", ``}, {"t", ` `}, {"t", `{`}, {"t", `{"n":1`}, {"t", `{'n':1}`}, {"t", `{"n":01}`}, {"t", `{"n":1,}`}, {"t", "\ufeff{\"n\":1}"},
		// Where the name ends and the arguments begin.
		{"t1", `2`}, {"t", `12`}, {"", `t12`}, {"t12", ``}, {"1:t", `{"n":1}`}, {"1", `:t{"n":1}`}, {"T", `{"n":1}`},
	}
	seen := map[string]call{}
	for _, c := range calls {
		d := policy.Digest(c.tool, []byte(c.args))
		if other, taken := seen[d]; taken {
			t.Errorf("%q %q has the digest of %q %q", c.tool, c.args, other.tool, other.args)
		}
		seen[d] = c
	}
}

func TestDigestDoesNotTouchItsArguments(t *testing.T) {
	args := []byte(`{ "b": 1, "a": {"z":1, "y":2} }`)
	before := bytes.Clone(args)
	policy.Digest("t", args)
	if !bytes.Equal(args, before) {
		t.Errorf("the arguments are now %s", args)
	}
	deep := strings.Repeat(`{"a":[`, 4000) + strings.Repeat(`]}`, 4000)
	if policy.Digest("t", []byte(deep)) == policy.Digest("t", []byte(deep+"]")) {
		t.Error("deep arguments lose what follows them")
	}
}

// FuzzDigest holds what a digest may ignore against encoding/json: calls with one digest must decode to one value, literal by
// literal, and white space must not matter.
func FuzzDigest(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":2}`, `{"b":2,"a":1}`, `{"a":1,"A":2}`, `[1,{"x":"\u0041\\","y":[{}]}]`, `{"a":1} }`, "\"\xff\"", `1e0`, ``} {
		for _, other := range []string{`{"b":2,"a":1}`, `{"A":2,"a":1}`, s} {
			f.Add(s, other)
		}
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		d := policy.Digest("t", []byte(one))
		if d == policy.Digest("t ", []byte(one)) {
			t.Fatal("the name of the tool does not count")
		}
		if d == policy.Digest("t", []byte(other)) && one != other {
			a, okA := decode(one)
			b, okB := decode(other)
			if !okA || !okB || a != b {
				t.Fatalf("%q and %q have one digest", one, other)
			}
		}
		var spaced bytes.Buffer
		if json.Indent(&spaced, []byte(one), " ", "\t") == nil && d != policy.Digest("t", spaced.Bytes()) {
			t.Fatalf("%q has another digest than itself with white space", one)
		}
	})
}

// decode is another way to a sorted form: through encoding/json, which forgets how strings were written and which members lost.
func decode(s string) (string, bool) {
	if !json.Valid([]byte(s)) {
		return "", false
	}
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return "", false
	}
	b, err := json.Marshal(v)
	return string(b), err == nil
}
