import type { CmEventType } from '../../device/ibta/index.js';
import type { CmId, FullAddress, SocketAddress } from '../../api/rdmacm/index.js';

/** An identifier of a program: what the kernel keeps for a `struct rdma_cm_id`. */
export class Identifier {
  /** Events that the program has fetched. It acknowledges as many before it believes that the identifier has ended. */
  eventsReported = 0;
  /** It has asked for a connection, or stands for a request. */
  hasPeer = false;
  isListening = false;
  /** The last that the program has fetched. */
  lastEvent: CmEventType | undefined;
  destination: FullAddress | undefined;
  /** The program knows its number. That of a request it learns from the event, and until then it cannot name it. */
  isTold = true;
  readonly memberships = new Set<Membership>();

  constructor(
    readonly number: number,
    readonly cmId: CmId,
    /** The open file that its events come by. */
    public file: object,
    /** The program's own name for it. A request has none before it is accepted, and no event of it is told before that. */
    public uid: bigint | undefined,
  ) {}
}

/** A multicast group that an identifier has joined, or will have. */
export class Membership {
  eventsReported = 0;

  constructor(
    readonly number: number,
    readonly identifier: Identifier,
    readonly uid: bigint,
    readonly group: SocketAddress,
  ) {}
}
