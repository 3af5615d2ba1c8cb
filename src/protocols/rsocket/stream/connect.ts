import {
  connect as connectByCm,
  type CmId,
  type Connection,
  type ConnectionOptions,
} from '../../../api/rdmacm/index.js';
import { type Context, type FieldsOf, fieldsProblem, type OpenOptions, refuse } from '../../../api/verbs/index.js';
import { Engine } from '../../core/index.js';
import { lied, RsocketError } from '../errors.js';
import { peerProblem, type Sizes } from '../protocol/index.js';
import { type ConnectionData, decodeConnectionData, encodeConnectionData, RSOCKET_VERSION } from '../wire/index.js';
import { Endpoint, MIN_INLINE } from './endpoint.js';
import { clampedSizes, sizesOf, STREAM_FIELDS, type StreamOptions } from './options.js';
import { RsocketStream } from './rsocket-stream.js';
import type { RsocketStreamSocket } from './stream-socket.js';

/** What {@link connectStream} takes. */
export interface StreamConnectOptions extends StreamOptions {
  /** A name or an address. Of a name all addresses are tried, until somebody listens at one. */
  readonly host: string;
  /** 1 to 65535. */
  readonly port: number;
  /** An address of one's own to connect from. */
  readonly localAddress?: string;
  /** A port of one's own to connect from. Default: any that is free. */
  readonly localPort?: number;
  /** Whether others that say the same may have the port as well, as long as none of them listens (`SO_REUSEADDR`). Default false. */
  readonly reuseAddr?: boolean;
  /** Type of service of the packets, 8 bits, the peer's included (`IP_TOS`). Default 0. */
  readonly tos?: number;
  /** The device. Default: one that the program has, opened when it has none that leads there. */
  readonly context?: Context;
  /** How the device is opened where it is not there yet. */
  readonly open?: Omit<OpenOptions, 'address' | 'device'>;
  /** Gives up; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Milliseconds until the promise rejects with ETIMEDOUT. Default 10 000. */
  readonly timeoutMs?: number;
}

const CONNECT_FIELDS: FieldsOf<StreamConnectOptions> = {
  ...STREAM_FIELDS,
  host: true,
  port: true,
  localAddress: true,
  localPort: true,
  tos: true,
  reuseAddr: true,
  context: true,
  open: true,
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
  const sizes = sizesOf(call, options);
  return establish(sizes, where, connectByCm);
}

/**
 * Makes a stream of a connection that `by` makes.
 *
 * @param by calls rdma_cm with what it is given, which says what this end says of itself once its queue pair is there
 * @throws what `by` throws; RsocketError when the peer is not one to talk to
 */
export async function establish<Where extends object>(
  asked: Sizes,
  where: Where,
  by: (options: Where & ConnectionOptions) => Promise<Connection>,
): Promise<RsocketStream> {
  let endpoint: Endpoint | undefined;
  const options = {
    ...where,
    flowControl: true,
    retryCount: 7,
    rnrRetryCount: 7,
    responderResources: 0,
    initiatorDepth: 0,
    // Asked for once there is a queue pair.
    get privateData() {
      return endpoint === undefined ? NOTHING : encodeConnectionData(endpoint.own);
    },
    createQp: (id: CmId) => {
      // Of a name with several addresses, the one before led to nobody.
      endpoint?.destroyed();
      endpoint = undefined;
      endpoint = createEndpoint(id, asked);
    },
  };
  // What `by` did is not seen by the compiler.
  const made = (): Endpoint | undefined => endpoint;
  let connection: Connection | undefined;
  try {
    connection = await by(options);
    const end = made();
    if (end === undefined) throw new Error('verbena: internal error: a connection without an endpoint');
    return new RsocketStream(connection, end, requirePeer(connection.privateData));
  } catch (error) {
    connection?.[Symbol.dispose]();
    made()?.destroyed();
    throw error;
  }
}

function createEndpoint(id: CmId, asked: Sizes): Endpoint {
  const context = id.verbs;
  if (context === undefined) throw new Error('verbena: internal error: a queue pair is made before there is a device');
  const engine = Engine.of(context);
  const sizes = clampedSizes(asked, context.queryDevice());
  const cap = {
    maxSendWr: sizes.sqSize,
    maxRecvWr: sizes.rqSize,
    // What wraps around the send buffer.
    maxSendSge: 2,
    maxRecvSge: 1,
    maxInlineData: Math.max(sizes.inlineBytes, MIN_INLINE),
  };
  const qp = id.createQp(engine.pd, { sendCq: engine.cq, recvCq: engine.cq, sqSigAll: true, cap });
  const endpoint = new Endpoint(engine, qp, sizes);
  try {
    endpoint.open();
  } catch (error) {
    endpoint.destroyed();
    throw error;
  }
  return endpoint;
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
