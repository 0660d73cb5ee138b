package spawn

import (
	"os"
	"strings"
)

// quiet is what every child is told, so that nothing waits for a person or draws for a terminal. NO_COLOR is not among it: it
// would change what a project's own tests see, and output is cleaned anyway.
var quiet = [...]string{
	"TERM=dumb",
	"PAGER=cat",
	"GIT_PAGER=cat",
	"MANPAGER=cat",
	"SYSTEMD_PAGER=cat",
	"GH_PAGER=cat",
	"GIT_TERMINAL_PROMPT=0",
	"GIT_EDITOR=true",
	"SSH_ASKPASS_REQUIRE=never",
	"DEBIAN_FRONTEND=noninteractive",
}

// dropped are variables that are about octavo's own terminal, or that make a shell do more than it is told.
var dropped = map[string]bool{
	"BASH_ENV": true, "ENV": true, "SHELLOPTS": true, "BASHOPTS": true, "PROMPT_COMMAND": true, "PS4": true, "_": true,
	"COLORTERM": true, "FORCE_COLOR": true, "CLICOLOR_FORCE": true, "COLUMNS": true, "LINES": true, "GPG_TTY": true,
	"GIT_SEQUENCE_EDITOR": true, "LESSOPEN": true, "LESSCLOSE": true, "CDPATH": true,
	// A child that believes it runs inside octavo's multiplexer pane would act on it.
	"TMUX": true, "TMUX_PANE": true, "STY": true, "WINDOWID": true,
}

// kept are names that look like a credential and are none, and the one name of octavo's own that children need.
var kept = map[string]bool{"PWD": true, "OLDPWD": true, "SSH_AUTH_SOCK": true, "SSH_AUTH_INFO": true, "OCTAVO_HOME": true}

// credentialWords mark a name as that of a credential when one of its words, between characters that are no letter or digit, is
// among them.
var credentialWords = map[string]bool{
	"KEY": true, "KEYS": true, "TOKEN": true, "TOKENS": true, "AUTH": true, "AUTHORIZATION": true, "BEARER": true, "JWT": true,
	"PASS": true, "PWD": true, "PAT": true, "COOKIE": true, "COOKIES": true, "CREDS": true, "CRED": true,
}

// credentialParts do so anywhere inside a name.
var credentialParts = [...]string{
	"SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY", "ACCESSKEY", "PRIVATEKEY", "AUTHTOKEN", "ACCESSTOKEN",
}

// Environment is a sanitised copy of octavo's environment for a child, followed by extra ("NAME=value"), which wins. It leaves
// out credentials, recognised by their names (IsCredential), octavo's own variables except OCTAVO_HOME, what makes a shell run
// code before the command, and what is about octavo's terminal; it adds what keeps programs from paging and prompting. It is
// no protection from a child that wants to read octavo's files or memory.
func Environment(extra ...string) []string { return sanitise(os.Environ(), extra) }

func sanitise(env, extra []string) []string {
	set := map[string]bool{}
	for _, list := range [][]string{quiet[:], extra} {
		for _, v := range list {
			set[name(v)] = true
		}
	}
	out := make([]string, 0, len(env)+len(quiet)+len(extra))
	for _, v := range env {
		n := name(v)
		if n == "" || set[n] || dropped[n] || strings.HasPrefix(n, "BASH_FUNC_") ||
			strings.HasPrefix(n, "OCTAVO_") && !kept[n] || IsCredential(n) {
			continue
		}
		out = append(out, v)
	}
	overridden := map[string]bool{}
	for _, v := range extra {
		overridden[name(v)] = true
	}
	for _, v := range quiet {
		if !overridden[name(v)] {
			out = append(out, v)
		}
	}
	return append(out, extra...)
}

// name is the part of "NAME=value" before the sign, "" when there is none.
func name(v string) string {
	n, _, ok := strings.Cut(v, "=")
	if !ok {
		return ""
	}
	return n
}

// IsCredential reports whether a variable's name looks like that of a key, token, password or the like. It errs on the side of
// yes.
func IsCredential(name string) bool {
	if kept[name] {
		return false
	}
	upper := strings.ToUpper(name)
	for _, part := range credentialParts {
		if strings.Contains(upper, part) {
			return true
		}
	}
	words := strings.FieldsFunc(upper, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
	for _, w := range words {
		if credentialWords[w] {
			return true
		}
	}
	return false
}
