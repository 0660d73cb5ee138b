package settings

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/textproto"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	providerPattern  = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
	wirePattern      = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
	envPattern       = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	extensionPattern = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`) // identifier A of wire.md
	headerPattern    = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
)

// CheckProviderName says whether name can be the NAME of [providers.NAME]: 1 to MaxProviderName of a-z 0-9 . _ -, the first a
// letter or digit.
func CheckProviderName(name string) error {
	if len(name) > MaxProviderName || !providerPattern.MatchString(name) {
		return fmt.Errorf("provider name %s: use 1 to %d of a-z 0-9 . _ -, beginning with a letter or digit", show(name), MaxProviderName)
	}
	return nil
}

// CheckModelID says whether id can name a model: 1 to MaxModelID bytes on one line, without space at its ends.
func CheckModelID(id string) error {
	switch {
	case len(id) == 0 || len(id) > MaxModelID:
		return fmt.Errorf("model id %s: use 1 to %d bytes", show(id), MaxModelID)
	case strings.TrimSpace(id) != id:
		return fmt.Errorf("model id %s: no space at its ends", show(id))
	}
	if err := oneLine(id); err != nil {
		return fmt.Errorf("model id %s: %w", show(id), err)
	}
	return nil
}

// CheckEndpoint says whether endpoint can be the base URL of a provider: absolute, http or https, without user information,
// query or fragment. The error never repeats the URL, which may hold a password.
func CheckEndpoint(endpoint string) error {
	if err := oneLine(endpoint); err != nil {
		return err
	}
	u, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return errors.New("must be a URL such as http://127.0.0.1:1234/v1")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("must begin with http:// or https://")
	case u.Hostname() == "":
		return errors.New("must name a host, such as http://127.0.0.1:1234/v1")
	case u.User != nil:
		return errors.New("must not hold a user name or password; a key belongs into auth.json or an environment variable")
	case u.RawQuery != "" || u.ForceQuery:
		return errors.New("must not have a query")
	case u.Fragment != "" || strings.Contains(endpoint, "#"):
		return errors.New("must not have a fragment")
	}
	return nil
}

// overheard reports whether a key sent to endpoint can be read on the way: http to anything but this machine.
func overheard(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" {
		return false
	}
	if u.Hostname() == "localhost" {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return err != nil || !addr.IsLoopback()
}

// canonicalEndpoint is the one spelling of a checked endpoint: lower-case host, no default port, no trailing slash.
func canonicalEndpoint(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return endpoint
	}
	u.Host = strings.ToLower(u.Host)
	if port := u.Port(); port != "" && port == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		host := u.Hostname()
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		u.Host = host
	} else if host, port, err := net.SplitHostPort(u.Host); err == nil && port == "" {
		u.Host = host
	}
	return strings.TrimRight(u.String(), "/")
}

// The checks of rows. They get values of the right type.

func lineOf(v any) error { return oneLine(v.(string)) }

func endpointOf(v any) error { return CheckEndpoint(v.(string)) }

func wireName(v any) error {
	if !wirePattern.MatchString(v.(string)) {
		return fmt.Errorf("must be the name of a wire, such as %s", DefaultWire)
	}
	return nil
}

// envName does not repeat what it refuses: a likely mistake is to write the key itself.
func envName(v any) error {
	if !envPattern.MatchString(v.(string)) {
		return errors.New("must be the name of an environment variable, such as OPENAI_API_KEY; the key itself is never written here")
	}
	return nil
}

func absolutePath(v any) error {
	if err := oneLine(v.(string)); err != nil {
		return err
	}
	if !filepath.IsAbs(v.(string)) {
		return fmt.Errorf("must be an absolute path, not %s", show(v))
	}
	return nil
}

func each(f func(string) error) func(any) error {
	return func(v any) error {
		for _, s := range v.([]string) {
			if err := f(s); err != nil {
				return err
			}
		}
		return nil
	}
}

func extensionName(s string) error {
	if !extensionPattern.MatchString(s) {
		return fmt.Errorf("must be names of extensions (a-z, 0-9 and -, beginning with a letter), not %s", show(s))
	}
	return nil
}

func extensionGrant(s string) error {
	name, manifest, located := strings.Cut(s, "@")
	if err := extensionName(name); err != nil {
		return err
	}
	sound := path.IsAbs(manifest) && path.Clean(manifest) == manifest && path.Base(manifest) == "extension.toml" && oneLine(manifest) == nil
	if located && !sound {
		return fmt.Errorf("must be name or name@/absolute/path/extension.toml, not %s", show(s))
	}
	return nil
}

// headers refuses what could end a header early and what carries credentials, which never stand in configuration (decision 14).
func headers(v any) error {
	for name, value := range v.(map[string]string) {
		if !headerPattern.MatchString(name) {
			return fmt.Errorf("must have names of HTTP headers, not %s", show(name))
		}
		switch textproto.CanonicalMIMEHeaderKey(name) {
		case "Authorization", "Proxy-Authorization", "Cookie":
			return fmt.Errorf("must not set %s: a key belongs into auth.json or the variable that api_key_env names", name)
		case "Host", "Content-Length", "Transfer-Encoding", "Connection":
			return fmt.Errorf("must not set %s, which belongs to the connection", name)
		}
		if err := oneLine(value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
