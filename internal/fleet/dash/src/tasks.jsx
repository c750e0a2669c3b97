import { h } from '../lib/preact.mjs';
import { useState } from '../lib/hooks.mjs';
import { post, query } from './api.js';
import { bare, bytes, clock, count, decimal, span } from './format.js';
import { Search } from './searches.jsx';
import { reason, t } from './text.js';
import { Act, Badge, Bars, Cut, Empty, Pager, Panel, Reason, reasonRows, Stack, State, Table, Tile, Tiles, useLive, useSettled, Wrong, onJob } from './ui.jsx';

const limit = 50;

export function Tasks({ job, at }) {
  const [state, setState] = useState(at.state || ''), [find, setFind] = useState(at.find || ''), [sort, setSort] = useState(at.sort || 'pending'), [skip, setSkip] = useState(Number(at.skip) || 0);
  const settled = useSettled(find);
  const list = useLive(job ? `/jobs/${job.id}/tasks` + query({ state, find: settled, sort, limit, skip }) : null, { on: onJob(job && job.id), every: 3000 });
  if (!job) return <Empty>{t('There is no job yet.')}</Empty>;
  const c = job.counts, queues = [['', c.tasks], ['waiting', c.waiting], ['crawling', c.crawling], ['sleeping', c.sleeping], ['failed', c.returned], ['done', c.done], ['manual', c.manual], ['dropped', c.dropped]]
    .filter(([s, n]) => n > 0 || s === state || !['sleeping', 'failed'].includes(s)).map(([s, n]) => [s, n || 0]); // those two are of searches alone
  return <div class="page">
    <div class="filters">
      <div class="chips" role="group" aria-label={t('State')}>{queues.map(([s, n]) => <button class={'chip' + (s === state ? ' on' : '')} aria-pressed={s === state} onClick={() => { setState(s); setSkip(0); }}>
        {s ? t(s) : t('all')}<span class="note"> {count(n)}</span></button>)}</div>
      <label>{t('Site')} <input type="search" value={find} onInput={e => { setFind(e.target.value.toLowerCase()); setSkip(0); }} /></label>
      <label>{t('Sort by')} <select value={sort} onChange={e => { setSort(e.target.value); setSkip(0); }}>
        {[['pending', t('Queue')], ['fetched', t('Fetched')], ['failed', t('Failed')], ['bytes', t('Volume')], ['site', t('Site')]].map(([v, label]) => <option value={v}>{label}</option>)}</select></label>
    </div>
    <Wrong error={list.error} />
    {list.data && (list.data.length ? <Table label={t('Tasks')} rowKey={r => r.task} rows={list.data} link={r => '#/task?id=' + r.task} columns={[
      { title: t('Site'), cell: r => <Cut text={r.site} /> },
      { title: t('State'), cell: r => <State of={r.state} /> },
      { title: t('Progress'), cell: r => <Stack c={r} />, wide: true },
      { title: t('Fetched'), num: true, cell: r => count(r.fetched) },
      { title: t('Queue'), num: true, cell: r => count(r.pending) },
      { title: t('Failed'), num: true, cell: r => count(r.failed) },
      { title: t('Excluded'), num: true, cell: r => count(r.excluded) },
      { title: t('Volume'), num: true, cell: r => bytes(r.bytes) },
      { title: t('Attempts'), num: true, cell: r => count(r.attempts) },
    ]} /> : <Empty>{t('No task is like that.')}</Empty>)}
    {list.data && <Pager skip={skip} limit={limit} shown={list.data.length} total={list.data.total} go={setSkip} />}
  </div>;
}

const why = {
  person: () => t('It waits for a person: release it, or drop it.'), job: () => t('Its job does not run.'), limit: () => t('Its job has reached a limit.'), room: () => t('The disk of the coordinator is full.'),
  market: () => t('Its crawler visits no more pages before the next market.'),
  site: v => t('The site may be asked again in {0}.', span(v.wait_ms)), node: v => v.because ? t('The strategy has given it to no node yet: {0}.', reason(v.because, true)) : t('The strategy has given it to no node yet.'), nothing: () => t('Nothing is queued.'), held: () => t('A node has it, and takes more when it needs more.'),
  other: v => v.holder.job === v.job ? t('{0} asks {1} since {2}, and no more may at once.', v.holder.node, v.holder.site, clock(v.holder.start))
    : t('{0} asks {1} since {2} for job {3}, and no more may at once: jobs take turns.', v.holder.node, v.holder.site, clock(v.holder.start), v.holder.job),
};
const whyOf = v => v.waits && why[v.waits] ? why[v.waits](v) : v.waits || '';

