import { h } from '../lib/preact.mjs';
import { useState } from '../lib/hooks.mjs';
import { bare, count, decimal } from './format.js';
import { t } from './text.js';
import { Badge, Empty, Panel, useLive, Wrong, onJob } from './ui.jsx';

// Tree shows the search paths of a job: each page under the page that named it first.
export function Tree({ job }) {
  const one = useLive(job ? `/jobs/${job.id}/tree` : null, { on: onJob(job && job.id), every: 8000 });
  if (!job) return <Empty>{t('There is no job yet.')}</Empty>;
  const v = one.data;
  return <div class="page"><Wrong error={one.error} />
    {v && <Panel size="full" title={t('How each page was reached')} note={t('{0} pages', count(v.pages))}>
      {v.roots && v.roots.length ? <ul class="tree">{v.roots.map(b => <Branch key={b.url} b={b} topical={!!job.identity.topic} depth={0} />)}</ul> : <Empty>{t('Nothing yet.')}</Empty>}
    </Panel>}
  </div>;
}

// Branch is a page and what it has named; that is drawn when it is opened.
function Branch({ b, topical, depth }) {
  const under = b.under || [], [open, set] = useState(depth < 2 && under.length < 30);
  const label = <span class="branch">{b.on_topic && <Badge kind="ok">{t('on the topic')}</Badge>}<span class="url">{bare(b.url)}</span>{b.anchor && <i class="note">{b.anchor}</i>}
    {topical && <span class="note">{decimal(b.score, 2)}</span>}{under.length > 0 && <span class="note">{topical ? t('{0} of {1} on the topic', count(b.relevant), count(b.pages)) : t('{0} pages', count(b.pages))}</span>}</span>;
  if (!under.length) return <li class="leaf">{label}{b.folded > 0 && <span class="note"> {t('and {0} more', count(b.folded))}</span>}</li>;
  return <li><details open={open} onToggle={e => set(e.currentTarget.open)}><summary>{label}</summary>
    {open && <ul>{under.map(u => <Branch key={u.url} b={u} topical={topical} depth={depth + 1} />)}{b.folded > 0 && <li class="note">{t('and {0} more', count(b.folded))}</li>}</ul>}</details></li>;
}
