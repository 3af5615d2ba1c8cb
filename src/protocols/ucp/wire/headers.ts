import { AtomicOp, isAtomicOp } from './am-id.js';
import {
  type Field,
  i8,
  only,
  struct,
  u16,
  u32,
  u53,
  u64,
  u8,
  type ValuesOf,
  viewOf,
} from '../../../device/wire/index.js';
import { isUcsStatus } from './statuses.js';

// What UCP packs before and behind the data of its messages (ucp/tag/eager.h, ucp/core/ucp_am.h, ucp/rndv/rndv.h, ucp/rma/rma.h of UCX 1.13), byte for byte.

/** UCX numbers kinds of memory; here there is that of hosts, 0. */
const memoryType: Field<number> = only(u32, (type) => type === 0, 'and there is no such memory here');
const status = only(i8, isUcsStatus, 'which is no status');
const atomicOp = only(u8, isAtomicOp, 'which is no atomic');
const atomicLength = only(u8, (length) => length === 4 || length === 8, 'which is neither 4 nor 8');

/** Bits of the flags of an active message, as its sender gave them. */
export const AmFlags = {
  REPLY: 0x1,
  EAGER: 0x2,
  RNDV: 0x4,
} as const;

const KNOWN_AM_FLAGS: number = AmFlags.REPLY | AmFlags.EAGER | AmFlags.RNDV;

export const RtsOpcode = {
  TAG: 0,
  AM: 1,
} as const;
export type RtsOpcode = (typeof RtsOpcode)[keyof typeof RtsOpcode];

/** Who asks, so that it can be answered: its endpoint and its request, by its own numbers. A request of 0 wants no answer. */
const asker = { epId: u53, requestId: u53 };
const reply = { requestId: u53, status };
const eager = { tag: u64 };
const eagerFirst = { tag: u64, total: u53, messageId: u53 };
const amHeader = {
  amId: u16,
  flags: only(u16, (flags) => (flags & ~KNOWN_AM_FLAGS) === 0, 'with flags that nobody knows'),
  /** Bytes of the header that the sender's program gave. */
  headerBytes: u32,
};

/** The fields at the beginning of each message. */
export const Heads = {
  EAGER_ONLY: struct(eager),
  EAGER_FIRST: struct(eagerFirst),
  EAGER_MIDDLE: struct({ messageId: u53, offset: u53 }),
  EAGER_SYNC_ONLY: struct({ ...eager, ...asker }),
  EAGER_SYNC_FIRST: struct({ ...eagerFirst, ...asker }),
  EAGER_SYNC_ACK: struct(reply),
  /** `header` is a tag, or for AM what {@link AM_HEADER} says. */
  RNDV_RTS: struct({
    header: u64,
    ...asker,
    address: u64,
    size: u53,
    opcode: only(u8, (opcode) => opcode === RtsOpcode.TAG || opcode === RtsOpcode.AM, 'which is no receiver'),
  }),
  RNDV_ATS: struct(reply),
  RNDV_RTR: struct({ sendRequestId: u53, receiveRequestId: u53, address: u64, size: u53, offset: u53 }),
  RNDV_DATA: struct({ requestId: u53, offset: u53 }),
  RNDV_ATP: struct(reply),
  STREAM_DATA: struct({ epId: u53 }),
  PUT: struct({ address: u64, epId: u53, memoryType }),
  CMPL: struct({ epId: u53 }),
  GET_REQ: struct({ address: u64, length: u53, ...asker, memoryType }),
  GET_REP: struct({ requestId: u53 }),
  ATOMIC_REQ: struct({ address: u64, ...asker, length: atomicLength, opcode: atomicOp }),
  ATOMIC_REP: struct({ requestId: u53 }),
  AM_SINGLE: struct(amHeader),
  AM_FIRST: struct(amHeader),
  AM_MIDDLE: struct({ offset: u53 }),
  AM_SINGLE_REPLY: struct(amHeader),
  RNDV_CANCEL: struct({ requestId: u53 }),
} as const;

/**
 * The fields of an active message that has come as a whole, or a sentence that says what is wrong with them. It comes so often that its fields are read
 * without a view of them.
 */
export function amSingleIn(bytes: Uint8Array): ValuesOf<typeof Heads.AM_SINGLE> | string {
  const fields = Heads.AM_SINGLE;
  if (bytes.length < fields.bytes) return fields.parse(viewOf(bytes), 0);
  const amId = bytes[0] | (bytes[1] << 8);
  const flags = bytes[2] | (bytes[3] << 8);
  const headerBytes = (bytes[4] | (bytes[5] << 8) | (bytes[6] << 16) | (bytes[7] << 24)) >>> 0;
  if ((flags & ~KNOWN_AM_FLAGS) !== 0) return fields.parse(viewOf(bytes), 0);
  if (headerBytes > bytes.length - fields.bytes) return `its headers alone are longer than its ${bytes.length} bytes`;
  return { amId, flags, headerBytes };
}

/** What an AM says of itself in the `header` of a rendezvous. */
export const AM_HEADER = Heads.AM_SINGLE;

/** The fields at the end of those that have any: alignment of the data is that of its buffer so. */
export const Feet = {
  AM_FIRST: struct({ messageId: u53, epId: u53, total: u53 }),
  AM_MIDDLE: struct({ messageId: u53, epId: u53 }),
  AM_SINGLE_REPLY: struct({ epId: u53 }),
} as const;

/** Behind ATS and ATP: how many bytes that is about, where it is not all. */
export const ACK_SIZE = struct({ size: u53 });

/** How many operands an atomic has. */
export function operandsOf(opcode: number): number {
  return opcode === AtomicOp.CSWAP ? 2 : 1;
}
