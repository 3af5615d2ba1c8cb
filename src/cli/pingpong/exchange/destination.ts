import { type Gid, isIpv4Gid } from '../../../entry/index.js';
import { ToolError } from '../../kit/errors.js';
import { gidText } from '../../kit/addresses.js';

/** What one side of a ping-pong tells the other (protocol/tools.md 7.1). */
export interface Destination {
  readonly lid: number;
  readonly qpn: number;
  readonly psn: number;
  readonly gid: Gid;
}

/** Bytes of an encoded destination: the text `LLLL:QQQQQQ:PPPPPP:` and 32 hex digits, and a NUL. */
export const DESTINATION_BYTES = 52;

const FORM = /^([0-9a-f]{4}):([0-9a-f]{6}):([0-9a-f]{6}):([0-9a-f]{32})\0$/i;

const NO_GID: Gid = new Uint8Array(16);
/** Stands for an absent queue pair where a fixed number of destinations is exchanged. */
export const NOWHERE: Destination = { lid: 0, qpn: 0, psn: 0, gid: NO_GID };

export function encodeDestination({ lid, qpn, psn, gid }: Destination): Buffer {
  const numbers = [lid.toString(16).padStart(4, '0'), ...[qpn, psn].map((n) => n.toString(16).padStart(6, '0'))];
  return Buffer.from(`${numbers.join(':')}:${Buffer.from(gid).toString('hex')}\0`, 'latin1');
}

/** @throws ToolError when the bytes are not of that form; `tool` is who should have sent them */
export function decodeDestination(bytes: Uint8Array, tool: string): Destination {
  const text = Buffer.from(bytes).toString('latin1');
  const match = FORM.exec(text);
  if (match === null) {
    throw new ToolError(`The peer sent ${JSON.stringify(text)} where LID:QPN:PSN:GID was expected; is it an ${tool}?`);
  }
  const [, lid, qpn, psn, gid] = match;
  return {
    lid: parseInt(lid, 16),
    qpn: parseInt(qpn, 16),
    psn: parseInt(psn, 16),
    gid: new Uint8Array(Buffer.from(gid, 'hex')),
  };
}

/** @throws ToolError when no packet of ours can go to the peer's GID */
export function refuseUnreachable(own: Gid, remote: Gid): void {
  if (remote.every((byte) => byte === 0)) {
    throw new ToolError(
      'The peer sent no GID, and RoCE has no other address: start it with -g INDEX (its ibv_devinfo -v lists them).',
    );
  }
  if (isIpv4Gid(own) === isIpv4Gid(remote)) return;
  const family = isIpv4Gid(remote) ? 'IPv4' : 'IPv6';
  throw new ToolError(
    `The peer's GID is ${gidText(remote)} and ours ${gidText(own)}: ` +
      `start one of both with an address of the other's family (here: --addr and an ${family} address).`,
  );
}
