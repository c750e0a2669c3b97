// Command browser opens the pages of a crawl in Chromium, one after the other, at desktop and phone width, light and dark: it takes a
// picture of each, and fails where a script fails, the policy of a page is broken, something is asked of another host, or a page is
// wider than the window. With -axe FILE (axe.min.js of the npm package axe-core) it also asks axe what is wrong with each.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// view is a size of a window.
type view struct {
	name          string
	width, height int64
	mobile        bool
}

var views = []view{{"desktop", 1320, 860, false}, {"phone", 390, 844, true}}

// findings are what is wrong.
type findings struct {
	mu  sync.Mutex
	all []string
}

func (f *findings) add(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, fmt.Sprintf(format, args...))
}

func main() {
	link := flag.String("link", "", "link that argosy printed")
	out := flag.String("out", "shots", "directory for the pictures")
	only := flag.String("pages", "overview jobs tasks nodes sites pages log task page", "pages to open")
	axe := flag.String("axe", "", "axe.min.js")
	lang := flag.String("lang", "en", "language: en or zh")
	settle := flag.Duration("settle", 1200*time.Millisecond, "time that a page has to draw itself")
	flag.Parse()
	if err := walk(*link, *out, *axe, *lang, strings.Fields(*only), *settle); err != nil {
		fmt.Fprintln(os.Stderr, "browser:", err)
		os.Exit(1)
	}
}

func walk(link, out, axe, lang string, pages []string, settle time.Duration) error {
	at, err := url.Parse(link)
	if err != nil || at.Host == "" {
		return fmt.Errorf("-link %q: want what argosy printed", link)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var rules string
	if axe != "" {
		b, err := os.ReadFile(axe)
		if err != nil {
			return err
		}
		rules = string(b)
	}
	alloc, stop := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.Flag("force-color-profile", "srgb"))...)
	defer stop()
	ctx, cancel := chromedp.NewContext(alloc)
	defer cancel()
	ctx, end := context.WithTimeout(ctx, 4*time.Minute)
	defer end()
	var wrong findings
	where := "the start"
	listen(ctx, at.Host, &wrong, &where)
	base := at.Scheme + "://" + at.Host + "/"
	if err := chromedp.Run(ctx, network.Enable(), log.Enable(), chromedp.Navigate(link), chromedp.WaitVisible("#content", chromedp.ByID)); err != nil {
		return fmt.Errorf("the link: %w", err)
	}
	if err := chromedp.Run(ctx, chromedp.Evaluate(`localStorage.setItem('argosy.language', '`+lang+`')`, nil)); err != nil {
		return err
	}
	for _, v := range views {
		for _, light := range []string{"light", "dark"} {
			for _, p := range pages {
				where = p + " " + v.name + " " + light
				if err := one(ctx, base, p, v, light, rules, filepath.Join(out, p+"-"+v.name+"-"+light+".png"), settle, &wrong, where); err != nil {
					return fmt.Errorf("%s: %w", where, err)
				}
			}
		}
	}
	for _, w := range wrong.all {
		fmt.Println(w)
	}
	if len(wrong.all) > 0 {
		return fmt.Errorf("%d things are wrong", len(wrong.all))
	}
	fmt.Printf("%d pages, %d pictures in %s, nothing wrong\n", len(pages), 4*len(pages), out)
	return nil
}

// listen notes what the browser complains of.
func listen(ctx context.Context, host string, wrong *findings, where *string) {
	chromedp.ListenTarget(ctx, func(ev any) {
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			wrong.add("%s: script: %s", *where, e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError || e.Entry.Source == log.SourceSecurity {
				wrong.add("%s: %s %s", *where, e.Entry.Text, e.Entry.URL)
			}
		case *network.EventRequestWillBeSent:
			if u, err := url.Parse(e.Request.URL); err == nil && u.Scheme != "data" && u.Host != host {
				wrong.add("%s: asks %s", *where, e.Request.URL)
			}
		}
	})
}

// first are links that lead to a page of one thing.
var first = map[string]string{"task": "#/tasks", "page": "#/pages"}

func one(ctx context.Context, base, name string, v view, light, rules, file string, settle time.Duration, wrong *findings, where string) error {
	hash := "#/" + name
	if first[name] != "" {
		hash = first[name]
	}
	var wide int64
	var shot []byte
	steps := []chromedp.Action{
		emulation.SetDeviceMetricsOverride(v.width, v.height, 1, v.mobile),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: light}, {Name: "prefers-reduced-motion", Value: "reduce"}}),
		chromedp.Navigate("about:blank"), chromedp.Navigate(base + hash), chromedp.WaitVisible("#content", chromedp.ByID), chromedp.Sleep(settle),
	}
	if first[name] != "" {
		steps = append(steps, chromedp.Click("#content tbody a", chromedp.ByQuery), chromedp.Sleep(settle))
	}
	steps = append(steps, chromedp.Evaluate(`document.documentElement.scrollWidth`, &wide),
		chromedp.ActionFunc(func(ctx context.Context) (err error) {
			shot, err = page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatPng).Do(ctx)
			return err
		}))
	if err := chromedp.Run(ctx, steps...); err != nil {
		return err
	}
	if wide > v.width {
		wrong.add("%s: %d pixels wide in a window of %d", where, wide, v.width)
	}
	if rules != "" {
		if err := ask(ctx, rules, wrong, where); err != nil {
			return err
		}
	}
	return os.WriteFile(file, shot, 0o644)
}

// ask asks axe.
func ask(ctx context.Context, rules string, wrong *findings, where string) error {
	var text string
	err := chromedp.Run(ctx, chromedp.Evaluate(rules+";0", nil), chromedp.Evaluate(
		`axe.run({resultTypes:['violations']}).then(r => JSON.stringify(r.violations.map(v => ({id: v.id, help: v.help, nodes: v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + ' | ' + n.failureSummary)}))))`,
		&text, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	if err != nil {
		return err
	}
	var found []struct {
		ID, Help string
		Nodes    []string
	}
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		return err
	}
	for _, f := range found {
		wrong.add("%s: axe %s: %s: %s", where, f.ID, f.Help, strings.Join(f.Nodes, " ;; "))
	}
	return nil
}
