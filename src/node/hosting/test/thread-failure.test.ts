import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { doorbellPageShape } from '../../../device/nic/index.js';
import { type Notice, type ThreadStart, ThreadState, ThreadWords } from '../threads/thread-protocol.js';
import { loopback } from '../../../../test/support/loopback.js';
import { Program } from './programs.js';

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

test('a NIC whose thread is ended from outside says so to all who use it', async () => {
  await using program = new Program('ended-thread', [loopback(2)]);
  const { refusals, warnings } = (await program.message()) as Record<string, unknown>; // that program sends one such object
  assert.ok(Array.isArray(refusals));
  assert.equal(refusals.length, 2);
  for (const refusal of refusals) assert.match(String(refusal), /^EIO .*the NIC's thread has stopped: it has ended/);
  assert.match(String(warnings), /the NIC's thread has stopped/);
});

const NIC_THREAD = new URL('../threads/nic-thread.js', import.meta.url).href;

test('a thread that ends by itself, in the midst of whatever it does, has those told who wait for it', async () => {
  const [commands, notices] = [new MessageChannel(), new MessageChannel()];
  const state = new Int32Array(new SharedArrayBuffer(4 * ThreadWords.COUNT));
  const start: ThreadStart = {
    spec: {},
    native: false,
    state: state.buffer,
    first: {
      commands: commands.port2,
      notices: notices.port2,
      poller: new SharedArrayBuffer(4),
      loop: new SharedArrayBuffer(8),
      loopFd: undefined,
      thread: undefined,
      doorbells: new SharedArrayBuffer(doorbellPageShape().bytes),
      asyncEvents: new SharedArrayBuffer(4),
      cmEvents: new SharedArrayBuffer(4),
    },
  };
  const source = `
    import(${JSON.stringify(NIC_THREAD)}).then(({ NicThread }) => {
      new NicThread(require('node:worker_threads').workerData);
      process.exit();
    });`;
  const transferList = [commands.port2, notices.port2];
  await once(new Worker(source, { eval: true, workerData: start, transferList }), 'exit');
  assert.equal(state[0], ThreadState.FAILED);
  assert.deepEqual(receiveMessageOnPort(notices.port1)?.message, {
    kind: 'failure',
    text: 'it has ended',
  } satisfies Notice);
});
