import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Context, QpType, SendFlags, WrOpcode } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { countUp, idsByQp, Side, SidePair, sideHandle } from './sides.js';
import { assertEmpty, assertErrno, assertSuccess, bringUp, pollUntil, QKEY, remoteOf, useDevices } from './support.js';

const WAITING = 6;

/** A side that has sent itself as many datagrams, of whose sending nobody has read the completions. */
function withCompletions(context: Context, cqe: number): Side {
  const side = new Side(context, { qpType: QpType.UD, sendCq: { cqe } });
  bringUp(side.qp);
  const ud = { ah: sideHandle(side, side), remoteQpn: side.qp.qpNum, remoteQkey: QKEY };
  for (let wrId = 0; wrId < WAITING; wrId += 1) {
    side.qp.postRecv({ sgList: [side.mr.sge(0, 100)] });
    side.qp.postSend({ wrId, opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [side.mr.sge(0, 16)], ud });
  }
  // What has arrived was sent before.
  for (const wc of pollUntil(side.recvCq, WAITING)) assertSuccess(side, wc);
  return side;
}

conformance('the size of a completion queue', (provider) => {
  const devices = useDevices(provider);

  test('becomes smaller and larger on demand', () => {
    using cq = devices[0].createCq({ cqe: 3 });
    for (const cqe of [1, 7, 300]) {
      cq.resize(cqe);
      assert.ok(cq.cqe >= cqe);
    }
  });

  test('can become what is waiting in it, and everything is there afterwards', () => {
    using side = withCompletions(devices[0], 7);
    for (const cqe of [WAITING, 100]) side.sendCq.resize(cqe);
    const completions = pollUntil(side.sendCq, WAITING);
    for (const wc of completions) assertSuccess(side, wc);
    assert.deepEqual(idsByQp(completions), new Map([[side.qp.qpNum, countUp(WAITING)]]));
    assertEmpty(side.sendCq);
  });

  test('cannot become less than what is waiting in it, all of which stays', () => {
    using side = withCompletions(devices[0], 7);
    assertErrno('EINVAL', () => side.sendCq.resize(1));
    const completions = pollUntil(side.sendCq, WAITING);
    for (const wc of completions) assertSuccess(side, wc);
    assert.deepEqual(idsByQp(completions), new Map([[side.qp.qpNum, countUp(WAITING)]]));
  });

  test('cannot become one that no queue of the device has', () => {
    const [context] = devices;
    using cq = context.createCq({ cqe: 3 });
    for (const cqe of [-1, 0, context.queryDevice().maxCqe + 1]) assertErrno('EINVAL', () => cq.resize(cqe));
    assert.ok(cq.cqe >= 3);
  });

  test('changes under traffic without a loss', () => {
    const rounds = 200;
    using pair = new SidePair(devices, { sendCq: { cqe: 40 } });
    const { local, remote } = pair;
    const ids: bigint[] = [];
    let posted = 0;
    for (let round = 0; ids.length < rounds; round += 1) {
      for (; posted < rounds && posted - ids.length < 16; posted += 1)
        local.qp.postSend({
          wrId: posted,
          opcode: WrOpcode.RDMA_WRITE,
          sendFlags: SendFlags.SIGNALED,
          sgList: [local.mr.sge(0, 8)],
          rdma: remoteOf(remote.mr),
        });
      local.sendCq.resize(20 + ((round * 7) % 50));
      const completions = local.sendCq.poll(3);
      for (const wc of completions) assertSuccess(local, wc);
      ids.push(...completions.map(({ wrId }) => wrId));
    }
    assert.deepEqual(ids, countUp(rounds));
  });
});
