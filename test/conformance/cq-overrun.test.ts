import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CreateCqAttrFlags, EventType, QpState, SendFlags, WrOpcode } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { Belongings, CQ_KINDS, countUp, idsByQp, SidePair, type SideOptions } from './sides.js';
import {
  assertEmpty,
  assertErrno,
  assertSuccess,
  nextEvent,
  pattern,
  pollOne,
  pollUntil,
  remoteOf,
  useDevices,
  waitForState,
  waitUntil,
} from './support.js';

const CQE = 32;
/** Completions that find no room. */
const MORE = 10;
const PAIRS = 5;

const cap = { maxSendWr: 128, maxRecvWr: 128 };

/** A one-byte WRITE, whose byte arrives whatever becomes of its completion. */
function writeByte({ local, remote }: SidePair, wrId: number): void {
  local.qp.postSend({
    wrId,
    opcode: WrOpcode.RDMA_WRITE,
    sendFlags: SendFlags.SIGNALED,
    sgList: [local.mr.sge(wrId, 1)],
    rdma: remoteOf(remote.mr, wrId),
  });
}

/** A one-byte message, likewise. */
function sendByte({ local, remote }: SidePair, wrId: number): void {
  remote.qp.postRecv({ wrId, sgList: [remote.mr.sge(wrId, 1)] });
  local.qp.postSend({ opcode: WrOpcode.SEND, sgList: [local.mr.sge(wrId, 1)] });
}

/** So many of them over each pair, by turns. */
function fill(pairs: readonly SidePair[], one: typeof writeByte, count: number): void {
  for (const { local } of pairs) local.mr.bytes.set(pattern(count, 3));
  for (let wrId = 0; wrId < count; wrId += 1) for (const pair of pairs) one(pair, wrId);
}

const writeBytes = (pair: SidePair, count: number): void => fill([pair], writeByte, count);
const sendBytes = (pair: SidePair, count: number): void => fill([pair], sendByte, count);

function waitForBytes({ remote }: SidePair, count: number): void {
  const expected = pattern(count, 3);
  waitUntil(remote.context, 'all bytes are there', () => expected.every((byte, i) => byte === remote.mr.bytes[i]));
}

/** Has all of what was sent before acknowledged: nothing of it is on its way any more. */
function waitForQuiet({ local, remote }: SidePair): void {
  remote.qp.modify({ qpAccessFlags: 0 });
  // Refused by the peer, and the last that comes of this QP.
  local.qp.postSend({ opcode: WrOpcode.RDMA_READ, sgList: [local.mr.sge(0, 1)], rdma: remoteOf(remote.mr) });
  waitForState(local.qp, QpState.ERR);
}

