// Figures as people read them.
import { language, t } from './text.js';

const number = (n, o, en = 'en-GB') => new Intl.NumberFormat(language() === 'zh' ? 'zh-CN' : en, o).format(n);

export const count = n => n === undefined || n === null ? '–' : number(n);
export const short = n => n === undefined || n === null ? '–' : Math.abs(n) < 10000 ? number(n) : number(n, { notation: 'compact', maximumFractionDigits: 1 }, 'en'); // 2M, where Britons write 2m, which is two minutes
export const decimal = (n, digits = 1) => Number.isFinite(n) ? number(n, { maximumFractionDigits: digits }) : '–';
export const price = n => Number.isFinite(n) ? number(n, { maximumSignificantDigits: 3 }) : '–'; // also of what is far below 1
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
  if (ms < 1000) return t('{0} ms', Math.round(ms));
  if (s < 60) return t('{0} s', s);
  if (s < 3600) return s % 60 ? t('{0} min {1} s', Math.floor(s / 60), s % 60) : t('{0} min', s / 60);
  if (s < 86400) return t('{0} h {1} min', Math.floor(s / 3600), Math.floor(s % 3600 / 60));
  return t('{0} d {1} h', Math.floor(s / 86400), Math.floor(s % 86400 / 3600));
}

export function clock(ms) {
  if (!ms) return '–';
  const d = new Date(ms), today = new Date();
  const time = d.toLocaleTimeString(language() === 'zh' ? 'zh-CN' : 'en-GB');
  return d.toDateString() === today.toDateString() ? time : d.toLocaleDateString(language() === 'zh' ? 'zh-CN' : 'en-GB') + ' ' + time;
}

// bare is a URL without what all have.
export const bare = u => plain(u).replace(/^https?:\/\//, '');

// tails are names without the directories that all of them begin with, so that what differs is seen; of a longer one the end.
export function tails(names, most) {
  let from = names.length > 1 ? names[0].lastIndexOf('/') + 1 : 0;
  for (const n of names) while (from > 0 && !n.startsWith(names[0].slice(0, from))) from = names[0].lastIndexOf('/', from - 2) + 1;
  return names.map(n => { const s = from > 0 ? '…/' + n.slice(from) : n; return s.length > most ? '…' + s.slice(1 - most) : s; });
}

// plain is a text from outside without the marks that turn the direction of what stands beside it.
export const plain = s => String(s).replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');

// jobName is what people know a job by.
export const jobName = j => plain(j.name || (j.identity.seeds && j.identity.seeds[0]) || t('job {0}', j.id));
