import type { Identity } from './request.js';
import { isStatus, Status } from './statuses.js';

// An answer (docs/protocol.md 6.3): 32 bytes, then the value.

export const RESPONSE_HEAD_BYTES = 32;
const NO_BYTES: Uint8Array = new Uint8Array(0);

/** What is answered. */
export interface Answered {
  readonly status: Status;
  /** Of the entry, where the operation left or found one; SCAN, STATS: where to go on, 0 when that was all; otherwise 0. */
  readonly version: bigint;
  readonly value: Uint8Array;
  /** Bytes of the value: more than {@link value} has where that is elsewhere. */
  readonly valueBytes: number;
}

/** @param into has room for {@link RESPONSE_HEAD_BYTES} and the value. @returns how many bytes it took */
export function encodeResponse(
  into: Uint8Array,
  { session, epoch, slot, sequence }: Identity,
  answer: Answered,
): number {
  const view = new DataView(into.buffer, into.byteOffset, into.byteLength);
  view.setUint32(0, session.high);
  view.setUint32(4, session.low);
  view.setUint32(8, epoch);
  view.setUint32(12, sequence);
  view.setUint16(16, slot);
  view.setUint8(18, answer.status);
  view.setUint8(19, 0);
  view.setUint32(20, answer.valueBytes);
  view.setBigUint64(24, answer.version);
  into.set(answer.value, RESPONSE_HEAD_BYTES);
  return RESPONSE_HEAD_BYTES + answer.value.length;
}

/** Looks at one answer after the other, without an object for each. */
export class ResponseView implements Answered {
  readonly session = { high: 0, low: 0 };
  epoch = 0;
  slot = 0;
  sequence = 0;
  status: Status = Status.OK;
  valueBytes = 0;
  /** Bytes of the message: true only until the next one is looked at. */
  value = NO_BYTES;
  #view: DataView = new DataView(NO_BYTES.buffer);

  /** Looks at a message that has come. @returns what is wrong with it; undefined when it is an answer */
  look(bytes: Uint8Array): string | undefined {
    if (bytes.length < RESPONSE_HEAD_BYTES) return `it has ${bytes.length} bytes`;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const status = view.getUint8(18);
    if (!isStatus(status)) return `there is no status ${status}`;
    const valueBytes = view.getUint32(20);
    const value = bytes.subarray(RESPONSE_HEAD_BYTES);
    if (value.length !== valueBytes && !(value.length === 0 && mayBeElsewhere(status)))
      return `${bytes.length} bytes, with a value of ${valueBytes}`;
    this.#view = view;
    this.session.high = view.getUint32(0);
    this.session.low = view.getUint32(4);
    this.epoch = view.getUint32(8);
    this.sequence = view.getUint32(12);
    this.slot = view.getUint16(16);
    this.status = status;
    this.valueBytes = valueBytes;
    this.value = value;
    return undefined;
  }

  get version(): bigint {
    return this.#view.getBigUint64(24);
  }
}

/** OK: it was written to memory that the request named. */
function mayBeElsewhere(status: Status): boolean {
  return status === Status.OK || status === Status.ELSEWHERE;
}
