import { countProblem, invalid, refuse, show, VerbsError } from '../../../api/verbs/index.js';
import type { XioConnectOptions, XioSession } from '../api.js';
import { CONNECT_FIELDS, privateDataOf, settingsOf } from '../options.js';
import { targetOf } from '../url.js';
import { ClientSession } from './client-session.js';

const CALL = 'connect';
const CONNECT_MS = 5000;
const ANSWER_MS = 30_000;
const MOST_ADDRESSES = 64;

/**
 * Begins a session with a server.
 *
 * @param target where it is: `rdma://host:port/resource`, and what else is to be said
 * @example
 * ```ts
 * await using session = await connect('rdma://192.0.2.1:2061');
 * const { body } = await session.request('read', 'block 7', { deadlineMs: 1000 });
 * ```
 * @throws XioError (the promise rejects) XIO_E_SESSION_REFUSED when nobody listens there, XIO_E_SESSION_REJECTED when the server's program does not take it, or the code
 *   that it gives (an `XioRejectedError`), XIO_E_SESSION_REDIRECTED when it is sent on too often, XIO_E_TIMEOUT, XIO_E_UNREACHABLE, XIO_E_ADDR_ERROR; the signal's reason; VerbsError EINVAL for wrong arguments
 */
export async function connect(target: string | XioConnectOptions): Promise<XioSession> {
  const options = typeof target === 'string' ? { url: target } : target;
  const settings = settingsOf(CALL, options, CONNECT_FIELDS, 'client');
  const { url, connections = 1, maxRedirects = 8, connectTimeoutMs = CONNECT_MS, signal } = options;
  const { answerTimeoutMs = ANSWER_MS } = options;
  refuse(CALL, countProblem('connections', connections, 1, 64));
  refuse(CALL, countProblem('maxRedirects', maxRedirects, 0, 100));
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new VerbsError(CALL, invalid(`signal is ${show(signal)}`, 'It is an AbortSignal'));
  signal?.throwIfAborted();
  const addresses: readonly string[] = typeof url === 'string' ? [url] : url;
  if (!Array.isArray(addresses) || addresses.length === 0 || addresses.length > MOST_ADDRESSES)
    throw new VerbsError(CALL, invalid(`url is ${show(url)}`, `It is a URL, or 1 to ${MOST_ADDRESSES} of them`));
  const [{ resource }] = addresses.map((address) => targetOf(CALL, address));
  const { context, open, localAddress } = options;
  const session = new ClientSession({
    ...settings,
    addresses: addresses.slice(),
    resource,
    ownPrivateData: privateDataOf(CALL, options.privateData),
    connections,
    maxRedirects,
    connectTimeoutMs,
    answerTimeoutMs,
    context,
    open,
    localAddress,
  });
  await session.open(signal);
  return session;
}
