package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long the walk waits for something to happen on a page.
const patience = 40 * time.Second

// walkThrough starts a fleet and does what people do with its pages, in a browser.
func (k *walker) walkThrough(argosy, axe string) (err error) {
	begin := time.Now()
	dir, err := os.MkdirTemp("", "argosy-walk-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	web, err := serveSites()
	if err != nil {
		return err
	}
	lure, err := openTrap()
	if err != nil {
		return err
	}
	f, err := startFleet(argosy, dir)
	defer f.stop()
	if err != nil {
		return err
	}
	ctx, end, err := k.open(f.link, axe)
	if err != nil {
		return err
	}
	defer end()
	coordinator, err := url.Parse(f.link)
	if err != nil {
		return err
	}
	g, err := openGate(coordinator.Host)
	if err != nil {
		return err
	}
	steps := []struct {
		name string
		do   func(context.Context) error
	}{
		{"jobs are started", func(ctx context.Context) error { return k.startJobs(ctx, web) }},
		{"pages of other origins get and change nothing", func(ctx context.Context) error { return k.strangers(ctx, g) }},
		{"figures move", k.figuresMove},
		{"who has the focus keeps it while a table changes", k.focusStays},
		{"eight windows move at once, and still when the one that listened is gone", k.manyWindows},
		{"a window moves although the one that listened hangs", k.hungWindow},
		{"a search that waits for a person is changed, and finishes", func(ctx context.Context) error { return k.mendSearch(ctx, web) }},
		{"a site that waits for a person is changed, released and finishes", func(ctx context.Context) error { return k.mendSite(ctx, web) }},
		{"the strategy is switched while the job runs", k.switchStrategy},
		{"an explanation is what argosy explain says", func(ctx context.Context) error { return k.explained(ctx, argosy, f.decisions()) }},
		{"a field of sites by nodes is shown over time", k.fieldOverTime},
		{"a link is followed while the language changes", k.movesWhileDrawn},
		{"every page is opened", k.everyPage},
		{"pages are opened one after the other, more than a browser has connections", k.openMany},
		{"a node drains", k.drain},
		{"a search is stopped, and its statistics are saved", func(ctx context.Context) error { return k.saveStatistics(ctx, dir) }},
		{"an archived page shows its picture", k.showsPicture},
		{"hostile pages are archived and shown: nothing runs, nothing leaves", func(ctx context.Context) error { return k.hostile(ctx, g, lure) }},
		{"a session ends", k.leave},
	}
	for _, s := range steps {
		k.where = s.name
		at := time.Now()
		if err := s.do(ctx); err != nil {
			k.shoot(ctx, "wrong")
			k.tell()
			return fmt.Errorf("%s: %w (the page as it was is in %s)", s.name, err, filepath.Join(k.out, "wrong.png"))
		}
		fmt.Printf("%5.1f s  %s\n", time.Since(at).Seconds(), s.name)
	}
	if err := k.tell(); err != nil {
		return err
	}
	fmt.Printf("%5.1f s  in all, nothing wrong\n", time.Since(begin).Seconds())
	return nil
}

// js evaluates an expression.
func js[T any](ctx context.Context, expression string) (v T, err error) {
	err = chromedp.Run(ctx, chromedp.Evaluate(expression, &v, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	return v, err
}

// until waits until an expression, or what it promises, is true.
func until(ctx context.Context, expression string) error {
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		ok, err := js[bool](ctx, "Promise.resolve("+expression+").then(v => !!v)")
		if ok {
			return nil
		}
		if time.Now().After(end) {
			return errors.Join(fmt.Errorf("it does not come to this: %s", expression), err)
		}
	}
}

func quote(s string) string {
	b, _ := json.Marshal(s) // a text can always be
	return string(b)
}

// click clicks what has a text, of what a selector finds.
func click(ctx context.Context, selector, text string) error {
	at := fmt.Sprintf("[...document.querySelectorAll(%s)].find(e => e.textContent.trim().startsWith(%s) && !e.disabled)", quote(selector), quote(text))
	if err := until(ctx, at); err != nil {
		return err
	}
	_, err := js[bool](ctx, at+".click() || true")
	return err
}

// fill writes into the fields of a form, by their names.
func fill(ctx context.Context, fields map[string]string) error {
	for name, value := range fields {
		at := "document.querySelector('#content [name=" + name + "]')"
		if err := until(ctx, at); err != nil {
			return err
		}
		text := fmt.Sprintf("{const e = %s; e.focus(); if (e.type === 'checkbox') e.click(); else { e.value = %s; e.dispatchEvent(new Event('input', {bubbles: true})); } true}", at, quote(value))
		if _, err := js[bool](ctx, text); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := chromedp.Run(ctx, chromedp.Sleep(30*time.Millisecond)); err != nil { // the page draws itself anew
			return err
		}
	}
	return nil
}

func visit(ctx context.Context, hash string) error {
	if _, err := js[bool](ctx, "(location.hash = "+quote(hash)+") && true"); err != nil {
		return err
	}
	return chromedp.Run(ctx, chromedp.Sleep(300*time.Millisecond))
}

// tile is the figure of a tile.
func tile(label string) string {
	return "([...document.querySelectorAll('.tile')].find(e => e.querySelector('dt').textContent === " + quote(label) + ") || {querySelector: () => ({})}).querySelector('dd').textContent"
}

func (k *walker) figuresMove(ctx context.Context) error {
	if err := visit(ctx, "#/overview?job=1"); err != nil {
		return err
	}
	if err := until(ctx, tile("Fetched")+" > '0'"); err != nil {
		return err
	}
	was, err := js[string](ctx, tile("Fetched"))
	if err != nil {
		return err
	}
	return until(ctx, tile("Fetched")+" !== "+quote(was))
}

// write writes into the field that a label is of.
func write(ctx context.Context, label, text string) error {
	at := fmt.Sprintf("[...document.querySelectorAll('#content label')].find(e => e.textContent.startsWith(%s))", quote(label))
	if err := until(ctx, at); err != nil {
		return err
	}
	_, err := js[bool](ctx, fmt.Sprintf("{const e = %s.querySelector('input, textarea, select'); e.focus(); e.value = %s; e.dispatchEvent(new Event(e.tagName === 'SELECT' ? 'change' : 'input', {bubbles: true})); true}", at, quote(text)))
	return errors.Join(err, chromedp.Run(ctx, chromedp.Sleep(50*time.Millisecond))) // the page draws itself anew
}

// movesWhileDrawn goes to another page in the moment in which all of them are drawn anew.
func (k *walker) movesWhileDrawn(ctx context.Context) error {
	for _, to := range [][2]string{{"zh", "#/log"}, {"en", "#/nodes"}} {
		lang, hash := to[0], to[1]
		_, err := js[bool](ctx, `(() => {
			const s = [...document.querySelectorAll('select')].find(s => [...s.options].some(o => o.value === 'zh'));
			s.value = `+quote(lang)+`; s.dispatchEvent(new Event('change', { bubbles: true })); location.hash = `+quote(hash)+`;
			return true;
		})()`)
		if err != nil {
			return err
		}
		if err := until(ctx, "document.querySelector('nav a[aria-current]').getAttribute('href') === "+quote(hash)); err != nil {
			return err
		}
	}
	return nil
}

func (k *walker) everyPage(ctx context.Context) error {
	for _, hash := range walkedPages {
		if err := k.look(ctx, hash); err != nil {
			return err
		}
	}
	if !k.full {
		return nil
	}
	for _, v := range views {
		for _, light := range k.lights {
			for _, lang := range []string{"en", "zh"} {
				for _, hash := range walkedPages {
					if err := k.lookAs(ctx, hash, v, light, lang); err != nil {
						return err
					}
				}
			}
		}
	}
	return k.lookAs(ctx, "overview", views[0], "light", "en")
}

// walkedPages are the pages that the walk opens.
var walkedPages = []string{"overview?job=1", "jobs", "tasks?job=1", "nodes", "sites?job=1", "measurements?job=1", "pages?job=1", "tree?job=2", "searches?job=3", "market?job=2", "results?job=2", "log", "api"}

// lookAs looks at a page in a window of some size, light and language.
func (k *walker) lookAs(ctx context.Context, hash string, v view, light, lang string) error {
	err := chromedp.Run(ctx, emulation.SetDeviceMetricsOverride(v.width, v.height, 1, v.mobile),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: light}}),
		chromedp.Evaluate("localStorage.setItem('argosy.language', "+quote(lang)+")", nil), chromedp.Reload(), chromedp.WaitVisible("#content", chromedp.ByID))
	if err != nil {
		return err
	}
	if err := k.look(ctx, hash); err != nil {
		return err
	}
	k.where = strings.Join([]string{hash, v.name, light, lang}, " ")
	wide, err := js[int64](ctx, "document.documentElement.scrollWidth")
	if err == nil && wide > v.width {
		k.wrong.add("%s: %d pixels wide in a window of %d", k.where, wide, v.width)
	}
	name, _, _ := strings.Cut(hash, "?")
	_, serr := k.shoot(ctx, strings.Join([]string{name, v.name, light, lang}, "-"))
	return errors.Join(err, serr)
}

