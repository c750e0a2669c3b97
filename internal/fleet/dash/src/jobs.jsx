import { h } from '../lib/preact.mjs';
import { useState } from '../lib/hooks.mjs';
import { post } from './api.js';
import { Chart } from './chart.jsx';
import { bytes, clock, count, jobName, price, span } from './format.js';
import { rates, soFar, useSwitches } from './overview.jsx';
import { t } from './text.js';
import { Act, Cut, Empty, Pager, Panel, Stack, State, Table, useLive, Wrong, goes, onJob } from './ui.jsx';

const limit = 50;

export function Jobs({ jobs, job, me, choose, reload, theme }) {
  const may = me.role === 'operator' && me.kind !== 'over', [skip, setSkip] = useState(0), [find, setFind] = useState('');
  const named = find ? jobs.filter(j => jobName(j).toLowerCase().includes(find.toLowerCase()) || j.state === find) : jobs, rows = named.slice(skip, skip + limit);
  return <div class="page">
    <Panel size="full" title={t('Jobs')}>
      {jobs.length > 10 && <div class="filters"><label>{t('Name or state')} <input type="search" value={find} onInput={e => { setFind(e.target.value); setSkip(0); }} /></label></div>}
      {jobs.length ? <Table label={t('Jobs')} rowKey={j => j.id} rows={rows} link={j => '#/overview?job=' + j.id} columns={[
        { title: t('Job'), cell: j => <b><Cut text={jobName(j)} /></b> },
        { title: t('State'), cell: j => <span><State of={j.state} /> {j.limited && <code class="note">{j.limited}</code>}</span> },
        { title: t('Progress'), cell: j => <Stack c={j.counts} />, wide: true },
        { title: t('Fetched'), num: true, cell: j => count(j.counts.fetched) },
        { title: t('Queue'), num: true, cell: j => count(j.counts.pending) },
        { title: t('Volume'), num: true, cell: j => bytes(j.counts.bytes) },
        { title: t('Sites'), num: true, cell: j => count(j.counts.sites) },
        { title: t('Strategy'), cell: j => <Cut narrow text={j.strategy} /> },
        { title: t('Ran'), num: true, cell: j => span(j.ran_ms) },
        { title: t('Began'), cell: j => clock(j.started) },
      ]} /> : <Empty>{t('There is no job yet.')}</Empty>}
      <Pager skip={skip} limit={limit} shown={rows.length} total={named.length} go={setSkip} />
    </Panel>
    {may && job && <Steer key={job.id} job={job} reload={reload} me={me} theme={theme} />}
    {may && me.kind === 'fleet' && <NewJob done={id => { reload(); choose(id); }} />}
    {!may && me.kind !== 'over' && <Empty>{t('You may look, and not order: the link or the token is an observer’s.')}</Empty>}
  </div>;
}

const watched = 180; // samples

// Rate is how fast a job has been of late, which shows what another strategy comes to.
function Rate({ job, theme }) {
  const all = (useLive(`/series?job=${job.id}`, { on: onJob(job.id), moves: () => goes(job), ...soFar }).data || []).slice(-watched);
  const marks = useSwitches(job.id);
  if (all.length < 3) return null;
  const values = rates(all, 'bytes').map(v => v === null ? null : v * 8 / 1e6), now = price(values[values.length - 1]) + ' Mbit/s';
  return <div><p class="note">{t('Rate')}: <b>{now}</b></p><Chart theme={theme} height={140} x={all.map(s => s.at / 1000)} format={price} lines={[{ label: 'Mbit/s', values, color: '--accent', fill: true }]} marks={marks} summary={t('Rate') + ': ' + now} /></div>;
}

