import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AccessFlags,
  gidFromIp,
  PlacementType,
  QpState,
  SelectivityLevel,
  WcStatus,
  WrOpcode,
} from '../../ibta/index.js';
import type { Verdict } from '../../link/simulated/index.js';
import { crc32, createPath, hasHeadersTwice, Opcode } from '../../wire/index.js';
import type { TestMr } from './host.js';
import { assertCompleted, assertStatuses, Pair, pattern, Puppet } from './pair.js';
import type { Captured, Crafted } from './packets.js';
import type { TestQp } from './qp.js';
import { ALL_ACCESS } from './rings.js';

/** FLUSH and ATOMIC_WRITE as Linux's rxe sends and takes them (protocol/packets.md 1.7, protocol/reliable.md 2.5). */

const FLUSHABLE = ALL_ACCESS | AccessFlags.FLUSH_GLOBAL;
const SIZE = 512;

function start() {
  const pair = new Pair();
  const { a, b } = pair.connect({ both: { qpAccessFlags: FLUSHABLE, timeout: 8, retryCnt: 7 } });
  return { pair, a, b, local: pair.a.mrOf(pattern(SIZE)), mr: pair.b.mr(SIZE, { access: FLUSHABLE }) };
}

function flush(qp: TestQp, mr: TestMr): bigint {
  return qp.post({ opcode: WrOpcode.FLUSH, ...mr.at(0), compareAdd: 8n, swap: BigInt(PlacementType.FLUSH_GLOBAL) });
}

function isTwice({ from, to, bytes }: Captured): boolean {
  const path = createPath({ sgid: gidFromIp(from), dgid: gidFromIp(to) });
  return hasHeadersTwice(crc32, path, bytes, 0, bytes.length);
}

/** A peer that takes FLUSHes of one kind alone, and the kinds of those that it was sent. */
function peerThatTakes(twice: boolean) {
  const seen: string[] = [];
  const script = (packet: Captured): Verdict => {
    if (packet.opcode !== Opcode.RC_FLUSH) return 'pass';
    seen.push(isTwice(packet) ? 'twice' : 'once');
    return isTwice(packet) === twice ? 'pass' : 'drop';
  };
  return { seen, script };
}

describe('FLUSHes to a peer that runs the headers through the ICRC twice', () => {
  it('find that out by their first repeat, and stay with it', () => {
    const { pair, a, mr } = start();
    const { seen, script } = peerThatTakes(true);
    pair.script = script;
    const wrIds = [flush(a, mr)];
    pair.drive();
    for (let i = 0; i < 2; i += 1) {
      wrIds.push(flush(a, mr));
      pair.drive();
    }
    assertCompleted(a.sent(), wrIds);
    assert.deepEqual(seen, ['once', 'twice', 'twice', 'twice']);
  });

  it('come through where many are sent at once, among WRITEs', () => {
    const { pair, a, local, mr } = start();
    const { seen, script } = peerThatTakes(true);
    pair.script = script;
    const wrIds = [flush(a, mr), a.write(local, mr), flush(a, mr), flush(a, mr), a.write(local, mr), flush(a, mr)];
    pair.drive();
    assertCompleted(a.sent(), wrIds);
    assert.equal(seen.at(-1), 'twice');
    assert.ok(seen.length < 16, seen.join());
  });

  it('are right from the first on where the peer has sent one before', () => {
    for (const headersTwice of [true, false]) {
      const puppet = new Puppet({ qpAccessFlags: FLUSHABLE, timeout: 8, retryCnt: 7 });
      const mr = puppet.host1.mr(SIZE, { access: FLUSHABLE });
      puppet.say(flushOf(mr, { headersTwice }));
      puppet.heard();
      flush(puppet.qp, mr);
      // Nobody answers: not even repeats make it doubt.
      puppet.run(10_000);
      const sent = puppet.heard().filter(({ opcode }) => opcode === Opcode.RC_FLUSH);
      assert.ok(sent.length > 1);
      for (const packet of sent) assert.equal(isTwice(packet), headersTwice);
    }
  });
});

