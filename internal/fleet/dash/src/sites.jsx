import { Fragment, h } from '../lib/preact.mjs';
import { useState } from '../lib/hooks.mjs';
import { Chart } from './chart.jsx';
import { bytes, clock, count, decimal, percent } from './format.js';
import { t } from './text.js';
import { Empty, Panel, useLive, Wrong, onJob } from './ui.jsx';

// What cells are coloured by: the figure, how it is shown, and how much colour it gets, of 1, where top is the largest.
const measures = {
  urls: { title: () => t('URLs'), of: c => c.urls, show: count },
  rate: { title: () => t('URLs a minute'), of: c => c.last > c.first ? c.urls / Math.max(1 / 60, (c.last - c.first) / 60000) : 0, show: v => count(Math.round(v)) },
  completion: { title: () => t('Completion'), of: c => c.asked ? c.good / c.asked : undefined, show: percent, colour: v => v * v },
  efficiency: { title: () => t('Seconds a page'), of: c => c.good ? c.worked_ms / 1000 / c.good : undefined, show: v => decimal(v, v < 1 ? 3 : 1) },
  bytes: { title: () => t('Volume'), of: c => c.bytes, show: bytes },
  failed: { title: () => t('Failed'), of: c => c.failed, show: count },
};

const mostNodes = 60; // columns: more are not read

export function Sites({ job, theme }) {
  const [by, setBy] = useState('urls'), [one, choose] = useState(null);
  const list = useLive(job ? `/jobs/${job.id}/cells?sites=100` : null, { on: onJob(job && job.id), every: 5000 });
  if (!job) return <Empty>{t('There is no job yet.')}</Empty>;
  const cells = list.data || [], m = measures[by];
  const sums = { site: new Map(), node: new Map() };
  for (const c of cells) for (const k of ['site', 'node']) sums[k].set(c[k], (sums[k].get(c[k]) || 0) + c.urls);
  const most = k => [...sums[k]].sort((a, b) => b[1] - a[1]).map(([s]) => s), sites = most('site'), at = new Map(cells.map(c => [c.site + '\n' + c.node, c]));
  const nodes = most('node').slice(0, mostNodes).sort((a, b) => a.localeCompare(b, undefined, { numeric: true })), left = sums.node.size - nodes.length;
  const top = Math.max(1e-9, ...cells.map(c => m.of(c) || 0)), colour = m.colour || (v => Math.sqrt(v / top));
  return <div class="page">
    <Wrong error={list.error} />
    <OverTime job={job} of={one} theme={theme} />
    <Panel size="full" title={t('Who has fetched what: sites by nodes')} note={left > 0 ? t('the {0} nodes with most; {1} more', mostNodes, left) : t('choose a field to see it over time')} tools={<div class="chips" role="group" aria-label={t('Colour by')}>{Object.entries(measures).map(([k, v]) =>
      <button class={'chip' + (k === by ? ' on' : '')} aria-pressed={k === by} onClick={() => setBy(k)}>{v.title()}</button>)}</div>}>
      {cells.length ? <div class="scroll tall" tabIndex={0} role="region" aria-label={t('Who has fetched what: sites by nodes')}><table class="heat">
        <thead><tr><th scope="col">{t('Site')}</th>{nodes.map(n => <th scope="col"><a href={'#/pages?node=' + encodeURIComponent(n)}>{n}</a></th>)}</tr></thead>
        <tbody>{sites.map(s => <tr key={s}><th scope="row"><a href={'#/pages?site=' + encodeURIComponent(s)}>{s}</a></th>{nodes.map(n => {
          const c = at.get(s + '\n' + n), v = c ? m.of(c) : undefined, share = v > 0 ? 0.12 + 0.88 * colour(v) : 0, on = one && one.site === s && one.node === n;
          return <td key={n} class={on ? 'on' : ''} style={{ '--share': 100 * share + '%' }} title={c ? `${s} · ${n}\n${t('{0} fetched', c.urls)} · ${t('{0} failed', c.failed)} · ${bytes(c.bytes)}\n${clock(c.first)} – ${clock(c.last)}` : ''}>
            {c && <button aria-pressed={!!on} aria-label={`${s} · ${n}: ${v === undefined ? '–' : m.show(v)}`} onClick={() => choose(on ? null : { site: s, node: n })}>{v === undefined ? '–' : v ? m.show(v) : '0'}</button>}</td>;
        })}</tr>)}</tbody>
      </table></div> : <Empty>{list.data ? t('Nothing yet.') : '…'}</Empty>}
    </Panel>
  </div>;
}

// stretches are the bins of a timeline, with those between them in which there was nothing.
function stretches({ bins, width_ms: width }) {
  const out = [];
  for (const b of bins) {
    for (let at = out.length ? out[out.length - 1].at + width : b.at; at < b.at; at += width) out.push({ at, urls: 0, asked: 0, good: 0, worked_ms: 0 });
    out.push(b);
  }
  return out;
}

// OverTime shows how a field, or all of them together, got on.
function OverTime({ job, of, theme }) {
  const list = useLive(`/jobs/${job.id}/timeline?bins=80` + (of ? `&site=${encodeURIComponent(of.site)}&node=${encodeURIComponent(of.node)}` : ''), { on: onJob(job.id), every: 5000 });
  const v = list.data, bins = v ? stretches(v) : [], whole = bins.length > 2 ? bins.length - 1 : bins.length, name = of ? `${of.site} · ${of.node}` : t('all sites and nodes');
  const x = bins.map(b => b.at / 1000), minutes = v ? v.width_ms / 60000 : 1;
  let asked = 0, good = 0;
  const sofar = bins.map(b => { asked += b.asked; good += b.good; return asked ? good / asked : null; });
  return <Fragment><Wrong error={list.error} /><div class="grid">{[
    [t('URLs a minute'), count, [{ label: t('URLs'), values: bins.map((b, i) => i < whole ? Math.round(b.urls / minutes) : null), color: '--accent', fill: true }]],
    [t('Completion'), percent, [{ label: t('Completion'), values: bins.map(b => b.asked ? b.good / b.asked : null), color: '--green' }, { label: t('so far'), values: sofar, color: '--grey', dash: true }]],
    [t('Seconds a page'), n => decimal(n, 3), [{ label: t('Seconds'), values: bins.map(b => b.good ? b.worked_ms / 1000 / b.good : null), color: '--amber' }]],
  ].map(([title, format, lines]) => <Panel key={title} title={title} note={name}>{bins.length > 1 ? <Chart height={170} theme={theme} x={x} format={format} lines={lines} summary={`${title}: ${name}`} /> : <Empty>{v ? t('Nothing yet.') : '…'}</Empty>}</Panel>)}</div></Fragment>;
}