function Steer({ job, reload, me, theme }) {
  const [strategy, setStrategy] = useState(job.strategy), [limits, setLimits] = useState('');
  const names = useLive('/strategies', { on: () => false });
  const order = verb => async () => { await post(`/jobs/${job.id}/${verb}`); reload(); };
  const change = text => async () => { await post(`/jobs/${job.id}/limits`, text); reload(); };
  return <Panel size="full" title={<span>{t('Steer')}: <Cut text={jobName(job)} /></span>}>
    <div class="row">
      {job.state === 'running' && <Act run={order('pause')}>{t('Pause')}</Act>}
      {job.state === 'paused' && <Act run={order('resume')}>{t('Resume')}</Act>}
      <Act run={order('retry')}>{t('Try failed URLs again')}</Act>
      {me.kind === 'fleet' && (job.state === 'running' || job.state === 'paused') && <Act kind="danger" run={order('cancel')} sure={t('Cancel this job? What was fetched stays; what waits is given up.')}>{t('Cancel')}</Act>}
    </div>
    <div class="row">
      <label>{t('Strategy')} <select value={strategy} onChange={e => setStrategy(e.target.value)}>
        {(names.data || []).some(s => s.name === strategy) ? null : <option value={strategy}>{strategy}</option>}
        {(names.data || []).map(s => <option value={s.name}>{s.name}</option>)}</select></label>
      <Act disabled={strategy === job.strategy} run={change('placing: {strategy: ' + JSON.stringify(strategy) + '}')}>{t('Switch')}</Act>
      <span class="note">{t('It decides from the next cycle on.')}</span>
    </div>
    {job.state === 'running' && <Rate job={job} theme={theme} />}
    <details><summary>{t('Change limits and sites')}</summary>
      <label class="block">{t('As in a job file: limits, sites and placing')}
        <textarea rows={4} spellcheck={false} value={limits} placeholder={'limits: {delay: 500ms, max_pages: 5000}\nsites: [{hosts: [slow.example], header_timeout: 2m}]'} onInput={e => setLimits(e.target.value)} /></label>
      <Act disabled={!limits.trim()} run={change(limits)}>{t('Change')}</Act>
    </details>
  </Panel>;
}

const blank = {
  kind: 'links', name: '', seeds: '', scope: 'site', delay: '1s', max_pages: '', max_depth: '', max_time: '', include: '', exclude: '', strategy: '', resources: false, sitemaps: false, text: false,
  words: '', language: '', threshold: '', tunnel: '', order: '', mode: '', crawlers: '', alpha: '', beta: '', delta1: '', delta2: '', delta3: '', delta4: '', understanding: '', lifetime: '', interval: '', reserve: '', space: '', turn: '', divide: '', speed: '',
  products: '', sites: '', engines: '- name: bing', pages: '', subset: '', rest: '', assignment: true, modification: true, recycling: true,
};
const lines = s => s.split('\n').map(v => v.trim()).filter(Boolean);
const number = v => v === '' ? undefined : /^-?\d+(\.\d+)?$/.test(v) && Math.abs(v) <= Number.MAX_SAFE_INTEGER ? Number(v) : v; // greater ones would be rounded

// picked returns the fields that say something.
function picked(f, names) {
  const out = {};
  for (const k of names) if (f[k] !== '') out[k] = ['delta3', 'lifetime', 'interval', 'rest', 'mode', 'reserve', 'divide', 'words', 'language', 'order', 'delay', 'max_time'].includes(k) ? f[k] : number(f[k]);
  return out;
}

// file is the job file that the form stands for: YAML, each value in the form of JSON, and engines as they were written.
export function file(f) {
  const job = { scope: f.scope, limits: picked(f, ['delay', 'max_pages', 'max_depth', 'max_time']) };
  if (f.name) job.name = f.name;
  if (f.kind !== 'virtual') job.seeds = lines(f.seeds);
  if (lines(f.include).length) job.include = lines(f.include);
  if (lines(f.exclude).length) job.exclude = lines(f.exclude);
  const fetch = {};
  for (const k of ['resources', 'sitemaps', 'text']) if (f[k]) fetch[k] = true;
  if (Object.keys(fetch).length) job.fetch = fetch;
  if (f.strategy) job.placing = { strategy: f.strategy };
  if (f.kind === 'topic') {
    job.topic = picked(f, ['words', 'language', 'threshold', 'tunnel', 'order']);
    const market = picked(f, ['mode', ...bids]);
    if (f.mode) job.market = market;
  }
  const text = Object.entries(job).map(([k, v]) => k + ': ' + JSON.stringify(v)).join('\n') + '\n';
  if (f.kind !== 'virtual') return text;
  const v = { products: lines(f.products).map(name => ({ name })), sites: lines(f.sites), ...picked(f, ['pages', 'subset', 'rest']), policies: {} };
  for (const k of ['assignment', 'modification', 'recycling']) v.policies[k] = f[k] ? 'on' : 'off';
  return text.replace(/^scope: .*\n/, '') + 'virtual:\n' + Object.entries(v).map(([k, x]) => '  ' + k + ': ' + JSON.stringify(x)).join('\n') + '\n  engines:\n' + f.engines.split('\n').map(l => '    ' + l).join('\n') + '\n';
}

