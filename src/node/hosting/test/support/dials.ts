/** Every way in which a program connects to another, so that tests can have connects fail in all of them. */
import { once } from 'node:events';
import { type Context, connect as connectByCm, listen as listenByCm } from '../../../../entry/index.js';
import { connect as connectKv, serve } from '../../../../protocols/kv/index.js';
import { connect as connectMessages, listen as listenMessages } from '../../../../protocols/messages/index.js';
import * as net from '../../../../protocols/net/index.js';
import { connectStream, listenStreams } from '../../../../protocols/rsocket/index.js';
import { UcpWorker } from '../../../../protocols/ucp/index.js';
import { connect as connectXio, listen as listenXio } from '../../../../entry/xio.js';

export type End = () => void | Promise<void>;

export interface Place {
  readonly host: string;
  readonly port: number;
}

export interface Dial {
  listen(context: Context, place: Place): End | Promise<End>;
  /** Rejects when it fails, or `signal` aborts it. */
  connect(context: Context, place: Place, signal: AbortSignal | undefined): Promise<End>;
}

const nobody = (): void => undefined;
const signalOf = (signal: AbortSignal | undefined): { signal?: AbortSignal } =>
  signal === undefined ? {} : { signal };

const verbs: Dial = {
  listen: (context, { port }) => {
    const listener = listenByCm({ context, port });
    void listener.serve(
      async (request) => {
        const connection = await request.accept();
        void connection.closed.then(() => connection.close());
      },
      { onError: nobody },
    );
    return () => listener.close();
  },
  connect: async (context, place, signal) => {
    const connection = await connectByCm({ context, ...place, ...signalOf(signal) });
    return () => connection.close();
  },
};

const rsocket: Dial = {
  listen: (context, { port }) => {
    const listener = listenStreams({ context, port });
    listener.onStream = (stream) => stream.close(0);
    return () => listener.close();
  },
  connect: async (context, place, signal) => {
    const stream = await connectStream({ context, ...place, ...signalOf(signal) });
    return () => stream.close(0);
  },
};

const sockets: Dial = {
  listen: async (context, { port }) => {
    const server = net.createServer((socket) => socket.on('error', nobody).destroy());
    server.listen({ context, port });
    await once(server, 'listening');
    return () => void server.close();
  },
  connect: async (context, place, signal) => {
    const socket = net.connect({ context, ...place });
    // By `destroy`, as a program that has no signal does.
    signal?.addEventListener('abort', () => socket.destroy());
    await new Promise<void>((resolve, reject) => {
      socket.on('connect', resolve);
      socket.on('error', reject);
      socket.on('close', () => reject(new Error('closed')));
    });
    return () => void socket.destroy();
  },
};

const messages: Dial = {
  listen: (context, { port }) => {
    const listener = listenMessages({ context, port });
    void listener.serve((connection) => connection.closed.catch(nobody), { onError: nobody });
    return () => listener.close();
  },
  connect: async (context, place, signal) => {
    const connection = await connectMessages({ context, ...place, ...signalOf(signal) });
    return () => connection.close();
  },
};

const kvBy = (transport: 'rc' | 'uc' | 'ud'): Dial => ({
  listen: (context, { port }) => {
    const server = serve({ context, port });
    return () => server[Symbol.asyncDispose]();
  },
  connect: async (context, place, signal) => {
    const client = await connectKv({ context, ...place, transport, ...signalOf(signal) });
    return () => client[Symbol.dispose]();
  },
});

const xioBy = (transport: 'rdma' | 'tcp'): Dial => ({
  listen: async (context, { host, port }) => {
    const server = await listenXio({ context, host, port, transport });
    void (async () => {
      for await (const session of server) session.accept();
    })();
    return async () => server[Symbol.asyncDispose]();
  },
  connect: async (context, { host, port }, signal) => {
    const url = `${transport}://${host}:${port}`;
    const session = await connectXio({ url, context, ...signalOf(signal) });
    return async () => session[Symbol.asyncDispose]();
  },
});

/** Of one worker each side, as programs have. */
function ucpBy(transport: 'rc' | 'ud'): Dial {
  const workers = new WeakMap<Context, UcpWorker>();
  const workerOf = (context: Context): UcpWorker => {
    const worker = workers.get(context) ?? new UcpWorker(context, { transport });
    workers.set(context, worker);
    return worker;
  };
  return {
    listen: (context, { port }) => {
      const worker = new UcpWorker(context, { transport });
      worker.listen({ port }, (endpoint) => endpoint[Symbol.dispose]());
      return () => worker.close();
    },
    connect: async (context, place, signal) => {
      const endpoint = await workerOf(context).connect({ ...place, ...signalOf(signal) });
      return () => {
        endpoint.close();
        workerOf(context).close();
        workers.delete(context);
      };
    },
  };
}

export const DIALS: Readonly<Record<string, Dial>> = {
  net: sockets,
  rsocket,
  messages,
  'kv by rc': kvBy('rc'),
  'kv by uc': kvBy('uc'),
  'kv by ud': kvBy('ud'),
  'xio over rdma': xioBy('rdma'),
  'ucp by rc': ucpBy('rc'),
  'ucp by ud': ucpBy('ud'),
  verbs,
};

export const REAL_DIALS: Readonly<Record<string, Dial>> = { 'xio over tcp': xioBy('tcp') };
