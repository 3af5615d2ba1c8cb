import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { connect, openDevice } from '../../../entry/index.js';
import { Program } from './programs.js';
import { loopback } from '../../../../test/support/loopback.js';

const PACKAGE = new URL('../../../entry/index.js', import.meta.url).href;

test('the thread of a stand-in keeps no process alive', async () => {
  await using program = new Program('stand-in-lives', ['idle', loopback(1), loopback(2)]);
  const { more } = (await program.message()) as { more: number };
  assert.ok(more >= 1, 'a thread stands in');
  const { code, stderr } = await program.ended();
  assert.deepEqual([code, stderr], [0, '']);
});

test('the thread of a stand-in ends with the last of its NICs', async () => {
  await using program = new Program('stand-in-lives', ['closed', loopback(3), loopback(4)]);
  const { more } = (await program.message()) as { more: number };
  assert.ok(more >= 1, 'a thread stands in');
  assert.equal((await program.ended()).code, 0);
});

test('without system calls a NIC that would have a stand-in is in a thread, and a sentence says what is missing', async () => {
  await using program = new Program('stand-in-lives', ['kind', loopback(5), loopback(6)], { VERBENA_NATIVE: 'off' });
  assert.deepEqual(await program.message(), { host: 'thread' });
  assert.match((await program.ended()).stderr, /packets go through node:dgram, because VERBENA_NATIVE=off/);
});

test('a client that connects to a program that computes is asked for patience', async () => {
  const address = loopback(7);
  await using program = new Program('stand-in-lives', ['busy-server', address, '']);
  await program.message();
  using context = openDevice({ host: 'thread', link: 'udp', address: loopback(8) });
  await connect({ context, host: address, port: 4000 });
  program.send({});
  await program.message();
  await connect({ context, host: address, port: 4000 });
  const { mras } = (await program.message()) as { mras: number };
  assert.ok(mras >= 1);
});

test('a thread with a stand-in can be terminated, and its address is free afterwards', async () => {
  const address = loopback(9);
  const source = `
    import('${PACKAGE}').then(async ({ connect, listen, openDevice }) => {
      const device = openDevice({ host: 'auto', address: '${address}' });
      const listener = listen({ context: device, port: 4000 });
      globalThis.ends = await Promise.all([
        connect({ context: device, host: '${address}', port: 4000 }),
        listener.next().then((request) => request.accept()),
      ]);
      require('node:worker_threads').parentPort.postMessage('connected');
      for (;;);
    });`;
  const thread = new Worker(source, { eval: true });
  await new Promise((resolve, reject) => {
    thread.on('message', resolve);
    thread.on('error', reject);
  });
  await thread.terminate();
  openDevice({ address }).close();
});
