import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Sim, simulate } from '../../../../entry/sim.js';
import type { UcpMemory } from '../../rma/memory.js';
import {
  AmId,
  type AtomicOp,
  AtomicOp as Op,
  Heads,
  Messages,
  rmaAddress,
  UcsStatus,
  unpackRkey,
} from '../../wire/index.js';
import { byMessagesOnly, RMA_WAYS, say, shownAs, sideOf } from '../support/rma.js';
import { connectedByRc, pattern, until } from '../support/transports.js';

const LENGTH = 64;

/** An honest end, and one that says whatever it likes. */
async function besieged(sim: Sim, shown: typeof byMessagesOnly = byMessagesOnly) {
  const { here: liar, there, close } = await connectedByRc(sim, 512);
  const honest = sideOf(there, undefined, shown);
  const memory = honest.memories.map(LENGTH);
  memory.bytes.set(pattern(LENGTH, 1));
  const key = unpackRkey(memory.packRkey());
  assert.ok(typeof key !== 'string');
  const says = (id: AmId, bytes: Uint8Array): void => say({ end: liar }, id, bytes);
  return { liar, honest, memory, key, says, close };
}

function packed<M>(format: { encode(into: Uint8Array, message: M): number }, message: M): Uint8Array {
  const into = new Uint8Array(1000);
  return into.slice(0, format.encode(into, message));
}

const put = (address: bigint, length = 8): [AmId, Uint8Array] => [
  AmId.PUT,
  packed(Messages.PUT, { head: { address, epId: 1, memoryType: 0 }, payload: pattern(length, 9) }),
];
const get = (address: bigint, length = 8): [AmId, Uint8Array] => [
  AmId.GET_REQ,
  packed(Messages.GET_REQ, { head: { address, length, epId: 1, requestId: 1, memoryType: 0 } }),
];
const atomic = (address: bigint, length = 8, opcode: AtomicOp = Op.SWAP): [AmId, Uint8Array] => [
  AmId.ATOMIC_REQ,
  packed(Messages.ATOMIC_REQ, {
    head: { address, epId: 1, requestId: 1, length, opcode },
    payload: pattern(length * (opcode === Op.CSWAP ? 2 : 1), 9),
  }),
];

type Lie = (rkey: number) => [AmId, Uint8Array];

const TRESPASSES: Readonly<Record<string, Lie>> = {
  'puts beyond the end': (rkey) => put(rmaAddress({ rkey, offset: LENGTH - 7 })),
  'puts at the last place that there is': (rkey) => put(rmaAddress({ rkey, offset: 2 ** 32 - 1 })),
  'puts by a key that nobody gave': (rkey) => put(rmaAddress({ rkey: rkey ^ 1, offset: 0 })),
  'puts at no key': () => put(8n),
  'gets beyond the end': (rkey) => get(rmaAddress({ rkey, offset: LENGTH - 7 })),
  'gets by a key that nobody gave': (rkey) => get(rmaAddress({ rkey: rkey ^ 0x100, offset: 0 })),
  'gets more than there is anywhere': (rkey) => get(rmaAddress({ rkey, offset: 0 }), 2 ** 53 - 1),
  'gets nothing': (rkey) => get(rmaAddress({ rkey, offset: 0 }), 0),
  'changes a word beyond the end': (rkey) => atomic(rmaAddress({ rkey, offset: LENGTH })),
  'changes a word that is not aligned': (rkey) => atomic(rmaAddress({ rkey, offset: 4 })),
  'changes a word by a key that nobody gave': (rkey) => atomic(rmaAddress({ rkey: rkey ^ 1, offset: 0 })),
};

/** The fields of messages of ours, changed so that they make no sense. */
function changed([id, bytes]: [AmId, Uint8Array], at: number, value: number): [AmId, Uint8Array] {
  const copy = bytes.slice();
  copy[at] = value;
  return [id, copy];
}

