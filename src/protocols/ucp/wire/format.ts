import { type Struct, viewOf } from '../../../device/wire/index.js';
import { PACKED_RKEY_BYTES, type PackedRkey, packRkey, unpackRkey } from './rkey.js';

// The shapes that messages of UCP have: what lies between their fields, and behind them.

export interface Format<M> {
  /** Writes one at the beginning of `into`, which has room. @returns its bytes */
  encode(into: Uint8Array, message: M): number;
  /** The message that bytes are, or a sentence that says what is wrong with them. Data and headers of programs stay where they are: no copy. */
  decode(bytes: Uint8Array): M | string;
}

/** Fields, and no more. */
export interface Bare<Head> {
  readonly head: Head;
}

export interface WithPayload<Head> extends Bare<Head> {
  readonly payload: Uint8Array;
}

/** Fields, data, a header of the program's behind the data, and fields again. */
export interface WithUserHeader<Head, Foot> extends WithPayload<Head> {
  readonly userHeader: Uint8Array;
  readonly foot: Foot;
}

/** Fields, a key where there is memory that the receiver may use, and a header of the program's. */
export interface WithRkey<Head> extends Bare<Head> {
  readonly rkey: PackedRkey | undefined;
  readonly userHeader: Uint8Array;
}

/** Fields, keys in the form of whoever made them, and a header of the program's. */
export interface WithForeignKeys<Head> extends Bare<Head> {
  readonly keys: Uint8Array;
  readonly userHeader: Uint8Array;
}

/** Fields, and how much that is about where it is not all. */
export interface WithSize<Head> extends Bare<Head> {
  readonly size: number | undefined;
}

type Problem<M> = (message: M) => string | undefined;

const none = (): undefined => undefined;

function tooLong(excess: number): string {
  return `${excess} bytes are left over`;
}

export function bare<Head>(layout: Struct<Head>): Format<Bare<Head>> {
  return {
    encode: (into, { head }) => layout.write(viewOf(into), 0, head),
    decode: (bytes) => {
      const head = layout.parse(viewOf(bytes), 0);
      if (typeof head === 'string') return head;
      return bytes.length === layout.bytes ? { head } : tooLong(bytes.length - layout.bytes);
    },
  };
}

/** @param problem what is wrong with fields and data together */
export function withPayload<Head>(
  layout: Struct<Head>,
  problem: Problem<WithPayload<Head>> = none,
): Format<WithPayload<Head>> {
  return {
    encode: (into, { head, payload }) => {
      const at = layout.write(viewOf(into), 0, head);
      into.set(payload, at);
      return at + payload.length;
    },
    decode: (bytes) => {
      const head = layout.parse(viewOf(bytes), 0);
      if (typeof head === 'string') return head;
      const message = { head, payload: bytes.subarray(layout.bytes) };
      return problem(message) ?? message;
    },
  };
}

/**
 * @param headerBytes how long the fields say that the program's header is
 * @param problem what is wrong with fields and data together
 */
export function withUserHeader<Head, Foot>(
  layout: Struct<Head>,
  footLayout: Struct<Foot>,
  headerBytes: (head: Head) => number,
  problem: Problem<WithUserHeader<Head, Foot>> = none,
): Format<WithUserHeader<Head, Foot>> {
  return {
    encode: (into, { head, payload, userHeader, foot }) => {
      const view = viewOf(into);
      let at = layout.write(view, 0, head);
      into.set(payload, at);
      at += payload.length;
      into.set(userHeader, at);
      return footLayout.write(view, at + userHeader.length, foot);
    },
    decode: (bytes) => {
      const view = viewOf(bytes);
      const head = layout.parse(view, 0);
      if (typeof head === 'string') return head;
      const footAt = bytes.length - footLayout.bytes;
      const headerAt = footAt - headerBytes(head);
      if (headerAt < layout.bytes) return `its headers alone are longer than its ${bytes.length} bytes`;
      const foot = footLayout.parse(view, footAt);
      if (typeof foot === 'string') return foot;
      const payload = bytes.subarray(layout.bytes, headerAt);
      const message = { head, payload, userHeader: bytes.subarray(headerAt, footAt), foot };
      return problem(message) ?? message;
    },
  };
}

/**
 * @param headerBytes how long the fields say that the program's header is, or a sentence that says what is wrong with them
 * @param memory what memory the fields are about, all of which the key must be for
 */
export function withRkey<Head>(
  layout: Struct<Head>,
  headerBytes: (head: Head) => number | string,
  memory: (head: Head) => { readonly address: bigint; readonly size: number },
): Format<WithRkey<Head>> {
  return {
    encode: (into, { head, rkey, userHeader }) => {
      let at = layout.write(viewOf(into), 0, head);
      if (rkey !== undefined) {
        into.set(packRkey(rkey), at);
        at += PACKED_RKEY_BYTES;
      }
      into.set(userHeader, at);
      return at + userHeader.length;
    },
    decode: (bytes) => {
      const head = layout.parse(viewOf(bytes), 0);
      if (typeof head === 'string') return head;
      const expected = headerBytes(head);
      if (typeof expected === 'string') return expected;
      const headerAt = bytes.length - expected;
      const keyBytes = headerAt - layout.bytes;
      const userHeader = bytes.subarray(headerAt);
      if (keyBytes === 0) return { head, rkey: undefined, userHeader };
      if (keyBytes !== PACKED_RKEY_BYTES) return `of its ${bytes.length} bytes ${keyBytes} remain for a key`;
      const rkey = unpackRkey(bytes.subarray(layout.bytes, headerAt));
      if (typeof rkey === 'string') return rkey;
      return covers(rkey, memory(head)) ? { head, rkey, userHeader } : 'the key is for other memory';
    },
  };
}

/** Keys whose form is not known are only passed over. For those who look on, so nothing is written. */
export function withForeignKeys<Head>(
  layout: Struct<Head>,
  headerBytes: (head: Head) => number | string,
): Pick<Format<WithForeignKeys<Head>>, 'decode'> {
  return {
    decode: (bytes) => {
      const head = layout.parse(viewOf(bytes), 0);
      if (typeof head === 'string') return head;
      const expected = headerBytes(head);
      if (typeof expected === 'string') return expected;
      const headerAt = bytes.length - expected;
      if (headerAt < layout.bytes) return `its headers alone are longer than its ${bytes.length} bytes`;
      return { head, keys: bytes.subarray(layout.bytes, headerAt), userHeader: bytes.subarray(headerAt) };
    },
  };
}

export function withSize<Head>(
  layout: Struct<Head>,
  sizeLayout: Struct<{ readonly size: number }>,
): Format<WithSize<Head>> {
  const whole = layout.bytes + sizeLayout.bytes;
  return {
    encode: (into, { head, size }) => {
      const view = viewOf(into);
      const at = layout.write(view, 0, head);
      return size === undefined ? at : sizeLayout.write(view, at, { size });
    },
    decode: (bytes) => {
      const view = viewOf(bytes);
      const head = layout.parse(view, 0);
      if (typeof head === 'string') return head;
      if (bytes.length === layout.bytes) return { head, size: undefined };
      if (bytes.length > whole) return tooLong(bytes.length - whole);
      const said = sizeLayout.parse(view, layout.bytes);
      return typeof said === 'string' ? said : { head, size: said.size };
    },
  };
}

function covers(key: PackedRkey, { address, size }: { readonly address: bigint; readonly size: number }): boolean {
  return address >= key.address && address + BigInt(size) <= key.address + BigInt(key.length);
}
