import { CONTROL_CREDITS } from './kinds.js';

/** Bytes of each receive buffer, and so of a fragment. */
export const BUFFER_BYTES = 4096;

/** Credits that a connection begins with, and the fewest that it can have. */
export const MIN_WINDOW = CONTROL_CREDITS + 2;

/** To how many buffers a window grows, where nobody says otherwise. */
export const DEFAULT_WINDOW = 64;

/** The longest message, where nobody says otherwise. */
export const DEFAULT_MESSAGE_BYTES = 16 * 1024 * 1024;

/** The longest message that anybody can ask for. */
export const MAX_MESSAGE_BYTES = 1024 * 1024 * 1024;

/** Buffers that peers may have. */
export const PEER_BUFFER_BYTES = { least: 256, most: 64 * 1024 } as const;
