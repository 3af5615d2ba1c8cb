import type { CmEventType } from '../../../device/ibta/index.js';
import type { VerbsError } from '../../verbs/index.js';
import type { CmId } from '../identifiers/cm-id.js';
import type { ConnParamReceived, UdParamReceived } from '../identifiers/parameters.js';

/** `struct rdma_cm_event`: something that happened to an identifier. Each is to be acknowledged. */
export interface CmEvent {
  /** Whom it happened to; of CONNECT_REQUEST a new one, which the program has to accept or destroy. */
  readonly id: CmId;
  /** Of CONNECT_REQUEST: who listened. */
  readonly listenId: CmId | undefined;
  readonly event: CmEventType;
  /** 0; of REJECTED the reason (`RejectReason`); of errors a negative errno, or for datagrams a `SidrStatus`. */
  readonly status: number;
  readonly param: {
    /** Of connections. */
    readonly conn?: ConnParamReceived;
    /** Of datagrams and groups. */
    readonly ud?: UdParamReceived;
    /** Of USER: what `writeCmEvent` was given. */
    readonly arg?: bigint;
  };
  /** Of MULTICAST_JOIN and MULTICAST_ERROR: what `joinMulticast` was given. */
  readonly multicastContext: unknown;
  /** Where `status` is an error that was found on this side: the same in a sentence. */
  readonly error: VerbsError | undefined;

  /**
   * Says that the event has been dealt with (`rdma_ack_cm_event`). Until then its identifier cannot be destroyed.
   *
   * @throws VerbsError EINVAL the second time
   */
  ack(): void;
}
