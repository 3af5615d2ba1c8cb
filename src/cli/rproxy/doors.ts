import { once } from 'node:events';
import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net';
import type { Context, OpenOptions } from '../../entry/index.js';
import { connectStream, listenStreams, type StreamOptions, type StreamSocket } from '../../entry/rsocket.js';
import { systemCode, ToolError } from '../kit/errors.js';
import { type LocalPlace, placeText, type RdmaPlace } from './places.js';
import type { Door, Proxy } from './proxy.js';

export interface StreamSetup extends StreamOptions {
  readonly context?: Context;
  readonly open?: Omit<OpenOptions, 'address' | 'device'>;
}

/** After how long a silence each side is asked whether it is there; 0: never. */
export interface Patience {
  readonly keepAliveSeconds: number;
}

const LOOPBACK = '127.0.0.1';

const SOCKET_PROBLEMS: Readonly<Record<string, string | undefined>> = {
  EADDRINUSE: 'another program has it',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'this user may not listen there',
  ENOTFOUND: 'there is no host of that name',
  ENOENT: 'there is no such folder',
};

/** How Node writes a place. */
function nodeAddress(place: LocalPlace): { path: string } | { host: string; port: number } {
  return place.kind === 'unix' ? { path: place.path } : { host: place.host ?? LOOPBACK, port: place.port };
}

function settle(socket: Socket, { keepAliveSeconds }: Patience): Socket {
  socket.setNoDelay();
  if (keepAliveSeconds > 0) socket.setKeepAlive(true, keepAliveSeconds * 1000);
  return socket;
}

function peerText({ remoteAddress, remotePort }: Socket): string {
  return remoteAddress === undefined
    ? 'a socket of this machine'
    : placeText({ kind: 'tcp', host: remoteAddress, port: remotePort ?? 0 });
}

/** Listens for sockets, each of which is to have a stream to `to`. */
export async function openLocalDoor(
  proxy: Proxy,
  listen: LocalPlace,
  to: RdmaPlace & { readonly host: string },
  setup: StreamSetup & Patience,
): Promise<Door> {
  const { keepAliveSeconds, ...streams } = setup;
  const dial = async (signal: AbortSignal): Promise<StreamSocket> => {
    const stream = await connectStream({ ...streams, host: to.host, port: to.port, signal });
    stream.setKeepAlive(keepAliveSeconds);
    return stream;
  };
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    void proxy.fromSocket(settle(socket, setup), peerText(socket), dial);
  });
  server.listen(nodeAddress(listen));
  try {
    await once(server, 'listening');
  } catch (error) {
    const code = systemCode(error) ?? '';
    throw new ToolError(`Cannot listen at ${placeText(listen)}: ${SOCKET_PROBLEMS[code] ?? code}.`, 1, {
      cause: error,
    });
  }
  const address = server.address();
  const at: LocalPlace =
    address === null || typeof address === 'string'
      ? listen
      : { kind: 'tcp', host: address.address, port: address.port };
  return { at: placeText(at), close: () => void server.close() };
}

/** Listens for streams, each of which is to have a socket to `to`. */
export function openRemoteDoor(proxy: Proxy, listen: RdmaPlace, to: LocalPlace, setup: StreamSetup & Patience): Door {
  const { keepAliveSeconds, ...streams } = setup;
  const { host, port } = listen;
  const target: NetConnectOpts = { ...nodeAddress(to), allowHalfOpen: true };
  const listener = listenStreams({ ...streams, port, ...(host === undefined ? {} : { host }) });
  listener.onStream = (stream) => {
    stream.setKeepAlive(keepAliveSeconds);
    const from = placeText({ kind: 'rdma', ...stream.remoteAddress });
    void proxy.fromStream(stream, from, () => settle(connect(target), setup));
  };
  return { at: placeText({ kind: 'rdma', ...listener.address }), close: () => listener.close() };
}
