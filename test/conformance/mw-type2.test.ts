import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AccessFlags,
  incRkey,
  MwType,
  QpState,
  SendFlags,
  WcFlags,
  WcOpcode,
  WcStatus,
  WrOpcode,
} from '../../src/entry/index.js';
import {
  bind,
  bindOn,
  bindRequest,
  completionOf,
  openWindow,
  performOn,
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
  REMOTE_ACCESS,
  remoteOf,
  useDevices,
} from './support.js';

const { TYPE_2 } = MwType;

const at = ({ mr }: End, rkey: number) => ({ ...remoteOf(mr), rkey });
const invalidation = (invalidateRkey: number) => ({ opcode: WrOpcode.LOCAL_INV, invalidateRkey }) as const;

conformance('binding windows of type 2', (provider) => {
  const devices = useDevices(provider, 1);

  test('completes as BIND_MW, with the id of the request', () => {
    using pair = new Pair(devices);
    const { remote } = pair;
    const mw = windowOf(remote, TYPE_2);
    const wc = perform(remote, { ...bindRequest(mw, incRkey(mw.rkey), wholeOf(remote.mr)), wrId: 78n });
    assertSuccess(remote, wc);
    assert.deepEqual([wc.wrId, wc.opcode, wc.qpNum], [78n, WcOpcode.BIND_MW, remote.qp.qpNum]);
  });

  test('is done by wrBindMw as well', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const mw = windowOf(remote, TYPE_2);
    const rkey = incRkey(mw.rkey);
    remote.qp.wrStart();
    remote.qp.wrId = 79;
    remote.qp.wrFlags = SendFlags.SIGNALED;
    remote.qp.wrBindMw(mw, rkey, wholeOf(remote.mr));
    remote.qp.wrComplete();
    const wc = pollOne(remote.cq);
    assertSuccess(remote, wc);
    assert.deepEqual([wc.wrId, wc.opcode], [79n, WcOpcode.BIND_MW]);
    assertSuccess(local, perform(local, readOf(local.mr, at(remote, rkey))));
  });

  test('that is not signaled completes without an entry', () => {
    using pair = new Pair(devices);
    const { remote } = pair;
    const [first, second] = [windowOf(remote, TYPE_2), windowOf(remote, TYPE_2)];
    remote.qp.postSend({ ...bindRequest(first, incRkey(first.rkey), wholeOf(remote.mr)), wrId: 1 });
    const wc = perform(remote, { ...bindRequest(second, incRkey(second.rkey), wholeOf(remote.mr)), wrId: 2 });
    assertSuccess(remote, wc);
    assert.equal(wc.wrId, 2n);
    assertEmpty(remote.cq);
  });

  test('to zero bytes is refused', () => {
    using pair = new Pair(devices);
    const { remote } = pair;
    const bound = bind(remote, windowOf(remote, TYPE_2), { ...wholeOf(remote.mr), length: 0 });
    assertStatus(remote, bound.wc, WcStatus.MW_BIND_ERR);
  });

  test('that is refused takes the queue pair to ERR', () => {
    using pair = new Pair(devices);
    const { remote } = pair;
    bind(remote, windowOf(remote, TYPE_2), { ...wholeOf(remote.mr), length: 0 });
    assert.equal(remote.qp.query().attr.qpState, QpState.ERR);
  });

  test('leaves the low byte of the key to the program, and keeps keys of different windows apart', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const keys = [windowOf(remote, TYPE_2), windowOf(remote, TYPE_2)].map((mw) => {
      const rkey = ((mw.rkey & ~0xff) | 17) >>> 0;
      assertSuccess(remote, perform(remote, bindRequest(mw, rkey, wholeOf(remote.mr))));
      return rkey;
    });
    assert.notEqual(keys[0], keys[1]);
    for (const rkey of keys) assertSuccess(local, perform(local, readOf(local.mr, at(remote, rkey))));
  });

  test('goes well for thousands of windows at once', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const count = Math.min(4096, devices[0].queryDevice().maxMw);
    const keys = new Set<number>();
    for (let i = 0; i < count; i += 1) {
      const mw = windowOf(remote, TYPE_2);
      const rkey = ((mw.rkey & ~0xff) | 200) >>> 0;
      assertSuccess(remote, perform(remote, bindRequest(mw, rkey, wholeOf(remote.mr))));
      keys.add(rkey);
    }
    assert.equal(keys.size, count);
    for (const rkey of [...keys].slice(-8)) assertSuccess(local, perform(local, readOf(local.mr, at(remote, rkey))));
  });

  test('under a key of another window is refused', () => {
    using pair = new Pair(devices);
    const { remote } = pair;
    const [mw, other] = [windowOf(remote, TYPE_2), windowOf(remote, TYPE_2)];
    const wc = perform(remote, bindRequest(mw, other.rkey, wholeOf(remote.mr)));
    assertStatus(remote, wc, WcStatus.MW_BIND_ERR);
  });

  test('again without invalidation is refused on the same queue pair', () => {
    using pair = new Pair(devices);
    const { remote } = pair;
    const { mw, rkey } = openWindow(remote, TYPE_2, wholeOf(remote.mr));
    const wc = perform(remote, bindRequest(mw, incRkey(rkey), wholeOf(remote.mr)));
    assertStatus(remote, wc, WcStatus.MW_BIND_ERR);
  });

  test('again without invalidation is refused on another queue pair', () => {
    using pair = new Pair(devices);
    const { remote } = pair;
    const { there } = secondConnection(pair);
    const { mw, rkey } = openWindow(remote, TYPE_2, wholeOf(remote.mr));
    const wc = performOn(there, bindRequest(mw, incRkey(rkey), wholeOf(remote.mr)));
    assertStatus(remote, wc, WcStatus.MW_BIND_ERR);
  });

  test('again after invalidation goes well, on another queue pair, too', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { here, there } = secondConnection(pair);
    const { mw, rkey } = openWindow(remote, TYPE_2, wholeOf(remote.mr));
    assertSuccess(remote, perform(remote, invalidation(rkey)));
    const next = incRkey(rkey);
    assertSuccess(remote, performOn(there, bindRequest(mw, next, wholeOf(remote.mr))));
    assertSuccess(local, performOn(here, readOf(local.mr, at(remote, next))));
    assertStatus(local, performOn(here, readOf(local.mr, at(remote, rkey))), WcStatus.REM_ACCESS_ERR);
  });

  test('to a zero-based region is refused', () => {
    using pair = new Pair(devices);
    const { remote } = pair;
    const mr = remote.region(64, AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND | AccessFlags.ZERO_BASED);
    assertStatus(remote, bind(remote, windowOf(remote, TYPE_2), wholeOf(mr)).wc, WcStatus.MW_BIND_ERR);
  });

  test('with ZERO_BASED has peers name the first byte as 0', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    remote.mr.bytes.set([1, 2, 3, 4, 5, 6, 7, 8], 100);
    const bindInfo = {
      mr: remote.mr,
      addr: remote.mr.iova + 100n,
      length: 8,
      mwAccessFlags: REMOTE_ACCESS | AccessFlags.ZERO_BASED,
    };
    const { rkey } = openWindow(remote, TYPE_2, bindInfo);
    assertSuccess(local, perform(local, readOf(local.mr, { remoteAddr: 0, rkey })));
    assert.deepEqual([...local.mr.bytes.subarray(0, 8)], [1, 2, 3, 4, 5, 6, 7, 8]);
    const { remoteAddr } = remoteOf(remote.mr, 100);
    assertStatus(local, perform(local, readOf(local.mr, { remoteAddr, rkey })), WcStatus.REM_ACCESS_ERR);
  });

  test('binds for the queue pair alone that carried it out', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { here, there } = secondConnection(pair);
    const { wc, rkey } = bindOn(there, windowOf(remote, TYPE_2), wholeOf(remote.mr));
    assertSuccess(remote, wc);
    assertSuccess(local, performOn(here, readOf(local.mr, at(remote, rkey))));
    assertStatus(local, perform(local, readOf(local.mr, at(remote, rkey))), WcStatus.REM_ACCESS_ERR);
  });

  test('ends with that queue pair: the window can be bound on another one then', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { here, there } = secondConnection(pair);
    const mw = windowOf(remote, TYPE_2);
    const { rkey } = bindOn(there, mw, wholeOf(remote.mr));
    here.destroy();
    there.destroy();
    const next = incRkey(rkey);
    assertSuccess(remote, perform(remote, bindRequest(mw, next, wholeOf(remote.mr))));
    assertSuccess(local, perform(local, readOf(local.mr, at(remote, next))));
  });

  for (const [what, mwAccessFlags] of [
    ['ON_DEMAND, which is of regions,', AccessFlags.ON_DEMAND],
    ['access flags that do not exist', 1 << 15],
  ] as const) {
    test(`with ${what} is refused`, () => {
      using pair = new Pair(devices);
      const { remote } = pair;
      const mw = windowOf(remote, TYPE_2);
      assertErrno('EINVAL', () =>
        remote.qp.postSend(bindRequest(mw, incRkey(mw.rkey), wholeOf(remote.mr, mwAccessFlags))),
      );
    });
  }
});

