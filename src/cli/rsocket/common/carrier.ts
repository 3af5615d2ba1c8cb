import { isIPv6 } from 'node:net';
import { AddressFamily } from '../../../entry/rsocket.js';

/** The family of an address; of none IPv4, as in C. */
export function familyOf(address: string | undefined): AddressFamily {
  return address !== undefined && isIPv6(address) ? AddressFamily.INET6 : AddressFamily.INET;
}

/** A connection over which a tool measures, whatever it is made of. */
export interface Carrier {
  /** Sends all of it. */
  send(bytes: Uint8Array): Promise<void>;
  /** Fills all of it. @throws ToolError when the peer ends before */
  receive(into: Uint8Array): Promise<void>;
  /**
   * Ends both directions, once what was sent has arrived.
   *
   * @param isLast it was this side that sent last: the peer, which is not done before it has read that, ends first
   */
  close(isLast: boolean): Promise<void>;
}

/** Gives the connections of one side, one at a time: a client makes each, a server takes the next. */
export interface Carriers<C extends Carrier = Carrier> {
  next(): Promise<C>;
  close(): void;
}

export const ENDED_EARLY = 'The peer ended the connection in the midst of a test; do both sides have the same options?';