describe('FLUSHes to a peer of the standard', () => {
  it('are repeated until one is right, and bear no other ICRC once one was answered', () => {
    const { pair, a, mr } = start();
    const { seen, script } = peerThatTakes(false);
    let lost = 1;
    pair.script = (packet) => {
      const verdict = script(packet);
      if (packet.opcode !== Opcode.RC_FLUSH || verdict === 'drop' || lost === 0) return verdict;
      lost -= 1;
      return 'drop';
    };
    const wrIds = [flush(a, mr)];
    pair.drive();
    lost = 2;
    wrIds.push(flush(a, mr));
    pair.drive();
    assertCompleted(a.sent(), wrIds);
    assert.deepEqual(seen, ['once', 'twice', 'once', 'once', 'once', 'once']);
  });

  it('begin anew with every connection', () => {
    const { pair, a, b, mr } = start();
    const { seen, script } = peerThatTakes(true);
    pair.script = script;
    flush(a, mr);
    pair.drive();
    for (const qp of [a, b]) qp.modify({ qpState: QpState.RESET });
    a.toRts(b.peer, { qpAccessFlags: FLUSHABLE, timeout: 8 });
    b.toRts(a.peer, { qpAccessFlags: FLUSHABLE, timeout: 8 });
    pair.script = peerThatTakes(false).script;
    flush(a, mr);
    pair.drive();
    assert.deepEqual(seen, ['once', 'twice']);
    assert.equal(a.state, QpState.RTS);
  });
});

type Said = Omit<Crafted, 'destQp'>;

function flushOf(mr: TestMr, more: Partial<Said> = {}): Said {
  return {
    opcode: Opcode.RC_FLUSH,
    psn: 0x2000,
    feth: { placement: PlacementType.FLUSH_GLOBAL, selectivity: SelectivityLevel.FLUSH_RANGE },
    reth: { va: mr.addr, rkey: mr.rkey, length: 8 },
    ...more,
  };
}

function listen(options: ConstructorParameters<typeof Puppet>[0] = {}) {
  const puppet = new Puppet({ qpAccessFlags: FLUSHABLE, ...options });
  const mr = puppet.host1.mr(SIZE, { access: FLUSHABLE });
  const answers = () => puppet.heard().map(({ name, psn, syndrome }) => [name, psn, syndrome]);
  return { puppet, mr, answers };
}
const answer = (psn: number) => ['RC_READ_RESP_ONLY', psn, 0x1f];

describe('a FLUSH of rxe', () => {
  it('is taken with its ICRC, and counted', () => {
    const { puppet, mr, answers } = listen();
    puppet.say(flushOf(mr, { headersTwice: true }));
    puppet.say(flushOf(mr, { psn: 0x2001 }));
    assert.deepEqual(answers(), [answer(0x2000), answer(0x2001)]);
    assert.equal(puppet.host1.nic.counters.rxFlushHeadersTwice, 1);
  });

  it('is dropped when that is wrong', () => {
    const { puppet, mr, answers } = listen();
    puppet.say(flushOf(mr, { headersTwice: true, badIcrc: true }));
    assert.deepEqual(answers(), []);
    assert.equal(puppet.host1.nic.counters.rxIcrcEncapsulated, 1);
  });

  it('is answered again though its repeat names address 0', () => {
    const { puppet, mr, answers } = listen();
    puppet.say(flushOf(mr, { headersTwice: true }));
    puppet.heard();
    puppet.say(flushOf(mr, { headersTwice: true, reth: { va: 0n, rkey: mr.rkey, length: 8 } }));
    assert.deepEqual(answers(), [answer(0x2000)]);
  });

  for (const [what, reth] of [
    ['another address', (rkey: number) => ({ va: 8n, rkey, length: 8 })],
    ['address 0 and another key', (rkey: number) => ({ va: 0n, rkey: rkey ^ 1, length: 8 })],
    ['address 0 and another length', (rkey: number) => ({ va: 0n, rkey, length: 16 })],
  ] as const)
    it(`is not answered again when its repeat names ${what}`, () => {
      const { puppet, mr, answers } = listen();
      puppet.say(flushOf(mr));
      puppet.heard();
      puppet.say(flushOf(mr, { reth: reth(mr.rkey) }));
      assert.deepEqual(answers(), []);
      assert.equal(puppet.host1.nic.counters.rxBadDuplicate, 1);
    });

  it('of a range is refused when its repeat names address 0, and the packet before was lost', () => {
    const { puppet, mr, answers } = listen();
    puppet.say(flushOf(mr, { reth: { va: 0n, rkey: mr.rkey, length: 8 } }));
    assert.deepEqual(answers(), [['RC_ACKNOWLEDGE', 0x2000, 0x62]]);
  });

  for (const length of [0, 8, SIZE, 2 ** 31])
    it(`of a region with ${length} bytes is executed when its repeat names address 0, and the packet before was lost`, () => {
      const { puppet, mr, answers } = listen();
      const feth = { placement: PlacementType.FLUSH_GLOBAL, selectivity: SelectivityLevel.FLUSH_MR };
      puppet.say(flushOf(mr, { feth, reth: { va: 0n, rkey: mr.rkey, length } }));
      assert.deepEqual(answers(), [answer(0x2000)]);
      // The key alone counts.
      puppet.say(flushOf(mr, { feth, psn: 0x2001, reth: { va: 0n, rkey: mr.rkey ^ 0x100, length } }));
      assert.deepEqual(answers(), [['RC_ACKNOWLEDGE', 0x2001, 0x62]]);
    });

  it('is repeated after its region has gone in vain', () => {
    const { puppet, mr, answers } = listen();
    puppet.say(flushOf(mr));
    puppet.heard();
    puppet.host1.nic.control.deregMr(mr.handle);
    puppet.say(flushOf(mr, { reth: { va: 0n, rkey: mr.rkey, length: 8 } }));
    assert.deepEqual(
      answers().map(([, , syndrome]) => syndrome),
      [0x62],
    );
  });
});

