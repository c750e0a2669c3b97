// What was expected against what was measured.
import { h } from '../lib/preact.mjs';
import { count, decimal, percent, short } from './format.js';
import { t } from './text.js';
import { Badge, Empty, Panel, Table, Tile, Tiles, useLive, useWidth, Wrong, onJob } from './ui.jsx';

// useMeasurements asks what the strategy of a job has measured.
export const useMeasurements = (job, every) => useLive(job ? `/jobs/${job.id}/measurements` : null, { on: onJob(job && job.id), every });

const kinds = {
  speed: { title: () => t('Speed'), note: () => t('of a lease while pages are had'), show: n => n >= 1e6 ? decimal(n / 1e6, 1) + ' Mbit/s' : n >= 1e3 ? decimal(n / 1e3, 0) + ' kbit/s' : decimal(n, 0) + ' bit/s' },
  delay: { title: () => t('Latency'), note: () => t('of the first request of a node to a site'), show: n => decimal(n, n < 10 ? 1 : 0) + ' ms' },
};
const sourceKinds = { measured: 'ok', predicted: 'wait', default: 'off' };

export function Measurements({ job }) {
  const one = useMeasurements(job, 5000), v = one.data;
  if (!job) return <Empty>{t('There is no job yet.')}</Empty>;
  if (!v) return <div class="page"><Wrong error={one.error} />{!one.error && <Empty>…</Empty>}</div>;
  const m = v.measured;
  return <div class="page">
    <Wrong error={one.error} />
    <Tiles>
      <Tile kind="word" label={t('Strategy')} value={v.strategy} /><Tile label={t('Bandwidth probes')} value={count(m.bandwidth)} note={t('of nodes and sites')} /><Tile label={t('Delays to sites')} value={count(m.delays)} note={t('besides those of requests')} />
      <Tile label={t('Delays between nodes')} value={count(m.between)} /><Tile label={t('Probes of stores')} value={count(m.stores)} />
      <Tile label={t('Landmarks')} value={count((m.landmarks || []).length)} note={m.chosen || t('nobody measures for others')} />
    </Tiles>
    <div class="grid">
      {Object.entries(kinds).map(([what, k]) => <Panel key={what} size="wide" title={t('{0}: expected against measured', k.title())} note={k.note()}>
        <Scatter points={v.forecasts.filter(f => f.what === what)} show={k.show} /></Panel>)}
      <Panel size="full" title={t('How near expectations were')} note={t('the last ones since the coordinator began')}>{v.accuracy.length ? <Table label={t('How near expectations were')} rows={v.accuracy} rowKey={a => a.what + a.source} columns={[
        { title: t('What'), cell: a => kinds[a.what].title() }, { title: t('Known by'), cell: a => <Badge kind={sourceKinds[a.source]}>{t(a.source)}</Badge> }, { title: t('Expectations'), num: true, cell: a => count(a.n) },
        { title: t('Half are off by less than'), num: true, cell: a => '× ' + decimal(a.factor, 2) }, { title: t('Within a sigma (68 % if it knows how sure it is)'), num: true, cell: a => percent(a.within) }]} />
        : <Empty>{t('Nothing has been measured yet.')}</Empty>}</Panel>
      {v.forecasts.length > 0 && <Panel size="full" title={t('Farthest off')}><Table label={t('Farthest off')} rows={[...v.forecasts].sort((a, b) => off(b) - off(a)).slice(0, 20)} columns={[
        { title: t('Site'), wide: true, cell: f => <span class="url">{f.site}</span> }, { title: t('Node'), cell: f => f.node }, { title: t('What'), cell: f => kinds[f.what].title() }, { title: t('Known by'), cell: f => <Badge kind={sourceKinds[f.source]}>{t(f.source)}</Badge> },
        { title: t('Expected'), num: true, cell: f => kinds[f.what].show(f.expected) }, { title: t('Measured'), num: true, cell: f => kinds[f.what].show(f.was) }]} /></Panel>}
    </div>
  </div>;
}

const off = f => Math.abs(Math.log(f.was / f.expected));

// Scatter draws what was measured over what was expected, both by powers of ten; on the line they are the same, in the band within twice.
function Scatter({ points, show }) {
  const [w, box] = useWidth(), height = 300, left = 74, bottom = 34, top = 8, right = 10;
  if (!points.length) return <div ref={box}><Empty>{t('Nothing has been measured yet.')}</Empty></div>;
  const ln = points.flatMap(f => [Math.log10(f.was), Math.log10(f.expected)]).filter(Number.isFinite);
  const lo = Math.min(...ln) - 0.15, hi = Math.max(...ln) + 0.15, x = n => left + (n - lo) / (hi - lo) * (w - left - right), y = n => height - bottom - (n - lo) / (hi - lo) * (height - bottom - top);
  const ticks = [], room = 46 * (hi - lo) / (height - bottom - top), wide = 70 * (hi - lo) / Math.max(1, w - left - right); // so much of the axis a label takes
  for (let p = Math.floor(lo); p < hi; p++) for (const k of [1, 2, 5]) { const n = p + Math.log10(k); if (n > lo && n < hi) ticks.push({ n, k }); }
  const kept = (need, ks) => ks.map(set => ticks.filter(x => set.includes(x.k))).find(l => l.every((x, i) => i === 0 || x.n - l[i - 1].n >= need)) || ticks.filter(x => x.k === 1);
  const sets = [[1, 2, 5], [1, 5], [1]], down = kept(room, sets), along = kept(wide, sets);
  const two = Math.log10(2), within = points.filter(f => off(f) < Math.LN2).length;
  return <div class="map" ref={box}>{w > 0 && <svg width={w} height={height} role="img" aria-label={t('{0} of {1} are within a factor of two', within, points.length)}>
    <clipPath id="plot"><rect x={left} y={top} width={Math.max(0, w - left - right)} height={height - bottom - top} /></clipPath>
    <g class="tick">{down.map(({ n }) => <g><path d={`M${left} ${y(n)}H${w - right}`} /><text x={left - 6} y={y(n) + 4} text-anchor="end">{show(10 ** n)}</text></g>)}
      {along.map(({ n }) => <g><path d={`M${x(n)} ${top}V${height - bottom}`} /><text x={x(n)} y={height - bottom + 14} text-anchor="middle">{show(10 ** n)}</text></g>)}</g>
    <g clip-path="url(#plot)"><path class="band" d={`M${x(lo)} ${y(lo - two)}L${x(hi)} ${y(hi - two)}L${x(hi)} ${y(hi + two)}L${x(lo)} ${y(lo + two)}z`} /><path class="same" d={`M${x(lo)} ${y(lo)}L${x(hi)} ${y(hi)}`} />
      {points.map(f => <circle class={'by-' + f.source} cx={x(Math.log10(f.expected))} cy={y(Math.log10(f.was))} r="3"><title>{`${f.node} · ${f.site}\n${t('Expected')} ${show(f.expected)} (${t(f.source)})\n${t('Measured')} ${show(f.was)}`}</title></circle>)}</g>
    <text class="axis" x={left + (w - left) / 2} y={height - 4} text-anchor="middle">{t('expected')}</text>
  </svg>}<p class="key note">{['measured', 'predicted', 'default'].filter(s => points.some(f => f.source === s)).map(s => <span><i class={'by-' + s} />{t(s)}</span>)}<span>{t('{0} of {1} are within a factor of two', short(within), short(points.length))}</span></p></div>;
}
