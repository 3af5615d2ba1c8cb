import { type Gid, isIpv4Gid } from '../../../device/ibta/index.js';
import {
  handshake,
  only,
  range,
  reserved,
  struct,
  type ValuesOf,
  u16,
  u24,
  u32,
  u8,
  viewOf,
} from '../../../device/wire/index.js';
import { NO_UD_ENDPOINT } from './ud-header.js';

// The messages by which endpoints of ud come to know each other: `uct_ud_ctl_hdr_t` of uct/ib/ud/base/ud_def.h, UCX 1.13, with the gaps that its compiler leaves. To ask for a
// connection takes the asker's address behind that, as uct/ib/base/ib_iface.c packs it. What follows last is ours: UCX's Q_Key is the same everywhere, and its
// path MTU is settled by other means. UCX has no message for the end either.

export const UdControlType = {
  CREQ: 1,
  CREP: 2,
  GONE: 0x80,
} as const;

/** A message of UCP with the longest fields, and some data. */
export const MIN_UD_SEGMENT_BYTES = 256;
/** RoCE's longest packet. */
export const MAX_UD_SEGMENT_BYTES = 4096;
/** 0 and 1 are for management, and the last for groups. */
const MIN_QPN = 2;
const MAX_QPN = 0xff_fffe;
const GID_BYTES = 16;

/** Bits of an address: Ethernet; an address of IPv6; version 2 of RoCE. */
const ETHERNET = 0x08;
const IPV6 = 0x10;
const ROCE_V2 = 2 << 5;

const isEndpoint = (number: number): boolean => number < NO_UD_ENDPOINT;
const NO_ENDPOINT = 'which is no endpoint';

export const ASKER = struct({
  qpn: only(u24, (qpn) => qpn >= MIN_QPN && qpn <= MAX_QPN, 'which is nobody’s'),
  endpoint: only(u24, isEndpoint, NO_ENDPOINT),
});
export const CONNECTION = struct({ connection: u32, path: only(u8, (path) => path === 0, 'and there is one path') });
export const ANSWER = struct({ endpoint: only(u32, isEndpoint, NO_ENDPOINT) });

const OURS = handshake('VUCT', 1, {
  reserved: reserved(u8),
  segmentBytes: range(u16, MIN_UD_SEGMENT_BYTES, MAX_UD_SEGMENT_BYTES),
  qkey: u32,
});

export const BODY_AT = 4;
export const CONNECTION_AT = 12;
/** With the name of the host and the process, which are for people: here 0, and not looked at. */
export const CONTROL_BYTES = 40;
const ADDRESS_BYTES = 1 + GID_BYTES;
const CREQ_BYTES = CONTROL_BYTES + ADDRESS_BYTES + OURS.bytes;
const CREP_BYTES = CONTROL_BYTES + OURS.bytes;
/** Bytes of the longest of them. */
export const MAX_UD_CONTROL_BYTES = CREQ_BYTES;

/** What an end says of itself, whoever asks. */
export type UdSelf = ValuesOf<typeof OURS>;

export interface UdConnectRequest extends UdSelf {
  readonly type: typeof UdControlType.CREQ;
  /** The asker's queue pair. */
  readonly qpn: number;
  readonly endpoint: number;
  readonly connection: number;
  readonly gid: Gid;
}

export interface UdConnectReply extends UdSelf {
  readonly type: typeof UdControlType.CREP;
  readonly endpoint: number;
}

export interface UdGone {
  readonly type: typeof UdControlType.GONE;
  readonly endpoint: number;
}

export type UdControl = UdConnectRequest | UdConnectReply | UdGone;

/** Writes a message at the beginning of `into`, which has room. @returns its bytes */
export function encodeUdControl(into: Uint8Array, control: UdControl): number {
  const view = viewOf(into);
  into.fill(0, 0, CONTROL_BYTES);
  into[0] = control.type;
  switch (control.type) {
    case UdControlType.CREQ: {
      const { connection, gid } = control;
      ASKER.write(view, BODY_AT, control);
      CONNECTION.write(view, CONNECTION_AT, { connection, path: 0 });
      into[CONTROL_BYTES] = addressFlags(gid);
      into.set(gid, CONTROL_BYTES + 1);
      return OURS.write(view, CONTROL_BYTES + ADDRESS_BYTES, control);
    }
    case UdControlType.CREP:
      ANSWER.write(view, BODY_AT, control);
      return OURS.write(view, CONTROL_BYTES, control);
    case UdControlType.GONE:
      ANSWER.write(view, BODY_AT, control);
      return CONTROL_BYTES;
  }
}

/** The message that bytes are, or a sentence that says what is wrong with them. */
export function decodeUdControl(bytes: Uint8Array): UdControl | string {
  if (bytes.length < CONTROL_BYTES) return `it has ${bytes.length} bytes, and ${CONTROL_BYTES} are needed`;
  const view = viewOf(bytes);
  switch (bytes[0]) {
    case UdControlType.CREQ:
      return lengthProblem(bytes, CREQ_BYTES) ?? decodeRequest(bytes, view);
    case UdControlType.CREP: {
      const problem = lengthProblem(bytes, CREP_BYTES);
      if (problem !== undefined) return problem;
      const answer = ANSWER.parse(view, BODY_AT);
      if (typeof answer === 'string') return answer;
      const ours = OURS.parse(view, CONTROL_BYTES);
      return typeof ours === 'string' ? ours : { type: UdControlType.CREP, ...answer, ...ours };
    }
    case UdControlType.GONE: {
      const problem = lengthProblem(bytes, CONTROL_BYTES);
      if (problem !== undefined) return problem;
      const answer = ANSWER.parse(view, BODY_AT);
      return typeof answer === 'string' ? answer : { type: UdControlType.GONE, ...answer };
    }
    default:
      return `the type is ${bytes[0]}, which is none`;
  }
}

function decodeRequest(bytes: Uint8Array, view: DataView): UdConnectRequest | string {
  const asker = ASKER.parse(view, BODY_AT);
  if (typeof asker === 'string') return asker;
  const request = CONNECTION.parse(view, CONNECTION_AT);
  if (typeof request === 'string') return request;
  const gid = bytes.slice(CONTROL_BYTES + 1, CONTROL_BYTES + ADDRESS_BYTES);
  const flags = bytes[CONTROL_BYTES];
  if (flags !== addressFlags(gid)) return `the address has the flags ${flags}`;
  const ours = OURS.parse(view, CONTROL_BYTES + ADDRESS_BYTES);
  if (typeof ours === 'string') return ours;
  return { type: UdControlType.CREQ, ...asker, connection: request.connection, gid, ...ours };
}

function lengthProblem({ length }: Uint8Array, expected: number): string | undefined {
  return length === expected ? undefined : `it has ${length} bytes, and is one of ${expected}`;
}

function addressFlags(gid: Gid): number {
  return ETHERNET | ROCE_V2 | (isIpv4Gid(gid) ? 0 : IPV6);
}
