/** What programs ask of a server, by each API. */
import { once } from 'node:events';
import { connect, openDevice } from '../../src/entry/index.js';
import { connect as connectToStore } from '../../src/entry/kv.js';
import { connect as connectByMessages } from '../../src/entry/messages.js';
import { connect as connectSocket } from '../../src/entry/net.js';
import { UcpWorker } from '../../src/entry/ucp.js';
import { connect as connectSession } from '../../src/entry/xio.js';

export type Api = 'verbs' | 'messages' | 'kv' | 'ucp' | 'xio' | 'net';

/** A client of a server. */
export interface Client {
  /** Asks the server for something; rejects when the server is lost. */
  ask(): Promise<unknown>;
  close(): void;
}

/** Where a server is, and which address its clients have. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly localAddress: string;
}

/** Connects to a server. Where an API would look for the server again, it is to look for a moment only. */
export const clients: Readonly<Record<Api, (address: Address) => Promise<Client>>> = {
  verbs: async ({ host, port, localAddress }) => {
    const connection = await connect({ host, port, localAddress });
    return { ask: () => connection.closed, close: () => void connection.close() };
  },
  messages: async ({ host, port, localAddress }) => {
    const connection = await connectByMessages({ host, port, localAddress });
    const ask = async (): Promise<void> => {
      await connection.send(new Uint8Array(8));
      await connection.receive();
    };
    return { ask, close: () => void connection.close() };
  },
  kv: async ({ host, port, localAddress }) => {
    const client = await connectToStore({ host, port, localAddress });
    return { ask: () => client.get('key'), close: () => client.close() };
  },
  ucp: async ({ host, port, localAddress }) => {
    const context = openDevice({ address: localAddress });
    const worker = new UcpWorker(context);
    const endpoint = await worker.connect({ host, port });
    const close = (): void => {
      worker.close();
      context.close();
    };
    return { ask: () => endpoint.tagSendSync(new Uint8Array(8), 1n), close };
  },
  xio: async ({ host, port, localAddress }) => {
    const session = await connectSession({ url: `rdma://${host}:${port}`, localAddress, reconnectMs: 0 });
    return { ask: () => session.request(new Uint8Array(8)), close: () => session.abort() };
  },
  net: async ({ host, port, localAddress }) => {
    const socket = connectSocket({ host, port, localAddress });
    await once(socket, 'connect');
    const ask = async (): Promise<void> => {
      socket.write('question');
      await once(socket, 'data');
    };
    return { ask, close: () => void socket.destroy() };
  },
};
