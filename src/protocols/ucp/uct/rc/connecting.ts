import { connect, type Connection, type ConnectionRequest, type ConnectOptions } from '../../../../api/rdmacm/index.js';
import { VerbsError } from '../../../../api/verbs/index.js';
import { establish } from '../../../core/index.js';
import type { AmHandlers } from '../endpoint.js';
import type { MemoryDomain } from '../memory-domain.js';
import { behind, type Words, decodeHello, encodeHello, type Hello, HELLO_BYTES } from '../hello.js';
import { UctRcEndpoint, SEGMENT_BYTES } from './rc-endpoint.js';

/** Messages that each peer may send before any is received. */
const WINDOW = 32;

export interface RcInterface {
  readonly domain: MemoryDomain;
  readonly handlers: AmHandlers;
  /** Active messages that a peer may send before any is received, 1 to 1024. Default 32. */
  readonly window?: number;
  readonly words?: Words | undefined;
}

export type RcWhere = Pick<ConnectOptions, 'host' | 'port' | 'signal' | 'timeoutMs'>;

/**
 * Connects to a worker.
 *
 * @throws VerbsError (the promise rejects) EPROTO where the peer speaks something else, otherwise as `connect` of the root
 */
export function connectRc(own: RcInterface, where: RcWhere): Promise<UctRcEndpoint> {
  const { context } = own.domain.engine;
  return establishRc(own, undefined, (param) => connect({ ...where, ...param, context }));
}

/**
 * Accepts a worker that connects; one that speaks something else is refused.
 *
 * @param signal ends the attempt
 * @throws VerbsError (the promise rejects) EPROTO likewise, otherwise as `ConnectionRequest.accept`
 */
export function acceptRc(own: RcInterface, request: ConnectionRequest, signal?: AbortSignal): Promise<UctRcEndpoint> {
  const peer = decodeHello(request.privateData);
  if (typeof peer !== 'string') return establishRc(own, peer, (param) => request.accept({ ...param, signal }));
  request.reject();
  return Promise.reject(foreign(peer));
}

type Param = Required<Pick<ConnectOptions, 'createQp' | 'privateData' | 'rnrRetryCount'>>;

/** What the program of a worker that connects says; or what is wrong with what it says of itself. */
export function rcWordsOf({ privateData }: ConnectionRequest): Uint8Array | string {
  const hello = decodeHello(privateData);
  return typeof hello === 'string' ? hello : privateData.subarray(HELLO_BYTES);
}

/** @param peer its hello, where that is known before the connection exists */
function establishRc(
  { domain, handlers, window = WINDOW, words = {} }: RcInterface,
  peer: Hello | undefined,
  connected: (param: Param) => Promise<Connection>,
): Promise<UctRcEndpoint> {
  const own = { window, segmentBytes: SEGMENT_BYTES };
  const privateData = behind(encodeHello(own), words);
  return establish(
    (id) => new UctRcEndpoint(domain, handlers, id, own),
    (createQp) => connected({ createQp, privateData, rnrRetryCount: 7 }),
    (endpoint, connection) => {
      const said = peer ?? decodeHello(connection.privateData);
      if (typeof said === 'string') throw foreign(said);
      words.onSaid?.(connection.privateData.subarray(HELLO_BYTES));
      endpoint.begin(connection, said);
      return endpoint;
    },
  );
}

function foreign(problem: string): VerbsError {
  const message = `what the peer says of itself is wrong: ${problem}`;
  return new VerbsError('ucp', { errno: 'EPROTO', message, advice: 'Is that a worker of this package?' });
}
