import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasOpcode, mayBeInline, opcodeProblem, recvStateProblem, sendProblem, sendStateProblem } from '../index.js';
import { nameOf, type QpCap, QpState, QpType, SendFlags, WrOpcode } from '../../../device/ibta/index.js';

const cap: QpCap = { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 2, maxRecvSge: 2, maxInlineData: 32 };
const MAX_MESSAGE = 2 ** 31;
const sge = { addr: 0x1000n, length: 16, lkey: 7 };
const eight = { addr: 0x1000, length: 8, lkey: 7 };
const rdma = { remoteAddr: 0x2000n, rkey: 9 };
const cas = { remoteAddr: 0x2000n, rkey: 9, compareAdd: 1n, swap: 2n };
const faa = { remoteAddr: 0x2000n, rkey: 9, compareAdd: 1n };
const {
  SEND,
  SEND_WITH_IMM,
  SEND_WITH_INV,
  RDMA_WRITE,
  RDMA_WRITE_WITH_IMM,
  RDMA_READ,
  ATOMIC_CMP_AND_SWP,
  ATOMIC_FETCH_AND_ADD,
} = WrOpcode;

type Request = Parameters<typeof sendProblem>[3];
const check = (wr: Request, type: QpType = QpType.RC): string | undefined =>
  sendProblem(type, cap, MAX_MESSAGE, wr)?.message;

describe('a send request', () => {
  const good: readonly Request[] = [
    { opcode: SEND },
    { opcode: SEND, wrId: -1, sgList: [sge, sge], sendFlags: SendFlags.SIGNALED | SendFlags.SOLICITED },
    { opcode: SEND, sgList: [{ bytes: new Uint8Array(32) }], sendFlags: SendFlags.INLINE },
    { opcode: SEND, sgList: [{ addr: 1, length: 4 }], sendFlags: SendFlags.INLINE },
    { opcode: SEND_WITH_IMM, sgList: [sge], immData: 0xffffffff },
    { opcode: SEND_WITH_INV, sgList: [sge], invalidateRkey: 0 },
    { opcode: RDMA_WRITE, sgList: [sge], rdma },
    { opcode: RDMA_WRITE_WITH_IMM, rdma, immData: 0 },
    { opcode: RDMA_READ, sgList: [sge], rdma, sendFlags: SendFlags.FENCE },
    { opcode: ATOMIC_CMP_AND_SWP, sgList: [eight], atomic: cas },
    { opcode: ATOMIC_FETCH_AND_ADD, sgList: [eight], atomic: faa },
  ];
  for (const wr of good) {
    it(`can be ${nameOf(WrOpcode, wr.opcode)} with ${Object.keys(wr).join(', ')}`, () =>
      assert.equal(check(wr), undefined));
  }

  const bad: readonly [what: string, Request, sentence: RegExp][] = [
    ['an opcode that does not exist', { opcode: 99 }, /no requests of opcode 99/],
    ['an id that is not an integer', { opcode: SEND, wrId: 1.5 }, /wrId is 1\.5/],
    ['flags that do not exist', { opcode: SEND, sendFlags: 1 << 9 }, /sendFlags has 0x200/],
    ['checksums, which the device does not compute', { opcode: SEND, sendFlags: SendFlags.IP_CSUM }, /has IP_CSUM/],
    ['flags that are no number', { opcode: SEND, sendFlags: 'SIGNALED' }, /sendFlags is 'SIGNALED'/],
    ['too many pieces', { opcode: SEND, sgList: [sge, sge, sge] }, /3 pieces, but the QP takes 2/],
    ['a negative address', { opcode: SEND, sgList: [{ ...sge, addr: -1 }] }, /sgList\[0\]\.addr is -1/],
    ['an inexact address', { opcode: SEND, sgList: [{ ...sge, addr: 2 ** 60 }] }, /sgList\[0\]\.addr/],
    ['a length of 2^32', { opcode: SEND, sgList: [sge, { ...sge, length: 2 ** 32 }] }, /sgList\[1\]\.length/],
    ['no lkey', { opcode: SEND, sgList: [{ addr: 1, length: 1 }] }, /sgList\[0\]\.lkey is missing/],
    ['bytes without INLINE', { opcode: SEND, sgList: [{ bytes: new Uint8Array(1) }] }, /only inline data can/],
    [
      'bytes that are none',
      { opcode: SEND, sgList: [{ bytes: 'text' }], sendFlags: SendFlags.INLINE },
      /bytes is 'text'/,
    ],
    [
      'too much inline data',
      { opcode: SEND, sgList: [{ bytes: new Uint8Array(33) }], sendFlags: SendFlags.INLINE },
      /33 bytes, but the QP takes 32/,
    ],
    ['an inline READ', { opcode: RDMA_READ, rdma, sendFlags: SendFlags.INLINE }, /RDMA_READ cannot be inline/],
    [
      'an inline atomic',
      { opcode: ATOMIC_FETCH_AND_ADD, atomic: faa, sgList: [eight], sendFlags: SendFlags.INLINE },
      /cannot be inline/,
    ],
    [
      'a message above the port’s limit',
      { opcode: SEND, sgList: [{ ...sge, length: MAX_MESSAGE }, sge] },
      /2147483664 bytes, but the port takes 2147483648/,
    ],
    ['no immediate data', { opcode: SEND_WITH_IMM }, /immData is missing/],
    ['immediate data of 33 bits', { opcode: RDMA_WRITE_WITH_IMM, rdma, immData: 2 ** 32 }, /immData is 4294967296/],
    ['no key to invalidate', { opcode: SEND_WITH_INV }, /invalidateRkey is missing/],
    ['no remote memory', { opcode: RDMA_WRITE, sgList: [sge] }, /rdma is missing/],
    ['a remote address that is none', { opcode: RDMA_READ, rdma: { ...rdma, remoteAddr: -1n } }, /rdma\.remoteAddr/],
    ['a remote key that is none', { opcode: RDMA_READ, rdma: { ...rdma, rkey: -1 } }, /rdma\.rkey is -1/],
    ['an atomic without operands', { opcode: ATOMIC_FETCH_AND_ADD, sgList: [eight] }, /atomic is missing/],
    [
      'an atomic without a swap value',
      { opcode: ATOMIC_CMP_AND_SWP, sgList: [eight], atomic: faa },
      /atomic\.swap is missing/,
    ],
    [
      'an atomic between two multiples of 8',
      { opcode: ATOMIC_FETCH_AND_ADD, sgList: [eight], atomic: { ...faa, remoteAddr: 0x2004n } },
      /remoteAddr is 0x2004/,
    ],
    ['an atomic of 16 bytes', { opcode: ATOMIC_FETCH_AND_ADD, sgList: [sge], atomic: faa }, /room for 16/],
    ['an atomic into nothing', { opcode: ATOMIC_FETCH_AND_ADD, sgList: [], atomic: faa }, /room for 0/],
  ];
  for (const [what, wr, sentence] of bad) {
    it(`is refused with ${what}`, () => assert.match(check(wr) ?? '', sentence));
  }

  it('may be longer than inline data when it is not inline', () => {
    assert.equal(check({ opcode: SEND, sgList: [{ ...sge, length: 1000 }] }), undefined);
  });
});

