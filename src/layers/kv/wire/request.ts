import { MAX_KEY_BYTES } from '../store/index.js';
import { type OperationRules, rulesOf } from './operations.js';
import { u32At } from './packing.js';
import type { SessionId } from './session-id.js';

// A request (docs/protocol.md 6.2): 40 bytes, the key, then the value or where it is.

export const REQUEST_HEAD_BYTES = 40;
const KEY_LENGTH = 19;
const VALUE_LENGTH = 20;
const REMOTE_BYTES = 16;
/** The value is elsewhere. */
const REMOTE = 1;
const NO_BYTES: Uint8Array = new Uint8Array(0);

/** Memory of the client's that the server is to read a value from, or to write it to. */
export interface RemoteValue {
  readonly addr: bigint;
  readonly rkey: number;
  readonly length: number;
}

/** Whose request it is, and which. */
export interface Identity {
  readonly session: SessionId;
  readonly epoch: number;
  readonly slot: number;
  readonly sequence: number;
}

/** What is asked for. */
export interface Asked {
  readonly operation: number;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  /** Where the value is in place of {@link value}; of GET, where it is to be written. */
  readonly remote: RemoteValue | undefined;
  /** Milliseconds that the entry is to live; 0 for ever. SCAN: how many keys are wanted; 0: as many as fit. */
  readonly ttlMs: number;
  /** INCR: what is added, as a signed number; CAS: the version; SCAN, STATS: where to go on, 0 from the beginning. */
  readonly operand: bigint;
}

export function requestBytes({ key, value, remote }: Asked): number {
  return REQUEST_HEAD_BYTES + key.length + (remote === undefined ? value.length : REMOTE_BYTES);
}

/** @param into has room for {@link requestBytes}. @returns how many bytes it took */
export function encodeRequest(into: Uint8Array, { session, epoch, slot, sequence }: Identity, asked: Asked): number {
  const { operation, key, value, remote, ttlMs, operand } = asked;
  const view = new DataView(into.buffer, into.byteOffset, into.byteLength);
  view.setUint32(0, session.high);
  view.setUint32(4, session.low);
  view.setUint32(8, epoch);
  view.setUint32(12, sequence);
  view.setUint16(16, slot);
  view.setUint8(18, operation);
  view.setUint8(KEY_LENGTH, key.length);
  view.setUint32(VALUE_LENGTH, remote === undefined ? value.length : REMOTE_BYTES);
  view.setUint32(24, remote === undefined ? 0 : REMOTE);
  view.setUint32(28, ttlMs);
  view.setBigInt64(32, operand);
  into.set(key, REQUEST_HEAD_BYTES);
  const at = REQUEST_HEAD_BYTES + key.length;
  if (remote === undefined) {
    into.set(value, at);
    return at + value.length;
  }
  view.setBigUint64(at, remote.addr);
  view.setUint32(at + 8, remote.rkey);
  view.setUint32(at + 12, remote.length);
  return at + REMOTE_BYTES;
}

/** How long the request says to be that begins there; Infinity where its head is cut. */
export function requestLength(bytes: Uint8Array, at: number): number {
  if (bytes.length - at < REQUEST_HEAD_BYTES) return Infinity;
  return REQUEST_HEAD_BYTES + bytes[at + KEY_LENGTH] + u32At(bytes, at + VALUE_LENGTH);
}

/** Looks at one request after the other, without an object for each. */
export class RequestView implements Asked {
  readonly session = { high: 0, low: 0 };
  epoch = 0;
  slot = 0;
  sequence = 0;
  operation = 0;
  ttlMs = 0;
  /** Bytes of the message: true only until the next one is looked at. */
  key = NO_BYTES;
  value = NO_BYTES;
  remote: RemoteValue | undefined;
  #view: DataView = new DataView(NO_BYTES.buffer);
  /** Where the request begins in {@link #view}. */
  #at = 0;

  /** Looks at a part of a message that has come. @returns what is wrong with it; undefined when it is a request */
  look(bytes: Uint8Array, at = 0, end = bytes.length): string | undefined {
    if (end - at < REQUEST_HEAD_BYTES) return `it has ${end - at} bytes`;
    // Messages come in the same memory again and again.
    if (this.#view.buffer !== bytes.buffer) this.#view = new DataView(bytes.buffer);
    const view = this.#view;
    const head = bytes.byteOffset + at;
    this.#at = head;
    this.session.high = view.getUint32(head);
    this.session.low = view.getUint32(head + 4);
    this.epoch = view.getUint32(head + 8);
    this.sequence = view.getUint32(head + 12);
    this.slot = view.getUint16(head + 16);
    this.operation = view.getUint8(head + 18);
    this.ttlMs = view.getUint32(head + 28);
    return this.#lookAtKeyAndValue(bytes.subarray(at, end));
  }

  get operand(): bigint {
    return this.#view.getBigInt64(this.#at + 32);
  }

  #lookAtKeyAndValue(bytes: Uint8Array): string | undefined {
    const view = this.#view;
    const head = this.#at;
    const keyBytes = view.getUint8(head + KEY_LENGTH);
    const valueBytes = view.getUint32(head + VALUE_LENGTH);
    const flags = view.getUint32(head + 24);
    const rules = rulesOf(this.operation);
    if (rules === undefined) return `there is no operation ${this.operation}`;
    if (flags > REMOTE) return `flags 0x${flags.toString(16)}`;
    if (keyBytes > MAX_KEY_BYTES || !mayHaveKey(rules, keyBytes > 0)) return `a key of ${keyBytes} bytes`;
    const at = REQUEST_HEAD_BYTES + keyBytes;
    if (bytes.length !== at + valueBytes) return `${bytes.length} bytes, with a value of ${valueBytes}`;
    const isRemote = flags === REMOTE;
    if (
      isRemote
        ? valueBytes !== REMOTE_BYTES || rules.value === 'none'
        : valueBytes > 0 && rules.value !== 'to the server'
    )
      return `${rules.name} with a value of ${valueBytes} bytes`;
    this.key = bytes.subarray(REQUEST_HEAD_BYTES, at);
    this.value = isRemote ? NO_BYTES : bytes.subarray(at);
    this.remote = isRemote
      ? {
          addr: view.getBigUint64(head + at),
          rkey: view.getUint32(head + at + 8),
          length: view.getUint32(head + at + 12),
        }
      : undefined;
    return undefined;
  }
}

function mayHaveKey({ key }: OperationRules, hasKey: boolean): boolean {
  return key === 'prefix' || hasKey === (key === 'one');
}