const NONSENSE: Readonly<Record<string, Lie>> = {
  'puts into memory of another kind': (rkey) => changed(put(rmaAddress({ rkey, offset: 0 })), 16, 1),
  'gets for an endpoint beyond all numbers': (rkey) => changed(get(rmaAddress({ rkey, offset: 0 })), 23, 0xff),
  'gets for a request beyond all numbers': (rkey) => changed(get(rmaAddress({ rkey, offset: 0 })), 31, 0xff),
  'gets a length beyond all numbers': (rkey) => changed(get(rmaAddress({ rkey, offset: 0 })), 15, 0xff),
  'gets from memory of another kind': (rkey) => changed(get(rmaAddress({ rkey, offset: 0 })), 32, 1),
  'does an atomic that there is not': (rkey) => changed(atomic(rmaAddress({ rkey, offset: 0 })), 25, 6),
  'does an atomic to a word of 2 bytes': (rkey) => changed(atomic(rmaAddress({ rkey, offset: 0 })), 24, 2),
  'gives half an operand': (rkey) => [AmId.ATOMIC_REQ, atomic(rmaAddress({ rkey, offset: 0 }))[1].slice(0, -4)],
  'cuts a put': () => [AmId.PUT, new Uint8Array(Heads.PUT.bytes - 1)],
  'cuts a get': () => [AmId.GET_REQ, new Uint8Array(Heads.GET_REQ.bytes - 1)],
  'cuts an atomic': () => [AmId.ATOMIC_REQ, new Uint8Array(Heads.ATOMIC_REQ.bytes - 1)],
  'cuts a confirmation': () => [AmId.CMPL, new Uint8Array(Heads.CMPL.bytes - 1)],
  'confirms what nobody has asked for': () => [AmId.CMPL, packed(Messages.CMPL, { head: { epId: 1 } })],
  'confirms to an endpoint that is not there': () => [AmId.CMPL, packed(Messages.CMPL, { head: { epId: 77 } })],
  'answers a get that nobody has asked for': () => [
    AmId.GET_REP,
    packed(Messages.GET_REP, { head: { requestId: 1 }, payload: pattern(8) }),
  ],
  'answers an atomic that nobody has asked for': () => [
    AmId.ATOMIC_REP,
    packed(Messages.ATOMIC_REP, { head: { requestId: 1 }, payload: pattern(8) }),
  ],
  'answers an atomic by a word of 5 bytes': () => [AmId.ATOMIC_REP, new Uint8Array(Heads.ATOMIC_REP.bytes + 5)],
};

