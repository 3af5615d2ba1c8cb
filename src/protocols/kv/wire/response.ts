import { copyInto, MemoryView, u32At } from './packing.js';
import type { Identity } from './request.js';
import { Status as StoreStatus } from '../store/index.js';

/** What became of a request: statuses of a store, and those of the protocol, from 16 on. */
export const Status = {
  ...StoreStatus,
  /** GET: the value does not fit the answer; the length of the answer is the value's. */
  ELSEWHERE: 16,
  /** The request makes no sense. */
  MALFORMED: 17,
  /** The request is for another life of the server, whose epoch the answer has; what the other one held may be gone. */
  EPOCH: 18,
  /** The server does not know the session any more. */
  SESSION: 19,
  /** The server's disk is full, so nothing can be changed; nothing was. */
  DISK_FULL: 20,
  /** The server's disk fails, so nothing can be changed. Nothing was, but the server may find what was asked for when it begins anew. */
  DISK_FAILED: 21,
  /** No answer yet: the value of the request is on its way. */
  UNDER_WAY: 22,
} as const;
export type Status = (typeof Status)[keyof typeof Status];

const KNOWN: readonly number[] = Object.values(Status);

export function isStatus(status: number): status is Status {
  return KNOWN.includes(status);
}

// An answer (protocol/kv.md 6.3): 32 bytes, then the value, unless it is elsewhere.

export const RESPONSE_HEAD_BYTES = 32;
const FLAGS = 19;
const VALUE_LENGTH = 20;
/** The value is not in the message. */
const ELSEWHERE = 1;
const NO_BYTES: Uint8Array = new Uint8Array(0);

export interface Answered {
  readonly status: Status;
  /** Of the entry, where the operation left or found one; SCAN, STATS: where to go on, 0 when that was all; otherwise 0. */
  readonly version: bigint;
  readonly value: Uint8Array;
  /** Bytes of the value: more than {@link value} has where that is elsewhere. */
  readonly valueBytes: number;
}

/** How long the answer says to be that begins there; Infinity where its head is cut. */
export function responseLength(bytes: Uint8Array, at: number): number {
  if (bytes.length - at < RESPONSE_HEAD_BYTES) return Infinity;
  return RESPONSE_HEAD_BYTES + (bytes[at + FLAGS] === ELSEWHERE ? 0 : u32At(bytes, at + VALUE_LENGTH));
}

const written = new MemoryView();

/** @param into has room for {@link RESPONSE_HEAD_BYTES} and the value from `begin` on. @returns how many bytes it took */
export function encodeResponse(
  into: Uint8Array,
  { session, epoch, slot, sequence }: Identity,
  answer: Answered,
  begin = 0,
): number {
  const { status, version, value, valueBytes } = answer;
  const view = written.of(into);
  const head = into.byteOffset + begin;
  view.setUint32(head, session.high);
  view.setUint32(head + 4, session.low);
  view.setUint32(head + 8, epoch);
  view.setUint32(head + 12, sequence);
  view.setUint16(head + 16, slot);
  view.setUint8(head + 18, status);
  view.setUint8(head + FLAGS, value.length === valueBytes ? 0 : ELSEWHERE);
  view.setUint32(head + VALUE_LENGTH, valueBytes);
  view.setBigUint64(head + 24, version);
  copyInto(value, into, begin + RESPONSE_HEAD_BYTES);
  return RESPONSE_HEAD_BYTES + value.length;
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
  readonly #memory = new MemoryView();
  #view: DataView = this.#memory.of(NO_BYTES);
  /** Where the answer begins in {@link #view}. */
  #at = 0;

  /** Looks at a part of a message that has come. @returns what is wrong with it; undefined when it is an answer */
  look(bytes: Uint8Array, at = 0, end = bytes.length): string | undefined {
    if (end - at < RESPONSE_HEAD_BYTES) return `it has ${end - at} bytes`;
    const flags = bytes[at + FLAGS];
    const status = bytes[at + 18];
    if (flags > ELSEWHERE) return `flags 0x${flags.toString(16)}`;
    if (!isStatus(status) || (flags === ELSEWHERE && !mayBeElsewhere(status))) return `status ${status}`;
    const valueBytes = u32At(bytes, at + VALUE_LENGTH);
    const value = bytes.subarray(at + RESPONSE_HEAD_BYTES, end);
    if (value.length !== (flags === ELSEWHERE ? 0 : valueBytes))
      return `${end - at} bytes, with a value of ${valueBytes}`;
    const view = this.#memory.of(bytes);
    this.#view = view;
    const head = bytes.byteOffset + at;
    this.#at = head;
    this.session.high = view.getUint32(head);
    this.session.low = view.getUint32(head + 4);
    this.epoch = view.getUint32(head + 8);
    this.sequence = view.getUint32(head + 12);
    this.slot = view.getUint16(head + 16);
    this.status = status;
    this.valueBytes = valueBytes;
    this.value = value;
    return undefined;
  }

  get version(): bigint {
    return this.#view.getBigUint64(this.#at + 24);
  }
}

/** OK: it was written to memory that the request named. */
function mayBeElsewhere(status: Status): boolean {
  return status === Status.OK || status === Status.ELSEWHERE;
}
