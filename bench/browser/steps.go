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
	"github.com/chromedp/chromedp"
)

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

// focusStays has the focus on a row while the figures of its table change, and the order of its rows where that changes with them.
func (k *walker) focusStays(ctx context.Context) error {
	if err := visit(ctx, "#/tasks?job=1"); err != nil {
		return err
	}
	const links = "[...document.querySelectorAll('#content tbody td:first-child a')]"
	if err := until(ctx, links+".length > 2"); err != nil {
		return err
	}
	if _, err := js[bool](ctx, "{const e = "+links+"[0]; e.focus(); window.walked = {row: e.getAttribute('href'), figures: new Set()}; true}"); err != nil {
		return err
	}
	err := until(ctx, `(() => {
		const w = window.walked;
		w.figures.add(document.querySelector('#content tbody').textContent);
		return w.figures.size > 4;
	})()`)
	if err != nil {
		return err
	}
	at, err := js[string](ctx, "document.activeElement.getAttribute('href') === window.walked.row ? '' : document.activeElement.outerHTML.slice(0, 100)")
	if err == nil && at != "" {
		err = fmt.Errorf("the focus has gone to %s", at)
	}
	return err
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

// showsPicture looks at an archived page until its picture is there. The newest page may have the bytes of one that is not reported yet, and says
// so: then an older one is opened.
func (k *walker) showsPicture(ctx context.Context) error {
	const look = patience / 4
	row := "tbody tr:first-child"
	for end := time.Now().Add(patience); ; row = "tbody tr:last-child" {
		if err := k.opensArchived(ctx, row); err != nil {
			return err
		}
		for again := time.Now().Add(look); time.Now().Before(again); {
			if seen, err := k.seesPicture(ctx); seen || err != nil {
				return err
			}
		}
		if time.Now().After(end) {
			return errors.New("the picture is not there")
		}
		fmt.Println("        the picture is not there at first: an older page is opened")
	}
}

// opensArchived opens an HTML page of a job as it was archived: that of a row of the list.
func (k *walker) opensArchived(ctx context.Context, row string) error {
	if err := visit(ctx, "#/pages?job=1&mime=text/html"); err != nil {
		return err
	}
	if err := click(ctx, "#content "+row+" a", "Page"); err != nil {
		return err
	}
	return click(ctx, "[role=tab]", "Archived page")
}

// seesPicture reports whether the window shows the picture of an archived page.
func (k *walker) seesPicture(ctx context.Context) (bool, error) {
	if err := until(ctx, "[...document.querySelectorAll('iframe')].some(f => (f.scrollIntoView(), true))"); err != nil { // by a node's number it may be another one by now
		return false, err
	}
	b, err := k.shoot(ctx, "walk-replay")
	if err != nil {
		return false, err
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return false, nil
	}
	seen := 0
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			if r, g, b, _ := img.At(x, y).RGBA(); r>>8 == uint32(picture.R) && g>>8 == uint32(picture.G) && b>>8 == uint32(picture.B) {
				seen++
			}
		}
	}
	return seen > 1000, nil
}
