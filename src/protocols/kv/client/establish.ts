import { RejectReason } from '../../../device/ibta/index.js';
import { connect as connectByCm, type CmId, type Connection, RefusedError } from '../../../api/rdmacm/index.js';
import { VerbsError } from '../../../api/verbs/index.js';
import { engineOf, establish } from '../../core/index.js';
import { EpochError, KvError } from '../errors.js';
import { type ClientLink, SLOT_BYTES } from '../transport/link.js';
import {
  decodeRefusal,
  decodeWelcome,
  encodeOffer,
  type Offer,
  OFFER_BYTES,
  RefusalCode,
  type Transport,
  type Welcome,
} from '../wire/index.js';
import type { KvConnectOptions } from './options.js';
import type { ClientTransport } from './transports.js';

export interface ClientConnection {
  readonly connection: Connection;
  readonly link: ClientLink;
  readonly welcome: Welcome;
}

/** Where a server is, and how long it is waited for. */
export type ConnectTarget = Omit<KvConnectOptions, 'window' | 'transport' | 'oneSided'>;

/** What a client asks for; its transport says the rest. */
export type SessionRequest = Omit<Offer, 'transport' | 'pairs'>;

/**
 * Connects to a server. When that fails, nothing is left of it.
 *
 * @throws (the promise rejects) EpochError, KvError or what `connect` of the root throws
 */
export function connectServer(
  where: ConnectTarget,
  wish: SessionRequest,
  transport: ClientTransport,
): Promise<ClientConnection> {
  // Filled in once there are the queue pairs that it names.
  const privateData = new Uint8Array(OFFER_BYTES);
  const make = (id: CmId): ClientLink => {
    const link = new transport.link(engineOf(id), id, { window: wish.window, slotBytes: SLOT_BYTES });
    privateData.set(encodeOffer({ ...wish, transport: transport.number, pairs: link.pairs }));
    return link;
  };
  const made = establish(
    make,
    (createQp) => connectByCm({ ...where, createQp, rnrRetryCount: 7, privateData }),
    (link, connection) => {
      const welcome = welcomeIn(connection.privateData, wish, transport.number);
      link.begin(connection.qp.query().attr, welcome);
      return { connection, link, welcome };
    },
  );
  return made.catch((error: unknown) => {
    throw refusalOf(error, wish);
  });
}

function welcomeIn(privateData: Uint8Array, { window }: SessionRequest, transport: Transport): Welcome {
  const welcome = decodeWelcome(privateData);
  if (typeof welcome === 'string') throw foreign(welcome);
  if (welcome.window > window || welcome.transport !== transport || welcome.slotBytes > SLOT_BYTES)
    throw foreign('the server gives what it was not asked for');
  return welcome;
}

function foreign(message: string): VerbsError {
  return new VerbsError('connect', { errno: 'EPROTO', message, advice: 'Is that a key-value store of this package?' });
}

function refusalOf(error: unknown, { epoch }: SessionRequest): unknown {
  if (!(error instanceof RefusedError) || error.reason !== RejectReason.CONSUMER_DEFINED) return error;
  const refusal = decodeRefusal(error.privateData);
  if (refusal === undefined) return error;
  switch (refusal.code) {
    case RefusalCode.BUSY:
      return busy(error);
    case RefusalCode.EPOCH:
      return new EpochError('connect', epoch, refusal.epoch, 'unknown');
    case RefusalCode.SESSION:
      return new KvError('connect', 'ECONNRESET', 'the server does not know the session any more', 'unknown');
    default:
      return foreign('the server refuses the protocol of this client');
  }
}

function busy(cause: RefusedError): VerbsError {
  const message = 'the server has as many clients as it takes';
  return new VerbsError('connect', { errno: 'EBUSY', message, advice: 'Try again later' }, { cause });
}
