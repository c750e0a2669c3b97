package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
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
	steps := []struct {
		name string
		do   func(context.Context) error
	}{
		{"jobs are started", func(ctx context.Context) error { return k.startJobs(ctx, web) }},
		{"figures move", k.figuresMove},
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

func (k *walker) startJobs(ctx context.Context, web *site) error {
	seeds := "http://" + strings.Join(web.hosts, "/\nhttp://") + "/"
	engine := fmt.Sprintf("- name: library\n  url: \"http://%s/s?q={query}&p={page}\"\n  results: {item: {css: div.r}, link: {css: a, attr: href}}\n  stated: {at: {css: \"#n\"}}", web.engine)
	for _, job := range []struct {
		kind   string
		fields []map[string]string
	}{
		{"follow links", []map[string]string{{"seeds": seeds, "name": "a crawl", "delay": "300ms", "resources": ""}}},
		{"search for a topic", []map[string]string{{"seeds": seeds, "name": "a topic", "delay": "200ms", "words": "milk cheese cows", "mode": "paper"}, {"crawlers": "2", "interval": "2s", "alpha": "3"}}},
		{"ask search engines", []map[string]string{{"name": "a virtual task", "delay": "50ms", "products": "milk", "engines": engine, "sites": web.named, "rest": "1s", "recycling": ""}}},
	} {
		if err := visit(ctx, "#/jobs"); err != nil {
			return err
		}
		if err := click(ctx, ".panel .chip", job.kind); err != nil {
			return err
		}
		for _, fields := range job.fields {
			if err := fill(ctx, fields); err != nil {
				return err
			}
		}
		if err := click(ctx, "form button.primary", "Start"); err != nil {
			return err
		}
		if err := until(ctx, "[...document.querySelectorAll('#content tbody tr')].some(r => r.textContent.includes("+quote(job.fields[0]["name"])+"))"); err != nil {
			return err
		}
	}
	return nil
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
const hangs, moves = 40 * time.Second, 20 * time.Second

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

func (k *walker) mendSearch(ctx context.Context, web *site) error {
	if err := visit(ctx, "#/searches?job=3&state=manual"); err != nil {
		return err
	}
	if err := click(ctx, "#content tbody a", "milk"); err != nil {
		return err
	}
	web.healed.Store(true)
	if err := write(ctx, "Words", "fresh milk"); err != nil {
		return err
	}
	if err := click(ctx, "#content button.primary", "Change and release"); err != nil {
		return err
	}
	if err := until(ctx, "document.querySelector('.crumb .badge').textContent === 'done'"); err != nil {
		return err
	}
	if err := visit(ctx, "#/searches?job=3"); err != nil {
		return err
	}
	return until(ctx, "[...document.querySelectorAll('#content tbody tr')].some(r => r.textContent.startsWith('fresh milk') && r.textContent.includes('done'))")
}

// mendSite fills in every field of the form that a site has which waits for a person.
func (k *walker) mendSite(ctx context.Context, web *site) error {
	job := fmt.Sprintf("name: mute\nseeds: [http://%s/]\nlimits: {delay: 0, recycle_after: 1s, recycle_limit: 0}\n", web.mute)
	id, err := js[int](ctx, `fetch('/api/v1/jobs', {method: 'POST', headers: {'Argosy-Page': localStorage.getItem('argosy.page'), 'Content-Type': 'application/yaml', 'Idempotency-Key': 'mute'}, body: `+quote(job)+`}).then(r => r.json()).then(v => v.job)`)
	if err != nil {
		return err
	}
	if err := visit(ctx, fmt.Sprintf("#/tasks?job=%d&state=manual", id)); err != nil {
		return err
	}
	if err := click(ctx, "#content tbody a", web.mute); err != nil {
		return err
	}
	if err := fill(ctx, map[string]string{"header_timeout": "1m", "delay": "10ms", "retries": "6"}); err != nil {
		return err
	}
	web.speaks.Store(true)
	if err := click(ctx, "#content button.primary", "Change and release"); err != nil {
		return err
	}
	if err := until(ctx, "document.querySelector('.crumb .badge').textContent === 'done'"); err != nil {
		return err
	}
	if refused, err := js[string](ctx, "(document.querySelector('#content .act .wrong') || {}).textContent || ''"); err != nil || refused != "" {
		return errors.Join(err, errors.New(refused))
	}
	return until(ctx, tile("Fetched")+" === '1'")
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

// switchStrategy gives a job that runs another strategy, and looks whether it runs with that one and who wanted it.
func (k *walker) switchStrategy(ctx context.Context) error {
	const other = "roundrobin"
	if err := visit(ctx, "#/jobs?job=1"); err != nil {
		return err
	}
	if err := until(ctx, "[...document.querySelectorAll('#content select option')].some(o => o.value === '"+other+"')"); err != nil {
		return err
	}
	if err := write(ctx, "Strategy", other); err != nil {
		return err
	}
	if err := click(ctx, "#content button", "Switch"); err != nil {
		return err
	}
	if err := until(ctx, "[...document.querySelectorAll('#content tbody tr')].some(r => r.textContent.includes('a crawl') && r.textContent.includes('"+other+"'))"); err != nil {
		return err
	}
	if err := visit(ctx, "#/log"); err != nil {
		return err
	}
	if err := click(ctx, "#content .chip", "Orders"); err != nil {
		return err
	}
	return until(ctx, "[...document.querySelectorAll('#content tbody tr')].some(r => r.textContent.includes('limits of job 1') && r.textContent.includes('"+other+"'))")
}

// explained compares why a task went to its node, on its page, with what argosy explain prints.
func (k *walker) explained(ctx context.Context, argosy, log string) error {
	if err := visit(ctx, "#/tasks?job=1"); err != nil {
		return err
	}
	if err := click(ctx, "#content tbody a", "127.0.0.1"); err != nil {
		return err
	}
	const panel = "[...document.querySelectorAll('.panel')].find(e => e.querySelector('h2').textContent === 'Why here?')"
	if err := until(ctx, panel+" && "+panel+".querySelector('tbody tr')"); err != nil {
		return err
	}
	said, err := js[[]string](ctx, "[new URLSearchParams(location.hash.split('?')[1]).get('id'), "+panel+".querySelector('p').textContent, ...[..."+panel+".querySelectorAll('tbody tr')].map(r => r.cells[0].textContent + '|' + r.cells[1].textContent)]")
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, argosy, "explain", said[0], "--log", log, "--all", "--json").CombinedOutput()
	if err != nil {
		return fmt.Errorf("argosy explain %s: %w: %s", said[0], err, out)
	}
	var all []string
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var d decision
		if err := dec.Decode(&d); errors.Is(err, io.EOF) {
			return fmt.Errorf("the page says %q, argosy explain says %q", said, all)
		} else if err != nil {
			return err
		}
		if all = append(all, d.words()); slices.Equal(said[2:], d.candidates()) && strings.Contains(said[1], "went to "+d.Node+".") && strings.Contains(said[1], d.Strategy) {
			return nil
		}
	}
}

// decision is what argosy explain --json says of a task.
type decision struct {
	Node, Strategy, Unit string
	Candidates           []struct {
		Node string
		Cost *float64
	}
}

func (d *decision) words() string {
	return fmt.Sprintf("%s (%s): %s", d.Node, d.Strategy, strings.Join(d.candidates(), ", "))
}

// candidates are the rows that a page shows.
func (d *decision) candidates() (rows []string) {
	for _, c := range d.Candidates {
		name, cost := c.Node+" ", "forbidden"
		if c.Node == d.Node {
			name += "chosen"
		}
		if c.Cost != nil {
			cost = strconv.FormatFloat(math.Round(*c.Cost*1000)/1000, 'f', -1, 64) + " " + d.Unit
		}
		rows = append(rows, name+"|"+cost)
	}
	return rows
}

// fieldOverTime looks at how a node got on at a site.
func (k *walker) fieldOverTime(ctx context.Context) error {
	if err := visit(ctx, "#/sites?job=1"); err != nil {
		return err
	}
	const field = "document.querySelector('.heat td button')"
	if err := until(ctx, field); err != nil {
		return err
	}
	if _, err := js[bool](ctx, field+".click() || true"); err != nil {
		return err
	}
	return until(ctx, "document.querySelector('.heat button[aria-pressed=true]') && [...document.querySelectorAll('.panel .note')].some(e => e.textContent.includes(' · ')) && document.querySelectorAll('.chart canvas').length === 3")
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
func (k *walker) drain(ctx context.Context) error {
	if err := visit(ctx, "#/nodes"); err != nil {
		return err
	}
	const row = "[...document.querySelectorAll('#content tbody tr')].find(r => r.textContent.startsWith('south'))"
	if err := until(ctx, row+" && "+row+".querySelector('button')"); err != nil {
		return err
	}
	if _, err := js[bool](ctx, row+".querySelector('button').click() || true"); err != nil {
		return err
	}
	if err := until(ctx, row+".textContent.includes('draining') && "+row+".querySelector('.load').textContent === '0'"); err != nil {
		return err
	}
	return click(ctx, "#content tbody button", "Take leases again")
}

func (k *walker) saveStatistics(ctx context.Context, dir string) error {
	downloads := filepath.Join(dir, "downloads")
	if err := chromedp.Run(ctx, browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(downloads)); err != nil {
		return err
	}
	if err := visit(ctx, "#/results?job=2"); err != nil {
		return err
	}
	if err := until(ctx, tile("VC")+" > '0'"); err != nil {
		return err
	}
	stop := "Stop the search and save its statistics"
	if running, err := js[bool](ctx, "[...document.querySelectorAll('button')].some(b => b.textContent === "+quote(stop)+")"); err != nil {
		return err
	} else if !running {
		stop = "Save the statistics" // it was over sooner
	}
	if err := click(ctx, "#content button", stop); err != nil {
		return err
	}
	var got struct {
		VC    int64
		Curve []any
	}
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		b, err := os.ReadFile(filepath.Join(downloads, "statistics-2.json"))
		if err == nil && json.Unmarshal(b, &got) == nil && got.VC > 0 && len(got.Curve) > 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("the file that was saved: %+v, %w", got, errors.Join(err, os.ErrNotExist))
		}
	}
}

func (k *walker) showsPicture(ctx context.Context) error {
	if err := visit(ctx, "#/pages?job=1&mime=text/html"); err != nil {
		return err
	}
	if err := click(ctx, "#content tbody a", "Page"); err != nil {
		return err
	}
	if err := click(ctx, "[role=tab]", "Archived page"); err != nil {
		return err
	}
	if err := until(ctx, "[...document.querySelectorAll('iframe')].some(f => (f.scrollIntoView(), true))"); err != nil { // by a node's number it may be another one by now
		return err
	}
	for end := time.Now().Add(patience); ; {
		b, err := k.shoot(ctx, "walk-replay")
		if err != nil {
			return err
		}
		if img, err := png.Decode(bytes.NewReader(b)); err == nil {
			seen := 0
			for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
				for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
					if r, g, b, _ := img.At(x, y).RGBA(); r>>8 == uint32(picture.R) && g>>8 == uint32(picture.G) && b>>8 == uint32(picture.B) {
						seen++
					}
				}
			}
			if seen > 1000 {
				return nil
			}
		}
		if time.Now().After(end) {
			return errors.New("the picture is not there")
		}
	}
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
