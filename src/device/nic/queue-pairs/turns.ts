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

/** A queue pair as the NIC's queue knows it, in which those that have something to send wait for their turn. */
export interface Scheduled {
  /** Whether it stands in the queue, or is held. */
  scheduled: boolean;
  /** Which halves are to be asked when its turn comes: bits of {@link Due}. */
  due: number;
  /** The way that it found full when it last had to wait for one, or 0. */
  way: number;
  /** Whether it waits for that to have room, in place of standing in the queue. */
  held: boolean;
  /** Whether it has waited, and is not to wait behind others once more. */
  mayPass: boolean;
  /** Sends what is due, at most `budget` packets. */
  transmit(budget: number): Served;
}
