import type { NicCounters } from './counters.js';
import type { AddressTable } from './datagram/address-table.js';
import type { DataMover } from './memory/data-mover.js';
import type { MemoryTable } from './memory/memory-table.js';
import type { PacketBuilder } from './ports/packet-builder.js';
import type { Port } from './ports/port.js';
import type { NicEvents, NicLimits, SendFrame } from './ports/ports.js';
import type { QueuePair } from './queue-pairs/queue-pair.js';
import type { SharedReceiveQueue } from './queues/shared-receive-queue.js';
import type { Timers } from './time/timers.js';

/** What all queue pairs of one NIC share. */
export interface NicCore {
  /** The present, as last told by `advanceTo`. */
  readonly nowUs: number;
  readonly builder: PacketBuilder;
  readonly memory: MemoryTable;
  readonly mover: DataMover;
  readonly counters: NicCounters;
  readonly timers: Timers;
  readonly limits: NicLimits;
  readonly events: NicEvents;
  readonly port: Port;
  /**
   * Where whoever fails a request puts the numbers that belong to it, just before the completion is written; one for
   * all queue pairs, since what each has of its own is touched for every message of thousands.
   */
  readonly detail: Int32Array;
  readonly addresses: AddressTable;
  readonly sendFrame: SendFrame;
  /** The XRC shared receive queue of that number in that domain, or undefined (PROTOCOL.md 3.3). */
  xrcSrq(srqn: number, xrcd: number): SharedReceiveQueue | undefined;
  /** Puts a QP into the queue of those that have packets to send. `due` says which of its halves has: bits of {@link Due}. */
  schedule(qp: QueuePair, due: number): void;
  /** Lets a QP go that waits for a way to have room: it has another way now, or none. */
  unhold(qp: QueuePair): void;
}

/** The halves of a QP that may have something to send, the other is not looked at; and whether the peer is to hear of congestion. */
export const Due = { SENDING: 1, RECEIVING: 2, BOTH: 3, NOTIFYING: 4 } as const;

/** Which part of what a QP may send in one turn a packet takes, by the pieces into which its message is cut. */
export function packetCost(segmentBytes: number): number {
  return Math.max(1, segmentBytes >> 12);
}

/** How serving a QP ended. */
export const Served = {
  /** Nothing more to send until something happens. */
  IDLE: 0,
  /** More to send when its turn comes again. */
  MORE: 1,
  /** The sink is full, or the way to the peer is (`PacketBuilder.fullWay`). */
  BLOCKED: 2,
} as const;
export type Served = (typeof Served)[keyof typeof Served];
