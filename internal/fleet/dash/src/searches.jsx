import { h } from '../lib/preact.mjs';
import { useState } from '../lib/hooks.mjs';
import { post, query } from './api.js';
import { clock, count, span } from './format.js';
import { t, told } from './text.js';
import { Act, Empty, Pager, Panel, State, Table, useLive, useSettled, Wrong, onJob } from './ui.jsx';

const limit = 50;
const stated = s => !s || !s.kind || s.kind === 'missing' ? '–' : count(s.n);

// Searches shows the searches of a virtual task in their queues.
export function Searches({ job, at }) {
  const [state, setState] = useState(at.state || ''), [skip, setSkip] = useState(Number(at.skip) || 0), [find, setFind] = useState(at.find || ''), settled = useSettled(find);
  const list = useLive(job ? `/jobs/${job.id}/tasks` + query({ kind: 'searches', state, find: settled, limit, skip }) : null, { on: onJob(job && job.id), every: 3000 });
  if (!job || !job.identity.collect) return <Empty>{t('This job searches for nothing: it follows links from its seeds.')}</Empty>;
  return <div class="page">
    <div class="chips" role="group" aria-label={t('State')}>{['', 'waiting', 'crawling', 'sleeping', 'failed', 'done', 'manual', 'dropped'].map(s => <button class={'chip' + (s === state ? ' on' : '')} aria-pressed={s === state} onClick={() => { setState(s); setSkip(0); }}>{s ? t(s) : t('all')}</button>)}</div>
    {(find || (list.data && list.data.total > 10)) && <div class="filters"><label>{t('Find')} <input type="search" maxLength={256} value={find} onInput={e => { setFind(e.target.value); setSkip(0); }} /></label></div>}
    <Wrong error={list.error} />
    {list.data && (list.data.length ? <Table label={t('Searches')} rows={list.data} rowKey={r => r.task} link={r => '#/task?id=' + r.task} columns={[
      { title: t('Search'), cell: r => r.search.words.join(' ') + (r.search.site ? ' · ' + r.search.site : '') }, { title: t('Subject'), cell: r => r.search.product }, { title: t('Engine'), cell: r => r.search.engine_name },
      { title: t('State'), cell: r => <State of={r.state} /> }, { title: t('Stated'), num: true, cell: r => stated(r.search.stated) }, { title: t('Found'), num: true, cell: r => count(r.search.found) },
      { title: t('Collected'), num: true, cell: r => count(r.search.collected) }, { title: t('Lost'), num: true, cell: r => count(r.search.lost) }, { title: t('Node'), cell: r => r.search.node || '–' }, { title: t('Why'), wide: true, cell: r => told(r.search.why || '–') },
    ]} /> : <Empty>{t('No search is like that.')}</Empty>)}
    {list.data && <Pager skip={skip} limit={limit} shown={list.data.length} total={list.data.total} go={setSkip} />}
  </div>;
}

// Search shows the search of a task: what it asks, its subtasks, and, where it waits for a person, how it is changed.
export function Search({ v, job, may, done }) {
  const s = v.search, runs = useLive(`/jobs/${v.job}/runs?search=${s.search}`, { on: onJob(v.job), every: 4000 });
  const [words, setWords] = useState(s.words.join(' ')), [site, setSite] = useState(s.site || ''), [number, setNumber] = useState(s.engine);
  const engines = job && job.identity.collect ? job.identity.collect.engines : [];
  const run = async () => { await post(`/jobs/${v.job}/tasks/${v.task}/edit`, { words: words.split(/\s+/).filter(Boolean), site, number }); done(); };
  return <div class="grid">
    {may && v.state === 'manual' && <Panel size="full" title={t('Change this search, and let it go on')}>
      <div class="form">
        <label class="block">{t('Words')}<input value={words} onInput={e => setWords(e.target.value)} /></label>
        <label class="block">{t('On one site only')}<input value={site} onInput={e => setSite(e.target.value)} /></label>
        <label class="block">{t('Engine')}<select value={number} onChange={e => setNumber(Number(e.target.value))}>{engines.map((e, i) => <option value={i}>{e.name}</option>)}</select></label>
        <p class="note full">{t('URL of its first result page')}: <span class="url">{s.url}</span></p>
        <div class="row full"><Act kind="primary" run={run}>{t('Change and release')}</Act></div>
      </div>
    </Panel>}
    <Panel size="full" title={t('Subtasks')} note={told(s.why || '')}>
      <Wrong error={runs.error} />
      {runs.data && runs.data.length ? <Table label={t('Subtasks')} rows={runs.data.slice(-200).reverse()} rowKey={r => r.lease} columns={[
        { title: t('Since'), cell: r => clock(r.started) }, { title: t('What'), cell: r => r.asks ? t('searches') : t('collects') }, { title: t('Site'), cell: r => r.site || '–' }, { title: t('Node'), cell: r => r.node }, { title: t('Attempt'), num: true, cell: r => r.attempt },
        { title: t('Quota'), num: true, cell: r => count(r.quota) }, { title: t('Time at most'), num: true, cell: r => span(r.budget_ms) }, { title: t('Given'), num: true, cell: r => count(r.given) }, { title: t('Had'), num: true, cell: r => count(r.collected) },
        { title: t('End'), cell: r => r.ended ? r.reason + ' · ' + span(r.ended - r.started) : t('goes on') }]} /> : <Empty>{t('None has begun.')}</Empty>}
    </Panel>
  </div>;
}
