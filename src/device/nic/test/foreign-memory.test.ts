import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AccessFlags, MwType, QpState, SendFlags, Syndrome, WcStatus, WrOpcode } from '../../ibta/index.js';
import type { PacketSink } from '../../wire/index.js';
import type { Path } from '../../wire/index.js';
import type { Manner } from '../../../../test/support/foreign-memory.js';
import type { TestHost, TestMr } from './host.js';
import { Pair, pattern } from './pair.js';
import type { TestQp } from './qp.js';
import { ALL_ACCESS, type SendRequest } from './rings.js';
import { UcPair } from './uc.js';
import { bind, window } from './windows.js';

const MTU = 1024;
const MESSAGE = 40 * MTU + 7;
/** A copy that takes longer than anything else here, but no timer. */
const LATE_US = 100;
const late = (delayUs = LATE_US): Manner => ({ delayUs: () => delayUs });
const faulty = (byte: number, delayUs = 0): Manner => ({
  delayUs: () => delayUs,
  faultAt: (_, offset) => Math.max(0, byte - offset),
});
const MANNERS: readonly (readonly [string, number])[] = [
  ['at once', 0],
  ['later', LATE_US],
];

const BURST = 5;

/** A link that takes a few packets before it has to be flushed. */
class ShortSink implements PacketSink {
  room = BURST;

  constructor(private readonly inner: PacketSink) {}

  get bytes(): Uint8Array {
    return this.inner.bytes;
  }

  get ipId(): number {
    return this.inner.ipId;
  }

  reserve(path: Path, lengthBytes: number, large = false): number {
    return this.room === 0 ? -1 : this.inner.reserve(path, lengthBytes, large);
  }

  commit(): void {
    this.room -= 1;
    this.inner.commit();
  }
}

interface Scene {
  readonly pair: Pair;
  readonly a: TestQp;
  readonly b: TestQp;
}

function start(): Scene {
  const pair = new Pair();
  return { pair, ...pair.connect() };
}

function accesses(mr: TestMr, kind: string): number {
  return mr.memory?.accesses.filter((access) => access.kind === kind).length ?? NaN;
}

function statuses(qp: TestQp): WcStatus[] {
  return qp.sent().map(({ status }) => status);
}

/** What a host still has of all that copies need. */
function pendingCopies({ regions }: TestHost): number {
  return regions.reduce((sum, { memory }) => sum + (memory?.pending ?? 0), 0);
}

it('that has ended a copy later has the NIC ask for a turn', () => {
  const { pair, a } = start();
  let asked = 0;
  pair.b.nic.copyEngine.onFinished = () => (asked += 1);
  a.write(pair.a.mrOf(pattern(64)), pair.b.mr(64, { manner: late() }));
  pair.drive();
  assert.equal(asked, 1);
});

