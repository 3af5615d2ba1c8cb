import type { Path } from '../ip/path.js';

/**
 * Where packets are built: in the memory that they are sent from.
 *
 * A user reserves room, builds the packet there, and commits it; nothing leaves before `Link.flush`.
 */
export interface PacketSink {
  /** Where the packet last reserved is; another one, perhaps, after each {@link reserve}. */
  readonly bytes: Uint8Array;
  /** The IP identification with which the packet last reserved will leave; its ICRC covers it (protocol/packets.md 1.7). */
  readonly ipId: number;
  /** Whether the packet last reserved needs no ICRC: its last four bytes mean nothing. Default: it does. */
  readonly unsealed?: boolean;
  /**
   * Makes room for a packet of `lengthBytes` (BTH to ICRC) along `path`. A reservation that is never committed is
   * replaced by the next one.
   *
   * @param large the packet belongs to a message that is cut into pieces of {@link segmentBytes}
   * @param waits whether it may wait where the way to its receiver is full, as {@link fullWay} then says; else it is lost there
   * @returns its offset in {@link bytes}, or -1 when nothing more fits before the next flush, or there is no room on its way
   */
  reserve(path: Path, lengthBytes: number, large?: boolean, waits?: boolean): number;
  /**
   * After {@link reserve} gave -1, the number of the way that is full; 0 where a flush makes room. Default: 0.
   */
  readonly fullWay?: number;
  /**
   * Bytes that such a way has room for now: 0 until there is enough to go on; Infinity when nobody shall wait for it any
   * longer.
   */
  roomOf?(way: number): number;
  /**
   * An answer along `path` is late: looks whether its sender is still there.
   *
   * @returns a number that changes with each turn that the sender takes; -1 where that cannot be seen
   */
  look?(path: Path): number;
  /**
   * How much of a message a packet along `path`, and one that comes back along it, may carry where that is more than any
   * path MTU; else 0. Default: 0.
   */
  segmentBytes?(path: Path): number;
  /**
   * Bytes that may be under way along `path`, unacknowledged, where that is known to be more than any receiver takes; else 0. Default: 0.
   */
  windowBytes?(path: Path): number;
  /** Notes beside the packet last reserved why it refuses a request, a value of `Syndrome`: nothing of it leaves. */
  remark?(why: number): void;
  /** Hands over the packet last reserved. */
  commit(): void;
}
