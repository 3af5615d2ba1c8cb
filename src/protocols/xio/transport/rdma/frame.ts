import { viewOf } from '../../../../device/wire/index.js';
import { type Body, MAX_PIECES, putBody } from '../../wire/index.js';
import { TOKEN_BYTES } from '../link.js';

// What stands before the head of a message that goes by RDMA: 24 bytes, big-endian. protocol/xio.md 10.
//
//   0 credits 2 | 2 operation 1 | 3 zero 1 | 4 head 2 | 6 further places 2 | 8 body 4 | 12 R_Key 4 | 16 address 8 | 24 head, then body or further places

/** Bytes before the head. */
export const PREFIX_BYTES = 24;

/** How the body of a message travels. */
export const Operation = {
  /** There is no message: the frame says no more than how far the peer may send. */
  CREDIT: 0,
  INLINE: 1,
  READ: 2,
  /** The sender has written it where it was told to. */
  WRITTEN: 3,
} as const;
export type Operation = (typeof Operation)[keyof typeof Operation];

export interface Frame {
  credits: number;
  operation: Operation;
  headBytes: number;
  bodyBytes: number;
  rkey: number;
  address: bigint;
  /** Of READ: places that follow the head, beside the one in the frame. */
  furtherPlaces: number;
}

export function emptyFrame(): Frame {
  return {
    credits: 0,
    operation: Operation.CREDIT,
    headBytes: 0,
    bodyBytes: 0,
    rkey: 0,
    address: 0n,
    furtherPlaces: 0,
  };
}

function encodeFrame(bytes: Uint8Array, frame: Frame): void {
  const view = viewOf(bytes);
  view.setUint16(0, frame.credits);
  view.setUint16(2, frame.operation << 8);
  view.setUint16(4, frame.headBytes);
  view.setUint16(6, frame.furtherPlaces);
  view.setUint32(8, frame.bodyBytes);
  view.setUint32(12, frame.rkey);
  view.setBigUint64(16, frame.address);
}

/** Writes a frame, its head, and what follows that. @param bytes has room for them */
export function fillFrame(bytes: Uint8Array, frame: Frame, head: Uint8Array, body: Body): void {
  encodeFrame(bytes, frame);
  bytes.set(head, PREFIX_BYTES);
  putBody(body, bytes, PREFIX_BYTES + head.length);
}

/**
 * Reads a frame.
 *
 * @param limits what was agreed
 * @returns what cannot be true of it, or undefined
 */
export function decodeFrame(
  bytes: Uint8Array,
  byteLength: number,
  limits: { readonly maxHeadBytes: number; readonly maxBodyBytes: number },
  frame: Frame,
): string | undefined {
  if (byteLength < PREFIX_BYTES) return `a frame has ${byteLength} bytes, where ${PREFIX_BYTES} stand before the head`;
  const view = viewOf(bytes);
  const operation = view.getUint8(2);
  if (!isOperation(operation)) return `a frame has operation ${operation}, which does not exist`;
  frame.operation = operation;
  frame.credits = view.getUint16(0);
  frame.headBytes = view.getUint16(4);
  frame.bodyBytes = view.getUint32(8);
  frame.rkey = view.getUint32(12);
  frame.address = operation === Operation.READ ? view.getBigUint64(16) : 0n;
  frame.furtherPlaces = view.getUint16(6);
  if (view.getUint8(3) !== 0) return 'a frame has something where there must be zeros';
  if (frame.furtherPlaces > (operation === Operation.READ ? MAX_PIECES - 1 : 0))
    return `a frame has ${frame.furtherPlaces} further places`;
  if (frame.headBytes > limits.maxHeadBytes)
    return `a head has ${frame.headBytes} bytes, where ${limits.maxHeadBytes} are the most`;
  if (frame.bodyBytes > limits.maxBodyBytes)
    return `a body has ${frame.bodyBytes} bytes, where ${limits.maxBodyBytes} are the most`;
  const alongBytes = operation === Operation.INLINE ? frame.bodyBytes : frame.furtherPlaces * TOKEN_BYTES;
  const follows = PREFIX_BYTES + frame.headBytes + alongBytes;
  if (follows !== byteLength) return `a frame has ${byteLength} bytes, where it says ${follows}`;
  if (operation === Operation.CREDIT && frame.headBytes + frame.bodyBytes > 0)
    return 'a frame of credit has more than that';
  if (operation === Operation.READ && frame.bodyBytes === 0) return 'a body of 0 bytes is to be READ';
  return undefined;
}

function isOperation(value: number): value is Operation {
  return value <= Operation.WRITTEN;
}

/** A place in this end's memory, as it is told to the peer. */
export interface RemotePlace {
  readonly address: bigint;
  readonly rkey: number;
  readonly length: number;
}

/** {@link RemotePlace} as a token: address 8, R_Key 4, length 4. */
export function encodeToken({ address, rkey, length }: RemotePlace): Uint8Array {
  const bytes = new Uint8Array(TOKEN_BYTES);
  const view = viewOf(bytes);
  view.setBigUint64(0, address);
  view.setUint32(8, rkey);
  view.setUint32(12, length);
  return bytes;
}

export function decodeToken(bytes: Uint8Array): RemotePlace {
  const view = viewOf(bytes);
  return { address: view.getBigUint64(0), rkey: view.getUint32(8), length: view.getUint32(12) };
}

export function encodePlaces(places: readonly RemotePlace[]): Uint8Array {
  const bytes = new Uint8Array(places.length * TOKEN_BYTES);
  places.forEach((place, i) => bytes.set(encodeToken(place), i * TOKEN_BYTES));
  return bytes;
}

/**
 * All places of a body that is to be READ.
 *
 * @param bytes the frame
 * @returns what cannot be true of them
 */
export function decodePlaces(bytes: Uint8Array, frame: Frame): readonly RemotePlace[] | string {
  const { address, rkey, bodyBytes, headBytes, furtherPlaces } = frame;
  if (furtherPlaces === 0) return [{ address, rkey, length: bodyBytes }];
  const places: RemotePlace[] = [];
  let rest = bodyBytes;
  for (let i = 0; i < furtherPlaces; i += 1) {
    const place = decodeToken(bytes.subarray(PREFIX_BYTES + headBytes + i * TOKEN_BYTES));
    if (place.length === 0) return 'a piece of a body has no bytes';
    rest -= place.length;
    places.push(place);
  }
  if (rest <= 0) return 'the pieces of a body are longer than it is';
  return [{ address, rkey, length: rest }, ...places];
}