for (const [title, fields] of CQ_KINDS) {
  conformance(`${title} that ignore overruns`, (provider) => {
    const devices = useDevices(provider);
    const ignoring = { ...fields, cqe: CQE, flags: CreateCqAttrFlags.IGNORE_OVERRUN };
    const plain: SideOptions = { cap };

    test('lose the completions of requests that were carried out all the same', () => {
      using pair = new SidePair(devices, { ...plain, sendCq: ignoring }, plain);
      const { local } = pair;
      const { cqe } = local.sendCq;
      writeBytes(pair, cqe + MORE);
      waitForBytes(pair, cqe + MORE);
      waitForQuiet(pair);
      const completions = pollUntil(local.sendCq, cqe);
      for (const wc of completions) assertSuccess(local, wc);
      assert.deepEqual(idsByQp(completions), new Map([[local.qp.qpNum, countUp(cqe)]]));
      assertEmpty(local.sendCq);
    });

    test('lose the completions of messages that were received all the same', () => {
      using pair = new SidePair(devices, plain, { ...plain, recvCq: ignoring });
      const { local, remote } = pair;
      const { cqe } = remote.recvCq;
      sendBytes(pair, cqe + MORE);
      waitForBytes(pair, cqe + MORE);
      waitForQuiet(pair);
      const completions = pollUntil(remote.recvCq, cqe);
      for (const wc of completions) assertSuccess(remote, wc);
      assert.deepEqual(idsByQp(completions), new Map([[remote.qp.qpNum, countUp(cqe)]]));
      assertEmpty(remote.recvCq);
      assert.equal(local.sendCq.poll().length, 1);
    });

    test('tell of what comes once there is room again', () => {
      using pair = new SidePair(devices, plain, { ...plain, recvCq: ignoring });
      const { local, remote } = pair;
      const { cqe } = remote.recvCq;
      sendBytes(pair, cqe + MORE);
      waitForBytes(pair, cqe + MORE);
      pollUntil(remote.recvCq, cqe);
      remote.qp.postRecv({ wrId: 1000, sgList: [remote.mr.sge(0, 1)] });
      local.qp.postSend({ opcode: WrOpcode.SEND, sgList: [local.mr.sge(0, 1)] });
      const wc = pollOne(remote.recvCq);
      assertSuccess(remote, wc);
      assert.equal(wc.wrId, 1000n);
    });

    for (const [what, end, one] of [
      ['requests', 'local', writeByte],
      ['messages', 'remote', sendByte],
    ] as const) {
      test(`lose completions of ${what} of all queue pairs that share them, and keep the order of each`, () => {
        using belongings = new Belongings();
        const cq = belongings.keep(devices[end === 'local' ? 0 : 1].createCq(ignoring));
        const local = end === 'local' ? { ...plain, sendCq: cq } : plain;
        const remote = end === 'remote' ? { ...plain, recvCq: cq } : plain;
        const pairs = Array.from({ length: PAIRS }, () => belongings.keep(new SidePair(devices, local, remote)));
        fill(pairs, one, cq.cqe);
        for (const pair of pairs) waitForBytes(pair, cq.cqe);
        for (const pair of pairs) waitForQuiet(pair);
        const completions = pollUntil(cq, cq.cqe);
        for (const wc of completions) assertSuccess(cq, wc);
        const ids = idsByQp(completions);
        for (const ofQp of ids.values()) assert.deepEqual(ofQp, countUp(ofQp.length));
        assertEmpty(cq);
      });
    }
  });

  conformance(`${title} that are overrun`, (provider) => {
    const devices = useDevices(provider);

    test('raise CQ_ERR, and give what was in them before they fail', () => {
      using pair = new SidePair(devices, { cap, sendCq: { ...fields, cqe: CQE } }, { cap });
      const { local } = pair;
      const { cqe } = local.sendCq;
      writeBytes(pair, cqe + MORE);
      const event = nextEvent(local.context);
      assert.equal(event.eventType, EventType.CQ_ERR);
      assert.ok('cq' in event && event.cq === local.sendCq);
      waitForState(local.qp, QpState.ERR);
      const completions = pollUntil(local.sendCq, cqe);
      for (const wc of completions) assertSuccess(local, wc);
      assert.deepEqual(idsByQp(completions), new Map([[local.qp.qpNum, countUp(cqe)]]));
      assertErrno('EIO', () => local.sendCq.poll());
    });

    test('take the receiving queue pair with them', () => {
      using pair = new SidePair(devices, { cap }, { cap, recvCq: { ...fields, cqe: CQE } });
      const { remote } = pair;
      sendBytes(pair, remote.recvCq.cqe + 1);
      const event = nextEvent(remote.context);
      assert.equal(event.eventType, EventType.CQ_ERR);
      assert.ok('cq' in event && event.cq === remote.recvCq);
      waitForState(remote.qp, QpState.ERR);
      for (const wc of pollUntil(remote.recvCq, remote.recvCq.cqe)) assertSuccess(remote, wc);
      assertErrno('EIO', () => remote.recvCq.poll());
    });
  });
}
