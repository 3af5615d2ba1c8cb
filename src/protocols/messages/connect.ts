import { RejectReason } from '../../device/ibta/index.js';
import {
  connect as connectByCm,
  type Connection,
  type CmConnectTarget,
  type ConnectionOptions,
  TARGET_FIELDS,
  RefusedError,
} from '../../api/rdmacm/index.js';
import { type FieldsOf, fieldsProblem, refuse, VerbsError } from '../../api/verbs/index.js';
import { establish, WAIT_FIELDS, type WaitOptions } from '../core/index.js';
import { Endpoint } from './connection/endpoint.js';
import { MessageConnection } from './connection/message-connection.js';
import { ProtocolError } from './errors.js';
import { type ConnectionPolicy, EXCHANGE_FIELDS, type ExchangeOptions, policyOf } from './options.js';
import { decodeHello, decodeRefusal, encodeHello, RefusalCode } from './protocol/hello.js';

/** What {@link connect} takes. */
export interface MessageConnectOptions extends ExchangeOptions, CmConnectTarget, WaitOptions {
  /** Milliseconds until the promise rejects with ETIMEDOUT. Default 10 000. */
  readonly timeoutMs?: number | undefined;
}

const CONNECT_FIELDS: FieldsOf<MessageConnectOptions> = {
  ...EXCHANGE_FIELDS,
  ...WAIT_FIELDS,
  ...TARGET_FIELDS,
};

/**
 * Connects to a listener of this package. When that fails or is aborted, nothing is left of it.
 *
 * @throws VerbsError (the promise rejects) ECONNREFUSED when nobody listens there, EBUSY when the listener has as many connections as it takes, ETIMEDOUT when nobody
 *   answers; ProtocolError when the peer speaks something else; the signal's reason; EINVAL for wrong arguments; otherwise as `connect` of the root
 */
export async function connect(options: MessageConnectOptions): Promise<MessageConnection> {
  const call = 'connect';
  refuse(call, fieldsProblem('options', options, CONNECT_FIELDS));
  const { window, maxMessageBytes, keepAliveMs, ...where } = options;
  return establishMessages(policyOf({ window, maxMessageBytes, keepAliveMs }), (param) =>
    connectByCm({ ...where, ...param }).catch((error: unknown) => {
      throw refusalOf(call, error);
    }),
  );
}

/** What an end tells rdma_cm, and the connection that comes of it with what the peer said of itself. */
type Establishing = (param: ConnectionOptions) => Promise<Connection>;

/** Makes a connection of messages of one that `by` makes. @throws what `by` throws; ProtocolError when the peer speaks something else */
export function establishMessages(
  { own, keepAliveMs }: ConnectionPolicy,
  by: Establishing,
): Promise<MessageConnection> {
  return establish(
    (id) => new Endpoint(id, own, keepAliveMs),
    (createQp) => by({ createQp, privateData: encodeHello(own) }),
    (endpoint, connection) => {
      const peer = decodeHello(connection.privateData);
      if (typeof peer === 'string') throw new ProtocolError('connect', peer);
      return new MessageConnection(connection, endpoint, peer);
    },
  );
}

/** What a refusal means that the peer has explained. */
function refusalOf(call: string, error: unknown): unknown {
  if (!(error instanceof RefusedError) || error.reason !== RejectReason.CONSUMER_DEFINED) return error;
  const refusal = decodeRefusal(error.privateData);
  if (refusal === undefined) return error;
  const message = `the peer refused the connection: ${refusal.text}`;
  if (refusal.code === RefusalCode.PROTOCOL) return new ProtocolError(call, message);
  return new VerbsError(call, { errno: 'EBUSY', message, advice: 'Try again later' }, { cause: error });
}
