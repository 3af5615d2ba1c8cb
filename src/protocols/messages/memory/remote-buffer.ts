import { fieldsProblem, invalid, isU32, type Problem, refuse, show, VerbsError } from '../../../api/verbs/index.js';

/**
 * Memory of a peer that it shares: plain data, which can be sent as it is in a message of the program's own. It is a capability: who
 * knows it, and has a connection with that device, can use the memory as it is shared.
 */
export interface RemoteBuffer {
  /** Of its first byte, as its device names it. */
  readonly address: bigint;
  /** 32 bits. */
  readonly key: number;
  /** Bytes, from 1. */
  readonly length: number;
}

/** Bytes that {@link encodeRemoteBuffer} makes. */
export const REMOTE_BUFFER_BYTES = 20;

const FIELDS = { address: true, key: true, length: true } as const;

function problemOf(remote: RemoteBuffer): Problem | undefined {
  const problem = fieldsProblem('remote', remote, FIELDS);
  if (problem !== undefined) return problem;
  const { address, key, length } = remote;
  const advice = 'Take what SharedMemory.remote has, or what decodeRemoteBuffer makes of its bytes';
  if (typeof address !== 'bigint' || BigInt.asUintN(64, address) !== address)
    return invalid(`remote.address is ${show(address)}`, advice);
  if (!isU32(key)) return invalid(`remote.key is ${show(key)}`, advice);
  if (!Number.isSafeInteger(length) || length < 1) return invalid(`remote.length is ${show(length)}`, advice);
  return undefined;
}

/** @throws VerbsError EINVAL unless a piece lies within a remote buffer */
export function checkPiece(call: string, remote: RemoteBuffer, offset: number, byteLength: number): void {
  refuse(call, problemOf(remote));
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw new VerbsError(call, invalid(`offset is ${show(offset)}`, 'It is a number of bytes from 0 on'));
  if (offset + byteLength <= remote.length) return;
  const message = `${byteLength} bytes at offset ${offset} are not within the ${remote.length} bytes of the remote buffer`;
  throw new VerbsError(call, invalid(message, 'The peer would refuse that, and the connection would end'));
}

/** A remote buffer as {@link REMOTE_BUFFER_BYTES} bytes, for a message: address, key and length, big-endian. */
export function encodeRemoteBuffer(remote: RemoteBuffer): Uint8Array {
  refuse('encodeRemoteBuffer', problemOf(remote));
  const bytes = new Uint8Array(REMOTE_BUFFER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, remote.address);
  view.setUint32(8, remote.key);
  view.setBigUint64(12, BigInt(remote.length));
  return bytes;
}

/**
 * What {@link encodeRemoteBuffer} wrote.
 *
 * @param bytes at least {@link REMOTE_BUFFER_BYTES}; more are left alone
 * @throws VerbsError EINVAL for fewer, or a length that cannot be
 */
export function decodeRemoteBuffer(bytes: Uint8Array): RemoteBuffer {
  const call = 'decodeRemoteBuffer';
  if (!(bytes instanceof Uint8Array) || bytes.length < REMOTE_BUFFER_BYTES)
    throw new VerbsError(call, invalid(`that is not ${REMOTE_BUFFER_BYTES} bytes`, 'encodeRemoteBuffer makes them'));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const remote = { address: view.getBigUint64(0), key: view.getUint32(8), length: Number(view.getBigUint64(12)) };
  refuse(call, problemOf(remote));
  return remote;
}
