/** A captured packet. */
import { type CmMessage, opcodeBits, type Packet } from '../../../device/wire/index.js';

/** A packet without its data, of which only the length matters: captures are long. */
export interface SeenPacket extends Omit<Packet, 'payload' | 'padding'> {
  readonly payloadBytes: number;
}

export interface Sighting {
  /** Since the first frame of its file, and, once all files are read, of the earliest file. */
  readonly timeUs: number;
  /** Its file, from 0 on, and its place among all sightings: within a file those that come later were seen later. */
  readonly file: number;
  readonly order: number;
  /** Whether who looked on sent it or received it; undefined where neither the file tells nor another one. */
  direction: 'in' | 'out' | undefined;
  /** Its file does not say where it was captured, and counts as that of one end: it may be from anywhere on the path. */
  placed: boolean;
  readonly source: string;
  readonly destination: string;
  readonly packet: SeenPacket;
  readonly cm: CmMessage | undefined;
  readonly meaning: string | undefined;
  readonly comment: string | undefined;
  /** Its ICRC is wrong: what stands in it may be anything. */
  readonly damaged: boolean;
  /** By which datagrams of one file are told apart; undefined where the capture cut it off. */
  readonly icrc: number | undefined;
}

/**
 * By which two files know the same packet. Not by its ICRC, which holds the IP identification: that is set after
 * the sender has seen the packet for the last time, where the system cuts one long datagram into many.
 */
export function nameOf({ packet: { bth, aeth, payloadBytes } }: Sighting): string {
  const answer = aeth === undefined ? '' : `${aeth.syndrome} ${aeth.msn}`;
  return `${bth.destQp} ${bth.opcode} ${bth.psn} ${bth.ackRequest} ${payloadBytes} ${answer}`;
}

export const psnOf = ({ packet }: Sighting): number => packet.bth.psn;

/** Whether the opcode of a packet has one of these bits (`OpcodeBit`). */
export const has = (packet: SeenPacket, bit: number): boolean => (opcodeBits[packet.bth.opcode] & bit) !== 0;
