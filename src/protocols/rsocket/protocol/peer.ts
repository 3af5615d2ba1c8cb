import { type ConnectionData, decodeConnectionData, RSOCKET_VERSION } from '../wire/index.js';
import { MAX_QUEUE } from './limits.js';
import { spanProblem } from './outgoing.js';

/** Buffers that an end can be told of at a time. */
export const TARGETS = 2;

/** What somebody says of itself, or why no stream can be made with it. */
export function readPeer(privateData: Uint8Array): ConnectionData | string {
  const peer = decodeConnectionData(privateData);
  if (peer === undefined) return `it says ${privateData.length} bytes of itself, too few for an rsocket`;
  return peerProblem(peer) ?? peer;
}

/** Why an end that says that of itself cannot be a peer. */
export function peerProblem({ version, credits, targets, data }: ConnectionData): string | undefined {
  if (version !== RSOCKET_VERSION)
    return `it speaks version ${version} of rsockets, this end version ${RSOCKET_VERSION}`;
  if (credits === 0 || credits > MAX_QUEUE) return `it has room for ${credits} messages`;
  if (targets.length !== TARGETS) return `it can be told of ${targets.length} buffers at a time, not of ${TARGETS}`;
  const problem = spanProblem(data);
  return problem && `it names ${problem}`;
}
