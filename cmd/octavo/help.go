package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"octavo/docs"
)

// newHelp explains a topic of the documents or a command.
func newHelp(p *process) *cobra.Command {
	return &cobra.Command{
		Use:   "help [TOPIC | COMMAND]",
		Short: "explain a topic or a command",
		Long:  "Explains a topic or a command.\n\n" + topicList(),
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var words []string
			for _, t := range docs.Topics() {
				words = append(words, t.Name+"\t"+t.About)
			}
			for _, k := range c.Root().Commands() {
				if k.IsAvailableCommand() {
					words = append(words, k.Name()+"\t"+k.Short)
				}
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				if err := c.Root().Help(); err != nil {
					return err
				}
				_, err := fmt.Fprintln(p.stdout, "\n"+topicList())
				return err
			}
			if s := docs.Text(args[0]); s != "" && len(args) == 1 {
				_, err := fmt.Fprint(p.stdout, s)
				return err
			}
			explained, rest, err := c.Root().Find(args)
			if err != nil || explained == nil || explained == c.Root() || len(rest) > 0 {
				return usagef("there is no topic and no command %q.\n%s", strings.Join(args, " "), topicList())
			}
			explained.InitDefaultHelpFlag()
			return explained.Help()
		},
	}
}

// topicList is what octavo help can explain beside commands.
func topicList() string {
	var b strings.Builder
	b.WriteString("Topics (octavo help TOPIC):")
	for _, t := range docs.Topics() {
		fmt.Fprintf(&b, "\n  %-14s %s", t.Name, t.About)
	}
	return b.String()
}
