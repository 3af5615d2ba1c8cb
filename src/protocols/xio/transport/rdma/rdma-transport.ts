import { type ErrnoName, PrivateDataBytes, RejectReason } from '../../../../device/ibta/index.js';
import {
  connect,
  type Connection,
  type ConnectionOptions,
  type ConnectionRequest,
  listen,
  RefusedError,
} from '../../../../api/rdmacm/index.js';
import { warnOf } from '../../../../api/runtime/index.js';
import { VerbsError } from '../../../../api/verbs/index.js';
import { engineOf, establish } from '../../../core/index.js';
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
      return await establishLink({ inlineBytes, maxBodyBytes }, undefined, (param) =>
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
      onLink(await establishLink({ inlineBytes, maxBodyBytes }, peer, (param) => request.accept(param)));
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

/** @param peer its hello, where that is known before the connection exists */
function establishLink(
  options: LinkOptions,
  peer: Hello | undefined,
  connected: (param: Param) => Promise<Connection>,
): Promise<RdmaLink> {
  const privateData = encodeHello(helloOf(options.maxBodyBytes));
  return establish(
    (id) => new RdmaLink(engineOf(id), options, id),
    (createQp) => connected({ createQp, privateData, rnrRetryCount: 7 }),
    (link, connection) => {
      const said = peer ?? decodeHello(connection.privateData);
      if (typeof said === 'string') throw new XioError('XIO_E_INVALID_VERSION', said);
      link.begin(connection, said);
      return link;
    },
  );
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
  warnOf(error);
}
