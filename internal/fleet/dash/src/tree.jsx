import { Fragment, h } from '../lib/preact.mjs';
import { useState } from '../lib/hooks.mjs';
import { get, query } from './api.js';
import { bare, count, decimal, plain } from './format.js';
import { t } from './text.js';
import { Act, Badge, Empty, Panel, useLive, useSettled, Wrong, onJob } from './ui.jsx';

const more = 200; // branches that are fetched at once when some are left out

// Tree shows the search paths of a job: each page under the page that named it first.
export function Tree({ job, at }) {
  const [find, setFind] = useState(at.find || ''), text = useSettled(find);
  const one = useLive(job ? `/jobs/${job.id}/tree` + query({ find: text }) : null, { on: onJob(job && job.id), every: 8000 });
  if (!job) return <Empty>{t('There is no job yet.')}</Empty>;
  const v = one.data, of = { job: job.id, topical: !!job.identity.topic, find: text };
  return <div class="page">
    <div class="filters"><label>{t('URL or text of the link')} <input type="search" maxLength={256} value={find} onInput={e => setFind(e.target.value)} /></label></div>
    <Wrong error={one.error} />
    {v && <Panel size="full" title={t('How each page was reached')} note={t('{0} pages', count(v.pages))}>
      {v.roots && v.roots.length ? <ul class="tree"><Branches of={of} list={v.roots} folded={v.folded} depth={0} key={text} /></ul> : <Empty>{text ? t('No page is like that.') : t('Nothing yet.')}</Empty>}
    </Panel>}
  </div>;
}

// Branches are pages beside each other. Those that were left out come when they are asked for.
function Branches({ of, above, list, folded, depth }) {
  const [rest, set] = useState([]), had = new Set(list.map(b => b.url + ' ' + b.crawler)), all = [...list, ...rest.filter(b => !had.has(b.url + ' ' + b.crawler))];
  const left = (folded || 0) - (all.length - list.length);
  const load = async () => {
    const v = await get(`/jobs/${of.job}/tree` + query({ under: above && above.url, crawler: above && above.crawler, find: of.find, skip: all.length, limit: more }));
    set([...rest, ...v.roots || []]);
  };
  return <Fragment>{all.map(b => <Branch key={b.url + ' ' + b.crawler} of={of} b={b} depth={depth} />)}{left > 0 && <li><Act run={load}>{t('and {0} more', count(left))}</Act></li>}</Fragment>;
}

// Branch is a page and what it has named; that is drawn when it is opened.
function Branch({ of, b, depth }) {
  const under = b.under || [], leads = under.length > 0 || b.folded > 0, [open, set] = useState(depth < 2 && under.length > 0 && under.length < 30);
  const label = <span class="branch">{b.on_topic && <Badge kind="ok">{t('on the topic')}</Badge>}<span class="url" title={b.url}>{bare(b.url)}</span>{b.anchor && <i class="note" title={plain(b.anchor)}><bdi>{plain(b.anchor)}</bdi></i>}
    {of.topical && <span class="note">{decimal(b.score, 2)}</span>}{leads && <span class="note">{of.topical ? t('{0} of {1} on the topic', count(b.relevant), count(b.pages)) : t('{0} pages', count(b.pages))}</span>}</span>;
  if (!leads) return <li class="leaf">{label}</li>;
  return <li><details open={open} onToggle={e => set(e.currentTarget.open)}><summary>{label}</summary>
    {open && <ul><Branches of={of} above={b} list={under} folded={b.folded} depth={depth + 1} /></ul>}</details></li>;
}
