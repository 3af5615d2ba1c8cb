import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QpCreateSendOpsFlags, QpState, QpType } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { assertEmpty, assertErrno, End, handleTo, Pair, QKEY, toInit, useDevices } from './support.js';

conformance('posting is refused', (provider) => {
  const devices = useDevices(provider);

  test('to the receive queue of a UD QP that was moved back to RESET', () => {
    using pair = new Pair(devices, { qpType: QpType.UD });
    const { local } = pair;
    local.qp.modify({ qpState: QpState.RESET });
    assertErrno('EINVAL', () => local.qp.postRecv({ sgList: [local.mr.sge(0, 64)] }));
  });

  test('to the send queue of a UD QP that was moved back to RESET', () => {
    using pair = new Pair(devices, { qpType: QpType.UD });
    const { local, remote } = pair;
    const ah = handleTo(local, remote);
    local.qp.modify({ qpState: QpState.RESET });
    assertErrno('EINVAL', () => {
      local.qp.wrStart();
      local.qp.wrSend();
      local.qp.wrSetUdAddr(ah, remote.qp.qpNum, QKEY);
      local.qp.wrComplete();
    });
  });

  for (const [type, qpType] of [
    ['RC', QpType.RC],
    ['UD', QpType.UD],
  ] as const) {
    test(`to the receive queue of a ${type} QP beyond the requests that it was made for`, () => {
      using end = new End(devices[0], { qpType, cap: { maxRecvWr: 10 } });
      toInit(end.qp);
      const { maxRecvWr } = end.qp.query().initAttr.cap;
      for (let i = 0; i < maxRecvWr; i += 1) end.qp.postRecv({ wrId: i, sgList: [end.mr.sge(0, 64)] });
      assertErrno('ENOMEM', () => end.qp.postRecv({ sgList: [end.mr.sge(0, 64)] }));
    });

    test(`to the receive queue of a ${type} QP with more pieces than it was made for`, () => {
      using end = new End(devices[0], { qpType, cap: { maxRecvSge: 2 } });
      toInit(end.qp);
      const { maxRecvSge } = end.qp.query().initAttr.cap;
      const pieces = Array.from({ length: maxRecvSge + 1 }, (_, i) => end.mr.sge(i * 8, 8));
      end.qp.postRecv({ sgList: pieces.slice(1) });
      assertErrno('EINVAL', () => end.qp.postRecv({ sgList: pieces }));
    });
  }

  test('of a request that the QP was not made for', () => {
    using pair = new Pair(devices, { sendOpsFlags: QpCreateSendOpsFlags.WITH_SEND });
    const { local, remote } = pair;
    remote.qp.postRecv({});
    assertErrno('EINVAL', () => {
      local.qp.wrStart();
      local.qp.wrSend();
      local.qp.wrRdmaWrite(remote.mr.rkey, remote.mr.iova);
      local.qp.wrComplete();
    });
    // Nothing of the batch was posted.
    assertEmpty(remote.cq);
    assert.equal(local.qp.query().attr.qpState, QpState.RTS);
  });
});
