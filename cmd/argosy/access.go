package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"argosy/internal/fleet/access"
	"argosy/internal/fleet/gate"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/web"
)

// newToken makes argosy token.
func newToken() *cobra.Command {
	c := &cobra.Command{
		Use: "token", Short: "Make, list and revoke the tokens that let people and nodes in", Args: cobra.NoArgs,
		Long: `A token has a role: an operator may order everything, an observer may read, and with join a node may get credentials of its own and
nothing else. Coordinators keep a hash of it; its text is printed once, when it is made. The operator's token that argosy serve makes at its
first start lies in a file (DIR/state/token), and is not listed.`,
		Example: `  argosy token create --role join --uses 1 --expires 1h > join.token     for one node
  argosy token create --role observer --label grafana
  argosy token list
  argosy token revoke 1f3a9c02`,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newTokenCreate(), newTokenList(), newTokenRevoke())
	return c
}

func newTokenCreate() *cobra.Command {
	f := &fleetFlags{}
	var t web.NewToken
	c := &cobra.Command{
		Use: "create --role ROLE", Short: "Make a token, and print it", Args: cobra.NoArgs,
		Example: "  argosy token create --role join --uses 1 --expires 1h > join.token",
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := t.Wanted(); err != nil {
				return usage("--%w", err)
			}
			return f.fleet(c, func(ctx context.Context, cl *web.Client, w io.Writer) error {
				v, err := cl.MakeToken(ctx, t)
				if err != nil {
					return err
				}
				if f.json {
					return printJSON(w, v)
				}
				_, err = fmt.Fprintln(w, v.Text)
				return err
			})
		},
	}
	f.register(c)
	c.Flags().StringVar(&t.Role, "role", "", "join, observer or operator (required)")
	c.Flags().StringVar(&t.Label, "label", "", "what it is for, for people")
	c.Flags().StringVar(&t.Expires, "expires", "", "a span after which it is worthless, such as 24h (default: never)")
	c.Flags().IntVar(&t.Uses, "uses", 0, "join: how many nodes may join with it (0: any number)")
	return c
}

