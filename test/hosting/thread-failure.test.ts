import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Program } from './programs.js';
import { loopback } from '../support/loopback.js';

for (const [way, env] of [
  ['by system calls', {}],
  ["by Node's own sockets", { VERBENA_NATIVE: 'off' }],
] as const)
  test(`a NIC whose thread breaks says so to all who use it, ${way}`, async () => {
    await using program = new Program('broken-thread', [loopback(1)], env);
    const said = (await program.message()) as Record<string, unknown>; // that program sends one such object
    assert.match(String(said['command']), /^EIO .*the NIC's thread has stopped/);
    assert.equal(said['fatal'], true);
    assert.ok(Array.isArray(said['after']));
    assert.equal(said['after'].length, 3);
    for (const refusal of said['after']) assert.match(String(refusal), /^EIO .*the NIC's thread has stopped/);
    assert.match(String(said['warnings']), /TypeError/);
    const { code, signal } = await program.ended();
    assert.deepEqual([code, signal], [0, null]);
  });
