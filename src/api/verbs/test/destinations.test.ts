import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { datagramProblem, sendProblem, xrcProblem } from '../index.js';
import { nameOf, type QpCap, QpType, WrOpcode } from '../../../device/ibta/index.js';

const cap: QpCap = { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 2, maxRecvSge: 2, maxInlineData: 32 };
const rdma = { remoteAddr: 0x2000n, rkey: 9 };
const eight = [{ addr: 0x1000, length: 8, lkey: 7 }];

type Request = Parameters<typeof sendProblem>[3];
const check = (type: QpType, wr: Request): string | undefined => sendProblem(type, cap, 2 ** 31, wr)?.message;

describe('a datagram', () => {
  const ah = {};
  const ud = { ah, remoteQpn: 0x12, remoteQkey: 0x1111_1111 };

  it('says where it goes', () => {
    assert.equal(check(QpType.UD, { opcode: WrOpcode.SEND, ud }), undefined);
    assert.equal(check(QpType.UD, { opcode: WrOpcode.SEND_WITH_IMM, immData: 1, ud }), undefined);
  });

  it('can go to a multicast group, and ask for our own Q_Key', () => {
    assert.equal(datagramProblem(ah, 0xffffff, 0x8000_0000), undefined);
  });

  const bad: readonly [what: string, ud: Request['ud'], sentence: RegExp][] = [
    ['an address handle', { remoteQpn: 1, remoteQkey: 1 }, /ud\.ah is not an address handle/],
    ['an address handle that is one', { ah: 7, remoteQpn: 1, remoteQkey: 1 }, /ud\.ah is not an address handle/],
    ['a QP number of 24 bits', { ah, remoteQpn: 2 ** 24, remoteQkey: 1 }, /ud\.remoteQpn is 16777216/],
    ['a QP number', { ah, remoteQkey: 1 }, /ud\.remoteQpn is missing/],
    ['a Q_Key of 32 bits', { ah, remoteQpn: 1, remoteQkey: 2 ** 32 }, /ud\.remoteQkey is 4294967296/],
    ['a Q_Key that is not negative', { ah, remoteQpn: 1, remoteQkey: -1 }, /ud\.remoteQkey is -1/],
  ];
  for (const [what, destination, sentence] of bad) {
    it(`is refused without ${what}`, () => {
      assert.match(
        check(QpType.UD, { opcode: WrOpcode.SEND, ...(destination && { ud: destination }) }) ?? '',
        sentence,
      );
    });
  }

  it('is refused without a destination', () => {
    assert.match(check(QpType.UD, { opcode: WrOpcode.SEND }) ?? '', /^ud is missing/);
  });

  it('has one on UD alone: elsewhere it is not looked at', () => {
    for (const type of [QpType.RC, QpType.UC, QpType.RAW_PACKET]) {
      assert.equal(check(type, { opcode: WrOpcode.SEND, ud: {} }), undefined, nameOf(QpType, type));
    }
  });
});

describe('an XRC request (protocol/services.md 3.3)', () => {
  const xrc = { remoteSrqn: 0x33 };
  const requests: readonly Request[] = [
    { opcode: WrOpcode.SEND },
    { opcode: WrOpcode.SEND_WITH_IMM, immData: 0 },
    { opcode: WrOpcode.SEND_WITH_INV, invalidateRkey: 0 },
    { opcode: WrOpcode.RDMA_WRITE, rdma },
    { opcode: WrOpcode.RDMA_WRITE_WITH_IMM, rdma, immData: 0 },
    { opcode: WrOpcode.RDMA_READ, rdma },
    { opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, atomic: { ...rdma, compareAdd: 1 }, sgList: eight },
  ];
  for (const wr of requests) {
    const name = nameOf(WrOpcode, wr.opcode);
    it(`names a shared receive queue: ${name}`, () => {
      assert.equal(check(QpType.XRC_SEND, { ...wr, xrc }), undefined);
      assert.match(check(QpType.XRC_SEND, wr) ?? '', /^xrc is missing/);
    });
  }

  it('names it by 24 bits', () => {
    assert.equal(xrcProblem(0xffffff), undefined);
    for (const srqn of [2 ** 24, -1, 1.5, undefined, '3'])
      assert.equal(xrcProblem(srqn)?.errno, 'EINVAL', String(srqn));
  });

  it('names none when nothing goes on the wire', () => {
    assert.equal(check(QpType.XRC_SEND, { opcode: WrOpcode.LOCAL_INV, invalidateRkey: 5 }), undefined);
  });
});
