import { MAX_KEY_BYTES, Span } from '../store/index.js';
import { type OperationRules, rulesOf } from './operations.js';
import { copyInto, MemoryView, u32At } from './packing.js';
import type { SessionId } from './hello.js';

// A request (protocol/kv.md 6.2): 40 bytes, the key, then the value or where it is.

export const REQUEST_HEAD_BYTES = 40;
const KEY_LENGTH = 19;
const VALUE_LENGTH = 20;
const REMOTE_BYTES = 16;
const REMOTE = 1;
const NO_BYTES: Uint8Array = new Uint8Array(0);

/** Memory of the client's that the server is to read a value from, or to write it to. */
export interface RemoteValue {
  readonly addr: bigint;
  readonly rkey: number;
  readonly length: number;
}

export interface Identity {
  readonly session: SessionId;
  readonly epoch: number;
  readonly slot: number;
  readonly sequence: number;
}

export interface Asked {
  readonly operation: number;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  /** Where the value is in place of {@link value}; of GET, where it is to be written. */
  readonly remote: RemoteValue | undefined;
  /** Milliseconds that the entry is to live; 0 for ever. SCAN: how many keys are wanted; 0: as many as fit. */
  readonly ttlMs: number;
  /** INCR: what is added, as a signed number; CAS, DEL: the version; SCAN, STATS: where to go on, 0 from the beginning. */
  readonly operand: bigint;
}

export function requestBytes({ key, value, remote }: Asked): number {
  return REQUEST_HEAD_BYTES + key.length + (remote === undefined ? value.length : REMOTE_BYTES);
}

const written = new MemoryView();

/** @param into has room for {@link requestBytes} from `begin` on. @returns how many bytes it took */
export function encodeRequest(
  into: Uint8Array,
  { session, epoch, slot, sequence }: Identity,
  asked: Asked,
  begin = 0,
): number {
  const { operation, key, value, remote, ttlMs, operand } = asked;
  const view = written.of(into);
  const head = into.byteOffset + begin;
  view.setUint32(head, session.high);
  view.setUint32(head + 4, session.low);
  view.setUint32(head + 8, epoch);
  view.setUint32(head + 12, sequence);
  view.setUint16(head + 16, slot);
  view.setUint8(head + 18, operation);
  view.setUint8(head + KEY_LENGTH, key.length);
  view.setUint32(head + VALUE_LENGTH, remote === undefined ? value.length : REMOTE_BYTES);
  view.setUint32(head + 24, remote === undefined ? 0 : REMOTE);
  view.setUint32(head + 28, ttlMs);
  view.setBigInt64(head + 32, operand);
  copyInto(key, into, begin + REQUEST_HEAD_BYTES);
  const at = REQUEST_HEAD_BYTES + key.length;
  if (remote === undefined) {
    copyInto(value, into, begin + at);
    return at + value.length;
  }
  view.setBigUint64(head + at, remote.addr);
  view.setUint32(head + at + 8, remote.rkey);
  view.setUint32(head + at + 12, remote.length);
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
  /** Where key and value are: true only until the next message is looked at. */
  readonly keySpan = new Span();
  readonly valueSpan = new Span();
  remote: RemoteValue | undefined;
  readonly #memory = new MemoryView();
  #view: DataView = this.#memory.of(NO_BYTES);
  /** Where the request begins in {@link #view}. */
  #at = 0;

  /** Looks at a part of a message that has come. @returns what is wrong with it; undefined when it is a request */
  look(bytes: Uint8Array, at = 0, end = bytes.length): string | undefined {
    if (end - at < REQUEST_HEAD_BYTES) return `it has ${end - at} bytes`;
    const view = this.#memory.of(bytes);
    this.#view = view;
    const head = bytes.byteOffset + at;
    this.#at = head;
    this.session.high = view.getUint32(head);
    this.session.low = view.getUint32(head + 4);
    this.epoch = view.getUint32(head + 8);
    this.sequence = view.getUint32(head + 12);
    this.slot = view.getUint16(head + 16);
    this.operation = view.getUint8(head + 18);
    this.ttlMs = view.getUint32(head + 28);
    return this.#lookAtKeyAndValue(bytes, at, end);
  }

  get key(): Uint8Array {
    return bytesIn(this.keySpan);
  }

  get value(): Uint8Array {
    return bytesIn(this.valueSpan);
  }

  /** The value is elsewhere: there. */
  setValue(value: Uint8Array): void {
    this.valueSpan.set(value);
    this.remote = undefined;
  }

  get operand(): bigint {
    return this.#view.getBigInt64(this.#at + 32);
  }

  #lookAtKeyAndValue(bytes: Uint8Array, begin: number, end: number): string | undefined {
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
    if (end - begin !== at + valueBytes) return `${end - begin} bytes, with a value of ${valueBytes}`;
    const isRemote = flags === REMOTE;
    if (
      isRemote
        ? valueBytes !== REMOTE_BYTES || rules.value === 'none'
        : valueBytes > 0 && rules.value !== 'to the server'
    )
      return `${rules.name} with a value of ${valueBytes} bytes`;
    this.keySpan.set(bytes, begin + REQUEST_HEAD_BYTES, keyBytes);
    this.valueSpan.set(bytes, begin + at, isRemote ? 0 : valueBytes);
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

function bytesIn({ bytes, at, length }: Span): Uint8Array {
  return bytes.subarray(at, at + length);
}

function mayHaveKey({ key }: OperationRules, hasKey: boolean): boolean {
  return key === 'prefix' || hasKey === (key === 'one');
}