export function Task({ at, me, jobs }) {
  const id = /^[1-9]\d{0,9}$/.test(at.id || '') ? at.id : null;
  const one = useLive(id ? '/tasks/' + id : null, { every: 2000, moves: v => v.wait_ms > 0 });
  const [attempt, setAttempt] = useState(0), reasons = useLive(id ? `/tasks/${id}/explain` + query({ attempt }) : null, { every: 5000 });
  const v = one.data, may = me.role === 'operator';
  if (!id) return <p class="wrong" role="alert">{t('This address names no task.')} <a href="#/tasks">{t('Tasks')}</a></p>;
  if (!v) return one.error ? <Wrong error={one.error} /> : <Empty>…</Empty>;
  const act = verb => async () => { await post(`/jobs/${v.job}/${verb}`, { sites: [v.site] }); one.reload(); };
  return <div class="page">
    <p class="crumb"><a href="#/tasks">{t('Tasks')}</a> / <b>{v.site}</b> <State of={v.state} /></p>
    <Wrong error={one.error} />
    <Tiles>
      <Tile label={t('Fetched')} value={count(v.fetched)} note={t('{0} pages', count(v.pages))} />
      <Tile label={t('Queue')} value={count(v.pending)} note={whyOf(v)} />
      <Tile label={t('Failed')} value={count(v.failed)} note={t('{0} excluded', count(v.excluded))} />
      <Tile label={t('Volume')} value={bytes(v.bytes)} />
      <Tile label={t('Delay')} value={span(v.delay_ms)} note={t('between two requests')} />
      <Tile label={t('robots.txt')} value={t(v.robots)} note={(v.addresses || []).join(' ')} />
      <Tile label={t('Attempts')} value={count(v.attempts)} note={v.last ? t('last with {0}', reason(v.last)) : ''} />
    </Tiles>
    {v.state === 'dropped' && <p class="note">{t('It was dropped for good; another job may crawl it.')}</p>}
    {may && v.state !== 'dropped' && <div class="row">
      <Act kind={v.state === 'manual' ? 'primary' : ''} run={act('retry')}>{v.state === 'manual' ? t('Release it') : t('Try failed URLs again')}</Act>
      <Act kind="danger" run={act('drop')} sure={t('Give this site up for good? What waits is excluded, and this job does not come back to it.')}>{t('Drop')}</Act>
    </div>}
    {v.search && <Search key={v.state} v={v} job={jobs.find(j => j.id === v.job)} may={may} done={() => one.reload()} />}
    {may && v.state === 'manual' && !v.search && <Edit v={v} job={jobs.find(j => j.id === v.job)} done={() => one.reload()} />}
    {v.trouble && <p class="wrong">{v.trouble}</p>}
    <div class="grid">
      <Panel size="wide" title={t('Leases')}>{v.leases.length ? <Table label={t('Leases')} rows={v.leases} rowKey={l => l.id} columns={[
        { title: t('Node'), cell: l => l.node }, { title: t('Attempt'), num: true, cell: l => l.attempt }, { title: t('Given'), num: true, cell: l => count(l.given) + (l.quota ? ' / ' + count(l.quota) : '') },
        { title: t('Held'), num: true, cell: l => count(l.held) }, { title: t('Since'), cell: l => clock(l.start) }]} /> : <Empty>{t('No node has it.')}</Empty>}</Panel>
      <Panel size="wide" title={t('History')}>{(v.history || []).length ? <ol class="history">{v.history.map(s => <li>{s}</li>)}</ol> : <Empty>{t('Nothing went wrong so far.')}</Empty>}
        {v.reasons && <Bars rows={reasonRows(v.reasons)} show={r => count(r.value)} />}</Panel>
      <Panel size="full" title={t('Why here?')} tools={reasons.data && (reasons.data.attempts || []).length > 0 && <label>{t('Attempt')} <select value={attempt} onChange={e => setAttempt(Number(e.target.value))}><option value={0}>{t('the last decision')}</option>{reasons.data.attempts.map(n => <option value={n}>{n}</option>)}</select></label>}>
        <Wrong error={reasons.error} /><Why of={reasons.data} /></Panel>
      <Panel size="full" title={t('The URLs that come next')} note={whyOf(v)}>
        {v.queue.length ? <Table label={t('The URLs that come next')} rows={v.queue} columns={[{ title: t('URL'), wide: true, cell: u => <span class="url">{bare(u.url)}</span> }, { title: t('Depth'), num: true, cell: u => u.depth },
          { title: t('Tries'), num: true, cell: u => u.tries || 0 }, ...(v.queue.some(u => u.score) ? [{ title: t('Score'), num: true, cell: u => u.score ? decimal(u.score, 2) : '–' }] : []),
          { title: t('Waits'), cell: u => u.waits === 'like' ? t('until those like it that are asked for now have answered') : u.waits === 'first' ? t('until the first pages of its host are judged') : t('for its turn') }]} /> : <Empty>{t('Nothing is queued.')}</Empty>}</Panel>
    </div>
  </div>;
}

// siteFields are what can be different on the site of a task that waits for a person: each a limit's name, and an example of it.
const siteFields = [['header_timeout', '2m', () => t('Patience for an answer')], ['delay', '5s', () => t('Delay')], ['retries', '6', () => t('Retries')]];

