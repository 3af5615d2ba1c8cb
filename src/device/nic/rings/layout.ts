/**
 * The rings in which driver and NIC meet: work queues, completion queues, completion channels and the doorbell page.
 * `docs/internals/host-interface.md` describes the same layout for authors of drivers; change both together.
 *
 * Every object is an array of 32-bit little-endian words, in a SharedArrayBuffer where the two are in different threads. A ring has a header of {@link RING_HEADER_WORDS}
 * words, then a power of two of entries of fixed size. Counters run freely modulo 2^32, so that `producer - consumer`
 * is the number of entries in use; what each side writes lies on cache lines of its own.
 */

/** Words before the first entry of any ring. */
export const RING_HEADER_WORDS = 32;

/** Words that every ring has: the counters of the two sides. */
export const Ring = {
  /** Free-running count of entries published. */
  PRODUCER: 0,
  /** Free-running count of entries taken. */
  CONSUMER: 16,
} as const;

/** Header words of a send or receive queue beside {@link Ring}: the driver produces, the NIC consumes. */
export const WorkQueue = {
  /** 1 while the queue's number is in the doorbell ring; the driver rings when it changes it from 0 to 1. */
  DOORBELL: 17,
  /** The QP's state as the NIC sees it (values of `QpState`). The NIC writes it. */
  QP_STATE: 18,
} as const;

/** A send work queue entry: 16 words, then scatter/gather entries or inline data. */
export const SendWqe = {
  /** Bits 7..0 `WrOpcode`, 15..8 `SendFlags`, 23..16 number of scatter/gather entries. */
  CONTROL: 0,
  /** Bytes of inline data, when `SendFlags.INLINE` is set. */
  INLINE_BYTES: 1,
  WR_ID_LO: 2,
  WR_ID_HI: 3,
  /** Immediate data, or the R_Key to invalidate. */
  IMM_DATA: 4,
  RKEY: 5,
  REMOTE_ADDR_LO: 6,
  REMOTE_ADDR_HI: 7,
  COMPARE_ADD_LO: 8,
  COMPARE_ADD_HI: 9,
  SWAP_LO: 10,
  SWAP_HI: 11,
  /** Datagram addressing: destination QP, its Q_Key and the address handle; or, as REMOTE_QPN, an XRC SRQ number. */
  REMOTE_QPN: 12,
  REMOTE_QKEY: 13,
  ADDRESS_HANDLE: 14,
  /** First word of the scatter/gather entries or of the inline data. */
  DATA: 16,
} as const;

/**
 * What a BIND_MW entry has in the words of {@link SendWqe}: RKEY is the window's R_Key, IMM_DATA the one that it gets,
 * REMOTE_ADDR where the window begins.
 */
export const BindWqe = {
  LENGTH_LO: SendWqe.COMPARE_ADD_LO,
  LENGTH_HI: SendWqe.COMPARE_ADD_HI,
  /** L_Key of the region, or 0 for none. */
  LKEY: SendWqe.SWAP_LO,
  ACCESS: SendWqe.SWAP_HI,
} as const;

/** What a FLUSH entry has in the words of {@link SendWqe}, beside RKEY and REMOTE_ADDR. */
export const FlushWqe = {
  LENGTH: SendWqe.COMPARE_ADD_LO,
  /** Placement type and selectivity as the packet carries them (protocol/packets.md 1.3, FETH). */
  FETH: SendWqe.SWAP_LO,
} as const;

/** A receive work queue entry: 4 words, then scatter/gather entries. */
export const RecvWqe = {
  NUM_SGE: 0,
  WR_ID_LO: 2,
  WR_ID_HI: 3,
  DATA: 4,
} as const;

/** A scatter/gather entry inside a work queue entry. */
export const SgeWords = {
  ADDR_LO: 0,
  ADDR_HI: 1,
  LENGTH: 2,
  LKEY: 3,
  SIZE: 4,
} as const;

/** Header words of a completion queue beside {@link Ring}: the NIC produces, the driver consumes. */
export const CompletionQueue = {
  /** Driver: `CqArm.SOLICITED` or `CqArm.ANY` asks for one event; the NIC puts 0 back as it raises it. */
  ARM: 17,
  /** NIC: 1 once an entry was lost because the queue was full. The queue is then unusable. */
  OVERRUN: 18,
} as const;

