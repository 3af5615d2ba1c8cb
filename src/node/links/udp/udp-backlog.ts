import type { UdpSocket } from '../../system/index.js';
import { backlogOf, receiveBufferBytes } from './udp-socket.js';

/** Parts of the buffer that are full when the first packets are marked, and when all are: a queue like a switch's (RED, as DCQCN has it). */
const FIRST_MARKS_AT = 3 / 4;
const ALL_MARKED_AT = 1;
/** Share of packets that is marked just before all are. */
const MARKED_AT_MOST = 1 / 10;

/**
 * The queue before a socket, which is where packets to a slow receiver, or from many senders, pile up. No router sees it,
 * so the link does what a router would and marks packets while it is long, before any find no room.
 */
export class UdpBacklog {
  readonly #roomBytes: number;
  #waitingBytes = 0;
  /** Packets to be marked of each that comes, and those that are due, both in parts of one. */
  #share = 0;
  #due = 0;

  constructor(private readonly socket: UdpSocket) {
    this.#roomBytes = receiveBufferBytes(socket);
  }

  /**
   * So much was taken by one call, and is to be handed over.
   *
   * @param more there may be more than that
   * @param first the last look was long ago; the next one is a system call
   */
  onTaken(bytes: number, more: boolean, first: boolean): void {
    if (!more) this.#waitingBytes = 0;
    else if (first) this.#waitingBytes = backlogOf(this.socket);
    else this.#waitingBytes = Math.max(0, this.#waitingBytes - bytes);
    this.#share = markedShare((bytes + this.#waitingBytes) / this.#roomBytes);
  }

  mark(): boolean {
    if (this.#share === 0) return false;
    this.#due += this.#share;
    if (this.#due < 1) return false;
    this.#due -= 1;
    return true;
  }
}

/** Packets to be marked, in parts of all, when so much of the buffer is full. */
export function markedShare(filled: number): number {
  if (filled >= ALL_MARKED_AT) return 1;
  return Math.max(0, ((filled - FIRST_MARKS_AT) / (ALL_MARKED_AT - FIRST_MARKS_AT)) * MARKED_AT_MOST);
}
