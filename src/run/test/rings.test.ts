import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alloc, openDevice, QpState, QpType, SendFlags, WcFlags, WcStatus, WrOpcode } from '../../entry/index.js';
import { completionRing, qpRings } from '../../providers/soft/index.js';
import { CompletionTranslation, HeaderType } from '../rings/completion-translation.js';
import { RxeCqe, RxeRecvWqe, RxeSendWqe, swapped } from '../rings/layouts.js';
import { ProgramQueue } from '../rings/program-queue.js';
import { ReceiveTranslation } from '../rings/receive-translation.js';
import { RingFile } from '../rings/ring-file.js';
import { SendTranslation } from '../rings/send-translation.js';
import { nativeHostProblem } from '../../node/system/index.js';
import { loopback } from '../../../test/support/loopback.js';

const SLOTS = 4;
let next = 10;

/** Two connected queue pairs of one device, whose queues a program would have in a file. */
function connected() {
  const context = openDevice({ host: 'inline', address: loopback(next++) });
  const file = new RingFile('test', 4096);
  const pd = context.allocPd();
  const mr = pd.regMr(alloc(4096), 7);
  const cq = context.createCq({ cqe: SLOTS - 1 });
  const cap = { maxSendWr: SLOTS - 1, maxRecvWr: SLOTS - 1, maxSendSge: 2, maxRecvSge: 2, maxInlineData: 32 };
  const sides = [0, 1].map(() => {
    const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap });
    const rings = qpRings(qp);
    const sends = new ProgramQueue(file, SLOTS - 1, RxeSendWqe.HEAD_BYTES + 32);
    const receives = new ProgramQueue(file, SLOTS - 1, RxeRecvWqe.HEAD_BYTES + 32);
    return {
      qp,
      sends: new SendTranslation(sends, rings, { maxSge: 2, maxInline: 32 }, () => -1),
      receives: new ReceiveTranslation(receives, () => rings.recv, 2),
    };
  });
  const [a, b] = sides;
  for (const [qp, peer] of [
    [a.qp, b.qp],
    [b.qp, a.qp],
  ] as const) {
    qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 7 });
    const ahAttr = { grh: { dgid: context.queryGid(1, 0) } };
    const rtr = { pathMtu: 5, rqPsn: 0, maxDestRdAtomic: 1, minRnrTimer: 12 } as const;
    qp.modify({ qpState: QpState.RTR, ahAttr, destQpNum: peer.qpNum, ...rtr });
    qp.modify({ qpState: QpState.RTS, sqPsn: 0, timeout: 14, retryCnt: 7, rnrRetry: 7, maxRdAtomic: 1 });
  }
  const completions = new CompletionTranslation(
    new ProgramQueue(file, SLOTS - 1, RxeCqe.BYTES),
    () => completionRing(cq),
    HeaderType.IPV4,
  );
  const close = (): void => {
    context.close();
    file.close();
  };
  return { a, b, mr, cq, completions, close };
}

type Game = ReturnType<typeof connected>;

/** As a program writes a send request of one piece. */
function post(
  { sends: { queue } }: Game['a'],
  fields: {
    readonly opcode: number;
    readonly addr: bigint;
    readonly length: number;
    readonly lkey: number;
    readonly imm?: number;
    readonly numSge?: number;
    readonly flags?: number;
    /** The length of the whole, if it is not that of the piece. */
    readonly claims?: number;
  },
): void {
  const { words, producer } = queue;
  const at = queue.entry(producer);
  words[at + RxeSendWqe.WR_ID_LO] = 0x1234 + producer;
  words[at + RxeSendWqe.OPCODE] = fields.opcode;
  words[at + RxeSendWqe.FLAGS] = fields.flags ?? SendFlags.SIGNALED;
  words[at + RxeSendWqe.IMM_DATA] = swapped(fields.imm ?? 0);
  words[at + RxeSendWqe.LENGTH] = fields.claims ?? fields.length;
  words[at + RxeSendWqe.NUM_SGE] = fields.numSge ?? 1;
  piece(words, at + RxeSendWqe.DATA, fields);
  queue.producer = producer + 1;
}

function piece(
  words: Int32Array,
  at: number,
  { addr, length, lkey }: { addr: bigint; length: number; lkey: number },
): void {
  words[at] = Number(BigInt.asIntN(32, addr));
  words[at + 1] = Number(addr >> 32n);
  words[at + 2] = length;
  words[at + 3] = lkey;
}

function postReceive(
  { receives: { queue } }: Game['a'],
  fields: { addr: bigint; length: number; lkey: number; numSge?: number },
): void {
  const { words, producer } = queue;
  const at = queue.entry(producer);
  words[at + RxeRecvWqe.WR_ID_LO] = 0x77;
  words[at + RxeRecvWqe.NUM_SGE] = fields.numSge ?? 1;
  piece(words, at + RxeRecvWqe.DATA, fields);
  queue.producer = producer + 1;
}

