package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"argosy/internal/fleet/access"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/serve"
	"argosy/internal/fleet/web"
)

func newView() *cobra.Command {
	var f placeFlags
	var addr, logLevel string
	c := &cobra.Command{
		Use: "view DIR", Short: "Show a crawl or a fleet that is at rest to a browser", Args: cobra.MaximumNArgs(1),
		Long: `View answers a browser about the directory of a crawl that is over, or of a fleet's coordinator that does not run: how jobs went over
time, their sites and tasks, their pages with what is archived of them. It prints a link, steers nothing, and ends when it is interrupted.
Commands that read the directory work beside it; those that change it do not.
A crawl that runs is shown by argosy crawl --listen, a fleet by argosy serve.`,
		Example: "  argosy view example\n  argosy view example --listen 127.0.0.1:8490\n  argosy view fleet --ledger postgres://…",
		RunE: func(c *cobra.Command, args []string) error {
			if err := dirArgs(args, &f.dir); err != nil {
				return err
			}
			if _, err := f.place(); err != nil {
				return err
			}
			fleet := outdir.Fleet(f.dir)
			if f.ledger != "" && !fleet {
				return usage("%s: --ledger is for the directory of a fleet's coordinator", f.dir)
			}
			if err := checkListen("--listen", addr); err != nil {
				return err
			}
			log, err := logger(c.ErrOrStderr(), logLevel)
			if err != nil {
				return err
			}
			ctx, stop, _ := interrupts(c.Context(), func(string) {})
			defer stop()
			if fleet {
				err = serve.Show(ctx, f.dir, f.ledger, log, func(ctx context.Context, s *serve.Still) error { return showHouse(ctx, s, addr, log) })
			} else {
				err = showDir(ctx, f.dir, addr, log)
			}
			switch {
			case errors.Is(err, outdir.ErrShown):
				return err
			case errors.Is(err, outdir.ErrInUse) && fleet:
				return fmt.Errorf("%w: its coordinator answers browsers itself: argosy link prints a link", err)
			case errors.Is(err, outdir.ErrInUse):
				return fmt.Errorf("%w: argosy crawl --listen shows a crawl while it runs", err)
			}
			return err
		},
	}
	f.register(c)
	c.Flags().StringVar(&addr, "listen", "127.0.0.1:0", "HOST:PORT to answer at; port 0 is any that is free")
	c.Flags().StringVar(&logLevel, "log-level", "error", "what is logged on standard error: debug, info, warn or error")
	return c
}

// showDir shows a crawl that is over until ctx ends.
func showDir(ctx context.Context, dir, addr string, log *slog.Logger) error {
	return assemble.Show(ctx, atRest(dir), func(ctx context.Context, cr *assemble.Crawl) error { return showHouse(ctx, cr, addr, log) })
}

// showHouse shows what is at rest until ctx ends.
func showHouse(ctx context.Context, house web.House, addr string, log *slog.Logger) error {
	l, err := listening(addr, access.Observer, house, web.Config{Kind: web.KindOver, Logger: log})
	if err != nil {
		return err
	}
	<-ctx.Done()
	return l.close()
}

func newLink() *cobra.Command {
	f := &fleetFlags{}
	c := &cobra.Command{
		Use: "link", Short: "Print a link that lets one browser in, once", Args: cobra.NoArgs,
		Long: `Link asks a coordinator, or a crawl with --listen, for a link to its pages. It lets one browser in, within the hour, with the
rights of who asks for it: with an observer's token an observer.`,
		Example: "  argosy link\n  argosy link --server http://127.0.0.1:8490",
		RunE: func(c *cobra.Command, _ []string) error {
			return f.fleet(c, func(ctx context.Context, cl *web.Client, w io.Writer) error {
				link, err := cl.Link(ctx)
				if err != nil {
					return err
				}
				if f.json {
					return printJSON(w, map[string]string{"link": link})
				}
				_, err = fmt.Fprintln(w, link)
				return err
			})
		},
	}
	f.register(c)
	return c
}
