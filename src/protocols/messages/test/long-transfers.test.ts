import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { alloc } from '../../../entry/index.js';
import { simulate } from '../../../entry/sim.js';
import { Engine } from '../../core/index.js';
import { connectedHere, HOSTS } from './support/here.js';
import { connected, type Pair, pattern } from './support/pair.js';

const BYTES = 1_000_000;
/** What a NIC of this machine is busy with for some turns of the event loop. */
const LONG = 8_000_000;
/** What the program puts where it has given up. */
const OWN = 0xdd;

function resizable(length: number): Uint8Array {
  return new Uint8Array(Reflect.construct(ArrayBuffer, [length, { maxByteLength: length }]) as ArrayBuffer);
}

/** Uses of the pool and of borrowed memory while something is under way. */
function usesOf({ client }: Pair): { leased: number; used: number } {
  const { pool, registrations } = Engine.of(client.context);
  return { leased: pool.leased, used: registrations.used };
}

describe('a long transfer', () => {
  it('goes straight between the adapter and the memory of the program', () =>
    simulate(async (sim) => {
      const pair = await connected(sim);
      const { atServer, atClient } = pair;
      const memory = alloc(BYTES);
      using shared = atServer.share(memory, { write: true });
      const before = usesOf(pair);
      const writing = atClient.write(shared.remote, pattern(BYTES));
      const into = new Uint8Array(BYTES + 100).subarray(77, 77 + BYTES);
      const reading = atClient.read(shared.remote, into);
      assert.deepEqual(usesOf(pair), { leased: before.leased, used: 2 });
      await Promise.all([writing, reading]);
      assert.deepEqual([memory, into], [pattern(BYTES), pattern(BYTES)]);
      assert.deepEqual(usesOf(pair), before);
    }));

  it('goes by the pool where memory cannot be registered, and a short one does', () =>
    simulate(async (sim) => {
      const pair = await connected(sim);
      const { atServer, atClient } = pair;
      using shared = atServer.share(alloc(BYTES), { write: true });
      const bytes = resizable(100_000);
      bytes.set(pattern(100_000));
      for (const source of [bytes, pattern(1000)]) {
        const writing = atClient.write(shared.remote, source);
        assert.equal(usesOf(pair).used, 0);
        assert.ok(usesOf(pair).leased > 4);
        await writing;
        const into = resizable(source.length);
        await atClient.read(shared.remote, into);
        assert.deepEqual(into.slice(), source.slice());
      }
    }));

  it('keeps nothing of what it has made for the program', () =>
    simulate(async (sim) => {
      const pair = await connected(sim);
      using shared = pair.atServer.share(alloc(BYTES));
      await pair.atClient.read(shared.remote, BYTES);
      assert.equal(Engine.of(pair.client.context).registrations.idleBytes, 0);
    }));

  for (const how of ['aborted', 'disposed of', 'lost'] as const)
    it(`touches memory no more once its promise has rejected: ${how}`, () =>
      simulate(async (sim) => {
        const pair = await connected(sim);
        const { atServer, atClient, server } = pair;
        const memory = alloc(2 * BYTES).fill(1);
        using shared = atServer.share(memory, { write: true });
        const [into, from] = [new Uint8Array(BYTES), new Uint8Array(BYTES).fill(2)];
        const controller = new AbortController();
        const { signal } = controller;
        const settled: Promise<void>[] = [];
        const untouched = (promise: Promise<unknown>, bytes: Uint8Array): void => {
          const rejected = promise.then(
            () => assert.fail('it is given up'),
            () => void bytes.fill(OWN),
          );
          settled.push(rejected);
        };
        untouched(atClient.read(shared.remote, into, { signal }), into);
        untouched(atClient.write(shared.remote, from, { offset: BYTES, signal }), from);
        sim.when({ opcode: 'RC_READ_RESP_MIDDLE', nth: 5 }, () => {
          if (how === 'aborted') controller.abort();
          else if (how === 'disposed of') atClient[Symbol.dispose]();
          else server.crash();
        });
        await Promise.all(settled);
        await sim.sleep(10_000_000);
        assert.ok(into.every((byte) => byte === OWN));
        assert.ok(!memory.includes(OWN));
        assert.deepEqual(usesOf(pair).used, 0);
        if (how === 'aborted') assert.deepEqual(await atClient.read(shared.remote, 3), Uint8Array.of(1, 1, 1));
      }));
});

for (const host of HOSTS)
  describe(`a long transfer of a NIC that is ${host}`, () => {
    it('touches memory no more once it was given up', async () => {
      await using pair = await connectedHere(host);
      const { atServer, atClient, engine } = pair;
      const memory = alloc(2 * LONG).fill(1);
      using shared = atServer.share(memory, { write: true });
      let given = 0;
      for (let round = 0; round < 4; round += 1) {
        const make = round % 2 === 0 ? alloc : (length: number) => new Uint8Array(length);
        const [into, from] = [make(LONG), make(LONG).fill(2)];
        memory.fill(1);
        const controller = new AbortController();
        const options = { signal: controller.signal };
        const settled = [
          atClient.read(shared.remote, into, options).catch(() => into.fill((given += 1) && OWN)),
          atClient.write(shared.remote, from, { ...options, offset: LONG }).catch(() => from.fill(OWN)),
        ];
        // Not awaited in calls, which would be done after these.
        while (into[0] === 0) await turn();
        controller.abort();
        await Promise.all(settled);
        // All that was under way has happened by then.
        await atClient.read(shared.remote, 10);
        assert.ok(
          into.every((byte) => byte === into[0]),
          'nothing came any more',
        );
        assert.ok(!memory.includes(OWN), 'nothing was written that was no longer to be');
      }
      assert.ok(given > 0, 'it was given up in the midst');
      assert.equal(engine.registrations.used, 0);
    });

    it('leaves memory to the program afterwards, to transfer it for one', async () => {
      await using pair = await connectedHere(host);
      using shared = pair.atServer.share(alloc(BYTES).fill(1), { write: true });
      const bytes = new Uint8Array(BYTES);
      await pair.atClient.read(shared.remote, bytes);
      await pair.atClient.write(shared.remote, bytes);
      const moved = structuredClone(bytes, { transfer: [bytes.buffer] });
      assert.deepEqual([bytes.length, moved[BYTES - 1]], [0, 1]);
    });
  });
