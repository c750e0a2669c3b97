// The parts that pages are made of.
import { h } from '../lib/preact.mjs';
import { useEffect, useLayoutEffect, useRef, useState } from '../lib/hooks.mjs';
import { get, onEvent } from './api.js';
import { plain } from './format.js';
import { reason, t } from './text.js';

// quiet is for how long in ms nobody asks again for what moves, where nothing says that it has changed.
const quiet = 5000;

// useLive returns what a path answers, and asks again when something has changed that matters to it, at most every `every` ms, and every
// few seconds while moves says of the answer that time changes it, too. Where only what is new is asked for, from says so of what there is,
// as the end of the path, and join adds the answer to it.
export function useLive(path, { on = () => true, every = 2000, moves, from, join } = {}) {
  const [v, set] = useState({ path: null, data: null, error: null });
  const again = useRef(() => {}), still = useRef(moves);
  still.current = moves;
  useEffect(() => {
    if (!path) { set({ path, data: null, error: null }); return undefined; }
    let gone = false, timer = null, last = 0, busy = false, wanted = false, had = null;
    const left = new AbortController(); // what was asked for and takes long ends there, too
    const load = async () => {
      if (busy) { wanted = true; return; }
      busy = true; wanted = false; last = Date.now();
      try {
        let data = await get(from && had ? path + from(had) : path, left.signal);
        if (join && had) data = join(had, data);
        had = data;
        if (!gone) set({ path, data, error: null });
      } catch (e) {
        if (!gone) set(was => ({ path, data: was.path === path ? was.data : null, error: e }));
      }
      busy = false;
      if (wanted && !gone) soon();
    };
    const soon = () => {
      if (timer || gone) return;
      timer = setTimeout(() => { timer = null; if (!document.hidden) load(); else wanted = true; }, Math.max(0, last + every - Date.now()));
    };
    const shown = () => { if (!document.hidden && wanted) load(); };
    again.current = load;
    load();
    const off = onEvent(e => { if (e.open || (!e.lost && on(e))) soon(); });
    const pulse = setInterval(() => { if (still.current && had && Date.now() - last >= quiet && still.current(had)) soon(); }, 1000);
    document.addEventListener('visibilitychange', shown);
    return () => { gone = true; left.abort(); off(); clearTimeout(timer); clearInterval(pulse); document.removeEventListener('visibilitychange', shown); };
  }, [path]);
  const mine = v.path === path;
  return { data: mine ? v.data : null, error: mine ? v.error : null, reload: () => again.current() };
}

// useWidth returns the width of an element, and what to hang it to.
export function useWidth() {
  const box = useRef(null), [width, set] = useState(0);
  useEffect(() => {
    const seen = new ResizeObserver(() => { if (box.current) set(box.current.clientWidth); });
    seen.observe(box.current);
    return () => seen.disconnect();
  }, []);
  return [width, box];
}

export const onJob = id => e => (e.jobs || []).includes(id) || e.status;
// goes reports whether a job runs: time changes then what is said of it.
export const goes = job => !!job && job.state === 'running';
export const onNodes = e => e.nodes || e.status;

export function Badge({ kind, children }) { return <span class={'badge ' + (kind || '')}>{children}</span>; }

const stateKinds = { running: 'go', crawling: 'go', working: 'go', done: 'ok', fetched: 'ok', waiting: 'wait', sleeping: 'wait', paused: 'wait', reserved: '', manual: 'warn', failed: 'bad', draining: 'wait', gone: 'off', dropped: 'off', cancelled: 'off', limited: 'warn', interrupted: 'warn', excluded: 'off', refused: 'bad' };
export function State({ of }) { return <Badge kind={stateKinds[of] || ''}>{t(of)}</Badge>; }

// Cut is a text from outside on one line: the whole of it is its title.
export function Cut({ text, narrow }) { const s = plain(text); return <bdi class={narrow ? 'cut narrow' : 'cut'} title={s}>{s}</bdi>; }

// Reason says why in words, with the code that the command line and the API have for it.
export function Reason({ of, wait }) { const words = reason(of, wait); return words === of ? <code>{of}</code> : <span>{words} <code class="note">{of}</code></span>; }

// reasonRows are the rows of Bars of how many URLs had which reason.
export const reasonRows = of => Object.entries(of || {}).map(([name, value]) => ({ name, label: reason(name), value, kind: 'off' })).sort((a, b) => b.value - a.value);

export function Tile({ label, value, note, kind }) {
  return <div class={'tile ' + (kind || '')}><dt>{label}</dt><dd>{value}</dd>{note !== undefined && <dd class="note">{note}</dd>}</div>;
}

// Tiles are figures beside each other, in rows that are as full as each other.
export function Tiles({ children }) {
  const [width, box] = useWidth(), n = children.flat(Infinity).filter(Boolean).length, most = Math.max(1, Math.floor(width / (width < 600 ? 108 : 136)));
  return <dl ref={box} class="tiles" style={width && n ? { '--across': Math.ceil(n / Math.ceil(n / most)) } : {}}>{children}</dl>;
}

