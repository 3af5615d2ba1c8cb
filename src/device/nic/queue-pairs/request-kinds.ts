import { AccessFlags, WcOpcode, WrOpcode } from '../../ibta/index.js';
import { Opcode, opcodeBits, type OpcodeService } from '../../wire/index.js';

/** How a work request looks on the wire and in its completion. */
export interface RequestKind {
  /** Opcode of the packet by its place in the message; a request of one packet uses `only` (protocol/reliable.md 2.2). */
  readonly first: number;
  readonly middle: number;
  readonly last: number;
  readonly only: number;
  readonly wcOpcode: number;
  /** A READ: packets are responses, asked for in pieces. */
  readonly read: boolean;
  /** Answered by the eight bytes that it found. */
  readonly atomic: boolean;
  /** Answered by a READ response without data, as FLUSH and ATOMIC_WRITE are (protocol/packets.md 1.2). */
  readonly confirmed: boolean;
  /** Any of these three: one of those of which no more than `max_rd_atomic` may be outstanding. */
  readonly answered: boolean;
  /** Carried out without a packet; the opcodes mean nothing. */
  readonly local: boolean;
  /** Whether the data may stand in the work queue entry itself. */
  readonly inline: boolean;
  /** Access that the local memory must allow. */
  readonly localAccess: number;
}

const NO_ANSWER = { read: false, atomic: false, confirmed: false, answered: false, local: false };

function message(first: number, middle: number, last: number, only: number, wcOpcode: number): RequestKind {
  return { ...NO_ANSWER, first, middle, last, only, wcOpcode, inline: true, localAccess: 0 };
}

function fetch(only: number, wcOpcode: number, atomic: boolean): RequestKind {
  return {
    ...message(only, only, only, only, wcOpcode),
    read: !atomic,
    atomic,
    answered: true,
    inline: false,
    localAccess: AccessFlags.LOCAL_WRITE,
  };
}

function confirmed(only: number, wcOpcode: number, inline: boolean): RequestKind {
  return { ...message(only, only, only, only, wcOpcode), confirmed: true, answered: true, inline };
}

function local(wcOpcode: number): RequestKind {
  return { ...message(0, 0, 0, 0, wcOpcode), local: true, inline: false };
}

function send(last: number, only: number): RequestKind {
  return message(Opcode.RC_SEND_FIRST, Opcode.RC_SEND_MIDDLE, last, only, WcOpcode.SEND);
}

function write(last: number, only: number): RequestKind {
  return message(Opcode.RC_WRITE_FIRST, Opcode.RC_WRITE_MIDDLE, last, only, WcOpcode.RDMA_WRITE);
}

/** Requests that stand on the wire, by `WrOpcode`, as RC has them; other services have some of them. */
const onTheWire: readonly (readonly [WrOpcode, RequestKind])[] = [
  [WrOpcode.SEND, send(Opcode.RC_SEND_LAST, Opcode.RC_SEND_ONLY)],
  [WrOpcode.SEND_WITH_IMM, send(Opcode.RC_SEND_LAST_IMM, Opcode.RC_SEND_ONLY_IMM)],
  [WrOpcode.SEND_WITH_INV, send(Opcode.RC_SEND_LAST_INVALIDATE, Opcode.RC_SEND_ONLY_INVALIDATE)],
  [WrOpcode.RDMA_WRITE, write(Opcode.RC_WRITE_LAST, Opcode.RC_WRITE_ONLY)],
  [WrOpcode.RDMA_WRITE_WITH_IMM, write(Opcode.RC_WRITE_LAST_IMM, Opcode.RC_WRITE_ONLY_IMM)],
  [WrOpcode.RDMA_READ, fetch(Opcode.RC_READ_REQUEST, WcOpcode.RDMA_READ, false)],
  [WrOpcode.ATOMIC_CMP_AND_SWP, fetch(Opcode.RC_COMPARE_SWAP, WcOpcode.COMP_SWAP, true)],
  [WrOpcode.ATOMIC_FETCH_AND_ADD, fetch(Opcode.RC_FETCH_ADD, WcOpcode.FETCH_ADD, true)],
  [WrOpcode.FLUSH, confirmed(Opcode.RC_FLUSH, WcOpcode.FLUSH, false)],
  [WrOpcode.ATOMIC_WRITE, confirmed(Opcode.RC_ATOMIC_WRITE, WcOpcode.ATOMIC_WRITE, true)],
];

/** Requests that every connected service carries out without a packet (man ibv_post_send). */
const withoutPackets: readonly (readonly [WrOpcode, RequestKind])[] = [
  [WrOpcode.LOCAL_INV, local(WcOpcode.LOCAL_INV)],
  [WrOpcode.BIND_MW, local(WcOpcode.BIND_MW)],
];

/** The bits of an opcode that say which transport service it belongs to (protocol/packets.md 1.2). */
export function opcodeClass(service: OpcodeService): number {
  return service << 5;
}

type Kinds = readonly (RequestKind | undefined)[];

const tables = new Map<number, Kinds>();
const connectedTables = new Map<number, Kinds>();

/**
 * Requests that QPs of a transport service send, by `WrOpcode`; undefined for those that they do not.
 *
 * @param classBits what {@link opcodeClass} gives
 */
export function requestKinds(classBits: number): Kinds {
  const known = tables.get(classBits);
  if (known !== undefined) return known;
  const table: (RequestKind | undefined)[] = [];
  for (const [wrOpcode, kind] of onTheWire) {
    const { first, middle, last, only } = kind;
    // An operation that a service lacks has no opcode in its class.
    if (opcodeBits[classBits | only] === 0) continue;
    table[wrOpcode] = {
      ...kind,
      first: classBits | first,
      middle: classBits | middle,
      last: classBits | last,
      only: classBits | only,
    };
  }
  tables.set(classBits, table);
  return table;
}

/** As {@link requestKinds}, with those that QPs of a connected service carry out without a packet. */
export function connectedKinds(classBits: number): Kinds {
  const known = connectedTables.get(classBits);
  if (known !== undefined) return known;
  const table = [...requestKinds(classBits)];
  for (const [wrOpcode, kind] of withoutPackets) table[wrOpcode] = kind;
  connectedTables.set(classBits, table);
  return table;
}
