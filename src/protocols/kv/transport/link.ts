import { AccessFlags, type Mtu, QpState } from '../../../device/ibta/index.js';
import type { AhAttrInit, Qp } from '../../../api/verbs/index.js';
import type { Engine } from '../../core/index.js';
import type { Transfer } from '../protocol/index.js';
import type { QueuePairNames, Welcome } from '../wire/index.js';
import type { CmId } from '../../../api/rdmacm/index.js';

// What transports have in common whose messages go beside the connection.

/** Makes the queue pair of the connection, on which nothing goes: it tells when the peer goes. */
export function createSilentQp(engine: Engine, id: CmId): void {
  const cap = { maxSendWr: 1, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1 };
  id.createQp(engine.pd, { sendCq: engine.cq, recvCq: engine.cq, cap });
}

interface Peer {
  readonly qpn: number;
  readonly psn: number;
}

/** Connects a new queue pair for an unreliable connection along a path; it sends PSN 0 first. */
export function connectUc(qp: Qp, { ahAttr, pathMtu }: Path, { qpn, psn }: Peer): void {
  const qpAccessFlags = AccessFlags.REMOTE_WRITE;
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags });
  qp.modify({ qpState: QpState.RTR, ahAttr, pathMtu, destQpNum: qpn, rqPsn: psn });
  qp.modify({ qpState: QpState.RTS, sqPsn: 0 });
}

export const OWNER = 'key-value store';
/** The longest message that either end takes. */
export const SLOT_BYTES = 4096;
/** Of these no buffer is needed to send them. */
export const INLINE_BYTES = 256;

export const SPARE_BUFFERS = 64;

/** What a link tells whoever has made it. */
export interface LinkListener {
  /** A message has come: its bytes are true only until this returns. */
  onMessage(bytes: Uint8Array): void;
  onRoom(): void;
  /** Nothing goes or comes any more. @param isEnded because the connection was ended, of which one hears otherwise too */
  onLost(error: Error, isEnded: boolean): void;
}

/** How long messages may be, and how many go each way at a time. */
export interface LinkSizes {
  readonly window: number;
  readonly slotBytes: number;
}

/** A request that is repeated is answered once more, and may meet the one before on its way. */
export function depthFor({ window }: LinkSizes): number {
  return 2 * window;
}

/** Messages between a client and a server: one end of that. */
export interface Link {
  readonly engine: Engine;
  readonly room: number;
  /** Begins to tell what comes; before, nothing is to have been lost. */
  listen(listener: LinkListener): void;
  /** The queue pair of the connection was destroyed. Idempotent. */
  destroyed(): void;
}

export interface Path {
  readonly ahAttr: AhAttrInit;
  readonly pathMtu: Mtu;
}

export interface ClientLink extends Link {
  readonly pairs: QueuePairNames;
  /** The server has answered: from now on messages can be sent. */
  begin(path: Path, welcome: Welcome): void;
  /** Sends a copy of the request of a slot, if there is {@link room}. */
  send(bytes: Uint8Array, slot: number): void;
}

export interface ServerLink extends Link {
  readonly place: Pick<Welcome, 'pairs' | 'addr' | 'rkey'>;
  /** Sends a copy of an answer, if there is {@link room}. */
  send(bytes: Uint8Array): void;
  /** Begins to move a value that does not fit a message. @returns false when there is no way; then it is not told any more */
  move(transfer: Transfer): boolean;
}