for (const [when, delayUs] of MANNERS) {
  describe(`foreign memory that is copied ${when}`, () => {
    const manner: Manner = { delayUs: () => delayUs };

    it('takes a WRITE and gives it to a READ, byte for byte', () => {
      const { pair, a } = start();
      const local = pair.a.mrOf(pattern(MESSAGE));
      const remote = pair.b.mr(MESSAGE, { manner });
      a.write(local, remote);
      pair.drive();
      assert.deepEqual(remote.bytes, local.bytes);
      const back = pair.a.mr(MESSAGE, { manner });
      a.read(back, remote);
      pair.drive();
      assert.deepEqual(back.bytes, local.bytes);
      assert.deepEqual(statuses(a), [WcStatus.SUCCESS, WcStatus.SUCCESS]);
    });

    it('is sent from and received into, piece by piece', () => {
      const { pair, a, b } = start();
      const content = pattern(3000);
      const from = pair.a.mrOf(content, { manner });
      const plain = pair.a.mrOf(content);
      const to = [pair.b.mr(1000, { manner }), pair.b.mr(1500), pair.b.mr(3500, { manner })];
      b.postRecv({ sgList: to.map((mr) => mr.sge()) });
      a.post({ opcode: WrOpcode.SEND, flags: SendFlags.SIGNALED, sgList: [from.sge(), plain.sge(0, 3000)] });
      pair.drive();
      assert.deepEqual(statuses(a), [WcStatus.SUCCESS]);
      const received = Buffer.concat(to.map(({ bytes }) => bytes));
      assert.deepEqual(received, Buffer.concat([content, content]));
    });

    it('is added to, swapped and written at once, and finds what was there', () => {
      const { pair, a } = start();
      const word = pair.b.mr(16, { manner });
      const found = pair.a.mr(32, { manner });
      const atomic = (opcode: number, offset: number, more: Partial<SendRequest>): void =>
        void a.post({ opcode, flags: SendFlags.SIGNALED, sgList: [found.sge(offset, 8)], ...word.at(8), ...more });
      atomic(WrOpcode.ATOMIC_FETCH_AND_ADD, 0, { compareAdd: 2n ** 64n - 1n });
      atomic(WrOpcode.ATOMIC_CMP_AND_SWP, 8, { compareAdd: 5n, swap: 1n });
      atomic(WrOpcode.ATOMIC_CMP_AND_SWP, 16, { compareAdd: 2n ** 64n - 1n, swap: 7n });
      atomic(WrOpcode.ATOMIC_FETCH_AND_ADD, 24, { compareAdd: 1n });
      pair.drive();
      const answers = [0, 8, 16, 24].map((offset) => found.view.getBigUint64(offset, true));
      assert.deepEqual(answers, [0n, 2n ** 64n - 1n, 2n ** 64n - 1n, 7n]);
      assert.equal(word.view.getBigUint64(8, true), 8n);
      a.post({ opcode: WrOpcode.ATOMIC_WRITE, flags: SendFlags.SIGNALED, inline: pattern(8), ...word.at(0) });
      pair.drive();
      assert.deepEqual(word.bytes.subarray(0, 8), pattern(8));
    });

    it('executes an atomic once, however often it comes', () => {
      const { pair, a } = start();
      const word = pair.b.mr(8, { manner });
      const found = pair.a.mr(8);
      let lost = 0;
      pair.script = (packet) => (packet.name === 'RC_ATOMIC_ACKNOWLEDGE' && (lost += 1) <= 2 ? 'drop' : 'pass');
      a.post({ opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, sgList: [found.sge()], ...word.at(0), compareAdd: 3n });
      pair.drive();
      assert.equal(word.view.getBigUint64(0, true), 3n);
    });

    it('is opened by windows, as far as they reach', () => {
      const { pair, a, b } = start();
      const region = pair.b.mr(64, { manner, access: ALL_ACCESS | AccessFlags.MW_BIND });
      const mw = window(pair.b, MwType.TYPE_2);
      bind(b, mw, region, { offset: 8, length: 16 });
      pair.drive();
      const place = { remoteAddr: region.addr + 8n, rkey: mw.rkey };
      const local = pair.a.mrOf(pattern(17));
      a.post({ opcode: WrOpcode.RDMA_WRITE, flags: SendFlags.SIGNALED, sgList: [local.sge(0, 16)], ...place });
      pair.drive();
      assert.deepEqual(region.bytes.subarray(8, 24), pattern(17).subarray(0, 16));
      a.post({ opcode: WrOpcode.RDMA_WRITE, flags: SendFlags.SIGNALED, sgList: [local.sge(0, 17)], ...place });
      pair.drive();
      assert.deepEqual(statuses(a), [WcStatus.SUCCESS, WcStatus.REM_ACCESS_ERR]);
    });

    for (const byte of [0, 1, MTU - 1, MTU, 20 * MTU + 1, MESSAGE - 1])
      it(`refuses a WRITE of which byte ${byte} is not there, and has written those before it at most`, () => {
        const { pair, a, b } = start();
        const local = pair.a.mrOf(pattern(MESSAGE));
        const remote = pair.b.mr(MESSAGE, { manner: faulty(byte, delayUs) });
        a.write(local, remote);
        b.recv(pair.b.mr(8));
        pair.drive();
        assert.deepEqual(statuses(a), [WcStatus.REM_ACCESS_ERR]);
        const [flushed] = b.received();
        assert.deepEqual([flushed.status, flushed.detail[1]], [WcStatus.WR_FLUSH_ERR, Syndrome.RESPONDER_MEMORY_FAULT]);
        assert.ok(remote.bytes.subarray(byte).every((value) => value === 0));
      });

    it('refuses a READ, an atomic and an ATOMIC_WRITE of a byte that is not there', () => {
      const request: readonly ((local: TestMr) => Partial<SendRequest> & { opcode: number })[] = [
        (local) => ({ opcode: WrOpcode.RDMA_READ, sgList: [local.sge()] }),
        (local) => ({ opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, sgList: [local.sge()], compareAdd: 1n }),
        () => ({ opcode: WrOpcode.ATOMIC_WRITE, inline: new Uint8Array(8) }),
      ];
      for (const make of request) {
        const { pair, a } = start();
        const remote = pair.b.mr(8, { manner: faulty(5, delayUs) });
        a.post({ flags: SendFlags.SIGNALED, ...remote.at(0), ...make(pair.a.mr(8)) });
        pair.drive();
        assert.deepEqual(statuses(a), [WcStatus.REM_ACCESS_ERR]);
      }
    });

    it('ends a receive into a byte that is not there in LOC_PROT_ERR, and its SEND in REM_OP_ERR', () => {
      const { pair, a, b } = start();
      b.recv(pair.b.mr(MESSAGE, { manner: faulty(30 * MTU, delayUs) }));
      a.send(pair.a.mr(MESSAGE));
      pair.drive();
      const [received] = b.received();
      assert.deepEqual([received.status, received.vendorErr], [WcStatus.LOC_PROT_ERR, Syndrome.LOCAL_MEMORY_FAULT]);
      assert.deepEqual(statuses(a), [WcStatus.REM_OP_ERR]);
    });

    it('has nothing written behind a byte that is not there, in no other region either', () => {
      const { pair, a, b } = start();
      const pieces = [pair.b.mr(8, { manner }), pair.b.mr(8, { manner: faulty(3, delayUs) }), pair.b.mr(8, { manner })];
      b.postRecv({ sgList: pieces.map((mr) => mr.sge()) });
      a.send(pair.a.mrOf(new Uint8Array(24).fill(7)));
      pair.drive();
      assert.equal(b.received()[0].status, WcStatus.LOC_PROT_ERR);
      assert.deepEqual(
        pieces.map(({ bytes }) => bytes.filter((byte) => byte === 7).length),
        [8, 3, 0],
      );
    });

    it('ends a SEND from, and a READ into, a byte that is not there in LOC_PROT_ERR, and names the byte', () => {
      for (const operation of ['write', 'read'] as const) {
        const { pair, a } = start();
        const local = pair.a.mr(MESSAGE, { manner: faulty(17 * MTU + 3, delayUs) });
        a[operation](local, pair.b.mr(MESSAGE));
        pair.drive();
        const [{ status, vendorErr, detail }] = a.sent();
        assert.deepEqual([status, vendorErr], [WcStatus.LOC_PROT_ERR, Syndrome.LOCAL_MEMORY_FAULT]);
        assert.equal((BigInt(detail[1] >>> 0) << 32n) | BigInt(detail[2] >>> 0), local.addr + BigInt(17 * MTU + 3));
      }
    });
  });
}

