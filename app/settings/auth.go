package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// AuthFile is the name of the file of credentials in octavo's home (decision 14). Its mode is 0600; octavo refuses a wider one.
const AuthFile = "auth.json"

// MaxKey bounds an API key, in bytes.
const MaxKey = 16 << 10

// ErrNoKey means that a provider takes a key and none is there.
var ErrNoKey = errors.New("no API key")

// KeyState says where a provider's key comes from, without the key.
type KeyState struct {
	// Source is "auth.json", "the system keyring", "$OPENAI_API_KEY", "command: pass show openai", or "" when the provider has
	// nowhere to look.
	Source string
	Set    bool  // a usable key is there, or a command or the keyring is said to have one: CheckKey finds out
	NoAuth bool  // none is needed
	Err    error // why none is usable
}

// KeyState looks for the key of a provider now, configured or preset. It runs no command and does not ask the keyring.
func (s *Settings) KeyState(provider string) KeyState {
	state, _ := s.keyState(provider)
	return state
}

// CheckKey is KeyState that also runs the command or asks the keyring, as a request would. It returns within KeyCommandTimeout or
// KeyringTimeout, and as soon as ctx ends.
func (s *Settings) CheckKey(ctx context.Context, provider string) KeyState {
	state, at := s.keyState(provider)
	if at.fetch != nil {
		_, err := s.take(ctx, at)
		state.Set, state.Err = err == nil, err
	}
	return state
}

func (s *Settings) keyState(provider string) (KeyState, keyPlace) {
	p, ok := s.provider(provider)
	if !ok {
		return KeyState{Err: fmt.Errorf("no provider is named %s", show(provider))}, keyPlace{}
	}
	if p.NoAuth {
		return KeyState{NoAuth: true}, keyPlace{}
	}
	at, err := s.findKey(p)
	return KeyState{Source: at.source, Set: err == nil, Err: err}, at
}

// key reads a provider's key and has the redactor know it.
func (s *Settings) key(p Provider) (string, error) {
	at, err := s.findKey(p)
	if err != nil {
		return "", err
	}
	return s.take(context.Background(), at)
}

// take gets the key out of where it was found.
func (s *Settings) take(ctx context.Context, at keyPlace) (string, error) {
	key := at.key
	if at.fetch != nil {
		var err error
		if key, err = at.fetch(ctx); err != nil {
			return "", err
		}
	}
	s.redactor.Add(key)
	return key, nil
}

// keyPlace is where a provider's key is.
type keyPlace struct {
	source string                                // KeyState.Source
	key    string                                // when it is at hand
	fetch  func(context.Context) (string, error) // gets one that is not
}

// findKey looks where a key may be: auth.json, then the keyring if auth.json says so, the environment, the command (decision 14).
// The first that has one is taken, also when what it has is no use.
func (s *Settings) findKey(p Provider) (keyPlace, error) {
	if s.Home != "" {
		file, err := readAuth(s.Home)
		switch {
		case err != nil:
			return keyPlace{source: AuthFile}, err
		case file.keys[p.Name] != "":
			key, err := usable(file.keys[p.Name], AuthFile)
			return keyPlace{source: AuthFile, key: key}, err
		case file.ringed[p.Name]:
			return s.fetches.fromKeyring(p), nil
		}
	}
	source := ""
	if p.APIKeyEnv != "" {
		source = "$" + p.APIKeyEnv
		if value, _ := s.lookup(p.APIKeyEnv); strings.TrimSpace(value) != "" {
			key, err := usable(value, source)
			return keyPlace{source: source, key: key}, err
		}
	}
	if p.APIKeyCommand != "" {
		return s.fetches.fromCommand(p, s.Home), nil
	}
	return keyPlace{source: source}, s.noKey(p, source)
}

func (s *Settings) noKey(p Provider, source string) error {
	if source == "" {
		return fmt.Errorf("%w for %s: store one in %s with octavo --login %s, or name a variable with api_key_env; write no_auth = true if it takes none",
			ErrNoKey, p.label(), s.authPath(), p.Name)
	}
	return fmt.Errorf("%w for %s: %s is not set; set it and start octavo again, or store a key in %s with octavo --login %s",
		ErrNoKey, p.label(), source, s.authPath(), p.Name)
}

func (s *Settings) authPath() string {
	if s.Home == "" {
		return "OCTAVO_HOME/" + AuthFile
	}
	return filepath.Join(s.Home, AuthFile)
}

// ParseKey reads the key out of what a person or a program gave: one line, without the line ends behind it. source names whose text
// it is for the error, which never repeats it.
func ParseKey(text, source string) (string, error) {
	text = strings.TrimRight(text, "\r\n")
	if lines := strings.Count(text, "\n") + 1; lines > 1 {
		return "", fmt.Errorf("%s gave %d lines: a key is one", source, lines)
	}
	return usable(text, source)
}

