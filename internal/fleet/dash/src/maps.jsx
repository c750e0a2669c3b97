// Where nodes and sites are: by the delays between them, and on earth.
import { Fragment, h } from '../lib/preact.mjs';
import { land } from '../lib/land.mjs';
import { count, decimal } from './format.js';
import { t } from './text.js';
import { Empty, Panel, useWidth } from './ui.jsx';

// Maps shows nodes and the sites of a job on two maps.
export function Maps({ v }) {
  const net = [...v.nodes, ...v.sites].some(p => p.spot.known), earth = [...v.nodes, ...v.sites].some(p => p.placed);
  return <Fragment>
    <Panel size={net || !earth ? 'wide' : 'full'} title={t('By the network')} note={net ? t('distance is delay') : ''}>{net ? <NetMap v={v} />
      : v.measured.between > 0 ? <Empty>{t('The strategy {0} has made no map of the {1} delays between nodes that were measured.', v.strategy, count(v.measured.between))}</Empty>
      : <Empty>{t('Too few delays between nodes were measured. Strategies that count with delays have them measured, if nodes can reach each other (--echo).')}</Empty>}</Panel>
    <Panel size={net || !earth ? 'wide' : 'full'} title={t('On earth')}>{earth ? <EarthMap v={v} />
      : <Empty>{t('Nobody says where anything is: nodes do by the labels lat and lon, sites are looked up in --geoip files or placed by their job.')}</Empty>}</Panel>
  </Fragment>;
}

const Key = ({ v }) => <p class="key note"><i class="is-node" />{t('nodes')}{v.nodes.some(n => n.landmark) && <Fragment><i class="is-node is-mark" />{t('landmarks')}</Fragment>}<i class="is-site" />{t('sites')}</p>;

function NetMap({ v }) {
  const [w, box] = useWidth(), height = 300, edge = 34;
  const all = [...v.sites.filter(p => p.spot.known), ...v.nodes.filter(p => p.spot.known).map(p => ({ ...p, node: true }))];
  const xs = all.map(p => p.spot.x), ys = all.map(p => p.spot.y), mid = (a, b) => (a + b) / 2;
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const scale = Math.min((w - 2 * edge) / Math.max(1e-6, x1 - x0), (height - 2 * edge) / Math.max(1e-6, y1 - y0), 1e6);
  const at = p => [w / 2 + (p.spot.x - mid(x0, x1)) * scale, height / 2 + (p.spot.y - mid(y0, y1)) * scale];
  const bar = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200].findLast(ms => ms * scale < w / 4) || 0.01;
  return <div class="map" ref={box}>{w > 0 && <svg width={w} height={height} role="img" aria-label={t('{0} nodes and {1} sites by the delays between them', all.filter(p => p.node).length, all.filter(p => !p.node).length)}>
    <Points all={all} at={at} width={w} height={height} />
    <g class="scale" transform={`translate(12 ${height - 12})`}><path d={`M0 -4v4h${bar * scale}v-4`} /><text x={bar * scale + 6} y="0">{decimal(bar, 2)} ms</text></g>
  </svg>}<Key v={v} /></div>;
}

function EarthMap({ v }) {
  const [w, box] = useWidth(), scale = w / 360, height = Math.round(145 * scale);
  const all = [...v.sites.filter(p => p.placed), ...v.nodes.filter(p => p.placed).map(p => ({ ...p, node: true }))];
  const at = p => [(p.lon + 180) * scale, (85 - Math.max(-60, Math.min(85, p.lat))) * scale];
  return <div class="map" ref={box}>{w > 0 && <svg width={w} height={height} role="img" aria-label={t('{0} nodes and {1} sites on earth', all.filter(p => p.node).length, all.filter(p => !p.node).length)}>
    <path class="land" d={land} transform={`scale(${scale}) translate(180 85)`} />
    <Points all={all} at={at} width={w} height={height} />
  </svg>}<Key v={v} /></div>;
}

// Points draws nodes and sites; those that lie on each other are one, and names are left out where there is no room.
function Points({ all, at, width, height }) {
  const heaps = new Map();
  for (const p of all) {
    const [x, y] = at(p), k = (p.node ? 'n' : 's') + Math.round(x / 7) + ',' + Math.round(y / 7);
    if (!heaps.has(k)) heaps.set(k, { x, y, node: p.node, mark: false, names: [] });
    const one = heaps.get(k);
    one.names.push(p.name); one.mark = one.mark || p.landmark;
  }
  const points = [...heaps.values()], said = [];
  for (const p of points.filter(p => p.node)) {
    const text = p.names[0].slice(0, 22) + (p.names.length > 1 ? ' +' + (p.names.length - 1) : ''), wide = 6.4 * text.length;
    const left = p.x + 9 + wide > width, x = left ? p.x - 9 - wide : p.x + 9, y = Math.max(10, Math.min(height - 4, p.y + 4));
    if (x > 0 && !said.some(s => x < s.x + s.wide && s.x < x + wide && Math.abs(s.y - y) < 13)) said.push({ x, y, wide, text });
  }
  const r = p => (p.node ? 4.5 : 3) + Math.min(8, 1.5 * Math.log2(p.names.length));
  return <g>{points.map(p => <g class={p.node ? 'is-node' + (p.mark ? ' is-mark' : '') : 'is-site'}>
    {p.node ? <rect x={p.x - r(p)} y={p.y - r(p)} width={2 * r(p)} height={2 * r(p)} rx="2" /> : <circle cx={p.x} cy={p.y} r={r(p)} />}
    <title>{p.names.slice(0, 12).join('\n') + (p.names.length > 12 ? '\n…' : '')}</title></g>)}
  {said.map(s => <text x={s.x} y={s.y}>{s.text}</text>)}</g>;
}
