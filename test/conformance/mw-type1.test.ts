import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AccessFlags,
  incRkey,
  type Mr,
  type MwBindInfo,
  MwType,
  SendFlags,
  WcOpcode,
  WcStatus,
  WrOpcode,
} from '../../src/entry/index.js';
import {
  bind,
  bindOn,
  completionOf,
  openWindow,
  readOf,
  secondConnection,
  windowOf,
  wholeOf,
  writeOf,
  writeThrough,
} from './memory-support.js';
import { conformance } from './provider.js';
import {
  assertEmpty,
  assertErrno,
  assertStatus,
  assertSuccess,
  type End,
  Pair,
  perform,
  pollOne,
  remoteOf,
  useDevices,
} from './support.js';

const { TYPE_1, TYPE_2 } = MwType;

conformance('windows of type 1', (provider) => {
  const devices = useDevices(provider, 1);

  const at = ({ mr }: End, rkey: number) => ({ ...remoteOf(mr), rkey });

  test('complete their bind as BIND_MW, with the id of the request', () => {
    using pair = new Pair(devices);
    const { remote } = pair;
    const mw = windowOf(remote, TYPE_1);
    remote.qp.bindMw(mw, { wrId: 77n, sendFlags: SendFlags.SIGNALED, bindInfo: wholeOf(remote.mr) });
    const wc = pollOne(remote.cq);
    assertSuccess(remote, wc);
    assert.deepEqual([wc.wrId, wc.opcode, wc.qpNum], [77n, WcOpcode.BIND_MW, remote.qp.qpNum]);
  });

  test('complete a bind that is not signaled without an entry', () => {
    using pair = new Pair(devices);
    const { remote } = pair;
    const mw = windowOf(remote, TYPE_1);
    remote.qp.bindMw(mw, { wrId: 1, bindInfo: wholeOf(remote.mr) });
    remote.qp.bindMw(mw, { wrId: 2, sendFlags: SendFlags.SIGNALED, bindInfo: wholeOf(remote.mr) });
    assert.equal(pollOne(remote.cq).wrId, 2n);
    assertEmpty(remote.cq);
  });

  test('have a key with the next low byte after each bind', () => {
    using pair = new Pair(devices);
    const { remote } = pair;
    const mw = windowOf(remote, TYPE_1);
    for (let i = 0; i < 260; i += 1) {
      const expected = incRkey(mw.rkey);
      assertSuccess(remote, bind(remote, mw, wholeOf(remote.mr)).wc);
      assert.equal(mw.rkey, expected);
    }
  });

  test('that are bound anew close under the old key and open under the new', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { mw, rkey: old } = openWindow(remote, TYPE_1, wholeOf(remote.mr));
    const { wc, rkey } = bind(remote, mw, wholeOf(remote.mr));
    assertSuccess(remote, wc);
    assertSuccess(local, perform(local, readOf(local.mr, at(remote, rkey))));
    assertStatus(local, perform(local, readOf(local.mr, at(remote, old))), WcStatus.REM_ACCESS_ERR);
  });

  test('that are bound to nothing close', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { mw, rkey } = openWindow(remote, TYPE_1, wholeOf(remote.mr));
    assertSuccess(local, perform(local, readOf(local.mr, at(remote, rkey))));
    assertSuccess(remote, bind(remote, mw, { ...wholeOf(remote.mr), length: 0 }).wc);
    assertStatus(local, perform(local, readOf(local.mr, at(remote, rkey))), WcStatus.REM_ACCESS_ERR);
  });

  test('that are bound to nothing let their region end', () => {
    using pair = new Pair(devices);
    const { remote } = pair;
    const { mw } = openWindow(remote, TYPE_1, wholeOf(remote.mr));
    assertErrno('EBUSY', () => remote.mr.dereg());
    assertSuccess(remote, bind(remote, mw, {}).wc);
    remote.mr.dereg();
  });

  test('open nothing under their new key while they are bound to nothing', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { mw } = openWindow(remote, TYPE_1, wholeOf(remote.mr));
    assertSuccess(remote, bind(remote, mw, { ...wholeOf(remote.mr), length: 0 }).wc);
    assertStatus(local, perform(local, readOf(local.mr, at(remote, mw.rkey))), WcStatus.REM_ACCESS_ERR);
  });

  test('of both ends close to WRITEs when both are bound to nothing', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const ours = openWindow(local, TYPE_1, wholeOf(local.mr));
    const theirs = openWindow(remote, TYPE_1, wholeOf(remote.mr));
    writeThrough(local, local.mr, at(remote, theirs.rkey), remote.mr.bytes, 1024);
    writeThrough(remote, remote.mr, at(local, ours.rkey), local.mr.bytes, 1024);
    const nothing = { mr: remote.mr, addr: 0, length: 0, mwAccessFlags: 0 };
    assertSuccess(remote, bind(remote, theirs.mw, nothing).wc);
    assertSuccess(local, bind(local, ours.mw, { ...nothing, mr: local.mr }).wc);
    assertStatus(local, perform(local, writeOf(local.mr, at(remote, theirs.rkey))), WcStatus.REM_ACCESS_ERR);
  });

  test('can be bound anew on another queue pair', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { there } = secondConnection(pair);
    const { mw } = openWindow(remote, TYPE_1, wholeOf(remote.mr));
    const { wc, rkey } = bindOn(there, mw, wholeOf(remote.mr));
    assertSuccess(remote, wc);
    assertSuccess(local, perform(local, readOf(local.mr, at(remote, rkey))));
  });

  test('are bound before a SEND that is posted behind the bind leaves', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const mw = windowOf(remote, TYPE_1);
    for (let round = 0; round < 20; round += 1) {
      local.qp.postRecv({});
      remote.qp.bindMw(mw, { bindInfo: wholeOf(remote.mr) });
      remote.qp.postSend({ opcode: WrOpcode.SEND_WITH_IMM, immData: mw.rkey });
      const { immData: rkey } = pollOne(local.cq);
      assertSuccess(local, perform(local, readOf(local.mr, at(remote, rkey))));
    }
  });

  const refused: readonly (readonly [string, (mr: Mr) => MwBindInfo])[] = [
    ['ZERO_BASED', (mr) => wholeOf(mr, AccessFlags.REMOTE_READ | AccessFlags.ZERO_BASED)],
    ['ON_DEMAND, which is of regions', (mr) => wholeOf(mr, AccessFlags.ON_DEMAND)],
    ['access flags that do not exist', (mr) => wholeOf(mr, 1 << 15)],
    ['a length without a region', () => ({ length: 8 })],
    ['an address without a region', () => ({ addr: 4096 })],
    ['a length that is none', (mr) => ({ mr, addr: mr.iova, length: -1 })],
  ];
  for (const [what, bindInfo] of refused) {
    test(`cannot be bound with ${what}`, () => {
      using pair = new Pair(devices);
      const { remote } = pair;
      const mw = windowOf(remote, TYPE_1);
      const before = mw.rkey;
      assertErrno('EINVAL', () => remote.qp.bindMw(mw, { bindInfo: bindInfo(remote.mr) }));
      assert.equal(mw.rkey, before);
    });
  }

  test('are the only ones that bindMw takes', () => {
    using pair = new Pair(devices);
    const { remote } = pair;
    const mw = windowOf(remote, TYPE_2);
    assertErrno('EINVAL', () => remote.qp.bindMw(mw, { bindInfo: wholeOf(remote.mr) }));
  });

  test('cannot be closed by LOCAL_INV', () => {
    using pair = new Pair(devices);
    const { remote } = pair;
    const { rkey } = openWindow(remote, TYPE_1, wholeOf(remote.mr));
    const wc = perform(remote, { opcode: WrOpcode.LOCAL_INV, invalidateRkey: rkey });
    assertStatus(remote, wc, WcStatus.MW_BIND_ERR);
  });

  test('cannot be closed by a peer', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { here } = secondConnection(pair);
    const { rkey } = openWindow(remote, TYPE_1, wholeOf(remote.mr));
    remote.qp.postRecv({});
    local.qp.postSend({ opcode: WrOpcode.SEND_WITH_INV, invalidateRkey: rkey });
    assertStatus(remote, pollOne(remote.cq), WcStatus.REM_INV_REQ_ERR);
    here.postSend({ ...readOf(local.mr, at(remote, rkey)), wrId: 5, sendFlags: SendFlags.SIGNALED });
    assertSuccess(local, completionOf(local.cq, 5n));
  });
});
