import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QpState } from '../../ibta/index.js';
import { SeededRandom } from '../../link/index.js';
import { Opcode, OpcodeBit, opcodeBits } from '../../wire/index.js';
import type { TestMr } from './host.js';
import { assertCompleted, craft, type Crafted, Pair, pattern, Puppet } from './pair.js';
import type { TestQp } from './qp.js';

/** Seeds of these runs; a failure names its own. */
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

const STRANGER = '10.66.66.66';

function randomBytes(random: SeededRandom, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random.below(256));
}

/** A packet with a right ICRC whose fields are partly plausible. */
function plausible(random: SeededRandom, qpns: readonly number[], regions: readonly TestMr[]): Crafted {
  const region = random.pick(regions);
  const known = [...opcodeBits.keys()].filter((opcode) => (opcodeBits[opcode] & OpcodeBit.KNOWN) !== 0);
  const opcode = random.chance(0.8) ? random.pick(known.filter((code) => code < 0x20)) : random.below(256);
  const va = random.chance(0.6)
    ? region.addr + BigInt(random.between(-20, region.length + 20))
    : (BigInt(random.u32()) << 32n) | BigInt(random.u32());
  const rkey = random.chance(0.7) ? region.rkey : random.u32();
  const bits = opcodeBits[opcode];
  const length = random.pick([0, 1, 8, 255, 256, 300, 1024, 2 ** 31, 2 ** 31 + 1, 2 ** 32 - 1, random.u32()]);
  return {
    opcode,
    destQp: random.chance(0.95) ? random.pick(qpns) : random.below(2 ** 24),
    psn: (0x2000 + random.between(-3, 6)) & 0xffffff,
    ackRequest: random.chance(0.5),
    solicited: random.chance(0.2),
    migReq: random.chance(0.2),
    pkey: random.chance(0.95) ? 0xffff : random.below(65536),
    tver: random.chance(0.97) ? 0 : random.below(16),
    padCount: random.chance(0.9) ? 0 : random.below(4),
    payload: randomBytes(random, 4 * random.pick([0, 0, 1, 2, 25, 64, 64, 65, random.below(300)])),
    ...((bits & OpcodeBit.RETH) !== 0 ? { reth: { va, rkey, length } } : {}),
    ...((bits & OpcodeBit.ATOMIC_ETH) !== 0 ? { atomic: { va, rkey, swapAdd: BigInt(random.u32()) } } : {}),
    ...((bits & OpcodeBit.AETH) !== 0 ? { aeth: { syndrome: random.below(256), msn: random.below(2 ** 24) } } : {}),
    ...((bits & OpcodeBit.INVALIDATE) !== 0 ? { invalidateRkey: rkey } : {}),
  };
}

/** Bytes to deliver: noise, a plausible packet, or one that was damaged after it was sealed. */
function attack(
  random: SeededRandom,
  from: string,
  to: string,
  qpns: readonly number[],
  regions: readonly TestMr[],
): Uint8Array {
  if (random.chance(0.15)) return randomBytes(random, random.below(200));
  const bytes = craft(from, to, plausible(random, qpns, regions));
  if (random.chance(0.1)) return bytes.subarray(0, random.below(bytes.length));
  if (random.chance(0.1)) bytes[random.below(bytes.length)] ^= 1 << random.below(8);
  return bytes;
}

describe('packets of a stranger', () => {
  for (const seed of SEEDS) {
    it(`change nothing, answer nothing and are all counted (seed ${String(seed)})`, () => {
      const random = new SeededRandom(seed);
      const puppet = new Puppet({ timeout: 0, pathMtu: 1 });
      const regions = [puppet.host1.mrOf(pattern(1000, 1)), puppet.host1.mrOf(pattern(8, 2))];
      puppet.qp.recv(regions[0]);
      const wrId = puppet.qp.send(regions[1]);
      puppet.turn();
      puppet.heard();
      for (let i = 0; i < 1500; i += 1)
        puppet.deliver(STRANGER, puppet.host1.ip, attack(random, STRANGER, puppet.host1.ip, [puppet.qp.qpn], regions));
      const counters = Object.entries(puppet.host1.nic.counters.snapshot());
      const dropped = counters.filter(([name]) => name.startsWith('rx_')).reduce((sum, [, count]) => sum + count, 0);
      assert.equal(dropped, 1500);
      assert.deepEqual(puppet.heard(), []);
      assert.equal(puppet.qp.state, QpState.RTS);
      assert.deepEqual(puppet.host1.events, []);
      assert.deepEqual([regions[0].bytes, regions[1].bytes], [pattern(1000, 1), pattern(8, 2)]);
      puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1000, aeth: { syndrome: 0x1f, msn: 1 } });
      assertCompleted(puppet.qp.sent(), [wrId]);
    });
  }
});

