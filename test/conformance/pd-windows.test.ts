import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alloc, MwType, SendFlags, WcStatus } from '../../src/entry/index.js';
import { bind, ONE_SIDED_REQUESTS, openWindow, windowOf, WINDOW_TYPES, wholeOf } from './memory-support.js';
import { conformance } from './provider.js';
import { ALL_ACCESS, assertErrno, assertStatus, Pair, perform, remoteOf, useDevices } from './support.js';

// protocol/services.md 3.7: queue pair, window and region of a bind are of one domain. The verb for type 1 looks at window and
// region itself (man ibv_bind_mw: EPERM); everything else shows when the request is carried out.

conformance('a window and another protection domain', (provider) => {
  const devices = useDevices(provider, 1);

  test('type 1: the window alone is of another domain than queue pair and region', () => {
    using pair = new Pair(devices);
    const { remote } = pair;
    const pd = remote.keep(remote.context.allocPd());
    const mw = remote.keep(pd.allocMw(MwType.TYPE_1));
    assertErrno('EPERM', () => remote.qp.bindMw(mw, { bindInfo: wholeOf(remote.mr) }));
  });

  test('type 1: the region alone is of another domain than queue pair and window', () => {
    using pair = new Pair(devices);
    const { remote } = pair;
    const pd = remote.keep(remote.context.allocPd());
    const mr = remote.keep(pd.regMr(alloc(64), ALL_ACCESS));
    const mw = windowOf(remote, MwType.TYPE_1);
    const before = mw.rkey;
    assertErrno('EPERM', () => remote.qp.bindMw(mw, { sendFlags: SendFlags.SIGNALED, bindInfo: wholeOf(mr) }));
    assert.equal(mw.rkey, before);
  });

  test('type 2: the window alone is of another domain than queue pair and region', () => {
    using pair = new Pair(devices);
    const { remote } = pair;
    const pd = remote.keep(remote.context.allocPd());
    const mw = remote.keep(pd.allocMw(MwType.TYPE_2));
    assertStatus(remote, bind(remote, mw, wholeOf(remote.mr)).wc, WcStatus.MW_BIND_ERR);
  });

  test('type 2: the region alone is of another domain than queue pair and window', () => {
    using pair = new Pair(devices);
    const { remote } = pair;
    const pd = remote.keep(remote.context.allocPd());
    const mr = remote.keep(pd.regMr(alloc(64), ALL_ACCESS));
    const mw = windowOf(remote, MwType.TYPE_2);
    assertStatus(remote, bind(remote, mw, wholeOf(mr)).wc, WcStatus.MW_BIND_ERR);
  });

  for (const [name, type] of WINDOW_TYPES) {
    test(`${name}: window and region are of another domain than the queue pair`, () => {
      using pair = new Pair(devices);
      const { remote } = pair;
      const pd = remote.keep(remote.context.allocPd());
      const mr = remote.keep(pd.regMr(alloc(64), ALL_ACCESS));
      const mw = remote.keep(pd.allocMw(type));
      assertStatus(remote, bind(remote, mw, wholeOf(mr)).wc, WcStatus.MW_BIND_ERR);
    });
  }

  for (const [name, request] of ONE_SIDED_REQUESTS) {
    test(`type 1: a ${name} that comes in by a queue pair of another domain does not get through`, () => {
      using owner = new Pair(devices);
      using pair = new Pair(devices);
      const { local } = pair;
      const { mr } = owner.remote;
      const { rkey } = openWindow(owner.remote, MwType.TYPE_1, wholeOf(mr));
      local.mr.bytes.fill(7);
      const { remoteAddr } = remoteOf(mr);
      assertStatus(local, perform(local, request(local.mr.sge(0, 8), { remoteAddr, rkey })), WcStatus.REM_ACCESS_ERR);
      assert.deepEqual(mr.bytes.subarray(0, 8), new Uint8Array(8));
    });
  }
});
