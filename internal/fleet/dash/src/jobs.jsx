import { h } from '../lib/preact.mjs';
import { useState } from '../lib/hooks.mjs';
import { post } from './api.js';
import { bytes, clock, count, span } from './format.js';
import { t } from './text.js';
import { Act, Empty, Panel, Stack, State, Table, useLive, Wrong } from './ui.jsx';

export function Jobs({ jobs, me, choose, reload }) {
  const may = me.role === 'operator';
  return <div class="page">
    <Panel size="full" title={t('Jobs')}>
      {jobs.length ? <Table label={t('Jobs')} rowKey={j => j.id} rows={jobs} link={j => '#/overview?job=' + j.id} columns={[
        { title: t('Job'), cell: j => <b>{j.name || (j.identity.seeds && j.identity.seeds[0]) || t('job {0}', j.id)}</b> },
        { title: t('State'), cell: j => <State of={j.state} /> },
        { title: t('Progress'), cell: j => <Stack c={j.counts} />, wide: true },
        { title: t('Fetched'), num: true, cell: j => count(j.counts.fetched) },
        { title: t('Queue'), num: true, cell: j => count(j.counts.pending) },
        { title: t('Volume'), num: true, cell: j => bytes(j.counts.bytes) },
        { title: t('Sites'), num: true, cell: j => count(j.counts.sites) },
        { title: t('Strategy'), cell: j => j.strategy },
        { title: t('Ran'), num: true, cell: j => span(j.ran_ms) },
        { title: t('Began'), cell: j => clock(j.started) },
      ]} /> : <Empty>{t('There is no job yet.')}</Empty>}
    </Panel>
    {may && jobs.map(j => <Steer key={j.id} job={j} reload={reload} me={me} />)}
    {may && me.kind === 'fleet' && <NewJob done={id => { reload(); choose(id); }} />}
    {!may && me.kind !== 'over' && <Empty>{t('You may look, and not order: the link or the token is an observer’s.')}</Empty>}
  </div>;
}

function Steer({ job, reload, me }) {
  const [strategy, setStrategy] = useState(job.strategy), [limits, setLimits] = useState('');
  const names = useLive('/strategies', { on: () => false });
  const order = verb => async () => { await post(`/jobs/${job.id}/${verb}`); reload(); };
  const change = text => async () => { await post(`/jobs/${job.id}/limits`, text); reload(); };
  return <Panel size="full" title={t('Steer: {0}', job.name || (job.identity.seeds && job.identity.seeds[0]) || job.id)}>
    <div class="row">
      {job.state === 'running' ? <Act run={order('pause')}>{t('Pause')}</Act> : <Act run={order('resume')}>{t('Resume')}</Act>}
      <Act run={order('retry')}>{t('Try failed URLs again')}</Act>
      {me.kind === 'fleet' && job.state !== 'cancelled' && <Act kind="danger" run={order('cancel')} sure={t('Cancel this job? What was fetched stays; what waits is given up.')}>{t('Cancel')}</Act>}
    </div>
    <div class="row">
      <label>{t('Strategy')} <select value={strategy} onChange={e => setStrategy(e.target.value)}>
        {(names.data || []).some(s => s.name === strategy) ? null : <option value={strategy}>{strategy}</option>}
        {(names.data || []).map(s => <option value={s.name}>{s.name}</option>)}</select></label>
      <Act disabled={strategy === job.strategy} run={change('placing: {strategy: ' + JSON.stringify(strategy) + '}')}>{t('Switch')}</Act>
      <span class="note">{t('It decides from the next cycle on.')}</span>
    </div>
    <details><summary>{t('Change limits and sites')}</summary>
      <label class="block">{t('As in a job file: limits, sites and placing')}
        <textarea rows={4} spellcheck={false} value={limits} placeholder={'limits: {delay: 500ms, max_pages: 5000}\nsites: [{hosts: [slow.example], header_timeout: 2m}]'} onInput={e => setLimits(e.target.value)} /></label>
      <Act disabled={!limits.trim()} run={change(limits)}>{t('Change')}</Act>
    </details>
  </Panel>;
}

