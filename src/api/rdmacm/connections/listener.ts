import { CmEventType, PortSpace } from '../../../device/ibta/index.js';
import { type Life, runtime } from '../../runtime/index.js';
import { plainAddress } from '../../../device/wire/index.js';
import { type Context, fieldsProblem, refuse, VerbsError } from '../../verbs/index.js';
import type { FullAddress } from '../addresses/address.js';
import { createEventChannel, queueOf } from '../events/event-channel.js';
import { unexpectedEvent } from '../events/event-error.js';
import { checkSignal } from '../events/waiting.js';
import { createId } from '../identifiers/create-id.js';
import { identityOf } from '../identifiers/identity.js';
import { choiceOf, setOptions } from './connect.js';
import { ConnectionRequest } from './connection-request.js';
import { LISTEN_FIELDS, type ListenOptions } from './options.js';
import { type RequestHandler, serve, type ServeOptions } from './serving.js';
import type { CmEvent, CmId, EventChannel } from '../objects.js';

/** Keeps the process alive until it ends. In a simulation nothing comes of waiting: time passes for those who wait. */
function keepAlive(context: Context | undefined): Life | undefined {
  return context?.host === 'simulated' ? undefined : runtime().keepAlive();
}

const LISTEN = 'rdma_listen';

/**
 * Listens for connections, as Node's own `listen` does.
 *
 * @example
 * ```ts
 * const listener = listen({ port: 7174 });
 * await listener.serve(async (request) => {
 *   await using connection = await request.accept();
 *   await connection.closed;
 * });
 * ```
 * @throws VerbsError EADDRINUSE when another listens there; otherwise as `CmId.bindAddr` and `CmId.listen`
 */
export function listen(options: ListenOptions = {}): Listener {
  refuse(LISTEN, fieldsProblem('options', options, LISTEN_FIELDS));
  const { host, port, backlog, signal } = options;
  checkSignal(LISTEN, signal);
  signal?.throwIfAborted();
  const channel = createEventChannel(choiceOf(options));
  const id = createId(channel, PortSpace.TCP);
  try {
    setOptions(id, options);
    id.bindAddr({ ...(host !== undefined && { host }), ...(port !== undefined && { port }) });
    id.listen(backlog);
  } catch (error) {
    id[Symbol.dispose]();
    channel[Symbol.dispose]();
    throw error;
  }
  return new Listener(id, channel, signal);
}

/**
 * Where requests for connections come: {@link serve} answers them side by side, a loop over it or {@link next} takes one after
 * the other. As a server of Node's does, it keeps the process alive until it ends, a simulated one excepted.
 */
export class Listener implements AsyncIterable<ConnectionRequest>, AsyncDisposable, Disposable {
  /** Where it listens. A wildcard is on all devices of the program: then this is the address of the default device. */
  readonly address: FullAddress;
  readonly #channel: EventChannel;
  readonly #stopListening: () => void;
  readonly #life: Life | undefined;
  #closed = false;

  /** `listen` makes listeners for programs. */
  constructor(
    readonly id: CmId,
    channel: EventChannel,
    signal?: AbortSignal,
  ) {
    this.#channel = channel;
    const { local = { host: '0.0.0.0', port: 0 }, dispatchers } = identityOf(id);
    const context = dispatchers.at(0)?.context;
    this.address = { ...local, ...(context !== undefined && { host: plainAddress(context.address) }) };
    this.#life = keepAlive(context);
    const close = (): void => this.close();
    signal?.addEventListener('abort', close, { once: true });
    this.#stopListening = () => signal?.removeEventListener('abort', close);
  }

  /**
   * The next request, for servers that take one or a few. The listener goes on.
   *
   * @param signal ends the wait; the promise then rejects with the signal's reason
   * @throws VerbsError (the promise rejects) ECANCELED when the listener has ended
   */
  async next(signal?: AbortSignal): Promise<ConnectionRequest> {
    checkSignal(LISTEN, signal);
    signal?.throwIfAborted();
    if (this.#closed) throw ended();
    const event = await queueOf(this.#channel, LISTEN).next(signal);
    if (event === undefined) throw ended();
    return requestOf(event);
  }

  /**
   * Has a handler answer each request, all at the same time, so that a client that is slow holds up nobody. What a client
   * does, or fails to do, ends what the handler does for that client, and nothing else.
   *
   * @returns a promise that resolves when the listener has ended, and every handler
   * @throws VerbsError (the promise rejects) EINVAL for wrong arguments; when the device is lost
   */
  async serve(handler: RequestHandler, options: ServeOptions = {}): Promise<void> {
    await serve(this, handler, options);
  }

  /** Has it keep the process alive again, after {@link unref}. Idempotent. */
  ref(): this {
    return this.#refer(true);
  }

  /** Lets the process end, also while somebody waits for a request. Idempotent. */
  unref(): this {
    return this.#refer(false);
  }

  #refer(isReferenced: boolean): this {
    if (this.#closed) return this;
    queueOf(this.#channel, LISTEN).reference(isReferenced);
    if (isReferenced) this.#life?.ref();
    else this.#life?.unref();
    return this;
  }

  /**
   * The requests, until the listener ends. Leaving the loop ends it, and refuses what is still waiting. An error thrown in the
   * loop leaves it, and {@link ConnectionRequest.accept} rejects when its client gives up: {@link serve} goes on then.
   *
   * @throws VerbsError when the device is lost
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<ConnectionRequest, void, undefined> {
    if (this.#closed) return;
    try {
      for await (const event of this.#channel) yield requestOf(event);
    } finally {
      this.close();
    }
  }

  /** Ends it: requests that nobody took are refused, and loops over it end. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopListening();
    this.#life?.end();
    this.id[Symbol.dispose]();
    this.#channel[Symbol.dispose]();
  }

  /** {@link close}. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }
}

function ended(): VerbsError {
  return new VerbsError(LISTEN, { errno: 'ECANCELED', message: 'the listener has ended', advice: '' });
}

/** @throws VerbsError when the event is none of a request, but the end of the device */
function requestOf(event: CmEvent): ConnectionRequest {
  event.ack();
  const { conn } = event.param;
  if (event.event === CmEventType.CONNECT_REQUEST && conn !== undefined) return new ConnectionRequest(event.id, conn);
  throw unexpectedEvent(LISTEN, event);
}
