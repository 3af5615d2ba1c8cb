import { type ErrnoName, PrivateDataBytes, RejectReason } from '../../../../device/ibta/index.js';
import {
  type CmId,
  connect,
  type Connection,
  type ConnectionOptions,
  type ConnectionRequest,
  listen,
  RefusedError,
} from '../../../../api/rdmacm/index.js';
import { runtime } from '../../../../api/runtime/index.js';
import { VerbsError } from '../../../../api/verbs/index.js';
import { Engine } from '../../../core/index.js';
import type { XioStatusName } from '../../wire/index.js';
import type { Link } from '../link.js';
import {
  type LinkListener,
  type LinkOptions,
  type LinkPlace,
  type LinkTarget,
  type Transport,
  XioError,
} from '../transport.js';
import { decodeHello, encodeHello, helloOf, type Hello } from './hello.js';
import { RdmaLink } from './rdma-link.js';

/** What the errnos of rdma_cm mean for sessions. */
const CODES: Readonly<Partial<Record<ErrnoName, XioStatusName>>> = {
  ECONNREFUSED: 'XIO_E_SESSION_REFUSED',
  ETIMEDOUT: 'XIO_E_TIMEOUT',
  EHOSTUNREACH: 'XIO_E_UNREACHABLE',
  ENETUNREACH: 'XIO_E_UNREACHABLE',
  EADDRNOTAVAIL: 'XIO_E_ADDR_ERROR',
  ENODEV: 'XIO_E_ADDR_ERROR',
  ENOENT: 'XIO_E_ADDR_ERROR',
};

/** Links over rdma_cm and reliable connections. */
export const rdmaTransport: Transport = {
  scheme: 'rdma',

  async connect({ inlineBytes, maxBodyBytes, signal, ...where }: LinkTarget): Promise<Link> {
    try {
      return await establish({ inlineBytes, maxBodyBytes }, undefined, (param) =>
        connect({ ...where, ...param, signal }),
      );
    } catch (error) {
      throw signal?.aborted === true ? error : connectError(error);
    }
  },

  async listen(
    { inlineBytes, maxBodyBytes, ...where }: LinkPlace,
    onLink: (link: Link) => void,
  ): Promise<LinkListener> {
    const listener = await Promise.resolve(where)
      .then(listen)
      .catch((error: unknown) => {
        if (!(error instanceof VerbsError) || error.errno === 'EINVAL') throw error;
        throw new XioError('XIO_E_BIND_FAILED', error.message, { cause: error });
      });
    const answer = async (request: ConnectionRequest): Promise<void> => {
      const peer = decodeHello(request.privateData);
      if (typeof peer === 'string') {
        request.reject(new TextEncoder().encode(peer).subarray(0, PrivateDataBytes.REJECT));
        return;
      }
      onLink(await establish({ inlineBytes, maxBodyBytes }, peer, (param) => request.accept(param)));
    };
    const closed = listener.serve(answer, { onError: warn });
    return {
      address: listener.address,
      closed,
      close: () => listener.close(),
      ref: () => void listener.ref(),
      unref: () => void listener.unref(),
    };
  },
};

type Param = Required<Pick<ConnectionOptions, 'createQp' | 'privateData' | 'rnrRetryCount'>>;

/** @param peer what it has said, where that is known before the connection is there */
async function establish(
  options: LinkOptions,
  peer: Hello | undefined,
  connected: (param: Param) => Promise<Connection>,
): Promise<RdmaLink> {
  let made: RdmaLink | undefined;
  const createQp = (id: CmId): void => {
    const { verbs } = id;
    if (verbs === undefined) throw new Error('verbena: internal error: a queue pair is made before there is a device');
    // Of a name with several addresses, the one before led to nobody.
    made?.discard();
    made = undefined;
    made = new RdmaLink(Engine.of(verbs), options, id);
  };
  // What the callback did is not seen by the compiler.
  const linkMade = (): RdmaLink | undefined => made;
  let connection: Connection | undefined;
  try {
    connection = await connected({
      createQp,
      privateData: encodeHello(helloOf(options.maxBodyBytes)),
      rnrRetryCount: 7,
    });
    const link = linkMade();
    if (link === undefined) throw new Error('verbena: internal error: a connection without a link');
    const said = peer ?? decodeHello(connection.privateData);
    if (typeof said === 'string') throw new XioError('XIO_E_INVALID_VERSION', said);
    link.begin(connection, said);
    return link;
  } catch (error) {
    connection?.[Symbol.dispose]();
    linkMade()?.discard();
    throw error;
  }
}

function connectError(error: unknown): unknown {
  if (!(error instanceof VerbsError) || error.errno === 'EINVAL') return error;
  if (error instanceof RefusedError && error.reason === RejectReason.CONSUMER_DEFINED)
    return new XioError('XIO_E_INVALID_VERSION', 'the peer speaks something else, or another version', {
      cause: error,
    });
  return new XioError(CODES[error.errno] ?? 'XIO_E_CONNECT_ERROR', error.message, { cause: error });
}

/** A client that gives up before it is connected is not told of. */
function warn(error: unknown): void {
  if (error instanceof VerbsError && error.errno !== 'ENOMEM') return;
  runtime().warn(error instanceof Error ? error : new Error(String(error)));
}
