import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Sim, simulate } from '../../../entry/sim.js';
import type { UcpWorkerOptions } from '../worker/worker-options.js';
import { type AnyWorkers, ALL_WAYS } from './support/workers.js';
import { shareOf } from '../../../../test/support/share.js';

const NOTHING = new Uint8Array(0);

function resizable(length: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Reflect.construct(ArrayBuffer, [length, { maxByteLength: 2 * length }]) as ArrayBuffer);
}

function resize({ buffer }: Uint8Array<ArrayBuffer>, length: number): void {
  Reflect.apply(Reflect.get(buffer, 'resize') as () => void, buffer, [length]);
}

interface Kind {
  readonly make: (length: number) => Uint8Array<ArrayBuffer>;
  readonly change: (bytes: Uint8Array<ArrayBuffer>) => void;
}

/** What a program may do with a buffer in the midst of a call. */
const KINDS: Readonly<Record<string, Kind>> = {
  transferred: {
    make: (length) => new Uint8Array(length),
    change: ({ buffer }) => void structuredClone(buffer, { transfer: [buffer] }),
  },
  shrunk: { make: resizable, change: (bytes) => resize(bytes, 1) },
  enlarged: { make: resizable, change: (bytes) => resize(bytes, 2 * bytes.length) },
};

type Call = (made: AnyWorkers, bytes: Uint8Array, signal: AbortSignal) => Promise<unknown>;

function asked(promise: Promise<unknown>): void {
  promise.catch(() => undefined);
}

/** So much that what comes next has to wait. */
function fill({ there }: AnyWorkers): void {
  for (let i = 0; i < 70; i += 1) asked(there.tagSend(new Uint8Array(10), 9));
}

function taking({ server }: AnyWorkers): void {
  server.setAmHandler(1, (message) => asked(message.keep().receive(new Uint8Array(message.length))));
}

function keyOf({ server, there }: AnyWorkers, length: number) {
  return there.unpackRkey(server.memMap(length).packRkey());
}

const CALLS: Readonly<Record<string, Call>> = {
  tagSend: (made, bytes, signal) => {
    asked(made.server.tagReceive(new Uint8Array(bytes.length), 7));
    return made.there.tagSend(bytes, 7, { signal });
  },
  tagSendSync: (made, bytes, signal) => {
    asked(made.server.tagReceive(new Uint8Array(bytes.length), 7));
    return made.there.tagSendSync(bytes, 7, { signal });
  },
  amSend: (made, bytes, signal) => {
    taking(made);
    return made.there.amSend(1, NOTHING, bytes, { signal });
  },
  'amSend, as header': (made, bytes, signal) => {
    taking(made);
    return made.there.amSend(1, bytes.subarray(0, 1000), new Uint8Array(10), { signal });
  },
  streamSend: (made, bytes, signal) => {
    asked(made.back.streamReceive(new Uint8Array(bytes.length), { waitAll: true }));
    return made.there.streamSend(bytes, { signal });
  },
  tagReceive: (made, bytes, signal) => {
    asked(made.there.tagSend(new Uint8Array(bytes.length), 7));
    return made.server.tagReceive(bytes, 7, { signal });
  },
  'tagReceive, as a piece': (made, bytes, signal) => {
    asked(made.there.tagSend(new Uint8Array(bytes.length + 3), 7));
    return made.server.tagReceive([new Uint8Array(3), bytes], 7, { signal });
  },
  streamReceive: (made, bytes, signal) => {
    asked(made.there.streamSend(new Uint8Array(bytes.length)));
    return made.back.streamReceive(bytes, { waitAll: true, signal });
  },
  receive: (made, bytes, signal) => {
    asked(made.there.amSend(1, NOTHING, new Uint8Array(bytes.length)));
    return new Promise((resolve, reject) =>
      made.server.setAmHandler(1, (message) => void message.keep().receive(bytes, { signal }).then(resolve, reject)),
    );
  },
  put: (made, bytes, signal) => {
    const rkey = keyOf(made, bytes.length);
    return made.there.put(bytes, rkey.address, rkey, { signal });
  },
  get: (made, bytes, signal) => {
    const rkey = keyOf(made, bytes.length);
    return made.there.get(bytes, rkey.address, rkey, { signal });
  },
};

const MOMENTS: readonly (readonly [length: number, afterUs: number, isAborted: boolean])[] = [
  [100, 0, false],
  [20_000, 0, false],
  [20_000, 60, true],
  [100_000, 0, false],
  [100_000, 20, true],
];

