import type { OpcodeService } from '../../wire/index.js';
import type { NicCore } from '../nic-core.js';
import type { ReceivingHalf, SendingHalf } from './halves.js';
import type { QpContext } from './qp-context.js';

/** What sets the queue pairs of one type apart from the others. */
export interface TransportService {
  /** Class of the opcodes that it speaks (protocol.md 1.2). */
  readonly service: OpcodeService | undefined;
  /** Whether it has one peer, named by `ahAttr` and `destQpNum`. */
  readonly connected: boolean;
  /** Whether peers may send it requests. */
  readonly responds: boolean;
  /** Which work queues it has, and whether a shared one can take the place of the receive queue. */
  readonly sendQueue: boolean;
  readonly recvQueue: boolean;
  readonly sharedRecvQueue: boolean;
  readonly requester: (qp: QpContext, core: NicCore) => SendingHalf;
  readonly responder: (qp: QpContext, core: NicCore) => ReceivingHalf;
}
