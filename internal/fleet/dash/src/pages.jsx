import { h } from '../lib/preact.mjs';
import { useRef, useState } from '../lib/hooks.mjs';
import { query } from './api.js';
import { bare, bytes, clock, count, decimal, plain } from './format.js';
import { t } from './text.js';
import { Badge, Cut, Empty, Pager, Reason, State, Table, useLive, useSettled, Wrong } from './ui.jsx';

const limit = 50;

export function Pages({ me, job, at }) {
  const [state, setState] = useState(at.state || ''), [kind, setKind] = useState(at.class || ''), [mime, setMime] = useState(at.mime || '');
  const [site, setSite] = useState(at.site || ''), [node, setNode] = useState(at.node || ''), [find, setFind] = useState(at.find || ''), [skip, setSkip] = useState(Number(at.skip) || 0);
  const f = useSettled(find), m = useSettled(mime), s = useSettled(site), n = useSettled(node);
  const list = useLive(job ? `/jobs/${job.id}/pages` + query({ state, class: kind, mime: m, site: s, node: n, find: f, limit, skip }) : null, { on: e => skip === 0 && (e.jobs || []).includes(job.id), every: 5000 });
  const nodes = useLive(me.kind === 'over' || !node ? null : '/nodes' + query({ limit: 20, find: n }), { every: 60000 });
  if (!job) return <Empty>{t('There is no job yet.')}</Empty>;
  const change = fn => e => { fn(e.target.value); setSkip(0); };
  const rows = list.data ? list.data.pages : [];
  return <div class="page">
    <div class="filters">
      <label>{t('URL or title')} <input type="search" size={14} maxLength={256} value={find} onInput={change(setFind)} /></label>
      <label>{t('State')} <select value={state} onChange={change(setState)}><option value="">{t('all')}</option>{['fetched', 'failed', 'excluded'].map(v => <option value={v}>{t(v)}</option>)}</select></label>
      <label>{t('Status')} <select value={kind} onChange={change(setKind)}><option value="">{t('all')}</option>{[2, 3, 4, 5].map(v => <option value={v}>{v}xx</option>)}</select></label>
      <label>{t('Type')} <input size={8} list="types" value={mime} onInput={change(setMime)} /></label>
      <label>{t('Site')} <input size={10} value={site} onInput={change(setSite)} /></label>
      <label>{t('Node')} <input size={8} list="nodes" value={node} onInput={change(setNode)} /></label>
      <datalist id="nodes">{(nodes.data || []).map(v => <option value={v.node} />)}</datalist>
      <datalist id="types">{['text/html', 'text/css', 'image/', 'application/pdf', 'application/json'].map(v => <option value={v} />)}</datalist>
    </div>
    <Wrong error={list.error} />
    {state === 'excluded' && <p class="note">{t('URLs that were refused before a node asked for them are counted in the overview, by reason, and listed by argosy export --state excluded: here are those that a node reported.')}</p>}
    {list.data && (rows.length ? <Table label={t('Pages')} rowKey={r => r.key} rows={rows} link={r => `#/page?job=${job.id}&key=${r.key}`} columns={[
      { title: t('Page'), wide: true, cell: r => <span class="pagename"><b title={plain(r.title || r.url)}>{plain(r.title || bare(r.url))}</b>{r.title && <span class="url" title={plain(r.url)}>{bare(r.url)}</span>}</span> },
      { title: t('Status'), cell: r => r.status ? <Badge kind={r.status >= 500 ? 'bad' : r.status >= 400 ? 'warn' : r.status >= 300 ? 'off' : 'ok'}>{r.status}</Badge> : <State of={r.state} /> },
      { title: t('Type'), cell: r => r.mime ? <Cut text={r.mime} /> : r.reason ? <Reason of={r.reason} /> : '–' },
      { title: t('Volume'), num: true, cell: r => bytes(r.bytes || 0) },
      { title: t('Depth'), num: true, cell: r => r.depth },
      { title: t('Node'), cell: r => r.node || '–' },
      { title: t('When'), num: true, cell: r => clock(r.fetched_at) },
    ]} /> : <Empty>{t('No page is like that.')}</Empty>)}
    {list.data && <Pager skip={skip} limit={limit} shown={rows.length} more={list.data.more} go={setSkip} />}
  </div>;
}

