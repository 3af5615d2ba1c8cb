import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  accessProblem,
  adviseProblem,
  defaultIova,
  iovaProblem,
  type MrChange,
  pieceOfRegionProblem,
  reregFlagsOf,
  reregProblem,
} from '../index.js';
import { AccessFlags, AdviseMrAdvice, AdviseMrFlags, ReregMrFlags } from '../../../device/ibta/index.js';

const { LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC, ON_DEMAND, RELAXED_ORDERING, ZERO_BASED } = AccessFlags;
const supported = LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC;
const everything = Object.values(AccessFlags).reduce((mask, bit) => mask | bit, 0);

describe('access flags (protocol/services.md 3.6)', () => {
  const good = [0, REMOTE_READ, supported, LOCAL_WRITE | REMOTE_WRITE, RELAXED_ORDERING, 1 << 29];
  for (const access of good)
    it(`can be 0x${access.toString(16)}`, () => assert.equal(accessProblem(access, supported), undefined));

  it('can be all of them where the device has all', () => {
    assert.equal(accessProblem(everything, everything), undefined);
  });

  const bad: readonly [what: string, access: number, errno: string][] = [
    ['REMOTE_WRITE without LOCAL_WRITE', REMOTE_WRITE, 'EINVAL'],
    ['REMOTE_ATOMIC without LOCAL_WRITE', REMOTE_ATOMIC | REMOTE_READ, 'EINVAL'],
    ['a bit that does not exist', 1 << 15, 'EINVAL'],
    ['a bit above the optional ones', 1 << 30, 'EINVAL'],
    ['what the device lacks', ON_DEMAND, 'EOPNOTSUPP'],
    ['a fraction', 1.5, 'EINVAL'],
    ['a negative number', -1, 'EINVAL'],
  ];
  for (const [what, access, errno] of bad) {
    it(`cannot be ${what}`, () => assert.equal(accessProblem(access, supported)?.errno, errno));
  }
});

describe('the name of a region’s first byte (protocol/services.md 3.6)', () => {
  const addr = 0x7f00_0000_1234n;

  it('is its address when nobody says otherwise, or 0 when it is zero-based', () => {
    assert.equal(defaultIova(addr, LOCAL_WRITE), addr);
    assert.equal(defaultIova(addr, ZERO_BASED), 0n);
  });

  const good: readonly [what: string, iova: bigint | number, access: number][] = [
    ['its address', addr, 0],
    ['another with the same offset in its page', 0x5234, 0],
    ['the last that fits 64 bits', 0xffff_ffff_ffff_f234n, 0],
    ['0, zero-based', 0, ZERO_BASED],
  ];
  for (const [what, iova, access] of good) {
    it(`can be ${what}`, () => assert.equal(iovaProblem(iova, addr, 0xdcc, access), undefined));
  }

  const bad: readonly [what: string, iova: bigint | number, access: number][] = [
    ['one with another offset in its page', 0x5000, 0],
    ['negative', -1, 0],
    ['above 64 bits', 2n ** 64n, 0],
    ['so high that its bytes do not fit 64 bits', 0xffff_ffff_ffff_f234n, 0],
    ['other than 0, zero-based', addr, ZERO_BASED],
  ];
  for (const [what, iova, access] of bad) {
    it(`cannot be ${what}`, () => assert.equal(iovaProblem(iova, addr, 0xdcd, access)?.errno, 'EINVAL'));
  }
});

describe('a change of a region (protocol/services.md 3.6)', () => {
  const { CHANGE_TRANSLATION, CHANGE_ACCESS } = ReregMrFlags;
  const memory = new Uint8Array(1);
  const flags: readonly [MrChange, number][] = [
    [{ memory }, CHANGE_TRANSLATION],
    [{ iova: 0n }, CHANGE_TRANSLATION],
    [{ access: 0 }, CHANGE_ACCESS],
    [{ memory, iova: 0, access: 0 }, CHANGE_TRANSLATION | CHANGE_ACCESS],
    [{}, 0],
  ];
  for (const [change, mask] of flags) {
    it(`of ${Object.keys(change).join(', ') || 'nothing'} has flags ${mask}`, () => {
      assert.equal(reregFlagsOf(change), mask);
    });
  }

  it('can be of access alone', () => assert.equal(reregProblem({ access: REMOTE_READ }, supported), undefined));

  it('cannot be of nothing', () => assert.equal(reregProblem({}, supported)?.errno, 'EINVAL'));

  it('cannot be of what a region does not have', () => {
    const misspelt: Record<string, number> = { acces: 1 };
    assert.match(reregProblem(misspelt, supported)?.message ?? '', /'acces' is nothing that can change/);
  });

  it('cannot give access that registration would not', () => {
    assert.equal(reregProblem({ access: REMOTE_WRITE }, supported)?.errno, 'EINVAL');
    assert.equal(reregProblem({ access: ON_DEMAND }, supported)?.errno, 'EOPNOTSUPP');
  });
});

describe('advice about memory (man ibv_advise_mr)', () => {
  const sgList = [{ addr: 0x1000, length: 16, lkey: 7 }];

  for (const advice of Object.values(AdviseMrAdvice)) {
    it(`can be ${advice}`, () => assert.equal(adviseProblem(advice, AdviseMrFlags.FLUSH, sgList), undefined));
  }

  it('cannot be one that does not exist', () => assert.equal(adviseProblem(3, 0, sgList)?.errno, 'EOPNOTSUPP'));
  it('cannot have flags that do not exist', () => assert.equal(adviseProblem(0, 2, sgList)?.errno, 'EINVAL'));
  it('cannot be about nothing', () => assert.equal(adviseProblem(0, 0, [])?.errno, 'EINVAL'));

  it('names memory as requests do', () => {
    const nameless = [{ addr: 0x1000, length: 16 }];
    assert.match(adviseProblem(0, 0, nameless)?.message ?? '', /sgList\[0\]\.lkey is missing/);
  });
});

describe('a piece of a region', () => {
  it('can be all of it, or nothing at its end', () => {
    assert.equal(pieceOfRegionProblem(0, 100, 100), undefined);
    assert.equal(pieceOfRegionProblem(100, 0, 100), undefined);
  });

  it('cannot reach outside', () => {
    for (const [offset, length] of [
      [0, 101],
      [1, 100],
      [101, 0],
      [-1, 1],
      [0, -1],
      [0.5, 1],
      [0, NaN],
    ]) {
      assert.equal(pieceOfRegionProblem(offset, length, 100)?.errno, 'EINVAL', `${offset}+${length}`);
    }
  });

  it('is at most 2^32 - 1 bytes, as an sge is', () => {
    assert.equal(pieceOfRegionProblem(0, 2 ** 32, 2 ** 33)?.errno, 'EINVAL');
  });
});
