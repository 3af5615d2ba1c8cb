/** What sockets are tested over: streams that are as unkind as they may be, and rsockets. */
import { once } from 'node:events';
import type { Server, Socket } from '../../index.js';
import type { ConnectionListener } from '../../server.js';
import type { NetListenOptions, ServerOptions } from '../../server-options.js';
import type { NetConnectOptions } from '../../socket-options.js';
import { rsockets } from '../../transport.js';
import '../../../../node/hosting/index.js';
import { loopback } from '../../../../../test/support/loopback.js';
import { memoryNet, type Net, netOver } from './memory-net.js';

process.env['VERBENA_ADDR'] = loopback(1);

const SEED = Number(process.env['VERBENA_SEED'] ?? 1);

export const NETS: readonly (readonly [where: string, net: Net])[] = [
  ['unkind streams', memoryNet(SEED)],
  ['rsockets', netOver(rsockets)],
];

export async function listening(
  net: Net,
  onConnection?: ConnectionListener,
  options: ServerOptions = {},
  where: NetListenOptions = {},
): Promise<Server> {
  const server = net.createServer(options, onConnection).listen({ port: 0, ...where });
  await once(server, 'listening');
  return server;
}

export function placeOf(server: Server): { host: string; port: number } {
  const address = server.address();
  if (address === null) throw new Error('it does not listen');
  return { host: address.address, port: address.port };
}

/** Both ends of a connection, and where it came to. */
export interface Ends extends AsyncDisposable {
  readonly server: Server;
  readonly atServer: Socket;
  readonly client: Socket;
}

export async function connected(
  net: Net,
  ofServer: ServerOptions = {},
  ofClient: Partial<NetConnectOptions> = {},
): Promise<Ends> {
  const server = await listening(net, undefined, ofServer);
  const client = net.connect({ ...placeOf(server), ...ofClient });
  const [[atServer]] = await Promise.all([once(server, 'connection') as Promise<[Socket]>, once(client, 'connect')]);
  return { server, atServer, client, [Symbol.asyncDispose]: () => ended(server, atServer, client) };
}

export async function ended(server: Server, ...sockets: readonly Socket[]): Promise<void> {
  for (const socket of sockets) socket.destroy();
  await server[Symbol.asyncDispose]();
}

/** All that a socket brings until it ends. */
export async function allOf(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  if (!socket.readableEnded) await once(socket, 'end');
  return Buffer.concat(chunks);
}

/** The names of events in the order in which they come, until 'close'. */
export async function events(emitter: Socket, ...names: readonly string[]): Promise<string[]> {
  const seen: string[] = [];
  for (const name of names) emitter.on(name, () => seen.push(name));
  await new Promise((resolve) => emitter.once('close', resolve));
  return seen;
}

/** Whether there was an error, once a socket has closed. */
export async function closeOf(socket: Socket): Promise<unknown> {
  if (!socket.closed) return new Promise((resolve) => socket.once('close', resolve));
  // It is closed before it says so.
  await new Promise((resolve) => setImmediate(resolve));
  return socket.errored !== null;
}

export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

export async function failureOf(socket: Socket): Promise<NodeJS.ErrnoException> {
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
  return error;
}
