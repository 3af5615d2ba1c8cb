import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { simulate } from '../../../entry/sim.js';
import { connect, createServer, Socket } from '../index.js';
import { connectStream } from '../../rsocket/index.js';
import { allOf, closeOf } from './support/nets.js';

const PORT = 7471;

describe('sockets of simulated hosts', () => {
  it('find each other by name, and carry bytes both ways', () =>
    simulate(async (sim) => {
      const [server, client] = [sim.host('server'), sim.host('client')];
      const listener = createServer((socket) => socket.pipe(socket));
      listener.listen({ port: PORT, context: server.context });
      await once(listener, 'listening');
      const socket = await client.run(() => connect(PORT, 'server'));
      const received = allOf(socket);
      const bytes = Buffer.alloc(300_000, 'simulated');
      socket.end(bytes);
      assert.ok((await received).equals(bytes));
      assert.equal(await closeOf(socket), false);
      await listener[Symbol.asyncDispose]();
    }));

  it('are made of streams that are there already', () =>
    simulate(async (sim) => {
      const [server, client] = [sim.host('server'), sim.host('client')];
      const listener = createServer((socket) => socket.end('hello'));
      listener.listen({ port: PORT, context: server.context });
      await once(listener, 'listening');
      const stream = await client.run(() => connectStream({ host: 'server', port: PORT }));
      const socket = new Socket({ stream });
      assert.equal(String(await allOf(socket)), 'hello');
      await closeOf(socket);
      await listener[Symbol.asyncDispose]();
    }));
});
