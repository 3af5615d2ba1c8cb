/** Bytes of the longest message. Each costs a doorbell, and by UDP a system call; an immediate has room for 29 bits of length. */
export const MAX_CHUNK = 512 * 1024;

/** Bytes of the first message of a call, where none is under way; each that follows is twice as long, so that the peer begins early and is called rarely. */
export const FIRST_CHUNK = 2048;

/** Bytes of the send buffer below which nothing is put there, unless it is all that there is. */
export const LOW_WATER = 2048;

/** Requests of the send queue that are kept for what is not data: it never waits behind data. */
export const CONTROL_SLOTS = 4;

export const MIN_QUEUE = 16;
export const MAX_QUEUE = 65_534;

/** Numbers of messages have 16 bits. */
export const SEQUENCE_MASK = 0xffff;
