import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessFlags, gidFromIp, QpState, QpType } from '../../ibta/index.js';
import { SeededRandom } from '../../link/simulated/index.js';
import { Opcode, OpcodeBit, opcodeBits, OpcodeService } from '../../wire/index.js';
import { craft, type Crafted, Pair } from './pair.js';
import { connectUc } from './uc.js';
import { craftDatagram, QKEY, udQp } from './ud.js';

const PACKETS = 10_000;
const GROUP = '239.1.2.3';

const opcodesOf = (service: OpcodeService): number[] =>
  Object.values(Opcode).filter((opcode) => opcode >> 5 === service);

function near(random: SeededRandom, right: number, all: number): number {
  return random.chance(0.8) ? right : random.chance(0.5) ? right + random.between(-2, 2) : random.below(all);
}

test('packets that break every rule change neither memory nor the state of UC and UD QPs', () => {
  const seed = Number(process.env['VERBENA_SEED'] ?? 4711);
  console.log(`seed ${seed}`);
  const random = new SeededRandom(seed);
  const pair = new Pair({ network: { capture: false } });
  const { b } = pair;
  const writable = b.mr(2000, { access: AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE });
  const closed = b.mr(2000, { access: AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ });
  const buffer = b.mr(600);
  const uc = b.qp({ type: QpType.UC });
  connectUc(uc, { gid: pair.a.gid, qpn: 1 }, { rqPsn: 0 });
  const ud = udQp(b);
  b.nic.control.attachMcast(ud.qpn, gidFromIp(GROUP));
  const ucOpcodes = opcodesOf(OpcodeService.UC);
  const udOpcodes = opcodesOf(OpcodeService.UD);
  let psn = 0;
  let received = 0;
  for (let i = 0; i < PACKETS; i += 1) {
    for (const qp of [uc, ud]) if (qp.rq.room > 0 && random.chance(0.02)) qp.recv(buffer);
    const toUc = random.chance(0.6);
    const opcodes = random.chance(0.95) === toUc ? ucOpcodes : udOpcodes;
    const opcode = opcodes[random.below(opcodes.length)];
    psn = near(random, psn + 1, 2 ** 24) & 0xffffff;
    const payload = new Uint8Array(random.chance(0.5) ? 256 : random.below(300)).fill(0xbb);
    const target = random.chance(0.7) ? writable : closed;
    const fields: Crafted = {
      opcode,
      destQp: near(random, toUc ? uc.qpn : ud.qpn, 2 ** 24) & 0xffffff,
      psn,
      pkey: near(random, 0xffff, 2 ** 16) & 0xffff,
      padCount: near(random, -payload.length & 3, 4) & 3,
      payload,
      ...((opcodeBits[opcode] & OpcodeBit.RETH) === 0
        ? {}
        : {
            reth: {
              va: target.addr + BigInt(near(random, 0, 2100)),
              rkey: near(random, target.rkey, 2 ** 31),
              length: near(random, random.chance(0.5) ? payload.length : 600, 2 ** 31),
            },
          }),
    };
    // What is not a multiple of four is dropped before it comes here; the rest of the sum is left to chance.
    const group = !toUc && random.chance(0.3);
    const to = group ? GROUP : b.ip;
    const whole = { ...fields, destQp: group ? 0xffffff : fields.destQp };
    const bytes =
      opcode >> 5 === OpcodeService.UD
        ? craftDatagram(pair.a.ip, to, { ...whole, qkey: near(random, QKEY, 2 ** 31) })
        : craft(pair.a.ip, to, whole);
    pair.network.inject(pair.a.ip, b.ip, bytes, { destination: gidFromIp(to) });
    pair.network.advanceTo(pair.nowUs);
    pair.turn();
    received += uc.received().length + ud.received().length;
  }
  assert.equal(uc.state, QpState.RTS);
  assert.equal(ud.state, QpState.RTS);
  assert.ok(b.regions.every(({ canariesIntact }) => canariesIntact));
  assert.ok(closed.bytes.every((byte) => byte === 0));
  assert.deepEqual(b.events, []);
  assert.equal(b.nic.counters.sentPkts, 0);
  const { rxMessageDropped, rxNoReceive, rxBadQkey, rxBadPkey, rxWrongTransport } = b.nic.counters;
  const counts = { received, rxMessageDropped, rxNoReceive, rxBadQkey, rxBadPkey, rxWrongTransport };
  for (const [name, count] of Object.entries(counts)) assert.ok(count > 50, `${name} is only ${count}`);
});
