// Figures as people read them.
import { language } from './text.js';

const number = (n, o) => new Intl.NumberFormat(language() === 'zh' ? 'zh-CN' : 'en-GB', o).format(n);

export const count = n => n === undefined || n === null ? '–' : number(n);
export const short = n => n === undefined || n === null ? '–' : Math.abs(n) < 10000 ? number(n) : number(n, { notation: 'compact', maximumFractionDigits: 1 });
export const decimal = (n, digits = 1) => Number.isFinite(n) ? number(n, { maximumFractionDigits: digits }) : '–';
export const percent = x => Number.isFinite(x) ? number(x, { style: 'percent', maximumFractionDigits: x < 0.1 && x > 0 ? 1 : 0 }) : '–';

export function bytes(n) {
  if (n === undefined || n === null) return '–';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let i = 0;
  for (; n >= 1000 && i < units.length - 1; i++) n /= 1024;
  return number(n, { maximumFractionDigits: n >= 100 || i === 0 ? 0 : 1 }) + ' ' + units[i];
}

export function span(ms) {
  if (!Number.isFinite(ms) || ms < 0) return '–';
  const s = Math.round(ms / 1000);
  if (ms < 1000) return Math.round(ms) + ' ms';
  if (s < 60) return s + ' s';
  if (s < 3600) return Math.floor(s / 60) + ' min ' + (s % 60 ? s % 60 + ' s' : '');
  if (s < 86400) return Math.floor(s / 3600) + ' h ' + Math.floor(s % 3600 / 60) + ' min';
  return Math.floor(s / 86400) + ' d ' + Math.floor(s % 86400 / 3600) + ' h';
}

export function clock(ms) {
  if (!ms) return '–';
  const d = new Date(ms), today = new Date();
  const time = d.toLocaleTimeString(language() === 'zh' ? 'zh-CN' : 'en-GB');
  return d.toDateString() === today.toDateString() ? time : d.toLocaleDateString(language() === 'zh' ? 'zh-CN' : 'en-GB') + ' ' + time;
}

// bare is a URL without what all have.
export const bare = u => u.replace(/^https?:\/\//, '');