describe('an ATOMIC_WRITE of rxe', () => {
  it('is answered again and not carried out again, though its repeat names address 0', () => {
    const { puppet, mr, answers } = listen();
    const write = (va: bigint): Said => ({
      opcode: Opcode.RC_ATOMIC_WRITE,
      psn: 0x2000,
      reth: { va, rkey: mr.rkey, length: 8 },
      payload: pattern(8),
    });
    puppet.say(write(mr.addr));
    assert.deepEqual(mr.bytes.subarray(0, 8), pattern(8));
    mr.bytes.fill(0);
    puppet.heard();
    puppet.say(write(0n));
    assert.deepEqual(answers(), [answer(0x2000)]);
    assert.ok(mr.bytes.every((byte) => byte === 0));
  });
});

describe('FLUSHes beyond max_dest_rd_atomic', () => {
  for (const depth of [0, 1, 4])
    it(`of ${depth} are taken, since rxe does not count them`, () => {
      const { puppet, mr, answers } = listen({ maxDestRdAtomic: depth });
      const psns = Array.from({ length: 8 }, (_, i) => 0x2000 + i);
      const { nic, link, ip } = puppet.host1;
      for (const psn of psns) puppet.network.inject(puppet.peerAddress, ip, puppet.crafted(flushOf(mr, { psn })));
      puppet.network.advanceTo(puppet.nowUs);
      link.receive(nic, 64);
      puppet.turn();
      assert.deepEqual(answers(), psns.map(answer));
      // Each is remembered.
      for (const psn of psns) puppet.say(flushOf(mr, { psn }));
      assert.deepEqual(answers(), psns.map(answer));
    });

  it('do not push out what an atomic has found', () => {
    const { puppet, mr, answers } = listen({ maxDestRdAtomic: 1 });
    const atomic: Said = {
      opcode: Opcode.RC_FETCH_ADD,
      psn: 0x2000,
      atomic: { va: mr.addr, rkey: mr.rkey, swapAdd: 1n },
    };
    puppet.say(atomic);
    for (let i = 1; i <= 20; i += 1) puppet.say(flushOf(mr, { psn: 0x2000 + i }));
    puppet.heard();
    puppet.say(atomic);
    assert.deepEqual(answers(), [['RC_ATOMIC_ACKNOWLEDGE', 0x2000, 0x1f]]);
    assert.equal(mr.bytes[0], 1);
  });

  it('have a bound', () => {
    const { puppet, mr } = listen({ maxDestRdAtomic: 1 });
    const slow = puppet.host1.mr(SIZE, { access: FLUSHABLE, manner: { delayUs: () => 100_000 } });
    const { ip } = puppet.host1;
    // Behind a READ that waits for memory no answer leaves.
    const read = { opcode: Opcode.RC_READ_REQUEST, reth: { va: slow.addr, rkey: slow.rkey, length: 8 } };
    for (let i = 0; i <= 200; i += 1) {
      const packet = { ...(i === 0 ? read : flushOf(mr)), psn: 0x2000 + i };
      puppet.network.inject(puppet.peerAddress, ip, puppet.crafted(packet));
      puppet.network.advanceTo(puppet.nowUs);
      puppet.host1.turn(puppet.nowUs);
    }
    assert.equal(puppet.qp.state, QpState.ERR);
    puppet.run(200_000);
    const heard = puppet.heard();
    assert.deepEqual([heard.length, heard.at(-1)?.syndrome], [130, 0x61]);
  });
});