describe('what is copied at once', () => {
  it('is read by one copy for the packets of a turn, and never kept for the next', () => {
    const { pair, a } = start();
    const local = pair.a.mr(MESSAGE, { manner: {} });
    a.write(local, pair.b.mr(MESSAGE));
    pair.drive();
    assert.ok(accesses(local, 'read') <= 6, `${accesses(local, 'read')} copies for 41 packets`);
  });

  it('is read further ahead as long as all of that is sent', () => {
    const { pair, a } = start();
    const local = pair.a.mr(MESSAGE, { manner: {} });
    const remote = pair.b.mr(MESSAGE);
    for (let i = 0; i < 4; i += 1) {
      a.write(local, remote);
      pair.drive();
    }
    const longest = Math.max(...(local.memory?.accesses ?? []).map(({ lengthBytes }) => lengthBytes));
    assert.ok(longest > 16 * 1024, `${longest} bytes at most are read by one copy`);
  });

  it('is written by one copy for the packets of a turn', () => {
    const { pair, a } = start();
    const remote = pair.b.mr(MESSAGE, { manner: {} });
    a.write(pair.a.mr(MESSAGE), remote);
    pair.drive();
    assert.ok(accesses(remote, 'write') <= 12, `${accesses(remote, 'write')} copies for 41 packets`);
  });

  it('is sent again as it is when it is sent again', () => {
    const { pair, a } = start();
    const local = pair.a.mrOf(pattern(MTU), { manner: {} });
    const remote = pair.b.mr(MTU);
    let lost = false;
    pair.script = () => {
      if (lost) return 'pass';
      lost = true;
      local.bytes.fill(9);
      return 'drop';
    };
    a.write(local, remote);
    pair.drive();
    assert.deepEqual(remote.bytes, new Uint8Array(MTU).fill(9));
  });

  it('is sent in the next turn as it is then, though it was read ahead in this one', () => {
    const sinks: ShortSink[] = [];
    const pair = new Pair({
      host: {
        sink: (inner) => {
          const sink = new ShortSink(inner);
          sinks.push(sink);
          return sink;
        },
      },
    });
    const { a } = pair.connect();
    const local = pair.a.mr(MESSAGE, { manner: {} });
    const remote = pair.b.mr(MESSAGE);
    let packets = 0;
    pair.script = () => {
      for (const sink of sinks) sink.room = BURST;
      packets += 1;
      if (packets === BURST) local.bytes.fill(9);
      return 'pass';
    };
    a.write(local, remote);
    pair.drive();
    assert.ok(remote.bytes.subarray(0, BURST * MTU).every((byte) => byte === 0));
    assert.ok(remote.bytes.subarray(BURST * MTU).every((byte) => byte === 9));
  });
});