export function Panel({ title, note, tools, children, size }) {
  return <section class={'panel ' + (size || '')}>
    <header><h2>{title}</h2>{note && <span class="note">{note}</span>}{tools && <div class="tools">{tools}</div>}</header>
    {children}
  </section>;
}

export function Empty({ children }) { return <p class="empty">{children}</p>; }

export function Wrong({ error }) { return error ? <p class="wrong" role="alert">{error.message}</p> : null; }

// Bars shows shares of something, the largest first.
export function Bars({ rows, show, most = 10, unit = 1 }) { // unit: the least that a whole bar stands for
  const all = rows.slice(0, most), top = Math.max(unit, ...all.map(r => r.value));
  return <ul class="bars">{all.map(r => <li key={r.name}>
    <bdi class="name" title={r.label ? r.label + ' (' + r.name + ')' : r.name}>{r.label || r.name}</bdi>
    <span class="bar"><i style={{ width: 100 * r.value / top + '%' }} class={r.kind || ''} /></span>
    <span class="value">{show(r)}</span>
  </li>)}</ul>;
}

// Stack shows how URLs of something ended.
export function Stack({ c }) {
  const all = Math.max(1, c.discovered), part = (n, k, w) => n > 0 ? <i class={k} style={{ width: 100 * n / all + '%' }} title={w + ' ' + n} /> : null;
  return <span class="stack" role="img" aria-label={`${t('fetched')} ${c.fetched}, ${t('failed')} ${c.failed}, ${t('excluded')} ${c.excluded}, ${t('pending')} ${c.pending}`}>
    {part(c.fetched, 'ok', t('fetched'))}{part(c.failed, 'bad', t('failed'))}{part(c.excluded, 'off', t('excluded'))}{part(c.pending, 'wait', t('pending'))}
  </span>;
}

// Table shows rows; a column is {title, cell, num, wide, full}. A row that can be opened is a link. On a phone each row is a card (app.css)
// in which a column that is wide or full has a line of its own, and for which the roles are said: a table that is laid out otherwise has none.
export function Table({ columns, rows, link, rowKey, label }) {
  const box = useRef(null), held = document.activeElement; // a row that moves loses the focus
  useLayoutEffect(() => { if (held !== document.activeElement && box.current.contains(held)) held.focus({ preventScroll: true }); });
  return <div ref={box} class="scroll" tabIndex={0} role="region" aria-label={label}><table class="list" role="table">
    <thead role="rowgroup"><tr role="row">{columns.map(c => <th key={c.title} scope="col" role="columnheader" class={c.num ? 'num' : ''}>{c.title}</th>)}</tr></thead>
    <tbody role="rowgroup">{rows.map((r, i) => <tr key={rowKey ? rowKey(r) : i} role="row">{columns.map((c, k) => <td key={c.title} role="cell" data-of={c.title} class={(c.num ? 'num' : '') + (c.wide ? ' wide' : '') + (c.full ? ' full' : '')}>
      {k === 0 && link ? <a href={link(r)}>{c.cell(r)}</a> : c.cell(r)}</td>)}</tr>)}</tbody>
  </table></div>;
}

export function Pager({ skip, limit, shown, total, more, go }) {
  const last = total !== undefined ? skip + shown >= total : !more;
  if (skip === 0 && last) return null;
  return <nav class="pager" aria-label={t('Parts of the list')}>
    <button disabled={skip === 0} onClick={() => go(Math.max(0, skip - limit))}>{t('Back')}</button>
    <span>{skip + 1}–{skip + shown}{total !== undefined ? ' / ' + total : ''}</span>
    <button disabled={last} onClick={() => go(skip + limit)}>{t('Forth')}</button>
  </nav>;
}

// Act is a button that orders something and says what came of it. What cannot be undone asks first.
export function Act({ run, children, sure, kind, disabled }) {
  const [state, set] = useState({}), passes = useRef(0);
  useEffect(() => () => clearTimeout(passes.current), []);
  const go = async () => {
    if (state.busy || (sure && !window.confirm(sure))) return;
    clearTimeout(passes.current); // of the order before
    set({ busy: true });
    try { await run(); set({ done: true }); passes.current = setTimeout(() => set({}), 2500); } catch (e) { set({ error: e }); }
  };
  return <span class="act"><button class={kind || ''} disabled={disabled} aria-disabled={!!state.busy} onClick={go}>{children}</button>
    <span role="status">{state.busy ? '…' : state.done ? '✓' : ''}</span>{state.error && <Wrong error={state.error} />}</span>;
}

// useSettled holds a value back while a person types.
export function useSettled(value, ms = 300) {
  const [v, set] = useState(value);
  useEffect(() => { const timer = setTimeout(() => set(value), ms); return () => clearTimeout(timer); }, [value]);
  return v;
}
