import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alloc, type Mr, type SendWr, type Sge, WcStatus, WrOpcode } from '../../src/entry/index.js';
import { ONE_SIDED, PAGE } from './memory-support.js';
import { conformance } from './provider.js';
import {
  ALL_ACCESS,
  assertEmpty,
  assertErrno,
  assertStatus,
  assertSuccess,
  BOGUS_KEY,
  type End,
  Pair,
  perform,
  pollOne,
  remoteOf,
  useDevices,
} from './support.js';

/** A region over the pages 1 to 4 of six, so that what lies beside it is memory, too. */
function middleRegion(end: End): { readonly mr: Mr; readonly around: Uint8Array } {
  const around = alloc(6 * PAGE);
  return { mr: end.keep(end.pd.regMr(around.subarray(PAGE, 5 * PAGE), ALL_ACCESS)), around };
}

/** A piece that may lie anywhere. */
const pieceAt = ({ addr, lkey, length: end }: Mr, offset: number, length: number): Sge => {
  assert.ok(offset < 0 || offset + length > end || length === 0);
  return { addr: addr + BigInt(offset), length, lkey };
};

const EXCESSES: readonly (readonly [string, number, WcStatus, WcStatus])[] = [
  ['begins one byte before', -1, WcStatus.LOC_PROT_ERR, WcStatus.REM_ACCESS_ERR],
  ['ends one byte behind', 3 * PAGE + 1, WcStatus.LOC_PROT_ERR, WcStatus.REM_ACCESS_ERR],
];

conformance('the bounds of a region', (provider) => {
  const devices = useDevices(provider, 1);

  for (const [where, offset, local_, remote_] of EXCESSES) {
    for (const name of ['READ', 'WRITE'] as const) {
      test(`a ${name} that ${where} the peer’s is refused there`, () => {
        using pair = new Pair(devices);
        const { local, remote } = pair;
        const { mr, around } = middleRegion(remote);
        local.mr.bytes.fill(7);
        const wr = ONE_SIDED[name](local.mr.sge(0, PAGE), remoteOf(mr, offset));
        assertStatus(local, perform(local, wr), remote_);
        assert.ok(around.every((byte) => byte === 0));
        assert.equal(local.mr.bytes[0], 7);
      });

      test(`a ${name} that ${where} our own is refused at home`, () => {
        using pair = new Pair(devices);
        const { local, remote } = pair;
        const { mr, around } = middleRegion(local);
        remote.mr.bytes.fill(7);
        const wr = ONE_SIDED[name](pieceAt(mr, offset, PAGE), remoteOf(remote.mr));
        assertStatus(local, perform(local, wr), local_);
        assert.ok(around.every((byte) => byte === 0));
        assert.equal(remote.mr.bytes[0], 7);
      });
    }

    test(`a SEND that ${where} our own is refused at home`, () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      remote.qp.postRecv({ sgList: [remote.mr.sge()] });
      const sgList = [pieceAt(middleRegion(local).mr, offset, PAGE)];
      assertStatus(local, perform(local, { opcode: WrOpcode.SEND, sgList }), local_);
      assertEmpty(remote.cq);
    });
  }

  test('READs and WRITEs of the first and of the last bytes go through', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { mr, around } = middleRegion(remote);
    local.mr.bytes.fill(7);
    for (const offset of [0, 3 * PAGE]) {
      assertSuccess(local, perform(local, ONE_SIDED.WRITE(local.mr.sge(0, PAGE), remoteOf(mr, offset))));
      assertSuccess(local, perform(local, ONE_SIDED.READ(local.mr.sge(PAGE, PAGE), remoteOf(mr, offset))));
    }
    assert.deepEqual([around[PAGE - 1], around[PAGE], around[5 * PAGE - 1], around[5 * PAGE]], [0, 7, 7, 0]);
  });

  test('memory without bytes is refused', () => {
    using end = new Pair(devices);
    assertErrno('EINVAL', () => end.local.pd.regMr(new ArrayBuffer(0), ALL_ACCESS));
    assertErrno('EINVAL', () => end.local.pd.regMr(alloc(PAGE).subarray(8, 8), ALL_ACCESS));
  });
});

// protocol/reliable.md 2.8: a message without bytes touches no memory, so that nobody looks at addresses and keys.

conformance('messages of zero bytes', (provider) => {
  const devices = useDevices(provider, 1);

  function sendNothing({ local, remote }: Pair, source: Sge, target: Sge): void {
    remote.qp.postRecv({ sgList: [target] });
    assertSuccess(local, perform(local, { opcode: WrOpcode.SEND, sgList: [source] }));
    const received = pollOne(remote.cq);
    assertSuccess(remote, received);
    assert.equal(received.byteLen, 0);
  }

  test('a SEND from inside a region arrives', () => {
    using pair = new Pair(devices);
    sendNothing(pair, pair.local.mr.sge(0, 0), pair.remote.mr.sge(8, 0));
  });

  test('a SEND from the first byte of a region to that of another arrives', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    sendNothing(pair, pieceAt(middleRegion(local).mr, 0, 0), pieceAt(middleRegion(remote).mr, 0, 0));
  });

  test('a SEND from outside of the region of the key arrives', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    sendNothing(pair, pieceAt(middleRegion(local).mr, -PAGE, 0), pieceAt(middleRegion(remote).mr, -PAGE, 0));
  });

  test('a SEND with an L_Key that nothing has arrives', () => {
    using pair = new Pair(devices);
    const { addr } = pair.local.mr;
    sendNothing(pair, { addr, length: 0, lkey: BOGUS_KEY }, { addr: 0, length: 0, lkey: BOGUS_KEY });
  });

  for (const name of ['READ', 'WRITE'] as const) {
    const request = ONE_SIDED[name];

    /** That it is carried out and changes nothing. */
    const passes = (local: End, wr: SendWr): void => assertSuccess(local, perform(local, wr));

    test(`a ${name} inside the region succeeds`, () => {
      using pair = new Pair(devices);
      passes(pair.local, request(pair.local.mr.sge(0, 0), remoteOf(pair.remote.mr)));
    });

    test(`a ${name} with both addresses outside of the regions succeeds`, () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      passes(local, request(pieceAt(middleRegion(local).mr, -PAGE, 0), remoteOf(middleRegion(remote).mr, -PAGE)));
    });

    test(`a ${name} with an R_Key that nothing has succeeds`, () => {
      using pair = new Pair(devices);
      const { remoteAddr } = remoteOf(pair.remote.mr);
      passes(pair.local, request(pair.local.mr.sge(0, 0), { remoteAddr, rkey: BOGUS_KEY }));
    });

    test(`a ${name} with the R_Key of a region that has ended succeeds`, () => {
      using pair = new Pair(devices);
      const mr = pair.remote.pd.regMr(alloc(PAGE), ALL_ACCESS);
      const target = remoteOf(mr);
      mr.dereg();
      passes(pair.local, request(pair.local.mr.sge(0, 0), target));
    });

    test(`a ${name} without any piece succeeds`, () => {
      using pair = new Pair(devices);
      const rdma = remoteOf(pair.remote.mr);
      const opcode = name === 'READ' ? WrOpcode.RDMA_READ : WrOpcode.RDMA_WRITE;
      passes(pair.local, { opcode, rdma });
    });
  }
});
