import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, mtuBytes, WrOpcode } from '../../ibta/index.js';
import { NakCode, Opcode } from '../../wire/index.js';
import { assertCompleted, type Captured, dropping, pattern } from './pair.js';
import type { ConnectOptions, TestQp } from './qp.js';
import type { Completion } from './rings.js';
import { RxeWorld } from './rxe.js';

/** What a requester may ask of a responder that is stricter than ours, when packets are lost. */

const PSN = 0x1000;
const MTU = Mtu.MTU_1024;
const BYTES = 8 * 1024;
const SOON_US = 55_000;

/** A requester whose round trips are known, and what it has there. */
function setup(options: ConnectOptions = {}) {
  const world: RxeWorld = new RxeWorld(
    { psn: PSN, mtuBytes: mtuBytes(MTU), depth: 16, memoryBytes: 4 * BYTES },
    {},
    () => qp.qpn,
  );
  const { host1, rxe } = world;
  const qp: TestQp = host1.qp();
  qp.toRts(rxe.peer, { pathMtu: MTU, sqPsn: PSN, rqPsn: 0x2000, ...options });
  const local = host1.mrOf(pattern(BYTES));
  rxe.memory.set(pattern(4 * BYTES, 2));
  const read = (offset = 0): bigint =>
    qp.post({ opcode: WrOpcode.RDMA_READ, sgList: [local.sge()], ...rxe.at(offset) });
  const write = (): bigint => qp.post({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.sge()], ...rxe.at(0) });
  const complete = (count: number): { readonly completions: Completion[]; readonly tookUs: number } => {
    const begun = world.nowUs;
    const completions: Completion[] = [];
    world.drive({ until: () => completions.push(...qp.sent()) > 0 && completions.length >= count });
    return { completions, tookUs: world.nowUs - begun };
  };
  write();
  assertCompleted(complete(1).completions, [1n]);
  return { world, rxe, qp, local, read, write, complete };
}

const response = ({ isReadResponse }: Captured): boolean => isReadResponse;
const nak = ({ opcode, syndrome }: Captured): boolean =>
  opcode === Opcode.RC_ACKNOWLEDGE && syndrome === (0x60 | NakCode.PSN_SEQUENCE_ERROR);

describe('a READ from a responder that never again sends more than it was asked for last', () => {
  it('is never asked for in part and then for more: its last responses are lost, and those to the first repeats', () => {
    const { world, rxe, local, read, complete } = setup();
    world.script = dropping(response, 5, 6, 7, 8, 9, 13);
    const wrId = read();
    const { completions } = complete(1);
    assertCompleted(completions, [wrId]);
    assert.deepEqual(local.bytes, rxe.memory.slice(0, BYTES));
    assert.equal(rxe.dropped, 0);
  });

  it('begins later with each repeat, or where the one before it did', () => {
    for (let lost = 1; lost <= 40; lost += 1) {
      const { world, read, complete } = setup({ maxRdAtomic: 2 });
      world.script = dropping(response, lost, lost + 1, lost + 3, lost + 9, lost + 17);
      const wrIds = [read(0), read(BYTES), read(2 * BYTES), read(3 * BYTES)];
      assertCompleted(complete(4).completions, wrIds);
      const starts = new Map<bigint, bigint>();
      for (const { reth } of world.packets(({ opcode }) => opcode === Opcode.RC_READ_REQUEST)) {
        assert.ok(reth !== undefined);
        const end = reth.va + BigInt(reth.length);
        assert.ok(reth.va >= (starts.get(end) ?? 0n), `lost from ${lost}: asked again from ${reth.va}`);
        starts.set(end, reth.va);
      }
    }
  });
});

describe('a responder that tells of a gap once', () => {
  it('is asked by the packet that fills the gap when what it told is lost', () => {
    const { world, rxe, local, write, complete } = setup();
    let naks = 0;
    const third = dropping(({ isRequest }) => isRequest, 3);
    world.script = (packet) => (nak(packet) && naks++ === 0 ? 'drop' : third(packet));
    const wrId = write();
    const { completions, tookUs } = complete(1);
    assertCompleted(completions, [wrId]);
    assert.ok(tookUs < 12_000, `${tookUs} us`);
    assert.deepEqual(rxe.memory.slice(0, BYTES), local.bytes);
  });

  it('is asked by it also when it told, and what was sent again is lost', () => {
    const { world, write, complete } = setup();
    // The third packet, and when everything from there on comes again, the same one.
    world.script = dropping(({ psn, isRequest }) => isRequest && psn === PSN + 8 + 2, 1, 2);
    const wrId = write();
    const { completions, tookUs } = complete(1);
    assertCompleted(completions, [wrId]);
    assert.ok(tookUs < 12_000, `${tookUs} us`);
  });
});

describe('atomics at a responder that remembers no more than it must', () => {
  for (let lost = 1; lost <= 12; lost += 1)
    it(`are each done once, and answered: packet ${lost} is lost`, () => {
      const { world, rxe, qp, complete } = setup({ maxRdAtomic: 4 });
      rxe.view.setBigUint64(0, 0n, true);
      const results = world.host1.mr(64);
      world.script = dropping(() => true, lost, lost + 4);
      const wrIds = Array.from({ length: 8 }, (_, i) =>
        qp.post({
          opcode: WrOpcode.ATOMIC_FETCH_AND_ADD,
          sgList: [results.sge(8 * i, 8)],
          ...rxe.at(0),
          compareAdd: 1n,
        }),
      );
      const { completions, tookUs } = complete(8);
      assertCompleted(completions, wrIds);
      assert.ok(tookUs < SOON_US, `${tookUs} us`);
      for (let i = 0; i < 8; i += 1) assert.equal(results.view.getBigUint64(8 * i, true), BigInt(i));
      assert.equal(rxe.view.getBigUint64(0, true), 8n);
    });
});