describe('a refusal under the PSN of a packet that was answered', () => {
  const refusals: readonly (readonly [number, WcStatus])[] = [
    [0x61, WcStatus.REM_INV_REQ_ERR],
    [0x62, WcStatus.REM_ACCESS_ERR],
    [0x63, WcStatus.REM_OP_ERR],
  ];
  for (const [syndrome, status] of refusals)
    for (const behind of [1, 3])
      it(`ends a READ, ${behind} packets behind what has come: 0x${syndrome.toString(16)}`, () => {
        const puppet = new Puppet({ pathMtu: 1 });
        const mr = puppet.host1.mr(256 * 8);
        const read = puppet.qp.read(mr, mr);
        puppet.turn();
        for (let i = 0; i < 3; i += 1) {
          const [opcode, aeth] =
            i === 0 ? [Opcode.RC_READ_RESP_FIRST, { syndrome: 0x1f, msn: 1 }] : [Opcode.RC_READ_RESP_MIDDLE, undefined];
          puppet.say({ opcode, psn: 0x1000 + i, payload: pattern(256), ...(aeth === undefined ? {} : { aeth }) });
        }
        puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1003 - behind, aeth: { syndrome, msn: 1 } });
        assertStatuses(puppet.qp.sent(), [[read, status]]);
        assert.equal(puppet.qp.state, QpState.ERR);
      });

  it('ends a WRITE that was acknowledged in part', () => {
    const puppet = new Puppet({ pathMtu: 1 });
    const mr = puppet.host1.mr(256 * 8);
    const write = puppet.qp.write(mr, mr);
    puppet.turn();
    puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1004, aeth: { syndrome: 0x1f, msn: 0 } });
    puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1000, aeth: { syndrome: 0x62, msn: 0 } });
    assertStatuses(puppet.qp.sent(), [[write, WcStatus.REM_ACCESS_ERR]]);
  });

  for (const [what, psn, syndrome] of [
    ['asks for a packet that has come', 0x1002, 0x60],
    ['is of a request that is complete', 0x1000, 0x62],
    ['is of a packet that was never sent', 0x1100, 0x62],
  ] as const)
    it(`is ignored when it ${what}`, () => {
      const puppet = new Puppet({ pathMtu: 1 });
      const mr = puppet.host1.mr(256 * 8);
      const first = puppet.qp.write(mr, mr, { sgList: [mr.sge(0, 8)] });
      puppet.qp.read(mr, mr);
      puppet.turn();
      puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1000, aeth: { syndrome: 0x1f, msn: 1 } });
      assertCompleted(puppet.qp.sent(), [first]);
      for (let i = 0; i < 3; i += 1)
        puppet.say({
          opcode: i === 0 ? Opcode.RC_READ_RESP_FIRST : Opcode.RC_READ_RESP_MIDDLE,
          psn: 0x1001 + i,
          payload: pattern(256),
          ...(i === 0 ? { aeth: { syndrome: 0x1f, msn: 2 } } : {}),
        });
      puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn, aeth: { syndrome, msn: 1 } });
      assert.deepEqual(puppet.qp.sent(), []);
      assert.equal(puppet.qp.state, QpState.RTS);
      assert.equal(puppet.host1.nic.counters.rxUnexpectedResponse, 1);
    });
});
