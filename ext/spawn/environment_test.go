package spawn

import (
	"slices"
	"strings"
	"testing"
)

func TestCredentialsAreKnownByName(t *testing.T) {
	for _, name := range []string{
		"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "openai_api_key", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
		"GITHUB_TOKEN", "GH_TOKEN", "NPM_TOKEN", "npm_config__authToken", "NODE_AUTH_TOKEN", "DB_PASSWORD", "PGPASSWORD", "MYSQL_PWD",
		"DB_PASS", "SECRET", "MY_SECRET_THING", "CLIENTSECRET", "GOOGLE_APPLICATION_CREDENTIALS", "AZURE_DEVOPS_EXT_PAT", "JWT",
		"APIKEY", "MYAPIKEY", "SSH_PRIVATE_KEY", "SESSION_COOKIE", "HTTP_BEARER", "GPG_PASSPHRASE", "BASIC_AUTH", "VAULT-TOKEN",
	} {
		if !IsCredential(name) {
			t.Errorf("%s passes", name)
		}
	}
	for _, name := range []string{
		"PATH", "HOME", "PWD", "OLDPWD", "USER", "LANG", "LC_ALL", "SSH_AUTH_SOCK", "TMPDIR", "GOPATH", "KEYBOARD", "MONKEY", "COMPASS",
		"TOKENIZERS_PARALLELISM", "XAUTHORITY", "AUTHOR", "GIT_AUTHOR_NAME", "BYPASS_CHECKS", "PATTERN", "OCTAVO_HOME", "SSH_ASKPASS",
	} {
		if IsCredential(name) {
			t.Errorf("%s is held back", name)
		}
	}
}

func TestEnvironmentIsSanitised(t *testing.T) {
	got := sanitise([]string{
		"PATH=/bin", "HOME=/home/me", "SSH_AUTH_SOCK=/s", "TERM=xterm-256color", "PAGER=less", "OCTAVO_HOME=/o", "OCTAVO_EFFECT_POLICY=unsafe_host",
		"OCTAVO_SPAWN=outer.1", "OPENAI_API_KEY=k", "BASH_ENV=/evil", "ENV=/evil", "BASH_FUNC_ls%%=() { rm; }", "_=/bin/x", "EMPTY=", "broken",
		"=C:=x", "MINE=1", "MULTI=a\nb", "COLORTERM=truecolor", "TMUX=/tmp/t", "NO_COLOR=1",
	}, []string{"MINE=2", "TERM=xterm", "GRANTED_TOKEN=t"})
	for _, want := range []string{"PATH=/bin", "HOME=/home/me", "SSH_AUTH_SOCK=/s", "OCTAVO_HOME=/o", "EMPTY=", "MULTI=a\nb", "PAGER=cat",
		"GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "MINE=2", "TERM=xterm", "GRANTED_TOKEN=t", "NO_COLOR=1"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
	seen := map[string]bool{}
	for _, v := range got {
		n, _, ok := strings.Cut(v, "=")
		if !ok || n == "" || seen[n] {
			t.Errorf("%q is malformed or there twice", v)
		}
		seen[n] = true
	}
	for _, bad := range []string{"OCTAVO_EFFECT_POLICY", "OCTAVO_SPAWN", "OPENAI_API_KEY", "BASH_ENV", "ENV", "BASH_FUNC_ls%%", "_", "COLORTERM", "TMUX"} {
		if seen[bad] {
			t.Errorf("%s was passed on", bad)
		}
	}
}

func TestEnvironmentIsOursByDefault(t *testing.T) {
	t.Setenv("SPAWN_TEST_VALUE", "plain")
	t.Setenv("SPAWN_TEST_TOKEN", "secret")
	got := Environment("EXTRA=1")
	if !slices.Contains(got, "SPAWN_TEST_VALUE=plain") || !slices.Contains(got, "TERM=dumb") || !slices.Contains(got, "EXTRA=1") ||
		slices.Contains(got, "SPAWN_TEST_TOKEN=secret") {
		t.Error(got)
	}
}
