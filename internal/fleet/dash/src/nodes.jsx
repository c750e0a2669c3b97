import { h } from '../lib/preact.mjs';
import { post, query } from './api.js';
import { bytes, count, percent, price, span } from './format.js';
import { Maps } from './maps.jsx';
import { useMeasurements } from './measures.jsx';
import { t } from './text.js';
import { useState } from '../lib/hooks.mjs';
import { Act, Cut, Empty, Pager, Panel, State, Table, useLive, Wrong, onNodes } from './ui.jsx';

const limit = 100;

export function Nodes({ me, job }) {
  const measured = useMeasurements(me.kind === 'over' ? null : job, 10000);
  const [skip, setSkip] = useState(0), [from, setFrom] = useState(0), [find, setFind] = useState('');
  const list = useLive('/nodes' + query({ limit, skip, find }), { on: onNodes, every: 2000 });
  const leases = useLive('/leases' + query({ limit, skip: from, find }), { on: onNodes, every: 3000 });
  const may = me.role === 'operator' && me.kind !== 'over';
  const order = (n, verb) => async () => { await post(`/nodes/${encodeURIComponent(n.node)}/${verb}`); list.reload(); };
  const rows = list.data || [], some = (fn, column) => rows.some(fn) ? [column] : [];
  return <div class="page">
    <Wrong error={list.error} />
    {(find || rows.total > 10) && <div class="filters"><label>{t('Node')} <input type="search" value={find} onInput={e => { setFind(e.target.value); setSkip(0); setFrom(0); }} /></label></div>}
    {rows.length ? <Table label={t('Nodes')} rows={rows} rowKey={n => n.node} columns={[
      { title: t('Node'), cell: n => <b><Cut text={n.node} /></b> },
      { title: t('State'), cell: n => <State of={n.state} /> },
      ...(me.kind === 'over' ? [] : [{ title: t('Load'), cell: n => <Load n={n} /> }]),
      { title: t('Fetched'), num: true, cell: n => count(n.fetched) },
      { title: t('Volume'), num: true, cell: n => bytes(n.bytes) },
      ...some(n => n.requests && n.requests.all, { title: t('Success'), num: true, cell: n => n.requests && n.requests.all ? percent(n.requests.good / n.requests.all) : '–' }),
      ...some(n => n.present_ms, { title: t('At work'), num: true, cell: n => n.present_ms ? percent(n.working_ms / n.present_ms) : '–' }),
      ...some(n => n.cost, { title: t('Cost'), num: true, cell: n => n.cost ? price(n.cost) : '–' }),
      ...some(n => n.bs_bits_per_s, { title: t('To its store'), num: true, cell: n => n.bs_bits_per_s ? price(n.bs_bits_per_s / 1e6) + ' Mbit/s' : '–' }),
      ...some(n => priced(n), { title: t('Prices an hour: reserve, use, surcharge'), num: true, full: true, cell: n => priced(n) ? n.prices.map(price).join(' / ') : '–' }),
      ...some(n => n.refused && n.refused.count, { title: t('Refused'), num: true, cell: n => n.refused && n.refused.count ? count(n.refused.count) : '–' }),
      ...some(n => labels(n), { title: t('Labels'), cell: n => labels(n) || '–' }),
      ...some(n => n.seen_ms_ago >= 0, { title: t('Heard of'), num: true, cell: n => n.seen_ms_ago < 0 ? '–' : t('{0} ago', span(n.seen_ms_ago)) }),
      ...(may ? [{ title: t('Order'), cell: n => n.state === 'draining' ? <Act run={order(n, 'return')}>{t('Take leases again')}</Act> : n.state === 'gone' ? '' : <Act run={order(n, 'drain')}>{t('Drain')}</Act> }] : []),
    ]} /> : list.data && <Empty>{find || me.kind !== 'fleet' ? t('No node is there.') : t('No node is there, so nothing is fetched. On each machine that is to fetch: {0}', `argosy agent --join ${location.origin} --token-file FILE`)}</Empty>}
    <Pager skip={skip} limit={limit} shown={rows.length} total={rows.total} go={setSkip} />
    <div class="grid">
      {measured.data && <Maps v={measured.data} />}
      {me.kind !== 'over' && <Panel size="full" title={t('What they have')} note={leases.data ? t('{0} leases', count(leases.data.total)) : ''}>
        {leases.data && leases.data.length ? <Table label={t('Leases')} rows={leases.data} rowKey={l => l.id} link={l => '#/task?id=' + l.task} columns={[
          { title: t('Site'), cell: l => <Cut text={l.site} /> }, { title: t('Node'), cell: l => <Cut text={l.node} /> }, { title: t('Given'), num: true, cell: l => count(l.given) }, { title: t('Held'), num: true, cell: l => count(l.held) },
          { title: t('For'), num: true, cell: l => span(Date.now() - l.start) }]} /> : <Empty>{leases.data ? t('No lease is open.') : '…'}</Empty>}
        {leases.data && <Pager skip={from} limit={limit} shown={leases.data.length} total={leases.data.total} go={setFrom} />}
      </Panel>}
    </div>
  </div>;
}

const priced = n => (n.prices || []).some(p => p > 0);

// labels are what a node says of itself, but for where it is, which a map shows.
const labels = n => Object.entries(n.labels || {}).filter(([k]) => k !== 'lat' && k !== 'lon').map(([k, v]) => k + '=' + v).join(' ');

function Load({ n }) {
  const most = n.max_leases || 0, held = n.leases || 0;
  return <span class="load">{count(held)}<span class="bar">{held > 0 && <i style={{ width: Math.min(100, 100 * held / Math.max(1, most || held)) + '%' }} />}</span></span>;
}
