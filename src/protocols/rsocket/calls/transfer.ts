import type { SocketAddress } from '../../../api/rdmacm/index.js';
import { MsgFlags, SocketType } from './constants.js';
import type { Core, RsocketWait } from './core.js';
import { receiveDatagram, sendDatagram, type SourceAddress } from './datagram-transfer.js';
import { problem, unsupported } from '../errors.js';
import { perhapsNextRound } from './polling.js';
import { type AnyCore, coreOf, type Rsocket } from './rsocket.js';

/** What `rsendmsg` and `rrecvmsg` take of `struct msghdr`. */
export interface Msghdr {
  /** Buffers, one after the other. */
  readonly iov: readonly Uint8Array[];
  /** Rsockets have none: EOPNOTSUPP when there is any. */
  readonly control?: Uint8Array;
  /** Of datagrams: whom it is for; default: whom `rconnect` has named. */
  readonly name?: SocketAddress;
}

/** What `rrecvmsg` takes of it. */
export interface ReceivedMsghdr extends Msghdr {
  /** Of datagrams: where to put who has sent it. */
  readonly name?: SourceAddress;
}

/**
 * Sends (`rsend`). It waits until all is taken, not until the peer has it; with MSG_DONTWAIT or O_NONBLOCK it takes what there is room for. A datagram is
 * taken whole or not at all, and may get lost on its way.
 *
 * @param flags DONTWAIT
 * @returns how many bytes were taken: fewer than given where it is not to wait, or when the connection ended
 * @throws (the promise rejects) RsocketError EAGAIN when there is no room, and it is not to wait; ENOTCONN; ECONNRESET, or what the connection ended by, once
 *   nothing can be sent; the signal's reason, when nothing was taken. Of datagrams: EDESTADDRREQ when nobody is named, EMSGSIZE above 2,048 bytes with
 *   the 8 or, with IPv6, 24 that say who sends it, or above the MTU
 */
export async function rsend(
  socket: Rsocket,
  bytes: Uint8Array,
  flags = 0,
  { signal }: RsocketWait = {},
): Promise<number> {
  return send('rsend', socket, [bytes], flags, signal);
}

/**
 * As {@link rsend}; a datagram may have an address of its own.
 *
 * @throws (the promise rejects) as there; RsocketError EISCONN for an address, which streams have from `rconnect`; of datagrams EINVAL for an address that is
 *   none, EAFNOSUPPORT for one of the other version of IP, EOPNOTSUPP for a group; VerbsError EHOSTUNREACH and so on
 */
export async function rsendto(
  socket: Rsocket,
  bytes: Uint8Array,
  flags = 0,
  address?: SocketAddress,
  { signal }: RsocketWait = {},
): Promise<number> {
  return send('rsendto', socket, [bytes], flags, signal, address);
}

/** As {@link rsend}, from several buffers. @throws (the promise rejects) as there; RsocketError EOPNOTSUPP for control data */
export async function rsendmsg(
  socket: Rsocket,
  message: Msghdr,
  flags = 0,
  { signal }: RsocketWait = {},
): Promise<number> {
  refuseControl('rsendmsg', message);
  return send('rsendmsg', socket, message.iov, flags, signal, message.name);
}

/** As {@link rsend}, without flags. @throws (the promise rejects) as there */
export async function rwrite(socket: Rsocket, bytes: Uint8Array, { signal }: RsocketWait = {}): Promise<number> {
  return send('rwrite', socket, [bytes], 0, signal);
}

/** As {@link rwrite}, from several buffers. @throws (the promise rejects) as there */
export async function rwritev(
  socket: Rsocket,
  buffers: readonly Uint8Array[],
  { signal }: RsocketWait = {},
): Promise<number> {
  return send('rwritev', socket, buffers, 0, signal);
}

/**
 * Receives (`rrecv`). It waits until there is something. Of datagrams it takes one; what of it does not fit is gone.
 *
 * @param flags DONTWAIT; WAITALL: until the buffer is full; PEEK: what it gives stays, and comes again
 * @returns how many bytes; 0 when the peer has ended its direction
 * @throws (the promise rejects) RsocketError EAGAIN when there is nothing, and it is not to wait; ENOTCONN; what the connection ended by, otherwise than by
 *   both ends' will, once all is read; the signal's reason
 */
export async function rrecv(
  socket: Rsocket,
  into: Uint8Array,
  flags = 0,
  { signal }: RsocketWait = {},
): Promise<number> {
  return receive('rrecv', socket, [into], flags, signal);
}

/**
 * As {@link rrecv}. Of a stream `rgetpeername` tells from where.
 *
 * @param from where to put who has sent a datagram
 * @throws (the promise rejects) as there
 */
export async function rrecvfrom(
  socket: Rsocket,
  into: Uint8Array,
  flags = 0,
  from?: SourceAddress,
  { signal }: RsocketWait = {},
): Promise<number> {
  return receive('rrecvfrom', socket, [into], flags, signal, from);
}

/** As {@link rrecv}, into several buffers. @throws (the promise rejects) as there; RsocketError EOPNOTSUPP for control data */
export async function rrecvmsg(
  socket: Rsocket,
  message: ReceivedMsghdr,
  flags = 0,
  { signal }: RsocketWait = {},
): Promise<number> {
  refuseControl('rrecvmsg', message);
  return receive('rrecvmsg', socket, message.iov, flags, signal, message.name);
}

