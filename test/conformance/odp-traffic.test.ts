import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AccessFlags,
  alloc,
  type Mr,
  OdpGeneralCaps,
  OdpTransportCaps,
  PlacementType,
  QpType,
  SelectivityLevel,
  SendFlags,
  SrqType,
  WrOpcode,
} from '../../src/entry/index.js';
import { ONE_SIDED, pingPong, sendThrough, writeThrough } from './memory-support.js';
import { conformance } from './provider.js';
import {
  ALL_ACCESS,
  assertSuccess,
  bringUp,
  End,
  LOCAL_ONLY,
  Pair,
  pattern,
  perform,
  pollOne,
  readU64,
  REMOTE_ACCESS,
  remoteOf,
  targetOf,
  useDevices,
  writeU64,
} from './support.js';

const { ON_DEMAND, HUGETLB, FLUSH_GLOBAL } = AccessFlags;
const ODP_ACCESS = ALL_ACCESS | ON_DEMAND | FLUSH_GLOBAL;
const HUGE_PAGE = 2 ** 21;

/** How such regions are made, and so how peers name them. */
const MAKERS: readonly (readonly [string, (end: End, bytes: number, access?: number) => Mr])[] = [
  ['registered', (end, bytes, access = 0) => end.region(bytes, ODP_ACCESS | access)],
  [
    'registered at a chosen address',
    (end, bytes, access = 0) => end.keep(end.pd.regMr(alloc(bytes), ODP_ACCESS | access, { iova: 0x4000_0000_0000n })),
  ],
];

conformance('what the device says of memory on demand', (provider) => {
  const devices = useDevices(provider, 1);

  test('it has it, for each operation of RC, UC and UD and for receiving', () => {
    const { generalCaps, perTransportCaps } = devices[0].queryDeviceEx().odpCaps;
    const { SUPPORT_SEND, SUPPORT_RECV, SUPPORT_WRITE, SUPPORT_READ, SUPPORT_ATOMIC, SUPPORT_SRQ_RECV } =
      OdpTransportCaps;
    const both = SUPPORT_SEND | SUPPORT_RECV;
    const rc = both | SUPPORT_WRITE | SUPPORT_READ | SUPPORT_ATOMIC | SUPPORT_SRQ_RECV;
    assert.equal(generalCaps & OdpGeneralCaps.SUPPORT, OdpGeneralCaps.SUPPORT);
    assert.equal(perTransportCaps.rcOdpCaps & rc, rc);
    assert.equal(perTransportCaps.ucOdpCaps & (both | SUPPORT_WRITE), both | SUPPORT_WRITE);
    assert.equal(perTransportCaps.udOdpCaps & both, both);
  });

  test('it has it for FLUSH and ATOMIC_WRITE on RC, and for what XRC has', () => {
    const { odpCaps, xrcOdpCaps } = devices[0].queryDeviceEx();
    const { SUPPORT_SEND, SUPPORT_SRQ_RECV, SUPPORT_FLUSH, SUPPORT_ATOMIC_WRITE } = OdpTransportCaps;
    const placing = SUPPORT_FLUSH | SUPPORT_ATOMIC_WRITE;
    assert.equal(odpCaps.perTransportCaps.rcOdpCaps & placing, placing);
    assert.equal(xrcOdpCaps & (SUPPORT_SEND | SUPPORT_SRQ_RECV), SUPPORT_SEND | SUPPORT_SRQ_RECV);
  });

  test('it does not have the whole address space as one region', () => {
    const { generalCaps } = devices[0].queryDeviceEx().odpCaps;
    assert.equal(generalCaps & OdpGeneralCaps.SUPPORT_IMPLICIT, 0);
  });
});

