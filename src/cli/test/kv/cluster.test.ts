import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { connectCluster, etcdMembership, type KvCluster, type KvClusterMember, KvError } from '../../../entry/kv.js';
import { Etcd, WITHOUT_ETCD } from '../../../../test/support/etcd.js';
import { loopback } from '../../../../test/support/loopback.js';
import { type Ended, IMPATIENT, run, Tool } from '../tool.js';
import { PATIENT } from './serving.js';

const NAMES = ['red', 'green', 'blue'];
const KEYS = Array.from({ length: 60 }, (_, n) => `key ${n}`);
/** A server that gets no processor for a minute keeps its lease. Tests end the lease of a server that they kill. */
const LEASE = '10m';
/** Far more than any machine needs. That clients go on within a second shows in virtual time. */
const PATIENCE = { timeoutMs: 600_000 };

class Servers implements AsyncDisposable {
  readonly #tools = new Map<string, Tool>();

  constructor(
    private readonly etcd: Etcd,
    private readonly cluster: string,
    private readonly options: readonly string[] = [],
  ) {}

  async begin(...names: readonly string[]): Promise<this> {
    for (const name of names) {
      const address = ['--addr', loopback(1 + NAMES.indexOf(name)), '--json'];
      const known = ['--etcd', this.etcd.url, '--cluster', this.cluster, '--name', name, '--lease', LEASE];
      this.#tools.set(name, new Tool(['kv', 'serve', ...address, ...known, ...this.options], IMPATIENT));
    }
    for (const name of names) await this.#tools.get(name)?.printed('"listening"');
    return this;
  }

  async end(name: string, signal: NodeJS.Signals): Promise<Ended | undefined> {
    const tool = this.#tools.get(name);
    tool?.child.kill(signal);
    return tool?.ended;
  }

  /** What etcd does when a lease has run out. */
  endLease(name: string): Promise<void> {
    return this.etcd.endLeaseOf(`/verbena/kv/${this.cluster}/servers/${name}`);
  }

  client(): Promise<KvCluster> {
    const members = etcdMembership({ endpoints: this.etcd.url, cluster: this.cluster });
    return connectCluster({ members, localAddress: loopback(9), open: { host: 'inline' }, ...PATIENCE });
  }

