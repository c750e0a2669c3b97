// The frame of the pages: who asks, which page, which job, and the light.
import { Fragment, h, render } from '../lib/preact.mjs';
import { useEffect, useRef, useState } from '../lib/hooks.mjs';
import { again, enter as letIn, get, keyAt, leave, onEvent, onShut, quiet } from './api.js';
import { Api } from './describe.jsx';
import { Jobs } from './jobs.jsx';
import { Log } from './log.jsx';
import { Market } from './market.jsx';
import { Measurements } from './measures.jsx';
import { Nodes } from './nodes.jsx';
import { Overview } from './overview.jsx';
import { Page, Pages } from './pages.jsx';
import { Results } from './results.jsx';
import { Searches } from './searches.jsx';
import { Sites } from './sites.jsx';
import { Task, Tasks } from './tasks.jsx';
import { Tree } from './tree.jsx';
import { language, languages, person, speak, t } from './text.js';
import { jobName } from './format.js';
import { Cut, State, goes, useLive } from './ui.jsx';

const pages = {
  overview: [() => t('Overview'), Overview], jobs: [() => t('Jobs'), Jobs], tasks: [() => t('Tasks'), Tasks], nodes: [() => t('Nodes'), Nodes],
  sites: [() => t('Sites × nodes'), Sites], measurements: [() => t('Measurements'), Measurements], pages: [() => t('Pages'), Pages], tree: [() => t('Search paths'), Tree], searches: [() => t('Searches'), Searches, null, j => j.identity.collect], market: [() => t('Market'), Market, null, j => j.identity.market],
  results: [() => t('Results'), Results, null, j => j.identity.topic], log: [() => t('Log'), Log], api: [() => t('API'), Api], task: [() => t('Task'), Task, 'tasks'], page: [() => t('Page'), Page, 'pages'],
};

