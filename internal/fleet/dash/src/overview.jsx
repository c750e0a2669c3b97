import { h } from '../lib/preact.mjs';
import { useMemo } from '../lib/hooks.mjs';
import { Chart } from './chart.jsx';
import { query } from './api.js';
import { bytes, clock, count, decimal, percent, price, short, span } from './format.js';
import { t } from './text.js';
import { Bars, Cut, Empty, Panel, reasonRows, Stack, State, Tile, Tiles, useLive, Wrong, goes, onJob, onNodes } from './ui.jsx';

// rates are what came a second between samples, smoothed over a few of them.
export function rates(samples, field) {
  const out = [];
  for (let i = 0; i < samples.length; i++) {
    const k = Math.max(0, i - 4), s = (samples[i].at - samples[k].at) / 1000;
    out.push(s > 0 ? Math.max(0, samples[i][field] - samples[k][field]) / s : null);
  }
  return out;
}

// fine keeps small rates apart on an axis.
const fine = v => decimal(v, v < 2 ? 2 : 1);

// trend says of a queue without a projected end what it does.
const trend = samples => {
  if (!samples || samples.length < 10) return t('too early to say');
  const left = s => s.discovered - s.fetched - s.failed - s.excluded, last = samples[samples.length - 1], from = samples[Math.max(0, samples.length - Math.max(10, Math.floor(samples.length / 3)))];
  return left(last) > left(from) ? t('the queue still grows') : t('the queue stays as it is');
};

// ending projects when nothing will be pending, from how the end came nearer of late; null while it does not.
export function ending(samples) {
  const n = samples.length;
  if (n < 10) return null;
  const last = samples[n - 1], from = samples[Math.max(0, n - Math.max(10, Math.floor(n / 3)))];
  const left = s => s.discovered - s.fetched - s.failed - s.excluded, ms = last.at - from.at;
  const fall = left(from) - left(last);
  if (left(last) <= 0 || fall <= 0 || ms <= 0) return null;
  return last.at + left(last) / fall * ms;
}

function live(samples, bins, over) {
  if (samples && samples.length > 1) {
    const end = over ? null : ending(samples);
    const x = samples.map(s => s.at / 1000), left = s => s.discovered - s.fetched - s.failed - s.excluded, last = samples[samples.length - 1];
    const queue = { x, lines: [
      { label: t('Fetched'), values: samples.map(s => s.fetched), color: '--accent', fill: true },
      { label: t('Queue'), values: samples.map(left), color: '--amber' },
    ], end };
    if (end && end - last.at < 4 * (last.at - samples[0].at) + 60000) {
      queue.x = [...x, end / 1000];
      queue.lines = [...queue.lines.map(l => ({ ...l, values: [...l.values, null] })),
        { label: t('Queue, projected'), values: [...x.map((_, i) => i === x.length - 1 ? left(last) : null), 0], color: '--amber', dash: true }];
    }
    return { rate: { x, values: rates(samples, 'fetched'), bytes: rates(samples, 'bytes') }, queue, end };
  }
  if (bins && bins.bins.length) { // of a crawl that is over: from the ledger
    const w = bins.width_ms, x = [], values = [], volume = [], sum = [], errors = [];
    let total = 0, wrong = 0, at = bins.bins[0].at;
    for (const b of bins.bins) {
      for (; at < b.at && x.length < 5000; at += w) { x.push(at / 1000); values.push(0); volume.push(0); sum.push(total); errors.push(wrong); }
      total += b.urls; wrong += b.errors;
      x.push(b.at / 1000); values.push(b.urls * 1000 / w); volume.push(b.bytes * 1000 / w); sum.push(total); errors.push(wrong);
      at = b.at + w;
    }
    return { rate: { x, values, bytes: volume }, queue: { x, lines: [{ label: t('Fetched'), values: sum, color: '--accent', fill: true }, { label: t('Errors'), values: errors, color: '--red' }] }, end: null, past: true };
  }
  return null;
}

// soFar asks for what is new of a series alone, and keeps it short.
const mostSamples = 1200;
export const soFar = {
  every: 2000, from: all => all.length ? '&after=' + all[all.length - 1].at : '',
  join: (all, more) => { const out = [...all, ...more]; return out.length > mostSamples ? out.filter((_, i) => i % 2 === 0 || i === out.length - 1) : out; },
};

