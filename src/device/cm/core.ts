import type { CmMessage } from '../wire/index.js';
import type { CmEvent } from './command.js';
import type { KnownConnection } from './connections/connection-rules.js';
import type { CmCounters } from './counters.js';
import type { CmDatagram, CmHost, CmLimits } from './host.js';
import type { Directory, OldestFirst } from './tables/directory.js';

/** What everything in the connection manager shares. */
export interface CmCore {
  readonly host: CmHost;
  readonly counters: CmCounters;
  readonly directory: Directory;
  readonly limits: CmLimits;
  /** Connections whose peers were told that they are accepted, and have not said that they are ready. */
  readonly halfOpen: OldestFirst<KnownConnection>;
  /** Connections that programs have left, and whose peers may not know it. */
  readonly farewells: OldestFirst<KnownConnection>;
  /** Puts an event into the queue that the program takes from. */
  raise(event: CmEvent): void;
  /** Answers a datagram with a message that is not repeated. */
  reply(datagram: CmDatagram, message: CmMessage): void;
}

/** The place of a request at a listener. Both methods may be called again. */
export interface WaitingRequest {
  /** The program has taken the request: it no longer counts for the backlog. */
  taken(): void;
  /** The program has answered or dropped the request: it no longer waits. */
  answered(): void;
}