describe('packets of a peer gone wild', () => {
  for (const seed of SEEDS) {
    it(`never touch a byte outside of what is registered, and harm no other QP (seed ${String(seed)})`, () => {
      const random = new SeededRandom(seed);
      const pair = new Pair();
      const wild = '10.0.0.99';
      const wildGid = pair.network.attach(wild).gid;
      const pd = pair.a.nic.control.allocPd();
      const open = [pair.a.mr(1000, { pd }), pair.a.mr(8, { pd }), pair.a.mr(300, { pd, access: 4 })];
      const closed = [pair.a.mrOf(pattern(500, 3)), pair.a.mrOf(pattern(500, 4), { pd, access: 0 })];
      const regions = [...open, ...closed];
      let victim: TestQp | undefined;
      for (let i = 0; i < 3000; i += 1) {
        if (victim === undefined || victim.state === QpState.ERR) {
          if (victim !== undefined) pair.a.nic.control.destroyQp(victim.qpn);
          victim = pair.a.qp({ pd });
          victim.toRts({ gid: wildGid, qpn: 1 }, { sqPsn: 0x2000, rqPsn: 0x2000, timeout: 0, pathMtu: 1 });
          victim.recv(open[0]);
          victim.postRecv({ sgList: [open[1].sge()] });
          victim.post({ opcode: 4, sgList: [open[0].sge(0, 600)], remoteAddr: 1n, rkey: 1 });
          victim.post({ opcode: 6, sgList: [open[1].sge()], remoteAddr: 8n, rkey: 1 });
          victim.send(open[0]);
        }
        pair.deliver(wild, pair.a.ip, attack(random, wild, pair.a.ip, [victim.qpn], regions));
      }
      for (const region of regions) assert.ok(region.canariesIntact);
      assert.deepEqual([closed[0].bytes, closed[1].bytes], [pattern(500, 3), pattern(500, 4)]);

      const { a, b } = pair.connect();
      const received = b.postRecv();
      const wrIds = [a.write(closed[0], pair.b.mr(500)), a.post({ opcode: 2 })];
      pair.drive({ untilUs: pair.nowUs + 1e6 });
      assertCompleted(a.sent(), wrIds);
      assertCompleted(b.received(), [received]);
    });
  }
});

describe('any packet at all', () => {
  it('is taken in every state without an exception', () => {
    const random = new SeededRandom(77);
    for (const state of ['RESET', 'INIT', 'RTR', 'RTS', 'SQD', 'ERR'] as const) {
      const pair = new Pair();
      const peer = '10.0.0.99';
      const gid = pair.network.attach(peer).gid;
      const region = pair.a.mr(600);
      for (let i = 0; i < 150; i += 1) {
        const qp = pair.a.qp();
        if (state === 'INIT') qp.toInit();
        if (state === 'RTR') qp.toRtr({ gid, qpn: 7 }, { rqPsn: 0x2000 });
        if (state === 'RTS' || state === 'SQD' || state === 'ERR')
          qp.toRts({ gid, qpn: 7 }, { rqPsn: 0x2000, timeout: 0 });
        if (state === 'SQD' || state === 'ERR') qp.modify({ qpState: QpState[state] });
        for (let j = 0; j < 5; j += 1)
          pair.deliver(peer, pair.a.ip, attack(random, peer, pair.a.ip, [qp.qpn], [region]));
        pair.a.nic.control.destroyQp(qp.qpn);
      }
      assert.ok(region.canariesIntact);
    }
  });
});
