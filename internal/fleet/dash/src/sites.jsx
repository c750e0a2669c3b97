import { h } from '../lib/preact.mjs';
import { useState } from '../lib/hooks.mjs';
import { bytes, clock, count } from './format.js';
import { t } from './text.js';
import { Empty, Panel, useLive, Wrong, onJob } from './ui.jsx';

const measures = {
  urls: { title: () => t('URLs'), of: c => c.urls, show: count },
  rate: { title: () => t('URLs a minute'), of: c => c.last > c.first ? c.urls / Math.max(1 / 60, (c.last - c.first) / 60000) : 0, show: v => count(Math.round(v)) },
  bytes: { title: () => t('Volume'), of: c => c.bytes, show: bytes },
  failed: { title: () => t('Failed'), of: c => c.failed, show: count },
};

export function Sites({ job }) {
  const [by, setBy] = useState('urls');
  const list = useLive(job ? `/jobs/${job.id}/cells?sites=100` : null, { on: onJob(job && job.id), every: 5000 });
  if (!job) return <Empty>{t('There is no job yet.')}</Empty>;
  const cells = list.data || [], m = measures[by];
  const nodes = [...new Set(cells.map(c => c.node))].sort((a, b) => a.localeCompare(b, undefined, { numeric: true })), sums = new Map();
  for (const c of cells) sums.set(c.site, (sums.get(c.site) || 0) + c.urls);
  const sites = [...sums].sort((a, b) => b[1] - a[1]).map(([s]) => s), at = new Map(cells.map(c => [c.site + '\n' + c.node, c]));
  const top = Math.max(1e-9, ...cells.map(m.of));
  return <div class="page">
    <Wrong error={list.error} />
    <Panel size="full" title={t('Who has fetched what: sites by nodes')} tools={<div class="chips" role="group" aria-label={t('Colour by')}>{Object.entries(measures).map(([k, v]) =>
      <button class={'chip' + (k === by ? ' on' : '')} aria-pressed={k === by} onClick={() => setBy(k)}>{v.title()}</button>)}</div>}>
      {cells.length ? <div class="scroll" tabIndex={0} role="region" aria-label={t('Who has fetched what: sites by nodes')}><table class="heat">
        <thead><tr><th scope="col">{t('Site')}</th>{nodes.map(n => <th scope="col"><a href={'#/pages?node=' + encodeURIComponent(n)}>{n}</a></th>)}</tr></thead>
        <tbody>{sites.map(s => <tr key={s}><th scope="row"><a href={'#/pages?site=' + encodeURIComponent(s)}>{s}</a></th>{nodes.map(n => {
          const c = at.get(s + '\n' + n), v = c ? m.of(c) : 0, share = v > 0 ? 0.12 + 0.88 * Math.sqrt(v / top) : 0;
          return <td key={n} style={{ '--share': 100 * share + '%' }} title={c ? `${s} · ${n}\n${t('{0} fetched', c.urls)} · ${t('{0} failed', c.failed)} · ${bytes(c.bytes)}\n${clock(c.first)} – ${clock(c.last)}` : ''}>{v ? m.show(v) : ''}</td>;
        })}</tr>)}</tbody>
      </table></div> : <Empty>{list.data ? t('Nothing yet.') : '…'}</Empty>}
    </Panel>
  </div>;
}
