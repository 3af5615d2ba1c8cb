import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type Qp,
  QpType,
  type RecvWr,
  SendFlags,
  type SendWr,
  VerbsError,
  WcStatus,
  WrOpcode,
} from '../../../entry/index.js';
import { type QpRings, qpRings } from '../index.js';
import { RING_HEADER_WORDS } from '../../../device/nic/index.js';
import { SpareRings } from '../driver/posting/spare-rings.js';
import { connect, drain, HOSTINGS, makeSide, openContexts, Pair, type Side } from './support/pair.js';
import { NET } from '../../../../test/support/loopback.js';

const { SIGNALED } = SendFlags;
const SEND = { opcode: WrOpcode.SEND, sendFlags: SIGNALED } as const;
const CAP = { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 4, maxRecvSge: 4, maxInlineData: 64 };

const makeQp = ({ pd, cq }: Side): Qp => pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: CAP });

function memoryOf(qp: Qp): ArrayBufferLike[] {
  const { send, recv } = qpRings(qp);
  return [send.memory, recv.memory];
}

/** @returns asserts that the rings hold what they hold now */
function watched(qp: Qp): () => void {
  const rings: QpRings = qpRings(qp);
  const before = [rings.send.words.slice(), rings.recv.words.slice()];
  return () => assert.deepEqual([rings.send.words, rings.recv.words], before);
}

/** Whatever can be posted; each call is refused, or leaves the refusal to wrComplete. */
function postEverything(qp: Qp, { mr }: Side): void {
  const calls: readonly (() => unknown)[] = [
    () => qp.postSend({ ...SEND, sgList: [mr.sge(0, 64)] }),
    () => qp.postRecv({ sgList: [mr.sge(0, 64)] }),
    () => qp.postRecvSge(1, mr.lkey, mr.addr, 64),
    () => qp.wrStart(),
    () => qp.wrSend(),
    () => qp.wrSetSge(mr.lkey, mr.addr, 64),
    () => qp.wrSetInlineData(new Uint8Array(64).fill(255)),
    () => qp.wrComplete(),
    () => qp.wrAbort(),
  ];
  for (const call of calls)
    try {
      call();
    } catch (error) {
      assert.ok(error instanceof VerbsError, String(error));
      assert.equal(error.errno, 'EINVAL');
    }
}

