import type { FullAddress, SocketAddress } from '../../../api/rdmacm/index.js';
import { AddressFamily, ShutdownHow, SocketType } from './constants.js';
import { Core, type RsocketOptions, type RsocketWait } from './core.js';
import { DatagramCore } from './datagram-core.js';
import { invalidArgument, problem, unsupported } from '../errors.js';
import { coreOf, Rsocket, streamCoreOf } from './rsocket.js';
import { defaultSettings } from './settings.js';

/** The protocol of each type, which may be named. */
const PROTOCOLS: ReadonlyMap<number, number> = new Map([
  [SocketType.STREAM, 6],
  [SocketType.DGRAM, 17],
]);
const SOCKET_FLAGS = SocketType.NONBLOCK | SocketType.CLOEXEC;
const DIRECTIONS = { [ShutdownHow.RD]: 'read', [ShutdownHow.WR]: 'write', [ShutdownHow.RDWR]: 'both' } as const;
const DEFAULT_BACKLOG = 128;

/**
 * Makes a socket (`rsocket`).
 *
 * @param domain INET or INET6
 * @param type STREAM or DGRAM, and NONBLOCK if it is never to wait
 * @param protocol 0, or 6 (TCP) for STREAM, 17 (UDP) for DGRAM
 * @param options the device
 * @throws RsocketError EOPNOTSUPP for other families, types and protocols
 */
export function rsocket(domain: AddressFamily, type: number, protocol = 0, options: RsocketOptions = {}): Rsocket {
  const call = 'rsocket';
  if (!Object.values<number>(AddressFamily).includes(domain))
    throw unsupported(call, `family ${domain}`, 'It is one of AddressFamily');
  const kind = type & ~SOCKET_FLAGS;
  const usual = PROTOCOLS.get(kind);
  if (usual === undefined) throw unsupported(call, `sockets of type ${type}`, 'It is SocketType.STREAM or DGRAM');
  if (protocol !== 0 && protocol !== usual) throw unsupported(call, `protocol ${protocol}`, `It is 0, or ${usual}`);
  const settings = defaultSettings();
  settings.isNonblocking = (type & SocketType.NONBLOCK) !== 0;
  const Inside = kind === SocketType.DGRAM ? DatagramCore : Core;
  return new Rsocket(new Inside(domain, settings, options));
}

/**
 * Gives a socket its address (`rbind`). A port is kept from others from then on; `rconnect` connects from there.
 *
 * @throws VerbsError EADDRINUSE, EADDRNOTAVAIL; RsocketError EINVAL when it has an address, EISCONN when it is connected
 */
export function rbind(socket: Rsocket, address: SocketAddress): void {
  coreOf('rbind', socket).bind('rbind', address);
}

/**
 * Has connections come (`rlisten`). They are there without `raccept`, which hands them out. Of a socket that listens it changes nothing.
 *
 * @param backlog connections that `raccept` has not taken; more wait
 * @throws VerbsError EADDRINUSE; RsocketError EISCONN; EOPNOTSUPP for a socket of datagrams
 */
export function rlisten(socket: Rsocket, backlog = DEFAULT_BACKLOG): void {
  streamCoreOf('rlisten', socket).listen('rlisten', backlog);
}

/**
 * Takes the oldest connection that has come (`raccept`). It begins with the options that the listener had when it came; `rgetpeername`
 * tells from where.
 *
 * @throws RsocketError (the promise rejects) EBADF when the socket does not listen, or is closed meanwhile, EAGAIN instead of waiting, EOPNOTSUPP for a
 *   socket of datagrams; the signal's reason
 */
export async function raccept(socket: Rsocket, { signal }: RsocketWait = {}): Promise<Rsocket> {
  const core = streamCoreOf('raccept', socket);
  for (;;) {
    signal?.throwIfAborted();
    const child = core.accept('raccept');
    if (child !== undefined) return new Rsocket(child);
    if (core.settings.isNonblocking) throw problem('raccept', 'EAGAIN');
    await core.bell.rung(signal);
  }
}

/**
 * Connects (`rconnect`). With O_NONBLOCK it goes on in the background: `rpoll` tells OUT when it is done, and `SO_ERROR` how. A socket of datagrams sends to
 * that address from then on, and takes only what comes from there; nobody is asked whether somebody is there, and it can be done again.
 *
 * @throws (the promise rejects) RsocketError EINPROGRESS with O_NONBLOCK, and while it is being connected; EISCONN; EINVAL for one that listens or has failed;
 *   what `connectStream` throws: ECONNREFUSED, ETIMEDOUT; the signal's reason
 */
export async function rconnect(socket: Rsocket, address: SocketAddress, { signal }: RsocketWait = {}): Promise<void> {
  const core = coreOf('rconnect', socket);
  signal?.throwIfAborted();
  if (core.type === SocketType.DGRAM) {
    await core.sending.runExclusive(signal, () => core.connect('rconnect', address));
    return;
  }
  core.connect('rconnect', address);
  if (core.settings.isNonblocking) throw problem('rconnect', 'EINPROGRESS');
  try {
    while (core.state.kind === 'connecting') await core.bell.rung(signal);
  } catch (error) {
    core.giveUp();
    throw error;
  }
  if (core.state.kind === 'connected') return;
  throw core.takeError() ?? problem('rconnect', 'EBADF');
}

/**
 * Ends one direction of a connection or both (`rshutdown`), and waits until the peer's adapter has all that was sent.
 *
 * @throws (the promise rejects) RsocketError EINVAL for a direction that is none; what the connection ended by before that; the signal's reason, after
 *   which it goes on in the background
 */
export async function rshutdown(socket: Rsocket, how: ShutdownHow, { signal }: RsocketWait = {}): Promise<void> {
  const core = coreOf('rshutdown', socket);
  const direction = DIRECTIONS[how] as (typeof DIRECTIONS)[ShutdownHow] | undefined;
  if (direction === undefined) throw invalidArgument('rshutdown', `how is ${String(how)}`, 'It is one of ShutdownHow');
  // Datagrams have no direction that could end, as in C.
  if (core.type === SocketType.DGRAM || core.state.kind !== 'connected') return;
  const { stream } = core.state;
  stream.shutdown(direction);
  if (direction === 'read') return;
  while (stream.unacknowledgedBytes > 0 && core.ended === undefined) await core.bell.rung(signal);
  if (core.ended?.error !== undefined) throw core.ended.error;
}

/**
 * Closes a socket (`rclose`). What was sent reaches the peer first, within some seconds.
 *
 * @returns a promise that resolves when nothing is left of it
 * @throws RsocketError EBADF (the promise rejects) when it is closed
 */
export async function rclose(socket: Rsocket): Promise<void> {
  const core = coreOf('rclose', socket);
  const { kind } = core.state;
  core.close();
  if (core.type === SocketType.DGRAM) {
    await core.closed;
    return;
  }
  while (kind === 'connected' && core.ended === undefined) await core.bell.rung();
}

/** Where a socket is (`rgetsockname`). @throws RsocketError EBADF */
export function rgetsockname(socket: Rsocket): FullAddress {
  const core = coreOf('rgetsockname', socket);
  return core.localAddress ?? core.anywhere;
}

/** Where the peer is (`rgetpeername`). @throws RsocketError EBADF; ENOTCONN when there is none */
export function rgetpeername(socket: Rsocket): FullAddress {
  const address = coreOf('rgetpeername', socket).remoteAddress;
  if (address === undefined) throw problem('rgetpeername', 'ENOTCONN');
  return address;
}
