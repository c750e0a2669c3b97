import { h } from '../lib/preact.mjs';
import { get, post } from './api.js';
import { Chart } from './chart.jsx';
import { count, decimal, percent, short } from './format.js';
import { save } from './save.js';
import { t } from './text.js';
import { Act, Bars, Empty, Panel, Table, Tile, Tiles, useLive, Wrong, onJob } from './ui.jsx';

// Results shows the figures of a search for a topic, ends it, and saves them.
export function Results({ job, me, theme, reload }) {
  const topical = job && job.identity.topic;
  const one = useLive(topical ? `/jobs/${job.id}/statistics` : null, { on: onJob(job && job.id), every: 5000 });
  if (!topical) return <Empty>{t('This job has no topic.')}</Empty>;
  const v = one.data, keep = async () => save(`statistics-${job.id}.json`, await get(`/jobs/${job.id}/statistics`));
  const end = async () => { await post(`/jobs/${job.id}/pause`); await keep(); reload(); };
  const may = me.role === 'operator' && job.state === 'running' && me.kind !== 'over';
  return <div class="page">
    <Wrong error={one.error} />
    <div class="row">{may && <Act kind="danger" run={end}>{t('Stop the search and save its statistics')}</Act>}<Act run={keep}>{t('Save the statistics')}</Act>
      <span class="note">{t('A search that is stopped is paused: it can go on.')}</span></div>
    {!v ? <Empty>…</Empty> : <Figures v={v} theme={theme} />}
  </div>;
}

function Figures({ v, theme }) {
  const curve = v.curve || [], m = v.market;
  return <div class="page">
    <Tiles>
      <Tile label="VC" value={count(v.vc)} note={t('pages visited')} /><Tile label="CC" value={count(v.cc)} note={t('of them on the topic')} /><Tile label="DTOC" value={count(v.dtoc)} note={t('pages saved')} />
      <Tile label="CR" value={percent(v.cr)} note={t('precision: CC of VC')} /><Tile label="RCR" value={percent(v.rcr)} note={t('recall as published: DTOC of VUC')} /><Tile label="RR" value={percent(v.rr)} note={t('had again: RC of VC')} />
      <Tile label={t('Harvest')} value={percent(v.harvest)} note={t('different pages on the topic a fetch')} /><Tile label="AUC" value={v.ranked ? decimal(v.auc, 3) : '–'} note={t('what links promised, of {0} pages', short(v.ranked))} />
    </Tiles>
    <div class="grid">
      <Panel size="wide" title={t('Pages on the topic')} note={t('by pages visited')}>{curve.length > 1 ? <Chart theme={theme} steps x={curve.map(c => c.pages)} format={short} lines={[{ label: t('On the topic'), values: curve.map(c => c.relevant), color: '--accent', fill: true }, { label: t('All'), values: curve.map(c => c.pages), color: '--grey', dash: true }]}
        summary={t('{0} of {1} pages are on the topic', v.cc, v.vc)} /> : <Empty>{t('Nothing has been measured yet.')}</Empty>}</Panel>
      <Panel size="wide" title={t('Share on the topic')} note={t('of the pages of each step')}>{curve.length > 1 ? <Chart theme={theme} steps x={curve.map(c => c.pages)} format={percent} lines={[{ label: t('On the topic'), values: curve.map((c, i) => (c.relevant - (i ? curve[i - 1].relevant : 0)) / Math.max(1, c.pages - (i ? curve[i - 1].pages : 0))), color: '--green' }]}
        summary={percent(v.cr)} /> : <Empty>{t('Nothing has been measured yet.')}</Empty>}</Panel>
      {m && <Panel size="wide" title={t('On the topic, by crawler')}><Bars most={20} rows={m.crawlers.map((c, i) => ({ name: t('crawler {0}', i + 1), value: c.saved }))} show={r => count(r.value)} /></Panel>}
      {m && <Panel size="wide" title={t('What was sold')} note={t('{0} markets', count(m.markets))}><Table label={t('What was sold')} rows={m.crawlers.map((c, i) => ({ no: i + 1, ...c }))} rowKey={c => c.no} columns={[
        { title: t('Crawler'), cell: c => <b>{c.no}</b> }, { title: t('Visited'), num: true, cell: c => count(c.visited) }, { title: t('Bought'), num: true, cell: c => count(c.bought) }, { title: t('Sold'), num: true, cell: c => count(c.sold) }, { title: t('Paid'), num: true, cell: c => decimal(c.paid, 2) }, { title: t('Earned'), num: true, cell: c => decimal(c.earned, 2) }]} /></Panel>}
    </div>
  </div>;
}
