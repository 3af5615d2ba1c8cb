import type { AhAttr, GlobalRoute } from '../../device/ibta/index.js';
import type { Context } from './context.js';
import type { Pd } from './protection-domain.js';

/** An address as calls take it. What is absent: hop limit 64, port 1, SGID index 0, otherwise 0. */
export interface AhAttrInit extends Partial<Omit<AhAttr, 'grh'>> {
  /** RoCE cannot do without: it carries the peer's GID. */
  readonly grh?: Partial<Omit<GlobalRoute, 'dgid'>> & Pick<GlobalRoute, 'dgid'>;
}

/** `struct ibv_ah`: an address handle, which says where datagrams go. Any number of requests and QPs may use it. */
export interface Ah extends Disposable {
  readonly context: Context;
  readonly pd: Pd;
  /** The address that it was made from, complete. */
  readonly attr: AhAttr;

  /**
   * Ends the handle (`ibv_destroy_ah`). A datagram that was posted with it and is not yet sent completes with
   * LOC_QP_OP_ERR.
   *
   * @throws VerbsError EINVAL when it was ended before
   */
  destroy(): void;
}
