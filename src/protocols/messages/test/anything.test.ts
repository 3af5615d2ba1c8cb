import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Sim, type SimHost, simulate } from '../../../entry/sim.js';
import { Engine } from '../../core/index.js';
import { connect, decodeRemoteBuffer, listen, type MessageConnection } from '../index.js';
import { PORT } from './support/pair.js';
import { seedsOf } from '../../../../test/support/share.js';

const SEEDS = 12;
const CLIENTS = 3;
const STEPS = 25;
const SHARED_BYTES = 200_000;

/** Numbers that look like chance, the same for the same seed. */
function dice(seed: number): (sides: number) => number {
  let state = seed * 2654435761 + 1;
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

/** A message says who sent it, which of its messages it is, and how long it is; the rest is a pattern of that. */
function messageOf(client: number, number: number, length: number): Uint8Array {
  const bytes = new Uint8Array(Math.max(9, length));
  bytes.fill((client * 31 + number) & 0xff);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, client);
  view.setUint32(1, number);
  view.setUint32(5, bytes.length);
  return bytes;
}

interface Outcome {
  readonly number: number;
  readonly settled: 'done' | 'given up' | 'lost';
}

/** What a program does to a connection: sends, reads and writes at random, and gives some of it up. */
async function act(
  sim: Sim,
  client: number,
  connection: MessageConnection,
  remote: Parameters<MessageConnection['read']>[0],
  roll: (sides: number) => number,
): Promise<Outcome[]> {
  const outcomes: Promise<Outcome>[] = [];
  const others: Promise<unknown>[] = [];
  for (let number = 0; number < STEPS; number += 1) {
    const controller = new AbortController();
    const { signal } = controller;
    const what = roll(6);
    if (what < 4) {
      const bytes = messageOf(client, number, [10, 300, 5000, 60_000][roll(4)]);
      const sent = connection.send(bytes, { signal });
      outcomes.push(
        sent.then(
          () => ({ number, settled: 'done' }) as const,
          () => ({ number, settled: signal.aborted ? 'given up' : 'lost' }) as const,
        ),
      );
      // Whatever happens to the memory once the promise has settled, nobody sees it.
      void sent.catch(() => undefined).then(() => bytes.fill(0xee));
    } else {
      const target = new Uint8Array(1 + roll(SHARED_BYTES - 1));
      let frozen: Uint8Array | undefined;
      const reading = connection.read(remote, target, { signal }).then(
        () => assert.ok(target.every((byte) => byte === 0x55)),
        () => (frozen = target.slice()),
      );
      others.push(
        reading.then(async () => {
          await sim.sleep(100_000);
          if (frozen !== undefined) assert.deepEqual(target, frozen, 'memory that was given up is not touched');
        }),
      );
    }
    if (roll(4) === 0) await sim.sleep(roll(3000));
    if (roll(3) === 0) controller.abort(new Error('enough'));
  }
  await Promise.all(others);
  return Promise.all(outcomes);
}

async function run(sim: Sim, seed: number, crashes: boolean): Promise<void> {
  const roll = dice(seed);
  const server = sim.host('server');
  const arrived = new Map<number, number[]>();
  const wrong: unknown[] = [];
  const listener = listen({ port: PORT, context: server.context, window: 4 + roll(20) });
  const served = listener.serve(
    async (connection) => {
      using shared = connection.share(new Uint8Array(SHARED_BYTES).fill(0x55));
      await connection.send(shared.encode());
      for await (const bytes of connection.messages()) {
        const view = new DataView(bytes.buffer, bytes.byteOffset);
        const [client, number, length] = [view.getUint8(0), view.getUint32(1), view.getUint32(5)];
        assert.deepEqual(bytes, messageOf(client, number, length));
        arrived.set(client, [...(arrived.get(client) ?? []), number]);
        if (roll(3) === 0) await sim.sleep(roll(5000));
      }
    },
    { onError: (error) => wrong.push(error) },
  );
  const hosts: SimHost[] = Array.from({ length: CLIENTS }, (_, i) => sim.host(`client-${i}`));
  const doomed = crashes ? roll(CLIENTS) : -1;
  const programs = hosts.map((host, client) =>
    host.run(async () => {
      const connection = await connect({ host: 'server', port: PORT, window: 4 + roll(8), timeoutMs: 100_000 });
      const remote = decodeRemoteBuffer((await connection.receive()) ?? new Uint8Array(0));
      if (client === doomed) sim.at(sim.nowUs + 3000 + roll(5000), () => host.crash());
      const outcomes = await act(sim, client, connection, remote, dice(seed * 10 + client));
      await connection.close();
      return outcomes;
    }),
  );
  for (const [client, program] of programs.entries()) {
    if (client === doomed) continue;
    const outcomes = await program;
    const got = arrived.get(client) ?? [];
    assert.deepEqual(
      got,
      [...got].sort((a, b) => a - b),
      'in the order of the calls',
    );
    assert.equal(new Set(got).size, got.length, 'once');
    for (const { number, settled } of outcomes) {
      assert.notEqual(settled, 'lost');
      if (settled === 'done') assert.ok(got.includes(number), `message ${number} of client ${client} has arrived`);
    }
  }
  listener.close();
  if (doomed < 0) {
    await served;
    assert.deepEqual(wrong, []);
    assert.equal(Engine.of(server.context).pool.leased, 0, 'every buffer is back');
  }
  for (const [client, host] of hosts.entries()) {
    if (client === doomed) continue;
    assert.equal(Engine.of(host.context).pool.leased, 0, 'every buffer is back');
    assert.equal(host.counters()['rcvd_rnr_err'] ?? 0, 0, 'nobody lacked a receive');
  }
}

describe('programs that do anything', () => {
  for (const seed of seedsOf(SEEDS))
    it(`get every message once, in order and whole, and settle every promise (seed ${seed})`, () =>
      simulate({ seed, conditions: seed % 3 === 0 ? { loss: 0.01, reordering: 0.01 } : {} }, (sim) =>
        run(sim, seed, seed % 4 === 0),
      ));
});
