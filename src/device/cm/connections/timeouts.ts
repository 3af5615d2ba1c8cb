/** How long the connection manager waits, and what it tells others to wait (protocol/connections.md 4.4). */

/** Exponent of the time within which an answer is expected: 4.1 s. */
export const RESPONSE_TIMEOUT = 20;
/** Repeats of a message before the peer counts as unreachable. */
export const MAX_CM_RETRIES = 15;
/** Exponent of the packet lifetime, since there is no subnet manager to ask. */
export const PACKET_LIFETIME = 16;
/** Exponent of the time that an MRA asks for: the program has not answered yet. */
export const MRA_SERVICE_TIMEOUT = 24;
/** Exponent of the time that this device takes to acknowledge. */
export const LOCAL_ACK_DELAY = 15;
/**
 * Exponent of the longest time that a peer may keep us in TIMEWAIT, 16 s: the value that it sends may
 * be hours, and the connection is of no more use.
 */
export const LONGEST_FAREWELL = 22;
/** How long a connection stays whose peer's NIC is gone: requests in flight fail before, with their own reason. */
export const PEER_GONE_US = 200_000;
const MAX_ACK_TIMEOUT = 31;
/** 2^8 times 4.096 µs are a millisecond, nearly enough: Linux counts so. */
const MILLISECOND_EXPONENT = 8;
const MAX_EXPONENT = 31;

/** The time of an exponent, in µs: 4.096 µs · 2^n, rounded as Linux does, so that both ends count alike. */
export function timeoutUs(exponent: number): number {
  return 1000 * 2 ** Math.max(0, Math.min(exponent, MAX_EXPONENT) - MILLISECOND_EXPONENT);
}

/** Between two repeats of a REQ: there, the answer, and back. */
export function requestIntervalUs(packetLifetime: number, responseTimeout: number): number {
  return 2 * timeoutUs(packetLifetime) + timeoutUs(responseTimeout);
}

/** The ACK timeout of a queue pair whose peer takes 2^`ackDelay` to acknowledge (protocol/connections.md 4.2). */
export function ackTimeout(ackDelay: number, packetLifetime: number): number {
  const twice = packetLifetime + 1;
  const sum = twice >= ackDelay ? twice + Number(ackDelay >= twice - 1) : ackDelay + Number(twice >= ackDelay - 1);
  return Math.min(sum, MAX_ACK_TIMEOUT);
}
