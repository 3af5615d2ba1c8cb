import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  alloc,
  type Context,
  EventType,
  openDevice,
  QpState,
  SendFlags,
  WcStatus,
  WrOpcode,
} from '../../../entry/index.js';
import { Neighbour } from '../../links/local/local-neighbour.js';
import { nativeHostProblem } from '../../system/index.js';
import { connect, drainOne, makeSide, Pair, type Side } from '../../../providers/soft/test/support/pair.js';
import { NET } from '../../../../test/support/loopback.js';
import { cannotHold, hold, interrupt, interruptHeld } from './interrupt.js';

/** A program that is interrupted while its call moves a NIC of this thread: nobody knows what is half done there. */

/** More than is copied byte by byte. */
const BYTES = 4096;
/** Hardly any program computes so long between two calls that none of so many interruptions meets one. */
const INTERRUPTIONS = 1000;

/** Interrupts a call when it calls a method of those objects. */
function interruptIn(prototype: object, method: string, call: () => void): void {
  const descriptor = Object.getOwnPropertyDescriptor(prototype, method);
  assert.ok(descriptor !== undefined);
  Object.defineProperty(prototype, method, { ...descriptor, value: hold });
  try {
    interruptHeld(call);
  } finally {
    Object.defineProperty(prototype, method, descriptor);
  }
}

const TYPED_ARRAY = Reflect.getPrototypeOf(Uint8Array.prototype) ?? assert.fail();

/** Posts a WRITE; the NIC does not come back from the copying of its data. */
function interruptCopy({ qp, mr }: Side, target: Side): void {
  const rdma = { remoteAddr: target.mr.addr, rkey: target.mr.rkey };
  interruptIn(TYPED_ARRAY, 'set', () => qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sgList: [mr.sge(0, BYTES)], rdma }));
}

function registering({ a: { pd } }: Pair): void {
  for (;;) pd.regMr(alloc(64)).dereg();
}

function writing({ a: { qp, cq, mr }, b }: Pair): void {
  const rdma = { remoteAddr: b.mr.addr, rkey: b.mr.rkey };
  // What was posted when it was interrupted before has a slot of the queue until its completion is taken.
  while (cq.poll(16).length > 0);
  for (;;) {
    qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SendFlags.SIGNALED, sgList: [mr.sge(0, BYTES)], rdma });
    while (cq.poll().length === 0);
  }
}

/** Whether a device takes no commands. */
function isRefused({ context }: Side): boolean {
  try {
    context.queryPort();
    return false;
  } catch {
    return true;
  }
}

function assertBroken({ context, pd, cq }: Side): void {
  const refusal = {
    errno: 'EIO',
    message: /interrupted in the midst of its work.*one whose host is 'thread' cannot be/,
  };
  // What had completed before can still be taken.
  const drain = (): void => {
    while (cq.poll().length > 0);
  };
  for (const call of [() => context.queryPort(), () => pd.regMr(alloc(64)), drain]) assert.throws(call, refusal);
  assert.equal(context.getAsyncEvent(0).eventType, EventType.DEVICE_FATAL);
}

/** That a device still does its work, toward itself. */
function assertWorks(context: Context): void {
  const { qp, cq, mr } = makeSide(context);
  connect(qp, { qpNum: qp.qpNum, dgid: context.queryGid(1, 0) });
  const rdma = { remoteAddr: mr.addr, rkey: mr.rkey };
  qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SendFlags.SIGNALED, sgList: [mr.sge(BYTES, BYTES)], rdma });
  assert.equal(drainOne(cq).status, WcStatus.SUCCESS);
}

describe(
  'a NIC of the own thread that is interrupted in the midst of its work',
  { skip: nativeHostProblem() ?? cannotHold },
  () => {
    it('says so to all who use it, and does no more', () => {
      using pair = new Pair('inline', NET);
      interruptCopy(pair.a, pair.b);
      assertBroken(pair.a);
    });

    it('says so as well when that was a command', () => {
      using pair = new Pair('inline', NET);
      interruptIn(Map.prototype, 'set', () => pair.a.pd.regMr(alloc(64)));
      assertBroken(pair.a);
    });

    it('says so as well when it was making the acquaintance of another NIC', () => {
      using pair = new Pair('inline', NET);
      const { qp, cq, mr } = pair.a;
      const rdma = { remoteAddr: pair.b.mr.addr, rkey: pair.b.mr.rkey };
      interruptIn(Neighbour.prototype, 'is', () => {
        qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sgList: [mr.sge(0, BYTES)], rdma });
        drainOne(cq);
      });
      assertWorks(pair.a.context);
      assertBroken(pair.b);
    });

    it('gives what had completed before, and only then says so', () => {
      using pair = new Pair('inline', NET);
      const { qp, cq } = makeSide(pair.a.context);
      qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
      qp.modify({ qpState: QpState.ERR });
      qp.postSend({ opcode: WrOpcode.SEND, sgList: [] });
      interruptCopy(pair.a, pair.b);
      assert.equal(drainOne(cq).status, WcStatus.WR_FLUSH_ERR);
      assert.throws(() => cq.poll(), { errno: 'EIO' });
    });

    it('leaves the other NICs of the thread alone', () => {
      using pair = new Pair('inline', NET);
      interruptCopy(pair.a, pair.b);
      assertWorks(pair.b.context);
    });

    it('can be closed, and its address be had again', () => {
      using pair = new Pair('inline', NET);
      const { context, mr, pd } = pair.a;
      interruptCopy(pair.a, pair.b);
      mr.dereg();
      assert.throws(() => pd.dealloc(), { errno: 'EBUSY' });
      context.close();
      using again = openDevice({ host: 'inline', address: context.address });
      assertWorks(again);
    });

    it('either works or says so, wherever it is interrupted', () => {
      for (const endless of [registering, writing]) {
        using pair = new Pair('inline', NET);
        for (let isBroken = false, times = 0; !isBroken; times += 1) {
          assert.ok(times < INTERRUPTIONS, 'never in the midst of its work');
          interrupt(() => endless(pair));
          // The call moves both NICs, and may have been in either.
          for (const side of [pair.a, pair.b])
            if (isRefused(side)) {
              isBroken = true;
              assertBroken(side);
            } else assertWorks(side.context);
        }
      }
    });
  },
);
