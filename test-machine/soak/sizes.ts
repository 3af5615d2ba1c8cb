/** What both sides of a soak have agreed on. */

/** Bytes of the message that announces a round. */
export const NOTICE_BYTES = 256;
/** How much of it comes back. */
export const ECHO_BYTES = 64;
export const LIBRARY_ROUND = 0;
