import assert from 'node:assert/strict';
import {
  chmodSync,
  closeSync,
  openSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { PolledLink } from '../../../device/link/index.js';
import { nativeHostProblem, SharedMapping } from '../../system/index.js';
import { assertWay, localPackets, LocalWorld, received, send } from './local-support.js';

/** Words of an inbox file (`src/node/links/local/local-layout.ts`), written out so that a change of the layout is seen here. */
const MAGIC = 0;
const VERSION = 1;
const GID = 6;
const RING_BYTES = 11;
const FIRST_SLOT = 1024;
const PRODUCER = 16;
const CONSUMER = 32;
const CONTROL_BYTES = 20480;
const RING = 1 << 20;

function inboxFile(world: LocalWorld): string {
  const [name] = world.files;
  return join(world.directory, name);
}

function writeWord(path: string, word: number, value: number): void {
  const fd = openSync(path, 'r+');
  writeSync(fd, new Uint8Array(Int32Array.of(value).buffer), 0, 4, 4 * word);
  closeSync(fd);
}

/** What may be wrong with the file at a neighbour's place. */
const spoilt: readonly (readonly [string, (path: string) => void])[] = [
  ['is a symbolic link', (path) => linkOver(path)],
  ['is open to others', (path) => chmodSync(path, 0o660)],
  ['is longer than an inbox', (path) => truncateSync(path, CONTROL_BYTES + 64 * RING + 4096)],
  ['is no inbox', (path) => writeWord(path, MAGIC, 0)],
  ['is of another version', (path) => writeWord(path, VERSION, 99)],
  ['is that of another address', (path) => writeWord(path, GID + 3, 1)],
  ['has rings of another size', (path) => writeWord(path, RING_BYTES, 4096)],
  ['is a copy that nobody holds', (path) => copyOver(path)],
];

function linkOver(path: string): void {
  renameSync(path, `${path}-real`);
  symlinkSync(`${path}-real`, path);
}

function copyOver(path: string): void {
  const bytes = readFileSync(path);
  renameSync(path, `${path}-real`);
  const fd = openSync(path, 'w', 0o600);
  writeSync(fd, bytes.subarray(0, CONTROL_BYTES));
  closeSync(fd);
  truncateSync(path, bytes.length);
}

describe('a file at the place of an inbox that', { skip: nativeHostProblem() ?? false }, () => {
  for (const [what, spoil] of spoilt) {
    test(`${what} is left alone, and packets go by UDP`, () => {
      using world = new LocalWorld();
      const b = world.open(2);
      spoil(inboxFile(world));
      assertWay(world.open(1), b, false);
    });
  }
});

/** Lets a sender have its ring, and then write there what it should not. */
function withRing(damage: (control: Int32Array, ring: Int32Array) => void): void {
  using world = new LocalWorld();
  const b = world.open(2);
  const fd = openSync(inboxFile(world), 'r+');
  const [a, c] = [world.open(1), world.open(3)];
  assertWay(a, b, true);
  const control = new SharedMapping(fd, 0, CONTROL_BYTES);
  const ring = new SharedMapping(fd, CONTROL_BYTES, RING);
  damage(control.words, ring.words);
  assertHarmless(b, c);
  control.close();
  ring.close();
  closeSync(fd);
}

function assertHarmless(b: PolledLink, c: PolledLink): void {
  const before = localPackets(b);
  received(b);
  assert.equal(localPackets(b), before);
  assertWay(c, b, true);
}

/** Puts an entry of this length where the next is awaited, and says that so many bytes are there. */
function claim(length: number, available: number): (control: Int32Array, ring: Int32Array) => void {
  return (control, ring) => {
    const producer = control[FIRST_SLOT + PRODUCER];
    ring[producer >> 2] = length;
    Atomics.store(control, FIRST_SLOT + PRODUCER, producer + available);
  };
}

describe(
  'a sender that writes nonsense into its ring is not listened to, and others are:',
  {
    skip: nativeHostProblem() ?? false,
  },
  () => {
    test('more than the ring holds', () => withRing(claim(64, RING + 64)));
    test('less than nothing', () => withRing(claim(64, -64)));
    test('a packet without a byte', () => withRing(claim(0, 64)));
    test('a packet of negative length', () => withRing(claim(-2, 64)));
    test('a packet longer than any', () => withRing(claim(1 << 19, RING)));
    test('a packet of 2^31 - 1 bytes', () => withRing(claim(0x7fffffff, RING)));
    test('a packet longer than what is there', () => withRing(claim(4000, 64)));
    test('a rest of the ring longer than what is there', () => withRing(claim(-1, 64)));

    test('to a receiver that takes more than was sent nothing is sent', () => {
      using world = new LocalWorld();
      const b = world.open(2);
      const fd = openSync(inboxFile(world), 'r+');
      const a = world.open(1);
      assertWay(a, b, true);
      const control = new SharedMapping(fd, 0, CONTROL_BYTES);
      Atomics.store(control.words, FIRST_SLOT + CONSUMER, 1 << 30);
      const before = a.statistics()['local_sent_packets'];
      for (let n = 0; n < 300; n += 1) send(a, b, [4096]);
      assert.ok(a.statistics()['local_sent_packets'] - before < 300);
      control.close();
      closeSync(fd);
    });
  },
);
