import { WcFlags, WcOpcode } from '../../src/spec/index.js';

/** What a receiver must see of a message that consumes a receive. */
export interface Message {
  readonly opcode: WcOpcode;
  readonly wcFlags: number;
  readonly byteLen: number;
  readonly immData: number;
  /** Bytes that go into the receive buffer: none for a WRITE with immediate data. */
  readonly payload: Uint8Array;
}

export function sendMessage(payload: Uint8Array, immData?: number): Message {
  const wcFlags = immData === undefined ? 0 : WcFlags.WITH_IMM;
  return { opcode: WcOpcode.RECV, wcFlags, byteLen: payload.length, immData: immData ?? 0, payload };
}

export function invalidateMessage(payload: Uint8Array, rkey: number): Message {
  return { opcode: WcOpcode.RECV, wcFlags: WcFlags.WITH_INV, byteLen: payload.length, immData: rkey, payload };
}

export function writeMessage(byteLen: number, immData: number): Message {
  const payload = new Uint8Array(0);
  return { opcode: WcOpcode.RECV_RDMA_WITH_IMM, wcFlags: WcFlags.WITH_IMM, byteLen, immData, payload };
}
