import { AccessFlags, WcOpcode, WrOpcode } from '../../spec/index.js';
import { Opcode } from '../../wire/index.js';

/** How a work request looks on the wire and in its completion. */
export interface RequestKind {
  /** Opcode of the packet by its place in the message; a request of one packet uses `only` (PROTOCOL.md 2.2). */
  readonly first: number;
  readonly middle: number;
  readonly last: number;
  readonly only: number;
  readonly wcOpcode: number;
  /** A READ: packets are responses, asked for in pieces. */
  readonly read: boolean;
  readonly atomic: boolean;
  /** Whether the data may stand in the work queue entry itself. */
  readonly inline: boolean;
  /** Access that the local memory must allow. */
  readonly localAccess: number;
}

function message(first: number, middle: number, last: number, only: number, wcOpcode: number): RequestKind {
  return { first, middle, last, only, wcOpcode, read: false, atomic: false, inline: true, localAccess: 0 };
}

function fetch(only: number, wcOpcode: number, atomic: boolean): RequestKind {
  return {
    first: only,
    middle: only,
    last: only,
    only,
    wcOpcode,
    read: !atomic,
    atomic,
    inline: false,
    localAccess: AccessFlags.LOCAL_WRITE,
  };
}

/** Requests that an RC QP executes, by `WrOpcode`; undefined for those it does not. */
export const rcRequests: readonly (RequestKind | undefined)[] = (() => {
  const { RC_SEND_FIRST, RC_SEND_MIDDLE, RC_WRITE_FIRST, RC_WRITE_MIDDLE } = Opcode;
  const table: (RequestKind | undefined)[] = [];
  table[WrOpcode.SEND] = message(
    RC_SEND_FIRST,
    RC_SEND_MIDDLE,
    Opcode.RC_SEND_LAST,
    Opcode.RC_SEND_ONLY,
    WcOpcode.SEND,
  );
  table[WrOpcode.SEND_WITH_IMM] = message(
    RC_SEND_FIRST,
    RC_SEND_MIDDLE,
    Opcode.RC_SEND_LAST_IMM,
    Opcode.RC_SEND_ONLY_IMM,
    WcOpcode.SEND,
  );
  table[WrOpcode.SEND_WITH_INV] = message(
    RC_SEND_FIRST,
    RC_SEND_MIDDLE,
    Opcode.RC_SEND_LAST_INVALIDATE,
    Opcode.RC_SEND_ONLY_INVALIDATE,
    WcOpcode.SEND,
  );
  table[WrOpcode.RDMA_WRITE] = message(
    RC_WRITE_FIRST,
    RC_WRITE_MIDDLE,
    Opcode.RC_WRITE_LAST,
    Opcode.RC_WRITE_ONLY,
    WcOpcode.RDMA_WRITE,
  );
  table[WrOpcode.RDMA_WRITE_WITH_IMM] = message(
    RC_WRITE_FIRST,
    RC_WRITE_MIDDLE,
    Opcode.RC_WRITE_LAST_IMM,
    Opcode.RC_WRITE_ONLY_IMM,
    WcOpcode.RDMA_WRITE,
  );
  table[WrOpcode.RDMA_READ] = fetch(Opcode.RC_READ_REQUEST, WcOpcode.RDMA_READ, false);
  table[WrOpcode.ATOMIC_CMP_AND_SWP] = fetch(Opcode.RC_COMPARE_SWAP, WcOpcode.COMP_SWAP, true);
  table[WrOpcode.ATOMIC_FETCH_AND_ADD] = fetch(Opcode.RC_FETCH_ADD, WcOpcode.FETCH_ADD, true);
  return table;
})();
