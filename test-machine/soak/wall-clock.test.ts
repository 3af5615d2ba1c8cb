/**
 * No timer may follow the time of day, which administrators and NTP turn back. The soak does that where it can; who reads it
 * can be seen everywhere.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('../../../src', import.meta.url));

/** Who reads it, and why that is not a timer. */
const READERS: Readonly<Record<string, string>> = {
  'protocols/kv/gateway/commands/arguments.ts':
    'what is left until a time of day that a command names, as EXPIREAT does',
  'protocols/kv/gateway/commands/expiry.ts': 'the time of day at which an entry ends, which EXPIRETIME asks for',
  'protocols/kv/kv-persistence.ts':
    'when entries on disk end, which another process has written: read when a store is opened, and no more',
  'protocols/ucp/worker/log.ts': 'the time that lines of a log begin with, which people read',
  'node/system/clock.ts': 'the time at which the thread began, for captures: it goes on by the monotonic clock',
  'node/links/local/local-directory.ts':
    'how old a file is that nobody holds: one that looks younger is left for another time',
};

/** Tools and `verbena run` live with the time of day; so may tests. */
const LEFT_OUT: readonly string[] = ['cli', 'run', 'test'];

function readers(folder: string, path = ''): string[] {
  return readdirSync(join(folder, path), { withFileTypes: true }).flatMap((entry) => {
    const name = path === '' ? entry.name : `${path}/${entry.name}`;
    if (entry.isDirectory()) return LEFT_OUT.includes(entry.name) ? [] : readers(folder, name);
    const reads = /\bDate\b|timeOrigin/.test(readFileSync(join(folder, name), 'utf8'));
    return reads ? [name] : [];
  });
}

test('the time of day is read by those who tell it, and by no timer', () => {
  assert.deepEqual(readers(SOURCE).sort(), Object.keys(READERS).sort());
});
