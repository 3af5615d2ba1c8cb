import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MwType, WcFlags, WcOpcode, WcStatus, WrOpcode } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import {
  assertStatus,
  assertSuccess,
  BOGUS_KEY,
  End,
  joinEnds,
  Pair,
  pattern,
  perform,
  pollOne,
  useDevices,
} from './support.js';
import { bindWindow } from './windows.js';

const PAGE = 4096;
const { SEND_WITH_INV, RDMA_READ } = WrOpcode;

conformance('RC SEND with invalidate', (provider) => {
  const devices = useDevices(provider);

  for (const [title, bytes] of [
    ['of a page', PAGE],
    ['of no bytes', 0],
  ] as const) {
    test(`${title} closes a window of type 2 and says so to the receiver`, () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const rdma = bindWindow(remote, MwType.TYPE_2);
      local.mr.bytes.set(pattern(bytes));
      const piecesOf = ({ mr }: typeof local) => (bytes === 0 ? [] : [mr.sge(0, bytes)]);
      remote.qp.postRecv({ wrId: 7, sgList: piecesOf(remote) });
      const invalidate = { opcode: SEND_WITH_INV, invalidateRkey: rdma.rkey, sgList: piecesOf(local) };
      assertSuccess(local, perform(local, invalidate));
      const { wrId, opcode, byteLen, wcFlags, invalidatedRkey, ...received } = pollOne(remote.cq);
      assert.equal(received.status, WcStatus.SUCCESS);
      assert.deepEqual(
        { wrId, opcode, byteLen, wcFlags, invalidatedRkey },
        { wrId: 7n, opcode: WcOpcode.RECV, byteLen: bytes, wcFlags: WcFlags.WITH_INV, invalidatedRkey: rdma.rkey },
      );
      assert.deepEqual(remote.mr.bytes.subarray(0, bytes), pattern(bytes));
      const read = perform(local, { opcode: RDMA_READ, sgList: [local.mr.sge(0, 8)], rdma });
      assertStatus(local, read, WcStatus.REM_ACCESS_ERR);
    });
  }

  test('without a receive request ends in RNR_RETRY_EXC_ERR', () => {
    using pair = new Pair(devices, { rnrRetry: 5 });
    const { local, remote } = pair;
    const { rkey } = bindWindow(remote, MwType.TYPE_2);
    const sent = perform(local, { opcode: SEND_WITH_INV, invalidateRkey: rkey, sgList: [local.mr.sge(0, PAGE)] });
    assertStatus(local, sent, WcStatus.RNR_RETRY_EXC_ERR);
  });

  /** Both ends hear of it: IBTA's NAK, where rxe leaves the sender in the dark (protocol/reliable.md 2.3). */
  function assertRefused({ local, remote }: Pick<Pair, 'local' | 'remote'>, invalidateRkey: number): void {
    remote.qp.postRecv({ wrId: 7, sgList: [remote.mr.sge(0, PAGE)] });
    const sent = perform(local, { opcode: SEND_WITH_INV, invalidateRkey, sgList: [local.mr.sge(0, PAGE)] });
    assertStatus(local, sent, WcStatus.REM_ACCESS_ERR);
    const received = pollOne(remote.cq);
    assert.equal(received.wrId, 7n);
    assertStatus(remote, received, WcStatus.REM_INV_REQ_ERR);
  }

  test('of a key that nothing has fails at both ends', () => {
    using pair = new Pair(devices);
    assertRefused(pair, BOGUS_KEY);
  });

  test('of a region fails at both ends, and the region stays open', () => {
    using pair = new Pair(devices);
    assertRefused(pair, pair.remote.mr.rkey);
    using other = new End(devices[0]);
    using same = new End(devices[1], { pd: pair.remote.pd });
    joinEnds(other, same);
    const rdma = { remoteAddr: pair.remote.mr.iova, rkey: pair.remote.mr.rkey };
    assertSuccess(other, perform(other, { opcode: RDMA_READ, sgList: [other.mr.sge(0, 8)], rdma }));
  });

  test('of a window of type 1 fails at both ends', () => {
    using pair = new Pair(devices);
    assertRefused(pair, bindWindow(pair.remote, MwType.TYPE_1).rkey);
  });

  test('of a window of type 2 that is bound to another QP fails at both ends', () => {
    using local = new End(devices[0]);
    // Of the same device and domain, so that nothing but the QP is wrong.
    using remote = new End(devices[0], { pd: local.pd });
    joinEnds(local, remote);
    assertRefused({ local, remote }, bindWindow(local, MwType.TYPE_2).rkey);
  });
});
