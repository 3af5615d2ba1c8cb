import { MapProtection, MsgFlags } from './constants.js';
import type { RsocketWait } from './core.js';
import { invalidArgument, problem } from '../errors.js';
import { streamCoreOf, type Rsocket } from './rsocket.js';

/**
 * Has the peer write into memory by `riowrite` (`riomap`). It knows of it before it can read what is sent from now on.
 *
 * @param bytes exactly these; from `alloc()`, or what `Pd.regMr` says
 * @param protection WRITE, or NONE: nobody writes
 * @param flags none
 * @param offset by which the peer names the first byte; -1 for its address here
 * @returns that offset
 * @throws RsocketError EINVAL for another protection or flags; ENOMEM when the peer's table has no entry left (its option IOMAPSIZE); ENOTCONN; ECONNRESET;
 *   VerbsError as `Pd.regMr`
 */
export function riomap(
  socket: Rsocket,
  bytes: Uint8Array,
  protection: number,
  flags = 0,
  offset: number | bigint = -1,
): bigint {
  const core = streamCoreOf('riomap', socket);
  if ((protection & ~MapProtection.WRITE) !== 0 || flags !== 0)
    throw invalidArgument(
      'riomap',
      `protection ${protection}, flags ${flags}`,
      'Memory is mapped for WRITE, without flags',
    );
  const stream = core.stream('riomap');
  if (stream === undefined) throw problem('riomap', 'ENOTCONN');
  return stream.riomap(bytes, offset);
}

/**
 * Has the peer write there no longer (`riounmap`).
 *
 * @param bytes the same that were mapped
 * @throws RsocketError EINVAL when they are not mapped; ENOTCONN
 */
export function riounmap(socket: Rsocket, bytes: Uint8Array): void {
  const stream = streamCoreOf('riounmap', socket).stream('riounmap');
  if (stream === undefined) throw problem('riounmap', 'ENOTCONN');
  stream.riounmap(bytes);
}

/**
 * Writes into memory that the peer has mapped (`riowrite`), before all that is sent afterwards, of which the peer learns by itself. It waits until all is taken.
 *
 * @param offset as the peer names it
 * @param flags DONTWAIT
 * @returns how many bytes were taken: fewer than given at the end of what is mapped there, 0 where nothing is
 * @throws (the promise rejects) RsocketError EAGAIN when there is no room, and it is not to wait; as `rsend`
 */
export async function riowrite(
  socket: Rsocket,
  bytes: Uint8Array,
  offset: number | bigint,
  flags = 0,
  { signal }: RsocketWait = {},
): Promise<number> {
  const call = 'riowrite';
  const core = streamCoreOf(call, socket);
  const waits = !core.settings.isNonblocking && (flags & MsgFlags.DONTWAIT) === 0;
  if (!waits && core.sending.isLocked) throw problem(call, 'EAGAIN');
  return core.sending.runExclusive(signal, async () => {
    const first = BigInt(offset);
    let taken = 0;
    for (;;) {
      const stream = core.stream(call);
      const at = first + BigInt(taken);
      const left = stream === undefined ? bytes.length : Math.min(bytes.length - taken, stream.mappedBytes(at));
      if (left === 0) return taken;
      const count = stream === undefined ? 0 : stream.riowrite(bytes.subarray(taken, taken + left), at);
      core.isFull = count < left;
      taken += count;
      if (taken === bytes.length) return taken;
      if (count === left) continue;
      if (!waits) {
        if (taken > 0) return taken;
        throw problem(call, 'EAGAIN');
      }
      await core.bell.rung(signal);
    }
  });
}