describe('opcodes by QP type', () => {
  const sets: readonly [QpType, readonly WrOpcode[]][] = [
    [QpType.RC, Object.values(WrOpcode).filter((opcode) => opcode !== WrOpcode.TSO)],
    [QpType.UC, [RDMA_WRITE, RDMA_WRITE_WITH_IMM, SEND, SEND_WITH_IMM, WrOpcode.LOCAL_INV, WrOpcode.BIND_MW]],
    [QpType.UD, [SEND, SEND_WITH_IMM, WrOpcode.TSO]],
    [QpType.RAW_PACKET, [SEND, WrOpcode.TSO]],
    [
      QpType.XRC_SEND,
      Object.values(WrOpcode).filter(
        (opcode) => opcode !== WrOpcode.TSO && opcode !== WrOpcode.FLUSH && opcode !== WrOpcode.ATOMIC_WRITE,
      ),
    ],
    [QpType.XRC_RECV, []],
  ];
  for (const [type, opcodes] of sets) {
    it(`of ${nameOf(QpType, type)} are ${opcodes.length}`, () => {
      for (const opcode of Object.values(WrOpcode)) {
        const name = nameOf(WrOpcode, opcode);
        assert.equal(hasOpcode(type, opcode), opcodes.includes(opcode), name);
        if (opcode !== WrOpcode.TSO)
          assert.equal(opcodeProblem(type, opcode) === undefined, opcodes.includes(opcode), name);
      }
    });
  }

  it('say what the type has instead', () => {
    assert.equal(opcodeProblem(QpType.RAW_PACKET, RDMA_READ)?.advice, 'It has SEND');
  });

  for (const type of [QpType.UD, QpType.RAW_PACKET]) {
    it(`of ${nameOf(QpType, type)} have TSO by the manual, but not on this device`, () => {
      assert.equal(sendProblem(type, cap, MAX_MESSAGE, { opcode: WrOpcode.TSO })?.errno, 'EOPNOTSUPP');
    });
  }

  it('do not run into the next type’s', () => {
    assert.equal(hasOpcode(QpType.RC, 16 + SEND), false);
    assert.equal(hasOpcode(QpType.RC, -1), false);
  });

  it('can be inline where the data leaves this side', () => {
    assert.deepEqual([SEND, RDMA_WRITE, RDMA_READ, ATOMIC_CMP_AND_SWP].map(mayBeInline), [true, true, false, false]);
  });
});

describe('posting by state (protocol/reliable.md 2.9)', () => {
  it('sends only from RTS, SQD, SQE and ERR', () => {
    const states = Object.values(QpState).filter((state) => sendStateProblem(state) === undefined);
    assert.deepEqual(states, [QpState.RTS, QpState.SQD, QpState.SQE, QpState.ERR]);
  });

  it('receives from everywhere but RESET', () => {
    const states = Object.values(QpState).filter((state) => recvStateProblem(QpType.RC, state) !== undefined);
    assert.deepEqual(states, [QpState.RESET]);
  });

  it('receives on no queue pair that has a shared receive queue', () => {
    for (const state of Object.values(QpState)) {
      assert.match(recvStateProblem(QpType.RC, state, true)?.message ?? '', /from a shared receive queue/);
    }
  });

  it('receives on no XRC queue pair', () => {
    assert.match(recvStateProblem(QpType.XRC_RECV, QpState.RTR)?.message ?? '', /no receive queue/);
  });
});
