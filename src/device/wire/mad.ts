/** Management datagrams: the header that all of them begin with (protocol/connections.md 4.1). */
import { viewOf } from './bytes.js';
import { be16, be32, be64, type Struct, struct, u8 } from './struct.js';

/** Size of a management datagram; UD packets carry one each. */
export const MAD_BYTES = 256;
/** Size of the header that comes before what the class defines. */
export const MAD_HEADER_BYTES = 24;
/** The only version of the header. */
export const MAD_BASE_VERSION = 1;

/** Management classes: what a datagram is about (IBTA 13.4.4). */
export const MadClass = {
  SUBN_LID_ROUTED: 0x01,
  SUBN_DIRECTED_ROUTE: 0x81,
  SA: 0x03,
  PERF: 0x04,
  BM: 0x05,
  DEVICE_MGMT: 0x06,
  CM: 0x07,
} as const;
/** A value of the {@link MadClass} object. */
export type MadClass = (typeof MadClass)[keyof typeof MadClass];

/** Methods (IBTA 13.4.5): the class's attribute is asked for. */
export const MAD_METHOD_GET = 0x01;
export const MAD_METHOD_SET = 0x02;
/** A datagram that is not a request for an attribute, as all of the connection manager's are. */
export const MAD_METHOD_SEND = 0x03;
export const MAD_METHOD_GET_RESPONSE = 0x81;

export interface MadHeader {
  readonly baseVersion: number;
  /** Of {@link MadClass}, when it is a known one. */
  readonly mgmtClass: number;
  readonly classVersion: number;
  readonly method: number;
  readonly status: number;
  readonly classSpecific: number;
  /** 64 bits, unsigned. */
  readonly transactionId: bigint;
  readonly attributeId: number;
  /** 32 bits, unsigned. */
  readonly attributeModifier: number;
}

const HEADER: Struct<MadHeader> = struct({
  baseVersion: u8(0),
  mgmtClass: u8(1),
  classVersion: u8(2),
  method: u8(3),
  status: be16(4),
  classSpecific: be16(6),
  transactionId: be64(8),
  attributeId: be16(16),
  attributeModifier: be32(20),
});

/** The header at `offset`. Bytes that are not there read as zeros. */
export function readMadHeader(bytes: Uint8Array, offset: number): MadHeader {
  return HEADER.readPadded(bytes.subarray(offset));
}

/**
 * Writes a header.
 *
 * @throws RangeError when a value does not fit into its field
 */
export function writeMadHeader(bytes: Uint8Array, offset: number, fields: MadHeader): void {
  bytes.fill(0, offset, offset + MAD_HEADER_BYTES);
  HEADER.check(fields, '');
  HEADER.write(viewOf(bytes), offset, fields);
}
