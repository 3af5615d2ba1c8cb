import type { SimulatedFrame, SimulatedPacket } from './packet.js';

/**
 * What can happen to a packet of a simulated network, by the names of its counts; `dropped`, `delayed` and `replaced` are
 * deeds of the script.
 */
export type Happening =
  | 'delivered'
  | 'lost'
  | 'dropped'
  | 'duplicated'
  | 'delayed'
  | 'reordered'
  | 'corrupted'
  | 'replaced'
  | 'marked'
  | 'partitioned'
  | 'queueDropped'
  | 'inboxDropped'
  | 'tooBig'
  | 'unroutable';

/** Somebody who looks on: a capture. Called from the middle of the traffic, so it must not throw. */
export interface NetworkWatcher {
  /** A packet was sent. Its bytes stay as they are. */
  sent(packet: SimulatedPacket): void;
  /** Something has happened, now, to the packet that was sent under that `index`; `packet` is what has become of it so far. */
  happened(index: number, what: Happening, packet: SimulatedPacket | SimulatedFrame): void;
}
