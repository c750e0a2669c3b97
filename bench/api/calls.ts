// Calls a fleet's API with the client that was generated from its description (./client), as a program of somebody else would: starts a
// job, reads it in parts, steers it, and is refused what an observer must not do. It fails where an answer is not as described.
import assert from 'node:assert/strict';
import { client } from './client/client.gen';
import * as api from './client/sdk.gen';

const baseUrl = process.env.API!, operator = process.env.TOKEN!;
client.setConfig({ baseUrl, auth: () => operator });

// had returns the answer of a call, or fails with what was said instead.
async function had<T>(call: PromiseLike<{ data?: T; error?: unknown; response?: Response }>): Promise<T> {
  const r = await call;
  assert.ok(r.data !== undefined && !r.error, JSON.stringify(r.error));
  return r.data;
}

// refused returns the status of a call that fails.
async function refused(call: PromiseLike<{ error?: unknown; response?: Response }>): Promise<number> {
  const r = await call;
  assert.ok(r.error, 'it was not refused');
  return r.response!.status;
}

const status = await had(api.status());
assert.equal(status.kind, 'fleet');
assert.ok(status.leads);
const names = (await had(api.strategies()))!.map(s => s.name);
assert.ok(names.includes('flow') && names.includes('greedy'));

const file = new Blob(['name: by a generated client\nplacing: {strategy: greedy}\nseeds: [' + [...Array(25).keys()].map(n => `"http://s${n}.invalid/"`).join(', ') + ']\n']);
const { job: id } = await had(api.submit({ body: file, headers: { 'Content-Type': 'application/yaml' } }));
const path = { id };
assert.equal((await had(api.job({ path }))).name, 'by a generated client');
assert.ok((await had(api.jobs()))!.some(j => j.id === id));

const seen = new Set<string>();
for (let after = 0; ;) {
  const some = (await had(api.tasks({ path, query: { limit: 10, after } })))!;
  for (const t of some) seen.add(t.site);
  if (some.length < 10) break;
  after = some[some.length - 1].task;
}
assert.equal(seen.size, 25);
const found = await had(api.tasks({ path, query: { find: 's24.', state: 'waiting' } }));
assert.equal(found!.length, 1);
const task = await had(api.task({ path: { task: found![0].task } }));
assert.deepEqual([task.site, task.queue!.length, task.waits], ['s24.invalid', 1, 'node']);
assert.equal((await had(api.explain({ path: { task: task.task } }))).known, false); // no node is there

assert.equal((await had(api.pause({ path }))).state, 'paused');
const changed = await had(api.limits({ path, body: new Blob(['placing: {strategy: flow}\nlimits: {max_pages: 7}']), headers: { 'Content-Type': 'application/yaml' } }));
assert.deepEqual([changed.strategy, changed.limits.max_pages], ['flow', 7]);
assert.equal((await had(api.measurements({ path }))).strategy, 'flow');
assert.equal((await had(api.resume({ path }))).state, 'running');
const dropped = await had(api.drop({ path, body: { sites: ['s0.invalid'], why: 'a test' } }));
assert.equal(dropped.pending, 24);
assert.equal((await had(api.timeline({ path, query: { bins: 10, site: 's1.invalid' } }))).bins!.length, 0);

const token = await had(api.createToken({ body: { role: 'observer', label: 'reader' } }));
const as = { auth: () => token.token! };
assert.equal((await had(api.me(as))).role, 'observer');
assert.equal(await refused(api.cancel({ ...as, path })), 403);
assert.equal((await had(api.job({ ...as, path }))).state, 'running');
await had(api.revokeToken({ path: { id: token.id } }));
assert.equal(await refused(api.job({ ...as, path })), 401);
assert.equal(await refused(api.job({ path: { id: 999 } })), 404);
assert.equal(await refused(api.limits({ path, body: new Blob(['nonsense: 1']), headers: { 'Content-Type': 'application/yaml' } })), 422);

const { stream } = await api.events({ sseMaxRetryAttempts: 1 });
for await (const e of stream) {
  assert.ok((e as { now: { leads: boolean } }).now.leads);
  break;
}
assert.equal((await had(api.cancel({ path }))).state, 'cancelled');
const log = (await had(api.orders({ query: { limit: 50 } })))!.map(o => o.what);
for (const what of [`cancel job ${id}`, `pause job ${id}`, `resume job ${id}`]) assert.ok(log.includes(what), what);
console.log(`${Object.keys(api).length} operations were generated; those of a job do as described`);
process.exit(0);