const blank = { name: '', seeds: '', scope: 'site', delay: '1s', max_pages: '', max_depth: '', max_time: '', include: '', exclude: '', strategy: '', topic: '', resources: false, sitemaps: false, text: false };

// file is the job file that the form stands for.
export function file(f) {
  const lines = s => s.split('\n').map(v => v.trim()).filter(Boolean), limits = {};
  for (const k of ['delay', 'max_pages', 'max_depth', 'max_time']) if (f[k]) limits[k] = /^\d+$/.test(f[k]) && k !== 'delay' ? Number(f[k]) : f[k];
  const job = { seeds: lines(f.seeds), scope: f.scope, limits };
  if (f.name) job.name = f.name;
  if (lines(f.include).length) job.include = lines(f.include);
  if (lines(f.exclude).length) job.exclude = lines(f.exclude);
  const fetch = {};
  for (const k of ['resources', 'sitemaps', 'text']) if (f[k]) fetch[k] = true;
  if (Object.keys(fetch).length) job.fetch = fetch;
  if (f.strategy) job.placing = { strategy: f.strategy };
  if (f.topic) job.topic = { words: f.topic };
  return JSON.stringify(job); // YAML understands it
}

function NewJob({ done }) {
  const [f, set] = useState(blank), [error, fail] = useState(null), [busy, wait] = useState(false);
  const names = useLive('/strategies', { on: () => false });
  const field = (k, o = {}) => ({ value: f[k], onInput: e => set({ ...f, [k]: e.target.value }), ...o });
  const send = async e => {
    e.preventDefault(); wait(true); fail(null);
    try { const r = await post('/jobs', file(f)); set(blank); done(r.job); } catch (x) { fail(x); }
    wait(false);
  };
  return <Panel size="full" title={t('Start a crawl')}>
    <form onSubmit={send} class="form">
      <label class="block full">{t('Seeds, a line each')}<textarea rows={3} required spellcheck={false} {...field('seeds', { placeholder: 'https://example.com/' })} /></label>
      <label class="block">{t('Name')}<input {...field('name')} /></label>
      <label class="block">{t('Scope')}<select {...field('scope')}>{['site', 'host', 'domain', 'prefix', 'any'].map(s => <option>{s}</option>)}</select></label>
      <label class="block">{t('Delay between requests to a site')}<input {...field('delay')} /></label>
      <label class="block">{t('Pages at most')}<input inputMode="numeric" {...field('max_pages')} /></label>
      <label class="block">{t('Depth at most')}<input inputMode="numeric" {...field('max_depth')} /></label>
      <label class="block">{t('Time at most')}<input {...field('max_time', { placeholder: '2h' })} /></label>
      <label class="block">{t('Only URLs that match')}<textarea rows={1} spellcheck={false} {...field('include')} /></label>
      <label class="block">{t('No URLs that match')}<textarea rows={1} spellcheck={false} {...field('exclude')} /></label>
      <label class="block">{t('Topic: words that pages are to be about')}<input {...field('topic')} /></label>
      <label class="block">{t('Strategy')}<select {...field('strategy')}><option value="">{t('the coordinator’s')}</option>{(names.data || []).map(s => <option>{s.name}</option>)}</select></label>
      <div class="row full">
        {[['resources', t('also images, styles and scripts')], ['sitemaps', t('also from sitemaps')], ['text', t('also archive plain text')]].map(([k, label]) =>
          <label class="check"><input type="checkbox" checked={f[k]} onChange={e => set({ ...f, [k]: e.target.checked })} /> {label}</label>)}
      </div>
      <div class="row full"><button class="primary" disabled={busy}>{t('Start')}</button><Wrong error={error} /></div>
    </form>
  </Panel>;
}
