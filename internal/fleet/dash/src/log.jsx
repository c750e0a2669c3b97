import { h } from '../lib/preact.mjs';
import { clock, plain } from './format.js';
import { t } from './text.js';
import { Empty, Panel, Table, useLive, Wrong } from './ui.jsx';

export function Log({ me }) {
  const may = me.role === 'operator';
  const list = useLive(may ? '/orders?n=500' : null, { every: 5000 });
  if (!may) return <Empty>{t('Only an operator reads who has ordered what.')}</Empty>;
  return <div class="page"><Wrong error={list.error} />
    <Panel size="full" title={t('Who has ordered what')}>
      {list.data && (list.data.length ? <Table label={t('Who has ordered what')} rows={list.data} rowKey={o => o.seq} columns={[
        { title: t('When'), cell: o => clock(o.at) }, { title: t('Who'), cell: o => o.who }, { title: t('What'), wide: true, cell: o => <span class="ordered" title={o.what}>{plain(o.what)}</span> }]} /> : <Empty>{t('Nobody has ordered anything yet.')}</Empty>)}
    </Panel></div>;
}
