import type { FullAddress, SocketAddress } from '../../../api/rdmacm/index.js';
import { MsgFlags } from './constants.js';
import type { DatagramCore } from './datagram-core.js';
import { problem } from '../errors.js';

/** Where an address is put: that of the sender of a datagram. */
export interface SourceAddress {
  host: string;
  port: number;
}

/** Sends one datagram. @throws (the promise rejects) as `rsendto` */
export async function sendDatagram(
  core: DatagramCore,
  call: string,
  pieces: readonly Uint8Array[],
  waits: boolean,
  to: SocketAddress | undefined,
  signal: AbortSignal | undefined,
): Promise<number> {
  if (!waits && core.sending.isLocked) throw problem(call, 'EAGAIN');
  return core.sending.runExclusive(signal, async () => {
    if (to === undefined && core.peer === undefined) throw problem(call, 'EDESTADDRREQ');
    if (to !== undefined && core.state.kind === 'new') await core.toward(call, to);
    for (;;) {
      const socket = core.socket(call);
      const peer = to === undefined ? core.peer : socket.peer(call, to);
      if (peer === undefined) throw problem(call, 'EDESTADDRREQ');
      if (socket.send(call, peer, pieces)) return pieces.reduce((sum, { length }) => sum + length, 0);
      if (!waits) throw problem(call, 'EAGAIN');
      await core.bell.rung(signal);
    }
  });
}

/** Takes one datagram, and forgets what of it the buffers have no room for. @throws (the promise rejects) as `rrecvfrom` */
export async function receiveDatagram(
  core: DatagramCore,
  call: string,
  buffers: readonly Uint8Array[],
  flags: number,
  waits: boolean,
  from: SourceAddress | undefined,
  signal: AbortSignal | undefined,
): Promise<number> {
  if (!waits && core.receiving.isLocked) throw problem(call, 'EAGAIN');
  return core.receiving.runExclusive(signal, async () => {
    for (;;) {
      const socket = core.socket(call);
      const { next } = socket;
      if (next !== undefined) {
        const count = scatter(next.payload, buffers);
        if (from !== undefined) put(next.from, from);
        if ((flags & MsgFlags.PEEK) === 0) socket.consume();
        return count;
      }
      if (!waits) throw problem(call, 'EAGAIN');
      await core.bell.rung(signal);
    }
  });
}

function put({ host, port }: FullAddress, into: SourceAddress): void {
  into.host = host;
  into.port = port;
}

function scatter(payload: Uint8Array, buffers: readonly Uint8Array[]): number {
  let at = 0;
  for (const buffer of buffers) {
    const piece = payload.subarray(at, at + buffer.length);
    buffer.set(piece);
    at += piece.length;
    if (at === payload.length) break;
  }
  return at;
}