// place is the page that the address names, and what it says besides.
function place() {
  const [path, rest] = location.hash.replace(/^#\/?/, '').split('?');
  return { name: Object.hasOwn(pages, path) ? path : 'overview', at: Object.fromEntries(new URLSearchParams(rest || '')) };
}

function light(theme) {
  if (theme) document.documentElement.dataset.theme = theme; else delete document.documentElement.dataset.theme;
}

function App() {
  const [me, setMe] = useState(undefined), [shutWhy, setShut] = useState(''), [out, setOut] = useState(false);
  const [, draw] = useState(0), [theme, setTheme] = useState(localStorage.getItem('argosy.theme') || '');
  const enter = async () => { try { setMe(await get('/session')); setOut(false); again(); } catch (e) { setMe(null); if (e.status !== 401) setShut(e.message); } };
  useEffect(() => {
    const codeIn = () => /[#&]code=([\w-]+)/.exec(location.hash);
    const knock = () => {
      const code = codeIn();
      if (code) history.replaceState(null, '', location.pathname + '#/overview');
      return (code ? letIn({ code: code[1] }).catch(e => setShut(e.message)) : Promise.resolve()).then(enter);
    };
    const opened = () => { if (codeIn()) knock(); }; // a link that was opened where this page stands already
    const followed = e => { if (e.key === keyAt && e.newValue) enter(); }; // another window has entered: its session is this one's
    knock();
    addEventListener('storage', followed);
    addEventListener('hashchange', opened);
    const off = onShut(() => { quiet(); setOut(true); });
    return () => { removeEventListener('hashchange', opened); removeEventListener('storage', followed); off(); };
  }, []);
  useEffect(() => { light(theme); localStorage.setItem('argosy.theme', theme); }, [theme]);
  if (me === undefined) return null;
  const tools = <Fragment>
    <select aria-label={t('Language')} value={language()} onChange={e => { speak(e.target.value); draw(n => n + 1); }}>{languages.map(([k, name]) => <option value={k}>{name}</option>)}</select>
    <select aria-label={t('Light')} value={theme} onChange={e => setTheme(e.target.value)}><option value="">{t('as the system')}</option><option value="light">{t('light')}</option><option value="dark">{t('dark')}</option></select>
  </Fragment>;
  if (!me) return <Door why={shutWhy} enter={enter} tools={tools} />;
  return <Fragment>
    {out && <div class="over" role="dialog" aria-modal="true" aria-label={t('Enter')}><Door why={t('This session has ended: nobody used it for 12 hours, its token was revoked, or the coordinator has forgotten it. What stands in forms is kept until you enter again.')} enter={enter} tools={null} /></div>}
    <div inert={out}><House me={me} out={out} tools={tools} theme={theme} key={language()} leave={async () => { setMe(null); try { await leave(); } catch (e) { setShut(e.message); } }} /></div>
  </Fragment>;
}

function Door({ why, enter, tools }) {
  const [token, set] = useState(''), [error, fail] = useState(why), box = useRef(null);
  useEffect(() => box.current.focus(), []);
  useEffect(() => fail(why), [why]);
  const send = async e => { e.preventDefault(); try { await letIn({ token: token.trim() }); await enter(); } catch (x) { fail(x.message); } };
  return <div class="door" role="main"><Mark /><h1>Argosy</h1>
    <p>{t('Open the link that the command printed, or show a token. argosy link prints another link.')}</p>
    <form onSubmit={send}><label class="block">{t('Token')}<input ref={box} type="password" autocomplete="off" required value={token} onInput={e => set(e.target.value)} /></label><button class="primary">{t('Enter')}</button></form>
    {error && <p class="wrong" role="alert">{error}</p>}
    <div class="row">{tools}</div></div>;
}

const Mark = () => <svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><path d="M15 3v17H5C9 16 13 10 15 3zM17 6c5 3 8 8 9 14h-9zM3 23h26c-2 4-5 6-8 6H11c-3 0-6-2-8-6z" /></svg>;

function House({ me, out, tools, leave, theme }) {
  const [where, go] = useState(place()), [job, choose] = useState(Number(place().at.job) || 0), [now, setNow] = useState(null), [lost, setLost] = useState(false), [open, setOpen] = useState(false);
  const [system, setSystem] = useState(matchMedia('(prefers-color-scheme: dark)').matches);
  const jobs = useLive('/jobs', { on: e => (e.jobs || []).length > 0 || e.status, every: 1500, moves: all => all.some(goes) });
  useEffect(() => {
    const follow = () => { const p = place(); go(p); if (p.at.job) choose(Number(p.at.job)); };
    const escaped = e => { if (e.key === 'Escape') setOpen(was => { if (was) document.querySelector('.menu').focus(); return false; }); };
    const moved = () => { follow(); setOpen(false); document.getElementById('content').focus({ preventScroll: true }); scrollTo(0, 0); };
    const dark = matchMedia('(prefers-color-scheme: dark)'), turned = e => setSystem(e.matches);
    follow(); // it may have moved between the drawing and this
    addEventListener('hashchange', moved); addEventListener('keydown', escaped); dark.addEventListener('change', turned);
    const off = onEvent(e => { if (e.now) { setNow(e.now); setLost(false); } if (e.lost) setLost(true); });
    return () => { removeEventListener('hashchange', moved); removeEventListener('keydown', escaped); dark.removeEventListener('change', turned); off(); };
  }, []);
  useEffect(() => { if (!out) setLost(false); }, [out]); // whoever enters was answered
  const all = jobs.data || [], asked = all.find(j => j.id === job), one = asked || all.find(j => j.state === 'running') || all[all.length - 1] || null, nowhere = where.at.job !== undefined && jobs.data && !all.some(j => j.id === Number(where.at.job));
  const [title, Content, under] = pages[where.name], status = now || { nodes: 0, leases: 0, state: '' };
  useEffect(() => { document.title = title() + ' – Argosy'; }, [where.name]);
  return <div class={'house' + (open ? ' open' : '')}>
    <a class="skip" href="#content" onClick={e => { e.preventDefault(); document.getElementById('content').focus(); }}>{t('To the content')}</a>
    <header class="top">
      <button class="menu" aria-expanded={open} aria-controls="nav" onClick={() => setOpen(!open)}>☰<span class="hidden">{t('Pages of this site')}</span></button>
      <a class="brand" href="#/overview"><Mark />Argosy</a>
      {all.length > 1 ? <select class="which" aria-label={t('Job')} value={one ? one.id : ''} onChange={e => choose(Number(e.target.value))}>{all.map(j => <option value={j.id}>{j.id} · {jobName(j).slice(0, 80)}</option>)}</select>
        : one && <span class="which"><Cut text={jobName(one)} /></span>}
      <span class="live" role="status">{lost ? <b class="wrong">{t('The coordinator does not answer.')}</b> : me.kind === 'over' ? t('nothing runs here') : <State of={status.state} />}</span>
    </header>
    <nav id="nav" aria-label={t('Pages of this site')}>
      {Object.entries(pages).filter(([, p]) => !p[2]).filter(([k, p]) => (k !== 'measurements' || me.kind !== 'over') && (!p[3] || (one && p[3](one)))).map(([k, [name]]) => <a href={'#/' + k} aria-current={k === (under || where.name) ? 'page' : undefined}>{name()}</a>)}
      <div class="foot">{tools}<span class="note">{person(me.name)} · {t(me.role)}</span><button class="link" onClick={leave}>{t('Leave')}</button><span class="note">argosy {me.version}</span></div>
    </nav>
    <main id="content" tabIndex={-1}><h1>{title()}</h1>
      {jobs.error && !jobs.data ? <p class="wrong" role="alert">{jobs.error.message}</p> : nowhere ? <p class="wrong" role="alert">{t('There is no job {0}.', where.at.job)} <a href="#/jobs" onClick={() => choose(0)}>{t('Jobs')}</a></p>
        : jobs.data && <Content key={where.name + JSON.stringify(where.at)} at={where.at} me={me} job={one} jobs={all} status={status} choose={choose} reload={jobs.reload} theme={theme || (system ? 'dark' : 'light')} />}
    </main>
  </div>;
}

speak(language());
light(localStorage.getItem('argosy.theme') || '');
render(<App />, document.getElementById('app'));
