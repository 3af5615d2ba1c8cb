/**
 * An inbox: the file in shared memory by which the NIC at one address takes packets from others of the same machine and
 * user. First a page about its owner, then what is to say of each slot, then the rings of the slots. A slot belongs to one
 * sender at a time; its ring has one producer, that sender, and one consumer, the owner.
 *
 * All words are int32 of this machine. Places are words, unless they say bytes.
 */

/** `VERB`, and a number that changes with anything on this page. */
export const INBOX_MAGIC = 0x42524556;
export const INBOX_VERSION = 3;

export const SLOTS = 64;
/**
 * Room for what the congestion windows of a few queue pairs have under way, and no more than the cache of a processor
 * holds: a ring that is longer is slower, since what is written next has left the cache by then.
 */
export const RING_BYTES = 1 << 20;

/**
 * Room that is worth waking somebody for who waits for some: more than any packet takes, the rest of the ring before it
 * included.
 */
export const ENOUGH_ROOM_BYTES = RING_BYTES >> 3;

/** The first page. Words that different processes write lie on cache lines of their own. */
export const Header = {
  MAGIC: 0,
  VERSION: 1,
  STATE: 2,
  /** The identity of this inbox, two words: a later inbox at the same address has another. */
  NONCE: 3,
  GID: 6,
  SLOTS: 10,
  RING_BYTES: 11,
  /** 1 while nobody looks here: who has put something in puts 0 here and sends an empty datagram. */
  ASLEEP: 16,
  /** Counts the changes of slots' states that senders make. */
  CLAIMS: 32,
  /** Another number, 31 bits, after each turn of the owner. */
  BEAT: 48,
} as const;

export const InboxState = { OPEN: 1, CLOSED: 2 } as const;

export const Slot = {
  /** A {@link SlotState}; above it, a number by which each claim is another. */
  STATE: 0,
  NONCE: 1,
  GID: 4,
  /** Bytes written and bytes taken, both running free modulo 2^32. */
  PRODUCER: 16,
  CONSUMER: 32,
  /** 1 while the sender waits for room: who makes some puts 0 here, and wakes it where it sleeps. */
  WAITING: 48,
  WORDS: 64,
} as const;

/**
 * FREE → CLAIMED and → OPEN by the sender, → CLOSED by the sender when it is done, → FREE by the owner. A sender holds the lock
 * of one byte of the file, which has the slot's number, from before it claims the slot until it has opened it: so the owner
 * knows whether a slot that is merely claimed is that of a process which is gone, or of one that was stopped.
 */
export const SlotState = { FREE: 0, CLAIMED: 1, OPEN: 2, CLOSED: 3, BITS: 2, MASK: 3 } as const;

const PAGE_BYTES = 4096;
const FIRST_SLOT = PAGE_BYTES / 4;

/** Bytes before the first ring. */
export const CONTROL_BYTES = PAGE_BYTES + 4 * Slot.WORDS * SLOTS;
export const INBOX_BYTES = CONTROL_BYTES + SLOTS * RING_BYTES;

export function slotWord(slot: number): number {
  return FIRST_SLOT + slot * Slot.WORDS;
}

/** Where in the file its ring begins, in bytes. */
export function ringOffset(slot: number): number {
  return CONTROL_BYTES + slot * RING_BYTES;
}

/** A packet in a ring: these words, then the packet (BTH to ICRC, which is not filled in). */
export const Entry = {
  /** Bytes of the packet; {@link Entry.REST} where nothing follows before the end of the ring. */
  LENGTH: 0,
  /** Bits 7–0 traffic class, 15–8 hop limit, 16 {@link Entry.LARGE}. */
  FIELDS: 1,
  FLOW_LABEL: 2,
  BYTES: 16,
  /** Entries begin where a cache line does. */
  ALIGN: 64,
  REST: -1,
  /** Messages of this packet's queue pair are cut into pieces of {@link LARGE_SEGMENT_BYTES}. */
  LARGE: 1 << 16,
} as const;

/**
 * Payload of a packet where the path MTU does not count. Larger ones would find no room in an IP packet, which captures
 * still are to show.
 */
export const LARGE_SEGMENT_BYTES = 32 * 1024;

/** Bytes that an entry takes. */
export function entryBytes(packetBytes: number): number {
  return (Entry.BYTES + packetBytes + Entry.ALIGN - 1) & -Entry.ALIGN;
}