  kv(...args: readonly string[]): Promise<Ended> {
    const where = ['--etcd', this.etcd.url, '--cluster', this.cluster, '--addr', loopback(10)];
    return run(['kv', ...args, ...where, ...PATIENT]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of this.#tools.keys()) await this.end(name, 'SIGKILL');
  }
}

/** Waits until that holds of a client. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
}

/**
 * Waits until a client is connected to all servers. It tries that for 2 s at a time: on a machine so busy that this is too little for one of
 * them, the call that waits for it fails without having been sent, and the next one tries anew.
 */
async function reaches(cluster: KvCluster): Promise<void> {
  await until(() => {
    const away = cluster.members.filter(({ isConnected }) => !isConnected);
    for (const { name } of away) cluster.serverStatisticsOf(name).catch(() => undefined);
    return away.length === 0;
  });
}

const memberOf = (cluster: KvCluster, name: string): KvClusterMember | undefined =>
  cluster.members.find((member) => member.name === name);

/** Whether it is there, as another life of the server than that. */
function hasReturned(member: KvClusterMember | undefined, epoch: number | undefined): boolean {
  return member?.isUp === true && member.epoch !== undefined && member.epoch !== epoch;
}

describe('three servers that etcd knows', { skip: WITHOUT_ETCD }, () => {
  let etcd: Etcd;
  before(async () => {
    etcd = await Etcd.start();
  });
  after(() => etcd[Symbol.asyncDispose]());

  for (const keys of ['move', 'stay'] as const)
    it(`go on with their keys when one of them is killed, whose keys ${keys}, and it returns as a new epoch`, async () => {
      await using servers = await new Servers(etcd, `killed-${keys}`, ['--keys', keys]).begin(...NAMES);
      await using cluster = await servers.client();
      await until(() => cluster.members.length === 3);
      await reaches(cluster);
      await cluster.setMany(
        KEYS.map((key) => ({ key, value: `value of ${key}` })),
        PATIENCE,
      );
      const [lost, others] = [[], []] as [string[], string[]];
      for (const key of KEYS) (cluster.homeOf(key).name === 'green' ? lost : others).push(key);
      assert.ok(lost.length > 5 && others.length > 5);
      const epoch = memberOf(cluster, 'green')?.epoch;

      await servers.end('green', 'SIGKILL');
      const underWay = cluster.incr('under way', 1, PATIENCE).catch((error: unknown) => error);
      const values = await cluster.getMany(others, PATIENCE);
      assert.deepEqual(
        values.map((value) => Buffer.from(value ?? '').toString()),
        others.map((key) => `value of ${key}`),
      );
      for (const key of others) await cluster.set(key, 'again', PATIENCE);
      await underWay;

      await servers.endLease('green');
      if (keys === 'move') {
        await until(() => cluster.members.length === 2);
        assert.deepEqual(
          await cluster.getMany(lost, PATIENCE),
          lost.map(() => undefined),
        );
        await cluster.set(lost[0], 'at another', PATIENCE);
      } else {
        await until(() => !cluster.homeOf(lost[0]).isUp);
        const failure: unknown = await cluster.get(lost[0], PATIENCE).catch((error: unknown) => error);
        assert.ok(failure instanceof KvError, String(failure));
        assert.deepEqual([failure.errno, failure.outcome], ['ECONNRESET', 'not sent']);
      }

      await servers.begin('green');
      await until(() => hasReturned(memberOf(cluster, 'green'), epoch));
      await reaches(cluster);
      assert.equal(cluster.homeOf(lost[0]).name, 'green');
      assert.equal(await cluster.get(lost[0], PATIENCE), undefined);
      await cluster.set(lost[0], 'new', PATIENCE);
      assert.equal((await cluster.serverStatisticsOf('green')).get('store.keys'), 1n);
    });

  it('are called by the tools, which find all keys', async () => {
    await using servers = await new Servers(etcd, 'tools').begin(...NAMES);
    for (const key of ['a', 'b', 'c', 'd'])
      assert.deepEqual(await servers.kv('set', key, `value of ${key}`), {
        code: 0,
        signal: null,
        stdout: '',
        stderr: '',
      });
    assert.equal((await servers.kv('get', 'b')).stdout, 'value of b');
    assert.equal((await servers.kv('incr', 'n')).stdout, '1\n');
    const { stdout } = await servers.kv('scan');
    assert.deepEqual(stdout.trim().split('\n').sort(), ['a', 'b', 'c', 'd', 'n']);
    assert.match((await servers.kv('explain', 'a')).stdout, /^a \((red|green|blue)\): is there/);
    assert.equal((JSON.parse((await servers.kv('stats', '--json')).stdout) as Record<string, number>)['store.keys'], 5);
    assert.equal((await servers.kv('del', 'a', 'b', 'c', 'd')).code, 0);
    // The same by a list: other names, so keys are elsewhere, but all calls go.
    const places = NAMES.map((_, n) => loopback(1 + n)).join(',');
    const bench = ['kv', 'bench', '--window', '4', '--keys', '100', '--seconds', '1', '--warm-up', '0', '--json'];
    const ended = await run([...bench, '--server', places, '--addr', loopback(10), ...PATIENT]);
    assert.equal(ended.code, 0, ended.stderr);
    const { servers: asked, results } = JSON.parse(ended.stdout) as { servers: unknown[]; results: object[] };
    assert.deepEqual([asked.length, results.length], [3, 1]);
  });

  it('leave at Ctrl-C, and their keys move at once', async () => {
    await using servers = await new Servers(etcd, 'leaving').begin(...NAMES);
    await using cluster = await servers.client();
    await until(() => cluster.members.length === 3);
    await reaches(cluster);
    const ended = await servers.end('red', 'SIGINT');
    assert.equal(ended?.stderr, '');
    await until(() => cluster.members.length === 2);
    await cluster.setMany(
      KEYS.map((key) => ({ key, value: '' })),
      PATIENCE,
    );
  });

  it('say what is wrong with a name that is taken, and where nobody is', async () => {
    // Another server waits until the owner of the name has renewed its lease twice.
    const lease = ['--lease', '15s'];
    await using servers = await new Servers(etcd, 'taken', lease).begin('red');
    assert.equal((await servers.kv('set', 'a', '1')).code, 0);
    const known = ['--etcd', etcd.url, '--cluster', 'taken', '--name', 'red', ...lease];
    const other = await run(['kv', 'serve', '--addr', loopback(5), ...known]);
    assert.equal(other.code, 2);
    assert.match(other.stderr, /another server has the name red, at 127\.[\d.]+, port 7175 \(EBUSY\)/);
    const unknown = await run(['kv', 'serve', '--addr', loopback(5), '--name', 'red']);
    assert.equal(unknown.code, 2);
    assert.match(unknown.stderr, /--name is of servers that etcd knows; give --etcd as well/);
    const nobody = await run(['kv', 'get', 'a', '--etcd', etcd.url, '--cluster', 'nobody']);
    assert.equal(nobody.code, 2);
    assert.match(nobody.stderr, /^no store at the servers that etcd at .* has; `verbena kv serve --etcd`/);
    const nowhere = await run(['kv', 'get', 'a', '--etcd', 'http://127.0.0.1:1']);
    assert.equal(nowhere.code, 2);
    assert.match(nowhere.stderr, /no etcd answers at http:\/\/127\.0\.0\.1:1/);
    const both = await run(['kv', 'get', 'a', '--etcd', etcd.url, '--server', '127.0.0.1']);
    assert.equal(both.code, 2);
    assert.match(both.stderr, /cannot be used with/);
  });
});