// bids are the parameters of crawlers that trade, as they are published; what stands in the form is what is taken without them.
const bids = ['crawlers', 'alpha', 'beta', 'delta1', 'delta2', 'delta3', 'delta4', 'understanding', 'lifetime', 'interval', 'reserve', 'space', 'turn', 'divide', 'speed'];
const published = { crawlers: '5', alpha: '5', beta: '5', delta1: '0.5', delta2: '0.1', delta3: '10s', delta4: '50000', understanding: '0.2', lifetime: '10m', interval: '2m', space: '2000000', turn: '8', speed: '0' };

// ofField names the field that an error is about, instead of the line of the job file, which nobody sees.
function ofField(error, text) {
  const at = /^line (\d+)(?:, column \d+)?: /.exec(error.message);
  if (!at) return error;
  const key = (text.split('\n')[at[1] - 1] || '').split(':')[0].trim(), rest = error.message.slice(at[0].length);
  const names = { name: t('Name'), seeds: t('Seeds, a line each'), scope: t('Scope'), include: t('Only URLs that match'), exclude: t('No URLs that match'), topic: t('Topic'), market: t('Market'), placing: t('Strategy'), limits: t('Limits'), products: t('Subjects, a line each'), sites: t('On these sites, a line each') };
  return new Error((names[key] || key || t('Start a job')) + ': ' + rest);
}