// usable trims what a shell or an editor left around a key and refuses what no header can carry. It never repeats the key.
func usable(key, source string) (string, error) {
	key = strings.TrimSpace(key)
	if key == "" || len(key) > MaxKey {
		return "", fmt.Errorf("the key from %s is of %d bytes: use 1 to %d", source, len(key), MaxKey)
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return "", fmt.Errorf("the key from %s holds a space, a control character or one beyond ASCII: copy it again", source)
		}
	}
	return key, nil
}

// auth is auth.json: keys by provider, and the whole file, so that what octavo does not know survives a change.
type auth struct {
	keys   map[string]string
	ringed map[string]bool // the key stands in the system keyring
	whole  map[string]json.RawMessage
	each   map[string]json.RawMessage // whole["providers"]
}

// readAuth reads auth.json; a missing one has no keys.
func readAuth(home string) (auth, error) {
	file := filepath.Join(home, AuthFile)
	data, info, err := readFile(file)
	if err == nil && info != nil && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("can be read by others (mode %04o): chmod 600 %s", info.Mode().Perm(), file)
	}
	if err != nil {
		return auth{}, &Error{Place: Place{File: file}, Err: err}
	}
	return parseAuth(file, data)
}

func parseAuth(file string, data []byte) (auth, error) {
	a := auth{keys: map[string]string{}, ringed: map[string]bool{}}
	if len(data) == 0 {
		return a, nil
	}
	err := json.Unmarshal(data, &a.whole)
	if providers, ok := a.whole["providers"]; err == nil && ok {
		err = json.Unmarshal(providers, &a.each)
	}
	for name, raw := range a.each {
		var p struct {
			APIKey  string `json:"api_key"`
			Keyring bool   `json:"keyring"`
		}
		if err == nil {
			err = json.Unmarshal(raw, &p)
		}
		a.keys[name], a.ringed[name] = p.APIKey, p.Keyring
	}
	if err != nil { // the cause may quote the file, and the file holds secrets
		return auth{}, &Error{Place: Place{File: file}, Err: fmt.Errorf(
			`is not what octavo expects%s: {"providers": {"NAME": {"api_key": "..."}}}, or "keyring": true for the key`, where(err))}
	}
	return a, nil
}

// where says how far a decoder came, which is all of its error that cannot be a secret.
func where(err error) string {
	if e := (*json.SyntaxError)(nil); errors.As(err, &e) {
		return fmt.Sprintf(" (byte %d)", e.Offset)
	}
	return ""
}

// WriteKey stores a provider's key in auth.json, in place of the mark that it stands in the keyring; "" takes both the key and the
// mark out. Everything else in the file stays. It does not touch the keyring: see RemoveKey and ForgetKeyring.
func WriteKey(ctx context.Context, home, provider, key string) error {
	if key != "" {
		var err error
		if key, err = usable(key, "the input"); err != nil {
			return err
		}
	}
	return writeAuth(ctx, home, provider, key, false)
}

// writeAuth makes auth.json say of a provider's key what it is, or that the keyring has it, or nothing.
func writeAuth(ctx context.Context, home, provider, key string, ringed bool) error {
	if err := CheckProviderName(provider); err != nil {
		return err
	}
	file := filepath.Join(home, AuthFile)
	return rewrite(ctx, file, func(data []byte, mode fs.FileMode) ([]byte, error) {
		if mode&0o077 != 0 {
			return nil, fmt.Errorf("can be read by others (mode %04o): chmod 600 %s", mode, file)
		}
		a, err := parseAuth(file, data)
		if err != nil {
			return nil, err
		}
		if a.keys[provider] == key && a.ringed[provider] == ringed {
			return data, nil
		}
		return a.with(provider, key, ringed)
	})
}

// with is the file with one provider's key changed.
func (a auth) with(provider, key string, ringed bool) ([]byte, error) {
	var entry map[string]json.RawMessage
	if raw, ok := a.each[provider]; ok {
		if err := json.Unmarshal(raw, &entry); err != nil {
			return nil, err
		}
	}
	delete(entry, "api_key")
	delete(entry, "keyring")
	if key != "" {
		entry = put(entry, "api_key", key)
	}
	if ringed {
		entry = put(entry, "keyring", true)
	}
	each := a.each
	if len(entry) == 0 {
		delete(each, provider)
	} else {
		each = put(each, provider, entry)
	}
	data, err := json.MarshalIndent(put(a.whole, "providers", each), "", "  ")
	return append(data, '\n'), err
}

// put sets one member of a JSON object that may be nil.
func put(object map[string]json.RawMessage, name string, v any) map[string]json.RawMessage {
	if object == nil {
		object = map[string]json.RawMessage{}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Errorf("settings: encode %s: %w", name, err)) // strings and raw messages that were decoded before
	}
	object[name] = raw
	return object
}
