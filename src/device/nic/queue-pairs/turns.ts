/** Which halves of a QP may have something to send, and whether a congestion notification is due. */
export const PendingWork = { SENDING: 1, RECEIVING: 2, BOTH: 3, NOTIFYING: 4 } as const;

/** How much of a QP's budget for one turn a packet takes, by its segment size. */
export function packetCost(segmentBytes: number): number {
  return Math.max(1, segmentBytes >> 12);
}

/** How serving a QP ended. */
export const TransmitResult = {
  /** Nothing more to send until something happens. */
  IDLE: 0,
  /** More to send when its turn comes again. */
  MORE: 1,
  /** The sink is full, or the way to the peer is (`PacketBuilder.fullWay`). */
  BLOCKED: 2,
} as const;
export type TransmitResult = (typeof TransmitResult)[keyof typeof TransmitResult];

/** A queue pair as the NIC's queue knows it, in which those that have something to send wait for their turn. */
export interface Scheduled {
  /** Whether it stands in the queue, or is held. */
  scheduled: boolean;
  /** Which halves have something to send when its turn comes: bits of {@link PendingWork}. */
  due: number;
  /** The way that it found full when it last had to wait for one, or 0. */
  way: number;
  /** Whether it waits for room there instead of standing in the queue. */
  held: boolean;
  /** Whether it has waited, and must not wait behind others again. */
  mayPass: boolean;
  /** Sends what is due, at most `budget` packets. */
  transmit(budget: number): TransmitResult;
}
