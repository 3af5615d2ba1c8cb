import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from '../../../../entry/sim.js';
import { connectCluster, KvError, KvManyError } from '../../index.js';
import { PORT, text } from '../support/served.js';
import { keysAt, Servers, Told } from './support.js';

const KEYS = Array.from({ length: 60 }, (_, n) => `key ${n}`);

describe('a client of several servers', () => {
  it('has each key at one of them, and finds it there', () =>
    simulate(async (sim) => {
      const servers = new Servers(sim);
      using cluster = await servers.client();
      using other = await servers.client();
      for (const key of KEYS) await cluster.set(key, `value of ${key}`);
      for (const key of KEYS) assert.equal(text(await other.get(key)), `value of ${key}`);
      const held = await Promise.all(['a', 'b', 'c'].map((name) => cluster.serverStatisticsOf(name)));
      const counts = held.map((numbers) => Number(numbers.get('store.keys')));
      assert.equal(
        counts.reduce((sum, count) => sum + count),
        KEYS.length,
      );
      assert.ok(
        counts.every((count) => count > 5),
        counts.join(', '),
      );
      assert.equal((await cluster.serverStatistics()).get('store.keys'), BigInt(KEYS.length));
    }));

  it('has the calls of a client of one', () =>
    simulate(async (sim) => {
      using cluster = await new Servers(sim).client();
      const first = await cluster.set('a', 'one');
      assert.equal(await cluster.has('a'), true);
      assert.equal(await cluster.add('a', 'two'), undefined);
      const second = await cluster.cas('a', 'two', first, { ttlMs: 5000 });
      assert.deepEqual(await cluster.entry('a'), { value: new TextEncoder().encode('two'), version: second });
      assert.equal(await cluster.touch('a', 0), true);
      assert.equal(await cluster.ttl('a'), Infinity);
      assert.equal((await cluster.explain('a')).is, 'present');
      assert.equal(await cluster.delete('a'), true);
      assert.equal((await cluster.explain('a')).is, 'deleted');
      assert.deepEqual([await cluster.incr('n'), await cluster.incr('n', -3)], [1n, -2n]);
    }));

  it('asks all servers at once for several keys, and gives what they say in the order of the keys', () =>
    simulate(async (sim) => {
      using cluster = await new Servers(sim).client();
      const versions = await cluster.setMany(KEYS.map((key) => ({ key, value: `value of ${key}` })));
      assert.equal(versions.length, KEYS.length);
      assert.equal(versions[7], (await cluster.entry(KEYS[7]))?.version);
      const values = await cluster.getMany([...KEYS, 'none']);
      assert.deepEqual(values.map(text), [...KEYS.map((key) => `value of ${key}`), undefined]);
      const were = await cluster.deleteMany(['none', ...KEYS]);
      assert.deepEqual(were, [false, ...KEYS.map(() => true)]);
      assert.deepEqual(await cluster.getMany([]), []);
    }));

  it('says which of several keys have failed', () =>
    simulate(async (sim) => {
      using cluster = await new Servers(sim).client();
      await cluster.setMany([
        { key: 'word 1', value: 'x' },
        { key: 'word 2', value: 'x' },
      ]);
      const tooLong = new Uint8Array(2 << 20);
      const entries = KEYS.map((key, n) => ({ key, value: n % 20 === 3 ? tooLong : 'short' }));
      await assert.rejects(cluster.setMany(entries), (error) => {
        assert.ok(error instanceof KvManyError);
        assert.deepEqual([...error.failures.keys()], [3, 23, 43]);
        assert.equal(error.outcome, 'refused');
        return true;
      });
      assert.equal(text(await cluster.get(KEYS[4])), 'short');
    }));

  it('lists all keys once, those with a prefix too, page by page', () =>
    simulate(async (sim) => {
      using cluster = await new Servers(sim).client();
      await cluster.setMany(KEYS.map((key) => ({ key, value: '' })));
      const listed: string[] = [];
      for await (const key of cluster.scan({ count: 3 })) listed.push(text(key) ?? '');
      assert.deepEqual(listed.sort(), [...KEYS].sort());
      const some: string[] = [];
      for await (const key of cluster.scan({ prefix: 'key 1' })) some.push(text(key) ?? '');
      assert.deepEqual(some.sort(), KEYS.filter((key) => key.startsWith('key 1')).sort());
    }));

  it('leaves out of a list what is left at a server where the key is not looked for', () =>
    simulate(async (sim) => {
      const servers = new Servers(sim);
      const all = servers.members;
      const told = new Told(all.slice(0, 2));
      using cluster = await servers.client({ members: told });
      await cluster.setMany(KEYS.map((key) => ({ key, value: '' })));
      told.say(all);
      await sim.sleep(100_000);
      const moved = KEYS.filter((key) => cluster.homeOf(key).name === 'c');
      assert.ok(moved.length > 5);
      const listed: string[] = [];
      for await (const key of cluster.scan()) listed.push(text(key) ?? '');
      assert.deepEqual(listed.sort(), KEYS.filter((key) => !moved.includes(key)).sort());
    }));

  it('is told what it does wrong, before anything is sent', () =>
    simulate(async (sim) => {
      using cluster = await new Servers(sim).client();
      await assert.rejects(cluster.get(''), { code: 'EINVAL' });
      await assert.rejects(cluster.getMany(['a', '']), { code: 'EINVAL' });
      await assert.rejects(cluster.set('k', 'v', { ttlMs: -1 }), { code: 'EINVAL' });
      await assert.rejects(cluster.setMany([{ key: 'k', value: 'v', ttlMs: -1 }]), { code: 'EINVAL' });
      await assert.rejects(cluster.scanPage(-1n), { code: 'EINVAL' });
      await assert.rejects(cluster.serverStatisticsOf('d'), { code: 'ENOENT' });
      // @ts-expect-error: what programs without types may do
      await assert.rejects(cluster.set('k', 5), { code: 'EINVAL' });
      // @ts-expect-error: the same
      await assert.rejects(cluster.get('k', { timeout: 5 }), { code: 'EINVAL' });
      // @ts-expect-error: the same
      await assert.rejects(cluster.getMany(['k'], { timeout: 5 }), { code: 'EINVAL' });
    }));

  it('rejects what is under way when it is closed, and all that comes after', () =>
    simulate(async (sim) => {
      const told = new Told();
      const servers = new Servers(sim);
      told.say(servers.members);
      const cluster = await servers.client({ members: told });
      const sent = cluster.incr('a');
      await sim.sleep(1);
      cluster.close();
      await assert.rejects(sent, { code: 'ECANCELED', outcome: 'unknown' });
      await assert.rejects(cluster.get('a'), { code: 'ECANCELED', outcome: 'not sent' });
      await cluster.closed;
      assert.ok(cluster.failure instanceof KvError);
      assert.ok(told.isOver);
      await sim.sleep(1_000_000);
      for (const server of servers.servers.values()) assert.equal(server.statistics.clients, 0);
    }));
});