// ruleOf is a rule for sites as a job file says it: the coordinator tells spans in ns.
const ruleOf = s => ({ hosts: s.hosts, include: s.include, exclude: s.exclude, headers: s.headers && Object.fromEntries(s.headers.map(f => [f.name, f.value])),
  ...Object.fromEntries(Object.entries(s.limits || {}).map(([k, n]) => [k, /delay|timeout|backoff/.test(k) ? n + 'ns' : n])) });

// Edit changes what is different on the site of a task that waits for a person, then releases it.
function Edit({ v, job, done }) {
  const [rule, set] = useState({}), given = Object.entries(rule).filter(([, x]) => x.trim());
  if (!job) return null;
  const run = async () => {
    const sites = (job.sites || []).map(ruleOf), i = sites.findIndex(s => s.hosts.length === 1 && s.hosts[0] === v.site);
    const own = { hosts: [v.site], ...(i < 0 ? {} : sites.splice(i, 1)[0]), ...Object.fromEntries(given.map(([k, x]) => [k, x.trim()])) };
    try { await post(`/jobs/${job.id}/limits`, JSON.stringify({ sites: [...sites, own] })); } catch (e) { throw new Error(e.message.replace(/^line 1(, column \d+)?: /, '')); } // it has one
    await post(`/jobs/${job.id}/retry`, { sites: [v.site] });
    done();
  };
  return <Panel size="full" title={t('Change what is different on this site, and release it')}>
    <div class="row">
      {siteFields.map(([name, example, label]) => <label>{label()} <input name={name} size={6} placeholder={example} value={rule[name] || ''} onInput={e => set({ ...rule, [name]: e.target.value })} /></label>)}
      <Act kind="primary" disabled={!given.length} run={run}>{t('Change and release')}</Act>
    </div>
  </Panel>;
}

// Why shows a decision: each node that was left out, and what the others would have cost.
export function Why({ of }) {
  if (!of) return <Empty>…</Empty>;
  if (!of.known) return <Empty>{t('No decision about it is remembered: it was taken before this coordinator began, or long ago.')}</Empty>;
  const d = of.decision, cost = c => c.cost === null ? t('forbidden') : decimal(c.cost, 3) + ' ' + (d.unit ? t(d.unit) : '');
  const top = Math.max(1e-9, ...(d.candidates || []).map(c => c.cost || 0));
  return <div>
    <p>{clock(d.at)}: {d.probe ? t('{0} measures it, and fetches nothing.', d.node) : d.node ? t('It went to {0}.', d.node) : t('It waits: {0}.', reason(d.waits, true))} {d.probe && <Badge>{t(d.probe)}</Badge>} {d.attempt ? t('attempt {0}', d.attempt) : ''} <span class="note">{t('strategy {0}, solver {1}', d.strategy, d.solver || '–')}</span></p>
    {d.why && <p>{reason(d.why, true)}</p>}
    {d.passed && <p class="note">{d.passed.taken >= d.passed.places || d.passed.place || d.passed.bandwidth
      ? t('{0} costs least and did not get it: {1} of its {2} places are taken.', d.passed.node, d.passed.taken, d.passed.places)
      : t('{0} costs least and did not get it.', d.passed.node)}</p>}
    {d.cost === 'none' && <p class="note">{t('Nothing was compared: this strategy does not go by cost.')}</p>}
    {d.cost !== 'none' && (d.candidates || []).length > 0 && <Table label={t('Candidates')} rows={d.candidates} columns={[
      { title: t('Node'), cell: c => <span>{c.node} {c.node === d.node && <Badge kind="go">{t('chosen')}</Badge>}</span> },
      { title: d.cost ? t(d.cost) : t('Cost'), num: true, cell: cost },
      { title: t('Compared'), cell: c => <span class="bar"><i style={{ width: c.cost === null ? 0 : 100 * c.cost / top + '%' }} class={c.node === d.node ? 'ok' : ''} /></span> },
      { title: t('Parts'), wide: true, cell: c => <span class="parts">{(c.parts || []).map(p => <span class={'part ' + p.source} title={t(p.source)}>{t(p.name)} {decimal(p.value, 3)} {p.unit && t(p.unit)} <i>{t(p.source)}{p.sigma ? ' ±' + decimal(100 * p.sigma, 0) + ' %' : ''}</i></span>)}</span> },
    ]} />}
    {(d.filtered || []).length > 0 && <Table label={t('Left out')} rows={d.filtered} columns={[{ title: t('Left out'), cell: f => f.node }, { title: t('By'), cell: f => t(f.filter) }, { title: t('Because'), cell: f => <span><Reason of={f.reason} wait /> {f.detail}</span> }]} />}
    {d.omitted > 0 && <p class="note">{t('and {0} more', d.omitted)}</p>}
  </div>;
}
