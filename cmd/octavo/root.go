package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"octavo/app/settings"
	"octavo/ext/policy"
)

// version is set by the build (see Makefile); a plain go build says what the toolchain knows.
var version = ""

func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// flags are the command line of a session (product.md 3.2).
type flags struct {
	print, plain               bool
	mode                       string
	model, reasoning           string
	resume, fork, name         string
	models                     []string
	noSession                  bool
	continued                  bool
	workspace                  string
	trusted                    bool
	systemPrompt               string
	noContextFiles             bool
	tools, excludeTools        []string
	noTools                    bool
	noEdit, noWrite, noProcess bool
	allowShell                 bool
	effectPolicy               string
	safeMode                   bool
	shellPath                  string
	bashTimeout, maxOutput     int
	maxTurns                   int
	listModels                 search
	offline, strict            bool
	color                      string
	showReasoning              bool
	login, logout              string
	keyring                    bool
}

const longHelp = `octavo works with you on real code: it reads, searches, edits and writes files in your
workspace and runs commands, under the policy you choose.

  octavo                         talk to it, in this folder's git repository
  octavo "fix the failing test"  start with a request
  octavo -p "what is this?"      print one answer and leave
  git diff | octavo -p "review"  what is piped in heads the prompt; @FILE inlines a file
  octavo --continue              go on with this workspace's latest session

Each argument is a prompt of its own, so put a prompt into quotes; @FILE is an argument of its own too.
octavo exits with 0 when all went well, 1 when something failed, 2 when the command line could not be
meant, and 128 and the number of the signal that ended it.

Type /help in a session for its commands, "octavo help" for the topics it can explain,
"octavo doctor" when something does not work. Without a model of your own: octavo --model demo`

// newRoot makes the command line. With promptsOnly it has no subcommands.
func newRoot(p *process, promptsOnly bool) *cobra.Command {
	f := &flags{}
	root := &cobra.Command{
		Use:           "octavo [PROMPT | @FILE]...",
		Short:         "an agent that works with you on real code, in your terminal",
		Long:          longHelp,
		Version:       versionText(),
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(c *cobra.Command, args []string) error {
			if changed := c.Flags().Changed; changed("login") || changed("logout") {
				return p.credentials(c, f, args)
			}
			if f.listModels.wanted {
				return p.listModels(c, f, args)
			}
			if err := mistyped(c, args); err != nil {
				return err
			}
			return p.session(c.Context(), c, f, args)
		},
	}
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.SetVersionTemplate("octavo {{.Version}}\n")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef("%w; %s --help lists the flags", flagAdvice(err), c.CommandPath())
	})
	f.add(root)
	if promptsOnly {
		return root
	}
	root.SuggestionsMinimumDistance = 2
	root.AddCommand(newSetup(p, f), newDoctor(p, f), newSessions(p, f), newUsage(p, f), newCatalog(p, f))
	root.SetHelpCommand(newHelp(p))
	p.completes(root, f)
	return root
}

// otherWords are commands of other programs, and what does it here.
var otherWords = map[string]string{
	"login": "octavo --login PROVIDER", "logout": "octavo --logout PROVIDER", "models": "octavo --list-models", "resume": "octavo --resume ID",
	"continue": "octavo --continue", "version": "octavo --version", "export": "octavo sessions export ID", "config": "octavo help configuration",
	"init": "octavo setup", "cost": "octavo usage", "fork": "octavo --fork ID",
}

// mistyped refuses a single word that is nearly a subcommand: asking a model about "sesions" costs money and answers nothing.
func mistyped(c *cobra.Command, args []string) error {
	if len(args) == 0 || len(args[0]) < 4 || strings.ContainsAny(args[0], " \t\n@/") {
		return nil
	}
	if meant, ok := otherWords[args[0]]; ok && len(args) <= 2 {
		return usagef("there is no command %q; did you mean %s? To say the word to the model, put it into a sentence in quotes", args[0], meant)
	}
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return usagef("there is no command %q; did you mean %q? To say the word to the model, put it into a sentence in quotes", args[0], near[0])
	}
	return nil
}

