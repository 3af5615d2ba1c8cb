import type { QpState } from '../queue-pairs/qp.js';

/**
 * Why a responder has refused a request (protocol/reliable.md 2.3). The NAK has room for the kind alone; the NIC that refuses keeps the
 * reason with the queue pair. The list behind each value names `a` and `b` of {@link Refusal}.
 */
export const RefusalReason = {
  /** No region and no window has a key like it. */
  KEY_UNKNOWN: 1,
  /** The region or window of that key has ended: agoUs. */
  KEY_ENDED: 2,
  /** A window has other lower eight bits by now, since it was bound again. */
  KEY_OUTDATED: 3,
  /** It is the L_Key of a region. */
  KEY_LOCAL: 4,
  /** With its bytes in the other order it would be a key. */
  KEY_SWAPPED: 5,
  /** The region or window is of another protection domain than the queue pair. */
  DOMAIN: 6,
  /** The window is bound on another queue pair: its number. */
  OTHER_QP: 7,
  /** The window is not bound. */
  UNBOUND: 8,
  /** Access flags that it lacks, and those that it has. */
  ACCESS: 9,
  /** The bytes are not all inside. */
  RANGE: 10,
  /** The memory is gone: its buffer was transferred or shrunk. */
  MEMORY_GONE: 11,
  /** `qp_access_flags` lack flags: which, and those that they have. */
  QP_ACCESS: 12,
  /** More READs and atomics than `max_dest_rd_atomic`: that. */
  DEPTH: 13,
  /** An address that is not a multiple of 8. */
  ALIGNMENT: 14,
  /** A packet that has not the length that its place in the message calls for: what it has, and the MTU. */
  PACKET_LENGTH: 15,
  /** A WRITE with more or fewer bytes than it announced: how many it announced. */
  MESSAGE_LENGTH: 16,
  /** A packet in the midst of another message, or one that continues none: whether one was open. */
  SEQUENCE: 17,
  /** An opcode that this service does not have. */
  OPCODE: 18,
  /** A message is longer than the receive request: bytes that it has at least, and those of the request. */
  RECEIVE_LENGTH: 20,
  /** Header fields that have no meaning. */
  FIELDS: 19,
} as const;
export type RefusalReason = (typeof RefusalReason)[keyof typeof RefusalReason];

/** Why a responder of UC, UD or raw packets has dropped a message: nobody is told by a packet. The list names `a` and `b` of {@link Drops}. */
export const DropReason = {
  /** No receive request was posted. */
  NO_RECEIVE: 1,
  /** The message is longer than the receive request: what it needs, and what that has. */
  TOO_LONG: 2,
  /** Another Q_Key than the queue pair's: that of the packet, and that of the queue pair. */
  QKEY: 3,
  /** A datagram longer than the port's MTU: its bytes, and the MTU. */
  MTU: 4,
  /** A WRITE named memory that it may not use, or `qp_access_flags` lack REMOTE_WRITE. */
  ACCESS: 5,
  /** Another packet of the message was lost. */
  LOSS: 6,
} as const;
export type DropReason = (typeof DropReason)[keyof typeof DropReason];

/** Messages that a queue pair has dropped: how many, and why the last. */
export interface Drops {
  readonly count: number;
  readonly reason: DropReason;
  readonly a: number;
  readonly b: number;
}

/** What a NIC knows of one of its queue pairs that helps to explain what the other end met. */
export interface QpView {
  readonly state: QpState;
  readonly destQpNum: number;
  readonly rqPsn: number;
  readonly sqPsn: number;
  /** The request of its peer that it has refused, if it has. */
  readonly refusal: Refusal | undefined;
  readonly drops: Drops | undefined;
}

/** Memory that a peer has named by a key. Keys are as they stand in headers, unsigned. */
export interface NamedMemory {
  readonly rkey: number;
  readonly addrHi: number;
  readonly addrLo: number;
  /** What the key opens, where there is such a key. */
  readonly startHi: number;
  readonly startLo: number;
  readonly openBytes: number;
}

/** A request that was refused. */
export interface Refusal {
  readonly reason: RefusalReason;
  readonly psn: number;
  /** Bytes that the request, or its packet, is about. */
  readonly lengthBytes: number;
  /** Opcode of the packet (`bth.opcode`), or -1 where `access` says what was asked. */
  readonly opcode: number;
  /** `AccessFlags` that the request needs, or 0. */
  readonly access: number;
  readonly a: number;
  readonly b: number;
  readonly memory?: NamedMemory;
}
