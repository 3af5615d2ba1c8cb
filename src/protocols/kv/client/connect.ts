import type { WaitOptions } from '../../core/index.js';
import { KvError } from '../errors.js';
import { NO_SESSION } from '../wire/index.js';
import { connectServer, type ClientConnection } from './establish.js';
import { KvClient } from './kv-client.js';
import { OneSidedReader } from './one-sided/one-sided-reader.js';
import { type KvConnectOptions, settingsOf } from './options.js';
import { Requester } from './requester.js';

/** How long the way by which a client reads is looked for when it was lost. */
const TRY_MS = 2000;

/**
 * Connects to a key-value store. When that fails or is aborted, nothing is left of it.
 *
 * @example
 * ```ts
 * using client = await connect({ host: '10.0.0.1', port: 7175 });
 * await client.set('visits', '0');
 * console.log(await client.incr('visits'));
 * ```
 * @throws VerbsError (the promise rejects) EOPNOTSUPP for `oneSided` where the server does not allow it, ECONNREFUSED when nobody listens there, EBUSY when the server has as many clients as it takes, EPROTO when it is none
 *   of this package, ETIMEDOUT when nobody answers; the signal's reason; EINVAL for wrong arguments; otherwise as `connect` of the root
 */
export async function connect(options: KvConnectOptions): Promise<KvClient> {
  const { window, transport, isOneSided } = settingsOf(options);
  const { window: asked, transport: name, oneSided, ...where } = options;
  const wish = { window, session: NO_SESSION, epoch: 0 };
  const way = await connectServer(where, wish, transport);
  const requester = new Requester(way, transport);
  return isOneSided ? withReader(requester, way, where) : new KvClient(requester);
}

async function withReader(
  requester: Requester,
  way: ClientConnection,
  { signal, timeoutMs }: WaitOptions,
): Promise<KvClient> {
  const { connection, link } = way;
  const where = { ...connection.remoteAddress, context: link.engine.context, timeoutMs: TRY_MS };
  try {
    return new KvClient(requester, await OneSidedReader.open(requester, where, { signal, timeoutMs }));
  } catch (error) {
    requester.end(new KvError('connect', 'ECANCELED', 'the client was not connected', 'unknown'));
    throw error;
  }
}
