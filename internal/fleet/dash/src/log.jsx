import { h } from '../lib/preact.mjs';
import { useRef, useState } from '../lib/hooks.mjs';
import { query } from './api.js';
import { clock, count, decimal, plain } from './format.js';
import { person, reason, t } from './text.js';
import { Badge, Cut, Empty, Pager, Panel, Table, useLive, useSettled, Wrong } from './ui.jsx';
import { Why } from './tasks.jsx';

const limit = 50;

// Log shows what was decided and ordered: what each task got and why, what each cycle came to, and who has ordered what.
export function Log({ me, at, job }) {
  const over = me.kind === 'over', may = me.role === 'operator' || over;
  const kinds = [...(over ? [] : [['decisions', t('Decisions')], ['plans', t('Cycles')]]), ...(may ? [['orders', t('Orders')]] : [])];
  const [kind, setKind] = useState(kinds.some(([k]) => k === at.kind) ? at.kind : kinds[0][0]);
  const Part = { decisions: Decisions, plans: Plans, orders: Orders }[kind];
  return <div class="page">
    {kinds.length > 1 && <div class="chips" role="group" aria-label={t('Kind')}>{kinds.map(([k, name]) => <button class={'chip' + (k === kind ? ' on' : '')} aria-pressed={k === kind} onClick={() => setKind(k)}>{name}</button>)}</div>}
    <Part job={job} at={at} />
  </div>;
}

function Orders() {
  const [find, setFind] = useState(''), [skip, setSkip] = useState(0), what = useSettled(find);
  const list = useLive('/orders' + query({ find: what, limit: limit + 1, skip }), { every: 5000 });
  const rows = list.data ? list.data.slice(0, limit) : [];
  return <Panel size="full" title={t('Who has ordered what')}>
    {(what || find || skip > 0 || rows.length > 0) && <div class="filters"><label>{t('Find')} <input type="search" maxLength={256} value={find} onInput={e => { setFind(e.target.value); setSkip(0); }} /></label></div>}
    <Wrong error={list.error} />
    {list.data && (rows.length ? <Table label={t('Who has ordered what')} rows={rows} rowKey={o => o.seq} columns={[
      { title: t('When'), cell: o => clock(o.at) }, { title: t('Who'), cell: o => person(o.who) }, { title: t('What'), wide: true, cell: o => <span class="ordered" title={plain(o.what)}>{plain(o.what)}</span> }]} />
      : <Empty>{what || skip ? t('Nothing like that is remembered.') : t('Nobody has ordered anything yet.')}</Empty>)}
    {list.data && <Pager skip={skip} limit={limit} shown={rows.length} more={list.data.length > limit} go={setSkip} />}
  </Panel>;
}

// came says what a decision came to.
const came = d => d.probe ? <span>{t('{0} measures it', d.node)} <Badge>{t(d.probe)}</Badge></span> : d.node ? t('goes to {0}', d.node) : <span>{t('waits')}: {reason(d.waits, true)}</span>;

// because says in short why: what the chosen node cost beside the next, or that nothing was compared.
function because(d) {
  if (d.why) return reason(d.why, true);
  const all = (d.candidates || []).filter(c => c.cost !== null), mine = all.find(c => c.node === d.node), next = all.find(c => c.node !== d.node);
  if (!mine) return '';
  if (d.cost === 'none') return t('not by cost');
  const cost = c => decimal(c.cost, 3) + ' ' + (d.unit ? t(d.unit) : '');
  return next ? t('{0}; {1} at {2}', cost(mine), next.node, cost(next)) : cost(mine);
}

function Decisions({ job, at }) {
  const [only, setOnly] = useState(''), [find, setFind] = useState(at.find || ''), [skip, setSkip] = useState(0), [open, setOpen] = useState(null);
  const list = useLive('/decisions' + query({ job: job && job.id, only, find: useSettled(find), limit, skip }), { every: 3000 });
  const name = d => `${d.task}.${d.attempt || 0}.${d.at}`, by = useRef(null);
  const close = () => { setOpen(null); if (by.current && by.current.isConnected) by.current.focus(); };
  return <Panel size="full" title={t('What was decided, and why')}>
    <div class="filters">
      <label>{t('Kind')} <select value={only} onChange={e => { setOnly(e.target.value); setSkip(0); }}>{[['', t('all')], ['leases', t('Leases')], ['probes', t('Probes')], ['waits', t('Waiting')]].map(([v, label]) => <option value={v}>{label}</option>)}</select></label>
      <label>{t('Site')} <input type="search" value={find} onInput={e => { setFind(e.target.value.toLowerCase()); setSkip(0); }} /></label>
    </div>
    <Wrong error={list.error} />
    {open && <div class="one" onKeyDown={e => { if (e.key === 'Escape') close(); }}><p><b>{plain(open.site)}</b> <button class="link" onClick={close}>{t('Close')}</button></p><Why of={{ known: true, decision: open }} /></div>}
    {list.data && (list.data.length ? <Table label={t('What was decided, and why')} rows={list.data} rowKey={name} columns={[
      { title: t('Site'), cell: d => <a href={'#/task?id=' + d.task}><Cut text={d.site} /></a> }, { title: t('When'), cell: d => <button class="link" onClick={e => { by.current = e.currentTarget; setOpen(d); }}>{clock(d.at)}</button> },
      { title: t('Attempt'), num: true, cell: d => d.attempt || '–' }, { title: t('Came to'), cell: came }, { title: t('Because'), wide: true, cell: because }, { title: t('Strategy'), cell: d => <Cut narrow text={d.strategy} /> }]} />
      : <Empty>{t('Nothing like that is remembered.')}</Empty>)}
    {list.data && <Pager skip={skip} limit={limit} shown={list.data.length} total={list.data.total} go={setSkip} />}
  </Panel>;
}

function Plans({ job }) {
  const [skip, setSkip] = useState(0);
  const list = useLive('/plans' + query({ job: job && job.id, limit, skip }), { every: 3000 });
  return <Panel size="full" title={t('What each cycle came to')}><Wrong error={list.error} />
    {list.data && (list.data.length ? <Table label={t('What each cycle came to')} rows={list.data} columns={[
      { title: t('When'), cell: p => clock(p.at) }, { title: t('Strategy'), cell: p => <Cut narrow text={p.strategy} /> }, { title: t('Tasks'), num: true, cell: p => count(p.tasks) }, { title: t('Nodes'), num: true, cell: p => count(p.nodes) },
      { title: t('Leases'), num: true, cell: p => count(p.leases) }, { title: t('Probes'), num: true, cell: p => count(p.probes || 0) },
      { title: t('Left waiting'), wide: true, cell: p => Object.entries(p.waiting || {}).map(([k, n]) => `${reason(k, true)} (${n})`).join(', ') || '–' }, { title: t('Took'), num: true, cell: p => t('{0} ms', decimal(p.took_us / 1000, 1)) }]} />
      : <Empty>{t('Nothing like that is remembered.')}</Empty>)}
    {list.data && <Pager skip={skip} limit={limit} shown={list.data.length} total={list.data.total} go={setSkip} />}
  </Panel>;
}
