import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Resource } from '../../../api/verbs/index.js';
import {
  alloc,
  MwType,
  PostError,
  type Qp,
  SendFlags,
  type SendWr,
  VerbsError,
  WcStatus,
  type WorkCompletion,
  WrOpcode,
} from '../../../entry/index.js';
import { drainOne, Pair } from '../../../providers/soft/test/support/pair.js';
import { NET } from '../../../../test/support/loopback.js';
import { interrupt } from './interrupt.js';

/** A program that is interrupted in the midst of its calls, as `vm` does with a timeout and a REPL with Ctrl-C. */

const INTERRUPTIONS = 150;
/** Number of the request by which a test finds out whether a queue pair still works; others count from 0. */
const PROBE = 1_000_000n;

/** What the stream of requests has come to, kept so that it is right wherever it is interrupted. */
interface Log {
  next: number;
  /** What each poll gave. */
  readonly polled: (readonly WorkCompletion[])[];
}

type Write = Extract<SendWr, { readonly opcode: typeof WrOpcode.RDMA_WRITE }>;
type Post = (qp: Qp, wr: Write) => void;

const POSTS: Readonly<Record<string, Post>> = {
  'as objects': (qp, wr) => qp.postSend(wr),
  'one by one': (qp, wr) => {
    qp.wrStart();
    qp.wrId = wr.wrId ?? 0;
    qp.wrFlags = SendFlags.SIGNALED;
    qp.wrRdmaWrite(wr.rdma.rkey, wr.rdma.remoteAddr);
    qp.wrComplete();
  },
};

/** Posts and polls without an end. */
function stream(qp: Qp, wr: Write, log: Log, post: Post): void {
  const { sendCq } = qp;
  for (;;) {
    try {
      post(qp, { ...wr, wrId: log.next });
    } catch (error) {
      if (!(error instanceof PostError || error instanceof VerbsError) || error.errno !== 'ENOMEM') throw error;
      log.next -= 1;
    }
    log.next += 1;
    // Nothing is called between a poll and the place where its completions are kept.
    log.polled[log.polled.length] = sendCq.poll(16);
  }
}

/** That each request completed, in its order. One may have been posted twice: by a call that did not come back. */
function assertInOrder({ polled }: Log): void {
  let last = -1n;
  for (const { wrId, status } of polled.flat()) {
    assert.equal(status, WcStatus.SUCCESS);
    if (wrId >= PROBE) continue;
    assert.ok(wrId === last || wrId === last + 1n, `${wrId} comes after ${last}`);
    last = wrId;
  }
}

/** Posts one request more, and waits for it. */
function probe(qp: Qp, wr: Write, wrId: bigint): readonly WorkCompletion[] {
  const seen: WorkCompletion[] = [];
  // Where the queue is full.
  for (let posted = false; !posted;) {
    try {
      qp.postSend({ ...wr, wrId });
      posted = true;
    } catch (error) {
      if (!(error instanceof PostError) || error.errno !== 'ENOMEM') throw error;
      seen.push(drainOne(qp.sendCq));
    }
  }
  while (seen.at(-1)?.wrId !== wrId) seen.push(drainOne(qp.sendCq));
  return seen;
}

const writeTo = ({ b }: Pair): Write => ({
  opcode: WrOpcode.RDMA_WRITE,
  sendFlags: SendFlags.SIGNALED,
  rdma: { remoteAddr: b.mr.addr, rkey: b.mr.rkey },
});

describe('posting and polling that is interrupted loses no request and no completion', () => {
  for (const [style, post] of Object.entries(POSTS))
    it(`where the NIC has a thread of its own: requests written ${style}`, () => {
      using pair = new Pair('thread', NET);
      const { qp } = pair.a;
      const wr = writeTo(pair);
      const log: Log = { next: 0, polled: [] };
      for (let i = 0; i < INTERRUPTIONS; i += 1) {
        interrupt(() => stream(qp, wr, log, post));
        // What was being built is given up by whoever was interrupted.
        qp.wrAbort();
        log.polled.push(probe(qp, wr, PROBE + BigInt(i)));
      }
      assertInOrder(log);
    });
});

describe('a control verb that is interrupted', () => {
  it('leaves its reply to nobody else', () => {
    using pair = new Pair('thread', NET);
    const { context, pd, qp } = pair.a;
    const memory = alloc(4096);
    for (let i = 0; i < INTERRUPTIONS; i += 1) {
      interrupt(() => {
        for (;;) {
          pd.regMr(memory).dereg();
          context.createCq({ cqe: 1 }).destroy();
          context.queryPort();
        }
      });
      assert.equal(qp.query().attr.destQpNum, pair.b.qp.qpNum);
      const mr = pd.regMr(memory);
      assert.throws(() => pd.dealloc(), { errno: 'EBUSY' });
      mr.dereg();
    }
  });

  it('can be repeated, where it ends an object', () => {
    using pair = new Pair('thread', NET);
    const { pd } = pair.a;
    const memory = alloc(4096);
    for (let i = 0; i < INTERRUPTIONS; i += 1) {
      const regions = Array.from({ length: 8 }, () => pd.regMr(memory));
      interrupt(() => {
        for (let next = 0; ; next += 1) if (next < regions.length) regions[next].dereg();
      });
      for (const region of regions) region[Symbol.dispose]();
    }
  });
});

/** Has the making of something stop as soon as a number of objects have begun to use others. */
function stopAfter(uses: number, make: () => unknown): void {
  const { prototype } = Set;
  const add = Object.getOwnPropertyDescriptor(prototype, 'add');
  assert.ok(add !== undefined);
  let left = uses;
  try {
    prototype.add = function (this: Set<unknown>, value: unknown) {
      Reflect.apply(add.value as typeof prototype.add, this, [value]); // as every Set has it
      if (value instanceof Resource && --left === 0) throw new Error('interrupted');
      return this;
    };
    assert.throws(make, /interrupted/);
  } finally {
    Object.defineProperty(prototype, 'add', add);
  }
}

describe('a device can be closed though it was interrupted in the making of', () => {
  const MAKERS: Readonly<Record<string, (pair: Pair) => unknown>> = {
    'a region': ({ a }) => a.pd.regMr(alloc(8)),
    'a window': ({ a }) => a.pd.allocMw(MwType.TYPE_2),
    'a completion channel': ({ a }) => a.context.createCompChannel(),
    'a completion queue': ({ a }) => a.context.createCq({ cqe: 1, channel: a.channel }),
    'a shared receive queue': ({ a }) => a.pd.createSrq({ maxWr: 1 }),
    'an XRC domain': ({ a }) => a.context.openXrcd(),
  };
  const USES: Readonly<Record<string, number>> = { 'a region': 2, 'a completion queue': 2 };
  for (const [name, make] of Object.entries(MAKERS))
    it(name, () => {
      for (let uses = 1; uses <= (USES[name] ?? 1); uses += 1) {
        using pair = new Pair('simulated', NET);
        stopAfter(uses, () => make(pair));
        pair.a.context.close();
      }
    });
});
