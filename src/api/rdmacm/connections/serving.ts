import type { ErrnoName } from '../../../device/ibta/index.js';
import { Callbacks, runtime } from '../../runtime/index.js';
import { invalid, objectProblem, refuse, show, VerbsError } from '../../verbs/index.js';
import type { ConnectionRequest } from './connection-request.js';

const CALL = 'rdma_listen';
const CLIENTS_DOING: readonly ErrnoName[] = ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT'];

/** With what a wait ends that a signal has cut short. */
const IMPATIENCE: readonly string[] = ['AbortError', 'TimeoutError'];

/**
 * Answers a request: accepts or rejects it, and does what is to be done with the connection. One that is still unanswered when
 * it returns, or its promise resolves, is rejected.
 */
export type RequestHandler = (request: ConnectionRequest) => unknown;

/** What `Listener.serve` takes. */
export interface ServeOptions {
  /** Requests that handlers work on at a time; one that comes beyond that is rejected. Default: no limit but the device's. */
  readonly maxConnections?: number;
  /**
   * Told what a handler throws, after its connection was ended. Default: `process.emitWarning`, but not for what clients do:
   * one goes, or says nothing more, before it is connected, or the handler loses patience by an `AbortSignal`.
   */
  readonly onError?: (error: unknown, request: ConnectionRequest) => void;
}

/** Implements `Listener.serve`. @throws VerbsError EINVAL for wrong arguments; when the requests end with an error */
export async function serve(
  requests: AsyncIterable<ConnectionRequest>,
  handler: RequestHandler,
  options: ServeOptions,
): Promise<void> {
  refuse(CALL, objectProblem('options', options));
  const { maxConnections = Infinity, onError = warn } = options;
  if (typeof handler !== 'function')
    throw new VerbsError(CALL, invalid('handler is not a function', 'It takes a request, and accepts or rejects it'));
  if (typeof onError !== 'function')
    throw new VerbsError(
      CALL,
      invalid('onError is not a function', 'It takes what a handler has thrown, and its request'),
    );
  if (typeof maxConnections !== 'number' || !(maxConnections >= 1))
    throw new VerbsError(CALL, invalid(`maxConnections is ${show(maxConnections)}`, 'It is a number from 1 on'));
  const callbacks = new Callbacks();
  const inTurn = (request: ConnectionRequest): unknown => callbacks.ask(() => handler(request));
  const onErrorInTurn = (error: unknown, request: ConnectionRequest): Promise<void> =>
    callbacks.ask(() => onError(error, request));
  const busy = new Set<Promise<void>>();
  for await (const request of requests) {
    if (busy.size >= maxConnections) {
      request.reject();
      continue;
    }
    const work = handle(request, inTurn, onErrorInTurn).finally(() => busy.delete(work));
    busy.add(work);
  }
  await Promise.all(busy);
}

/** Rejects only with what `onError` throws. */
async function handle(
  request: ConnectionRequest,
  handler: RequestHandler,
  onError: (error: unknown, request: ConnectionRequest) => Promise<void>,
): Promise<void> {
  try {
    await handler(request);
  } catch (error) {
    request.connection?.[Symbol.dispose]();
    await onError(error, request);
  } finally {
    request[Symbol.dispose]();
  }
}

/** Whether a request for a connection failed because its client left, or does not answer. */
export function isClientsDoing(error: unknown): boolean {
  return error instanceof VerbsError && CLIENTS_DOING.includes(error.errno);
}

function warn(error: unknown, { connection }: ConnectionRequest): void {
  if (connection === undefined && isClientsDoing(error)) return;
  if (error instanceof DOMException && IMPATIENCE.includes(error.name)) return;
  runtime().warn(error instanceof Error ? error : new Error(String(error)));
}
