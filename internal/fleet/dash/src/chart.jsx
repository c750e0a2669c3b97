// Lines over time.
import { h } from '../lib/preact.mjs';
import { useEffect, useRef } from '../lib/hooks.mjs';
import uPlot from '../lib/uPlot.esm.js';
import { t } from './text.js';

const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const none = [];

// Chart draws lines: x in seconds, or in steps of something, lines [{label, values, color, fill, dash, show}]; marks are what happened
// meanwhile, [{at, label}].
export function Chart({ x, lines, height = 200, format, theme, summary, steps, marks = none }) {
  const box = useRef(null), plot = useRef(null), seenMarks = useRef(marks);
  seenMarks.current = marks;
  const shape = lines.map(l => l.label + l.color + (l.dash ? 'd' : '')).join('|') + theme + height;
  useEffect(() => {
    const axis = { stroke: css('--dim'), grid: { stroke: css('--line'), width: 1 }, ticks: { stroke: css('--line'), width: 1, size: 4 }, font: '11px system-ui, sans-serif' };
    const o = {
      width: Math.max(120, box.current.clientWidth), height, cursor: { points: { size: 6 }, y: false }, legend: { live: true }, padding: [8, steps ? 12 : 24, 0, 0],
      scales: { x: { time: !steps }, y: { range: (u, lo, hi) => [0, hi > 0 ? hi * 1.08 : 1] } },
      axes: [steps ? { ...axis, size: 34, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6] } : { ...axis, size: 34, space: 76, values: [[86400, '{YYYY}-{MM}-{DD}', null, null, null, null, null, null, 1], [3600, '{HH}:{mm}', '\n{MM}-{DD}', null, null, null, null, null, 1], [60, '{HH}:{mm}', null, null, null, null, null, null, 1], [1, '{HH}:{mm}:{ss}', null, null, null, null, null, null, 1]] }, { ...axis, size: 58, values: (u, vs) => vs.map(v => format(v)) }],
      series: [{ label: steps ? t('Step') : t('Time'), value: (u, v) => v === null ? '–' : steps ? v : new Date(v * 1000).toLocaleTimeString() }, ...lines.map(l => ({
        label: l.label, stroke: css(l.color), width: 2, dash: l.dash ? [4, 4] : undefined, fill: l.fill ? css(l.color) + '22' : undefined, points: { show: false }, spanGaps: true,
        value: (u, v) => v === null || v === undefined ? '–' : format(v),
      }))],
    };
    o.hooks = { draw: [u => drawMarks(u, seenMarks.current)] };
    plot.current = new uPlot(o, [x, ...lines.map(l => l.values)], box.current);
    const seen = new ResizeObserver(() => { if (box.current) plot.current.setSize({ width: Math.max(120, box.current.clientWidth), height }); });
    seen.observe(box.current);
    return () => { seen.disconnect(); plot.current.destroy(); plot.current = null; };
  }, [shape]);
  useEffect(() => { if (plot.current) plot.current.setData([x, ...lines.map(l => l.values)]); }, [x, lines, marks]);
  return <div class="chart" ref={box} role="img" aria-label={summary} />;
}

// drawMarks draws an upright line where something happened, with its name beside it.
function drawMarks(u, marks) {
  const c = u.ctx, { left, top, width, height } = u.bbox, r = devicePixelRatio || 1;
  c.save();
  c.font = 11 * r + 'px system-ui, sans-serif'; c.strokeStyle = c.fillStyle = css('--dim'); c.lineWidth = r; c.setLineDash([3 * r, 3 * r]);
  const lines = []; // what stands on each, from where to where
  for (const m of [...marks].sort((a, b) => a.at - b.at)) {
    const x = u.valToPos(m.at, 'x', true);
    if (x < left || x > left + width) continue;
    c.beginPath(); c.moveTo(x, top); c.lineTo(x, top + height); c.stroke();
    const label = m.label.slice(0, 24), wide = c.measureText(label).width + 8 * r, turned = x + wide > left + width; // beside it on the left, where there is no room
    const from = turned ? x - wide : x, to = from + wide;
    let line = lines.findIndex(l => l.every(([a, b]) => to <= a || from >= b));
    if (line < 0) line = lines.push([]) - 1;
    lines[line].push([from, to]);
    c.textAlign = turned ? 'right' : 'left';
    if ((line + 1) * 13 * r >= height) continue;
    const at = [label, x + (turned ? -4 : 4) * r, top + (11 + 13 * line) * r];
    c.save();
    c.setLineDash([]); c.lineWidth = 4 * r; c.lineJoin = 'round'; c.strokeStyle = css('--paper');
    c.strokeText(...at); // so that no line of the chart crosses it
    c.restore();
    c.fillText(...at);
  }
  c.restore();
}