describe('connecting to several servers', () => {
  it('succeeds when one of them is up', () =>
    simulate(async (sim) => {
      const servers = new Servers(sim);
      servers.host('a').crash();
      servers.servers.get('b')?.close();
      using cluster = await servers.client();
      const [key] = keysAt(cluster, 'c', 1);
      await cluster.set(key, 'value');
      assert.ok(sim.nowUs < 1e6, 'it waits for nobody who is down');
    }));

  it('tries servers that are silent until one of them answers', () =>
    simulate(async (sim) => {
      const servers = new Servers(sim);
      for (const name of ['a', 'b', 'c']) servers.host(name).pause();
      const connecting = servers.client({ timeoutMs: 60_000 });
      await sim.sleep(30_000_000);
      servers.host('b').resume();
      using cluster = await connecting;
      assert.ok(cluster.members.some(({ isConnected }) => isConnected));
    }));

  it('fails as connect does when none is', () =>
    simulate(async (sim) => {
      const servers = new Servers(sim);
      for (const server of servers.servers.values()) server.close();
      await assert.rejects(servers.client(), { code: 'ECONNREFUSED' });
    }));

  it('fails when time is up, or a signal comes, and leaves nothing', () =>
    simulate(async (sim) => {
      const servers = new Servers(sim);
      for (const name of ['a', 'b', 'c']) servers.host(name).crash();
      await assert.rejects(servers.client({ timeoutMs: 500 }), { code: 'ETIMEDOUT' });
      assert.ok(sim.nowUs < 1e6);
      const reason = new Error('enough');
      await assert.rejects(servers.client({ signal: AbortSignal.abort(reason) }), reason);
      const told = new Told([]);
      await assert.rejects(servers.client({ members: told, timeoutMs: 500 }), { code: 'ETIMEDOUT' });
      assert.ok(told.isOver);
    }));

  const WRONG: readonly (readonly [string, object, RegExp])[] = [
    ['no member', { members: [] }, /there is no member/],
    ['members that are none', { members: 5 }, /members is 5/],
    ['members that are null', { members: null }, /members is null/],
    ['a member that is none', { members: [null] }, /a member is null/],
    ['an epoch that is none', { members: [{ host: 'a', port: 1, epoch: 'x' }] }, /epoch is 'x'/],
    ['a member that is neither up nor away', { members: [{ host: 'a', port: 1, isUp: 'no' }] }, /isUp is 'no'/],
    ['a member without a host', { members: [{ port: 1 }] }, /host is missing/],
    ['a member without a port', { members: [{ host: 'a' }] }, /port is missing/],
    [
      'two members of one name',
      {
        members: [
          { host: 'a', port: 1 },
          { host: 'a', port: 1 },
        ],
      },
      /two members .* a:1/,
    ],
    ['a name that is none', { members: [{ host: 'a', port: 1, name: 'a/b' }] }, /name is/],
    ['a window that is none', { members: [{ host: 'a', port: 1 }], window: 0 }, /window is 0/],
    ['a field that there is not', { members: [{ host: 'a', port: 1 }], host: 'a' }, /host/],
  ];
  for (const [what, options, message] of WRONG)
    it(`is refused with ${what}`, async () => {
      // @ts-expect-error: what programs without types may do
      await assert.rejects(connectCluster(options), { errno: 'EINVAL', message });
    });
});

