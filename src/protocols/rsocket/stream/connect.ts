import {
  connect as connectByCm,
  type CmId,
  type Connection,
  type CmConnectTarget,
  type ConnectionOptions,
  type ConnectOptions,
  TARGET_FIELDS,
} from '../../../api/rdmacm/index.js';
import { type FieldsOf, fieldsProblem, refuse } from '../../../api/verbs/index.js';
import { engineOf, establish } from '../../core/index.js';
import { lied, RsocketError } from '../errors.js';
import { peerProblem, type Sizes } from '../protocol/index.js';
import {
  type ConnectionData,
  decodeConnectionData,
  encodeConnectionData,
  RSOCKET_VERSION,
} from '../wire/connection-data.js';
import { Endpoint } from './endpoint.js';
import { clampedSizes, sizesOf, STREAM_FIELDS, type StreamOptions } from './options.js';
import { RsocketStream } from './rsocket-stream.js';
import type { RsocketStreamSocket } from './stream-socket.js';

/** What {@link connectStream} takes. */
export interface StreamConnectOptions
  extends
    StreamOptions,
    CmConnectTarget,
    Pick<ConnectOptions, 'localPort' | 'reuseAddr' | 'tos' | 'signal' | 'timeoutMs'> {}

const CONNECT_FIELDS: FieldsOf<StreamConnectOptions> = {
  ...STREAM_FIELDS,
  ...TARGET_FIELDS,
  localPort: true,
  tos: true,
  reuseAddr: true,
  signal: true,
  timeoutMs: true,
};

const NOTHING = new Uint8Array(0);

/**
 * Connects to an rsocket that listens: one of this package, or of librdmacm. When that fails or is aborted, nothing is left of it.
 *
 * @throws VerbsError (the promise rejects) ECONNREFUSED when nobody listens there, ETIMEDOUT when nobody answers; RsocketError EPROTO when the peer is no
 *   rsocket, EOPNOTSUPP when it is one of another version; the signal's reason; EINVAL for wrong arguments; otherwise as `connect` of the root
 */
export async function connectStream(options: StreamConnectOptions): Promise<RsocketStreamSocket> {
  const call = 'rconnect';
  refuse(call, fieldsProblem('options', options, CONNECT_FIELDS));
  const { sqSize, rqSize, inlineBytes, sendBufferBytes, receiveBufferBytes, iomapSize, ...where } = options;
  const sizes = sizesOf(options);
  return establishStream(sizes, where, connectByCm);
}

/**
 * Makes a stream of a connection that `by` makes.
 *
 * @param by calls rdma_cm with what it is given, which says what this end says of itself once its queue pair is there
 * @throws what `by` throws; RsocketError when the peer is not one to talk to
 */
export function establishStream<Where extends object>(
  asked: Sizes,
  where: Where,
  by: (options: Where & ConnectionOptions) => Promise<Connection>,
): Promise<RsocketStream> {
  let own: Uint8Array = NOTHING;
  const make = (id: CmId): Endpoint => {
    const endpoint = new Endpoint(id, clampedSizes(asked, engineOf(id).context.queryDevice()));
    own = encodeConnectionData(endpoint.own);
    return endpoint;
  };
  const connect = (createQp: (id: CmId) => void): Promise<Connection> =>
    by({
      ...where,
      createQp,
      flowControl: true,
      retryCount: 7,
      rnrRetryCount: 7,
      responderResources: 0,
      initiatorDepth: 0,
      // Asked for once there is a queue pair.
      get privateData() {
        return own;
      },
    });
  return establish(
    make,
    connect,
    (endpoint, connection) => new RsocketStream(connection, endpoint, requirePeer(connection.privateData)),
  );
}

/** @throws RsocketError */
function requirePeer(privateData: Uint8Array): ConnectionData {
  const peer = decodeConnectionData(privateData);
  if (peer === undefined) throw lied(`it says ${privateData.length} bytes of itself, too few for an rsocket`);
  const problem = peerProblem(peer);
  if (problem === undefined) return peer;
  if (peer.version === RSOCKET_VERSION) throw lied(problem);
  throw new RsocketError('rconnect', {
    errno: 'EOPNOTSUPP',
    message: `the peer is no rsocket of version ${RSOCKET_VERSION}: ${problem}`,
    advice: '',
  });
}