// noArguments is for commands that take none.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no %q; %s --help shows what it takes", c.CommandPath(), args[0], c.CommandPath())
	}
	return nil
}

// flagAdvice says more where the parser's words do not help.
func flagAdvice(err error) error {
	if strings.Contains(err.Error(), "flag needs an argument: --resume") {
		return fmt.Errorf("--resume needs a session: its id, the start of its id, or its name (octavo sessions list shows them)")
	}
	if before, _, parsed := strings.Cut(err.Error(), ": strconv."); parsed { // the rest is for programmers
		return errors.New(before)
	}
	return err
}

func (f *flags) add(root *cobra.Command) {
	l := root.Flags()
	l.SortFlags = false
	l.BoolVarP(&f.print, "print", "p", false, "print the answer and leave")
	l.StringVar(&f.mode, "mode", "", "interactive, json or rpc: what stdout carries")
	l.BoolVar(&f.plain, "plain", false, "lines instead of a full screen")
	l.StringVar(&f.model, "model", "", "the model, as provider/model")
	l.StringSliceVar(&f.models, "models", nil, "the models to switch among, in order: 'anthropic/*,ollama/*:high'")
	l.StringVar(&f.reasoning, "reasoning", "", "how much the model thinks: off, minimal, low, medium, high, xhigh, max")
	l.BoolVarP(&f.continued, "continue", "c", false, "go on with this workspace's latest session")
	l.StringVarP(&f.resume, "resume", "r", "", "go on with a session: id, start of an id, or name")
	l.StringVar(&f.fork, "fork", "", "go on in a copy of a session: `ID`, or ID@ENTRY for its entries up to one")
	l.BoolVar(&f.noSession, "no-session", false, "with -p or --mode: keep nothing but what it cost")
	l.StringVarP(&f.name, "name", "n", "", "name the session")
	l.IntVar(&f.maxTurns, "max-turns", 0, "most model requests for one prompt")
	l.StringVar(&f.effectPolicy, "effect-policy", "", "unsafe_host (runs everything), controlled_bash_approval or controlled (ask)")
	l.BoolVar(&f.safeMode, "safe-mode", false, "ask before every file change and every command")
	l.StringSliceVar(&f.tools, "tools", nil, "offer only these tools")
	l.StringSliceVar(&f.excludeTools, "exclude-tools", nil, "offer all tools but these")
	l.BoolVar(&f.noTools, "no-tools", false, "offer no tool")
	l.BoolVar(&f.noEdit, "no-edit", false, "do not offer edit")
	l.BoolVar(&f.noWrite, "no-write", false, "do not offer write")
	l.BoolVar(&f.noProcess, "no-process", false, "do not offer bash")
	l.BoolVar(&f.noProcess, "no-shell", false, "the same as --no-process")
	l.BoolVar(&f.allowShell, "allow-shell", false, "offer bash although the configuration does not")
	l.StringVar(&f.shellPath, "shell-path", "", "the shell that runs commands")
	l.IntVar(&f.bashTimeout, "bash-timeout-secs", 0, "how long a command may take, in seconds")
	l.IntVar(&f.maxOutput, "max-output-bytes", 0, "how much of a result the model reads, in bytes")
	l.BoolVar(&f.noContextFiles, "no-context-files", false, "do not read AGENTS.md")
	l.StringVar(&f.systemPrompt, "system-prompt", "", "use this text instead of all instructions, also when it is empty")
	l.Var(&f.listModels, "list-models", "list models and leave: `[SEARCH]` narrows them, all adds those of providers that are not configured")
	l.Lookup("list-models").NoOptDefVal = searchNothing
	l.BoolVar(&f.showReasoning, "show-reasoning", false, "print what the model thinks, too")
	l.StringVar(&f.login, "login", "", "store the key of `PROVIDER`, typed or piped in, and leave")
	l.StringVar(&f.logout, "logout", "", "remove the stored key of `PROVIDER` and leave")
	l.BoolVar(&f.keyring, "keyring", false, "with --login: store it in the system keyring")

	g := root.PersistentFlags()
	g.SortFlags = false
	g.StringVar(&f.workspace, "workspace", "", "the folder to work in (default: the git repository around this folder)")
	g.BoolVar(&f.trusted, "workspace-trusted", false, "read the workspace's own configuration and AGENTS.md")
	g.BoolVar(&f.trusted, "trust-workspace", false, "the same as --workspace-trusted")
	g.StringVar(&f.color, "color", "", "auto, always or never")
	g.BoolVar(&f.offline, "offline", false, "reach out to nothing but the model")
	g.BoolVar(&f.strict, "strict-config", false, "an unknown key in config.toml is an error")
	for _, alias := range []string{"no-shell", "trust-workspace"} {
		if x := root.Flag(alias); x != nil {
			x.Hidden = true
		}
	}
}

