import { h } from '../lib/preact.mjs';
import { useState } from '../lib/hooks.mjs';
import { Chart } from './chart.jsx';
import { bare, clock, count, decimal, price, short, span, tails } from './format.js';
import { t } from './text.js';
import { Bars, Empty, Pager, Panel, Table, Tile, Tiles, useLive, Wrong, onJob } from './ui.jsx';

const limit = 50;
const colours = ['--accent', '--amber', '--green', '--red', '--grey'];
const bound = (n, show) => n < 0 ? '–' : show(n);

// Market shows what the crawlers of a job have sold each other, market by market, and how prices rose in one of them.
export function Market({ job, at, theme }) {
  const list = useLive(job ? `/jobs/${job.id}/markets` : null, { on: onJob(job && job.id), every: 4000 });
  const [skip, setSkip] = useState(0);
  const all = list.data || [], no = Number(at.no) || (all.length ? all[all.length - 1].market : 0);
  if (!job || !job.identity.market) return <Empty>{t('This job has one crawler: nothing is sold.')}</Empty>;
  const bids = job.identity.market.mode === 'lots', back = [...all].reverse();
  const sum = k => all.reduce((n, m) => n + m[k], 0), last = all[all.length - 1];
  return <div class="page">
    <Wrong error={list.error} />
    <Tiles>
      <Tile label={t('Markets')} value={count(all.length)} note={job.identity.market.mode} />
      <Tile label={t('Offered')} value={count(sum('offered'))} note={t('URLs')} />
      <Tile label={t('Sold')} value={count(sum('sold'))} note={t('URLs')} />
      <Tile label={t('Paid')} value={decimal(sum('paid'), 2)} note={t('worth {0} to the buyers', decimal(sum('worth'), 2))} />
      <Tile label={t('Crawlers')} value={count(job.identity.market.crawlers)} />
    </Tiles>
    {all.length === 0 && list.data && <Empty>{t('No market was held yet.')}</Empty>}
    {no > 0 && <Auction key={no} job={job} no={no} theme={theme} />}
    <div class="grid">
      {last && <Panel size="full" title={t('Crawlers before market {0}', last.market)}><Table label={t('Crawlers')} rows={last.crawlers.map((c, i) => ({ no: i + 1, ...c }))} rowKey={c => c.no} columns={[
        { title: t('Crawler'), cell: c => <b>{c.no}</b> }, { title: t('Visited'), num: true, cell: c => count(c.visited) }, { title: t('On the topic'), num: true, cell: c => count(c.saved) },
        { title: t('Queue'), num: true, cell: c => count(c.queue) }, { title: t('Ability'), num: true, cell: c => bound(c.ability, n => decimal(n, 2)) }, { title: t('Time left'), num: true, cell: c => bound(c.time_ms, span) },
        { title: t('Space left'), num: true, cell: c => bound(c.space, short) }, { title: t('Part'), cell: c => [c.buys && t('buys'), c.sells && t('sells')].filter(Boolean).join(', ') || '–' }]} /></Panel>}
      {all.length > 0 && <Panel size="full" title={t('Markets')}><Table label={t('Markets')} rows={back.slice(skip, skip + limit)} rowKey={m => m.market} link={m => '#/market?no=' + m.market} columns={[
        { title: t('Market'), cell: m => t('market {0}', m.market) }, { title: t('When'), cell: m => clock(m.at) }, { title: t('Offered'), num: true, cell: m => count(m.offered) }, { title: t('Sold'), num: true, cell: m => count(m.sold) },
        { title: t('Paid'), num: true, cell: m => price(m.paid) }, { title: t('Worth'), num: true, cell: m => price(m.worth) }, { title: bids ? t('Bids') : t('Rounds'), num: true, cell: m => count(m.rounds) }]} />
        <Pager skip={skip} limit={limit} shown={back.slice(skip, skip + limit).length} total={all.length} go={setSkip} /></Panel>}
    </div>
  </div>;
}

// Auction shows a market: the prices of what was bidden for, round by round, and who got what.
function Auction({ job, no, theme }) {
  const one = useLive(`/jobs/${job.id}/markets/${no}`, { on: () => false });
  const falls = job.identity.market.mode === 'lots'; // its increments fall, and within each there are many bids
  const [step, setStep] = useState(null);
  const v = one.data;
  if (!v) return <Wrong error={one.error} />;
  const prices = v.prices || [], bidden = v.bidden || [], rounds = prices.length, round = step === null ? rounds : Math.min(step, rounds);
  const lots = bidden.map(lot => bare(v.lots[lot] ? v.lots[lot].url : String(lot))), ends = tails(lots, 28);
  const most = bidden.map((lot, i) => ({ lot, i, last: rounds ? prices[rounds - 1][i] : 0 })).sort((a, b) => b.last - a.last).slice(0, colours.length);
  return <div class="grid">
    {rounds > 0 && <Panel size="wide" title={falls ? t('Prices as increments fall: market {0}', no) : t('Prices, round by round: market {0}', no)}>
      <Chart theme={theme} steps x={prices.map((_, i) => i + 1)} format={price} lines={most.map((m, k) => ({ label: ends[m.i], values: prices.map(p => p[m.i]), color: colours[k] }))}
        summary={falls ? t('Prices of {0} lots at {1} increments', bidden.length, rounds) : t('Prices of {0} lots in {1} rounds', bidden.length, rounds)} /></Panel>}
    {rounds > 0 && <Panel size="wide" title={falls ? t('After increment {0} of {1}', round, rounds) : t('After round {0} of {1}', round, rounds)} tools={<div class="row">
      <button disabled={round <= 1} onClick={() => setStep(round - 1)}>{falls ? t('Increment before') : t('Round before')}</button>
      <input type="range" aria-label={falls ? t('Increment') : t('Round')} min={1} max={rounds} value={round} onInput={e => setStep(Number(e.target.value))} />
      <button disabled={round >= rounds} onClick={() => setStep(round + 1)}>{falls ? t('Increment after') : t('Round after')}</button></div>}>
      <Bars unit={Math.max(1e-9, ...prices[rounds - 1])} rows={bidden.map((lot, i) => ({ name: lots[i], label: ends[i], value: prices[round - 1][i] })).sort((a, b) => b.value - a.value)} show={r => price(r.value)} /></Panel>}
    <Panel size="full" title={t('What was offered in market {0}', no)} note={rounds || !v.lots.length ? '' : t('no auction: each lot went to the best bid')}>
      {v.lots.length ? <Table label={t('What was offered in market {0}', no)} rows={v.lots.slice(0, 300)} rowKey={l => l.lot} columns={[
        { title: t('Lot'), wide: true, cell: l => <span class="url">{bare(l.url)}{l.urls > 1 ? ' ' + t('and {0} more', l.urls - 1) : ''}</span> }, { title: t('Seller'), num: true, cell: l => l.seller },
        { title: t('Buyer'), num: true, cell: l => l.buyer ? l.buyer === l.seller ? t('stays') : l.buyer : '–' }, { title: t('Worth to the best'), num: true, cell: l => price(Math.max(0, ...(l.worth || [0]))) },
        { title: t('Reserve'), num: true, cell: l => price(l.reserve) }, { title: t('Price'), num: true, cell: l => price(l.price) }]} /> : <Empty>{t('Nothing was offered.')}</Empty>}
    </Panel>
  </div>;
}
