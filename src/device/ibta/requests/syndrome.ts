/**
 * Why a completion is in error: what the NIC writes as `vendorErr`, with the numbers that belong to it in `detail`.
 * The list behind each value names `detail[0]`, `detail[1]` and so on; all are 32-bit, and an absent number is 0.
 * Addresses come as two words, `addrHi` and `addrLo`.
 */
export const Syndrome = {
  NONE: 0,
  /** The ACK timer ran out once too often: psn, transmissions, elapsedUs, peerQpn, naks. */
  RETRY_TIMEOUT: 1,
  /** What the peer sent showed once too often that a PSN, or the answer to it, was lost: psn, transmissions, elapsedUs, peerQpn, naks. */
  RETRY_SEQUENCE: 2,
  /** The peer was not ready to receive once too often: psn, attempts, elapsedUs, peerQpn, timerCode. */
  RNR_EXCEEDED: 3,
  /** NAK remote access error: psn, rkey, addrHi, addrLo, length, peerQpn. */
  REMOTE_ACCESS: 4,
  /** NAK invalid request: psn, opcode (`WrOpcode`), length, peerQpn. */
  REMOTE_INVALID_REQUEST: 5,
  /** NAK remote operational error: psn, peerQpn. */
  REMOTE_OPERATIONAL: 6,
  /** No memory region has this L_Key: lkey, sgeIndex, addrHi, addrLo, length. */
  LOCAL_KEY_UNKNOWN: 7,
  /** The region belongs to another protection domain than the QP: lkey, sgeIndex, addrHi, addrLo, length. */
  LOCAL_KEY_PD: 8,
  /** The region lacks LOCAL_WRITE, which this use needs: lkey, sgeIndex, addrHi, addrLo, length. */
  LOCAL_KEY_ACCESS: 9,
  /** The bytes are not all inside the region: lkey, sgeIndex, addrHi, addrLo, length. */
  LOCAL_KEY_RANGE: 10,
  /** The registered buffer was detached or shrunk: lkey, sgeIndex, addrHi, addrLo, length. */
  LOCAL_MEMORY_GONE: 11,
  /** A message is longer than what is to hold it: needed, available. */
  LOCAL_LENGTH: 12,
  /** A message is longer than it may be: length, max. */
  LOCAL_MESSAGE_TOO_LONG: 13,
  /** The request makes no sense: opcode (`WrOpcode`), numSge. */
  LOCAL_BAD_WQE: 14,
  /** The QP left for the error state first: qpState, causeVendorErr (a `Syndrome`; NONE when a program asked for it). */
  FLUSHED: 15,
  /** The peer answered something else than was asked: psn, opcode (of the packet), expectedOpcode (`WrOpcode`). */
  BAD_RESPONSE: 16,
  /** The peer's request names memory that it may not use: psn, rkey, addrHi, addrLo, length, nakCode. */
  RESPONDER_ACCESS: 17,
  /** The peer's request breaks the protocol: psn, opcode (of the packet), length, openMessage (0 when none was open). */
  RESPONDER_INVALID_REQUEST: 18,
  /** A completion found its queue full: cqn. */
  CQ_OVERRUN: 19,
  /** The peer asked to invalidate a key that it may not: rkey, psn. */
  INVALIDATE_FAILED: 20,
  /** A memory window cannot be bound so: rkey, lkey, addrHi, addrLo, length, reason (`MwBindReason`). */
  MW_BIND: 21,
  /** No region or window of type 2 that this QP may invalidate has this key: rkey. */
  LOCAL_INVALIDATE: 22,
  /** The address handle of a datagram was destroyed before the datagram was sent: address handle. */
  LOCAL_AH_UNKNOWN: 23,
  /** The link did not take the packet: length, errno (a value of `Errno`). */
  LINK_REFUSED: 24,
  /** The device failed. */
  DEVICE_FATAL: 25,
  /** The peer's XRC request names a shared receive queue that cannot take it: srqn, reason (`XrcSrqReason`). */
  XRC_SRQ: 26,
  /** The shared receive queue failed. */
  SRQ_UNUSABLE: 27,
  /** The peer's NIC, which was on this machine, is gone: psn, transmissions, elapsedUs, peerQpn. */
  PEER_GONE: 28,
  /** Of flushes only, as the cause: the program ended the connection, the peer did, or it did not come to be. */
  DISCONNECTED: 29,
  PEER_DISCONNECTED: 30,
  NOT_CONNECTED: 31,
  /** A byte of a region was not there, of memory that the NIC reaches by copies: lkey, addrHi, addrLo (of that byte). */
  LOCAL_MEMORY_FAULT: 32,
  /** The same where the peer named the memory: psn, rkey, addrHi, addrLo (of that byte), 0, nakCode. */
  RESPONDER_MEMORY_FAULT: 33,
  /** A device that has memory of a region has failed to copy it, or to say how far it got: lkey, addrHi, addrLo (of the copy), failure (its driver's number). */
  LOCAL_MEMORY_DEVICE: 34,
  /** The same where the peer named the memory: psn, rkey, addrHi, addrLo (of the copy), failure, nakCode. */
  RESPONDER_MEMORY_DEVICE: 35,
  /**
   * The retries ran out, and the last packet of the peer refused a request that was complete here: psn, transmissions, elapsedUs,
   * peerQpn, refusedPsn, nakCode.
   */
  REFUSED_BEFORE: 36,
} as const;
export type Syndrome = (typeof Syndrome)[keyof typeof Syndrome];
