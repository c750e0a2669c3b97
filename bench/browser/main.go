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
	"slices"
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
	only := flag.String("pages", "overview jobs tasks nodes sites pages log api task page replay", "pages to open")
	axe := flag.String("axe", "", "axe.min.js")
	lang := flag.String("lang", "en", "language: en or zh")
	sizes := flag.String("views", "desktop phone", "sizes of the window")
	lights := flag.String("lights", "light dark", "light and dark")
	settle := flag.Duration("settle", 1200*time.Millisecond, "time that a page has to draw itself")
	flag.Parse()
	w := walker{out: *out, lang: *lang, pages: strings.Fields(*only), views: strings.Fields(*sizes), lights: strings.Fields(*lights), settle: *settle}
	if err := w.walk(*link, *axe); err != nil {
		fmt.Fprintln(os.Stderr, "browser:", err)
		os.Exit(1)
	}
}

// walker walks through the pages.
type walker struct {
	out, lang            string
	pages, views, lights []string
	settle               time.Duration

	rules string // axe
	wrong findings
	where string
}

func (k *walker) walk(link, axe string) error {
	at, err := url.Parse(link)
	if err != nil || at.Host == "" {
		return fmt.Errorf("-link %q: want what argosy printed", link)
	}
	if err := os.MkdirAll(k.out, 0o755); err != nil {
		return err
	}
	if axe != "" {
		b, err := os.ReadFile(axe)
		if err != nil {
			return err
		}
		k.rules = string(b)
	}
	alloc, stop := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.Flag("force-color-profile", "srgb"))...)
	defer stop()
	ctx, cancel := chromedp.NewContext(alloc)
	defer cancel()
	ctx, end := context.WithTimeout(ctx, 8*time.Minute)
	defer end()
	k.where = "the start"
	k.listen(ctx, at.Host)
	base := at.Scheme + "://" + at.Host + "/"
	if err := chromedp.Run(ctx, network.Enable(), log.Enable(), chromedp.Navigate(link), chromedp.WaitVisible("#content", chromedp.ByID)); err != nil {
		return fmt.Errorf("the link: %w", err)
	}
	if err := chromedp.Run(ctx, chromedp.Evaluate(`localStorage.setItem('argosy.language', '`+k.lang+`')`, nil)); err != nil {
		return err
	}
	shots := 0
	for _, v := range views {
		for _, light := range k.lights {
			for _, p := range k.pages {
				if !slices.Contains(k.views, v.name) {
					continue
				}
				k.where = p + " " + v.name + " " + light
				if err := k.one(ctx, base, p, v, light); err != nil {
					k.wrong.add("%s: %v", k.where, err)
				}
				shots++
			}
		}
	}
	for _, w := range k.wrong.all {
		fmt.Println(w)
	}
	if len(k.wrong.all) > 0 {
		return fmt.Errorf("%d things are wrong", len(k.wrong.all))
	}
	fmt.Printf("%d pictures in %s, nothing wrong\n", shots, k.out)
	return nil
}

// listen notes what the browser complains of.
func (k *walker) listen(ctx context.Context, host string) {
	chromedp.ListenTarget(ctx, func(ev any) {
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			k.wrong.add("%s: script: %s", k.where, e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError || e.Entry.Source == log.SourceSecurity {
				k.wrong.add("%s: %s %s", k.where, e.Entry.Text, e.Entry.URL)
			}
		case *network.EventRequestWillBeSent:
			if u, err := url.Parse(e.Request.URL); err == nil && u.Scheme != "data" && u.Host != host {
				k.wrong.add("%s: asks %s", k.where, e.Request.URL)
			}
		}
	})
}

// first are links that lead to a page of one thing.
var first = map[string]string{"task": "#/tasks", "page": "#/pages", "replay": "#/pages?mime=text/html"}

func (k *walker) one(ctx context.Context, base, name string, v view, light string) error {
	hash := "#/" + name
	if first[name] != "" {
		hash = first[name]
	}
	var wide int64
	var shot []byte
	steps := []chromedp.Action{
		emulation.SetDeviceMetricsOverride(v.width, v.height, 1, v.mobile),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: light}, {Name: "prefers-reduced-motion", Value: "reduce"}}),
		chromedp.Navigate("about:blank"), chromedp.Navigate(base + hash), chromedp.WaitVisible("#content", chromedp.ByID), chromedp.Sleep(k.settle),
	}
	if first[name] != "" {
		steps = append(steps, chromedp.Click("#content tbody a", chromedp.ByQuery), chromedp.Sleep(k.settle))
	}
	if name == "replay" {
		steps = append(steps, chromedp.Click("[role=tab]:last-child", chromedp.ByQuery), chromedp.WaitVisible("iframe", chromedp.ByQuery), chromedp.Sleep(k.settle))
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
		k.wrong.add("%s: %d pixels wide in a window of %d", k.where, wide, v.width)
	}
	if k.rules != "" {
		if err := k.ask(ctx); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(k.out, name+"-"+v.name+"-"+light+".png"), shot, 0o644)
}

// ask asks axe.
func (k *walker) ask(ctx context.Context) error {
	var text string
	err := chromedp.Run(ctx, chromedp.Evaluate(k.rules+";0", nil), chromedp.Evaluate(
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
		k.wrong.add("%s: axe %s: %s: %s", k.where, f.ID, f.Help, strings.Join(f.Nodes, " ;; "))
	}
	return nil
}
