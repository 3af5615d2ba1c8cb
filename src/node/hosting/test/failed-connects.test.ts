import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Context } from '../../../entry/index.js';
import { simulate } from '../../../entry/sim.js';
import { Engine } from '../../../protocols/core/index.js';
import { openContexts } from '../../../providers/soft/test/support/pair.js';
import { holdingsOf } from '../../../../test/support/holdings.js';
import { NET } from '../../../../test/support/loopback.js';
import { type Dial, DIALS, type Place, REAL_DIALS } from './support/dials.js';

const PORT = 7471;
const OTHER_PORT = 7472;
/** `npm run leaks` takes more, in real time. */
const REAL_TIMES = Math.min(Number(process.env['VERBENA_TEST_TIMES'] ?? 0), 10_000);
const TIMES = 60;
/** Of those that come before: caches and tables have their size by then. */
const FIRST = 24;
/** Garbage that is not found at once, and tables that have grown to what was needed at a time. */
const MOST_BYTES = 4 << 20;
const ROUNDS = 20;
/** What a process opens once. */
const KEPT_FILES = 8;
/** After how many µs, or rounds of the event loop, a connect is given up. */
const PATIENCES = 12;
/** What ended connections leave for a while, so that nobody takes late packets for those of the next: two minutes at the most. */
const SETTLE_US = 120_000_000;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void; // V8's own function, by the flag above

async function leastInUse(): Promise<number> {
  let least = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) {
    collectGarbage();
    await new Promise(setImmediate);
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    least = Math.min(least, heapUsed + arrayBuffers);
  }
  return least;
}

/** What a server keeps for a while of a client that has vanished: sessions of xio for a minute. */
const PATIENCE_MS = 120_000;

/** The least that is in use until it is so little, or for as long as anything is kept. */
async function settlesAt(bytes: number): Promise<number> {
  const begun = performance.now();
  let least = await leastInUse();
  while (least >= bytes && performance.now() - begun < PATIENCE_MS) {
    await sleep(1000);
    least = await leastInUse();
  }
  return least;
}

const openFiles = (): number => readdirSync('/proc/self/fd').length;

interface Scene {
  readonly dial: Dial;
  readonly client: Context;
  readonly server: Context;
  readonly place: Place;
  readonly other: Place;
  /** Lets a little time pass. */
  readonly pause: (times: number) => Promise<unknown>;
}

async function refused({ dial, client, place }: Scene): Promise<void> {
  const connected = await dial.connect(client, place, undefined).then(
    () => true,
    (error: unknown) => {
      assert.ok(!String(error).includes('ENOMEM'), String(error));
      return false;
    },
  );
  assert.ok(!connected);
}

async function abandoned({ dial, client, other, pause }: Scene, i: number): Promise<void> {
  const abort = new AbortController();
  const connecting = dial.connect(client, other, abort.signal);
  const settled = connecting.then(
    (end) => end(),
    (error: unknown) => assert.ok(!String(error).includes('ENOMEM'), String(error)),
  );
  await pause(i % PATIENCES);
  abort.abort();
  await settled;
}

const FAILURES = { 'that are refused': refused, 'that are given up': abandoned } as const;

async function fails(scene: Scene, failure: (scene: Scene, i: number) => Promise<void>, times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) await failure(scene, i);
}

/** Listens where nobody did, and connects there. */
async function succeeds({ dial, client, server, place }: Scene): Promise<void> {
  const stop = await dial.listen(server, place);
  const end = await dial.connect(client, place, undefined);
  await end();
  await stop();
}

/** The length of the completion queue that all layers share. */
const lengthOf = (context: Context): number => Engine.of(context).cq.cqe;

/** By how much a completion queue may grow with connects that overlap. */
const MOST_GROWTH = 4;

for (const [how, failure] of Object.entries(FAILURES)) {
  describe(`connects ${how} in a simulation leave nothing, and have no queue grow without end:`, () => {
    for (const [name, dial] of Object.entries(DIALS))
      it(name, () =>
        simulate(async (sim) => {
          const [server, client] = [sim.host('server').context, sim.host('client').context];
          const [place, other] = [PORT, OTHER_PORT].map((port) => ({ host: server.address, port }));
          const stop = await dial.listen(server, other);
          const pause = (us: number): Promise<void> => sim.sleep(us);
          const scene = { dial, client, server, place, other, pause };
          const both = [client, server];
          // Given up as late as any.
          await failure(scene, PATIENCES - 1);
          const mostEntries = both.map((context) => MOST_GROWTH * lengthOf(context));
          await fails(scene, failure, FIRST);
          await sim.sleep(SETTLE_US);
          const before = both.map(holdingsOf);
          await fails(scene, failure, TIMES);
          await sim.sleep(SETTLE_US);
          assert.deepEqual(both.map(holdingsOf), before);
          for (const [i, context] of both.entries())
            assert.ok(lengthOf(context) <= mostEntries[i], `${lengthOf(context)} entries`);
          await succeeds(scene);
          await stop();
        }),
      );
  });

  const skip = REAL_TIMES === 0 && 'npm run leaks runs it';
  describe(`after ${REAL_TIMES} connects ${how} the next one succeeds, and nothing is left:`, { skip }, () => {
    let server: Context;
    let client: Context;
    before(() => {
      [server, client] = openContexts('inline', NET);
    });
    after(() => {
      client.close();
      server.close();
    });
    for (const [name, dial] of Object.entries({ ...DIALS, ...REAL_DIALS }))
      it(name, async (t) => {
        const [place, other] = [PORT, OTHER_PORT].map((port) => ({ host: server.address, port }));
        const stop = await dial.listen(server, other);
        t.after(stop);
        const pause = async (rounds: number): Promise<void> => {
          for (let round = 0; round < rounds; round += 1) await new Promise(setImmediate);
        };
        const scene = { dial, client, server, place, other, pause };
        await fails(scene, failure, REAL_TIMES / 10);
        const [bytesBefore, rssBefore, filesBefore] = [await leastInUse(), process.memoryUsage.rss(), openFiles()];
        await fails(scene, failure, REAL_TIMES);
        const left = (await settlesAt(bytesBefore + MOST_BYTES)) - bytesBefore;
        const [rss, files] = [process.memoryUsage.rss() - rssBefore, openFiles() - filesBefore];
        t.diagnostic(`${left} bytes of heap and buffers, ${rss} of RSS, ${files} descriptors are left`);
        assert.ok(left < MOST_BYTES, `${left} bytes are left`);
        assert.ok(files <= KEPT_FILES, `${files} descriptors are left`);
        await succeeds(scene);
      });
  });
}
