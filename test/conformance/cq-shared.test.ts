import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Context, type Cq, SendFlags, WrOpcode } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { Belongings, countUp, idsByQp, SidePair } from './sides.js';
import { assertEmpty, assertSuccess, pollUntil, remoteOf, useDevices } from './support.js';

const CQE = 200;
const FREE = 10;
const PAIRS = 2;
/** Of each pair. */
const MESSAGES = (CQE - FREE) / PAIRS;
const CAP = { maxSendWr: MESSAGES, maxRecvWr: MESSAGES };

/** Pairs of which all local or all remote ends complete into one queue. */
class Sharing extends Belongings {
  readonly cq: Cq;
  readonly pairs: readonly SidePair[];

  constructor(devices: readonly Context[], end: 'local' | 'remote') {
    super();
    const cq = this.keep(devices[end === 'local' ? 0 : 1].createCq({ cqe: CQE }));
    const local = end === 'local' ? { cap: CAP, sendCq: cq } : { cap: CAP };
    const remote = end === 'remote' ? { cap: CAP, recvCq: cq } : { cap: CAP };
    this.cq = cq;
    this.pairs = Array.from({ length: PAIRS }, () => this.keep(new SidePair(devices, local, remote)));
  }
}

function assertAllInOrder(cq: Cq, context: Context, numbers: readonly number[]): void {
  const completions = pollUntil(cq, MESSAGES * PAIRS);
  for (const wc of completions) assertSuccess({ context }, wc);
  assert.deepEqual(idsByQp(completions), new Map(numbers.map((qpNum) => [qpNum, countUp(MESSAGES)])));
  assertEmpty(cq);
}

conformance('a completion queue that two queue pairs share', (provider) => {
  const devices = useDevices(provider);

  test('tells of the WRITEs of each in their order', () => {
    using sharing = new Sharing(devices, 'local');
    const { cq, pairs } = sharing;
    for (let wrId = 0; wrId < MESSAGES; wrId += 1) {
      for (const { local, remote } of pairs)
        local.qp.postSend({
          wrId,
          opcode: WrOpcode.RDMA_WRITE,
          sendFlags: SendFlags.SIGNALED,
          sgList: [local.mr.sge(0, 1)],
          rdma: remoteOf(remote.mr, wrId),
        });
    }
    assertAllInOrder(
      cq,
      devices[0],
      pairs.map(({ local }) => local.qp.qpNum),
    );
  });

  test('tells of the messages to each in their order', () => {
    using sharing = new Sharing(devices, 'remote');
    const { cq, pairs } = sharing;
    for (const { remote } of pairs)
      remote.qp.postRecv(
        Array.from({ length: MESSAGES }, (_unused, wrId) => ({ wrId, sgList: [remote.mr.sge(wrId, 1)] })),
      );
    for (const { local } of pairs) local.mr.bytes.fill(0x61);
    for (let i = 0; i < MESSAGES; i += 1) {
      for (const { local } of pairs) local.qp.postSend({ opcode: WrOpcode.SEND, sgList: [local.mr.sge(0, 1)] });
    }
    assertAllInOrder(
      cq,
      devices[1],
      pairs.map(({ remote }) => remote.qp.qpNum),
    );
    for (const { remote } of pairs)
      assert.deepEqual(remote.mr.bytes.subarray(0, MESSAGES), new Uint8Array(MESSAGES).fill(0x61));
  });
});
