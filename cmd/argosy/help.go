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

// wrapFlags makes the help of all commands wrap its flags at helpWidth. A template of cobra's would do
// it in one line, and link every exported method of every type into the binary (docs/decisions.md).
func wrapFlags(root *cobra.Command) {
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
		_, err = io.WriteString(out, help)
		return err
	})
}

// flagGroup is a heading of a command's help, and the flags under it, in their order.
type flagGroup struct {
	title string
	flags []string
}

// crawlGroups are the flags of argosy crawl by purpose; what stands in none comes last.
var crawlGroups = []flagGroup{
	{"What matters first", []string{"out", "seeds", "scope", "include", "exclude", "max-pages", "max-depth", "delay", "user-agent", "resources"}},
	{"A topic", []string{"topic", "topic-text", "topic-like", "topic-unlike", "topic-model", "topic-language", "topic-threshold", "tunnel", "order", "by-rule", "crawlers", "market"}},
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
