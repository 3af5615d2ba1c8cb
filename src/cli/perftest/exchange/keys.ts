import type { Gid } from '../../../entry/index.js';
import { ToolError } from '../../kit/errors.js';

/** What one side tells the other of a queue pair (protocol/tools.md 7.3). */
export interface Keys {
  readonly lid: number;
  /** READs and atomics that may be outstanding. */
  readonly outReads: number;
  readonly qpn: number;
  readonly psn: number;
  readonly rkey: number;
  readonly addr: bigint;
  readonly gid: Gid;
  /** Of the shared receive queue; XRC only, otherwise 0. */
  readonly srqn: number;
}

/** What stands in their place while there is nothing to tell. */
export const NO_KEYS: Keys = {
  lid: 0,
  outReads: 0,
  qpn: 0,
  psn: 0,
  rkey: 0,
  addr: 0n,
  gid: new Uint8Array(16),
  srqn: 0,
};

/** Bytes of keys as text, with a GID, which every port of Ethernet has. */
export const KEY_TEXT_BYTES = 108;

const NUMBERS = /^([0-9a-f]{1,8}):([0-9a-f]{1,8}):([0-9a-f]{1,8}):([0-9a-f]{1,8}):([0-9a-f]{1,8}):([0-9a-f]{1,16}):/i;
const GID_AND_QUEUE = /^((?:[0-9a-f]{2}:){16})([0-9a-f]{1,8}):\0*$/i;

function hex(value: number | bigint, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

/** The form that goes over TCP. */
export function encodeKeyText({ lid, outReads, qpn, psn, rkey, addr, gid, srqn }: Keys): Buffer {
  const numbers = [hex(lid, 4), hex(outReads, 4), hex(qpn, 6), hex(psn, 6), hex(rkey, 8), hex(addr, 16)];
  const bytes = Buffer.alloc(KEY_TEXT_BYTES);
  bytes.write([...numbers, ...[...gid].map((byte) => hex(byte, 2)), hex(srqn, 8), ''].join(':'), 'latin1');
  return bytes;
}

/** @throws ToolError when the bytes are not of that form; `tool` is who should have sent them */
export function decodeKeyText(bytes: Uint8Array, tool: string): Keys {
  const text = Buffer.from(bytes).toString('latin1');
  const numbers = NUMBERS.exec(text);
  const rest = numbers && GID_AND_QUEUE.exec(text.slice(numbers[0].length));
  if (!numbers || !rest) {
    throw new ToolError(`The peer sent ${JSON.stringify(text)} where keys were expected; is it an ${tool}?`);
  }
  const [lid, outReads, qpn, psn, rkey] = numbers.slice(1, 6).map((digits) => parseInt(digits, 16));
  return {
    lid,
    outReads,
    qpn,
    psn,
    rkey,
    addr: BigInt(`0x${numbers[6]}`),
    gid: new Uint8Array(Buffer.from(rest[1].replaceAll(':', ''), 'hex')),
    srqn: parseInt(rest[2], 16),
  };
}

/**
 * The form that goes over an RDMA connection: the C tools' own struct, in network byte order. From 6.29 on it has one
 * address more, before the GID.
 */
export type KeyStruct = 'short' | 'long';

export const KEY_STRUCT_BYTES: Readonly<Record<KeyStruct, number>> = { short: 56, long: 64 };
const GID_AT: Readonly<Record<KeyStruct, number>> = { short: 32, long: 40 };
const ADDR_AT = 24;
const GID_BYTES = 16;

/** Which of them a peer of a version has. */
export function keyStructOf(version: number): KeyStruct {
  return version >= 6.29 ? 'long' : 'short';
}

export function encodeKeyStruct({ lid, outReads, qpn, psn, rkey, addr, gid, srqn }: Keys, struct: KeyStruct): Buffer {
  const bytes = Buffer.alloc(KEY_STRUCT_BYTES[struct]);
  for (const [i, value] of [lid, outReads, qpn, psn, rkey].entries()) bytes.writeUInt32BE(value, 4 * i);
  bytes.writeBigUInt64BE(addr, ADDR_AT);
  bytes.set(gid, GID_AT[struct]);
  bytes.writeUInt32BE(srqn, GID_AT[struct] + GID_BYTES);
  return bytes;
}

/** @throws ToolError when there are too few bytes */
export function decodeKeyStruct(bytes: Buffer, struct: KeyStruct, tool: string): Keys {
  if (bytes.length < KEY_STRUCT_BYTES[struct]) {
    throw new ToolError(`The peer sent ${bytes.length} bytes where keys were expected; is it an ${tool}?`);
  }
  const [lid, outReads, qpn, psn, rkey] = [0, 4, 8, 12, 16].map((at) => bytes.readUInt32BE(at));
  const gid = new Uint8Array(bytes.subarray(GID_AT[struct], GID_AT[struct] + GID_BYTES));
  const srqn = bytes.readUInt32BE(GID_AT[struct] + GID_BYTES);
  return { lid, outReads, qpn, psn, rkey, addr: bytes.readBigUInt64BE(ADDR_AT), gid, srqn };
}
