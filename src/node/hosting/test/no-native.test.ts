import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Program } from './programs.js';
import { loopback } from '../../../../test/support/loopback.js';

/** What a program says of itself, `expect`ed by name. */
async function report(): Promise<Record<string, unknown>> {
  await using program = new Program('no-native', [loopback(1), loopback(2), loopback(3)], { VERBENA_NATIVE: 'off' });
  const said = (await program.message()) as Record<string, unknown>; // that program sends nothing but such objects
  const { code } = await program.ended();
  assert.equal(code, 0);
  return said;
}

test('without system calls a device works in its thread, and says once what is lost', async () => {
  const { completed, read, warnings } = await report();
  assert.deepEqual(completed, [0, 0, 0]);
  assert.equal(read, true);
  assert.ok(Array.isArray(warnings));
  assert.equal(warnings.length, 1);
  assert.match(String(warnings[0]), /node:dgram/);
});

test('without system calls, memory that no other thread can hold is refused', async () => {
  const { register } = await report();
  assert.match(String(register), /EOPNOTSUPP.*|.*alloc\(\)/);
});

test('without system calls there is no hosting inline', async () => {
  const { inline } = await report();
  assert.match(String(inline), /ENOSYS/);
});
