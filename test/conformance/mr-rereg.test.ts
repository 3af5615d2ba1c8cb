import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AccessFlags,
  alloc,
  type Context,
  type Mr,
  MwType,
  type Pd,
  WcStatus,
  WrOpcode,
} from '../../src/entry/index.js';
import {
  ONE_SIDED,
  openWindow,
  PAGE,
  pingPong,
  readOf,
  reconnect,
  wholeOf,
  writeOf,
  writeThrough,
} from './memory-support.js';
import { conformance } from './provider.js';
import {
  ALL_ACCESS,
  assertErrno,
  assertStatus,
  assertSuccess,
  type End,
  LOCAL_ONLY,
  Pair,
  pattern,
  perform,
  pollOne,
  readU64,
  remoteOf,
  useDevices,
  writeU64,
} from './support.js';

const { LOCAL_WRITE, REMOTE_WRITE, REMOTE_ATOMIC } = AccessFlags;

conformance('changing a region', (provider) => {
  const devices = useDevices(provider, 1);

  function withRegion(body: (mr: Mr, pd: Pd, context: Context) => void): void {
    const [context] = devices;
    using pd = context.allocPd();
    using mr = pd.regMr(alloc(PAGE), ALL_ACCESS);
    body(mr, pd, context);
  }

  test('to other memory, it has its address, length and bytes, under the same keys', () => {
    withRegion((mr, pd) => {
      const { lkey, rkey } = mr;
      const memory = alloc(2 * PAGE);
      using other = pd.regMr(memory);
      mr.rereg({ memory });
      assert.deepEqual([mr.addr, mr.iova, mr.length], [other.addr, other.addr, 2 * PAGE]);
      assert.deepEqual([mr.lkey, mr.rkey], [lkey, rkey]);
      memory[PAGE + 1] = 8;
      assert.equal(mr.bytes[PAGE + 1], 8);
    });
  });

  test('to another domain, it names that one, and only that one is in use', () => {
    const [context] = devices;
    const first = context.allocPd();
    const second = context.allocPd();
    const mr = first.regMr(alloc(PAGE), ALL_ACCESS);
    mr.rereg({ pd: second });
    assert.equal(mr.pd, second);
    assertErrno('EBUSY', () => second.dealloc());
    first.dealloc();
    mr.dereg();
    second.dealloc();
  });

  test('to other access, it names that', () => {
    withRegion((mr) => {
      mr.rereg({ access: LOCAL_ONLY });
      assert.equal(mr.access, LOCAL_ONLY);
    });
  });

  test('to all of that at once, it names all', () => {
    withRegion((mr, _pd, context) => {
      const pd = context.allocPd();
      mr.rereg({ memory: alloc(64), iova: 0x20000n, pd, access: LOCAL_ONLY });
      assert.deepEqual([mr.length, mr.iova, mr.pd, mr.access], [64, 0x20000n, pd, LOCAL_ONLY]);
      mr.dereg();
      pd.dealloc();
    });
  });

  test('to nothing is refused', () => {
    withRegion((mr) => assertErrno('EINVAL', () => mr.rereg({})));
  });

  test('to rights for peers that need LOCAL_WRITE is refused without it, and changes nothing', () => {
    withRegion((mr) => {
      for (const access of [REMOTE_WRITE, REMOTE_ATOMIC]) assertErrno('EINVAL', () => mr.rereg({ access }));
      assert.equal(mr.access, ALL_ACCESS);
    });
  });

  test('to memory without bytes is refused, and changes nothing', () => {
    withRegion((mr) => {
      assertErrno('EINVAL', () => mr.rereg({ memory: new ArrayBuffer(0) }));
      assert.equal(mr.length, PAGE);
    });
  });

  test('to a domain of another device is refused, and changes nothing', () => {
    withRegion((mr, pd) => {
      const other = provider.open();
      assertErrno('EINVAL', () => mr.rereg({ pd: other.allocPd() }));
      other.close();
      assert.equal(mr.pd, pd);
    });
  });

  test('after its end is refused', () => {
    using pd = devices[0].allocPd();
    const mr = pd.regMr(alloc(PAGE), ALL_ACCESS);
    mr.dereg();
    assertErrno('EINVAL', () => mr.rereg({ access: LOCAL_ONLY }));
  });

  for (const [name, type] of [
    ['type 1', MwType.TYPE_1],
    ['type 2', MwType.TYPE_2],
  ] as const) {
    test(`while a window of ${name} is bound to it is refused`, () => {
      using pair = new Pair(devices);
      const { remote } = pair;
      openWindow(remote, type, wholeOf(remote.mr));
      assertErrno('EBUSY', () => remote.mr.rereg({ access: LOCAL_ONLY }));
      assert.equal(remote.mr.access, ALL_ACCESS);
    });
  }
});