describe('a message for memory that takes longer', () => {
  it('is told of to nobody before all of it is there', () => {
    const { pair, a, b } = start();
    const remote = pair.b.mr(MESSAGE, { manner: late() });
    b.recv(remote);
    a.send(pair.a.mrOf(pattern(MESSAGE)));
    pair.drive({ until: () => b.received().length > 0 });
    assert.deepEqual(remote.bytes, pattern(MESSAGE));
    assert.deepEqual(statuses(a), []);
  });

  it('is written in ascending order, one copy after the other', () => {
    const { pair, a } = start();
    const remote = pair.b.mr(MESSAGE, { manner: late() });
    a.write(pair.a.mr(MESSAGE), remote);
    let most = 0;
    pair.drive({
      until: () => {
        most = Math.max(most, remote.memory?.pending ?? 0);
        return false;
      },
    });
    const offsets = remote.memory?.accesses.map(({ offset }) => offset) ?? [];
    assert.deepEqual(
      offsets,
      [...offsets].sort((x, y) => x - y),
    );
    assert.equal(most, 1);
  });

  it('holds up those behind it, which are taken up in order', () => {
    const { pair, a, b } = start();
    const slow = pair.b.mr(8, { manner: late() });
    const quick = [pair.b.mr(8), pair.b.mr(8)];
    for (const mr of [slow, ...quick]) b.recv(mr);
    for (let i = 0; i < 3; i += 1) a.send(pair.a.mrOf(pattern(8, i)));
    pair.drive({ untilUs: LATE_US / 2 });
    assert.deepEqual(b.received(), []);
    pair.drive();
    assert.equal(b.received().length, 3);
    assert.deepEqual(
      [slow, ...quick].map(({ bytes }) => bytes),
      [0, 1, 2].map((i) => pattern(8, i)),
    );
    assert.equal(pair.b.nic.counters.duplicateRequest, 0);
  });

  it('holds up no other queue pair', () => {
    const { pair, a } = start();
    const other = pair.connect({ both: {}, a: { sqPsn: 7 } });
    a.write(pair.a.mr(8), pair.b.mr(8, { manner: late(10_000) }));
    other.a.write(pair.a.mr(8), pair.b.mr(8));
    pair.drive({ untilUs: 1000 });
    assert.deepEqual([statuses(a), statuses(other.a)], [[], [WcStatus.SUCCESS]]);
  });

  it('makes no more wait than there is room for: the rest is dropped and counted', () => {
    const pair = new UcPair({ qp: { cap: { maxSendWr: 256 } } });
    const slow = pair.b.mr(8, { manner: late(3000) });
    const remote = pair.b.mr(200 * 8);
    const local = pair.a.mrOf(pattern(200 * 8));
    pair.sender.write(pair.a.mr(8), slow);
    for (let i = 0; i < 200; i += 1)
      pair.sender.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge(8 * i, 8)], ...remote.at(8 * i) });
    pair.drive();
    // The one that needs the memory is one of the 128.
    assert.equal(pair.b.nic.counters.rxMemoryBusy, 201 - 128);
    assert.deepEqual(remote.bytes.subarray(0, 127 * 8), local.bytes.subarray(0, 127 * 8));
    assert.ok(remote.bytes.subarray(127 * 8).every((byte) => byte === 0));
    assert.equal(pair.b.nic.copyEngine.parkedBytes, 0);
  });
});

