package settings

import (
	"fmt"
	"strings"
)

// Markdown is docs/configuration.md: the layers, every key of the table, and the presets.
func Markdown() string {
	var b strings.Builder
	b.WriteString(docLayers)
	b.WriteString("\n## Keys\n\n")
	b.WriteString("| Key | Takes | Default | Environment | A trusted project | |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, r := range rows {
		if r.isHost() {
			fmt.Fprintf(&b, "| `%s` | %s | %s | `%s` | %s | %s |\n", r.Name, r.Allows(), r.defaultText(), r.Env, r.Project, r.Doc)
		}
	}
	b.WriteString(docProviders)
	b.WriteString("\n| Key | Takes | Default | |\n| --- | --- | --- | --- |\n")
	for _, r := range rows {
		if !r.isHost() {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.Name, r.Allows(), r.defaultText(), r.Doc)
		}
	}
	b.WriteString("\n## Presets\n\n`octavo setup --preset NAME` knows these endpoints.\n\n| Preset | Endpoint | Key |\n| --- | --- | --- |\n")
	for _, p := range presets {
		key := "none"
		if p.APIKeyEnv != "" {
			key = "`" + p.APIKeyEnv + "`"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", p.Name, p.Endpoint, key)
	}
	b.WriteString(docKeys)
	return b.String()
}

// defaultText is the default as it would be written in the file.
func (k Key) defaultText() string {
	if k.Default == nil {
		return "unset"
	}
	s, err := encodeValue(tree(k.Default))
	if err != nil {
		return "unset"
	}
	return "`" + s + "`"
}

const docLayers = `# Configuration

<!-- Written by: go test ./app/settings -run Docs -update -->

octavo reads ` + "`config.toml`" + ` in its home, ` + "`~/.octavo`" + ` or what ` + "`OCTAVO_HOME`" + ` names. A value comes from the last of these that has one:

1. what is built in,
2. the home's ` + "`config.toml`" + `,
3. ` + "`.octavo/config.toml`" + ` in the workspace, if the workspace is trusted (` + "`--workspace-trusted`" + `),
4. the environment,
5. the command line.

A project can only tighten: switch off what is on, lower a limit, choose a stricter policy. It can suggest extensions, which are
not started before you enable them. It cannot choose the model, configure providers or grant trust. Whatever goes further is
ignored with a warning.

Lists add up: the environment and the command line extend the file's, but for the key models, whose order counts: there the last one
stands. In the environment a list is written with commas and an empty variable is one that is not set. Booleans there are true,
false, yes, no, on, off, 1 or 0.

An unknown key is a warning that names file, line, column and the key you may have meant; with ` + "`strict_config`" + ` it is an error.
A value of the wrong type or out of bounds is always an error. The file is at most 1 MiB.

When octavo changes the file itself, it changes one key or one table and leaves comments and order alone.
`

const docProviders = `
## Providers

A provider is an endpoint with models. Its name, NAME below, is 1 to 64 of a-z 0-9 . _ - and begins with a letter or digit. A
model is called NAME/ID, where ID is what the endpoint calls it; an id with a slash or a dot is quoted in the file. Providers are
configured in the home's file only, by hand or with ` + "`octavo setup`" + `:

` + "```toml" + `
model = "local/qwen/qwen3-8b"

[providers.local]
endpoint = "http://127.0.0.1:1234/v1"
no_auth = true

[providers.local.models."qwen/qwen3-8b"]
context_tokens = 32768
efforts = ["low", "medium", "high"]
price = { input = 0, output = 0 }
` + "```" + `

What is unset is unknown, which is not the same as zero or none.
`

const docKeys = `
## API keys

A key never stands in ` + "`config.toml`" + `. ` + "`octavo --login NAME`" + ` asks for one and stores it, ` + "`octavo --logout NAME`" + ` removes it. Each time octavo makes a
request it takes the key from the first of these that has one:

1. ` + "`auth.json`" + ` in octavo's home,
2. the system keyring, if ` + "`auth.json`" + ` says so (` + "`octavo --login NAME --keyring`" + `),
3. the environment variable that ` + "`api_key_env`" + ` names,
4. the command of ` + "`api_key_command`" + `, which prints the key as its only line, such as ` + "`pass show openai`" + `.

What the keyring or a command gave is kept until octavo ends. A keyring that cannot be reached is an error; octavo does not go on to
the next. A command has 30 seconds, your own environment and no standard input.

` + "```json" + `
{"providers": {"openai": {"api_key": "..."}, "anthropic": {"keyring": true}}}
` + "```" + `

` + "`auth.json`" + ` must be readable by you alone (` + "`chmod 600`" + `); octavo refuses it otherwise. In the keyring a key stands under the
service ` + "`octavo`" + ` and the provider's name as user.
`
