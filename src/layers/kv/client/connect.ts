import { NO_SESSION } from '../wire/index.js';
import { establish } from './establish.js';
import { KvClient } from './kv-client.js';
import { type KvConnectOptions, transportOf, windowOf } from './options.js';
import { Requester } from './requester.js';

/**
 * Connects to a key-value store. When that fails or is aborted, nothing is left of it.
 *
 * @example
 * ```ts
 * using client = await connect({ host: '10.0.0.1', port: 7175 });
 * await client.set('visits', '0');
 * console.log(await client.incr('visits'));
 * ```
 * @throws VerbsError (the promise rejects) ECONNREFUSED when nobody listens there, EBUSY when the server has as many clients as it takes, EPROTO when it is none
 *   of this package, ETIMEDOUT when nobody answers; the signal's reason; EINVAL for wrong arguments; otherwise as `connect` of the root
 */
export async function connect(options: KvConnectOptions): Promise<KvClient> {
  const window = windowOf(options);
  const transport = transportOf(options);
  const { window: asked, transport: name, ...where } = options;
  const wish = { window, session: NO_SESSION, epoch: 0 };
  return new KvClient(new Requester(await establish(where, wish, transport), transport));
}
