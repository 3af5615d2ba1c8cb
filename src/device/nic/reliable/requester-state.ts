import type { RequestKind } from '../queue-pairs/request-kinds.js';
import type { FlushSeal } from './flush-seal.js';
import type { CongestionWindow } from './congestion-window.js';
import type { RoundTrip } from './round-trip.js';
import type { SendWindow } from './send-window.js';

/** Counts how often the peer asked for the same packet again (NAK PSN sequence error), for the error that ends it. */
export class SequenceErrors {
  #psn = -1;
  #times = 0;

  note(psn: number): void {
    this.#times = this.#psn === psn ? this.#times + 1 : 1;
    this.#psn = psn;
  }

  times(psn: number): number {
    return this.#psn === psn ? this.#times : 0;
  }

  forget(): void {
    this.#psn = -1;
  }
}

/** What the parts of a requester share: how far it is, what it knows of the way, and what its attributes allow. */
export interface RequesterState {
  readonly window: SendWindow;
  readonly congestion: CongestionWindow;
  readonly roundTrip: RoundTrip;
  readonly sequenceErrors: SequenceErrors;
  readonly flushSeal: FlushSeal;
  /** The requests that this service has, by `WrOpcode`. */
  readonly kinds: readonly (RequestKind | undefined)[];
  readonly ackTimeoutUs: number;
  readonly retryCnt: number;
  readonly rnrRetry: number;
  /** Packets after which an acknowledgement is asked for; see the sender. */
  readonly ackRequestInterval: number;
  /** Pieces of a long READ that may be under way: with two, one can be answered while the other is asked for. */
  readonly readPieces: number;

  // This queue pair's part of counters of the NIC.
  retransmittedPkts: number;
  lossProbes: number;
  completerRetryErr: number;
}