/** As {@link rrecv}, without flags. @throws (the promise rejects) as there */
export async function rread(socket: Rsocket, into: Uint8Array, { signal }: RsocketWait = {}): Promise<number> {
  return receive('rread', socket, [into], 0, signal);
}

/** As {@link rread}, into several buffers. @throws (the promise rejects) as there */
export async function rreadv(
  socket: Rsocket,
  buffers: readonly Uint8Array[],
  { signal }: RsocketWait = {},
): Promise<number> {
  return receive('rreadv', socket, buffers, 0, signal);
}

function refuseControl(call: string, { control }: Msghdr): void {
  if (control !== undefined && control.length > 0) throw unsupported(call, 'control data', 'Rsockets carry none');
}

function isToWait({ settings }: AnyCore, flags: number): boolean {
  return !settings.isNonblocking && (flags & MsgFlags.DONTWAIT) === 0;
}

async function send(
  call: string,
  socket: Rsocket,
  buffers: readonly Uint8Array[],
  flags: number,
  signal: AbortSignal | undefined,
  to?: SocketAddress,
): Promise<number> {
  const core = coreOf(call, socket);
  signal?.throwIfAborted();
  if (to !== undefined && core.type === SocketType.STREAM) throw problem(call, 'EISCONN');
  await perhapsNextRound();
  const waits = isToWait(core, flags);
  if (core.type === SocketType.DGRAM) return sendDatagram(core, call, buffers, waits, to, signal);
  if (!waits && core.sending.isLocked) throw problem(call, 'EAGAIN');
  return core.sending.runExclusive(signal, async () => {
    let taken = 0;
    for (const buffer of buffers) {
      const count = await sendOne(core, call, buffer, waits, taken > 0, signal);
      taken += count;
      if (count < buffer.length) break;
    }
    return taken;
  });
}

/** @param began whether bytes were taken before: then nothing is thrown, and the next call tells what is the matter */
async function sendOne(
  core: Core,
  call: string,
  bytes: Uint8Array,
  waits: boolean,
  began: boolean,
  signal: AbortSignal | undefined,
): Promise<number> {
  let taken = 0;
  while (taken < bytes.length) {
    try {
      taken += trySend(core, call, taken === 0 ? bytes : bytes.subarray(taken));
      if (taken === bytes.length) break;
      if (!waits) {
        if (began || taken > 0) break;
        throw problem(call, 'EAGAIN');
      }
      await core.bell.rung(signal);
    } catch (error) {
      if (began || taken > 0) break;
      throw error;
    }
  }
  return taken;
}

/** How many bytes were taken now. */
function trySend(core: Core, call: string, bytes: Uint8Array): number {
  const stream = core.stream(call);
  if (stream === undefined) return 0;
  if (core.ended?.error !== undefined) throw core.ended.error;
  if (stream.isWriteEnded) throw problem(call, 'ECONNRESET');
  const count = stream.write(bytes);
  core.isFull = count < bytes.length;
  return count;
}

async function receive(
  call: string,
  socket: Rsocket,
  buffers: readonly Uint8Array[],
  flags: number,
  signal: AbortSignal | undefined,
  from?: SourceAddress,
): Promise<number> {
  const core = coreOf(call, socket);
  signal?.throwIfAborted();
  await perhapsNextRound();
  const waits = isToWait(core, flags);
  if (core.type === SocketType.DGRAM) return receiveDatagram(core, call, buffers, flags, waits, from, signal);
  if (!waits && core.receiving.isLocked) throw problem(call, 'EAGAIN');
  return core.receiving.runExclusive(signal, async () => {
    const wanted = buffers.reduce((sum, { length }) => sum + length, 0);
    const isPeek = (flags & MsgFlags.PEEK) !== 0;
    const isAll = (flags & MsgFlags.WAITALL) !== 0 && !isPeek;
    let filled = 0;
    while (filled < wanted) {
      const stream = core.stream(call);
      if (stream !== undefined) {
        const isEnd = stream.isReadEnded;
        filled += isPeek ? peekInto(buffers, stream.peek()) : fill(buffers, filled, (part) => stream.read(part));
        if (filled === wanted || (filled > 0 && !isAll)) break;
        if (isEnd && filled === 0 && core.ended?.error !== undefined) throw core.ended.error;
        if (isEnd) break;
      }
      if (!waits) {
        if (filled > 0) break;
        throw problem(call, 'EAGAIN');
      }
      await core.bell.rung(signal);
    }
    return filled;
  });
}

/** Fills buffers from byte `from` on, as far as `read` gives something. @returns how many bytes that were */
function fill(buffers: readonly Uint8Array[], from: number, read: (part: Uint8Array) => number): number {
  let skip = from;
  let filled = 0;
  for (const buffer of buffers) {
    if (skip >= buffer.length) {
      skip -= buffer.length;
      continue;
    }
    const part = skip === 0 ? buffer : buffer.subarray(skip);
    skip = 0;
    const count = read(part);
    filled += count;
    if (count < part.length) break;
  }
  return filled;
}

function peekInto(buffers: readonly Uint8Array[], found: Uint8Array): number {
  let given = 0;
  return fill(buffers, 0, (part) => {
    const piece = found.subarray(given, given + part.length);
    part.set(piece);
    given += piece.length;
    return piece.length;
  });
}
