// What the pages ask of the coordinator, and how they hear that something has changed.

import { t } from './text.js';

const base = '/api/v1';

// The key goes with the session's cookie, which the browser sends to other ports of this host as well: it is kept where only pages of this
// port can read it.
export const keyAt = 'argosy.page';

export async function enter(entry) {
  const me = await post('/session', entry);
  localStorage.setItem(keyAt, me.page);
}

export async function leave() {
  quiet();
  await post('/session/end');
  localStorage.removeItem(keyAt);
}

const headers = more => ({ 'Argosy-Page': localStorage.getItem(keyAt) || '', ...more });

export class Refused extends Error {
  constructor(status, detail) { super(detail); this.status = status; }
}

async function ask(method, path, body, signal) {
  const head = headers({ Accept: 'application/json' });
  if (method !== 'GET') head['Idempotency-Key'] = crypto.randomUUID ? crypto.randomUUID() : String(Math.random()) + Date.now();
  if (body !== undefined) head['Content-Type'] = typeof body === 'string' ? 'application/yaml' : 'application/json';
  let r, text;
  try {
    r = await fetch(base + path, {
      method, headers: head, credentials: 'same-origin', redirect: 'error', signal,
      body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
    });
    text = await r.text();
  } catch { // a browser says no more than that
    throw new Refused(0, t('The coordinator does not answer.'));
  }
  let v = null;
  try { v = text ? JSON.parse(text) : null; } catch { /* it is no JSON: the status says enough */ }
  if (!r.ok) {
    if (r.status === 401 && path !== '/session') closed();
    const parts = ((v && v.errors) || []).map(e => (e.location ? e.location + ': ' : '') + e.message);
    throw new Refused(r.status, [(v && (v.detail || v.title)) || r.statusText || String(r.status), ...parts].join('; '));
  }
  const total = r.headers.get('X-Total-Count');
  if (total !== null && Array.isArray(v)) v.total = Number(total);
  return v;
}

// get asks for what a path names, until the signal, if there is one, says that nobody waits for it any longer.
export const get = (path, signal) => ask('GET', path, undefined, signal);
export const post = (path, body = {}) => ask('POST', path, body);

// query makes the end of a path of what is not empty.
export function query(o) {
  const q = Object.entries(o).filter(([, v]) => v !== '' && v !== null && v !== undefined && v !== 0).map(([k, v]) => k + '=' + encodeURIComponent(v));
  return q.length ? '?' + q.join('&') : '';
}

const shut = new Set(); // who is told that the session is over
export const onShut = fn => { shut.add(fn); return () => shut.delete(fn); };

const heard = new Set();
let stream = null; // what ends the stream that is open

// onEvent calls fn with every event until the function that it returns is called.
export function onEvent(fn) {
  heard.add(fn);
  again();
  return () => heard.delete(fn);
}

const tell = e => { for (const fn of heard) fn(e); };

const closed = () => { for (const fn of shut) fn(); };

// pull tells say of every event until the stream ends.
async function pull(signal, say) {
  try {
    const r = await fetch(base + '/events', { headers: headers(), credentials: 'same-origin', redirect: 'error', signal });
    if (r.status === 401) say({ shut: true });
    if (!r.ok) return;
    say({ open: true });
    const reader = r.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ''; ;) {
      const { value, done } = await reader.read();
      if (done) break;
      const events = (text + value).split('\n\n');
      text = events.pop();
      for (const e of events) if (e.startsWith('data: ')) say(JSON.parse(e.slice(6)));
    }
  } catch { /* whoever listens is told that it is lost */ }
}

// A browser opens six connections to a host at most: its windows share one stream. The window that has the lock holds it and passes on what it
// hears; when that window goes, whatever its end, the browser gives the lock to the next. One that hangs keeps the lock and says nothing:
// after some beats without a word another window takes the lock from it. Browsers have locks where the address is this machine or has
// https; elsewhere each window holds a stream.
const shared = 'argosy.events', shares = !!navigator.locks && 'BroadcastChannel' in window;
const beat = 2000, silent = 3; // ms between beats; so many are waited for, each a little longer, so that not all windows reach for the lock at once

async function listen() {
  const mine = stream = new AbortController(), waits = new AbortController(), me = String(Math.random()), others = shares ? new BroadcastChannel(shared) : null;
  let leads = false, now = null, missed = 0;
  const hear = e => e.shut ? closed() : tell(e);
  const post = v => { if (others && !mine.signal.aborted) others.postMessage(v); };
  const say = e => {
    if (mine.signal.aborted) return;
    if (e.now) now = e.now;
    post({ e });
    hear(e);
  };
  const lead = async () => {
    leads = true;
    post({ alive: true });
    const beats = setInterval(() => post({ alive: true }), beat);
    await pull(mine.signal, say);
    clearInterval(beats);
    say({ lost: true });
  };
  if (others) {
    const watch = setInterval(() => { if (!leads && ++missed > silent) waits.abort(); }, beat * (1 + Math.random() / 2));
    mine.signal.addEventListener('abort', () => { clearInterval(watch); waits.abort(); others.close(); });
    others.onmessage = ({ data }) => {
      if (!data.from) missed = 0;
      if (data.from && leads && now) post({ to: data.from, e: { open: true, now } }); // to one that has come just now
      if (data.e && !leads && (!data.to || data.to === me)) hear(data.e);
    };
    post({ from: me });
    await navigator.locks.request(shared, { signal: waits.signal }, lead).catch(() => { /* it was not waited for any longer, or another took it */ });
    if (!leads && !mine.signal.aborted) await navigator.locks.request(shared, { steal: true }, lead).catch(() => { /* another took it */ });
  } else await lead();
  const over = mine.signal.aborted;
  mine.abort(); // also the stream of a window that hung until another took the lock
  if (over) return;
  stream = null;
  setTimeout(again, 3000);
}

export function quiet() { if (stream) { stream.abort(); stream = null; } }

// again opens the stream anew, for whoever listens still.
export function again() { if (heard.size && !stream && !document.hidden) listen(); }

// Pages that nobody looks at, in tabs behind or kept for the way back, neither hold a stream nor wait for one.
addEventListener('pagehide', quiet);
addEventListener('pageshow', again);
document.addEventListener('visibilitychange', () => (document.hidden ? quiet : again)());
