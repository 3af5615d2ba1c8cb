import assert from 'node:assert/strict';
import { closeSync, fstatSync, openSync, readdirSync } from 'node:fs';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gidFromIp, type QpType } from '../../../entry/index.js';
import { type Life, LIVES, type Room } from '../../../providers/soft/test/support/lives.js';
import { HOSTINGS, openContexts } from '../../../providers/soft/test/support/pair.js';
import { NET } from '../../../../test/support/loopback.js';

/** More than any table of the NIC that is not given back would bear: the smallest holds 4096. `npm run leaks` takes 10^5. */
const ASKED = process.env['VERBENA_TEST_TIMES'];
const TIMES = Number(ASKED ?? 5000);
/** Which part of them each hosting makes. */
const SHARES = { simulated: 1, inline: ASKED === undefined ? 10 : 1, thread: 50 } as const;
/** However many were made: caches that fill, and what a garbage collector leaves. */
const MOST_BYTES = 1 << 20;
const ROUNDS = 200;
const PATIENCE_MS = 60_000;
/** What a process opens once: to watch others, for its event loop. */
const KEPT_FILES = 4;

const nobody = (): void => undefined;

const STILLBIRTHS: Readonly<Record<string, Life>> = {
  'a region that cannot be named so': ({ pd }) => {
    const memory = new Uint8Array(64);
    assert.throws(() => pd.regMr(memory, 0, { iova: -1 }));
    assert.ok(!Object.hasOwn(memory.buffer, 'transfer'));
  },
  'an address handle that leads from nowhere': ({ pd, other }) => {
    assert.throws(() => pd.createAh({ grh: { dgid: gidFromIp(other.address), sgidIndex: 9 } }), { errno: 'EINVAL' });
  },
  'a queue pair without a type': ({ pd, cq }) => {
    const qpType = 99 as QpType; // as a program without types may
    assert.throws(() => pd.createQp({ qpType, sendCq: cq, recvCq: cq }));
  },
};

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void; // V8's own function, by the flag above

function memoryInUse(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Whether so little is in use once what is garbage was found; buffers are given back some time after that. */
async function settlesAt(bytes: number): Promise<boolean> {
  for (let round = 0; round < ROUNDS; round += 1) {
    collectGarbage();
    if (memoryInUse() < bytes) return true;
    await new Promise(setImmediate);
  }
  return false;
}

const openFiles = (): number => readdirSync('/proc/self/fd').length;

for (const hosting of HOSTINGS) {
  describe(`nothing is left, hosted ${hosting}, of`, () => {
    // What is done inline or in a thread is the same as in a simulation; a command to another thread takes its time.
    const times = TIMES / SHARES[hosting];
    // Starting threads would take most of the time.
    const [opening, closing] = hosting === 'thread' ? [before, after] : [beforeEach, afterEach];
    let room: Room;
    opening(() => {
      const [context, other] = openContexts(hosting, NET);
      room = { context, other, pd: context.allocPd(), cq: context.createCq({ cqe: 16 }) };
    });
    // Which would be refused if something of the many were left.
    closing(() => {
      room.pd.dealloc();
      room.cq.destroy();
      room.context.close();
      room.other.close();
    });

    for (const [name, live] of Object.entries<Life>({ ...LIVES, ...STILLBIRTHS }))
      test(name, async () => {
        live(room, nobody);
        const files = openFiles();
        collectGarbage();
        const usedBefore = memoryInUse();
        for (let i = 0; i < times; i += 1) {
          live(room, nobody);
          // The rings of a destroyed queue pair serve others once the program gives way.
          await Promise.resolve();
        }
        // Threads of earlier tests may be coming to their end, and the NIC's may be looking something up just now.
        const left = openFiles() - files;
        assert.ok(left <= KEPT_FILES, `${String(left)} descriptors are left of ${String(times)} lives`);
        // What another thread holds it gives back in its own time.
        if (hosting === 'thread') return;
        assert.ok(await settlesAt(usedBefore + MOST_BYTES), `${memoryInUse() - usedBefore} bytes are left`);
      });
  });
}

test('a device that is opened and closed leaves no descriptor', async () => {
  for (const hosting of ['inline', 'thread'] as const) {
    const live = (): void => {
      for (const context of openContexts(hosting, NET)) context.close();
    };
    const files = openFiles();
    for (let i = 0; i < 5; i += 1) live();
    // A thread's own end comes after its NIC's.
    const begun = performance.now();
    while (openFiles() > files + KEPT_FILES && performance.now() - begun < PATIENCE_MS) await sleep(5);
    assert.ok(openFiles() <= files + KEPT_FILES, hosting);
  }
});

test('a file that stands for an XRC domain stays the program’s own', () => {
  const [context, other] = openContexts('simulated', NET);
  const fd = openSync(fileURLToPath(import.meta.url), 'r');
  context.openXrcd({ fd }).close();
  assert.ok(fstatSync(fd).isFile());
  closeSync(fd);
  context.close();
  other.close();
});
