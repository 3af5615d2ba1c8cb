import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  openDevice,
  PortState,
  type PublishedStatistics,
  QpState,
  QpType,
  readStatistics,
  WrOpcode,
} from '../../../entry/index.js';
import { drain, Pair } from '../../../providers/soft/test/support/pair.js';
import { asEndInfo, Program } from '../../hosting/test/programs.js';
import { NET } from '../../../../test/support/loopback.js';

const PATIENCE_MS = 60_000;

const inherited = process.env['XDG_RUNTIME_DIR'];
let runtime = '';
const noPidNamespaces =
  spawnSync('unshare', ['--user', '--map-root-user', '--pid', '--mount-proc', '--fork', 'true']).status !== 0 &&
  'no PID namespaces can be made here (unshare, util-linux)';
const directory = (): string => join(runtime, 'verbena');
const found = (address: string): PublishedStatistics | undefined =>
  readStatistics().find((published) => published.address === address);

/** Waits, with the event loop running, until the file says so. */
async function eventually(condition: () => boolean): Promise<void> {
  const begun = performance.now();
  while (!condition()) {
    if (performance.now() - begun > PATIENCE_MS) assert.fail('it did not come about');
    await sleep(10);
  }
}

describe('published statistics', () => {
  before(() => {
    runtime = mkdtempSync(join(tmpdir(), 'verbena-test-'));
    process.env['XDG_RUNTIME_DIR'] = runtime;
  });
  afterEach(() => rmSync(directory(), { recursive: true, force: true }));
  after(() => {
    rmSync(runtime, { recursive: true });
    if (inherited === undefined) delete process.env['XDG_RUNTIME_DIR'];
    else process.env['XDG_RUNTIME_DIR'] = inherited;
  });

  for (const host of ['inline', 'thread'] as const) {
    test(`are there from the opening of a NIC to its end, hosted ${host}`, () => {
      using context = openDevice({ host, address: `${NET}.1` });
      const published = found(`${NET}.1`);
      assert.deepEqual(
        [published?.pid, published?.device, published?.portState],
        [process.pid, 'verbena0', PortState.ACTIVE],
      );
      assert.equal(published?.counters['sent_pkts'], 0);
      context.close();
      assert.equal(found(`${NET}.1`), undefined);
      assert.deepEqual(readdirSync(directory()), []);
    });

    test(`follow the counters, and are right once traffic ends, hosted ${host}`, async () => {
      using pair = new Pair(host, NET);
      const { a, b } = pair;
      b.qp.postRecv([{}, {}, {}]);
      a.qp.postSend([{ opcode: WrOpcode.SEND }, { opcode: WrOpcode.SEND }, { opcode: WrOpcode.SEND }]);
      drain(b.cq, 3);
      await eventually(() => {
        const counters = found(`${NET}.2`)?.counters;
        return counters?.['rdma_recvs'] === 3 && isDeepStrictEqual(counters, b.context.counters());
      });
    });
  }

  test('show each queue pair, in the state that it is in', async () => {
    using pair = new Pair('inline', NET);
    const { a, b } = pair;
    a.qp.postSend({ opcode: WrOpcode.SEND });
    b.qp.postRecv({});
    drain(b.cq, 1);
    // It was in RTS before it sent anything, and may have been published then.
    await eventually(() => isDeepStrictEqual(found(`${NET}.1`)?.qps[0]?.counters, a.qp.counters()));
    const { qpCount, qps } = found(`${NET}.1`) ?? {};
    const { qpNum } = a.qp;
    const { attr } = a.qp.query();
    assert.equal(qpCount, 1);
    assert.deepEqual(qps, [
      {
        qpn: qpNum,
        destQpn: b.qp.qpNum,
        type: QpType.RC,
        state: QpState.RTS,
        rqPsn: attr.rqPsn,
        sqPsn: attr.sqPsn,
        pathMigState: attr.pathMigState,
        pd: qps?.[0].pd,
        ctx: 1,
        counters: a.qp.counters(),
      },
    ]);
    a.qp.modify({ qpState: QpState.ERR });
    await eventually(() => found(`${NET}.1`)?.qps[0]?.state === QpState.ERR);
  });

  test('count all queue pairs and show the first hundred', async () => {
    using context = openDevice({ host: 'inline', address: `${NET}.1` });
    const pd = context.allocPd();
    const cq = context.createCq({ cqe: 1 });
    const cap = { maxSendWr: 1, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1, maxInlineData: 0 };
    for (let i = 0; i < 101; i += 1) pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap });
    await eventually(() => found(context.address)?.qpCount === 101);
    assert.equal(found(context.address)?.qps.length, 100);
  });

  test('of a NIC in a thread go on while the program computes', () => {
    using pair = new Pair('thread', NET);
    const { a, b } = pair;
    b.qp.postRecv({});
    a.qp.postSend({ opcode: WrOpcode.SEND });
    const begun = performance.now();
    while (found(`${NET}.2`)?.counters['rdma_recvs'] !== 1 && performance.now() - begun < PATIENCE_MS);
    assert.equal(found(`${NET}.2`)?.counters['rdma_recvs'], 1);
  });

  test('are seen of other processes, and go with them however they end', async () => {
    for (const host of ['inline', 'thread']) {
      await using program = new Program('echo', [host, `${NET}.7`], { XDG_RUNTIME_DIR: runtime });
      asEndInfo(await program.message());
      const pid = found(`${NET}.7`)?.pid ?? 0;
      assert.notEqual(pid, process.pid);
      process.kill(pid, 'SIGKILL');
      await program.ended();
      assert.equal(readdirSync(directory()).filter((name) => !name.startsWith('.')).length, 1);
      assert.equal(found(`${NET}.7`), undefined);
      assert.deepEqual(readdirSync(directory()), []);
    }
  });

  test('of containers that share the directory do not take each other’s place', { skip: noPidNamespaces }, async () => {
    // Both are process 1 of their container.
    const wrapper = ['unshare', '--user', '--map-root-user', '--pid', '--mount-proc', '--fork', '--kill-child'];
    const open = `
      import { openDevice } from ${JSON.stringify(new URL('../../../entry/index.js', import.meta.url).href)};
      openDevice({ host: 'inline', address: process.argv[1] });
      console.log(process.pid);
      setInterval(() => {}, 1000);`;
    const containers = [11, 12].map((n) => {
      const command = [...wrapper, process.execPath, '--input-type=module', '-e', open, `${NET}.${n}`];
      return spawn(command[0], command.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] });
    });
    try {
      const pids = await Promise.all(containers.map(async ({ stdout }) => String((await once(stdout, 'data'))[0])));
      assert.deepEqual(pids, ['1\n', '1\n']);
      assert.equal(readdirSync(directory()).filter((name) => !name.startsWith('.')).length, 2);
    } finally {
      for (const container of containers) container.kill('SIGKILL');
      await Promise.all(containers.map((container) => once(container, 'close')));
    }
  });

  test('are nobody else’s to read', () => {
    using context = openDevice({ host: 'inline', address: `${NET}.1` });
    assert.ok(found(context.address));
    const [name] = readdirSync(directory());
    assert.deepEqual(
      [statSync(directory()).mode & 0o777, statSync(join(directory(), name)).mode & 0o777],
      [0o700, 0o600],
    );
  });

  test('are not published where others could write, and reading says so', () => {
    mkdirSync(directory());
    chmodSync(directory(), 0o777);
    using context = openDevice({ host: 'inline', address: `${NET}.1` });
    assert.ok(context.queryPort());
    assert.deepEqual(readdirSync(directory()), []);
    assert.throws(() => readStatistics(), { errno: 'EACCES' });
  });

  test('pass over what is none', () => {
    using context = openDevice({ host: 'inline', address: `${NET}.1` });
    for (const [name, text] of [
      ['broken.json', '{'],
      ['other.json', '{"pid":1}'],
      ['list.json', '[]'],
      ['long.json', ' '.repeat(100_000)],
      ['notes.txt', 'hello'],
    ])
      writeFileSync(join(directory(), name), text);
    assert.deepEqual(
      readStatistics().map(({ address }) => address),
      [context.address],
    );
    assert.ok(existsSync(join(directory(), 'notes.txt')));
  });

  test('can be switched off', () => {
    process.env['VERBENA_STATS'] = 'off';
    try {
      for (const host of ['inline', 'thread'] as const) {
        using context = openDevice({ host, address: `${NET}.1` });
        assert.equal(found(context.address), undefined);
      }
    } finally {
      delete process.env['VERBENA_STATS'];
    }
  });
});
