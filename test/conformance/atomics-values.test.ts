import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type CompareAndSwapRequest,
  type FetchAndAddRequest,
  SendFlags,
  WcOpcode,
  WrOpcode,
} from '../../src/entry/index.js';
import { conformance } from './provider.js';
import {
  assertEmpty,
  assertErrno,
  assertSuccess,
  type End,
  Pair,
  perform,
  pollOne,
  readU64,
  remoteOf,
  useDevices,
  writeU64,
} from './support.js';
import { XrcPair } from './xrc.js';

const { ATOMIC_FETCH_AND_ADD, ATOMIC_CMP_AND_SWP } = WrOpcode;
const { SIGNALED } = SendFlags;

/** Adds to the first 8 bytes of `remote`; what was there goes to the first 8 of `local`. */
function fetchAdd(local: End, remote: Pick<End, 'mr'>, add: bigint): FetchAndAddRequest {
  const sgList = [local.mr.sge(0, 8)] as const;
  return { opcode: ATOMIC_FETCH_AND_ADD, sgList, atomic: { ...remoteOf(remote.mr), compareAdd: add } };
}

function compareSwap(local: End, remote: Pick<End, 'mr'>, compare: bigint, swap: bigint): CompareAndSwapRequest {
  const sgList = [local.mr.sge(0, 8)] as const;
  return { opcode: ATOMIC_CMP_AND_SWP, sgList, atomic: { ...remoteOf(remote.mr), compareAdd: compare, swap } };
}

const valuesOf = (local: Pick<End, 'mr'>, remote: Pick<End, 'mr'>) => ({
  local: readU64(local.mr),
  remote: readU64(remote.mr),
});

conformance('RC atomics', (provider) => {
  const devices = useDevices(provider);

  /** A pair whose remote end holds 2 and whose local end something else. */
  const open = (): Pair => {
    const pair = new Pair(devices, { bytes: 64 });
    writeU64(pair.remote.mr, 2n);
    writeU64(pair.local.mr, 0xaaaa_aaaa_aaaa_aaaan);
    return pair;
  };

  for (const [what, add] of [
    ['0, which changes nothing,', 0n],
    ['1', 1n],
    ['2 to the 36th', 2n ** 36n],
    ['2 to the 64th less 1, which wraps round,', 2n ** 64n - 1n],
  ] as const) {
    test(`FETCH_ADD of ${what} adds at the peer and fetches what was there`, () => {
      using pair = open();
      const { local, remote } = pair;
      const wc = perform(local, fetchAdd(local, remote, add));
      assertSuccess(local, wc);
      assert.equal(wc.opcode, WcOpcode.FETCH_ADD);
      assert.deepEqual(valuesOf(local, remote), { local: 2n, remote: BigInt.asUintN(64, 2n + add) });
      assertEmpty(remote.cq);
    });
  }

  test('FETCH_ADD without SIGNALED is carried out and makes no entry', () => {
    using pair = open();
    const { local, remote } = pair;
    local.qp.postSend({ ...fetchAdd(local, remote, 10n), wrId: 1 });
    local.qp.postSend({ ...fetchAdd(local, remote, 1n), wrId: 2, sendFlags: SIGNALED });
    const wc = pollOne(local.cq);
    assertSuccess(local, wc);
    assert.equal(wc.wrId, 2n);
    assertEmpty(local.cq);
    assert.deepEqual(valuesOf(local, remote), { local: 12n, remote: 13n });
  });

  test('FETCH_ADD divides what it fetches among its pieces and touches nothing around them', () => {
    using pair = open();
    const { local, remote } = pair;
    writeU64(remote.mr, 0x0102_0304_0506_0708n);
    local.mr.bytes.fill(0x61);
    const { rkey, remoteAddr } = remoteOf(remote.mr);
    local.qp.wrStart();
    local.qp.wrFlags = SIGNALED;
    local.qp.wrAtomicFetchAdd(rkey, remoteAddr, 15n);
    local.qp.wrSetSgeList([local.mr.sge(8, 4), local.mr.sge(24, 4)]);
    local.qp.wrComplete();
    assertSuccess(local, pollOne(local.cq));
    assert.equal(readU64(remote.mr), 0x0102_0304_0506_0717n);
    const expected = new Uint8Array(64).fill(0x61);
    const fetched = new Uint8Array(BigUint64Array.of(0x0102_0304_0506_0708n).buffer);
    expected.set(fetched.subarray(0, 4), 8);
    expected.set(fetched.subarray(4), 24);
    assert.deepEqual(local.mr.bytes, expected);
  });

  test('FETCH_ADD is refused with room for other than 8 bytes', () => {
    using pair = open();
    const { local, remote } = pair;
    assertErrno('EINVAL', () => {
      local.qp.postSend({ ...fetchAdd(local, remote, 1n), sgList: [local.mr.sge(0, 9)] });
    });
    assertEmpty(local.cq);
    assert.deepEqual(valuesOf(local, remote), { local: 0xaaaa_aaaa_aaaa_aaaan, remote: 2n });
  });

  test('CMP_SWAP is refused with room for other than 8 bytes', () => {
    using pair = open();
    const { local, remote } = pair;
    assertErrno('EINVAL', () => {
      local.qp.postSend({ ...compareSwap(local, remote, 2n, 3n), sgList: [local.mr.sge(0, 9)] });
    });
    assertEmpty(local.cq);
    assert.deepEqual(valuesOf(local, remote), { local: 0xaaaa_aaaa_aaaa_aaaan, remote: 2n });
  });

  test('CMP_SWAP of an equal value swaps and fetches what was there', () => {
    using pair = open();
    const { local, remote } = pair;
    const wc = perform(local, compareSwap(local, remote, 2n, 3n));
    assertSuccess(local, wc);
    assert.equal(wc.opcode, WcOpcode.COMP_SWAP);
    assert.deepEqual(valuesOf(local, remote), { local: 2n, remote: 3n });
  });

  test('CMP_SWAP of another value swaps nothing and fetches what is there', () => {
    using pair = open();
    const { local, remote } = pair;
    const wc = perform(local, compareSwap(local, remote, 1n, 3n));
    assertSuccess(local, wc);
    assert.deepEqual(valuesOf(local, remote), { local: 2n, remote: 2n });
  });

  test('CMP_SWAP compares all 64 bits', () => {
    using pair = open();
    const { local, remote } = pair;
    assertSuccess(local, perform(local, compareSwap(local, remote, 2n ** 32n + 2n, 3n)));
    assert.equal(readU64(remote.mr), 2n);
    assertSuccess(local, perform(local, compareSwap(local, remote, 2n, 2n ** 63n + 3n)));
    assert.equal(readU64(remote.mr), 2n ** 63n + 3n);
  });

  test('CMP_SWAP without SIGNALED is carried out and makes no entry', () => {
    using pair = open();
    const { local, remote } = pair;
    local.qp.postSend({ ...compareSwap(local, remote, 2n, 3n), wrId: 1 });
    local.qp.postSend({ ...compareSwap(local, remote, 3n, 2n), wrId: 2, sendFlags: SIGNALED });
    const wc = pollOne(local.cq);
    assertSuccess(local, wc);
    assert.equal(wc.wrId, 2n);
    assertEmpty(local.cq);
    assert.deepEqual(valuesOf(local, remote), { local: 3n, remote: 2n });
  });
});