for (const hosting of HOSTINGS) {
  describe(`rings of destroyed queue pairs, hosted ${hosting}`, () => {
    const opened = (): Disposable & { readonly side: Side } => {
      const contexts = openContexts(hosting, NET);
      return {
        side: makeSide(contexts[0]),
        [Symbol.dispose]: () => {
          for (const context of contexts) context.close();
        },
      };
    };

    test('are those of the next one, which finds them cleared', async () => {
      using device = opened();
      const { side } = device;
      const first = makeQp(side);
      const memory = memoryOf(first);
      first.modify({ qpState: 1, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
      first.postRecv({ wrId: -1n & 0xffn, sgList: [side.mr.sge(0, 64)] });
      first.destroy();
      await Promise.resolve();
      const next = makeQp(side);
      assert.deepEqual(
        memoryOf(next).map((ring) => memory.includes(ring)),
        [true, true],
      );
      assert.ok(new Int32Array(memory[1]).every((word) => word === 0));
      assert.equal(next.state, 0);
    });

    test('cannot be reached by the queue pair that had them', async () => {
      using device = opened();
      const { side } = device;
      const old = makeQp(side);
      const rings = qpRings(old);
      const memory = memoryOf(old);
      old.destroy();
      await Promise.resolve();
      const next = makeQp(side);
      assert.ok(memory.includes(memoryOf(next)[0]));
      const check = watched(next);
      postEverything(old, side);
      for (const ring of [rings.send, rings.recv]) {
        assert.equal(ring.reserve(), -1);
        ring.words.fill(-1);
        ring.bytes.fill(255);
        ring.accept();
        ring.publish();
        ring.rollBack();
        ring.claimDoorbell();
      }
      assert.equal(old.state, -1);
      check();
    });

    for (const [what, post] of [
      [
        'wr_id',
        (qp: Qp, end: () => number) =>
          qp.postSend({
            ...SEND,
            get wrId() {
              return end();
            },
          }),
      ],
      [
        'key',
        (qp: Qp, end: () => number) =>
          qp.postSend({
            ...SEND,
            sgList: [
              {
                addr: 1,
                length: 1,
                get lkey() {
                  return end();
                },
              },
            ],
          }),
      ],
      [
        'wr_id of a receive',
        (qp: Qp, end: () => number) =>
          qp.postRecv({
            get wrId() {
              return end();
            },
          } satisfies RecvWr),
      ],
      [
        'immediate data',
        (qp: Qp, end: () => number) =>
          qp.postSend({
            opcode: WrOpcode.SEND_WITH_IMM,
            get immData() {
              return end();
            },
          } satisfies SendWr),
      ],
      [
        'key in an open batch',
        (qp: Qp, end: () => number) => {
          qp.wrStart();
          qp.wrSend();
          qp.wrSetSgeList([
            {
              addr: 1,
              length: 1,
              get lkey() {
                return end();
              },
            },
          ]);
        },
      ],
      [
        'key in a batch that it aborts',
        (qp: Qp, end: () => number) => {
          let reads = 0;
          qp.wrStart();
          qp.wrSend();
          qp.wrSetSgeList([
            {
              addr: 1,
              length: 1,
              get lkey() {
                if (reads === 0) qp.wrAbort();
                reads += 1;
                return end();
              },
            },
          ]);
        },
      ],
      [
        'length of inline data',
        (qp: Qp, end: () => number) => {
          class Odd extends Uint8Array {
            #reads = 0;
            override get length(): number {
              this.#reads += 1;
              // The first reading checks the data, the second copies them.
              if (this.#reads === 2) end();
              return 64;
            }
          }
          qp.wrStart();
          qp.wrSend();
          qp.wrSetInlineData(new Odd(64).fill(255));
        },
      ],
    ] as const)
      test(`stay with a post whose ${what} destroys the queue pair`, async () => {
        using device = opened();
        const { side } = device;
        const old = makeQp(side);
        old.modify({ qpState: 1, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
        connect(old, { qpNum: 5, dgid: side.context.queryGid(1, 0) });
        const memory = memoryOf(old);
        let check: (() => void) | undefined;
        const end = (): number => {
          if (check !== undefined) return 7;
          old.destroy();
          const next = makeQp(side);
          assert.ok(memoryOf(next).every((ring) => !memory.includes(ring)));
          check = watched(next);
          return 7;
        };
        try {
          post(old, end);
        } catch (error) {
          assert.ok(error instanceof VerbsError, String(error));
        }
        assert.ok(check !== undefined);
        check();
        await Promise.resolve();
        const next = makeQp(side);
        assert.ok(memoryOf(next).every((ring) => memory.includes(ring)));
        assert.ok(memory.every((ring) => new Int32Array(ring).subarray(RING_HEADER_WORDS).every((word) => word === 0)));
      });

    test('are out of reach of a batch that was open', async () => {
      using device = opened();
      const { side } = device;
      const old = makeQp(side);
      const memory = memoryOf(old);
      old.wrStart();
      old.wrSend();
      old.destroy();
      await Promise.resolve();
      const next = makeQp(side);
      assert.ok(memoryOf(next).every((ring) => memory.includes(ring)));
      const check = watched(next);
      old.wrSetInlineData(new Uint8Array(64).fill(255));
      old.wrSetSge(1, 1, 1);
      assert.throws(() => old.wrSend(), { errno: 'EINVAL' });
      assert.throws(() => old.wrComplete(), { errno: 'EINVAL' });
      check();
    });

    test('carry the requests of their new owner alone, though the NIC was at work on those of the old one', async () => {
      using pair = new Pair(hosting, NET, { cap: CAP });
      const { a, b } = pair;
      const gids = [a.context.queryGid(1, 0), b.context.queryGid(1, 0)] as const;
      let [ours, theirs] = [a.qp, b.qp];
      for (let round = 1; round <= 20; round += 1) {
        // The peer has no receive: these wait.
        for (let i = 0; i < 16; i += 1) ours.postSend({ ...SEND, wrId: 1000 * round + i, sgList: [a.mr.sge(0, 4096)] });
        ours.destroy();
        theirs.destroy();
        await Promise.resolve();
        [ours, theirs] = [makeQp(a), makeQp(b)];
        connect(ours, { qpNum: theirs.qpNum, dgid: gids[1] });
        connect(theirs, { qpNum: ours.qpNum, dgid: gids[0] });
        for (let i = 0; i < 8; i += 1) theirs.postRecv({ wrId: i, sgList: [b.mr.sge(0, 4096)] });
        for (let i = 0; i < 8; i += 1) ours.postSend({ ...SEND, wrId: i, sgList: [a.mr.sge(0, 512)] });
        for (const { cq, num } of [
          { cq: a.cq, num: ours.qpNum },
          { cq: b.cq, num: theirs.qpNum },
        ]) {
          const done = drain(cq, 8);
          assert.deepEqual(
            done.map(({ wrId, status, qpNum }) => [wrId, status, qpNum]),
            Array.from({ length: 8 }, (_, i) => [BigInt(i), WcStatus.SUCCESS, num]),
          );
        }
      }
      assert.deepEqual([a.cq.poll(), b.cq.poll()], [[], []]);
    });
  });
}

describe('spare rings', () => {
  const BYTES = 4096;

  test('are kept up to a limit', async () => {
    const spare = new SpareRings(true, 2 * BYTES);
    for (let i = 0; i < 3; i += 1) spare.give(new SharedArrayBuffer(BYTES));
    assert.equal(spare.bytes, 2 * BYTES);
    await Promise.resolve();
    spare.give(new SharedArrayBuffer(BYTES));
    await Promise.resolve();
    assert.equal(spare.bytes, 2 * BYTES);
    for (let i = 0; i < 3; i += 1) spare.take(BYTES);
    assert.equal(spare.bytes, 0);
  });

  test('are cleared, and never of another length', async () => {
    const spare = new SpareRings(false);
    const ring = spare.take(BYTES);
    spare.give(ring);
    assert.notEqual(spare.take(BYTES), ring);
    new Uint8Array(ring).fill(1);
    await Promise.resolve();
    assert.notEqual(spare.take(2 * BYTES), ring);
    assert.equal(spare.take(BYTES), ring);
    assert.ok(new Uint8Array(ring).every((byte) => byte === 0));
  });
});
