// What the pages ask of the coordinator, and how they hear that something has changed.

const base = '/api/v1';

export class Refused extends Error {
  constructor(status, detail) { super(detail); this.status = status; }
}

async function ask(method, path, body) {
  const head = { Accept: 'application/json' };
  if (method !== 'GET') head['Idempotency-Key'] = crypto.randomUUID ? crypto.randomUUID() : String(Math.random()) + Date.now();
  if (body !== undefined) head['Content-Type'] = typeof body === 'string' ? 'application/yaml' : 'application/json';
  const r = await fetch(base + path, {
    method, headers: head, credentials: 'same-origin', redirect: 'error',
    body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await r.text();
  let v = null;
  try { v = text ? JSON.parse(text) : null; } catch { /* it is no JSON: the status says enough */ }
  if (!r.ok) {
    if (r.status === 401) for (const fn of shut) fn();
    throw new Refused(r.status, (v && (v.detail || v.title)) || r.statusText || String(r.status));
  }
  const total = r.headers.get('X-Total-Count');
  if (total !== null && Array.isArray(v)) v.total = Number(total);
  return v;
}

export const get = path => ask('GET', path);
export const post = (path, body = {}) => ask('POST', path, body);

// query makes the end of a path of what is not empty.
export function query(o) {
  const q = Object.entries(o).filter(([, v]) => v !== '' && v !== null && v !== undefined && v !== 0).map(([k, v]) => k + '=' + encodeURIComponent(v));
  return q.length ? '?' + q.join('&') : '';
}

const shut = new Set(); // who is told that the session is over
export const onShut = fn => { shut.add(fn); return () => shut.delete(fn); };

const heard = new Set();
let source = null;

// onEvent calls fn with every event until the function that it returns is called.
export function onEvent(fn) {
  heard.add(fn);
  if (!source) listen();
  return () => heard.delete(fn);
}

function listen() {
  source = new EventSource(base + '/events');
  source.onmessage = m => { const e = JSON.parse(m.data); for (const fn of heard) fn(e); };
  source.onopen = () => { for (const fn of heard) fn({ open: true }); };
  source.onerror = () => {
    for (const fn of heard) fn({ lost: true });
    if (source.readyState === EventSource.CLOSED) { source = null; setTimeout(() => { if (heard.size && !source) listen(); }, 3000); }
  };
}

export function quiet() { if (source) { source.close(); source = null; } }