const ROUNDS = 10;

/** One end of a pair that sends both ways in turn. */
interface Direction {
  readonly from: End;
  readonly to: Pick<End, 'mr'>;
  /** Of XRC: the queue that requests name. */
  readonly xrc?: { readonly remoteSrqn: number };
}

/** Ten rounds of both directions, of a target that is 1 and an operand of 2. */
function addBothWays(directions: readonly Direction[]): void {
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { from, to, ...addressed } of directions) {
      writeU64(to.mr, 1n);
      assertSuccess(from, perform(from, { ...fetchAdd(from, to, 2n), ...addressed }));
      assert.deepEqual(valuesOf(from, to), { local: 1n, remote: 3n });
    }
  }
}

/** As above: first with a value that differs, then with an equal one. */
function swapBothWays(directions: readonly Direction[]): void {
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { from, to, ...addressed } of directions) {
      writeU64(to.mr, 1n);
      assertSuccess(from, perform(from, { ...compareSwap(from, to, 2n, 0n), ...addressed }));
      assert.deepEqual(valuesOf(from, to), { local: 1n, remote: 1n });
      assertSuccess(from, perform(from, { ...compareSwap(from, to, 1n, 0n), ...addressed }));
      assert.deepEqual(valuesOf(from, to), { local: 1n, remote: 0n });
    }
  }
}

conformance('atomics both ways', (provider) => {
  const devices = useDevices(provider);

  const overRc = (check: (directions: readonly Direction[]) => void): void => {
    using pair = new Pair(devices, { bytes: 64 });
    check([
      { from: pair.local, to: pair.remote },
      { from: pair.remote, to: pair.local },
    ]);
  };

  const overXrc = (check: (directions: readonly Direction[]) => void): void => {
    using there = new XrcPair(devices, { bytes: 64 });
    using back = new XrcPair([...devices].reverse(), { bytes: 64 });
    check([there, back].map(({ local, remote }) => ({ from: local, to: remote, xrc: remote.destination })));
  };

  test('over RC add', () => overRc(addBothWays));
  test('over RC compare and swap', () => overRc(swapBothWays));
  test('over XRC add', () => overXrc(addBothWays));
  test('over XRC compare and swap', () => overXrc(swapBothWays));
});
