// Command argosy is a distributed web crawler that measures before it assigns. Each subcommand is in a file of its
// own: flags become a configuration, package assemble does the wiring, and what is left here is what a person sees.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/plan/lab"
)

// Exit codes, the same for every command.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2 // bad input: one line says what, where, and what is allowed
	exitManual      = 3 // finished, but some tasks wait for a person
	exitInterrupted = 130
)

// version may be set when a release is built.
var version = outdir.Version

// exitError carries an exit code; its text may be empty.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage is an error in what the user gave us.
func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

func main() { os.Exit(run(context.Background(), os.Args[1:])) }

// run runs a command line and returns its exit code.
func run(ctx context.Context, args []string) int {
	root := newRoot()
	root.SetArgs(args)
	if _, _, ok := terminalSize(os.Stdout); ok {
		root.SetOut(shown{os.Stdout})
	}
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	code := exitFailed
	var ee *exitError
	if errors.As(err, &ee) {
		code = ee.code
	} else if errors.Is(err, outdir.ErrInUse) || errors.Is(err, outdir.ErrOtherJob) || errors.Is(err, outdir.ErrFormat) || errors.Is(err, outdir.ErrExplain) || errors.Is(err, ledger.ErrNewer) || errors.Is(err, ledger.ErrPlace) || errors.Is(err, lab.ErrResults) {
		code = exitUsage
	}
	if errors.Is(err, syscall.ENOSPC) && !errors.Is(err, assemble.ErrDiskFull) {
		err = fmt.Errorf("%w (%w): make room, and give the command again", assemble.ErrDiskFull, err)
	}
	if msg := err.Error(); msg != "" {
		told(string(harmless([]byte(clipWords(oneLine(msg))))))
	}
	return code
}

// oneLine makes a message one line, but for lists: a line that is indented stays one.
func oneLine(msg string) string {
	const listed = "\x00"
	msg = strings.ReplaceAll(msg, "\n  ", listed)
	return strings.ReplaceAll(strings.ReplaceAll(msg, "\n", "; "), listed, "\n  ")
}

// longestWord is how long a word of a message may be that says what was given: a path may be that long.
const longestWord = 300

// clipWords shortens the words of a message that are too long to be read, in their middle.
func clipWords(msg string) string {
	words := strings.Split(msg, " ")
	for i, w := range words {
		if runes := []rune(w); len(runes) > longestWord {
			words[i] = string(runes[:60]) + "…" + string(runes[len(runes)-20:])
		}
	}
	return strings.Join(words, " ")
}

// plainFlagError says of a flag that wants a number what it wants; other errors stay as they are.
func plainFlagError(err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	if n := plainNumberError(err); n != err {
		return fmt.Errorf("--%s: %w", bad.GetFlag().Name, n)
	}
	return err
}

// plainNumberError says what is wanted where a number, or true or false, could not be read; other errors stay as they are.
func plainNumberError(err error) error {
	var n *strconv.NumError
	if !errors.As(err, &n) {
		return err
	}
	want := "a whole number"
	switch {
	case errors.Is(n, strconv.ErrRange):
		want = "a number that is not as large"
	case n.Func == "ParseFloat":
		want = "a number"
	case n.Func == "ParseBool":
		want = "true or false"
	}
	return fmt.Errorf("%q: want %s", n.Num, want)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "argosy",
		Short: "A distributed web crawler that measures before it assigns",
		Long: `Argosy crawls sites to WARC archives with an index and an SQL ledger. It is polite by default, can be killed at
any moment without losing anything, and goes on where it stopped with argosy crawl -o DIR.`,
		Example: `  argosy demo                                      a small web on this machine, crawled and verified
  argosy crawl https://example.com/ -o example     a real site, into the directory "example"`,
		SilenceUsage: true, SilenceErrors: true,
		Args: cobra.NoArgs,
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage("%s: %w%s (see %s --help)", c.CommandPath(), plainFlagError(err), meantFlag(c, err), c.CommandPath())
	})
	narrowUsage(root)
	cobra.EnableCommandSorting = false // what is used first stands first
	root.CompletionOptions.HiddenDefaultCmd = false
	asked := root.Flags().BoolP("version", "v", false, "version for argosy")
	root.RunE = func(c *cobra.Command, _ []string) error {
		if *asked {
			return printVersion(c)
		}
		return c.Help()
	}
	grouped(root)
	narrow(root)
	for _, c := range root.Commands() {
		sayUsage(c)
	}
	root.Args = func(c *cobra.Command, a []string) error {
		if len(a) > 0 {
			var names []string
			for _, c := range root.Commands() {
				names = append(names, c.Name())
			}
			return usage("unknown command %q%s (see argosy --help)", a[0], meant(a[0], names, ""))
		}
		return nil
	}
	return root
}

// grouped adds the commands, by what a person wants to do.
func grouped(root *cobra.Command) {
	for i, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"A crawl on this machine:", []*cobra.Command{
			newDemo(), newCrawl(), newStop(), newView(), newTasks(), newRates(), newReport(), newExport(), newTree(), newStats(), newTopic(), newRetry(), newDrop(), newExplain(),
		}},
		{"Whether all is there, and making it whole:", []*cobra.Command{newVerify(), newRebuild(), newBackup(), newRestore()}},
		{"A fleet of machines:", append([]*cobra.Command{newServe(), newAgent(), newSubmit(), newJobs()}, append(newOrders(),
			newTop(), newLink(), newNodes(), newDrain(), newToken(), newKeys(), newOrdersLog())...)},
		{"Planning and experiments:", []*cobra.Command{
			newStrategies(), newLab(), newPlan(), newProbe(), newCoords(), newSolve(), newSplit(), newEngine(),
		}},
	} {
		id := strconv.Itoa(i)
		root.AddGroup(&cobra.Group{ID: id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = id
		}
		root.AddCommand(g.commands...)
	}
	root.AddCommand(newVersion())
}

// sayUsage makes wrong arguments of a command, and of those below it, the user's mistake.
func sayUsage(c *cobra.Command) {
	if args := c.Args; args != nil {
		c.Args = func(c *cobra.Command, a []string) error {
			if err := args(c, a); err != nil {
				return usage("%s: %w (see %s --help)", c.CommandPath(), err, c.CommandPath())
			}
			return nil
		}
	}
	for _, below := range c.Commands() {
		sayUsage(below)
	}
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs, Example: "  argosy version",
		RunE: func(c *cobra.Command, _ []string) error { return printVersion(c) },
	}
}

func printVersion(c *cobra.Command) error {
	_, err := fmt.Fprintln(c.OutOrStdout(), "argosy "+version)
	return err
}
