/** Ends that have something to send, and wait for the credit of a peer that does not read: in every layer. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import * as net from '../../../protocols/net/index.js';
import { connect as connectKv, serve } from '../../../protocols/kv/index.js';
import { connect as connectMessages, listen as listenMessages } from '../../../protocols/messages/index.js';
import { connectStream, listenStreams } from '../../../protocols/rsocket/index.js';
import { UcpWorker } from '../../../protocols/ucp/index.js';
import { connect as connectXio, listen as listenXio } from '../../../protocols/xio/index.js';
import { type Sim, simulate, type SimHost } from '../../../entry/sim.js';

const PORT = 7471;
const MIB = 1 << 20;
const HOUR_US = 3_600_000_000;
/** How long the peer does not read, before it vanishes. */
const WAIT_US = 20_000_000;
const nobody = (): void => undefined;

interface Waiting {
  /** What its program was told; undefined while it was told of nothing. */
  failure: unknown;
}

/** Connects to a program that reads nothing, and sends more than it has room for. */
type Writer = (server: SimHost, client: SimHost, waiting: Waiting) => Promise<unknown>;

const WRITERS: Readonly<Record<string, { readonly writes: Writer; readonly withinUs: number }>> = {
  net: {
    withinUs: 10_000_000,
    writes: async (server, client, waiting) => {
      const listener = net.createServer((socket) => socket.on('error', nobody).pause());
      listener.listen({ port: PORT, context: server.context });
      await once(listener, 'listening');
      const socket = await client.run(() => net.connect(PORT, server.name));
      socket.on('error', (error) => (waiting.failure = error));
      await once(socket, 'connect');
      for (let i = 0; i < 64; i += 1) socket.write(Buffer.alloc(65_536));
    },
  },
  rsocket: {
    withinUs: 10_000_000,
    writes: async (server, client, waiting) => {
      const listener = listenStreams({ port: PORT, context: server.context });
      listener.onStream = nobody;
      const stream = await client.run(() => connectStream({ host: server.name, port: PORT }));
      const bytes = new Uint8Array(MIB);
      const pump = (): void => {
        while (stream.write(bytes) > 0);
      };
      const closed = (error: Error | undefined): void => void (waiting.failure = error ?? new Error('closed'));
      stream.events = { readable: nobody, writable: pump, drained: nobody, closed };
      pump();
    },
  },
  messages: {
    withinUs: 10_000_000,
    writes: async (server, client, waiting) => {
      const listener = listenMessages({ port: PORT, context: server.context });
      void listener.serve((connection) => connection.closed.catch(nobody), { onError: nobody });
      const connection = await client.run(() => connectMessages({ host: server.name, port: PORT }));
      for (let i = 0; i < 2000; i += 1)
        connection.send(new Uint8Array(1000)).catch((error: unknown) => (waiting.failure ??= error));
    },
  },
  xio: {
    // The session looks for the server for half a minute, before it ends.
    withinUs: 60_000_000,
    writes: async (server, client, waiting) => {
      const listener = await listenXio({ port: PORT, context: server.context, queueMessages: 16 });
      const sessions = async (): Promise<void> => {
        for await (const session of listener) session.on('request', nobody);
      };
      void sessions();
      const session = await client.run(() => connectXio(`rdma://${server.address}:${PORT}`));
      for (let i = 0; i < 100; i += 1)
        session.request('', new Uint8Array(1000)).catch((error: unknown) => (waiting.failure ??= error));
    },
  },
  'ucp, eager': {
    withinUs: 10_000_000,
    writes: async (server, client, waiting) => {
      const [one, other] = [new UcpWorker(server.context, { keepAliveMs: 3_600_000 }), new UcpWorker(client.context)];
      one.listen({ port: PORT }, nobody);
      const endpoint = await client.run(() => other.connect({ host: server.name, port: PORT }));
      for (let i = 0; i < 100; i += 1)
        endpoint.tagSendSync(new Uint8Array(1000), 1n).catch((error: unknown) => (waiting.failure ??= error));
    },
  },
  'ucp, rendezvous': {
    withinUs: 10_000_000,
    writes: async (server, client, waiting) => {
      const [one, other] = [new UcpWorker(server.context), new UcpWorker(client.context)];
      one.listen({ port: PORT }, nobody);
      const endpoint = await client.run(() => other.connect({ host: server.name, port: PORT }));
      endpoint.tagSend(new Uint8Array(MIB), 1n).catch((error: unknown) => (waiting.failure ??= error));
    },
  },
};

async function scene(sim: Sim, writes: Writer): Promise<{ server: SimHost; waiting: Waiting }> {
  const [server, client] = [sim.host('server'), sim.host('client')];
  const waiting: Waiting = { failure: undefined };
  await writes(server, client, waiting);
  await sim.sleep(WAIT_US);
  assert.equal(waiting.failure, undefined);
  return { server, waiting };
}

for (const [name, { writes, withinUs }] of Object.entries(WRITERS))
  describe(`a writer that waits for credit (${name})`, () => {
    it('is told when the host of the peer crashes', () =>
      simulate(async (sim) => {
        const { server, waiting } = await scene(sim, writes);
        server.crash();
        await sim.sleep(withinUs);
        assert.ok(waiting.failure instanceof Error, 'it was told nothing');
      }));

    it('stays connected to a peer that only does not read', () =>
      simulate(async (sim) => {
        const { waiting } = await scene(sim, writes);
        await sim.sleep(HOUR_US);
        assert.equal(waiting.failure, undefined);
      }));
  });

it('a call of a key-value client is told when the host of the server crashes', () =>
  simulate(async (sim) => {
    const [server, client] = [sim.host('server'), sim.host('client')];
    serve({ port: PORT, context: server.context });
    const calls = await client.run(() => connectKv({ host: server.name, port: PORT }));
    const outcomes = Array.from({ length: 200 }, async (_, i) => calls.set(`key ${i}`, new Uint8Array(1000)));
    const failed = Promise.allSettled(outcomes);
    server.crash();
    await sim.sleep(60_000_000);
    assert.ok((await failed).some(({ status }) => status === 'rejected'));
  }));
