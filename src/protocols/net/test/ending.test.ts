import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import type { Socket } from '../index.js';
import { allOf, closeOf, connected, ended, events, failureOf, listening, NETS, placeOf } from './support/nets.js';

const BOTH = ['end', 'finish', 'error'] as const;

for (const [where, net] of NETS) {
  describe(`the end of a socket, over ${where}`, () => {
    it('ends with its peer, without an error, when neither is half open', async () => {
      await using ends = await connected(net);
      const [atServer, atClient] = [events(ends.atServer, ...BOTH), events(ends.client, ...BOTH)];
      ends.atServer.resume();
      ends.client.resume().end('bye');
      assert.deepEqual(await atServer, ['end', 'finish']);
      assert.deepEqual(await atClient, ['finish', 'end']);
      assert.deepEqual([ends.client.destroyed, ends.client.readyState], [true, 'closed']);
    });

    it('goes on writing after its peer has ended when it is half open', async () => {
      await using ends = await connected(net, { allowHalfOpen: true });
      const answer = allOf(ends.client);
      ends.client.end('question');
      assert.equal(String(await allOf(ends.atServer)), 'question');
      assert.deepEqual([ends.atServer.writable, ends.atServer.readyState], [true, 'writeOnly']);
      ends.atServer.end('answer');
      assert.equal(String(await answer), 'answer');
      await closeOf(ends.client);
    });

    it('of a client goes on as well when it is half open', async () => {
      await using ends = await connected(net, {}, { allowHalfOpen: true });
      const received = allOf(ends.atServer);
      ends.client.resume();
      ends.atServer.end('first');
      await once(ends.client, 'end');
      assert.equal(ends.client.writable, true);
      ends.client.end('last');
      assert.equal(String(await received), 'last');
    });

    it('waits with the end until all is read', async () => {
      await using ends = await connected(net);
      ends.client.end('some bytes');
      ends.atServer.on('end', () => assert.equal(read, 10));
      await once(ends.atServer, 'readable');
      let read = 0;
      while (read < 10) {
        const chunk: unknown = ends.atServer.read(1);
        if (chunk === null) await once(ends.atServer, 'readable');
        else read += 1;
      }
      ends.atServer.read();
      await closeOf(ends.atServer);
    });

    it('is not told of an end that nobody reads, but of one after nothing', async () => {
      await using ends = await connected(net);
      // Neither listens for data.
      ends.client.end();
      const names = await events(ends.atServer, ...BOTH);
      assert.deepEqual(names, ['end', 'finish']);
    });

    it('is closed by its peer while it closes', async () => {
      await using ends = await connected(net);
      const closed = [closeOf(ends.client), closeOf(ends.atServer)];
      ends.client.end();
      ends.atServer.end();
      assert.deepEqual(await Promise.all(closed), [false, false]);
    });

    it('destroys itself and nothing else when it is destroyed', async () => {
      await using ends = await connected(net);
      const atServer = events(ends.atServer, ...BOTH);
      ends.client.destroy();
      assert.equal(await closeOf(ends.client), false);
      assert.deepEqual(await atServer, ['end', 'finish']);
    });

    it('brings what was written before it was destroyed softly', async () => {
      await using ends = await connected(net);
      const received = allOf(ends.atServer);
      ends.client.write(Buffer.alloc(50_000, 'x'));
      ends.client.destroySoon();
      assert.equal((await received).length, 50_000);
    });

    it('is destroyed once, however often it is told to', async () => {
      await using ends = await connected(net);
      let count = 0;
      ends.client.on('close', () => (count += 1));
      ends.client.destroy();
      ends.client.destroy();
      await closeOf(ends.client);
      ends.client.destroy();
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(count, 1);
    });

    it('emits one error, however many there are', async () => {
      await using ends = await connected(net);
      const errors: string[] = [];
      ends.client.on('error', (error: Error) => errors.push(error.message));
      ends.client.destroy(new Error('first'));
      ends.client.destroy(new Error('second'));
      assert.equal(await closeOf(ends.client), true);
      assert.deepEqual(errors, ['first']);
    });

    it('tells its peer ECONNRESET when it is reset', async () => {
      await using ends = await connected(net);
      const failure = failureOf(ends.atServer);
      const hadError = closeOf(ends.atServer);
      ends.client.resetAndDestroy();
      assert.equal(await closeOf(ends.client), false);
      assert.deepEqual([(await failure).code, await hadError], ['ECONNRESET', true]);
    });

    it('of a server tells its peer ECONNRESET as well', async () => {
      await using ends = await connected(net);
      const failure = failureOf(ends.client);
      ends.atServer.resetAndDestroy();
      const { code, syscall } = await failure;
      assert.deepEqual({ code, syscall }, { code: 'ECONNRESET', syscall: 'read' });
    });

    it('is reset twice as once', async () => {
      await using ends = await connected(net);
      const failure = failureOf(ends.atServer);
      const closed = closeOf(ends.client);
      ends.client.resetAndDestroy();
      ends.client.resetAndDestroy();
      assert.equal(await closed, false);
      assert.equal((await failure).code, 'ECONNRESET');
    });

    it('is reset once it is connected when it was told before', async () => {
      const server = await listening(net);
      const accepted = once(server, 'connection') as Promise<[Socket]>;
      const socket = net.connect(placeOf(server));
      assert.equal(socket.resetAndDestroy(), socket);
      const [[atServer]] = await Promise.all([accepted, closeOf(socket)]);
      assert.equal((await failureOf(atServer)).code, 'ECONNRESET');
      await ended(server);
    });

    it('says ERR_SOCKET_CLOSED when it is reset without ever having been connected', async () => {
      const socket = net.socket();
      const [error, hadError] = await Promise.all([failureOf(socket.resetAndDestroy()), closeOf(socket)]);
      assert.deepEqual([error.code, hadError], ['ERR_SOCKET_CLOSED', true]);
    });

    it('is reset to no effect when it is destroyed', async () => {
      const server = await listening(net);
      const socket = net.connect(placeOf(server));
      socket.on('error', assert.ifError);
      socket.destroy();
      socket.resetAndDestroy();
      assert.equal(await closeOf(socket), false);
      await ended(server);
    });

    it('leaves an object that can be asked and told anything', async () => {
      await using ends = await connected(net);
      ends.client.resume().end();
      ends.atServer.resume().end();
      await closeOf(ends.client);
      const { client } = ends;
      assert.equal(client.setNoDelay(), client);
      assert.equal(client.setKeepAlive(true), client);
      assert.equal(client.setTimeout(100), client);
      assert.equal(client.ref().unref(), client);
      assert.equal(client.pause().resume(), client);
      assert.equal(client.bytesRead, 0);
      assert.equal(client.bytesWritten, 0);
      assert.equal(client.connecting, false);
      assert.equal(client.explainStall(), undefined);
      client.end();
      client.destroySoon();
    });

    it('has everything in a loop, and ends with it', async () => {
      await using ends = await connected(net);
      ends.atServer.end(Buffer.alloc(30_000, 'y'));
      let received = 0;
      for await (const chunk of ends.client as AsyncIterable<Buffer>) received += chunk.length;
      assert.equal(received, 30_000);
    });

    it('writes what it was told to before it ends at once', async () => {
      const received: Promise<Buffer>[] = [];
      const server = await listening(net, (socket) => received.push(allOf(socket)));
      const socket = net.connect(placeOf(server));
      socket.end(Buffer.alloc(20_000, 'z'));
      await closeOf(socket.resume());
      assert.equal((await received[0]).length, 20_000);
      await ended(server);
    });
  });
}
