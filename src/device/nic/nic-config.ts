import type { EventType, Gid, Mtu, Syndrome } from '../ibta/index.js';
import type { PeerTable } from '../stand-in/index.js';
import type { Crc32, PacketSink } from '../wire/index.js';

/** What went wrong with, or happened to, an object, without a completion to say so (protocol/services.md 3.11). */
export interface NicAsyncEvent {
  readonly type: EventType;
  readonly qpn?: number;
  readonly cqn?: number;
  readonly srqn?: number;
  /** Why, where a refusal to the peer is what is told of. */
  readonly why?: Syndrome;
}

/**
 * Puts an Ethernet frame on the wire, for raw packet QPs.
 *
 * @returns 0, or the number of the errno with which the link refused it
 */
export type SendFrame = (bytes: Uint8Array, offset: number, lengthBytes: number) => number;

/** How the NIC tells its link which multicast groups it wants to hear. Both throw CommandError. */
export interface MulticastGroups {
  join(gid: Gid): void;
  leave(gid: Gid): void;
}

/** Whom the NIC tells about events. Called from inside the NIC: an implementation notes and returns. */
export interface NicEvents {
  /** An event was put into a completion channel's ring. */
  completionEvent(channel: number): void;
  asyncEvent(event: NicAsyncEvent): void;
  /** The first packet of its peer came to a connected QP, whatever its state. */
  heard?(qpn: number): void;
  /** The NIC by whose memory packets came is gone (`PacketReceiver.onGone`). */
  gone?(way: number): void;
}

/** What one NIC can hold; anything that a stranger or a program can make grow has a bound here. */
export interface NicLimits {
  readonly maxQp: number;
  readonly maxCq: number;
  readonly maxPd: number;
  readonly maxMr: number;
  readonly maxMw: number;
  readonly maxSrq: number;
  readonly maxSrqWr: number;
  readonly maxSrqSge: number;
  readonly maxXrcd: number;
  readonly maxAh: number;
  readonly maxMcastGrp: number;
  readonly maxMcastQpAttach: number;
  readonly maxCompChannels: number;
  readonly maxCompCntr: number;
  readonly maxGids: number;
  readonly maxPkeys: number;
  readonly maxQpWr: number;
  readonly maxSge: number;
  readonly maxInlineBytes: number;
  readonly maxCqe: number;
  /** READs and atomics that one QP may have outstanding, in each direction. */
  readonly maxRdAtomic: number;
  /** Bytes of one message. */
  readonly maxMessageBytes: number;
  /** Bytes of one memory region. */
  readonly maxMrBytes: number;
  /** Exponent of the shortest ACK timeout that the NIC keeps to, 0 to 31; a QP that asks for a shorter one gets this. */
  readonly minAckTimeout: number;
}

export const DEFAULT_LIMITS: NicLimits = {
  maxQp: 32768,
  // Two for each queue pair.
  maxCq: 65536,
  maxPd: 32768,
  maxMr: 262144,
  maxMw: 262144,
  maxSrq: 32768,
  maxSrqWr: 32768,
  maxSrqSge: 32,
  maxXrcd: 4096,
  maxAh: 32768,
  // Each takes a socket of the real link.
  maxMcastGrp: 64,
  maxMcastQpAttach: 56,
  maxCompChannels: 4096,
  maxCompCntr: 65536,
  maxGids: 256,
  maxPkeys: 64,
  maxQpWr: 32768,
  maxSge: 32,
  maxInlineBytes: 512,
  maxCqe: 1048576,
  maxRdAtomic: 128,
  maxMessageBytes: 2 ** 31,
  maxMrBytes: 2 ** 40,
  minAckTimeout: 0,
};

export interface NicConfig {
  readonly sink: PacketSink;
  readonly events: NicEvents;
  readonly crc32: Crc32;
  /** 32 unpredictable bits: keys and QP numbers come from here, and a key is a capability. */
  readonly random: () => number;
  readonly gids: readonly Gid[];
  /** The port's P_Key table; default the one entry 0xffff. */
  readonly pkeys?: readonly number[] | undefined;
  /** Default: nothing arrives for any group. */
  readonly groups?: MulticastGroups | undefined;
  /**
   * Opens the way of Ethernet frames, when the first raw packet QP is made; throws CommandError where there is none.
   * Default: there is none (EOPNOTSUPP).
   */
  readonly openFrames?: (() => SendFrame) | undefined;
  readonly portMtu: Mtu;
  /** The doorbell page of queue pairs that are made without one (`Nic.openDoorbells`). */
  readonly doorbells?: ArrayBufferLike | undefined;
  /** Where reliable queue pairs are entered for a stand-in. Default: nobody stands in. */
  readonly peers?: PeerTable | undefined;
  readonly limits?: Partial<NicLimits>;
}
