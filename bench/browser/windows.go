package main

import (
	"context"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// manyWindows opens more windows than a browser has connections to a host. The walk's own listens for them at first.
func (k *walker) manyWindows(ctx context.Context) error {
	base, err := js[string](ctx, "location.origin + '/'")
	if err != nil {
		return err
	}
	windows := make([]context.Context, 8)
	for i := range windows {
		one, end, err := another(ctx, base+"#/overview?job=1")
		if err != nil {
			return err
		}
		defer end()
		windows[i] = one
	}
	for range 2 {
		was := make([]string, len(windows))
		for i, one := range windows {
			if err := until(one, tile("Fetched")+" > '0'"); err != nil {
				return fmt.Errorf("window %d: %w", i+1, err)
			}
			if was[i], err = js[string](one, tile("Fetched")); err != nil {
				return err
			}
		}
		for i, one := range windows {
			if err := until(one, tile("Fetched")+" !== "+quote(was[i])); err != nil {
				return fmt.Errorf("window %d: %w", i+1, err)
			}
		}
		if err := chromedp.Run(ctx, chromedp.Navigate("about:blank")); err != nil {
			return err
		}
	}
	return chromedp.Run(ctx, chromedp.Navigate(base+"#/overview?job=1"), chromedp.WaitVisible("#content", chromedp.ByID))
}

// another opens another window.
func another(ctx context.Context, url string) (context.Context, func(), error) {
	var id target.ID
	err := chromedp.Run(ctx, chromedp.ActionFunc(func(ctx context.Context) (err error) {
		id, err = target.CreateTarget(url).WithNewWindow(true).Do(cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser))
		return err
	}))
	if err != nil {
		return nil, nil, err
	}
	one, end := chromedp.NewContext(ctx, chromedp.WithTargetID(id))
	return one, end, nil
}

// hangs is how long the script of a window hangs, and moves how soon the others are to move nevertheless.
const hangs, moves = 60 * time.Second, 35 * time.Second

// hungWindow has the window hang that listens for all, and looks whether the walk's own moves on.
func (k *walker) hungWindow(ctx context.Context) error {
	base, err := js[string](ctx, "location.origin + '/'")
	if err != nil {
		return err
	}
	if err := chromedp.Run(ctx, chromedp.Navigate("about:blank")); err != nil {
		return err
	}
	first, end, err := another(ctx, base+"#/overview?job=1")
	if err != nil {
		return err
	}
	defer end()
	if err := until(first, "navigator.locks.query().then(l => l.held.length === 1)"); err != nil {
		return err
	}
	if err := chromedp.Run(ctx, chromedp.Navigate(base+"#/overview?job=1"), chromedp.WaitVisible("#content", chromedp.ByID)); err != nil {
		return err
	}
	if err := until(ctx, tile("Fetched")+" > '0' && navigator.locks.query().then(l => l.pending.length === 1)"); err != nil {
		return err
	}
	if _, err := js[bool](first, fmt.Sprintf("setTimeout(() => { for (const end = Date.now() + %d; Date.now() < end;); }) > 0", hangs.Milliseconds())); err != nil {
		return err
	}
	begin := time.Now()
	for range 3 { // one change may have been on its way
		was, err := js[string](ctx, tile("Fetched"))
		if err != nil {
			return err
		}
		if err := until(ctx, tile("Fetched")+" !== "+quote(was)); err != nil {
			return err
		}
	}
	if took := time.Since(begin); took > moves {
		return fmt.Errorf("the window moved after %v", took)
	}
	return nil
}

// openMany opens a page more often than a browser has connections to a host: pages that are left hold none.
func (k *walker) openMany(ctx context.Context) error {
	base, err := js[string](ctx, "location.origin + '/'")
	if err != nil {
		return err
	}
	for range 9 {
		if err := chromedp.Run(ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(base+"#/tasks?job=1"), chromedp.WaitVisible("#content", chromedp.ByID)); err != nil {
			return err
		}
		if err := until(ctx, "document.querySelector('#content tbody tr')"); err != nil {
			return err
		}
	}
	return nil
}