describe('a peer that asks for memory by messages', () => {
  for (const [what, lie] of Object.entries({ ...TRESPASSES, ...NONSENSE }))
    it(`loses its endpoint when it ${what}, and changes nothing`, () =>
      simulate(async (sim) => {
        const { honest, liar, memory, key, says, close } = await besieged(sim);
        says(...lie(key.rkey));
        await until(sim, () => honest.parts.failure !== undefined && liar.endpoint.failure !== undefined);
        assert.equal(honest.parts.failure, UcsStatus.UCS_ERR_IO_ERROR);
        assert.deepEqual(memory.bytes, pattern(LENGTH, 1));
        memory.unmap();
        close();
      }));

  for (const [what, rights, lies] of [
    ['reads', { read: true, write: false, atomics: false }, [put, atomic]],
    ['writes', { read: false, write: true, atomics: false }, [get, atomic]],
    ['atomics', { read: false, write: false, atomics: 'messages' }, [get, put]],
    ['reads, writes and atomics of the adapter', { atomics: 'device' }, [atomic]],
  ] as const)
    for (const lie of lies)
      it(`that has a key for ${what} gets no ${lie.name} by it`, () =>
        simulate(async (sim) => {
          const { honest, says, close, memory } = await besieged(sim);
          const other = honest.memories.map(pattern(8, 3), rights);
          const key = unpackRkey(other.packRkey());
          assert.ok(typeof key !== 'string');
          says(...lie(rmaAddress({ rkey: key.rkey, offset: 0 })));
          await until(sim, () => honest.parts.failure !== undefined);
          assert.equal(honest.parts.failure, UcsStatus.UCS_ERR_IO_ERROR);
          assert.deepEqual(other.bytes, pattern(8, 3));
          for (const one of [other, memory]) one.unmap();
          close();
        }));

  it('is owed no more answers than were agreed on', () =>
    simulate(async (sim) => {
      // No answer leaves, as long as the peer takes none.
      const isFull = { amShort: () => UcsStatus.UCS_ERR_NO_RESOURCE, amBcopy: () => UcsStatus.UCS_ERR_NO_RESOURCE };
      const { honest, memory, key, says, close } = await besieged(sim, (transport) => shownAs(transport, isFull));
      for (let i = 0; i < 129; i += 1) {
        while (honest.end.endpoint.failure === undefined) {
          try {
            says(...get(rmaAddress({ rkey: key.rkey, offset: 0 })));
            break;
          } catch {
            await sim.sleep(1);
          }
        }
        if (i === 127) {
          await sim.sleep(10);
          assert.equal(honest.parts.failure, undefined);
        }
      }
      await until(sim, () => honest.parts.failure !== undefined);
      assert.equal(honest.parts.failure, UcsStatus.UCS_ERR_EXCEEDS_LIMIT);
      memory.unmap();
      close();
    }));

  const LATE: Readonly<Record<string, (requestId: number) => [AmId, Uint8Array]>> = {
    'more bytes than were asked for': (requestId) => [
      AmId.GET_REP,
      packed(Messages.GET_REP, { head: { requestId }, payload: pattern(101) }),
    ],
    'a part without bytes': (requestId) => [
      AmId.GET_REP,
      packed(Messages.GET_REP, { head: { requestId }, payload: pattern(0) }),
    ],
  };
  for (const [what, lie] of Object.entries(LATE))
    it(`that answers a get by ${what} loses its endpoint, and the get fails`, () =>
      simulate(async (sim) => {
        const { honest, liar, memory, says, close } = await besieged(sim);
        const packedKey = memory.packRkey();
        const rkey = honest.rma.unpackRkey(packedKey);
        let requestId = 0;
        liar.handlers.set(AmId.GET_REQ, (bytes) => {
          const request = Messages.GET_REQ.decode(bytes);
          if (typeof request !== 'string') requestId = request.head.requestId;
        });
        const buffer = new Uint8Array(60);
        const getting = honest.rma.get(buffer, rkey.address, rkey, {});
        await until(sim, () => requestId > 0);
        says(...lie(requestId));
        await assert.rejects(getting, { status: UcsStatus.UCS_ERR_IO_ERROR });
        assert.deepEqual(buffer, new Uint8Array(60));
        memory.unmap();
        close();
      }));
});

for (const [name, made] of Object.entries(RMA_WAYS).filter(([way]) => way.startsWith('rc')))
  describe(`by ${name}`, () => {
    for (const use of ['put', 'get'] as const)
      it(`memory that is no longer mapped is out of reach of a ${use}, and who tries loses its endpoint`, () =>
        simulate(async (sim) => {
          const { here, there, close } = await made(sim);
          const memory: UcpMemory = there.memories.map(100);
          const rkey = here.rma.unpackRkey(memory.packRkey());
          await here.rma.put(pattern(100, 1), rkey.address, rkey, {});
          assert.equal(await here.rma.flush(), UcsStatus.UCS_OK);
          const { bytes } = memory;
          memory.unmap();
          memory.unmap();
          const data = new Uint8Array(100);
          const ended = here.rma[use](data, rkey.address, rkey, {}).then(
            () => here.rma.flush(),
            () => undefined,
          );
          assert.notEqual(await ended, UcsStatus.UCS_OK);
          assert.notEqual(here.parts.failure, undefined);
          assert.deepEqual([bytes, data], [pattern(100, 1), new Uint8Array(100)]);
          await close();
        }));

    it('a peer that vanishes ends every put, get and atomic, each once', () =>
      simulate(async (sim) => {
        const { here, there, close } = await made(sim);
        const memory = there.memories.map(100_000);
        const rkey = here.rma.unpackRkey(memory.packRkey());
        const all = Array.from({ length: 60 }, (_, i) => {
          if (i % 3 === 0) return here.rma.put(new Uint8Array(100_000), rkey.address, rkey, {});
          if (i % 3 === 1) return here.rma.get(new Uint8Array(100_000), rkey.address, rkey, {});
          return here.rma.atomic('add', 1n, rkey.address, rkey, {}, true);
        });
        const ended = Promise.allSettled(all);
        await sim.sleep(0.2);
        there.parts.close();
        const settled = await ended;
        assert.ok(settled.some(({ status }) => status === 'rejected'));
        assert.notEqual(await here.rma.flush(), UcsStatus.UCS_OK);
        memory.unmap();
        await close();
      }));
  });