/** What a program would poll, once so many completions are there. */
function poll({ a, b, cq, completions }: Game, count: number) {
  const { queue } = completions;
  const found: { wrId: number; status: number; imm: number; flags: number; bytes: number }[] = [];
  while (found.length < count) {
    // A look at the queue gives the NIC its turn, and takes nothing as long as nothing is there.
    if (completionRing(cq).peek() < 0) void cq.context.counters();
    for (const { sends, receives } of [a, b]) {
      sends.giveBack();
      receives.giveBack();
    }
    completions.push();
    for (; queue.consumer !== queue.producer; queue.consumer += 1) {
      const at = queue.entry(queue.consumer);
      found.push({
        wrId: queue.words[at],
        status: queue.words[at + 2],
        bytes: queue.words[at + 5],
        imm: swapped(queue.words[at + RxeCqe.IMM_DATA]) >>> 0,
        flags: queue.words[at + RxeCqe.WC_FLAGS],
      });
    }
  }
  return found;
}

describe("queues as rxe's provider has them", { skip: nativeHostProblem() ?? false }, () => {
  it('carry a message with immediate data, which the wire has in the order of the program', () => {
    const game = connected();
    const { a, b, mr } = game;
    mr.bytes.set(Buffer.from('hello'));
    postReceive(b, { addr: mr.addr + 64n, length: 16, lkey: mr.lkey });
    b.receives.pull();
    post(a, { opcode: WrOpcode.SEND_WITH_IMM, addr: mr.addr, length: 5, lkey: mr.lkey, imm: 0x01020304 });
    assert.equal(a.sends.pull(), true);
    const received = poll(game, 2).find(({ wrId }) => wrId === 0x77);
    assert.deepEqual(received, {
      wrId: 0x77,
      status: WcStatus.SUCCESS,
      bytes: 5,
      imm: 0x01020304,
      flags: WcFlags.WITH_IMM,
    });
    assert.equal(Buffer.from(mr.bytes).toString('utf8', 64, 69), 'hello');
    game.close();
  });

  it('tell how much is to be moved for what was posted, until it is copied', () => {
    const game = connected();
    const { a, mr } = game;
    assert.equal(a.sends.postedBytes, 0);
    for (const length of [100, 1000]) post(a, { opcode: WrOpcode.RDMA_WRITE, addr: mr.addr, length, lkey: mr.lkey });
    assert.equal(a.sends.postedBytes, 1100);
    a.sends.pull();
    assert.equal(a.sends.postedBytes, 0);
    game.close();
  });

  it('give an entry back before the completion that says the same is seen', () => {
    const game = connected();
    const { a, b, mr } = game;
    for (let round = 0; round < 3 * SLOTS; round += 1) {
      postReceive(b, { addr: mr.addr, length: 16, lkey: mr.lkey });
      b.receives.pull();
      post(a, { opcode: WrOpcode.SEND, addr: mr.addr, length: 1, lkey: mr.lkey });
      a.sends.pull();
      poll(game, 2);
      assert.equal(a.sends.queue.consumer, a.sends.queue.producer);
      assert.equal(b.receives.queue.consumer, b.receives.queue.producer);
    }
    game.close();
  });

  for (const lie of [
    { what: 'a number of pieces beyond the limit', fields: { numSge: 0x7fffffff } },
    { what: 'an opcode that there is not', fields: { opcode: 0xfffffff0 } },
    { what: 'more inline data than an entry holds', fields: { flags: SendFlags.INLINE, length: 0x40000000 } },
    { what: 'a length, and no pieces', fields: { numSge: 0 } },
    { what: 'more bytes than its pieces have', fields: { claims: 9 } },
    { what: 'a key of nobody', fields: { lkey: 0x12345678 } },
  ]) {
    it(`fail a request that claims ${lie.what}`, () => {
      const game = connected();
      const { a, mr } = game;
      post(a, { opcode: WrOpcode.SEND, addr: mr.addr, length: 8, lkey: mr.lkey, ...lie.fields });
      a.sends.pull();
      const [{ status }] = poll(game, 1);
      assert.notEqual(status, WcStatus.SUCCESS);
      assert.notEqual(status, WcStatus.WR_FLUSH_ERR);
      game.close();
    });
  }

  it('mask an index that lies outside', () => {
    const game = connected();
    const { a } = game;
    a.sends.queue.words[32] = 0x7fffff00;
    assert.equal(a.sends.pull(), false);
    a.sends.queue.words[0] = -1;
    a.sends.queue.words[1] = -1;
    assert.equal(a.sends.queue.mask, SLOTS - 1);
    game.close();
  });

  it('forget what was posted when the queue pair is reset', () => {
    const game = connected();
    const { a, b, mr } = game;
    post(a, { opcode: WrOpcode.SEND, addr: mr.addr, length: 8, lkey: mr.lkey });
    postReceive(b, { addr: mr.addr, length: 16, lkey: mr.lkey });
    for (const { qp, sends, receives } of [a, b]) {
      qp.modify({ qpState: QpState.RESET });
      sends.reset();
      receives.reset();
      assert.equal(sends.queue.consumer, sends.queue.producer);
      assert.equal(receives.queue.consumer, receives.queue.producer);
      assert.equal(sends.pull(), false);
    }
    game.close();
  });
});
