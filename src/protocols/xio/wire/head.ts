import { be53, viewOf } from '../../../device/wire/index.js';
import { Flag, type Kind, KNOWN_FLAGS, rulesOf } from './kinds.js';
import { statusName, XioStatus } from './status.js';

// What stands before a message's header: a TLV, as of all messages of Accelio, and the fields that its session and its request headers have, once. All big-endian.
//
//   0 "XIOP" 4 | 4 kind 4 | 8 length 8: the bytes of the head that follow
//   16 number 8 | 24 received 8 | 32 granted bytes 8 | 40 granted messages 8 | 48 about 8
//   56 status 4 | 60 body 4 | 64 longest response 4 | 68 flags 2 | 70 header 2 | 72 token 16 | 88 header

const MAGIC = 0x5849_4f50;
export const TLV_BYTES = 16;
/** Bytes of a head without the program's header. */
export const HEAD_BYTES = 88;
const TOKEN_OFFSET = 72;
const TOKEN_END = 88;

export interface Head {
  kind: Kind;
  /** Of a sequenced kind, from 1 on; 0 of others. */
  sn: number;
  ackSn: number;
  /** Bytes of bodies of requests and messages that the receiver of this may have sent, in all. */
  grantedBytes: number;
  /** Requests and messages likewise. */
  grantedMessages: number;
  about: number;
  status: XioStatus;
  bodyBytes: number;
  /** Of a request: the longest body of a response. */
  maxResponseBytes: number;
  flags: number;
  headerBytes: number;
}

export function emptyHead(kind: Kind): Head {
  return {
    kind,
    sn: 0,
    ackSn: 0,
    grantedBytes: 0,
    grantedMessages: 0,
    about: 0,
    status: XioStatus.XIO_E_SUCCESS,
    bodyBytes: 0,
    maxResponseBytes: 0,
    flags: 0,
    headerBytes: 0,
  };
}

/**
 * Writes a head, and the program's header behind it.
 *
 * @param bytes has room for both
 * @returns how long both are
 */
export function encodeHead(bytes: Uint8Array, head: Head, header: Uint8Array, token: Uint8Array | undefined): number {
  const view = viewOf(bytes);
  const length = HEAD_BYTES + header.length;
  view.setUint32(0, MAGIC);
  view.setUint32(4, head.kind);
  be53.write(view, 8, length - TLV_BYTES);
  be53.write(view, 16, head.sn);
  be53.write(view, 24, head.ackSn);
  be53.write(view, 32, head.grantedBytes);
  be53.write(view, 40, head.grantedMessages);
  be53.write(view, 48, head.about);
  view.setUint32(56, head.status);
  view.setUint32(60, head.bodyBytes);
  view.setUint32(64, head.maxResponseBytes);
  view.setUint16(68, head.flags);
  view.setUint16(70, header.length);
  if (token === undefined) bytes.fill(0, TOKEN_OFFSET, TOKEN_END);
  else bytes.set(token, TOKEN_OFFSET);
  bytes.set(header, HEAD_BYTES);
  return length;
}

/**
 * Reads a head.
 *
 * @returns what cannot be true of it, or undefined
 */
export function decodeHead(bytes: Uint8Array, head: Head): string | undefined {
  if (bytes.length < HEAD_BYTES) return `a head has ${bytes.length} bytes, where ${HEAD_BYTES} are the least`;
  const view = viewOf(bytes);
  if (view.getUint32(0) !== MAGIC) return 'a message does not begin with "XIOP"';
  const length = be53.read(view, 8);
  if (length !== bytes.length - TLV_BYTES)
    return `a message says that ${length} bytes follow, where ${bytes.length - TLV_BYTES} do`;
  const kind = view.getUint32(4);
  const rules = rulesOf(kind);
  if (rules === undefined) return `a message is of kind 0x${kind.toString(16)}, which does not exist`;
  // It has rules, so it is one.
  head.kind = kind as Kind;
  head.sn = be53.read(view, 16);
  head.ackSn = be53.read(view, 24);
  head.grantedBytes = be53.read(view, 32);
  head.grantedMessages = be53.read(view, 40);
  head.about = be53.read(view, 48);
  head.bodyBytes = view.getUint32(60);
  head.maxResponseBytes = view.getUint32(64);
  head.flags = view.getUint16(68);
  head.headerBytes = view.getUint16(70);
  return statusProblem(view.getUint32(56), head) ?? fieldsProblem(head, bytes.length, rules);
}

function statusProblem(status: number, head: Head): string | undefined {
  if (statusName(status) === undefined) return `a message has status ${status}, which does not exist`;
  head.status = status;
  return undefined;
}

function fieldsProblem(
  head: Head,
  length: number,
  { name, isSequenced, isAbout, carries }: NonNullable<ReturnType<typeof rulesOf>>,
): string | undefined {
  const { sn, ackSn, grantedBytes, grantedMessages, about, flags, headerBytes, bodyBytes } = head;
  if (Math.max(sn, ackSn, grantedBytes, grantedMessages, about) > Number.MAX_SAFE_INTEGER)
    return `${name} has a number beyond 2^53`;
  if (sn > 0 !== isSequenced) return `${name} has number ${sn}`;
  if (about > 0 !== isAbout) return `${name} is about message ${about}`;
  if ((flags & ~KNOWN_FLAGS) !== 0) return `${name} has flags 0x${flags.toString(16)}, which do not all exist`;
  if (HEAD_BYTES + headerBytes !== length)
    return `${name} says that it has a header of ${headerBytes} bytes, where ${length - HEAD_BYTES} are there`;
  if (headerBytes > 0 && carries === 'nothing') return `${name} has a header, where it has none`;
  if (bodyBytes > 0 && carries !== 'header and body') return `${name} has a body, where it has none`;
  return undefined;
}

/** The program's header behind a head. Shares its memory. */
export function headerOf(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(HEAD_BYTES);
}

export function tokenOf(bytes: Uint8Array, head: Head): Uint8Array | undefined {
  return (head.flags & Flag.TOKEN) === 0 ? undefined : bytes.subarray(TOKEN_OFFSET, TOKEN_END);
}
