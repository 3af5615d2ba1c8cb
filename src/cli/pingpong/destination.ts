import { type Gid } from '../../index.js';
import { ToolError } from '../errors.js';

/** What one side of a ping-pong tells the other (PROTOCOL.md 6.1). */
export interface Destination {
  readonly lid: number;
  readonly qpn: number;
  readonly psn: number;
  readonly gid: Gid;
}

/** Bytes of an encoded destination: the text `LLLL:QQQQQQ:PPPPPP:` and 32 hex digits, and a NUL. */
export const DESTINATION_BYTES = 52;

const FORM = /^([0-9a-f]{4}):([0-9a-f]{6}):([0-9a-f]{6}):([0-9a-f]{32})\0$/i;

export function encodeDestination({ lid, qpn, psn, gid }: Destination): Buffer {
  const numbers = [lid.toString(16).padStart(4, '0'), ...[qpn, psn].map((n) => n.toString(16).padStart(6, '0'))];
  return Buffer.from(`${numbers.join(':')}:${Buffer.from(gid).toString('hex')}\0`, 'latin1');
}

/** @throws ToolError when the bytes are not of that form */
export function decodeDestination(bytes: Uint8Array): Destination {
  const text = Buffer.from(bytes).toString('latin1');
  const match = FORM.exec(text);
  if (match === null) {
    throw new ToolError(
      `The peer sent ${JSON.stringify(text)} where LID:QPN:PSN:GID was expected; is it an ibv_rc_pingpong?`,
    );
  }
  const [, lid, qpn, psn, gid] = match;
  return {
    lid: parseInt(lid, 16),
    qpn: parseInt(qpn, 16),
    psn: parseInt(psn, 16),
    gid: new Uint8Array(Buffer.from(gid, 'hex')),
  };
}
