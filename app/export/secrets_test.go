package export_test

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"

	"octavo/app/api"
	"octavo/app/export"
	"octavo/pages"
)

// exported is what becomes of a text.
func exported(t testing.TB, s string) string {
	t.Helper()
	d := read(t, write(t, export.JSON, one(api.Entry{Kind: api.EntryNote, Parts: words(s)}), export.Options{}))
	if len(d.Entries[0].Parts) == 0 {
		return ""
	}
	return d.Entries[0].Parts[0].Text
}

// letters are n letters and digits as a token has them. Tokens are put together here, so that no scanner takes this file for a leak.
func letters(n int) string {
	const alphabet = "aB3dE6gH9jK2mN5pQ8sT1vW4xY7z"
	return strings.Repeat(alphabet, n/len(alphabet)+1)[:n]
}

func TestCredentials(t *testing.T) {
	upper := strings.ToUpper(letters(16))
	for _, s := range []string{
		"sk-" + letters(48), "sk-proj-" + letters(40) + "_" + letters(30) + "-" + letters(20), "sk-ant-api03-" + letters(80) + "-AA", "sk-or-v1-" + strings.Repeat("0123456789abcdef", 4),
		"ghp" + "_" + letters(36), "gho" + "_" + letters(36), "ghs" + "_" + letters(36), "ghp" + `\_` + letters(36), "github" + "_pat_" + letters(22) + "_" + letters(59), "github" + `\_pat\_` + letters(22),
		"glpat-" + letters(20), "xoxb-" + "123456789012-1234567890123-" + letters(24), "xoxp-" + letters(30), "xapp-1-" + letters(40),
		"AKIA" + upper, "ASIA" + upper, "AIza" + letters(35), "ya29." + letters(60), "hf" + "_" + letters(34), "gsk" + "_" + letters(52), "xai-" + letters(80), "nvapi-" + letters(60), "pplx-" + letters(48),
		"npm" + "_" + letters(36), "pypi-" + letters(60), "sk" + "_live_" + letters(24), "rk" + "_test_" + letters(24),
		"eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + letters(43),
	} {
		for _, around := range [][2]string{{"", ""}, {"the key is ", "."}, {"KEY=\"", "\""}, {"{\"key\":\"", "\"}"}, {"(", ")"}, {"漢", " 字"}, {"a/", "\n"}, {"`", "`"}} {
			if got, want := exported(t, around[0]+s+around[1]), around[0]+export.Redacted+around[1]; got != want {
				t.Errorf("%q became %q, want %q", around[0]+s+around[1], got, want)
			}
		}
	}
	for in, want := range map[string]string{
		"Authorization: Bearer abc.def":                                   "Authorization: Bearer [redacted]",
		"authorization:  basic dXNlcjpwYXNz\nnext":                        "authorization:  basic [redacted]\nnext",
		`curl -H "Authorization: token 0123456789abcdef" x`:               `curl -H "Authorization: token [redacted]" x`,
		`{"command":"curl -H \"Authorization: Bearer s3cret\" x"}`:        `{"command":"curl -H \"Authorization: Bearer [redacted]\" x"}`,
		`"Authorization": ["Bearer s3cret"]`:                              `"Authorization": ["Bearer [redacted]"]`,
		"x-api-key: s3cret, more":                                         "x-api-key: [redacted], more",
		"X-Goog-Api-Key: s3cret":                                          "X-Goog-Api-Key: [redacted]",
		"aws_secret_access_key = " + letters(40):                          "aws_secret_access_key = [redacted]",
		`"SecretAccessKey": "` + letters(40) + `"`:                        `"SecretAccessKey": "[redacted]"`,
		"postgres://ada:p4ss@db:5432/x and https://u:v@h":                 "postgres://ada:[redacted]@db:5432/x and https://u:[redacted]@h",
		"https://" + "x-access-token:ghp" + "_" + letters(36) + "@github": "https://x-access-token:[redacted]@github",
		"two: sk-" + letters(30) + " sk-" + letters(31):                   "two: [redacted] [redacted]",
		// grep --color cuts what it finds out of its surroundings.
		"key=\x1b[01;31m\x1b[Ksk-\x1b[m\x1b[K" + letters(40): "key=[redacted]",
	} {
		if got := exported(t, in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
		if got := exported(t, want); got != want {
			t.Errorf("what is redacted, %q, became %q", want, got)
		}
	}
}

func TestNoCredentials(t *testing.T) {
	random := rand.NewChaCha8([32]byte{})
	bytes := make([]byte, 256<<10)
	random.Read(bytes)
	for _, s := range []string{
		"7327d576c1f0c9e6b4b1b7f4d1f2a3c4e5d6f708", "sha256:b4a1f0c2d3e4f5061728394a5b6c7d8e9f00112233445566778899aabbccddee", "0199a0f1-7c21-7d3e-9a55-2f1c0b9d8e77",
		"h1:HcUuU3Yx+9F4R2a6wsOzN0mJ0sYI1vVvUrq4GUKZtPM=", "task-0123456789abcdef0123456789abcdef", "sk-folding-cube-animation-delay", "sk-learn", "risk-" + letters(40), "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"hf_hub_download_with_progress", "npm_config_user_agent", "ghp_", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "github_pat_YOUR_TOKEN_GOES_HERE_PLEASE", "xoxb-your-token-goes-here", "glpat-your-token-goes-here",
		"AKIA", "AKIAshort", "AIza", "AIzaSyTooShort", "AIza" + letters(36), "eyJhbGciOiJIUzI1NiJ9", "eyJ.eyJ.sig", "Bearer tokens are sent in a header", "Authorization: Bearer $TOKEN", "Authorization: Bearer <token>",
		"Authorization: Bearer", "the authorization of bearer bonds", "x-api-key: $KEY", "x-api-key: {key}", "http://localhost:8080/@vite/client", "git@github.com:ada/retry.git", "ssh://git@github.com:22/x", "https://user:$PASS@host",
		"https://proxy.golang.org/golang.org/x/text/@v/list", "mailto:ada@example.com", "aws_secret_access_key = YOUR_KEY", "test_live_data_is_not_a_key", "sk_live_",
		`strings.Contains(s, "-----BEGIN RSA PRIVATE KEY-----")`, "begin := \"-----BEGIN PRIVATE KEY-----\"\nend := \"-----END PRIVATE KEY-----\"\nreturn begin + body + end",
		"-----BEGIN PUBLIC KEY-----\n" + letters(64) + "\n-----END PUBLIC KEY-----", "-----BEGIN CERTIFICATE-----\n" + letters(64) + "\n-----END CERTIFICATE-----",
		"data:image/png;base64," + base64.StdEncoding.EncodeToString(chart), base64.StdEncoding.EncodeToString(bytes), base64.URLEncoding.EncodeToString(bytes),
	} {
		if got := exported(t, s); got != s {
			t.Errorf("%.100q became %.100q", s, got)
		}
	}
}

func TestPrivateKeys(t *testing.T) {
	body := strings.Repeat(letters(64)+"\n", 24) + "Jw==\n"
	key := "-----BEGIN RSA PRIVATE KEY-----\n" + body + "-----END RSA PRIVATE KEY-----"
	numbered := ""
	for i, line := range strings.Split(key, "\n") {
		numbered += strings.Repeat(" ", i%3) + "12\t" + line + "\n"
	}
	for in, want := range map[string]string{
		key:                 "[redacted]",
		"a\n" + key + "\nb": "a\n[redacted]\nb",
		key + "\n" + key:    "[redacted]\n[redacted]",
		numbered:            "12\t[redacted]\n",
		`{"content":"` + strings.ReplaceAll(key, "\n", `\n`) + `"}`:                                `{"content":"[redacted]"}`,
		strings.ReplaceAll(key, "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY"):                          "[redacted]",
		strings.ReplaceAll(key, "RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK"):                        "[redacted]",
		strings.Replace(key, "KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: x\n\n", 1): "[redacted]",
		// The output of a tool may end in the middle of a key.
		"a\n" + key[:400]: "a\n[redacted]",
		"-----BEGIN RSA PRIVATE KEY-----, then\n" + key: "-----BEGIN RSA PRIVATE KEY-----, then\n[redacted]",
	} {
		if got := exported(t, in); got != want {
			t.Errorf("%.60q became %.200q, want %.60q", in, got, want)
		}
	}
	for n, whole := range map[int]bool{export.MaxKey: true, export.MaxKey + 1: false} {
		const begin, end = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"
		// A key that is too long is taken for one whose end is far away.
		s := begin + "\n" + letters(n-len(end)-3) + "!\n" + end
		if got := exported(t, s); (got == export.Redacted) != whole || strings.Contains(got, letters(40)) {
			t.Errorf("a key of %d bytes became %.100q", n, got)
		}
	}
}

// TestPrivateKeysInChanges is about keys over the lines of a diff.
func TestPrivateKeysInChanges(t *testing.T) {
	lines := func(texts ...string) (all []pages.DiffLine) {
		for i, s := range texts {
			all = append(all, pages.DiffLine{Op: []pages.LineOp{pages.LineAdded, pages.LineDeleted, pages.LineSame}[i%3], Text: s})
		}
		return all
	}
	hide := func(in []pages.DiffLine) (out []string) {
		d := &pages.Diff{Path: "key.pem", Hunks: []pages.Hunk{{Lines: in}}}
		e := api.Entry{Kind: api.EntryResult, Call: &api.Call{}, Result: &api.Result{Display: &pages.Display{Diff: d}}}
		for _, l := range read(t, write(t, export.JSON, one(e), export.Options{})).Entries[0].Result.Display.Diff.Hunks[0].Lines {
			out = append(out, l.Text)
		}
		return out
	}
	const begin, end = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"
	for _, tt := range [][2][]string{
		{{"a", begin, letters(64), "  " + letters(64), "Jw==", end, "return"}, {"a", begin, "[redacted]", "[redacted]", "[redacted]", end, "return"}},
		{{begin, "Proc-Type: 4,ENCRYPTED", "", letters(64), letters(64)}, {begin, "Proc-Type: 4,ENCRYPTED", "", "[redacted]", "[redacted]"}},
		{{"x := \"" + begin + `\n" +`, `"` + letters(64) + `\n" +`, `"` + end + `"`}, {"x := \"" + begin + `\n" +`, "[redacted]", `"` + end + `"`}},
		{{"if has(s, \"" + begin + "\") {", "return", letters(64), "}"}, {"if has(s, \"" + begin + "\") {", "return", letters(64), "}"}},
		{{letters(64), end, letters(64)}, {letters(64), end, letters(64)}},
		{{begin + `\n` + letters(64) + `\n` + end, letters(64)}, {"[redacted]", letters(64)}},
	} {
		if got := strings.Join(hide(lines(tt[0]...)), "|"); got != strings.Join(tt[1], "|") {
			t.Errorf("%.100q became %.200q", tt[0], got)
		}
	}
}

// TestSpelledOut is about arguments, of which a page shows what they mean.
func TestSpelledOut(t *testing.T) {
	key := "sk-" + letters(40)
	args := `{"k\u0065y":"\u0073k\u002d` + letters(40) + `","list":["` + key + `"]}`
	page := write(t, export.HTML, one(api.Entry{Kind: api.EntryResult, Call: &api.Call{Tool: "x", Arguments: args}, Result: &api.Result{Outcome: api.ResultOK}}), export.Options{})
	if _, text := checkPage(t, page); strings.Contains(text, letters(40)) || strings.Count(text, export.Redacted) != 3 || !strings.Contains(text, "key") {
		t.Errorf("the page has the key, or nothing in its place:\n%s", text)
	}
}

func FuzzCredentials(f *testing.F) {
	for _, s := range append(seeds, "sk-"+letters(40)+" Authorization: Bearer x://a:b@c", "-----BEGIN PRIVATE KEY-----\n"+letters(64), "x-api-key: [redacted]") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if once := exported(t, s); exported(t, once) != once {
			t.Errorf("%q becomes %q, and that %q", s, once, exported(t, once))
		}
	})
}

func BenchmarkCredentials(b *testing.B) {
	text := strings.Repeat("func main() { fmt.Println(\"https://example.com/a?b=c\", risk, authorization, 0x7f) } // go test -run TestX ./...\n", 10_000)
	entry := api.Entry{Kind: api.EntryNote, Parts: words(text)}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		var n counter
		if err := export.Write(b.Context(), &n, export.JSON, one(entry), export.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