conformance('closing windows of type 2', (provider) => {
  const devices = useDevices(provider, 1);

  test('by LOCAL_INV completes so, and the key is of no use then', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { rkey } = openWindow(remote, TYPE_2, wholeOf(remote.mr));
    const wc = perform(remote, { ...invalidation(rkey), wrId: 80 });
    assertSuccess(remote, wc);
    assert.deepEqual([wc.wrId, wc.opcode], [80n, WcOpcode.LOCAL_INV]);
    assertStatus(local, perform(local, readOf(local.mr, at(remote, rkey))), WcStatus.REM_ACCESS_ERR);
  });

  test('by wrLocalInv does the same', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { rkey } = openWindow(remote, TYPE_2, wholeOf(remote.mr));
    remote.qp.wrStart();
    remote.qp.wrFlags = SendFlags.SIGNALED;
    remote.qp.wrLocalInv(rkey);
    remote.qp.wrComplete();
    assertSuccess(remote, pollOne(remote.cq));
    assertStatus(local, perform(local, readOf(local.mr, at(remote, rkey))), WcStatus.REM_ACCESS_ERR);
  });

  test('by LOCAL_INV that is not signaled completes without an entry', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { rkey } = openWindow(remote, TYPE_2, wholeOf(remote.mr));
    remote.qp.postSend({ ...invalidation(rkey), wrId: 1 });
    assertSuccess(remote, perform(remote, { ...writeOf(remote.mr, remoteOf(local.mr)), wrId: 2 }));
    assertEmpty(remote.cq);
    assertStatus(local, perform(local, readOf(local.mr, at(remote, rkey))), WcStatus.REM_ACCESS_ERR);
  });

  test('by LOCAL_INV with another low byte fails, with an entry although it was not signaled', () => {
    using pair = new Pair(devices);
    const { remote } = pair;
    const { rkey } = openWindow(remote, TYPE_2, wholeOf(remote.mr));
    remote.qp.postSend({ ...invalidation(incRkey(rkey)), wrId: 9 });
    const wc = pollOne(remote.cq);
    assert.equal(wc.wrId, 9n);
    assertStatus(remote, wc, WcStatus.MW_BIND_ERR);
  });

  test('by LOCAL_INV on another queue pair fails, and the window stays open', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { there } = secondConnection(pair);
    const { rkey } = openWindow(remote, TYPE_2, wholeOf(remote.mr));
    assertStatus(remote, performOn(there, invalidation(rkey)), WcStatus.MW_BIND_ERR);
    assertSuccess(local, perform(local, readOf(local.mr, at(remote, rkey))));
  });

  test('by LOCAL_INV when it is closed already fails', () => {
    using pair = new Pair(devices);
    const { remote } = pair;
    const { rkey } = openWindow(remote, TYPE_2, wholeOf(remote.mr));
    assertSuccess(remote, perform(remote, invalidation(rkey)));
    assertStatus(remote, perform(remote, invalidation(rkey)), WcStatus.MW_BIND_ERR);
  });

  test('by LOCAL_INV lets the region end', () => {
    using pair = new Pair(devices);
    const { remote } = pair;
    const { rkey } = openWindow(remote, TYPE_2, wholeOf(remote.mr));
    assertErrno('EBUSY', () => remote.mr.dereg());
    assertSuccess(remote, perform(remote, invalidation(rkey)));
    remote.mr.dereg();
  });

  test('by LOCAL_INV stops WRITEs that got through before, both ways', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const ours = openWindow(local, TYPE_2, wholeOf(local.mr));
    const theirs = openWindow(remote, TYPE_2, wholeOf(remote.mr));
    writeThrough(local, local.mr, at(remote, theirs.rkey), remote.mr.bytes, 1024);
    writeThrough(remote, remote.mr, at(local, ours.rkey), local.mr.bytes, 1024);
    assertSuccess(remote, perform(remote, invalidation(theirs.rkey)));
    assertSuccess(local, perform(local, invalidation(ours.rkey)));
    assertStatus(local, perform(local, writeOf(local.mr, at(remote, theirs.rkey))), WcStatus.REM_ACCESS_ERR);
  });

  test('by a peer tells the owner which key it was, and stops WRITEs', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { rkey } = openWindow(remote, TYPE_2, wholeOf(remote.mr));
    writeThrough(local, local.mr, at(remote, rkey), remote.mr.bytes, 1024);
    remote.qp.postRecv({});
    assertSuccess(local, perform(local, { opcode: WrOpcode.SEND_WITH_INV, invalidateRkey: rkey }));
    const received = pollOne(remote.cq);
    assertSuccess(remote, received);
    assert.equal(received.wcFlags & WcFlags.WITH_INV, WcFlags.WITH_INV);
    assert.equal(received.invalidatedRkey, rkey);
    assertStatus(local, perform(local, writeOf(local.mr, at(remote, rkey))), WcStatus.REM_ACCESS_ERR);
  });

  test('by a peer leaves it free to be bound again', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { mw, rkey } = openWindow(remote, TYPE_2, wholeOf(remote.mr));
    remote.qp.postRecv({});
    assertSuccess(local, perform(local, { opcode: WrOpcode.SEND_WITH_INV, invalidateRkey: rkey }));
    assertSuccess(remote, pollOne(remote.cq));
    const next = incRkey(rkey);
    assertSuccess(remote, perform(remote, bindRequest(mw, next, wholeOf(remote.mr))));
    assertSuccess(local, perform(local, readOf(local.mr, at(remote, next))));
  });

  test('by a peer of another queue pair fails there, and the window stays open', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { here, there } = secondConnection(pair);
    const { rkey } = openWindow(remote, TYPE_2, wholeOf(remote.mr));
    there.postRecv({ wrId: 6 });
    here.postSend({ opcode: WrOpcode.SEND_WITH_INV, invalidateRkey: rkey });
    const received = pollOne(remote.cq);
    assert.equal(received.wrId, 6n);
    assertStatus(remote, received, WcStatus.REM_INV_REQ_ERR);
    local.qp.postSend({ ...readOf(local.mr, at(remote, rkey)), wrId: 5, sendFlags: SendFlags.SIGNALED });
    assertSuccess(local, completionOf(local.cq, 5n));
  });
});
