import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import {
  CmEventType,
  type Context,
  createEventChannel,
  createId,
  openDevice,
  PortSpace,
  PortState,
  SendFlags,
  type SharedDevice,
  WcStatus,
  WrOpcode,
} from '../../../../entry/index.js';
import { nativeHostProblem } from '../../../system/index.js';
import { next } from '../../../../api/rdmacm/test/support.js';
import { connect, drainOne, makeSide, pattern, type Side } from '../../../../providers/soft/test/support/pair.js';
import { loopback } from '../../../../../test/support/loopback.js';
import type { Order } from './programs/worker.js';

const PROGRAM = new URL('./programs/worker.js', import.meta.url);
const SIZE = 5000;
const PORT = 7471;
const PATIENCE_MS = 20_000;

class Member implements AsyncDisposable {
  readonly #worker: Worker;

  constructor(context: Context) {
    const shared = context.share();
    this.#worker = new Worker(PROGRAM, { workerData: shared, transferList: portsOf(shared) });
  }

  /** Has it do something. @returns what it says, or `refused` with an errno */
  async do(order: Order): Promise<unknown> {
    this.#worker.postMessage(order);
    const [answer] = (await once(this.#worker, 'message')) as [{ said?: unknown; refused?: string }]; // that is what it sends
    return answer.refused === undefined ? answer.said : `refused: ${answer.refused}`;
  }

  async join(peer: Side): Promise<void> {
    const { qpNum } = (await this.do({ what: 'open' })) as { qpNum: number }; // as above
    const [dgid, there] = [peer.context.queryGid(1, 0), peer.qp];
    await this.do({ what: 'connect', qpNum: there.qpNum, dgid });
    connect(there, { qpNum, dgid: gids.get(this) ?? dgid });
  }

  terminate(): Promise<number> {
    return this.#worker.terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.terminate();
  }
}

const gids = new WeakMap<Member, Uint8Array>();

function portsOf({ port }: SharedDevice): NonNullable<SharedDevice['port']>[] {
  return port === undefined ? [] : [port];
}

function member(context: Context): Member {
  const made = new Member(context);
  gids.set(made, context.queryGid(1, 0));
  return made;
}

/** Waits until something has happened in another thread. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('a NIC in a thread of its own', { skip: nativeHostProblem() ?? false }, () => {
  test('serves workers, each with a context of its own', async () => {
    using context = openDevice({ host: 'thread', address: loopback(1) });
    using elsewhere = openDevice({ host: 'thread', address: loopback(2) });
    await using one = member(context);
    await using two = member(context);
    for (const worker of [one, two]) {
      const there = makeSide(elsewhere);
      await worker.join(there);
      const status = await worker.do({ what: 'write', remoteAddr: there.mr.addr, rkey: there.mr.rkey, length: SIZE });
      assert.equal(status, WcStatus.SUCCESS);
      assert.deepEqual(there.mr.bytes.subarray(0, SIZE), pattern(SIZE));
    }
  });

  test('goes on when who has opened it has closed it, until the last worker has', async () => {
    const address = loopback(3);
    const context = openDevice({ host: 'thread', address });
    using elsewhere = openDevice({ host: 'thread', address: loopback(4) });
    await using worker = member(context);
    const there = makeSide(elsewhere);
    await worker.join(there);
    context.close();
    const order = { what: 'write', remoteAddr: there.mr.addr, rkey: there.mr.rkey, length: SIZE } as const;
    assert.equal(await worker.do(order), WcStatus.SUCCESS);
    await worker.do({ what: 'close' });
    openDevice({ host: 'thread', address }).close();
  });

  test('is had twice in one thread', () => {
    using context = openDevice({ host: 'thread', address: loopback(5) });
    const again = openDevice({ device: context.share() });
    const [a, b] = [makeSide(context), makeSide(again)];
    connect(a.qp, { qpNum: b.qp.qpNum, dgid: again.queryGid(1, 0) });
    connect(b.qp, { qpNum: a.qp.qpNum, dgid: context.queryGid(1, 0) });
    b.qp.postRecv({ wrId: 1, sgList: [b.mr.sge(0, 8)] });
    a.qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [a.mr.sge(0, 8)] });
    assert.equal(drainOne(a.cq).status, WcStatus.SUCCESS);
    again.close();
    assert.equal(context.queryPort().state, PortState.ACTIVE);
  });

  test('takes from workers memory that cannot go with them', async () => {
    using context = openDevice({ host: 'thread', address: loopback(6) });
    await using worker = member(context);
    await worker.do({ what: 'open' });
    assert.equal(await worker.do({ what: 'register' }), 'refused: EOPNOTSUPP');
  });

  test('ends the client of a worker that is terminated in the midst of posting, and others go on', async () => {
    const address = loopback(7);
    const context = openDevice({ host: 'thread', address });
    using elsewhere = openDevice({ host: 'thread', address: loopback(8) });
    const worker = member(context);
    const there = makeSide(elsewhere);
    await worker.join(there);
    assert.equal(await worker.do({ what: 'post for ever', remoteAddr: there.mr.addr, rkey: there.mr.rkey }), 'posting');
    await worker.terminate();
    const [own, peer] = [makeSide(context), makeSide(elsewhere)];
    connect(own.qp, { qpNum: peer.qp.qpNum, dgid: elsewhere.queryGid(1, 0) });
    connect(peer.qp, { qpNum: own.qp.qpNum, dgid: context.queryGid(1, 0) });
    own.qp.postSend({
      opcode: WrOpcode.RDMA_WRITE,
      sendFlags: SendFlags.SIGNALED,
      sgList: [own.mr.sge(0, 8)],
      rdma: { remoteAddr: peer.mr.addr, rkey: peer.mr.rkey },
    });
    assert.equal(drainOne(own.cq).status, WcStatus.SUCCESS);
    // With the dead one still there this would not be the last, and its address not free.
    context.close();
    await until(() => isFree(address));
  });

  test('tells the peers of a worker that is terminated, and frees its port', async () => {
    using context = openDevice({ host: 'thread', address: loopback(9) });
    using elsewhere = openDevice({ host: 'thread', address: loopback(10) });
    const worker = member(context);
    await worker.do({ what: 'open' });
    await worker.do({ what: 'listen', port: PORT });
    const there = createEventChannel({ contexts: [elsewhere] });
    const id = createId(there, PortSpace.TCP);
    id.resolveAddr({ host: loopback(9), port: PORT });
    next(there, CmEventType.ADDR_RESOLVED);
    id.resolveRoute();
    next(there, CmEventType.ROUTE_RESOLVED);
    id.createQp();
    id.connect();
    assert.equal(await worker.do({ what: 'accept' }), undefined);
    next(there, CmEventType.ESTABLISHED);
    const own = createEventChannel({ contexts: [context] });
    const successor = createId(own, PortSpace.TCP);
    assert.throws(() => successor.bindAddr({ port: PORT }), { errno: 'EADDRINUSE' });
    await worker.terminate();
    assert.equal(there.getCmEvent(PATIENCE_MS).event, CmEventType.DISCONNECTED);
    successor.bindAddr({ port: PORT });
    successor.listen();
  });
});

function isFree(address: string): boolean {
  try {
    openDevice({ host: 'thread', address }).close();
    return true;
  } catch {
    return false;
  }
}
