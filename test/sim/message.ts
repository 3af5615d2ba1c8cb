import { WcFlags, WcOpcode } from '../../src/device/ibta/index.js';
import type { Change } from './operation.js';

/** What a receiver must see of a message that consumes a receive. */
export interface Message {
  readonly opcode: WcOpcode;
  readonly wcFlags: number;
  readonly byteLen: number;
  /** Whether `immData`, immediate data or a key, is there at all. */
  readonly hasImmediate: boolean;
  readonly immData: number;
  /** Bytes that go into the receive buffer: none for a WRITE with immediate data. */
  readonly payload: Uint8Array;
  /** The shared receive queue that an XRC request names. */
  readonly srqn?: number;
  /** To be called once it has come. */
  readonly arrived?: () => void;
  /** What a WRITE with immediate data has done. */
  readonly change?: Change;
}

export function sendMessage(payload: Uint8Array, immData?: number): Message {
  const hasImmediate = immData !== undefined;
  const wcFlags = hasImmediate ? WcFlags.WITH_IMM : 0;
  return { opcode: WcOpcode.RECV, wcFlags, byteLen: payload.length, hasImmediate, immData: immData ?? 0, payload };
}

export function invalidateMessage(payload: Uint8Array, rkey: number, arrived: () => void): Message {
  return {
    opcode: WcOpcode.RECV,
    wcFlags: WcFlags.WITH_INV,
    byteLen: payload.length,
    hasImmediate: true,
    immData: rkey,
    payload,
    arrived,
  };
}

export function writeMessage(change: Change, immData: number): Message {
  const { length: byteLen } = change.bytes;
  const payload = new Uint8Array(0);
  return {
    opcode: WcOpcode.RECV_RDMA_WITH_IMM,
    wcFlags: WcFlags.WITH_IMM,
    byteLen,
    hasImmediate: true,
    immData,
    payload,
    change,
  };
}

/** The same message as a datagram, which comes with a header. */
export function datagram(message: Message, headerBytes: number): Message {
  return { ...message, byteLen: message.byteLen + headerBytes, wcFlags: message.wcFlags | WcFlags.GRH };
}