interface Try {
  readonly way: string;
  readonly options?: UcpWorkerOptions;
  readonly call: Call;
  readonly kind: Kind;
  readonly length: number;
  readonly afterUs: number;
  readonly isAborted: boolean;
}

async function tried(sim: Sim, { way, options, call, kind, length, afterUs, isAborted }: Try): Promise<void> {
  const made = await ALL_WAYS[way](sim, options);
  const bytes = kind.make(length);
  const controller = new AbortController();
  fill(made);
  let outcome: unknown = 'none';
  call(made, bytes, controller.signal).then(
    () => (outcome = 'done'),
    (error: unknown) => (outcome = error),
  );
  if (afterUs > 0) await sim.sleep(afterUs);
  const wasUnderWay = outcome === 'none';
  if (wasUnderWay) kind.change(bytes);
  if (isAborted) controller.abort();
  for (let i = 0; i < 50 && outcome === 'none'; i += 1) await sim.sleep(100_000);
  assert.notEqual(outcome, 'none', 'each call ends');
  // Who enlarges a buffer takes nothing away.
  if (kind === KINDS['enlarged'] && !isAborted) assert.equal(outcome, 'done');
  const own = made.server.connectToSelf();
  const receiving = made.server.tagReceive(new Uint8Array(20_000), 1);
  await own.tagSend(new Uint8Array(20_000), 1);
  assert.equal((await receiving).length, 20_000);
  // Memory that the adapter itself has may not vanish: no packet would have what it is to have.
  if (kind !== KINDS['transferred']) assert.equal(made.there.failure ?? made.back.failure, undefined);
  await made.close();
}

describe('a buffer in the midst of a call takes nothing with it but the call when it is', () => {
  for (const [name, kind] of Object.entries(KINDS))
    for (const way of Object.keys(ALL_WAYS))
      it(`${name}, by ${way}`, async () => {
        const tries = Object.values(CALLS).flatMap((call) =>
          MOMENTS.map(([length, afterUs, isAborted]) => ({ way, call, kind, length, afterUs, isAborted })),
        );
        for (const one of shareOf(tries)) await simulate((sim) => tried(sim, one));
      });

  it('transferred, where the sender writes', async () => {
    const options = { thresholds: { rndvScheme: 'put_zcopy' } } as const;
    for (const name of ['tagSend', 'tagReceive'])
      for (const afterUs of [0, 10, 20, 40, 80])
        for (const isAborted of [true, false])
          await simulate((sim) =>
            tried(sim, {
              way: 'rc',
              options,
              call: CALLS[name],
              kind: KINDS['transferred'],
              length: 100_000,
              afterUs,
              isAborted,
            }),
          );
  });
});

describe('a buffer that was transferred is as good as none for what has no bytes', () => {
  const gone = (): Uint8Array => {
    const bytes = new Uint8Array(20);
    KINDS['transferred'].change(bytes);
    return bytes;
  };

  for (const [way, make] of Object.entries(ALL_WAYS))
    it(`by ${way}`, () =>
      simulate(async (sim) => {
        const made = await make(sim);
        const { server, there } = made;
        const sent = async (): Promise<void> => {
          await there.tagSend(NOTHING, 1);
          await sim.sleep(1000);
        };
        for (const buffer of [gone(), [gone(), new Uint8Array(4)]]) {
          await sent();
          assert.equal((await server.tagReceive(buffer, 1)).length, 0);
          await sent();
          const message = server.tagProbeRemove(1);
          assert.ok(message !== undefined);
          assert.equal((await server.tagMessageReceive(message, buffer)).length, 0);
        }
        for (const protocol of ['eager', 'rendezvous'] as const) {
          const received = new Promise((resolve) =>
            server.setAmHandler(1, (message) => resolve(message.keep().receive(gone()))),
          );
          await there.amSend(1, gone(), NOTHING, { protocol });
          assert.equal(await received, 0);
        }
        await made.close();
      }));

  for (const way of Object.keys(ALL_WAYS))
    it(`as a piece among others, by ${way}`, () =>
      simulate(async (sim) => {
        const made = await ALL_WAYS[way](sim);
        const pieces = [new Uint8Array(20).subarray(20), new Uint8Array(8)];
        const receiving = made.server.tagReceive(pieces, 1);
        const [{ buffer }, filled] = pieces;
        structuredClone(buffer, { transfer: [buffer] });
        await made.there.tagSend(new Uint8Array(8).fill(5), 1);
        assert.equal((await receiving).length, 8);
        assert.deepEqual(filled, new Uint8Array(8).fill(5));
        await made.close();
      }));
});