for (const [how, make] of MAKERS) {
  conformance(`traffic over memory on demand, ${how}`, (provider) => {
    const devices = useDevices(provider, 2);

    test('RC sends and receives', () => {
      using pair = new Pair(devices);
      pingPong(pair, make(pair.local, 1024), make(pair.remote, 1024));
    });

    test('RC sends and receives where it is of huge pages', () => {
      using pair = new Pair(devices);
      pingPong(pair, make(pair.local, HUGE_PAGE, HUGETLB), make(pair.remote, HUGE_PAGE, HUGETLB), 65536);
    });

    test('RC sends from and receives into pieces of which one is on demand and one is not', () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const [here, there] = [make(local, 512), make(remote, 512)];
      here.bytes.set(pattern(512));
      local.mr.bytes.set(pattern(512, 9));
      remote.qp.postRecv({ sgList: [there.sge(), remote.mr.sge(0, 512)] });
      const sgList = [here.sge(), local.mr.sge(0, 512)];
      assertSuccess(local, perform(local, { opcode: WrOpcode.SEND, sgList }));
      assertSuccess(remote, pollOne(remote.cq));
      assert.deepEqual(there.bytes, pattern(512));
      assert.deepEqual(remote.mr.bytes.subarray(0, 512), pattern(512, 9));
    });

    test('RC writes from it and into it', () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const there = make(remote, 1024);
      writeThrough(local, make(local, 1024), remoteOf(there), there.bytes, 1024);
    });

    test('RC reads from it and into it', () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const [here, there] = [make(local, 1024), make(remote, 1024)];
      there.bytes.set(pattern(1024));
      assertSuccess(local, perform(local, ONE_SIDED.READ(here.sge(), remoteOf(there))));
      assert.deepEqual(here.bytes, pattern(1024));
    });

    test('RC adds to it and fetches into it', () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const [here, there] = [make(local, 8), make(remote, 8)];
      writeU64(there, 41n);
      assertSuccess(local, perform(local, ONE_SIDED.FETCH_ADD(here.sge(), remoteOf(there))));
      assert.deepEqual([readU64(here), readU64(there)], [41n, 42n]);
    });

    test('RC compares and swaps in it: first in vain, then with success', () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const [here, there] = [make(local, 8), make(remote, 8)];
      writeU64(there, 41n);
      for (const [compareAdd, after] of [
        [40n, 41n],
        [41n, 99n],
      ] as const) {
        const atomic = { ...remoteOf(there), compareAdd, swap: 99n };
        const wr = { opcode: WrOpcode.ATOMIC_CMP_AND_SWP, sgList: [here.sge()], atomic } as const;
        assertSuccess(local, perform(local, wr));
        assert.deepEqual([readU64(here), readU64(there)], [41n, after]);
      }
    });

    test('RC puts eight bytes into it at once, by wrAtomicWrite', () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const there = make(remote, 16);
      local.qp.wrStart();
      local.qp.wrFlags = SendFlags.SIGNALED;
      local.qp.wrAtomicWrite(there.rkey, there.iova + 8n, pattern(8, 1));
      local.qp.wrComplete();
      assertSuccess(local, pollOne(local.cq));
      assert.deepEqual(there.bytes, Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, ...pattern(8, 1)));
    });

    for (const [what, level] of [
      ['a range', SelectivityLevel.FLUSH_RANGE],
      ['all', SelectivityLevel.FLUSH_MR],
    ] as const) {
      test(`RC writes into it and flushes ${what} of it, by wrFlush`, () => {
        using pair = new Pair(devices, { qpAccess: REMOTE_ACCESS | FLUSH_GLOBAL });
        const { local, remote } = pair;
        const there = make(remote, 1024);
        local.mr.bytes.set(pattern(64));
        local.qp.wrStart();
        local.qp.wrRdmaWrite(there.rkey, there.iova);
        local.qp.wrSetSge(local.mr.lkey, local.mr.iova, 64);
        local.qp.wrFlags = SendFlags.SIGNALED;
        local.qp.wrFlush(there.rkey, there.iova, 64, PlacementType.FLUSH_GLOBAL, level);
        local.qp.wrComplete();
        assertSuccess(local, pollOne(local.cq));
        assert.deepEqual(there.bytes.subarray(0, 64), pattern(64));
      });
    }

    test('UC sends and receives', () => {
      using pair = new Pair(devices, { qpType: QpType.UC });
      pingPong(pair, make(pair.local, 1024), make(pair.remote, 1024));
    });

    test('UD sends from it into memory that is not on demand', () => {
      using pair = new Pair(devices, { qpType: QpType.UD });
      sendThrough(pair.local, pair.remote, make(pair.local, 1024), pair.remote.mr, 1000);
    });

    test('XRC sends from it and receives into it', () => {
      using local = new End(devices[0], { qpType: QpType.XRC_SEND });
      using remote = new End(devices[1]);
      const xrcd = remote.keep(remote.context.openXrcd());
      const srq = remote.keep(remote.pd.createSrq({ srqType: SrqType.XRC, maxWr: 4, xrcd, cq: remote.cq }));
      const target = remote.keep(xrcd.createQp());
      bringUp(target, targetOf(local));
      bringUp(local.qp, { context: remote.context, qpNum: target.qpNum });
      const [here, there] = [make(local, 1024), make(remote, 1024)];
      here.bytes.set(pattern(1024));
      srq.postRecv({ sgList: [there.sge()] });
      const xrc = { remoteSrqn: srq.srqNum };
      assertSuccess(local, perform(local, { opcode: WrOpcode.SEND, sgList: [here.sge()], xrc }));
      assertSuccess(remote, pollOne(remote.cq));
      assert.deepEqual(there.bytes, pattern(1024));
    });
  });
}

conformance('memory on demand', (provider) => {
  const devices = useDevices(provider, 1);

  test('has the rules of other memory: no rights for peers to change it without LOCAL_WRITE', () => {
    using pd = devices[0].allocPd();
    const access = AccessFlags.REMOTE_WRITE | ON_DEMAND;
    assert.throws(() => pd.regMr(alloc(64), access), { errno: 'EINVAL' });
    pd.regMr(alloc(64), LOCAL_ONLY | access).dereg();
  });
});
