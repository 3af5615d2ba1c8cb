import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { flushProblem, sendProblem } from '../index.js';
import {
  PlacementType,
  type QpCap,
  QpType,
  SelectivityLevel,
  SendFlags,
  WrOpcode,
} from '../../../device/ibta/index.js';

const cap: QpCap = { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 2, maxRecvSge: 2, maxInlineData: 32 };
const rdma = { remoteAddr: 0x2000n, rkey: 9 };
const { FLUSH_GLOBAL, FLUSH_PERSISTENT } = PlacementType;
const { FLUSH_RANGE, FLUSH_MR } = SelectivityLevel;

type Request = Parameters<typeof sendProblem>[3];
const check = (wr: Request): string | undefined => sendProblem(QpType.RC, cap, 2 ** 31, wr)?.message;

describe('a FLUSH request', () => {
  const opcode = WrOpcode.FLUSH;
  const flush = { length: 4096, type: FLUSH_GLOBAL, level: FLUSH_RANGE };

  const good: readonly [type: number, level: SelectivityLevel][] = [
    [FLUSH_GLOBAL, FLUSH_RANGE],
    [FLUSH_PERSISTENT, FLUSH_MR],
    [FLUSH_GLOBAL | FLUSH_PERSISTENT, FLUSH_RANGE],
  ];
  for (const [type, level] of good) {
    it(`can be of type ${type} and level ${level}`, () => {
      assert.equal(check({ opcode, rdma, flush: { length: 0, type, level } }), undefined);
    });
  }

  const bad: readonly [what: string, wr: Request, sentence: RegExp][] = [
    ['no remote memory', { opcode, flush }, /rdma is missing/],
    ['nothing to flush', { opcode, rdma }, /flush is missing/],
    ['pieces', { opcode, rdma, flush, sgList: [{ addr: 0, length: 8, lkey: 7 }] }, /FLUSH moves no data/],
    ['INLINE', { opcode, rdma, flush, sendFlags: SendFlags.INLINE }, /cannot be inline/],
  ];
  for (const [what, wr, sentence] of bad) {
    it(`is refused with ${what}`, () => assert.match(check(wr) ?? '', sentence));
  }

  const badFlush: readonly [what: string, flush: readonly [unknown, unknown, unknown], sentence: RegExp][] = [
    ['a length of 2^32', [2 ** 32, FLUSH_GLOBAL, FLUSH_RANGE], /flush\.length is 4294967296/],
    ['no placement', [1, 0, FLUSH_RANGE], /flush\.type is 0/],
    ['a placement that does not exist', [1, 4, FLUSH_RANGE], /flush\.type is 4/],
    ['a level that does not exist', [1, FLUSH_GLOBAL, 2], /flush\.level is 2/],
    ['no level', [1, FLUSH_GLOBAL, undefined], /flush\.level is missing/],
  ];
  for (const [what, [length, type, level], sentence] of badFlush) {
    it(`is refused with ${what}`, () => assert.match(flushProblem(length, type, level)?.message ?? '', sentence));
  }

  it('is one of RC alone', () => {
    assert.equal(sendProblem(QpType.XRC_SEND, cap, 1, { opcode, rdma, flush })?.errno, 'EINVAL');
  });
});

describe('an ATOMIC_WRITE request', () => {
  const opcode = WrOpcode.ATOMIC_WRITE;
  const eight = [{ addr: 0x1001, length: 8, lkey: 7 }];

  it('puts 8 registered bytes at a multiple of 8', () => {
    assert.equal(check({ opcode, rdma, sgList: eight }), undefined);
  });

  it('can gather them from pieces, or take them inline', () => {
    const four = { addr: 0x1000, length: 4, lkey: 7 };
    assert.equal(check({ opcode, rdma, sgList: [four, four] }), undefined);
    const sgList = [{ bytes: new Uint8Array(8) }];
    assert.equal(check({ opcode, rdma, sgList, sendFlags: SendFlags.INLINE }), undefined);
  });

  const bad: readonly [what: string, wr: Request, sentence: RegExp][] = [
    ['7 bytes', { opcode, rdma, sgList: [{ addr: 0, length: 7, lkey: 7 }] }, /puts 8 bytes, but sgList has 7/],
    ['no bytes', { opcode, rdma }, /puts 8 bytes, but sgList has 0/],
    ['no remote memory', { opcode, sgList: eight }, /rdma is missing/],
    ['an address between two multiples of 8', { opcode, rdma: { remoteAddr: 4, rkey: 9 }, sgList: eight }, /is 4/],
  ];
  for (const [what, wr, sentence] of bad) {
    it(`is refused with ${what}`, () => assert.match(check(wr) ?? '', sentence));
  }
});
