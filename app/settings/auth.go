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
	Source string // "auth.json", "$OPENAI_API_KEY", or "" when the provider has nowhere to look
	Set    bool   // a usable key is there now
	NoAuth bool   // none is needed
	Err    error  // why none is usable
}

// KeyState looks for the key of a configured provider now.
func (s *Settings) KeyState(provider string) KeyState {
	p, ok := s.Providers[provider]
	if !ok {
		return KeyState{Err: fmt.Errorf("no provider is named %s", show(provider))}
	}
	if p.NoAuth {
		return KeyState{NoAuth: true}
	}
	_, source, err := s.findKey(p)
	return KeyState{Source: source, Set: err == nil, Err: err}
}

// key reads a provider's key and has the redactor know it.
func (s *Settings) key(p Provider) (string, error) {
	key, _, err := s.findKey(p)
	if err != nil {
		return "", err
	}
	s.redactor.Add(key)
	return key, nil
}

func (s *Settings) findKey(p Provider) (key, source string, err error) {
	if s.Home != "" {
		file, err := readAuth(s.Home)
		if err != nil {
			return "", AuthFile, err
		}
		if key := file.keys[p.Name]; key != "" {
			key, err = usable(key, AuthFile)
			return key, AuthFile, err
		}
	}
	if p.APIKeyEnv == "" {
		return "", "", fmt.Errorf("%w for %s: put one into %s or name a variable with api_key_env; write no_auth = true if it takes none",
			ErrNoKey, p.label(), s.authPath())
	}
	source = "$" + p.APIKeyEnv
	value, _ := s.lookup(p.APIKeyEnv)
	if strings.TrimSpace(value) == "" {
		return "", source, fmt.Errorf("%w for %s: %s is not set; set it and start octavo again, or put the key into %s",
			ErrNoKey, p.label(), source, s.authPath())
	}
	key, err = usable(value, source)
	return key, source, err
}

func (s *Settings) authPath() string {
	if s.Home == "" {
		return "OCTAVO_HOME/" + AuthFile
	}
	return filepath.Join(s.Home, AuthFile)
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
	keys  map[string]string
	whole map[string]json.RawMessage
	each  map[string]json.RawMessage // whole["providers"]
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
	a := auth{keys: map[string]string{}}
	if len(data) == 0 {
		return a, nil
	}
	err := json.Unmarshal(data, &a.whole)
	if providers, ok := a.whole["providers"]; err == nil && ok {
		err = json.Unmarshal(providers, &a.each)
	}
	for name, raw := range a.each {
		var p struct {
			APIKey string `json:"api_key"`
		}
		if err == nil {
			err = json.Unmarshal(raw, &p)
		}
		a.keys[name] = p.APIKey
	}
	if err != nil { // the cause may quote the file, and the file holds secrets
		return auth{}, &Error{Place: Place{File: file}, Err: fmt.Errorf(
			`is not what octavo expects%s: {"providers": {"NAME": {"api_key": "..."}}}`, where(err))}
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

// WriteKey stores a provider's key in auth.json, or takes it out when key is "". Everything else in the file stays.
func WriteKey(ctx context.Context, home, provider, key string) error {
	if err := CheckProviderName(provider); err != nil {
		return err
	}
	if key != "" {
		var err error
		if key, err = usable(key, "the input"); err != nil {
			return err
		}
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
		if key == "" && a.keys[provider] == "" {
			return data, nil
		}
		return a.with(provider, key)
	})
}

// with is the file with one key changed.
func (a auth) with(provider, key string) ([]byte, error) {
	var entry map[string]json.RawMessage
	if raw, ok := a.each[provider]; ok {
		if err := json.Unmarshal(raw, &entry); err != nil {
			return nil, err
		}
	}
	if key == "" {
		delete(entry, "api_key")
	} else {
		entry = put(entry, "api_key", key)
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
