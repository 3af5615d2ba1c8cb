import type { Sge } from '../../../../api/verbs/index.js';
import type { WcStatus } from '../../../../device/ibta/index.js';
import type { SendQueue } from '../../../core/index.js';
import type { LocalPiece } from './body-memory.js';
import type { RemotePlace } from './frame.js';

/** Pieces of memory that a work request takes; more of them take several. As many as a message of Accelio's has, unless it is told otherwise. */
export const SEND_SGES = 4;

/** Called once a request ended. @param status of the request itself, where it completed */
export type Afterwards = (isDone: boolean, status: WcStatus | undefined) => void;

interface Segment {
  readonly address: bigint;
  readonly rkey: number;
  readonly sges: readonly Sge[];
}

interface Waiting {
  readonly isRead: boolean;
  readonly segment: Segment;
  readonly afterwards: Afterwards;
}

/** READs and WRITEs of a link, in the order in which they are begun. */
export class Transfers {
  #waiting: Waiting[] = [];

  constructor(private readonly sends: SendQueue<Afterwards>) {}

  /**
   * Moves bytes between places of the peer's and pieces of this end's, in as many work requests as it takes, now or when there is room.
   *
   * @param afterwards once none of them is under way any more
   */
  start(isRead: boolean, remote: readonly RemotePlace[], local: readonly LocalPiece[], afterwards: Afterwards): void {
    const segments = segmentsOf(remote, local);
    const each = afterAll(segments.length, afterwards);
    for (const segment of segments) this.#begin({ isRead, segment, afterwards: each });
  }

  /** The same, before all that waits. There must be room. */
  startNow(
    isRead: boolean,
    remote: readonly RemotePlace[],
    local: readonly LocalPiece[],
    afterwards: Afterwards,
  ): void {
    const segments = segmentsOf(remote, local);
    const each = afterAll(segments.length, afterwards);
    for (const segment of segments) this.#post({ isRead, segment, afterwards: each });
  }

  /** Work requests that such a body takes. */
  static count(pieces: number): number {
    return Math.ceil(pieces / SEND_SGES);
  }

  pump(): void {
    while (this.#waiting.length > 0 && this.sends.room > 0) {
      const waiting = this.#waiting.shift();
      if (waiting !== undefined) this.#post(waiting);
    }
  }

  end(): void {
    for (const { afterwards } of this.#waiting.splice(0)) afterwards(false, undefined);
  }

  #begin(waiting: Waiting): void {
    if (this.sends.room > 0 && this.#waiting.length === 0) this.#post(waiting);
    else this.#waiting.push(waiting);
  }

  #post({ isRead, segment, afterwards }: Waiting): void {
    const { address, rkey, sges } = segment;
    const qp = this.sends.begin(afterwards);
    if (qp === undefined) {
      afterwards(false, undefined);
      return;
    }
    if (isRead) qp.wrRdmaRead(rkey, address);
    else qp.wrRdmaWrite(rkey, address);
    qp.wrSetSgeList(sges);
    this.sends.end();
  }
}

/** Tells once when all are done, or have come to nothing. */
function afterAll(count: number, afterwards: Afterwards): Afterwards {
  if (count === 1) return afterwards;
  let left = count;
  let failure: { readonly status: WcStatus | undefined } | undefined;
  return (isDone, status) => {
    left -= 1;
    if (!isDone) failure ??= { status };
    if (left === 0) afterwards(failure === undefined, failure?.status);
  };
}

function segmentsOf(remote: readonly RemotePlace[], local: readonly LocalPiece[]): readonly Segment[] {
  const segments: Segment[] = [];
  let piece = 0;
  let taken = 0;
  for (const { address, rkey, length } of remote)
    for (let at = 0; at < length;) {
      const sges: Sge[] = [];
      const begin = at;
      while (at < length && sges.length < SEND_SGES) {
        const { addr, lkey, length: pieceBytes } = local[piece];
        const count = Math.min(length - at, pieceBytes - taken);
        sges.push({ addr: addr + taken, lkey, length: count });
        at += count;
        taken += count;
        if (taken < pieceBytes) continue;
        piece += 1;
        taken = 0;
      }
      segments.push({ address: address + BigInt(begin), rkey, sges });
    }
  return segments;
}