describe('a client whose servers come and go', () => {
  it('goes on with the keys of the others at once when one is lost', () =>
    simulate(async (sim) => {
      const servers = new Servers(sim);
      using cluster = await servers.client();
      await cluster.getMany(KEYS);
      const others = [...keysAt(cluster, 'a', 10), ...keysAt(cluster, 'c', 10)];
      servers.host('b').crash();
      const lost = cluster.get(keysAt(cluster, 'b', 1)[0]);
      lost.catch(() => undefined);
      const begunUs = sim.nowUs;
      for (const key of others) await cluster.set(key, 'value');
      assert.ok(sim.nowUs - begunUs < 10_000, 'none of them waits');
      await assert.rejects(lost, KvError);
    }));

  it('uses a server again that began anew, and makes calls again that were not carried out', () =>
    simulate(async (sim) => {
      const servers = new Servers(sim);
      using cluster = await servers.client();
      const [key] = keysAt(cluster, 'b', 1);
      await cluster.set(key, 'value');
      const { epoch } = servers.restart('b');
      assert.equal(await cluster.get(key), undefined);
      assert.equal(await cluster.incr(key), 1n);
      assert.equal(cluster.homeOf(key).epoch, epoch);
    }));

  it('says of a change that was under way that nobody knows what became of it', () =>
    simulate(async (sim) => {
      const servers = new Servers(sim);
      using cluster = await servers.client();
      const [key] = keysAt(cluster, 'b', 1);
      await cluster.incr(key);
      servers.restart('b');
      await assert.rejects(cluster.incr(key), { name: 'EpochError', outcome: 'unknown' });
      assert.equal(await cluster.incr(key), 1n);
    }));

  it('hears from its membership that a server began anew, and then fails no call', () =>
    simulate(async (sim) => {
      const servers = new Servers(sim);
      const told = new Told(servers.members);
      using cluster = await servers.client({ members: told });
      const [key] = keysAt(cluster, 'b', 1);
      await cluster.incr(key);
      servers.restart('b');
      told.say(servers.members);
      await sim.sleep(10_000);
      assert.equal(await cluster.incr(key), 1n);
    }));

  it('finds a server that has another address by now', () =>
    simulate(async (sim) => {
      const servers = new Servers(sim);
      const told = new Told(servers.members);
      using cluster = await servers.client({ members: told });
      const [key] = keysAt(cluster, 'b', 1);
      await cluster.incr(key);
      servers.host('b').crash();
      const { epoch } = servers.begin(sim.host('elsewhere'));
      const members = servers.members.filter(({ name }) => name === 'a' || name === 'c');
      told.say([...members, { name: 'b', host: 'elsewhere', port: PORT, epoch }]);
      await sim.sleep(1000);
      assert.equal(await cluster.incr(key), 1n);
    }));

  it('moves the keys of a server that has left to the others, and fails what was under way', () =>
    simulate(async (sim) => {
      const servers = new Servers(sim);
      const told = new Told(servers.members);
      using cluster = await servers.client({ members: told });
      const keys = keysAt(cluster, 'b', 20);
      await cluster.setMany(keys.map((key) => ({ key, value: 'value' })));
      servers.host('b').crash();
      const lost = cluster.incr(keys[0]);
      lost.catch(() => undefined);
      await sim.sleep(1000);
      told.say(servers.members.filter(({ name }) => name !== 'b'));
      await assert.rejects(lost, { code: 'ECONNRESET', outcome: 'unknown', message: /b has left/ });
      assert.deepEqual(new Set(keys.map((key) => cluster.homeOf(key).name)), new Set(['a', 'c']));
      assert.equal(await cluster.get(keys[0]), undefined);
      await cluster.set(keys[0], 'again');
      assert.ok(sim.nowUs < 1e6);
    }));

  it('leaves the keys of a server that is away where they are, and fails calls about them at once', () =>
    simulate(async (sim) => {
      const servers = new Servers(sim);
      const told = new Told(servers.members);
      using cluster = await servers.client({ members: told });
      const [key] = keysAt(cluster, 'b', 1);
      await cluster.set(key, 'value');
      servers.host('b').crash();
      told.say(servers.members.map((member) => ({ ...member, isUp: member.name !== 'b' })));
      await sim.sleep(1000);
      await assert.rejects(cluster.get(key), { code: 'ECONNRESET', outcome: 'not sent', message: /b is away/ });
      await assert.rejects(cluster.getMany(KEYS), { name: 'KvManyError', outcome: 'not sent' });
      await assert.rejects(cluster.serverStatistics(), { name: 'KvManyError' });
      assert.equal(cluster.homeOf(key).isUp, false);
      assert.ok(sim.nowUs < 1e6);
      servers.host('b').restart();
      servers.begin(servers.host('b'));
      told.say(servers.members);
      await sim.sleep(1000);
      assert.equal(await cluster.incr(key), 1n);
    }));

  it('goes on with what it knows when its membership says nothing sensible, or nothing any more', (t) =>
    simulate(async (sim) => {
      const warned: string[] = [];
      const onWarning = ({ message }: Error): void => void warned.push(message);
      process.on('warning', onWarning);
      t.after(() => process.off('warning', onWarning));
      const servers = new Servers(sim);
      const told = new Told(servers.members);
      using cluster = await servers.client({ members: told });
      const twice = [...servers.members, ...servers.members];
      told.say([]);
      told.say(twice);
      await sim.sleep(1000);
      assert.equal(cluster.members.length, 3);
      await cluster.setMany(KEYS.map((key) => ({ key, value: '' })));
    }));

  it('gives up a call that waits for a connection when it is told to', () =>
    simulate(async (sim) => {
      const servers = new Servers(sim);
      servers.host('b').crash();
      using cluster = await servers.client();
      const [key] = keysAt(cluster, 'b', 1);
      const controller = new AbortController();
      const waiting = cluster.get(key, { signal: controller.signal });
      const late = cluster.get(key, { timeoutMs: 5 });
      controller.abort(new Error('enough'));
      await assert.rejects(waiting, { message: 'enough' });
      await assert.rejects(late, { name: 'KvError', code: 'ETIMEDOUT', outcome: 'unknown' });
    }));
});
