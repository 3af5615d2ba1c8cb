import type { Gid } from '../../../entry/index.js';
import { ToolError } from '../../kit/errors.js';

/** What one side of ibv_xsrq_pingpong tells the other (protocol/tools.md 7.1). */
export interface XsrqDestination {
  readonly lid: number;
  readonly recvQpn: number;
  readonly sendQpn: number;
  /** Where the sequence of the teller's requests begins. */
  readonly psn: number;
  readonly srqn: number;
  readonly gid: Gid;
}

/** Bytes of an encoded destination: five numbers in hex, 32 hex digits, colons between them, and a NUL. */
export const XSRQ_DESTINATION_BYTES = 66;

const FORM = /^([0-9a-f]{4}):([0-9a-f]{6}):([0-9a-f]{6}):([0-9a-f]{6}):([0-9a-f]{6}):([0-9a-f]{32})\0$/i;

export function encodeXsrqDestination({ lid, recvQpn, sendQpn, psn, srqn, gid }: XsrqDestination): Buffer {
  const numbers = [recvQpn, sendQpn, psn, srqn].map((number) => number.toString(16).padStart(6, '0'));
  const words = [lid.toString(16).padStart(4, '0'), ...numbers, Buffer.from(gid).toString('hex')];
  return Buffer.from(`${words.join(':')}\0`, 'latin1');
}

/** @throws ToolError when the bytes are not of that form */
export function decodeXsrqDestination(bytes: Uint8Array): XsrqDestination {
  const text = Buffer.from(bytes).toString('latin1');
  const match = FORM.exec(text);
  if (match === null) {
    throw new ToolError(
      `The peer sent ${JSON.stringify(text)} where LID:QPN:QPN:PSN:SRQN:GID was expected; is it an ibv_xsrq_pingpong?`,
    );
  }
  const [lid, recvQpn, sendQpn, psn, srqn] = match.slice(1, 6).map((digits) => parseInt(digits, 16));
  return { lid, recvQpn, sendQpn, psn, srqn, gid: new Uint8Array(Buffer.from(match[6], 'hex')) };
}
