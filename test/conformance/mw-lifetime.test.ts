import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alloc, incRkey, MwType, QpState, WcStatus } from '../../src/entry/index.js';
import {
  bind,
  bindOn,
  bindRequest,
  openWindow,
  readOf,
  secondConnection,
  windowOf,
  WINDOW_TYPES,
  wholeOf,
  writeOf,
} from './memory-support.js';
import { conformance } from './provider.js';
import {
  ALL_ACCESS,
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

conformance('incRkey', () => {
  test('moves the low byte on and leaves the rest', () => {
    assert.equal(incRkey(0x12345678), 0x12345679);
    assert.equal(incRkey(0xffffffff), 0xffffff00);
    assert.equal(incRkey(0x800000fe), 0x800000ff);
  });
});

conformance('windows', (provider) => {
  const devices = useDevices(provider, 1);

  test('of a type that does not exist are refused', () => {
    using pd = devices[0].allocPd();
    // What a program that no compiler has checked might say.
    for (const type of [0, 3, -1, NaN] as MwType[]) assertErrno('EINVAL', () => pd.allocMw(type));
  });

  test('that are there at once have keys that differ in more than the low byte', () => {
    using pd = devices[0].allocPd();
    const windows = Array.from({ length: 200 }, (_, i) => pd.allocMw(i % 2 === 0 ? MwType.TYPE_1 : MwType.TYPE_2));
    assert.equal(new Set(windows.map(({ rkey }) => rkey >>> 8)).size, windows.length);
    for (const mw of windows) mw.dealloc();
  });

  for (const [name, type] of WINDOW_TYPES) {
    const bound = (end: End) => openWindow(end, type, wholeOf(end.mr));
    /** A request to bind as the type wants it, which must be refused. */
    const refuseBind = (end: End, mw = windowOf(end, type), mr = end.mr): void => {
      const bindInfo = wholeOf(mr);
      assertErrno('EINVAL', () => {
        if (type === MwType.TYPE_1) end.qp.bindMw(mw, { bindInfo });
        else end.qp.postSend(bindRequest(mw, incRkey(mw.rkey), bindInfo));
      });
      assertEmpty(end.cq);
    };

    test(`of ${name} tell domain, device and type, and can be ended`, () => {
      const [context] = devices;
      using pd = context.allocPd();
      const mw = pd.allocMw(type);
      assert.equal(mw.pd, pd);
      assert.equal(mw.context, context);
      assert.equal(mw.type, type);
      mw.dealloc();
    });

    test(`of ${name} cannot be ended twice`, () => {
      using pd = devices[0].allocPd();
      const mw = pd.allocMw(type);
      mw.dealloc();
      assertErrno('EINVAL', () => mw.dealloc());
    });

    test(`of ${name} that have ended cannot be bound`, () => {
      using pair = new Pair(devices);
      const mw = pair.remote.pd.allocMw(type);
      mw.dealloc();
      refuseBind(pair.remote, mw);
    });

    test(`of ${name} cannot be bound to a region that has ended`, () => {
      using pair = new Pair(devices);
      const mr = pair.remote.pd.regMr(alloc(64), ALL_ACCESS);
      mr.dereg();
      refuseBind(pair.remote, windowOf(pair.remote, type), mr);
    });

    test(`of ${name} cannot be bound on a queue pair that has ended`, () => {
      using pair = new Pair(devices);
      pair.remote.qp.destroy();
      refuseBind(pair.remote);
    });

    test(`of ${name} that are bound keep their region from ending, and go on`, () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const { mw, rkey } = bound(remote);
      assertErrno('EBUSY', () => remote.mr.dereg());
      const { remoteAddr } = remoteOf(remote.mr);
      assertSuccess(local, perform(local, readOf(local.mr, { remoteAddr, rkey })));
      mw.dealloc();
      remote.mr.dereg();
    });

    test(`of ${name} close when they end while bound`, () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const { mw, rkey } = bound(remote);
      const { remoteAddr } = remoteOf(remote.mr);
      for (const request of [readOf, writeOf])
        assertSuccess(local, perform(local, request(local.mr, { remoteAddr, rkey })));
      mw.dealloc();
      assertStatus(local, perform(local, writeOf(local.mr, { remoteAddr, rkey })), WcStatus.REM_ACCESS_ERR);
    });

    test(`of ${name} do not keep the queue pair from ending on which they were bound`, () => {
      using pair = new Pair(devices);
      const { mw } = bound(pair.remote);
      pair.remote.qp.destroy();
      mw.dealloc();
      pair.remote.mr.dereg();
    });

    test(`of ${name} flush their bind on a queue pair in ERR`, () => {
      using pair = new Pair(devices);
      const { remote } = pair;
      remote.qp.modify({ qpState: QpState.ERR });
      assertStatus(remote, bind(remote, windowOf(remote, type), wholeOf(remote.mr)).wc, WcStatus.WR_FLUSH_ERR);
    });

    test(`of ${name} cannot be bound on a queue pair that is not in RTS yet`, () => {
      using pair = new Pair(devices);
      const { remote } = pair;
      remote.qp.modify({ qpState: QpState.RESET });
      refuseBind(remote);
    });

    test(`of ${name} tell of a bind over memory outside of the region even if it was not signaled`, () => {
      using pair = new Pair(devices);
      const { remote } = pair;
      const mw = windowOf(remote, type);
      const bindInfo = { ...wholeOf(remote.mr), length: remote.mr.length + 1 };
      if (type === MwType.TYPE_1) remote.qp.bindMw(mw, { wrId: 3, bindInfo });
      else remote.qp.postSend({ ...bindRequest(mw, incRkey(mw.rkey), bindInfo), wrId: 3 });
      const wc = pollOne(remote.cq);
      assert.equal(wc.wrId, 3n);
      assertStatus(remote, wc, WcStatus.MW_BIND_ERR);
    });
  }

  test('of type 1 stay open when the queue pair ends on which they were bound', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { here, there } = secondConnection(pair);
    const mw = windowOf(remote, MwType.TYPE_1);
    assertSuccess(remote, bindOn(there, mw, wholeOf(remote.mr)).wc);
    here.destroy();
    there.destroy();
    const { remoteAddr } = remoteOf(remote.mr);
    assertSuccess(local, perform(local, readOf(local.mr, { remoteAddr, rkey: mw.rkey })));
  });
});
