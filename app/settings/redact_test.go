package settings_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"octavo/app/settings"

	"pgregory.net/rapid"
)

// awkward are keys that a provider could be sent and whose spellings differ, or look like something else.
var awkward = []string{
	secret, "sk-0123456789abcdef-and-more", "sk-0123456789+/abc==", `q"uo\te"d"`, `"\"\"\"\"`, "<script>&amp;", `{"api_key":`, "12345678", `"content":`,
	"aaaaaaaa", "aaaaaaaaaab", "%2F%2F%2F%2F", "[redacted]!", "]redacted", "redacted", "[redacted", strings.Repeat("~", 100), "sk-sk-sk-key",
}

// known is what a text is without keys, said as simply as can be: from left to right, and of what begins at one place the longest.
func known(text string, spellings []string) string {
	var b strings.Builder
	for text != "" {
		longest := ""
		for _, s := range spellings {
			if len(s) > len(longest) && strings.HasPrefix(text, s) {
				longest = s
			}
		}
		if longest == "" {
			b.WriteByte(text[0])
			text = text[1:]
		} else {
			b.WriteString("[redacted]")
			text = text[len(longest):]
		}
	}
	return b.String()
}

// inJSON is a key as a string of JSON has it between its quotes.
func inJSON(t testing.TB, key string, html bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	if err := e.Encode(key); err != nil {
		t.Fatal(err)
	}
	return b.String()[1 : b.Len()-len("\"\n")]
}

func TestEverySpellingIsReplaced(t *testing.T) {
	for _, key := range awkward {
		var r settings.Redactor
		r.Add(key)
		if strings.Contains("[redacted]", key) {
			if got := r.Redact("a " + key + ", bearer " + key); got != "a "+key+", bearer "+key {
				t.Errorf("%q is part of the mark: %q", key, got)
			}
			continue
		}
		for name, text := range map[string]string{
			"as it is":       key,
			"query":          url.QueryEscape(key),
			"path":           url.PathEscape(key),
			"JSON":           inJSON(t, key, true),
			"JSON, no HTML":  inJSON(t, key, false),
			"JSON of PHP":    strings.ReplaceAll(inJSON(t, key, true), "/", `\/`),
			"base64":         base64.StdEncoding.EncodeToString([]byte(key)),
			"base64, URL":    base64.URLEncoding.EncodeToString([]byte(key)),
			"base64, no end": base64.RawStdEncoding.EncodeToString([]byte(key)),
		} {
			got := r.Redact("a " + text + " b")
			if name == "base64, no end" && got != "a [redacted] b" { // its last character may say no more than the end of the key
				got = strings.Replace(got, "[redacted]"+text[len(text)-1:], "[redacted]", 1)
			}
			if got != "a [redacted] b" {
				t.Errorf("%q, %s: %q gives %q", key, name, text, got)
			}
			if again := r.Redact(got); again != got {
				t.Errorf("%q, %s: %q becomes %q", key, name, got, again)
			}
		}
		for before := range 6 {
			long := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + key + " and more"))
			got := r.Redact(long)
			left, right, ok := strings.Cut(got, "[redacted]")
			if !ok || len(left) > (before*8+5)/6 || len(right) > (9*8)/6+4 {
				t.Errorf("%q in base64 after %d bytes: %q gives %q", key, before, long, got)
			}
		}
	}
}

func TestRedactTwiceIsRedactOnce(t *testing.T) {
	var r settings.Redactor
	for _, key := range append(awkward, "ollama") {
		r.Add(key)
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := append([]string{"Authorization: Bearer ", "Authorization: Basic x", "bearer ", "ollama", `\"`, "\n", " ", "]", "[redacted]"}, awkward...)
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(parts)).Draw(t, "text"), "")
		for name, redact := range map[string]func(string) string{"Redact": r.Redact, "RedactKeys": r.RedactKeys} {
			once := redact(text)
			for range 3 { // one mark next to another key may be taken into it
				if next := redact(once); next == once {
					break
				} else {
					once = next
				}
			}
			if again := redact(once); again != once {
				t.Fatalf("%s: %q becomes %q becomes %q", name, text, once, again)
			}
		}
	})
}

