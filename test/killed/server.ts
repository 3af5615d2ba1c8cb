/**
 * `server API ADDRESS`: serves one API at an address, and says its port. Told to hang, its program stands still: its NIC, in a thread, still
 * acknowledges requests, and nobody answers them.
 */
import { setImmediate } from 'node:timers/promises';
import { listen, openDevice } from '../../src/entry/index.js';
import { createStore, serve } from '../../src/entry/kv.js';
import { listen as listenForMessages } from '../../src/entry/messages.js';
import { createServer } from '../../src/entry/net.js';
import { UcpWorker } from '../../src/entry/ucp.js';
import { listen as listenForSessions } from '../../src/entry/xio.js';
import type { Api } from './apis.js';

const [api, host] = process.argv.slice(2);

const servers: Readonly<Record<Api, () => Promise<number> | number>> = {
  verbs: () => {
    const listener = listen({ host, port: 0 });
    void (async () => {
      for await (const request of listener) void request.accept();
    })();
    return listener.address.port;
  },
  messages: () => {
    const listener = listenForMessages({ host, port: 0 });
    void listener.serve(async (connection) => {
      for await (const message of connection.messages()) await connection.send(message);
    });
    return listener.address.port;
  },
  kv: () => serve({ store: createStore({ memoryBytes: 1 << 20 }), host, port: 0 }).address.port,
  ucp: () => {
    const worker = new UcpWorker(openDevice({ address: host }));
    const take = async (): Promise<void> => {
      for (;;) await worker.tagReceive(new Uint8Array(64), 1n);
    };
    take().catch(() => undefined);
    return worker.listen({}, () => undefined).address.port;
  },
  xio: async () => {
    const server = await listenForSessions({ host, port: 0 });
    void (async () => {
      for await (const session of server) session.on('request', ({ header }) => ({ header }));
    })();
    return server.address.port;
  },
  net: async () => {
    const server = createServer((socket) => void socket.pipe(socket));
    await new Promise<void>((resolve) => server.listen({ port: 0, host }, resolve));
    const address = server.address();
    return typeof address === 'object' ? (address?.port ?? 0) : 0;
  },
};

process.on('message', () => {
  process.send?.('hangs', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
});
const port = await servers[api as Api]();
await setImmediate();
process.send?.({ port });
