import type { QpType } from '../../ibta/index.js';
import type { CmClient } from '../host.js';
import type { CmQp } from '../command.js';
import type { CmCore, WaitingRequest } from '../core.js';
import type { Agreement } from './qp-attributes.js';

/** What a connection begins with, on either side. */
export interface ConnectionParts {
  readonly core: CmCore;
  readonly id: number;
  /** Who has the identifier, and the queue pair. */
  readonly client: CmClient;
  readonly agreement: Agreement;
  readonly transactionId: bigint;
  readonly packetLifetime: number;
  /** Exponent of the time within which the peer answers. */
  readonly responseTimeout: number;
  readonly maxRetries: number;
  /** Of the active side. */
  readonly asking?: {
    readonly qp: CmQp;
    /** The program's own ACK timeout; without it what the peer says of itself counts as well. */
    readonly ackTimeout: number | undefined;
  };
  /** Of the passive side. */
  readonly asked?: {
    readonly place: WaitingRequest;
    /** What the request is for. */
    readonly qpType: QpType;
  };
}
