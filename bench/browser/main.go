// Command browser opens the pages of a crawl in Chromium, one after the other, at desktop and phone width, light and dark: it takes a
// picture of each, and fails where a script fails, the policy of a page is broken, something is asked of another host, or a page is
// wider than the window. With -walk ARGOSY it starts a fleet, some sites and a search engine itself, and does with the pages what people do: it
// starts jobs, drains a node, mends a search, saves statistics, and looks at an archived page. Pages of other origins and hostile sites try meanwhile to
// order, read and run something. With -axe FILE (axe.min.js of the npm package axe-core) it also asks axe what is wrong with each.
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

var views = []view{{"desktop", 1280, 860, false}, {"phone", 360, 780, true}}

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
	only := flag.String("pages", "overview jobs tasks nodes sites measurements pages tree searches market results log api task page replay", "pages to open")
	axe := flag.String("axe", "", "axe.min.js")
	lang := flag.String("lang", "en", "language: en or zh")
	sizes := flag.String("views", "desktop phone", "sizes of the window")
	lights := flag.String("lights", "light dark", "light and dark")
	settle := flag.Duration("settle", 1200*time.Millisecond, "time that a page has to draw itself")
	walk := flag.String("walk", "", "argosy: start a fleet of it and walk through its pages, instead of -link")
	full := flag.Bool("full", false, "with -walk: look at every page in both sizes, lights and languages")
	flag.Parse()
	w := walker{out: *out, lang: *lang, pages: strings.Fields(*only), views: strings.Fields(*sizes), lights: strings.Fields(*lights), settle: *settle, full: *full}
	err := error(nil)
	if *walk != "" {
		err = w.walkThrough(*walk, *axe)
	} else {
		err = w.walk(*link, *axe)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "browser:", err)
		os.Exit(1)
	}
}

// walker walks through the pages.
type walker struct {
	out, lang            string
	pages, views, lights []string
	settle               time.Duration
	full                 bool

	rules string // axe
	wrong findings
	where string
}

func (k *walker) walk(link, axe string) error {
	ctx, end, err := k.open(link, axe)
	if err != nil {
		return err
	}
	defer end()
	base, _, _ := strings.Cut(link, "#")
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
	if err := k.tell(); err != nil {
		return err
	}
	fmt.Printf("%d pictures in %s, nothing wrong\n", shots, k.out)
	return nil
}

// open opens the pages in a browser by a link.
func (k *walker) open(link, axe string) (context.Context, func(), error) {
	at, err := url.Parse(link)
	if err != nil || at.Host == "" {
		return nil, nil, fmt.Errorf("-link %q: want what argosy printed", link)
	}
	if err := os.MkdirAll(k.out, 0o755); err != nil {
		return nil, nil, err
	}
	if axe != "" {
		b, err := os.ReadFile(axe)
		if err != nil {
			return nil, nil, err
		}
		k.rules = string(b)
	}
	alloc, stop := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.WindowSize(1280, 860), chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("host-resolver-rules", "MAP "+evilName+" 127.0.0.1"))...)
	ctx, cancel := chromedp.NewContext(alloc)
	ctx, end := context.WithTimeout(ctx, 20*time.Minute)
	over := func() {
		end()
		cancel()
		stop()
	}
	k.where = "the start"
	k.listen(ctx, at.Host)
	if err := chromedp.Run(ctx, network.Enable(), log.Enable(), chromedp.Navigate(link), chromedp.WaitVisible("#content", chromedp.ByID)); err != nil {
		over()
		return nil, nil, fmt.Errorf("the link: %w", err)
	}
	if err := chromedp.Run(ctx, chromedp.Evaluate(`localStorage.setItem('argosy.language', '`+k.lang+`')`, nil)); err != nil {
		over()
		return nil, nil, err
	}
	return ctx, over, nil
}

// tell prints what is wrong.
func (k *walker) tell() error {
	for _, w := range k.wrong.all {
		fmt.Println(w)
	}
	if len(k.wrong.all) > 0 {
		return fmt.Errorf("%d things are wrong", len(k.wrong.all))
	}
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