/** How regions are made, and so how peers name them. */
const MAKERS: readonly (readonly [string, (end: End, access?: number) => Mr])[] = [
  ['a region', (end, access) => end.region(1024, access)],
  [
    'a region at a chosen address',
    (end, access = ALL_ACCESS) => end.keep(end.pd.regMr(alloc(1024), access, { iova: 0x40000n })),
  ],
];

for (const [kind, make] of MAKERS) {
  conformance(`traffic while ${kind} changes`, (provider) => {
    const devices = useDevices(provider, 1);

    test('a receive request for memory that it had before fails at both ends', () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const mr = make(remote);
      const before = mr.bytes;
      remote.qp.postRecv({ sgList: [mr.sge()] });
      mr.rereg({ memory: alloc(1024) });
      assertStatus(
        local,
        perform(local, { opcode: WrOpcode.SEND, sgList: [local.mr.sge(0, 1024)] }),
        WcStatus.REM_OP_ERR,
      );
      assertStatus(remote, pollOne(remote.cq), WcStatus.LOC_PROT_ERR);
      assert.deepEqual(before, new Uint8Array(1024));
    });

    test('the new memory is sent from and received into once the queue pairs are up again', () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const [here, there] = [make(local), make(remote)];
      remote.qp.postRecv({ sgList: [there.sge()] });
      for (const mr of [here, there]) mr.rereg({ memory: alloc(1024) });
      perform(local, { opcode: WrOpcode.SEND, sgList: [local.mr.sge(0, 1024)] });
      pollOne(remote.cq);
      reconnect(pair);
      pingPong(pair, here, there);
    });

    test('peers reach the new memory under the old key', () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const mr = make(remote);
      const memory = alloc(1024);
      mr.rereg({ memory });
      writeThrough(local, local.mr, remoteOf(mr), memory, 1024);
    });

    test('WRITEs get through both ways once it has the right', () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const [here, there] = [make(local, LOCAL_ONLY), make(remote, LOCAL_ONLY)];
      for (const mr of [here, there]) mr.rereg({ access: LOCAL_WRITE | REMOTE_WRITE });
      writeThrough(local, here, remoteOf(there), there.bytes, 1024);
      writeThrough(remote, there, remoteOf(here), here.bytes, 1024);
    });

    test('WRITEs do not get through any more once it has lost the right', () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const mr = make(remote);
      writeThrough(local, local.mr, remoteOf(mr), mr.bytes, 1024);
      mr.rereg({ access: LOCAL_ONLY });
      local.mr.bytes.fill(0);
      assertStatus(local, perform(local, writeOf(local.mr, remoteOf(mr))), WcStatus.REM_ACCESS_ERR);
      assert.deepEqual(mr.bytes, pattern(1024, 1024));
    });

    test('READs do not get through any more once it is for writing only', () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const mr = make(remote);
      assertSuccess(local, perform(local, readOf(local.mr, remoteOf(mr))));
      mr.rereg({ access: LOCAL_WRITE | REMOTE_WRITE });
      assertStatus(local, perform(local, readOf(local.mr, remoteOf(mr))), WcStatus.REM_ACCESS_ERR);
    });

    test('atomics get through again once the right to them is back', () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const mr = make(remote);
      const add = ONE_SIDED.FETCH_ADD(local.mr.sge(0, 8), remoteOf(mr));
      mr.rereg({ access: LOCAL_WRITE });
      assertStatus(local, perform(local, add), WcStatus.REM_ACCESS_ERR);
      mr.rereg({ access: LOCAL_WRITE | REMOTE_ATOMIC });
      reconnect(pair);
      writeU64(mr, 6n);
      assertSuccess(local, perform(local, add));
      assert.deepEqual([readU64(local.mr), readU64(mr)], [6n, 7n]);
    });

    test('SENDs into it work in its domain alone', () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const other = remote.keep(remote.context.allocPd());
      const mr = make(remote);
      pingPong(pair, local.mr, mr);
      mr.rereg({ pd: other });
      remote.qp.postRecv({ sgList: [mr.sge()] });
      const wc = perform(local, { opcode: WrOpcode.SEND, sgList: [local.mr.sge(0, 1024)] });
      assertStatus(local, wc, WcStatus.REM_OP_ERR);
      assertStatus(remote, pollOne(remote.cq), WcStatus.LOC_PROT_ERR);
      mr.rereg({ pd: remote.pd });
      reconnect(pair);
      pingPong(pair, local.mr, mr);
    });
  });
}
