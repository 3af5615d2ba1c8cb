import { type ErrnoName, type Gid, isIpv4Gid, PrivateDataBytes } from '../ibta/index.js';
import type { CmAccept, CmConnect, CmParameters, CmQp } from './command.js';

/** A command that was refused; nothing has changed then. */
export class CmError extends Error {
  override readonly name = 'CmError';

  constructor(
    readonly errno: ErrnoName,
    message: string,
  ) {
    super(message);
  }
}

/**
 * What no message can say is refused before anything has changed. Whoever passes commands on checks them as well, with
 * advice for the program; a mistake there must not reach the encoder halfway through.
 */

type Bound = readonly [name: string, value: number | undefined, least: number, most: number];

function requireWithin(bounds: readonly Bound[]): void {
  for (const [name, value, least, most] of bounds)
    if (value !== undefined && (!Number.isInteger(value) || value < least || value > most))
      throw new CmError('EINVAL', `${name} is ${value}; it is a number from ${least} to ${most}`);
}

/** What the encoder takes for one bit is true or false. */
function requireFlags(flags: Readonly<Record<string, boolean | undefined>>): void {
  for (const [name, value] of Object.entries(flags))
    if (value !== undefined && typeof value !== 'boolean')
      throw new CmError('EINVAL', `${name} is not a flag; it is true or false`);
}

/** @throws CmError EINVAL for more private data than the message has room for */
export function checkPrivateData({ length }: Uint8Array, most: number): void {
  if (length > most) throw new CmError('EINVAL', `there are ${length} bytes of private data, and room for ${most}`);
}

const boundsOf = (parameters: CmParameters): readonly Bound[] => [
  ['responderResources', parameters.responderResources, 0, 0xff],
  ['initiatorDepth', parameters.initiatorDepth, 0, 0xff],
  ['rnrRetryCount', parameters.rnrRetryCount, 0, 7],
];
const boundOf = (qp: CmQp | undefined): Bound => ['the number of the queue pair', qp?.qpNum, 0, 0xffffff];

/** @throws CmError EINVAL for what a request cannot say */
export function checkConnect(connect: CmConnect, localGid: Gid, datagrams: boolean): void {
  requireWithin([
    ...boundsOf(connect),
    boundOf(connect.qp),
    ['port', connect.port, 1, 0xffff],
    ['retryCount', connect.retryCount, 0, 7],
    ['trafficClass', connect.trafficClass, 0, 0xff],
    ['ackTimeout', connect.ackTimeout, 0, 31],
  ]);
  requireFlags({ flowControl: connect.flowControl, srq: connect.qp?.srq });
  checkPrivateData(connect.privateData, datagrams ? PrivateDataBytes.RESOLVE : PrivateDataBytes.CONNECT);
  if (isIpv4Gid(localGid) !== isIpv4Gid(connect.destination))
    throw new CmError('EINVAL', 'the device and the destination have addresses of different IP versions');
}

/** @throws CmError EINVAL for what an answer cannot say */
export function checkAccept(accept: CmAccept, datagrams: boolean): void {
  requireWithin([
    ...boundsOf(accept),
    boundOf(accept.qp),
    ['qkey', accept.qkey, 0, 0xffffffff],
    ['ackTimeout', accept.ackTimeout, 0, 31],
  ]);
  requireFlags({ flowControl: accept.flowControl, srq: accept.qp.srq });
  checkPrivateData(accept.privateData, datagrams ? PrivateDataBytes.RESOLVED : PrivateDataBytes.ACCEPT);
}
