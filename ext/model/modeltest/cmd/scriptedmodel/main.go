// Command scriptedmodel serves a script as a model, for demonstrations and measurements of octavo and of any other client of
// chat completions, Responses or Messages. modeltest.Format says what a script is.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"octavo/ext/model/modeltest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends, after it has printed the server's URL to out.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("scriptedmodel", flag.ContinueOnError)
	host := flags.String("host", "127.0.0.1", "address to listen on")
	port := flags.Int("port", 0, "port to listen on; 0 picks a free one")
	restart := flags.Bool("restart", false, "begin the script again with every conversation")
	models := flags.String("models", "scripted", "comma-separated ids to list as models")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: scriptedmodel [flags] SCRIPT   (a file of one JSON object a line; - is standard input)")
		flags.PrintDefaults()
		fmt.Fprint(flags.Output(), "\n"+modeltest.Format)
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		flags.Usage()
		return fmt.Errorf("one script is needed")
	}
	script, err := load(flags.Arg(0))
	if err != nil {
		return err
	}
	s, err := modeltest.Start(fmt.Sprintf("%s:%d", *host, *port))
	if err != nil {
		return err
	}
	defer s.Close()
	s.Load(script, *restart)
	s.Models(strings.Split(*models, ",")...)
	if _, err := fmt.Fprintln(out, s.URL()); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

func load(name string) (modeltest.Script, error) {
	if name == "-" {
		return modeltest.ParseScript(os.Stdin, ".")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return modeltest.ParseScript(f, filepath.Dir(name))
}