// layer is what the flags that were given say of the configuration.
func (f *flags) layer(c *cobra.Command) (*settings.Layer, error) {
	l := &settings.Layer{}
	var errs []string
	put := func(flag, key string, value any) {
		if !c.Flags().Changed(flag) {
			return
		}
		if err := l.Put(key, "--"+flag, value); err != nil {
			errs = append(errs, err.Error())
		}
	}
	put("plain", "plain", f.plain)
	put("models", "models", f.models)
	put("max-turns", "max_turns", f.maxTurns)
	put("effect-policy", "effect_policy", f.effectPolicy)
	put("no-edit", "allow_edit", !f.noEdit)
	put("no-write", "allow_write", !f.noWrite)
	put("no-process", "allow_process", !f.noProcess)
	put("no-shell", "allow_process", !f.noProcess)
	put("allow-shell", "allow_shell", f.allowShell)
	put("shell-path", "shell_path", f.shellPath)
	put("bash-timeout-secs", "bash_timeout_secs", f.bashTimeout)
	put("max-output-bytes", "max_output_bytes", f.maxOutput)
	put("no-context-files", "context_files", !f.noContextFiles)
	put("system-prompt", "system_prompt", f.systemPrompt)
	put("color", "color", f.color)
	put("offline", "offline", f.offline)
	put("strict-config", "strict_config", f.strict)
	if f.safeMode {
		if c.Flags().Changed("effect-policy") {
			errs = append(errs, "--safe-mode and --effect-policy exclude each other")
		} else if err := l.Put("effect_policy", "--safe-mode", string(policy.ControlledBashApproval)); err != nil {
			errs = append(errs, err.Error())
		}
	}
	if len(errs) > 0 {
		return nil, usagef("%s", strings.Join(errs, "\n"))
	}
	return l, nil
}

// policy is the policy that the command line chooses, "" when it does not.
func (f *flags) policy() string {
	if f.safeMode {
		return string(policy.ControlledBashApproval)
	}
	return f.effectPolicy // checked as part of the layer
}

// check refuses combinations that cannot be meant.
func (f *flags) check(c *cobra.Command) error {
	changed := c.Flags().Changed
	if !slices.Contains([]string{"", "interactive", "json", "rpc"}, f.mode) {
		return usagef("--mode is interactive, json or rpc, not %q", f.mode)
	}
	for _, pair := range [][2]string{{"continue", "resume"}, {"print", "plain"}, {"no-tools", "tools"},
		{"fork", "continue"}, {"fork", "resume"}, {"no-session", "continue"}, {"no-session", "resume"}, {"no-session", "fork"}, {"no-session", "name"}} {
		if changed(pair[0]) && changed(pair[1]) {
			return usagef("--%s and --%s exclude each other", pair[0], pair[1])
		}
	}
	if f.mode == "json" && f.plain || f.mode == "interactive" && f.print || f.mode == "rpc" && (f.plain || f.print) {
		return usagef("--mode %s does not go with that", f.mode)
	}
	if changed("keyring") {
		return usagef("--keyring goes with --login PROVIDER")
	}
	if changed("resume") && f.resume == "" {
		return usagef("%v", flagAdvice(fmt.Errorf("flag needs an argument: --resume")))
	}
	return nil
}