describe('a READ into memory that takes longer', () => {
  it('is not asked for again meanwhile', () => {
    const pair = new Pair();
    const { a } = pair.connect({ a: { timeout: 8, retryCnt: 1 } });
    const local = pair.a.mr(8, { manner: late(50_000) });
    a.read(local, pair.b.mrOf(pattern(8)));
    pair.drive();
    assert.deepEqual(statuses(a), [WcStatus.SUCCESS]);
    assert.deepEqual([pair.a.nic.counters.retransmittedPkts, local.bytes], [0, pattern(8)]);
  });
});

describe('a copy under way', () => {
  const ends: readonly (readonly [string, (scene: Scene, mr: TestMr) => void])[] = [
    ['its queue pair goes to RESET', ({ b }) => b.modify({ qpState: QpState.RESET })],
    ['its queue pair goes to ERR', ({ b }) => b.modify({ qpState: QpState.ERR })],
    ['its queue pair is destroyed', ({ pair, b }) => pair.b.nic.control.destroyQp(b.qpn)],
    ['its region is deregistered', ({ pair }, mr) => pair.b.nic.control.deregMr(mr.handle)],
    [
      'its region is registered anew',
      ({ pair }, mr) => void pair.b.nic.control.reregMr({ handle: mr.handle, access: AccessFlags.LOCAL_WRITE }),
    ],
    ['the device is lost', ({ pair }) => pair.b.nic.fail()],
  ];
  const works: readonly (readonly [string, (scene: Scene, mr: TestMr) => void])[] = [
    ['a WRITE', ({ pair, a }, mr) => void a.write(pair.a.mrOf(pattern(MESSAGE)), mr)],
    ['a READ', ({ pair, a }, mr) => void a.read(pair.a.mr(MESSAGE), mr)],
    [
      'an atomic',
      ({ pair, a }, mr) =>
        void a.post({
          opcode: WrOpcode.ATOMIC_FETCH_AND_ADD,
          sgList: [pair.a.mr(8).sge()],
          ...mr.at(0),
          compareAdd: 1n,
        }),
    ],
  ];
  for (const [end, act] of ends)
    for (const [work, begin] of works)
      it(`for ${work} is given up when ${end}, and nothing is touched afterwards`, () => {
        const pair = new Pair();
        const scene = { pair, ...pair.connect({ a: { timeout: 8, retryCnt: 1 } }) };
        const mr = pair.b.mr(MESSAGE, { manner: late(500), iova: 0x7000_0000_0000n });
        begin(scene, mr);
        pair.drive({ until: () => (mr.memory?.pending ?? 0) > 0 });
        assert.equal(mr.memory?.pending, 1);
        act(scene, mr);
        assert.equal(pendingCopies(pair.b), 0);
        const before = mr.bytes.slice();
        const done = mr.memory.accesses.length;
        pair.drive();
        assert.deepEqual(mr.bytes, before);
        assert.equal(mr.memory.accesses.length, done);
        assert.equal(pair.b.nic.copyEngine.parkedBytes, 0);
        assert.notEqual(statuses(scene.a)[0], WcStatus.SUCCESS);
      });

  it('for a SEND is given up when its region is deregistered: LOC_PROT_ERR', () => {
    const { pair, a } = start();
    const mr = pair.a.mr(MESSAGE, { manner: late() });
    a.write(mr, pair.b.mr(MESSAGE));
    pair.drive({ until: () => pendingCopies(pair.a) > 0 });
    pair.a.nic.control.deregMr(mr.handle);
    assert.equal(pendingCopies(pair.a), 0);
    pair.drive();
    assert.deepEqual(
      a.sent().map(({ status, vendorErr }) => [status, vendorErr]),
      [[WcStatus.LOC_PROT_ERR, Syndrome.LOCAL_KEY_UNKNOWN]],
    );
  });

  it('for a receive is given up before its request is flushed', () => {
    const { pair, a, b } = start();
    const mr = pair.b.mr(8, { manner: late() });
    b.recv(mr);
    a.send(pair.a.mrOf(pattern(8)));
    pair.drive({ until: () => (mr.memory?.pending ?? 0) > 0 });
    b.modify({ qpState: QpState.ERR });
    assert.deepEqual(
      b.received().map(({ status }) => status),
      [WcStatus.WR_FLUSH_ERR],
    );
    pair.drive();
    assert.deepEqual([...mr.bytes], new Array(8).fill(0));
  });
});