function NewJob({ done }) {
  const [f, set] = useState(blank), [error, fail] = useState(null), [busy, wait] = useState(false);
  const names = useLive('/strategies', { on: () => false });
  const field = (k, o = {}) => ({ name: k, value: f[k], onInput: e => set({ ...f, [k]: e.target.value }), ...o });
  const tick = (k, label) => <label class="check"><input type="checkbox" name={k} checked={f[k]} onChange={e => set({ ...f, [k]: e.target.checked })} /> {label}</label>;
  const send = async e => {
    e.preventDefault();
    if (busy) return;
    wait(true); fail(null);
    const text = file(f);
    try { const r = await post('/jobs', text); set(blank); done(r.job); } catch (x) { fail(ofField(x, text)); }
    wait(false);
  };
  const label = { crawlers: t('Crawlers'), lifetime: t('Lifetime'), understanding: t('Understanding'), interval: t('Interval between markets'), space: t('Space at first, bytes'), turn: t('Pages between two markets'), reserve: t('Prices begin'), divide: t('How seeds are divided'), speed: t('Share of the worth that goes by speed') };
  return <Panel size="full" title={t('Start a job')} tools={<div class="chips" role="group" aria-label={t('What it does')}>{[['links', t('follow links')], ['topic', t('search for a topic')], ['virtual', t('ask search engines')]].map(([k, name]) =>
    <button type="button" class={'chip' + (f.kind === k ? ' on' : '')} aria-pressed={f.kind === k} onClick={() => set({ ...f, kind: k, scope: k === 'topic' ? 'any' : 'site' })}>{name}</button>)}</div>}>
    <form onSubmit={send} class="form">
      {f.kind !== 'virtual' && <label class="block full">{t('Seeds, a line each')}<textarea rows={3} required spellcheck={false} {...field('seeds', { placeholder: 'https://example.com/' })} /></label>}
      {f.kind === 'virtual' && <fieldset><legend>{t('What is searched for')}</legend><div class="form">
        <label class="block full">{t('Subjects, a line each')}<textarea rows={3} required {...field('products')} /></label>
        <label class="block full">{t('Engines, as in a job file: names of the catalogue, or whole descriptions')}<textarea rows={3} required spellcheck={false} {...field('engines')} /></label>
        <label class="block">{t('On these sites, a line each')}<textarea rows={2} spellcheck={false} {...field('sites')} /></label>
        <label class="block">{t('Result pages of a subtask')}<input inputMode="numeric" {...field('pages', { placeholder: '5' })} /></label>
        <label class="block">{t('Searches of an actual task')}<input inputMode="numeric" {...field('subset', { placeholder: '10' })} /></label>
        <label class="block">{t('Rest after a failure')}<input {...field('rest', { placeholder: '1m' })} /></label>
        <div class="row full">{tick('assignment', t('assign by completion and efficiency'))}{tick('modification', t('adapt quota and time'))}{tick('recycling', t('recycle what fails'))}</div>
      </div></fieldset>}
      {f.kind === 'topic' && <fieldset><legend>{t('Topic')}</legend><div class="form">
        <label class="block full">{t('Topic: words that pages are to be about')}<input required {...field('words')} /></label>
        <label class="block">{t('Language')}<input {...field('language', { placeholder: 'en' })} /></label>
        <label class="block">{t('Score from which a page is on the topic')}<input inputMode="decimal" {...field('threshold', { placeholder: '0.2' })} /></label>
        <label class="block">{t('Pages in a row that may be off the topic')}<input inputMode="numeric" {...field('tunnel', { placeholder: '2' })} /></label>
        <label class="block">{t('Order')}<select {...field('order')}><option value="">best</option><option>breadth</option><option>depth</option></select></label>
        <label class="block">{t('Market')}<select {...field('mode')}><option value="">{t('none: one crawler')}</option>{['lots', 'paper', 'independent'].map(m => <option>{m}</option>)}</select></label>
        {f.mode && bids.filter(k => (k !== 'turn' || f.mode === 'lots') && (k !== 'speed' || f.mode !== 'independent')).map(k => <label class="block">{label[k] || k}{k === 'reserve' ? <select {...field(k)}><option value="">–</option><option>zero</option><option>similarity</option></select> : k === 'divide' ? <select {...field(k)}><option value="">–</option><option>turn</option><option>keyword</option><option>likeness</option></select> : <input {...field(k, { placeholder: f.mode === 'lots' && !['crawlers', 'turn', 'speed'].includes(k) ? '' : published[k] })} />}</label>)}
      </div></fieldset>}
      <label class="block">{t('Name')}<input {...field('name')} /></label>
      {f.kind !== 'virtual' && <label class="block">{t('Scope')}<select {...field('scope')}>{['site', 'host', 'domain', 'prefix', 'any'].map(s => <option>{s}</option>)}</select></label>}
      <label class="block">{t('Delay between requests to a site')}<input {...field('delay')} /></label>
      <label class="block">{t('Pages at most')}<input inputMode="numeric" {...field('max_pages', { placeholder: t('no limit') })} /></label>
      <label class="block">{t('Depth at most')}<input inputMode="numeric" {...field('max_depth', { placeholder: t('no limit') })} /></label>
      <label class="block">{t('Time at most')}<input {...field('max_time', { placeholder: '2h' })} /></label>
      <label class="block">{t('Only URLs that match')}<textarea rows={1} spellcheck={false} {...field('include')} /></label>
      <label class="block">{t('No URLs that match')}<textarea rows={1} spellcheck={false} {...field('exclude')} /></label>
      <label class="block">{t('Strategy')}<select {...field('strategy')}><option value="">{t('the coordinator’s')}</option>{(names.data || []).map(s => <option>{s.name}</option>)}</select></label>
      <div class="row full">{tick('resources', t('also images, styles and scripts'))}{tick('sitemaps', t('also from sitemaps'))}{tick('text', t('also archive plain text'))}</div>
      <div class="row full"><button class="primary" aria-disabled={busy}>{t('Start')}</button><Wrong error={error} /></div>
    </form>
  </Panel>;
}
