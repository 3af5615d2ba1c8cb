import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { getEventListeners, once } from 'node:events';
import { describe, it } from 'node:test';
import type { Socket } from '../index.js';
import { closeOf, connected, ended, listening, NETS, placeOf } from './support/nets.js';

const BYTES = 600_000;

/** Notices when a listener is called before ticks and microtasks of the one before have run. */
class Scopes {
  readonly early: string[] = [];
  calls = 0;
  #inside: string | undefined;

  enter(name: string): void {
    if (this.#inside !== undefined) this.early.push(`${name} in ${this.#inside}`);
    this.#inside = name;
    this.calls += 1;
    process.nextTick(() =>
      queueMicrotask(() =>
        process.nextTick(() => {
          this.#inside = undefined;
        }),
      ),
    );
  }
}

for (const [where, net] of NETS) {
  describe(`listeners of sockets, over ${where}`, () => {
    it("get all bytes though they listen for one 'data' after the other", async () => {
      const server = await listening(net, (socket) => socket.end(Buffer.alloc(BYTES)));
      const socket = net.connect(placeOf(server));
      const over = new AbortController();
      socket.on('close', () => over.abort());
      let received = 0;
      try {
        for (;;) received += ((await once(socket, 'data', { signal: over.signal })) as [Buffer])[0].length;
      } catch (error) {
        assert.ok(over.signal.aborted, String(error));
      }
      assert.equal(received, BYTES);
      await ended(server, socket);
    });

    it('find their own buffer unchanged in the microtasks of its callback', async () => {
      const server = await listening(net, (socket) => socket.end(Buffer.alloc(BYTES).map((_, i) => i / 251)));
      let changed = 0;
      let received = 0;
      const callback = (bytesRead: number, buffer: Uint8Array): undefined => {
        received += bytesRead;
        const before = buffer.slice(0, bytesRead);
        queueMicrotask(() => {
          if (Buffer.compare(before, buffer.subarray(0, bytesRead)) !== 0) changed += 1;
        });
      };
      const socket = net.connect({ ...placeOf(server), onread: { buffer: Buffer.alloc(16_384), callback } });
      await closeOf(socket);
      assert.deepEqual({ received, changed }, { received: BYTES, changed: 0 });
      await ended(server, socket);
    });

    it('are each called when ticks and microtasks of the one before have run, whichever socket it was', async () => {
      const scopes = new Scopes();
      const server = await listening(net, (socket) => {
        scopes.enter('connection');
        socket.on('data', (bytes: Buffer) => {
          scopes.enter('data at the server');
          socket.write(bytes);
        });
        socket.on('drain', () => scopes.enter('drain at the server'));
        socket.on('end', () => scopes.enter('end at the server'));
      });
      const clients = Array.from({ length: 4 }, () => net.connect(placeOf(server)));
      const closed = clients.map((socket) => {
        for (const event of ['connect', 'drain', 'end', 'close']) socket.on(event, () => scopes.enter(event));
        let received = 0;
        socket.on('data', (bytes: Buffer) => {
          scopes.enter('data');
          received += bytes.length;
          if (received === 100_000) socket.end();
        });
        socket.write(Buffer.alloc(100_000));
        return closeOf(socket);
      });
      await Promise.all(closed);
      assert.deepEqual(scopes.early, []);
      assert.ok(scopes.calls > 24, String(scopes.calls));
      await ended(server, ...clients);
    });

    it('run in the async context in which their socket was connected, or their server listens', async () => {
      const storage = new AsyncLocalStorage<string>();
      const strangers: string[] = [];
      const expecting = (owner: string, event: string) => (): void => {
        const found = storage.getStore();
        if (found !== owner) strangers.push(`${event} of ${owner} in ${found ?? 'none'}`);
      };
      const server = await storage.run('server', () =>
        listening(net, (socket) => {
          expecting('server', 'connection')();
          for (const event of ['data', 'end', 'close', 'drain']) socket.on(event, expecting('server', event));
          socket.on('data', (bytes: Buffer) => socket.write(bytes));
        }),
      );
      let calls = 0;
      const closed = ['alice', 'bob', 'carol'].map((name) =>
        storage.run(name, () => {
          const socket = net.connect(placeOf(server));
          for (const event of ['connect', 'data', 'end', 'close', 'drain', 'timeout']) {
            socket.on(event, expecting(name, event));
            socket.on(event, () => (calls += 1));
          }
          let left = 10;
          socket.on('connect', () => socket.write(Buffer.alloc(2000)));
          let due = 2000;
          socket.on('data', (bytes: Buffer) => {
            due -= bytes.length;
            if (due > 0) return;
            due = 2000;
            left -= 1;
            if (left === 0) socket.end();
            else socket.write(Buffer.alloc(2000));
          });
          return closeOf(socket);
        }),
      );
      await Promise.all(closed);
      assert.deepEqual(strangers, []);
      assert.ok(calls > 30, String(calls));
      await ended(server);
    });
  });

  describe(`listeners of sockets that throw, over ${where}`, () => {
    /** What became uncaught exceptions of the program, while the action runs. */
    async function uncaughtIn(action: () => Promise<void>): Promise<string[]> {
      const messages: string[] = [];
      process.setUncaughtExceptionCaptureCallback((error) => messages.push(error.message));
      try {
        await action();
      } finally {
        process.setUncaughtExceptionCaptureCallback(null);
      }
      return messages;
    }

    const ONCE: Readonly<Record<string, (socket: Socket, fail: () => void) => void>> = {
      data: (socket, fail) => socket.once('data', fail),
      drain: (socket, fail) => socket.once('drain', fail),
      'the callback of a write': (socket, fail) => socket.write('x', fail),
    };
    for (const [event, listen] of Object.entries(ONCE))
      it(`${event}: cause an uncaught exception, and the socket goes on`, async () => {
        const server = await listening(net, (socket) => {
          socket.resume();
          socket.write(Buffer.alloc(BYTES));
        });
        let wasFailed = false;
        const messages = await uncaughtIn(async () => {
          const socket = net.connect(placeOf(server));
          socket.on('error', () => (wasFailed = true));
          await once(socket, 'connect');
          listen(socket, () => {
            throw new Error(`a mistake in ${event}`);
          });
          socket.resume();
          socket.write(Buffer.alloc(BYTES));
          const isUnderWay = (): boolean =>
            !socket.destroyed && (socket.bytesRead < BYTES || socket.writableLength > 0 || socket.writableNeedDrain);
          while (isUnderWay()) await new Promise((resolve) => setImmediate(resolve));
          const closing = closeOf(socket);
          socket.destroy();
          await closing;
        });
        assert.deepEqual([messages, wasFailed], [[`a mistake in ${event}`], false]);
        await ended(server);
      });
  });

  describe(`the signal of listen, over ${where}`, () => {
    it('closes that listening, and no later one', async () => {
      const server = net.createServer();
      const controller = new AbortController();
      for (let i = 0; i < 3; i += 1) {
        server.listen({ port: 0, signal: controller.signal });
        await once(server, 'listening');
        server.close();
        await once(server, 'close');
      }
      assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
      server.listen(0);
      await once(server, 'listening');
      controller.abort();
      assert.equal(server.listening, true);
      await ended(server);
    });

    it('that was aborted before closes nothing that listens later', async () => {
      const server = net.createServer();
      server.listen({ port: 0, signal: AbortSignal.abort() });
      server.close();
      server.listen(0);
      await once(server, 'listening');
      assert.equal(server.listening, true);
      await ended(server);
    });

    it('is forgotten when nobody could listen', async () => {
      const first = await listening(net);
      const server = net.createServer();
      const controller = new AbortController();
      server.listen({ ...placeOf(first), signal: controller.signal });
      await once(server, 'error');
      assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
      await ended(first);
    });

    it('closes while it listens', async () => {
      const server = net.createServer();
      const controller = new AbortController();
      server.listen({ port: 0, signal: controller.signal });
      await once(server, 'listening');
      controller.abort();
      await once(server, 'close');
      await using ends = await connected(net);
      assert.equal(ends.server.listening, true);
    });
  });

  // Streams in memory never refuse a write because their peer has closed.
  if (where === 'unkind streams') continue;

  describe(`the failure of a socket, over ${where}`, () => {
    /** A server that answers and closes while its client goes on writing. */
    async function answered(read: (socket: Socket) => Promise<number>): Promise<[number, unknown]> {
      const server = await listening(net, (socket) => {
        socket.on('error', () => {});
        socket.end(Buffer.alloc(40_000, 'answer'));
        socket.on('finish', () => socket.destroy());
      });
      const socket = net.connect(placeOf(server));
      const failed = new Promise((resolve) => socket.on('error', resolve).on('close', resolve));
      const more = (): void => {
        while (!socket.destroyed && socket.writable && socket.write(Buffer.alloc(20_000)));
      };
      socket.on('drain', more);
      more();
      const received = await read(socket);
      const failure = await failed;
      await ended(server, socket);
      return [received, failure];
    }

    it("comes after the bytes that came before it, to who reads by 'data'", async () => {
      const [received] = await answered(async (socket) => {
        let count = 0;
        socket.on('data', (bytes: Buffer) => (count += bytes.length));
        await closeOf(socket);
        return count;
      });
      assert.equal(received, 40_000);
    });

    it('comes after the bytes that came before it, to who pauses now and then', async () => {
      const [received] = await answered(async (socket) => {
        let count = 0;
        socket.on('data', (bytes: Buffer) => {
          count += bytes.length;
          socket.pause();
          setImmediate(() => setImmediate(() => socket.resume()));
        });
        await closeOf(socket);
        return count;
      });
      assert.equal(received, 40_000);
    });

    it('comes after the bytes that came before it, to who reads in a loop', async () => {
      const [received] = await answered(async (socket) => {
        let count = 0;
        try {
          for await (const bytes of socket) {
            count += (bytes as Buffer).length;
            await new Promise((resolve) => setImmediate(resolve));
          }
        } catch {
          // What it fails with is not asked here.
        }
        return count;
      });
      assert.equal(received, 40_000);
    });

    it('comes to who reads nothing as well', async () => {
      const [, failure] = await answered(() => Promise.resolve(0));
      assert.ok(failure instanceof Error, String(failure));
    });
  });
}
