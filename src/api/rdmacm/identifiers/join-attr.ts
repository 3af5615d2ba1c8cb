import type { SocketAddress } from '../addresses/address.js';

/** How a group is joined (`enum rdma_cm_mc_join_flags`). */
export const McJoinFlag = { FULLMEMBER: 0, SENDONLY_FULLMEMBER: 1 } as const;
export type McJoinFlag = (typeof McJoinFlag)[keyof typeof McJoinFlag];

/** What `joinMulticastEx` takes (`struct rdma_cm_join_mc_attr_ex`). */
export interface JoinMcAttr {
  readonly addr: SocketAddress;
  /** SENDONLY_FULLMEMBER does not attach the queue pair. */
  readonly joinFlags: McJoinFlag;
}