/** Values of {@link CompletionQueue.ARM}. */
export const CqArm = { NONE: 0, SOLICITED: 1, ANY: 2 } as const;

export const Cqe = {
  WR_ID_LO: 0,
  WR_ID_HI: 1,
  STATUS: 2,
  OPCODE: 3,
  /** Why, when STATUS is not SUCCESS: a value of `Syndrome`. */
  VENDOR_ERR: 4,
  BYTE_LEN: 5,
  /** Immediate data or the invalidated R_Key. */
  IMM_DATA: 6,
  QP_NUM: 7,
  SRC_QP: 8,
  WC_FLAGS: 9,
  /** Numbers that belong to VENDOR_ERR; their meaning stands beside each value of `Syndrome`. */
  DETAIL: 10,
  DETAIL_WORDS: 6,
  /** Of a success, in place of DETAIL: when it was written, in ns on the device's clock. */
  TIMESTAMP_LO: 10,
  TIMESTAMP_HI: 11,
  /** Of a success: index of the P_Key that the message came with. */
  PKEY_INDEX: 12,
  SIZE: 16,
} as const;

/**
 * Header words of a completion channel beside {@link Ring}. Its entries are CQ numbers, one per event; the NIC
 * produces and wakes those who wait on {@link Ring.PRODUCER}.
 */
export const CompChannelRing = {
  /** NIC: 1 when an event found no room; every CQ of the channel then counts as having raised one. Driver puts 0 back. */
  OVERFLOW: 17,
  /** Driver: 1 while somebody waits in the event loop, so that an event must also be announced there. */
  ASYNC_WAITERS: 18,
  ENTRIES: 4096,
} as const;

/** The doorbell page: a ring of QP numbers whose send queues have work, beside the words of a sleeping NIC. */
export const DoorbellPage = {
  /** NIC: 1 while it sleeps, so that a driver that rings must also wake it. */
  ASLEEP: 17,
  /** Driver: number of the last command sent on the command channel. */
  COMMANDS: 18,
  /** NIC: a count that changes with each reply. */
  REPLIES: 20,
  /** Entries; a QP is in the ring at most once, so a device must not hold more QPs than this. */
  ENTRIES: 65536,
} as const;

function powerOfTwoAtLeast(n: number): number {
  return n <= 1 ? 1 : 2 ** Math.ceil(Math.log2(n));
}

/** Shape of one ring: how many entries it has and how far apart they lie. */
export interface RingShape {
  /** A power of two. */
  readonly entries: number;
  readonly entryWords: number;
  readonly bytes: number;
}

function ringShape(minEntries: number, entryWords: number): RingShape {
  const entries = powerOfTwoAtLeast(minEntries);
  return { entries, entryWords, bytes: 4 * (RING_HEADER_WORDS + entries * entryWords) };
}

/** Shape of a send queue for `maxSendWr` requests with that many scatter/gather entries or bytes of inline data. */
export function sendQueueShape(maxSendWr: number, maxSendSge: number, maxInlineBytes: number): RingShape {
  const dataWords = Math.max(SgeWords.SIZE * maxSendSge, Math.ceil(maxInlineBytes / 4));
  return ringShape(maxSendWr, SendWqe.DATA + SgeWords.SIZE * Math.ceil(dataWords / SgeWords.SIZE));
}

export function recvQueueShape(maxRecvWr: number, maxRecvSge: number): RingShape {
  return ringShape(maxRecvWr, RecvWqe.DATA + SgeWords.SIZE * maxRecvSge);
}

/** Shape of a completion queue for at least `cqe` entries. */
export function completionQueueShape(cqe: number): RingShape {
  return ringShape(cqe, Cqe.SIZE);
}

export function compChannelShape(): RingShape {
  return ringShape(CompChannelRing.ENTRIES, 1);
}

export function doorbellPageShape(): RingShape {
  return ringShape(DoorbellPage.ENTRIES, 1);
}

/** A completion counter: two numbers of 64 bits, which the NIC adds to. Indices of their low words. */
export const CompCntr = {
  /** Of what completed. */
  COMP: 0,
  /** Of what ended in error. */
  ERR: 2,
  BYTES: 16,
} as const;