// look looks at a page.
func (k *walker) look(ctx context.Context, hash string) error {
	k.where = hash
	if err := visit(ctx, "#/"+hash); err != nil {
		return err
	}
	name, _, _ := strings.Cut(hash, "?")
	if err := until(ctx, "document.querySelector('nav a[aria-current]').getAttribute('href') === '#/"+name+"' && document.querySelector('#content .page') && !document.querySelector('#content .wrong')"); err != nil {
		return err
	}
	if err := chromedp.Run(ctx, chromedp.Sleep(k.settle)); err != nil {
		return err
	}
	if k.rules == "" {
		return nil
	}
	return k.ask(ctx)
}

func (k *walker) leave(ctx context.Context) error {
	if err := click(ctx, "nav button", "Leave"); err != nil {
		return err
	}
	return until(ctx, "document.querySelector('.door')")
}

// shoot takes a picture of the page and keeps it.
func (k *walker) shoot(ctx context.Context, name string) (shot []byte, err error) {
	err = chromedp.Run(ctx, chromedp.ActionFunc(func(ctx context.Context) (err error) {
		shot, err = page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatPng).Do(ctx)
		return err
	}))
	if err == nil {
		err = os.WriteFile(filepath.Join(k.out, name+".png"), shot, 0o644)
	}
	return shot, err
}
