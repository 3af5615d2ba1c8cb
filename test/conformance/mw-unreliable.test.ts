import assert from 'node:assert/strict';
import { test } from 'node:test';
import { incRkey, MwType, QpType, WcStatus, WrOpcode } from '../../src/entry/index.js';
import { bind, openWindow, WINDOW_TYPES, windowOf, wholeOf, writeOf } from './memory-support.js';
import { conformance } from './provider.js';
import { assertStatus, assertSuccess, Pair, pattern, perform, pollOne, remoteOf, useDevices } from './support.js';

conformance('windows on UC queue pairs', (provider) => {
  const devices = useDevices(provider, 1);

  for (const [name, type] of WINDOW_TYPES) {
    test(`${name}: opens memory to a WRITE`, () => {
      using pair = new Pair(devices, { qpType: QpType.UC });
      const { local, remote } = pair;
      const { rkey } = openWindow(remote, type, wholeOf(remote.mr));
      local.mr.bytes.set(pattern(3000));
      remote.qp.postRecv({});
      const rdma = { ...remoteOf(remote.mr), rkey };
      const sgList = [local.mr.sge(0, 3000)];
      assertSuccess(local, perform(local, { opcode: WrOpcode.RDMA_WRITE_WITH_IMM, immData: 1, sgList, rdma }));
      assertSuccess(remote, pollOne(remote.cq));
      assert.deepEqual(remote.mr.bytes.subarray(0, 3000), pattern(3000));
    });

    test(`${name}: does not open memory to a WRITE any more once it has ended`, () => {
      using pair = new Pair(devices, { qpType: QpType.UC });
      const { local, remote } = pair;
      const { mw, rkey } = openWindow(remote, type, wholeOf(remote.mr));
      mw.dealloc();
      local.mr.bytes.fill(7);
      remote.qp.postRecv({ wrId: 1, sgList: [remote.mr.sge(64, 64)] });
      assertSuccess(local, perform(local, writeOf(local.mr, { ...remoteOf(remote.mr), rkey })));
      assertSuccess(local, perform(local, { opcode: WrOpcode.SEND, sgList: [local.mr.sge(0, 4)] }));
      assertSuccess(remote, pollOne(remote.cq));
      assert.deepEqual(remote.mr.bytes.subarray(0, 8), new Uint8Array(8));
    });

    test(`${name}: a bind over memory outside of the region is refused`, () => {
      using pair = new Pair(devices, { qpType: QpType.UC });
      const { remote } = pair;
      const bindInfo = { ...wholeOf(remote.mr), length: remote.mr.length + 1 };
      assertStatus(remote, bind(remote, windowOf(remote, type), bindInfo).wc, WcStatus.MW_BIND_ERR);
    });
  }

  test('type 2: is closed by LOCAL_INV', () => {
    using pair = new Pair(devices, { qpType: QpType.UC });
    const { local, remote } = pair;
    const { rkey } = openWindow(remote, MwType.TYPE_2, wholeOf(remote.mr));
    assertSuccess(remote, perform(remote, { opcode: WrOpcode.LOCAL_INV, invalidateRkey: rkey }));
    local.mr.bytes.fill(7);
    remote.qp.postRecv({ sgList: [remote.mr.sge(64, 64)] });
    assertSuccess(local, perform(local, writeOf(local.mr, { ...remoteOf(remote.mr), rkey })));
    assertSuccess(local, perform(local, { opcode: WrOpcode.SEND, sgList: [local.mr.sge(0, 4)] }));
    assertSuccess(remote, pollOne(remote.cq));
    assert.deepEqual(remote.mr.bytes.subarray(0, 8), new Uint8Array(8));
  });

  test('type 2: LOCAL_INV with another low byte fails as on RC', () => {
    using pair = new Pair(devices, { qpType: QpType.UC });
    const { remote } = pair;
    const { rkey } = openWindow(remote, MwType.TYPE_2, wholeOf(remote.mr));
    const wc = perform(remote, { opcode: WrOpcode.LOCAL_INV, invalidateRkey: incRkey(rkey) });
    assertStatus(remote, wc, WcStatus.MW_BIND_ERR);
  });
});
