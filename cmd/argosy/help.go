package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is how wide help is printed, in characters.
const helpWidth = 80

// narrow makes the help of all commands fit helpWidth when it is asked for; examples stay as they are, to be copied.
func narrow(root *cobra.Command) {
	plain := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		long := c.Long
		c.Long = reflow(long)
		plain(c, args)
		c.Long = long
	})
}

// narrowUsage does so for what cobra writes. A template of cobra's would wrap flags in one line, and link every exported method of
// every type into the binary (docs/decisions.md).
func narrowUsage(root *cobra.Command) {
	plain := root.UsageFunc()
	root.SetUsageFunc(func(c *cobra.Command) error {
		out := c.OutOrStderr()
		var text strings.Builder
		c.SetOut(&text)
		err := plain(c)
		c.SetOut(out)
		if err != nil {
			return err
		}
		cut := func(s string) string { return strings.TrimRight(s, " \n") }
		help := text.String()
		for _, flags := range []*pflag.FlagSet{c.LocalFlags(), c.InheritedFlags()} {
			help = strings.Replace(help, cut(flags.FlagUsages()), cut(flags.FlagUsagesWrapped(helpWidth)), 1)
		}
		for _, below := range c.Commands() {
			line := fmt.Sprintf("\n  %-*s %s", below.NamePadding(), below.Name(), below.Short)
			help = strings.Replace(help, line, reflow(line), 1)
		}
		_, err = io.WriteString(out, help)
		return err
	})
}

// reflow wraps text at helpWidth. The lines of a paragraph are one; so are those of an entry of a list, which is indented and goes on
// under its second column or, if it has none, two further in.
func reflow(text string) string {
	var out strings.Builder
	paragraph, under := "", 0 // and where its lines but the first begin
	end := func() {
		if paragraph != "" {
			out.WriteString(foldedLine(paragraph, helpWidth, under) + "\n")
		}
		paragraph = ""
	}
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.TrimLeft(line, " ")
		at := len(line) - len(words)
		switch {
		case words == "":
			end()
			out.WriteByte('\n')
		case paragraph != "" && at == under:
			paragraph += " " + words
		default:
			end()
			paragraph, under = line, 0
			if gap := strings.Index(words, "  "); at > 0 && gap >= 0 {
				under = len(line) - len(strings.TrimLeft(words[gap:], " "))
			} else if at > 0 {
				under = at + 2
			}
		}
	}
	end()
	return strings.TrimSuffix(out.String(), "\n")
}

// flagGroup is a heading of a command's help, and the flags under it, in their order.
type flagGroup struct {
	title string
	flags []string
}

// crawlGroups are the flags of argosy crawl by purpose; what stands in none comes last.
var crawlGroups = []flagGroup{
	{"What matters first", []string{"out", "seeds", "scope", "include", "exclude", "max-pages", "max-depth", "delay", "user-agent", "resources"}},
	{"A topic", []string{"topic", "seeds-from", "topic-text", "topic-like", "topic-unlike", "topic-beside", "topic-model", "topic-language", "topic-threshold", "tunnel", "order", "by-rule", "crawlers", "market"}},
	{"Jobs and defaults from files", []string{"job", "site-config", "config", "engines"}},
	{"Where it ends", []string{"max-time", "max-bytes", "site-pages", "max-sitemaps", "max-url-length", "max-body", "min-free"}},
	{"What else is fetched, or not", []string{"sitemaps", "strip-session", "ignore-robots", "ignore-nofollow"}},
	{"Logins and certificates", []string{"header", "cookies", "keep-secrets", "ca", "insecure"}},
	{"How sites are reached", []string{"allow-private", "resolve", "dns", "proxy", "proxy-dns", "bind"}},
	{"How fast it goes", []string{"max-crawl-delay", "per-site", "site-connections", "per-ip", "per-domain", "concurrency"}},
	{"When something goes wrong", []string{"retries", "backoff", "connect-timeout", "tls-timeout", "header-timeout", "body-timeout", "min-rate", "recycle-after", "recycle-limit"}},
	{"What is archived", []string{"text", "main-text", "language", "near-duplicates", "warc-size", "warc-prefix", "operator"}},
	{"What is printed and shown", []string{"listen", "json", "quiet", "log-level", "help"}},
	{"Who gets which site", []string{"agents", "strategy", "probe", "geoip", "explain-log", "lease-pages", "lease-time", "seed"}},
}

// group makes a command's help list its flags by purpose.
func group(c *cobra.Command, groups []flagGroup) {
	c.SetUsageFunc(func(c *cobra.Command) error {
		c.InitDefaultHelpFlag()
		return printUsage(c.OutOrStderr(), c, groups)
	})
}

func printUsage(w io.Writer, c *cobra.Command, groups []flagGroup) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", c.UseLine())
	if c.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
	}
	var listed []string
	for _, g := range groups {
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		set.SortFlags = false
		for _, name := range g.flags {
			if f := c.Flags().Lookup(name); f != nil {
				set.AddFlag(f)
				listed = append(listed, name)
			}
		}
		fmt.Fprintf(&b, "\n%s:\n%s", g.title, set.FlagUsagesWrapped(helpWidth))
	}
	rest := pflag.NewFlagSet("", pflag.ContinueOnError)
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(listed, f.Name) {
			rest.AddFlag(f)
		}
	})
	if rest.HasFlags() {
		fmt.Fprintf(&b, "\nOthers:\n%s", rest.FlagUsagesWrapped(helpWidth))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
