import { h } from '../lib/preact.mjs';
import { useState } from '../lib/hooks.mjs';
import { save } from './save.js';
import { operation, t } from './text.js';
import { Badge, Empty, Panel, Table, useLive, Wrong } from './ui.jsx';

// Api lists what programs can ask, from the description that the coordinator serves.
export function Api() {
  const doc = useLive('/openapi.json', { on: () => false }), [find, set] = useState('');
  if (!doc.data) return doc.error ? <Wrong error={doc.error} /> : <Empty>…</Empty>;
  const rows = [];
  for (const [path, of] of Object.entries(doc.data.paths)) for (const [method, o] of Object.entries(of)) rows.push({ method: method.toUpperCase(), path, ...o, what: operation(o.summary) });
  const shown = rows.filter(r => (r.path + r.what).toLowerCase().includes(find.toLowerCase()));
  return <div class="page">
    <p class="note">{t('A program shows a token: Authorization: Bearer TOKEN. An order with an Idempotency-Key is done once.')} <button class="link" onClick={() => save('openapi.json', doc.data)}>OpenAPI {doc.data.openapi}</button></p>
    <div class="filters"><label>{t('Find')} <input type="search" value={find} onInput={e => set(e.target.value)} /></label></div>
    <Panel size="full" title={t('What can be asked')}><Table label={t('What can be asked')} rows={shown} rowKey={r => r.method + r.path} columns={[
      { title: t('Order'), cell: r => <Badge kind={r.method === 'GET' ? '' : 'go'}>{r.method}</Badge> }, { title: t('Path'), cell: r => <code>{r.path}</code> }, { title: t('What'), wide: true, cell: r => r.what },
      { title: t('With'), wide: true, cell: r => <span class="parts">{(r.parameters || []).map(p => <span class="part" title={p.description || ''}>{p.name}{p.required ? '' : '?'}</span>)}</span> }]} /></Panel>
  </div>;
}