// switched is the strategy that an order gave to a job; none: it is about something else.
const switched = (what, id) => what.startsWith(`limits of job ${id}: `) ? (/\bstrategy"?: ?["']?([\w-]+)/.exec(what) || [])[1] : undefined;

// useSwitches returns when the strategy of a job was switched, as the log of orders has it.
export function useSwitches(id) {
  const orders = useLive(id ? '/orders' + query({ find: `limits of job ${id}: `, limit: 500 }) : null, { on: onJob(id), every: 5000 }).data;
  return useMemo(() => (orders || []).flatMap(o => { const to = switched(o.what, id); return to ? [{ at: o.at / 1000, label: to }] : []; }), [orders, id]);
}

export function Overview({ job, jobs, status, me, theme }) {
  const id = job && job.id, over = me.kind === 'over';
  const series = useLive(id ? `/series?job=${id}` : null, { on: onJob(id), moves: () => goes(job), ...soFar });
  const bins = useLive(id && (job.state !== 'running' || over) && series.data && series.data.length < 3 ? `/jobs/${id}/timeline?bins=160` : null, { on: onJob(id), every: 10000 });
  const types = useLive(id ? `/jobs/${id}/types` : null, { on: onJob(id), every: 5000 });
  const codes = useLive(id ? `/jobs/${id}/statuses` : null, { on: onJob(id), every: 5000 });
  const fetchers = useLive(id ? `/jobs/${id}/fetchers` : null, { on: onJob(id), every: 5000 });
  const nodes = useLive(over ? null : '/nodes', { on: onNodes, every: 30000 }); // for what they cost: there may be many
  const best = useLive(id && !over && job.state === 'running' ? `/jobs/${id}/believed` : null, { on: onJob(id), every: 10000 }).data;
  const marks = useSwitches(me.role === 'operator' || over ? id : null);
  const c = job ? job.counts : null;
  const drawn = useMemo(() => live(series.data, bins.data, over), [series.data, bins.data, theme]);
  const rate = drawn && drawn.rate.values.length ? drawn.rate.values[drawn.rate.values.length - 1] : null;
  const volume = drawn && drawn.rate.bytes.length ? drawn.rate.bytes[drawn.rate.bytes.length - 1] : null;
  const cost = (nodes.data || []).reduce((sum, n) => sum + n.cost, 0), done = (nodes.data || []).reduce((sum, n) => sum + n.fetched, 0);
  if (!job) return <Empty>{t('There is no job yet.')} <a href="#/jobs">{t('Start one')}</a></Empty>;
  const reasons = reasonRows(c.reasons);
  const running = job.state === 'running' && !over, asked = series.data && series.data.length < 3 && over ? bins.data : series.data;
  const soon = asked ? t('too early to say') : '…', none = asked ? t('Nothing has been measured yet.') : '…';
  const first = series.data && series.data[0], known = drawn && !drawn.past && first && first.at - job.started > 10000 && first.fetched > 0 ? clock(first.at) : ''; // what a process that was killed saw last is lost with it
  return <div class="page">
    <Wrong error={series.error} />
    {running && me.kind === 'fleet' && status.state && status.nodes === 0 && <p class="wrong" role="status">{t('No node is there, so nothing is fetched. On each machine that is to fetch: {0}', `argosy agent --join ${location.origin} --token-file FILE`)}</p>}
    <Tiles>
      <Tile label={t('State')} value={<State of={job.state} />} note={job.limited ? t('limit reached') + ': ' + job.limited : t('ran for {0}', span(job.ran_ms))} />
      <Tile label={t('Fetched')} value={count(c.fetched)} note={t('{0} pages', short(c.pages))} />
      <Tile label={t('Rate')} value={running && rate !== null ? decimal(rate) + ' /s' : '–'} note={!running ? t('not running') : volume !== null ? bytes(volume) + '/s' : soon} />
      <Tile label={t('Queue')} value={count(c.pending)} note={t('{0} in leases', count(c.held || 0))} />
      <Tile label={t('Failed')} value={count(c.failed)} note={percent(c.failed / Math.max(1, c.fetched + c.failed))} kind={c.failed > c.fetched / 10 ? 'warn' : ''} />
      <Tile label={t('Volume')} value={bytes(c.bytes)} note={t('{0} duplicates', short(c.duplicates))} />
      <Tile label={t('Sites')} value={count(c.sites)} note={t('{0} crawling, {1} waiting', count(c.crawling), count(c.waiting))} />
      {!over && <Tile label={t('Nodes')} value={count(status.nodes)} note={t('{0} leases', count(status.leases))} />}
      {running && <Tile label={t('Projected end')} value={drawn && drawn.end ? clock(drawn.end) : '–'} note={drawn && drawn.end ? t('in {0}', span(drawn.end - Date.now())) : series.data ? trend(series.data) : '…'} />}
      {running && <Tile label={t('Strategy')} value={<a href={'#/jobs?job=' + id}><Cut text={job.strategy} /></a>} />}
      {best && best.bound > 0 && <Tile label={t('Share of the bound')} value={percent(best.share)} note={t('{0} of {1} Mbit/s, as the strategy believes', price(best.held), price(best.bound))} />}
      {cost > 0 && <Tile label={jobs.length > 1 ? t('Cost, all jobs') : t('Cost')} value={price(cost)} note={t('{0} a million URLs', price(cost / Math.max(1, done) * 1e6))} />}
      {c.manual > 0 && <Tile label={t('Need a person')} value={<a href="#/tasks?state=manual">{count(c.manual)}</a>} note={t('tasks')} kind="warn" />}
    </Tiles>
    <div class="meter"><Stack c={c} /><span class="note">{t('{0} of {1} known URLs are done', short(c.discovered - c.pending), short(c.discovered))}</span></div>
    <div class="grid">
      <Panel size="wide" title={t('URLs a second')}>
        {drawn ? <Chart theme={theme} x={drawn.rate.x} format={fine} lines={[{ label: t('URLs a second'), values: drawn.rate.values, color: '--accent', fill: true }]} marks={marks} summary={t('URLs a second, now {0}', decimal(rate))} />
          : <Empty>{none}</Empty>}
      </Panel>
      <Panel size="wide" title={drawn && drawn.past ? t('Fetched and errors') : t('Fetched and queue')} note={[known && t('known since {0}', known), drawn && drawn.end && t('dashed: projected')].filter(Boolean).join(' · ')}>
        {drawn ? <Chart theme={theme} x={drawn.queue.x} format={short} lines={drawn.queue.lines} summary={t('{0} fetched, {1} in the queue', c.fetched, c.pending)} /> : <Empty>{none}</Empty>}
      </Panel>
      <Panel title={t('Bytes by type')}><Wrong error={types.error} />
        {types.data && types.data.length ? <Bars rows={types.data.map(s => ({ name: s.name || t('not said'), value: s.bytes, urls: s.urls }))} show={r => bytes(r.value) + ' · ' + short(r.urls)} /> : <Empty>{types.data ? t('Nothing yet.') : '…'}</Empty>}
      </Panel>
      <Panel title={t('Answers by status')}>
        {codes.data && codes.data.length ? <Bars rows={[...codes.data].sort((a, b) => b.urls - a.urls).map(s => ({ name: s.name, value: s.urls, kind: s.name >= '500' ? 'bad' : s.name >= '400' ? 'warn' : s.name >= '300' ? 'off' : 'ok' }))} show={r => count(r.value)} /> : <Empty>{codes.data ? t('Nothing yet.') : '…'}</Empty>}
      </Panel>
      <Panel title={t('Why URLs were refused or failed')}>
        {reasons.length ? <Bars rows={reasons} show={r => count(r.value)} /> : <Empty>{t('Nothing was refused.')}</Empty>}
      </Panel>
      <Panel size="full" title={t('Who has fetched it')}>
        {fetchers.data && fetchers.data.length ? <Bars rows={fetchers.data.map(n => ({ name: n.name, value: n.urls, bytes: n.bytes }))} show={r => t('{0} fetched', short(r.value)) + ' · ' + bytes(r.bytes)} /> : <Empty>{t('Nothing yet.')}</Empty>}
      </Panel>
    </div>
  </div>;
}