export function Page({ at, job }) {
  const later = useRef(false); // what is archived stays as it is, but for what has not come yet
  const one = useLive(at.key && job ? `/jobs/${job.id}/page?key=${encodeURIComponent(at.key)}` : null, { on: () => later.current });
  const [tab, setTab] = useState('text');
  const v = one.data;
  later.current = !!(v && v.later);
  if (!at.key || !job) return <p class="wrong" role="alert">{t('This address names no page.')} <a href="#/pages">{t('Pages')}</a></p>;
  if (!v) return one.error ? <Wrong error={one.error} /> : <Empty>…</Empty>;
  const facts = [
    [t('URL'), <a href={v.url} target="_blank" rel="noopener noreferrer nofollow">{v.url}</a>], [t('Status'), v.status || '–'], [t('State'), <span><State of={v.state} /> {v.reason && <Reason of={v.reason} />} {v.detail}</span>],
    [t('Type'), [v.mime, v.charset].filter(Boolean).join(', ') || '–'], [t('Volume'), bytes(v.bytes || 0)], [t('Links'), count(v.links || 0)], [t('Depth'), v.depth], [t('Language'), v.lang || '–'], [t('Site'), <a href={'#/pages?site=' + encodeURIComponent(v.site)}>{v.site}</a>],
    [t('Node'), v.node || '–'], [t('Address'), [v.ip, v.proto].filter(Boolean).join(', ') || '–'], [t('When'), clock(v.fetched_at)], [t('Digest'), v.digest || '–'], [t('Redirect'), v.redirect || '–'], [t('Score'), v.score ? decimal(v.score, 3) : '–'],
    [t('Archive'), v.warc ? `${v.warc} @ ${v.offset}` : '–'],
  ].filter(([, x]) => x !== '–');
  const tabs = [['text', t('Text')], ['heads', t('Heads')], ...(v.replay ? [['page', t('Archived page')]] : [])];
  const turn = e => { // as in every list of tabs
    const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key], names = tabs.map(([k]) => k);
    if (!step) return;
    const to = names[(names.indexOf(tab) + step + names.length) % names.length];
    setTab(to);
    document.getElementById('tab-' + to).focus();
    e.preventDefault();
  };
  return <div class="page">
    <p class="crumb"><a href="#/pages">{t('Pages')}</a> / <b>{plain(v.title || bare(v.url))}</b></p>
    {v.later ? <p class="note" role="status">{t('Its bytes are those of another page, which no node has reported yet: they are shown as soon as they are there.')}</p> : v.trouble && <p class="wrong">{v.trouble}</p>}
    <dl class="facts">{facts.map(([k, x]) => <div key={k}><dt>{k}</dt><dd>{x}</dd></div>)}</dl>
    <div class="chips" role="tablist" aria-label={t('Page')} onKeyDown={turn}>{tabs.map(([k, label]) => <button role="tab" id={'tab-' + k} aria-controls="panel" tabIndex={tab === k ? 0 : -1} aria-selected={tab === k} class={'chip' + (tab === k ? ' on' : '')} onClick={() => setTab(k)}>{label}</button>)}</div>
    <div role="tabpanel" id="panel" aria-labelledby={'tab-' + tab}>
    {tab === 'text' && (v.text ? <pre class="text" tabIndex={0}>{plain(v.text)}{v.cut ? '\n…' : ''}</pre> : <Empty>{v.later ? '…' : v.trouble ? t('The archive cannot be read.') : t('It has no text that is archived.')}</Empty>)}
    {tab === 'heads' && <div class="grid"><pre class="text" tabIndex={0} aria-label={t('Request')}>{v.request || (v.trouble ? t('The archive cannot be read.') : t('No request is archived.'))}</pre><pre class="text" tabIndex={0} aria-label={t('Answer')}>{v.response || (v.trouble ? t('The archive cannot be read.') : t('No answer is archived.'))}</pre></div>}
    {tab === 'page' && <div class="replay"><p class="note">{t('As it was archived: without scripts, and nothing is asked of any site.')}</p>{v.later ? <Empty>…</Empty> : <iframe src={v.replay} sandbox="" referrerpolicy="no-referrer" title={t('Archived page')} />}</div>}
    </div>
  </div>;
}
