import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { KvMember } from '../../index.js';
import { etcdMembership, type EtcdRegistrationOptions, registerInEtcd } from '../../etcd/index.js';
import { Etcd, WITHOUT_ETCD } from '../../../../../test/support/etcd.js';

/** So that no lease has to be renewed while a test lasts: nothing depends on how long a busy machine keeps this process waiting. */
const LONG_MS = 600_000;
/**
 * Where a lease is renewed meanwhile. An answer to that may take a third of it, at most 2 s: were it shorter, a machine that is only busy
 * would be a problem.
 */
const RENEWED_MS = 6000;

/** What is registered of a server, without one. */
function serverAt(port: number, epoch = port): Parameters<typeof registerInEtcd>[0] {
  return { address: { host: '127.0.0.1', port }, epoch, mode: 'cache' };
}

class Watching implements Disposable {
  readonly #stop = new AbortController();
  readonly #lists: AsyncIterator<readonly KvMember[]>;
  readonly problems: string[] = [];

  /** Lets the turns pass in which so many problems are reported, each in its own. */
  async told(count: number): Promise<void> {
    for (let turn = 0; turn <= 2 * count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  constructor(endpoints: string | readonly string[], cluster: string) {
    const onProblem = (problem: Error): void => void this.problems.push(problem.message);
    const membership = etcdMembership({ endpoints, cluster, onProblem });
    this.#lists = membership.watch(this.#stop.signal)[Symbol.asyncIterator]();
  }

  async next(): Promise<readonly KvMember[]> {
    const next = await this.#lists.next();
    assert.notEqual(next.done, true, 'the membership has ended');
    return next.value as readonly KvMember[];
  }

  async until(holds: (members: readonly KvMember[]) => boolean): Promise<readonly KvMember[]> {
    for (;;) {
      const members = await this.next();
      if (holds(members)) return members;
    }
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
  }
}

const namesIn = (members: readonly KvMember[]): unknown[] => members.map(({ name, isUp }) => [name, isUp]);

describe('servers that register themselves in etcd', { skip: WITHOUT_ETCD }, () => {
  let etcd: Etcd;
  let cluster = '';
  let tests = 0;

  before(async () => {
    etcd = await Etcd.start();
  });
  after(() => etcd[Symbol.asyncDispose]());
  beforeEach(() => {
    tests += 1;
    cluster = `test-${tests}`;
  });

  const register = (port: number, name: string, more: Partial<EtcdRegistrationOptions> = {}, epoch = port) =>
    registerInEtcd(serverAt(port, epoch), { endpoints: etcd.url, cluster, name, ttlMs: LONG_MS, ...more });

  it('are found, with where they are and their epochs, as they come and go', async () => {
    using watching = new Watching(etcd.url, cluster);
    assert.deepEqual(await watching.next(), []);
    await using red = await register(7001, 'red');
    assert.deepEqual(await watching.next(), [{ host: '127.0.0.1', port: 7001, epoch: 7001, name: 'red', isUp: true }]);
    await using green = await register(7002, 'green');
    assert.deepEqual(namesIn(await watching.next()), [
      ['green', true],
      ['red', true],
    ]);
    await red.close();
    assert.deepEqual(namesIn(await watching.next()), [['green', true]]);
    assert.equal(green.keys, 'move');
  });

  it('leave their keys where they are when they are to stay, and are known to be away', async () => {
    using watching = new Watching(etcd.url, cluster);
    await watching.next();
    const red = await registerInEtcd(
      { ...serverAt(7001), mode: 'store' },
      { endpoints: [etcd.url], cluster, name: 'red', ttlMs: LONG_MS },
    );
    assert.equal(red.keys, 'stay');
    assert.deepEqual(namesIn(await watching.next()), [['red', true]]);
    await red.close();
    assert.deepEqual(await watching.next(), [{ host: '127.0.0.1', port: 7001, epoch: 7001, name: 'red', isUp: false }]);
    await using again = await register(7009, 'red', { keys: 'move' });
    await watching.until(([member]) => member.port === 7009);
    await again.close();
    assert.deepEqual(await watching.next(), []);
  });

  it('are gone when their lease has run out, and their name is free again', async () => {
    using watching = new Watching(etcd.url, cluster);
    await watching.next();
    // One that was killed renews no lease.
    const grant = await fetch(`${etcd.url}/v3/lease/grant`, { method: 'POST', body: '{"TTL":"2"}' });
    const { ID: lease } = (await grant.json()) as { ID: string };
    const value = btoa('{"host":"127.0.0.1","port":7001,"epoch":1}');
    const key = btoa(`/verbena/kv/${cluster}/servers/red`);
    await fetch(`${etcd.url}/v3/kv/put`, { method: 'POST', body: JSON.stringify({ key, value, lease }) });
    assert.deepEqual(namesIn(await watching.next()), [['red', true]]);
    await using red = await register(7002, 'red');
    const [member] = await watching.until(([each]) => (each as KvMember | undefined)?.port === 7002);
    assert.equal(member.epoch, 7002);
    assert.equal(red.problem, undefined);
  });

  it('take their own place at once that a life before them has left', async () => {
    using watching = new Watching(etcd.url, cluster);
    await watching.next();
    await using before = await register(7001, 'red', { ttlMs: 3_600_000 }, 1);
    await watching.until(([member]) => (member as KvMember | undefined)?.epoch === 1);
    await using again = await register(7001, 'red', {}, 2);
    await watching.until(([member]) => member.epoch === 2);
    assert.deepEqual([before.name, again.name], ['red', 'red']);
  });

  it('are refused a name that another server has which lives', async () => {
    await using red = await register(7001, 'red', { ttlMs: RENEWED_MS });
    await assert.rejects(register(7002, 'red'), {
      errno: 'EBUSY',
      message: /has the name red, at 127\.0\.0\.1, port 7001/,
    });
    assert.equal(red.problem, undefined);
    const controller = new AbortController();
    const waiting = register(7002, 'red', { signal: controller.signal });
    controller.abort(new Error('enough'));
    await assert.rejects(waiting, { message: 'enough' });
  });

  it('enter themselves again when somebody has removed them', async () => {
    using watching = new Watching(etcd.url, cluster);
    await watching.next();
    await using red = await register(7001, 'red', { ttlMs: RENEWED_MS });
    await watching.next();
    await etcd.delete(`/verbena/kv/${cluster}/servers/red`);
    assert.deepEqual(await watching.next(), []);
    assert.deepEqual(namesIn(await watching.next()), [['red', true]]);
    assert.equal(red.problem, undefined);
  });

  it('are found though etcd has forgotten what was before', async () => {
    using watching = new Watching(etcd.url, cluster);
    await watching.next();
    await using red = await register(7001, 'red');
    await watching.next();
    const green = watching.until((members) => members.length === 2);
    const range = await fetch(`${etcd.url}/v3/kv/range`, { method: 'POST', body: '{"key":"AA=="}' });
    const { header } = (await range.json()) as { header: { revision: string } };
    const body = JSON.stringify({ revision: header.revision, physical: true });
    await fetch(`${etcd.url}/v3/kv/compaction`, { method: 'POST', body });
    await using other = await register(7002, 'green');
    assert.deepEqual(namesIn(await green), [
      ['green', true],
      ['red', true],
    ]);
    assert.deepEqual([red.problem, other.problem, watching.problems], [undefined, undefined, []]);
  });

  it('are told apart from what is no server, which is passed over', async () => {
    const root = `/verbena/kv/${cluster}`;
    await using red = await register(7001, 'red');
    await etcd.put(`${root}/servers/text`, 'hello');
    await etcd.put(`${root}/servers/port`, '{"host":"a","port":"7001"}');
    await etcd.put(`${root}/servers/a b`, '{"host":"a","port":7001}');
    await etcd.put(`${root}/servers/`, '{"host":"a","port":7001}');
    await etcd.put(`${root}/elsewhere`, '[]');
    await etcd.put(`${root}/homes/none`, '\u0000\u00ff');
    await etcd.put(`${root}/servers/huge`, 'x'.repeat(100_000));
    using watching = new Watching(etcd.url, cluster);
    assert.deepEqual(namesIn(await watching.next()), [['red', true]]);
    await watching.told(7);
    assert.equal(watching.problems.length, 7);
    // What somebody has put at a server's own name, it replaces.
    await etcd.put(`${root}/servers/green`, 'garbage');
    await using green = await register(7002, 'green');
    await watching.until((members) => members.length === 2);
    assert.deepEqual([red.name, green.name], ['red', 'green']);
  });

  const WRONG: readonly (readonly [string, object, RegExp])[] = [
    ['no endpoint', { endpoints: [] }, /endpoints are none/],
    ['an endpoint that is none', { endpoints: 'ftp://127.0.0.1' }, /an endpoint is/],
    ['an endpoint with a password', { endpoints: 'http://root:secret@127.0.0.1:2379' }, /an endpoint has/],
    ['a cluster that is none', { endpoints: 'a:1', cluster: 'a/b' }, /cluster is/],
    ['a field that there is not', { endpoints: 'a:1', url: 'a' }, /url/],
  ];
  for (const [what, options, message] of WRONG)
    it(`are refused with ${what}`, async () => {
      // @ts-expect-error: what programs without types may do
      assert.throws(() => etcdMembership(options), { errno: 'EINVAL', message });
      // @ts-expect-error: the same
      await assert.rejects(registerInEtcd(serverAt(1), options), { errno: 'EINVAL', message });
    });

  it('are refused with a name, a time or a wish that is none', async () => {
    for (const wrong of [{ name: '' }, { ttlMs: 10 }, { keys: 'both' }])
      // @ts-expect-error: what programs without types may do
      await assert.rejects(registerInEtcd(serverAt(1), { endpoints: etcd.url, ...wrong }), { errno: 'EINVAL' });
  });
});

describe('an etcd that is not there', { skip: WITHOUT_ETCD }, () => {
  it('is told to who asks first', async () => {
    using nobody = new Watching('127.0.0.1:1', 'test');
    await assert.rejects(nobody.next(), {
      errno: 'ECONNREFUSED',
      message: /no etcd answers at http:\/\/127\.0\.0\.1:1/,
    });
    const endpoints = 'http://127.0.0.1:1';
    await assert.rejects(registerInEtcd(serverAt(1), { endpoints }), { errno: 'ECONNREFUSED' });
  });

  it('is told apart from what is none', async () => {
    const server = createServer((_, response) => response.end('<html>')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    using watching = new Watching(`http://127.0.0.1:${port}`, 'test');
    await assert.rejects(watching.next(), { errno: 'EPROTO', message: /is not etcd/ });
    server.close();
    server.closeAllConnections();
  });

  it('is passed over when another of its members answers', async () => {
    await using etcd = await Etcd.start();
    using watching = new Watching(['http://127.0.0.1:1', etcd.url], 'test');
    assert.deepEqual(await watching.next(), []);
  });

  it('changes nothing while it is away, and all goes on when it is back', async () => {
    await using etcd = await Etcd.start();
    using watching = new Watching(etcd.url, 'test');
    const problems: string[] = [];
    const onProblem = (problem: Error): void => void problems.push(problem.message);
    await using red = await registerInEtcd(serverAt(7001), {
      endpoints: etcd.url,
      cluster: 'test',
      name: 'red',
      ttlMs: RENEWED_MS,
      onProblem,
    });
    await watching.until((members) => members.length === 1);
    const both = watching.until((members) => members.length === 2);
    await etcd.kill();
    while (red.problem === undefined) await new Promise((resolve) => setTimeout(resolve, 50));
    assert.match(problems[0], /no etcd answers/);
    // With nothing of what it knew.
    etcd.forget();
    await etcd.begin();
    await using green = await registerInEtcd(serverAt(7002), { endpoints: etcd.url, cluster: 'test', name: 'green' });
    assert.deepEqual(namesIn(await both), [
      ['green', true],
      ['red', true],
    ]);
    assert.deepEqual([red.problem, green.problem], [undefined, undefined]);
    await watching.told(1);
    assert.match(watching.problems[0], /no etcd answers/);
  });
});