// TestHeadersAreHiddenFromLogsOnly: what a model writes into a file has to arrive there.
func TestHeadersAreHiddenFromLogsOnly(t *testing.T) {
	var r settings.Redactor
	r.Add(secret)
	for text, want := range map[string]string{
		`curl -H "Authorization: Bearer $KEY" x`:      `curl -H "Authorization: Bearer [redacted]" x`,
		`{"h":"\"Authorization: Bearer t0k3n\"\n"}`:   `{"h":"\"Authorization: Bearer [redacted]\"\n"}`,
		`Authorization: Bearer [redacted] and [more]`: `Authorization: Bearer [redacted] and [more]`,
		`AUTHORIZATION: bearer ` + secret:             `AUTHORIZATION: bearer [redacted]`,
		`no authorization, no bearer`:                 `no authorization, no bearer`,
	} {
		if got := r.Redact(text); got != want {
			t.Errorf("Redact(%q) = %q, want %q", text, got, want)
		}
		if got, want := r.RedactKeys(text), strings.ReplaceAll(text, secret, "[redacted]"); got != want {
			t.Errorf("RedactKeys(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestKeysBeyondTheBoundAreNotLookedFor(t *testing.T) {
	var r settings.Redactor
	long := strings.Repeat("k", settings.MaxKey)
	r.Add(long + "k")
	if got := r.Redact(long + "k"); got != long+"k" {
		t.Error("a key that cannot be sent was replaced")
	}
	r.Add(long)
	if got := r.Redact(long); got != "[redacted]" {
		t.Errorf("%.40q", got)
	}
}

// TestRedactorKnowsWhatCouldBeSent: the keys of providers that nobody configured, of a file that others can read, and of headers.
func TestRedactorKnowsWhatCouldBeSent(t *testing.T) {
	p := newPlace(t)
	p.env["ANTHROPIC_API_KEY"] = "preset-0123456789"
	p.env["OPENROUTER_API_KEY"] = "openrouter"
	p.write(p.config(), `
[providers.remote]
endpoint = "https://example.com/v1"
no_auth = true
headers = { X-Title = "octavo at work", Api-Key = "header-0123456789", X-Auth = "Token cHJveHk6cHJveHk=" }
`)
	p.write(p.auth(), `{"providers":{"remote":{"api_key":"stored-0123456789"},"lm-studio":{"api_key":"lm-studio"}}}`)
	if err := os.Chmod(p.auth(), 0o644); err != nil {
		t.Fatal(err)
	}
	r := p.must().Redactor()
	text := "preset-0123456789 header-0123456789 stored-0123456789 cHJveHk6cHJveHk= octavo at work lm-studio openrouter"
	if got, want := r.RedactKeys(text), "[redacted] [redacted] [redacted] [redacted] octavo at work lm-studio openrouter"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// stream redacts text in fragments that end where cuts say.
func stream(r *settings.Redactor, text string, cuts ...int) (out string, held int) {
	var b strings.Builder
	s := r.Stream()
	from := 0
	for _, to := range append(cuts, len(text)) {
		b.WriteString(s.Write(text[from:to]))
		from = to
	}
	rest := s.Flush()
	return b.String() + rest, len(rest)
}

func TestStreamIsTheWholeHoweverItIsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r settings.Redactor
		keys := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(awkward), rapid.StringMatching(`[ab]{8,12}`), rapid.StringMatching(`sk-[a-z"/]{5,20}`)), 1, 5).Draw(t, "keys")
		var parts []string
		for _, key := range keys {
			r.Add(key)
			parts = append(parts, key, url.QueryEscape(key), base64.StdEncoding.EncodeToString([]byte(key)), key[:len(key)-1], key[:3], key[1:])
		}
		parts = append(parts, "a", "s", "b", " ", "sk-", "[redacted]", "\x00\xff", "日本")
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12).Draw(t, "text"), "")
		want := known(text, settings.Spellings(keys...))
		if got := r.RedactKeys(text); got != want {
			t.Fatalf("keys %q: %q gives %q, want %q", keys, text, got, want)
		}
		for cut := range len(text) + 1 {
			if got, _ := stream(&r, text, cut); got != want {
				t.Fatalf("keys %q: %q cut at %d gives %q, want %q", keys, text, cut, got, want)
			}
		}
		every := make([]int, len(text))
		for i := range every {
			every[i] = i
		}
		if got, _ := stream(&r, text, every...); got != want {
			t.Fatalf("keys %q: %q byte by byte gives %q, want %q", keys, text, got, want)
		}
		longest := 0
		for _, s := range settings.Spellings(keys...) {
			longest = max(longest, len(s))
		}
		s := r.Stream()
		given, taken := 0, 0
		for _, piece := range strings.SplitAfter(text, "") {
			given += len(piece)
			// A mark may be shorter than what it stands for, so that only what was taken in without one says what is held.
			if out := s.Write(piece); !strings.Contains(out, "[redacted]") {
				taken += len(out)
			} else {
				return
			}
			if given-taken >= max(longest, 1) {
				t.Fatalf("keys %q: %d bytes of %q are held back, the longest spelling has %d", keys, given-taken, text[:given], longest)
			}
		}
	})
}

