import type { Gid } from '../spec/index.js';
import type { PacketMeta, Path } from '../wire/index.js';

/**
 * Where packets to be sent are built: in the very memory they leave from.
 *
 * A user reserves room, builds the packet there, and commits it; nothing leaves before {@link Link.flush}.
 */
export interface PacketSink {
  readonly bytes: Uint8Array;
  /** The IP identification with which the packet last reserved will leave; its ICRC covers it (PROTOCOL.md 1.7). */
  readonly ipId: number;
  /**
   * Makes room for a packet of `lengthBytes` (BTH to ICRC) along `path`. A reservation that is never committed is
   * replaced by the next one.
   *
   * @returns its offset in {@link bytes}, or -1 when nothing more fits before the next flush
   */
  reserve(path: Path, lengthBytes: number): number;
  /** Hands over the packet last reserved. */
  commit(): void;
}

/** Who takes the packets that arrive. */
export interface PacketReceiver {
  /**
   * Takes one packet (BTH to ICRC). `bytes` is scratch afterwards; neither it nor `meta` may be kept.
   */
  receive(bytes: Uint8Array, offset: number, lengthBytes: number, meta: PacketMeta): void;
}

/** One address on a network: packets out, packets in, nothing else. */
export interface Link {
  /** The own address. */
  readonly gid: Gid;
  readonly ipv6: boolean;
  /** Largest packet, BTH to ICRC, that leaves without fragmentation. */
  readonly maxPacketBytes: number;
  readonly sink: PacketSink;
  /**
   * Hands what has arrived to `receiver`, without waiting.
   *
   * @param maxPackets stop after about so many (a link that gets packets in bunches finishes the bunch)
   * @returns how many packets were handed over
   */
  receive(receiver: PacketReceiver, maxPackets: number): number;
  /** Sends what was committed. Packets that the network does not take are dropped and counted, as on a wire. */
  flush(): void;
  /** Idempotent; every later call does nothing. */
  close(): void;
  /** What has happened so far, by name. */
  statistics(): Record<string, number>;
}