// day writes a time that is given in Unix ms; "-" for none.
func day(ms int64) string {
	if ms == 0 {
		return "-"
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05Z")
}

func newTokenList() *cobra.Command {
	return newList("list", "List the tokens, without what is secret", "  argosy token list", (*web.Client).Tokens, printTokens)
}

func printTokens(w io.Writer, ts []web.TokenView) error {
	t := newColumns(w)
	fmt.Fprintln(t, "TOKEN\tROLE\tSTATE\tLABEL\tMADE\tBY\tEXPIRES\tUSES")
	for i := range ts {
		k := &ts[i]
		uses := "any"
		if k.Uses > 0 {
			uses = fmt.Sprintf("%d of %d", len(k.Used), k.Uses)
		}
		if k.Role != access.Join.String() {
			uses = "-"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Role, k.State, orDash(k.Label), day(k.Made), orDash(k.By), day(k.Expires), uses)
	}
	return t.Flush()
}

func newTokenRevoke() *cobra.Command {
	f := &fleetFlags{}
	c := &cobra.Command{
		Use: "revoke TOKEN", Short: "Make a token worthless, by the id that argosy token list prints", Args: cobra.ExactArgs(1),
		Long:    `Revoke makes a token worthless from this moment on. Nodes that have joined with it stay: argosy nodes revoke shuts a node out.`,
		Example: "  argosy token revoke 1f3a9c02",
		RunE: func(c *cobra.Command, args []string) error {
			return f.fleet(c, func(ctx context.Context, cl *web.Client, w io.Writer) error {
				if err := cl.RevokeToken(ctx, args[0]); err != nil {
					return err
				}
				if f.json {
					return printJSON(w, map[string]string{"token": args[0], "state": access.TokenRevoked})
				}
				_, err := fmt.Fprintf(w, "token %s is revoked\n", args[0])
				return err
			})
		},
	}
	f.register(c)
	return c
}

// newNodeOrder makes a command about a node's name.
func newNodeOrder(verb, short, long, done string) *cobra.Command {
	f := &fleetFlags{}
	c := &cobra.Command{
		Use: verb + " NODE", Short: short, Long: long, Args: cobra.ExactArgs(1), Example: "  argosy nodes " + verb + " node-3",
		RunE: func(c *cobra.Command, args []string) error {
			return f.fleet(c, func(ctx context.Context, cl *web.Client, w io.Writer) error {
				tell := cl.RevokeNode
				if verb == "release" {
					tell = cl.ReleaseNode
				}
				if err := tell(ctx, args[0]); err != nil {
					return err
				}
				if f.json {
					return printJSON(w, map[string]string{"node": args[0], "state": verb + "d"})
				}
				_, err := fmt.Fprintf(w, "%s %s\n", args[0], done)
				return err
			})
		},
	}
	f.register(c)
	return c
}

func newNames() *cobra.Command {
	return newList("names", "List the names of nodes, and the keys that they are bound to", "  argosy nodes names", (*web.Client).Names, printNames)
}

func printNames(w io.Writer, ns []gate.Name) error {
	t := newColumns(w)
	fmt.Fprintln(t, "NODE\tSTATE\tFROM\tBOUND\tBY\tJOINED\tVERSION\tKEY")
	for i := range ns {
		n := &ns[i]
		state := n.State
		if n.State == gate.NameOut {
			state = "out until " + day(n.Until)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", n.Name, state, orDash(n.Addr), day(n.Bound), orDash(n.By), day(n.Joined), orDash(n.Version), n.Key)
	}
	return t.Flush()
}

// newRotate makes argosy keys rotate.
func newRotate() *cobra.Command {
	f := &fleetFlags{}
	c := &cobra.Command{
		Use: "rotate", Short: "Give all nodes of a coordinator other credentials, while they work", Args: cobra.NoArgs,
		Long: `Rotate ends all credentials that nodes have. Those that are let in still join again by themselves, within seconds; leases go on
meanwhile. Whoever has stolen a node's credentials, or joined as of version 0.1.0, is out.`,
		Example: "  argosy keys rotate",
		RunE: func(c *cobra.Command, _ []string) error {
			return f.fleet(c, func(ctx context.Context, cl *web.Client, w io.Writer) error {
				if err := cl.Rotate(ctx); err != nil {
					return err
				}
				if f.json {
					return printJSON(w, web.Rotated{Rotated: true})
				}
				_, err := fmt.Fprintln(w, "all credentials of nodes have ended; nodes join again by themselves")
				return err
			})
		},
	}
	f.register(c)
	return c
}

// newOrdersLog makes argosy orders.
func newOrdersLog() *cobra.Command {
	f := &fleetFlags{}
	q := ledger.OrderQuery{Limit: 100}
	c := &cobra.Command{
		Use: "orders", Short: "List who has ordered what of a coordinator, the newest first", Args: cobra.NoArgs,
		Long: `Every order is written down before it is done: jobs that are submitted, paused, resumed, cancelled and changed, tasks that are retried
and dropped, nodes that are drained, revoked and released, tokens that are made and revoked, keys that are rotated. Who is a token, by its id and
label, or a user of the coordinator's machine.`,
		Example: "  argosy orders\n  argosy orders --find 'drain node' -n 20\n  argosy orders -n 1000 --skip 1000 --json",
		RunE: func(c *cobra.Command, _ []string) error {
			if q.Limit < 1 || q.Limit > 1000 {
				return usage("-n %d: allowed are 1 to 1000", q.Limit)
			}
			if q.Skip < 0 || q.Skip > 1_000_000_000 {
				return usage("--skip %d: allowed are 0 to 1000000000", q.Skip)
			}
			return f.fleet(c, func(ctx context.Context, cl *web.Client, w io.Writer) error {
				os, err := cl.Orders(ctx, q)
				if err != nil {
					return err
				}
				for i := range os {
					if f.json {
						err = printJSON(w, &os[i])
					} else {
						_, err = fmt.Fprintf(w, "%s  %s  %s\n", day(os[i].At), os[i].Who, strings.TrimSpace(os[i].What))
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	f.register(c)
	c.Flags().IntVarP(&q.Limit, "number", "n", q.Limit, "how many")
	c.Flags().IntVar(&q.Skip, "skip", 0, "leave out the newest so many")
	c.Flags().StringVar(&q.Find, "find", "", "only those in which a text stands, in who or what")
	return c
}