for (const [when, delayUs] of MANNERS)
  describe(`unreliable services with memory that is copied ${when}`, () => {
    const manner: Manner = { delayUs: () => delayUs };

    it('deliver messages of UC whole, and in their order', () => {
      const pair = new UcPair();
      const to = [1, 2, 3].map(() => pair.b.mr(3000, { manner }));
      for (const mr of to) pair.receiver.recv(mr);
      for (let i = 0; i < 3; i += 1) pair.sender.send(pair.a.mrOf(pattern(3000, i), { manner }));
      pair.drive();
      assert.equal(pair.receiver.received().length, 3);
      assert.deepEqual(
        to.map(({ bytes }) => bytes),
        [0, 1, 2].map((i) => pattern(3000, i)),
      );
    });

    it('drop a WRITE of UC whose memory is not there, and take the next', () => {
      const pair = new UcPair();
      const good = pair.b.mr(3000, { manner });
      pair.sender.write(pair.a.mr(3000), pair.b.mr(3000, { manner: faulty(1500, delayUs) }));
      pair.sender.write(pair.a.mrOf(pattern(3000)), good);
      pair.drive();
      assert.deepEqual(good.bytes, pattern(3000));
      assert.equal(pair.b.nic.counters.rxMessageDropped, 1);
      assert.equal(pair.receiver.state, QpState.RTS);
    });
  });
