/** What of an identifier can be set (`RDMA_OPTION_ID_*` of `rdma_set_option`). */
export const CmOption = { TOS: 0, REUSEADDR: 1, AFONLY: 2, ACK_TIMEOUT: 3 } as const;
export type CmOption = (typeof CmOption)[keyof typeof CmOption];

/** What each option takes. */
export interface CmOptionValues {
  /** Type of service of the IP header, 8 bits. */
  readonly [CmOption.TOS]: number;
  /** Whether others that say the same may be bound to the port as well. To listen, an identifier must have its port alone. */
  readonly [CmOption.REUSEADDR]: boolean;
  /** Whether a wildcard takes requests of its own version of IP only. Default: `0.0.0.0` does, `::` takes both. */
  readonly [CmOption.AFONLY]: boolean;
  /** How long the peer may take to acknowledge: 0 to 31, in 4.096 µs · 2^n (protocol/connections.md 4.2). */
  readonly [CmOption.ACK_TIMEOUT]: number;
}