// FuzzStream holds a stream against the whole for any key and any text around it.
func FuzzStream(f *testing.F) {
	f.Add("sk-sk-sk-key", "sk-sk-", "x", 5)
	f.Add("aaaaaaaa", "aaaaaaa", "aaaaaaaaaaaa", 3)
	f.Add(`a"b\c<d>&e`, `\"`, `\`, 1)
	f.Add("[redacted]x", "[redacted]", "]x", 2)
	f.Fuzz(func(t *testing.T, key, before, after string, size int) {
		var r settings.Redactor
		r.Add(key)
		r.Add(key + "-and-more")
		text := before + key + after + key + "-and-mor" + after
		want := r.RedactKeys(text)
		if len(key) < settings.MinRedacted && strings.Contains(strings.ToLower(text), "bearer") {
			return // a short key is replaced in the whole only
		}
		if plain := known(text, settings.Spellings(key, key+"-and-more")); want != plain {
			t.Fatalf("%q gives %q, want %q", text, want, plain)
		}
		var cuts []int
		for at := max(1, size%17); at < len(text); at += max(1, size%17) {
			cuts = append(cuts, at)
		}
		if got, _ := stream(&r, text, cuts...); got != want {
			t.Fatalf("%q cut at %v gives %q, want %q", text, cuts, got, want)
		}
	})
}

// TestKeysAreAddedWhileOthersRedact is for the race detector; what was known at first is always replaced.
func TestKeysAreAddedWhileOthersRedact(t *testing.T) {
	var r settings.Redactor
	r.Add(secret)
	var work sync.WaitGroup
	for i := range 4 {
		work.Go(func() {
			for j := range 25 {
				r.Add(fmt.Sprintf("%s-%d-%d", secret[3:], i, j))
				r.Add(fmt.Sprint("s", i, j))
			}
		})
		work.Go(func() {
			for range 200 {
				if got := r.Redact("a " + secret); got != "a [redacted]" {
					t.Errorf("%q", got)
				}
				if got, _ := stream(&r, "a "+secret+".", 3, 9); got != "a [redacted]." {
					t.Errorf("%q", got)
				}
			}
		})
	}
	work.Wait()
}

func threeKeys() *settings.Redactor {
	var r settings.Redactor
	for _, key := range []string{
		"sk-ant-api03-" + strings.Repeat("Zq3x_9-B", 11), "sk-proj-" + strings.Repeat("aB3dE5gH", 6), "AIzaSy" + strings.Repeat("k7M", 11),
	} {
		r.Add(key)
	}
	return &r
}

// code is a MiB of what octavo reads most.
func code(b *testing.B) string {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		b.Fatal(files, err)
	}
	var all strings.Builder
	for i := 0; all.Len() < 1<<20; i++ {
		data, err := os.ReadFile(files[i%len(files)])
		if err != nil {
			b.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()[:1<<20]
}

func BenchmarkRedactCode(b *testing.B) {
	text := code(b)
	r := threeKeys()
	for name, redact := range map[string]func(string) string{"log": r.Redact, "keys": r.RedactKeys} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				redact(text)
			}
		})
	}
}

// BenchmarkStream redacts 10,000 deltas of 4 bytes, and output in pieces as a command's come.
func BenchmarkStream(b *testing.B) {
	text := code(b)
	r := threeKeys()
	for name, c := range map[string]struct{ count, size int }{"deltas": {10_000, 4}, "output": {32, 32 << 10}} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(c.count * c.size))
			b.ReportAllocs()
			for b.Loop() {
				s := r.Stream()
				for i := range c.count {
					s.Write(text[i*c.size : (i+1)*c.size])
				}
				s.Flush()
			}
		})
	}
}

func BenchmarkAddKeys(b *testing.B) {
	for b.Loop() {
		threeKeys()
	}
}
