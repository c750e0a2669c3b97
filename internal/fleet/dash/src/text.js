// The words of the pages: English in the sources, Chinese in zh.json; what operations of the API do, in zh-api.json. Tests find what is missing
// there.
import said from './words.json';
import zh from './zh.json';
import operations from './zh-api.json';

const known = { en: 'English', zh: '中文' };
let now = localStorage.getItem('argosy.language') || (navigator.language.startsWith('zh') ? 'zh' : 'en');
if (!known[now]) now = 'en';

export const languages = Object.entries(known);
export const language = () => now;
export function speak(l) { now = l; localStorage.setItem('argosy.language', l); document.documentElement.lang = l === 'zh' ? 'zh-CN' : 'en'; }

// t returns a text in the language that is spoken; {0}, {1} … stand for the others. Of a text that counts, such as "{0} pages", English has
// another form for one.
export function t(text, ...values) {
  const s = now === 'zh' ? zh[text] || text : values[0] === '1' ? text.replace(/^(\{0\} \w{3,})s(?=$| and )/, '$1') : text;
  return values.length ? s.replace(/\{(\d)\}/g, (_, i) => values[i]) : s;
}

// operation says what an operation of the API does, of which its description says summary.
export const operation = summary => now === 'zh' ? operations[summary] || summary : summary;

// reason says what a code of the coordinator's means: why a URL was not fetched, or with wait why a task got no node. words.json is
// written from the coordinator's own tables by dash_test.go.
export function reason(code, wait) {
  const words = (wait ? said.waits : said.reasons)[code];
  return words ? t(words) : code;
}

// person is who has ordered something: a name, or what a token that has none is called.
export function person(who) {
  if (who === 'a browser, by the link of this process') return t('a browser, by the link of this process');
  const token = /^the token of role (\w+) in a file$/.exec(who), user = /^uid (\d+) on this machine$/.exec(who);
  return token ? t('the token of role {0} in a file', t(token[1])) : user ? t('uid {0} on this machine', user[1]) : who;
}

// Words that the coordinator says, which no call of t names.
export const words = [
  'running', 'paused', 'done', 'cancelled', 'limited', 'manual', 'interrupted', 'waiting', 'crawling', 'sleeping', 'dropped', 'idle', 'starting', 'standby', 'draining', 'over',
  'working', 'reserved', 'taken-on', 'on-demand', 'barren', 'gone', 'refused', 'fetched', 'failed', 'excluded', 'pending',
  'person', 'job', 'limit', 'room', 'site', 'node', 'nothing', 'held', 'other', 'observer', 'operator',
  'rules', 'all allowed', 'unavailable', 'unknown', 'measured', 'predicted', 'default', 'drawn', 'stated', 'share', 'bandwidth', 'delay',
  // what the coordinator has written down of a search, piece by piece
  'attempt {0} on {1} has read {2} of {3} result pages: {4}', 'attempt {0} on {1}, up to {2} result pages in {3} s',
  'attempt {0} on {1}: {2} refuses every node (403)', 'attempt {0} on {1}: {2}', 'recalled {0} times', 'the last one: {0}', 'it waits for {0} pages',
  'it asks to be left alone for {0} hours or longer', 'its engine rests until {0}', '{0} of {1} collected, the last loss: {2}',
  '{0} of {1} collected', 'done: {0}', 'dropped: {0}', 'another search: {0}', 'changed by a person: {0}', 'released by a person', 'submitted',
  'no further result page', 'all that the engine states', 'nothing new on its result pages', 'nothing new on its site on the last {0} result pages',
  '{0} result pages were read (virtual.max_pages)', '1 result is nothing that can be fetched', '{0} results are nothing that can be fetched',
  'blocked: {0}', 'changed: {0}', 'failed: {0}', 'refused: {0}', 'denied: {0}',
];

const pieces = words.map(text => [text, new RegExp('^' + text.replace(/[.()]/g, '\\$&').replace(/\{\d\}/g, '(.+?)') + '$')]);

// told says in this language what the coordinator has written down of a search; what it has no words for stays.
export function told(text) {
  return now === 'en' ? text : text.split('; ').map(part => {
    for (const [piece, form] of pieces) {
      const m = form.exec(part);
      if (m) return t(piece, ...m.slice(1).map(told));
    }
    return reason(part);
  }).join('；');
}
